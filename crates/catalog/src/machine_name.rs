//! The clouds, and how each names its machine sizes.

/// Clouds, as tables and as people call them.
pub(crate) const CLOUDS: [(&str, &str); 3] =
    [("Azure", "Microsoft Azure"), ("AWS", "Amazon Web Services"), ("GCP", "Google Cloud")];

/// Returns the cloud whose machine sizes are named so: `Standard_D2s_v3`, `m5.large`,
/// `n2-standard-16`; `None` for a name of another form.
pub(crate) fn cloud_of_machine(name: &str) -> Option<&'static str> {
    // A size has a number, which `Standard_LRS`, a disk's redundancy, has not.
    if let Some(size) = name.to_lowercase().strip_prefix("standard_") {
        return size.contains(|c: char| c.is_ascii_digit()).then_some("Azure");
    }
    let is_series = |text: &str, len_max: usize| {
        text.len() <= len_max
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.contains(|c: char| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    if let Some((family, size)) = name.split_once('.') {
        let is_named = matches!(size, "nano" | "micro" | "small" | "medium");
        let is_size = is_named || size.ends_with("large") || size.starts_with("metal");
        return (is_series(family, 20) && is_size).then_some("AWS");
    }
    let mut parts = name.split('-');
    let series = parts.next().unwrap_or("");
    let kind = parts.next().unwrap_or("");
    let is_google =
        is_series(series, 4) && !kind.is_empty() && kind.chars().all(|c| c.is_ascii_lowercase());
    is_google.then_some("GCP")
}

#[cfg(test)]
mod tests {
    use super::cloud_of_machine;

    #[test]
    fn a_machine_is_known_by_its_name() {
        for (name, cloud) in [
            ("Standard_D2s_v3", Some("Azure")),
            ("m5.large", Some("AWS")),
            ("r5b.24xlarge", Some("AWS")),
            ("m7i-flex.medium", Some("AWS")),
            ("u-6tb1.metal", Some("AWS")),
            ("n2-standard-16", Some("GCP")),
            ("c3d-highmem-8", Some("GCP")),
            ("e2-micro", Some("GCP")),
            ("P30", None),
            ("gp3", None),
            ("pd-ssd", None),
            ("hyperdisk-balanced", None),
            ("PremiumV2", None),
            ("D2s_v3", None),
            ("Standard_LRS", None),
            ("standard_zrs", None),
        ] {
            assert_eq!(cloud_of_machine(name), cloud, "{name}");
        }
    }
}
