//! A design as text: who prints which form.

use volume::Design;
use volume::design::service::Service;

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
    let builds = form.cloud().is_some() || form == Form::Terraform;
    if let Some(service) = parts.service().filter(|it| builds && *it != Service::AzureFiles) {
        return Err(Refusal::FileService { form, service });
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
