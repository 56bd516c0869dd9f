//! `plimsoll provision`: what to type to build a design, and to verify it.

use std::path::PathBuf;

use ::catalog::cost::find_region;
use ::provision::Form;

use super::on;
use super::own_tables::CatalogArgs;
use super::regions::RegionFrom;
use crate::exit::{Exit, Failure};
use crate::result_file::{self, not_written};
use crate::{inputs, stream};

/// Print what to type to build a design, and to verify it. No account is contacted
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The design, as TOML; `-` is the standard input.
    #[arg(value_name = "DESIGN")]
    design: String,

    /// What to print.
    #[arg(long = "as", value_name = "FORM", value_parser = form)]
    form: Form,

    /// Write to FILE instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    catalog: CatalogArgs,
}

const EXAMPLES: &str = "\
Forms:
  bicep           a Bicep template: machine, disks, network volumes
  terraform       a Terraform configuration (azurerm, aws or google)
  azure-cli       commands of the Azure CLI
  aws-cli         commands of the AWS CLI
  gcloud          commands of the Google Cloud CLI
  mdadm           stripes and file systems on Linux
  fstab           lines of /etc/fstab, and the mounts
  storage-spaces  Storage Spaces, in PowerShell
  nfs             mounts of network volumes on Linux
  suite           a suite that measures each promise: plimsoll bench --suite
  job             a job that offers all that is promised at once: plimsoll run

What the design does not say (who administers the machine, its network, its
image) is a variable at the top of the text. Each text says how far it was
checked.

Examples:
  plimsoll provision best.toml --as terraform -o main.tf
  plimsoll provision best.toml --as mdadm > make.sh
  plimsoll provision best.toml --as job > promised.fio
  plimsoll run promised.fio && plimsoll confirm best.toml --run last";

fn form(text: &str) -> Result<Form, String> {
    Form::from_text(text).ok_or_else(|| {
        let known: Vec<&str> = Form::ALL.into_iter().map(Form::as_str).collect();
        format!("expected one of {}", known.join(", "))
    })
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let (design, _) = on::read_design(&args.design, &args.catalog.load()?)?;
    check_region(&design)?;
    let text = ::provision::text(&design, args.form)
        .map_err(|refusal| Failure::wrong_use(refusal.to_string()).hint(refusal.help()))?;
    let Some(path) = &args.output else { return Exit::Fine.once(stream::print(&text)) };
    inputs::refuse(path)?;
    result_file::write(path, text.as_bytes()).map_err(|error| not_written(path, &error))?;
    stream::print_message(&format!("wrote {}\n", path.display()));
    Ok(Exit::Fine)
}

/// Refuses a region that no price is known of: most likely it is misspelt.
fn check_region(design: &volume::Design) -> Result<(), Failure> {
    let (Some(cloud), Some(region)) = (design.cloud, &design.region) else { return Ok(()) };
    let Some(edition) = design.rows() else { return Ok(()) };
    if edition.regions(cloud).is_empty() {
        return Ok(());
    }
    let found = find_region(edition, cloud, region);
    found.map(drop).map_err(|error| RegionFrom::Design.failure(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_has_every_form() {
        for form in Form::ALL {
            let line = format!("  {:<14}  {}", form.as_str(), form.about());
            assert!(EXAMPLES.lines().any(|known| known == line), "no `{line}`");
        }
    }
}
