//! The forms that a design is printed in, and why one is refused.

use catalog::Cloud;

/// A form that a design is printed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A Bicep template.
    Bicep,
    /// A Terraform configuration for the design's cloud.
    Terraform,
    /// Commands of the Azure CLI.
    AzureCli,
    /// Commands of the AWS CLI.
    AwsCli,
    /// Commands of the Google Cloud CLI.
    Gcloud,
    /// Stripes and file systems on Linux.
    Mdadm,
    /// Lines of /etc/fstab for the disks, and the mounts.
    Fstab,
    /// Storage Spaces on Windows.
    StorageSpaces,
    /// Mounts of network volumes on Linux.
    Nfs,
    /// A suite for `plimsoll bench` that measures each promise by itself.
    Suite,
    /// A job for `plimsoll run` that offers what is promised at once.
    Job,
}

impl Form {
    /// All of them.
    pub const ALL: [Form; 11] = units::all_of!(
        Form:
        Bicep, Terraform, AzureCli, AwsCli, Gcloud, Mdadm, Fstab, StorageSpaces, Nfs, Suite, Job,
    );

    /// Returns its name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Form::Bicep => "bicep",
            Form::Terraform => "terraform",
            Form::AzureCli => "azure-cli",
            Form::AwsCli => "aws-cli",
            Form::Gcloud => "gcloud",
            Form::Mdadm => "mdadm",
            Form::Fstab => "fstab",
            Form::StorageSpaces => "storage-spaces",
            Form::Nfs => "nfs",
            Form::Suite => "suite",
            Form::Job => "job",
        }
    }

    /// Says in half a sentence what it is.
    pub fn about(self) -> &'static str {
        match self {
            Form::Bicep => "a Bicep template: machine, disks, network volumes",
            Form::Terraform => "a Terraform configuration (azurerm, aws or google)",
            Form::AzureCli => "commands of the Azure CLI",
            Form::AwsCli => "commands of the AWS CLI",
            Form::Gcloud => "commands of the Google Cloud CLI",
            Form::Mdadm => "stripes and file systems on Linux",
            Form::Fstab => "lines of /etc/fstab, and the mounts",
            Form::StorageSpaces => "Storage Spaces, in PowerShell",
            Form::Nfs => "mounts of network volumes on Linux",
            Form::Suite => "a suite that measures each promise: plimsoll bench --suite",
            Form::Job => "a job that offers all that is promised at once: plimsoll run",
        }
    }

    /// Returns how far what it prints is checked, as a sentence that stands in the text.
    pub fn checked(self) -> &'static str {
        match self {
            Form::Bicep => {
                "Its syntax was checked by a parser; unchecked by a compiler, and nothing was run."
            }
            Form::StorageSpaces => "Unchecked: no shell has read it, and nothing of it was run.",
            Form::Terraform => "Its syntax was checked; it was not applied to an account.",
            Form::AzureCli | Form::AwsCli | Form::Gcloud => {
                "Its syntax was checked as a shell script; no account was contacted."
            }
            Form::Mdadm | Form::Fstab => "Such lines were run on Linux 6.1, on emulated disks.",
            Form::Nfs => "Its syntax was checked as a shell script; it was not run.",
            Form::Suite | Form::Job => "plimsoll takes it as it is.",
        }
    }

    /// Returns the one cloud that it is for; `None` of a form that fits several, or none.
    pub fn cloud(self) -> Option<Cloud> {
        match self {
            Form::Bicep | Form::AzureCli => Some(Cloud::Azure),
            Form::AwsCli => Some(Cloud::Aws),
            Form::Gcloud => Some(Cloud::Gcp),
            Form::Terraform
            | Form::Mdadm
            | Form::Fstab
            | Form::StorageSpaces
            | Form::Nfs
            | Form::Suite
            | Form::Job => None,
        }
    }

    /// Finds a form by its name.
    pub fn from_text(text: &str) -> Option<Form> {
        Form::ALL.into_iter().find(|form| form.as_str() == text)
    }

    /// Returns the forms that build something in a cloud.
    pub fn of_cloud(cloud: Cloud) -> impl Iterator<Item = Form> {
        let builds = move |form: &Form| form.cloud() == Some(cloud) || *form == Form::Terraform;
        Form::ALL.into_iter().filter(builds)
    }
}

/// Why a design has no text in a form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The form is another cloud's.
    #[error("`{}` is not for {}, which the design is of", form.as_str(), design.title())]
    OtherCloud {
        /// What was asked for.
        form: Form,
        /// The design's cloud.
        design: Cloud,
    },
    /// The design says no cloud, and nothing in it does.
    #[error("the design does not say which cloud it is for")]
    NoCloud,
    /// A volume's disks have figures of their own, which no cloud sells.
    #[error("the disks of `{mount}` are {sku}, which the catalogue does not have")]
    OwnDisk {
        /// Mount of the volume.
        mount: String,
        /// What the design calls them.
        sku: String,
    },
    /// The design has nothing that the form builds.
    #[error("the design has no {what}")]
    Nothing {
        /// What is missing, such as `volume of disks`.
        what: &'static str,
    },
    /// A stripe over fewer columns than disks, which Linux has no single array for.
    #[error(
        "`{mount}` has {n_disks} disks in {columns} columns, which one array of mdadm cannot be"
    )]
    Columns {
        /// Mount of the volume.
        mount: String,
        /// Disks.
        n_disks: usize,
        /// Columns.
        columns: u32,
    },
    /// More disks than the cloud's names for devices reach.
    #[error("the design has {n_disks} disks, and the form has names for {most}")]
    TooManyDisks {
        /// Disks.
        n_disks: usize,
        /// Names.
        most: usize,
    },
}

impl Refusal {
    /// Returns what to do instead.
    pub fn help(&self) -> String {
        match self {
            Refusal::OtherCloud { design, .. } => {
                let forms: Vec<&str> = Form::of_cloud(*design).map(Form::as_str).collect();
                format!("for {} there are {}", design.title(), forms.join(", "))
            }
            Refusal::NoCloud => {
                let known = Cloud::ALL.map(|cloud| cloud.as_str().to_lowercase());
                format!("write `cloud = \"...\"` at its top: one of {}", known.join(", "))
            }
            Refusal::OwnDisk { .. } => "name a disk of the catalogue: `plimsoll catalog list \
                                        disks`; mdadm, fstab and storage-spaces take any"
                .to_owned(),
            Refusal::Nothing { what } if what.contains("promise") => {
                "write a [[promise]]: docs/design-files.md has its keys".to_owned()
            }
            Refusal::Nothing { .. } => "other forms fit it: `plimsoll provision --help`".to_owned(),
            Refusal::Columns { .. } => {
                "leave `columns` out, or take `--as storage-spaces`".to_owned()
            }
            Refusal::TooManyDisks { .. } => "take fewer, larger disks".to_owned(),
        }
    }
}
