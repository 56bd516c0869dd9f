//! The clouds, and how each names its machine sizes.

use std::fmt;

/// A cloud that the catalogue knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cloud {
    /// Microsoft Azure.
    Azure,
    /// Amazon Web Services.
    Aws,
    /// Google Cloud.
    Gcp,
}

impl Cloud {
    /// All of them.
    pub const ALL: [Cloud; 3] = units::all_of!(Cloud: Azure, Aws, Gcp);

    /// Returns its word in tables: `Azure`, `AWS` or `GCP`.
    pub fn as_str(self) -> &'static str {
        match self {
            Cloud::Azure => "Azure",
            Cloud::Aws => "AWS",
            Cloud::Gcp => "GCP",
        }
    }

    /// Finds a cloud by its word in tables, exactly.
    pub fn of_word(word: &str) -> Option<Self> {
        Cloud::ALL.into_iter().find(|cloud| cloud.as_str() == word)
    }

    /// Returns its full name.
    pub fn title(self) -> &'static str {
        match self {
            Cloud::Azure => "Microsoft Azure",
            Cloud::Aws => "Amazon Web Services",
            Cloud::Gcp => "Google Cloud",
        }
    }

    /// Returns the region that stands for it beside other clouds where none is named: the one in
    /// the east or middle of the United States that each publishes the most of its prices for.
    pub fn region_default(self) -> &'static str {
        match self {
            Cloud::Azure => "eastus",
            Cloud::Aws => "us-east-1",
            Cloud::Gcp => "us-central1",
        }
    }

    /// Returns whether the processors of a machine have their full speed on credits only: series B
    /// of Azure, T of AWS, shared cores of Google Cloud, as each names them in its list of
    /// machines.
    pub fn is_burstable(self, machine: &str) -> bool {
        let name = machine.to_lowercase();
        match self {
            Cloud::Azure => name
                .strip_prefix("standard_b")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())),
            Cloud::Aws => ["t2.", "t3.", "t3a.", "t4g."].iter().any(|it| name.starts_with(it)),
            Cloud::Gcp => ["e2-micro", "e2-small", "e2-medium", "f1-micro", "g1-small"]
                .contains(&name.as_str()),
        }
    }

    /// Finds a cloud by its word, or a word of its full name; case does not count.
    pub fn from_text(text: &str) -> Option<Self> {
        let is_called = |cloud: &Cloud| {
            let mut names = cloud.title().split(' ').chain([cloud.as_str(), cloud.title()]);
            names.any(|name| name.eq_ignore_ascii_case(text))
        };
        Cloud::ALL.into_iter().find(is_called)
    }

    /// Returns the cloud whose machine sizes are named so: `Standard_D2s_v3`, `m5.large`,
    /// `n2-standard-16`; `None` for a name of another form.
    pub fn of_machine(name: &str) -> Option<Self> {
        // A size has a number, which `Standard_LRS`, a disk's redundancy, has not.
        if let Some(size) = name.to_lowercase().strip_prefix("standard_") {
            return size.contains(|c: char| c.is_ascii_digit()).then_some(Cloud::Azure);
        }
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_series = |text: &str, len_max: usize| {
            text.len() <= len_max
                && text.starts_with(|c: char| c.is_ascii_lowercase())
                && text.contains(|c: char| c.is_ascii_digit())
                && text.chars().all(|c| is_plain(c) || c == '-')
        };
        if let Some((family, size)) = name.split_once('.') {
            let is_named = matches!(size, "nano" | "micro" | "small" | "medium");
            let is_size = is_named || size.ends_with("large") || size.starts_with("metal");
            return (is_series(family, 20) && is_size).then_some(Cloud::Aws);
        }
        let (series, kind) = name.split_once('-')?;
        let kind = kind.split('-').next().unwrap_or("");
        let is_google = is_series(series, 5) && !kind.is_empty() && kind.chars().all(is_plain);
        is_google.then_some(Cloud::Gcp)
    }
}

impl fmt::Display for Cloud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Cloud;

    #[test]
    fn machines_on_credits_of_processors_are_known_by_their_series() {
        for (cloud, burstable, steady) in [
            (Cloud::Azure, "Standard_B4als_v2", "Standard_D2s_v3"),
            (Cloud::Aws, "t4g.xlarge", "m5.large"),
            (Cloud::Gcp, "e2-medium", "e2-standard-2"),
        ] {
            assert!(cloud.is_burstable(burstable), "{burstable}");
            assert!(!cloud.is_burstable(steady), "{steady}");
        }
    }

    #[test]
    fn a_machine_is_known_by_its_name() {
        for (name, cloud) in [
            ("Standard_D2s_v3", Some(Cloud::Azure)),
            ("m5.large", Some(Cloud::Aws)),
            ("r5b.24xlarge", Some(Cloud::Aws)),
            ("m7i-flex.medium", Some(Cloud::Aws)),
            ("u-6tb1.metal", Some(Cloud::Aws)),
            ("n2-standard-16", Some(Cloud::Gcp)),
            ("c3d-highmem-8", Some(Cloud::Gcp)),
            ("e2-micro", Some(Cloud::Gcp)),
            ("m2-ultramem2x-96", Some(Cloud::Gcp)),
            ("x4-480-6t-metal", Some(Cloud::Gcp)),
            ("ct5lp-hightpu-1t", Some(Cloud::Gcp)),
            ("P30", None),
            ("gp3", None),
            ("pd-ssd", None),
            ("hyperdisk-balanced", None),
            ("PremiumV2", None),
            ("D2s_v3", None),
            ("Standard_LRS", None),
            ("standard_zrs", None),
        ] {
            assert_eq!(Cloud::of_machine(name), cloud, "{name}");
        }
    }

    #[test]
    fn a_cloud_is_found_by_what_people_call_it() {
        for (text, cloud) in [
            ("gcp", Some(Cloud::Gcp)),
            ("Google", Some(Cloud::Gcp)),
            ("amazon web services", Some(Cloud::Aws)),
            ("AZURE", Some(Cloud::Azure)),
            ("oracle", None),
        ] {
            assert_eq!(Cloud::from_text(text), cloud, "{text}");
        }
    }
}
