//! A design as text: who prints which form.

use volume::Design;

use crate::form::{Form, Refusal};
use crate::parts::Parts;
use crate::{aws, azure, gcp, job, linux, nfs, suite, terraform, windows};

/// Prints a design in a form.
///
/// # Errors
/// Where the design does not fit the form.
pub fn text(design: &Design, form: Form) -> Result<String, Refusal> {
    let parts = Parts::new(design);
    if let (Some(wanted), Some(cloud)) = (form.cloud(), parts.cloud)
        && wanted != cloud
    {
        return Err(Refusal::OtherCloud { form, design: cloud });
    }
    match form {
        Form::Bicep => azure::bicep(&parts),
        Form::Terraform => terraform::text(&parts),
        Form::AzureCli => azure::cli(&parts),
        Form::AwsCli => aws::cli(&parts),
        Form::Gcloud => gcp::cli(&parts),
        Form::Mdadm => linux::mdadm(&parts),
        Form::Fstab => linux::fstab(&parts),
        Form::StorageSpaces => windows::storage_spaces(&parts),
        Form::Nfs => nfs::text(&parts),
        Form::Suite => suite::text(&parts),
        Form::Job => job::text(&parts),
    }
}
