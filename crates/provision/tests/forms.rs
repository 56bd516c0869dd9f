//! Every form of designs of every kind: what is printed, and that other programs can read it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use plan::keys::quoted;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use provision::{Form, Refusal, quote, text};
use volume::Design;

/// Designs, by name.
const DESIGNS: [(&str, &str); 9] = [
    ("azure", include_str!("designs/azure.toml")),
    ("azure_v2", include_str!("designs/azure_v2.toml")),
    ("aws", include_str!("designs/aws.toml")),
    ("gcp", include_str!("designs/gcp.toml")),
    ("netapp", include_str!("designs/netapp.toml")),
    ("shared", include_str!("designs/shared.toml")),
    ("own", include_str!("designs/own.toml")),
    ("fsx", include_str!("designs/fsx.toml")),
    ("google_volumes", include_str!("designs/google_volumes.toml")),
];

fn design(text: &str) -> Design {
    let (design, findings) = volume::design::parse(text);
    design.unwrap_or_else(|| panic!("{findings:?}"))
}

/// Forms that are shell scripts.
const SCRIPTS: [Form; 6] =
    [Form::AzureCli, Form::AwsCli, Form::Gcloud, Form::Mdadm, Form::Fstab, Form::Nfs];

#[test]
fn every_form_of_every_design() {
    for (name, written) in DESIGNS {
        let design = design(written);
        for form in Form::ALL {
            let said = match text(&design, form) {
                Ok(text) => text,
                Err(refusal) => format!("{refusal}\n{}\n", refusal.help()),
            };
            assert_snapshot!(format!("{name}_{}", form.as_str()), said);
        }
    }
}

/// Returns the lines of a design's job that begin with one of the names, without the names.
fn job_lines(written: &str, name: &str) -> Vec<String> {
    let job = text(&design(written), Form::Job).expect("it promises something");
    job.lines().filter_map(|line| line.strip_prefix(name)).map(str::to_owned).collect()
}

/// Of 10,000 a second 8,000 are reads, of which the cache is to answer three quarters: 6,000 from
/// 2.3 MiB, which is 50 ms of them. Of the other 4,000 half are reads.
#[test]
fn what_the_cache_is_to_answer_has_a_small_file() {
    let cached = "[vm]\nsize='D8s_v3'\n[[volume]]\nmount='/d'\ndisk='P30'\n\
                  cache='ReadOnly'\n[[promise]]\nvolume='/d'\niops=10000\nio_size_kib=8\n\
                  read_percent=80\nhit_percent=75\n";
    let expected = |parts: [&str; 2]| parts.map(str::to_owned).to_vec();
    assert_eq!(job_lines(cached, "["), ["global]", "promised /d 8k]", "promised /d 8k]"]);
    let files = expected(["/d/plimsoll-promised-0-hits", "/d/plimsoll-promised-0"]);
    assert_eq!(job_lines(cached, "filename="), files);
    assert_eq!(job_lines(cached, "size="), expected(["3m", "16384m"]));
    assert_eq!(job_lines(cached, "rate_iops="), expected(["6000", "2000,2000"]));
    assert_eq!(job_lines(cached, "rwmixread="), ["50"]);
    assert_eq!(job_lines(cached, "stonewall="), ["1"]);
    let plain = cached.replace("hit_percent=75\n", "");
    assert_eq!(job_lines(&plain, "rate_iops="), ["8000,2000"]);
}

/// 16 for each of 64 disks.
#[test]
fn a_wide_stripe_has_room_for_a_queue_at_each_disk() {
    let stripe = |count: u32| {
        let written = format!(
            "[[volume]]\nmount='/d'\ndisk='P30'\ncount={count}\ncache='None'\n[[promise]]\n\
             volume='/d'\niops=40000\nio_size_kib=8\nread_percent=100\n"
        );
        job_lines(&written, "iodepth=")
    };
    assert_eq!((stripe(64), stripe(4)), (vec!["1024".to_owned()], vec!["256".to_owned()]));
}

/// AWS refuses the option for sizes without a path of their own to volumes, such as those of T2.
#[test]
fn a_machine_without_a_path_to_its_volumes_is_not_asked_for_one() {
    let (_, aws) = DESIGNS[2];
    for (size, is_asked) in [("m5.4xlarge", true), ("t2.large", false)] {
        let design = design(&aws.replace("m5.4xlarge", size));
        let commands = text(&design, Form::AwsCli).expect("a design of AWS");
        let configuration = text(&design, Form::Terraform).expect("a design of AWS");
        assert_eq!(commands.contains("--ebs-optimized"), is_asked, "{size}");
        assert_eq!(configuration.contains("ebs_optimized"), is_asked, "{size}");
    }
}

/// Reads a script without running it.
#[track_caller]
fn check_script(shell: &str, script: &str) {
    let mut reader = Command::new(shell);
    reader.arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::null());
    let Ok(mut reader) = reader.spawn() else {
        testing::skipped!("`{shell}` is not installed");
        return;
    };
    let stdin = reader.stdin.as_mut().expect("a pipe");
    stdin.write_all(script.as_bytes()).expect("the shell reads");
    let done = reader.wait_with_output().expect("the shell ends");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.is_empty(), "{shell}: {said}\n{script}");
}

#[test]
fn scripts_are_read_by_shells() {
    for (_, written) in DESIGNS {
        for form in SCRIPTS {
            if let Ok(script) = text(&design(written), form) {
                check_script("sh", &script);
                check_script("bash", &script);
            }
        }
    }
}

/// Returns the symbols of a template's resources as pycep has them, a parser of Bicep; `None` where
/// Python does not have it.
#[expect(clippy::disallowed_methods, reason = "where the other programs are")]
fn resources(template: &str) -> Option<String> {
    let python = std::env::var("PLIMSOLL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = "import sys, pycep\n\
                  read = pycep.BicepParser().parse(text=sys.stdin.read())\n\
                  print(*sorted(read['resources']))";
    let has_it = Command::new(&python).args(["-c", "import pycep"]).output();
    if !has_it.is_ok_and(|done| done.status.success()) {
        testing::skipped!("{python} has no pycep; PLIMSOLL_PYTHON may name another");
        return None;
    }
    let mut reader = Command::new(&python);
    reader.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut reader = reader.spawn().expect("it ran before");
    let stdin = reader.stdin.as_mut().expect("a pipe");
    stdin.write_all(template.as_bytes()).expect("the parser reads");
    let done = reader.wait_with_output().expect("the parser ends");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}\n{template}");
    Some(String::from_utf8_lossy(&done.stdout).trim_end().to_owned())
}

#[test]
fn a_template_is_read_as_what_was_meant() {
    let of_design = [
        ("azure", "disks_data disks_log machine nic"),
        ("azure_v2", "disks_data disks_e disks_fast machine nic"),
        ("netapp", "account pool_pool1 pool_standard volume_database volume_home volume_log"),
        (
            "shared",
            "account clients_far clients_machine nics_far nics_machine pool_premium_auto \
             volume_data",
        ),
    ];
    for (name, expected) in of_design {
        let (_, written) = DESIGNS.iter().find(|(known, _)| *known == name).expect("a design");
        let template = text(&design(written), Form::Bicep).expect("a template");
        let Some(found) = resources(&template) else { return };
        assert_eq!(found, expected, "{name}");
    }
}

/// Returns the blocks of a configuration as the parser has them, `kind.label.label`.
fn blocks(text: &str) -> Vec<String> {
    let body: hcl::Body = hcl::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let name = |block: &hcl::Block| {
        let labels = block.labels.iter().map(|label| label.as_str().to_owned());
        let parts: Vec<String> = [block.identifier.to_string()].into_iter().chain(labels).collect();
        parts.join(".")
    };
    body.blocks().map(name).collect()
}

#[test]
fn a_configuration_is_read_as_what_was_meant() {
    let of = |name: &str| {
        let (_, written) = DESIGNS.iter().find(|(known, _)| *known == name).expect("a design");
        blocks(&text(&design(written), Form::Terraform).expect("a configuration"))
    };
    let has = |blocks: &[String], wanted: &[&str]| {
        for name in wanted {
            assert!(blocks.iter().any(|block| block == name), "no {name} in {blocks:?}");
        }
    };
    has(
        &of("azure"),
        &[
            "terraform",
            "provider.azurerm",
            "variable.subnet_id",
            "resource.azurerm_linux_virtual_machine.machine",
            "resource.azurerm_managed_disk.data",
            "resource.azurerm_virtual_machine_data_disk_attachment.log",
        ],
    );
    has(&of("aws"), &["resource.aws_ebs_volume.data", "resource.aws_volume_attachment.data"]);
    let google =
        ["resource.google_compute_disk.data", "resource.google_compute_attached_disk.data"];
    has(&of("gcp"), &google);
    has(
        &of("netapp"),
        &["resource.azurerm_netapp_pool.pool1", "resource.azurerm_netapp_volume.log"],
    );
    has(
        &of("shared"),
        &[
            "resource.azurerm_netapp_volume.data",
            "variable.client_prefix",
            "resource.azurerm_network_interface.client_machine",
            "resource.azurerm_linux_virtual_machine.client_machine",
            "resource.azurerm_linux_virtual_machine.client_far",
        ],
    );
    has(
        &of("fsx"),
        &[
            "variable.fsx_subnet_ids",
            "resource.aws_fsx_ontap_file_system.multi_az",
            "resource.aws_fsx_ontap_storage_virtual_machine.multi_az",
            "resource.aws_fsx_ontap_volume.data_files",
            "resource.aws_fsx_ontap_volume.log",
            "resource.aws_instance.client_machine",
        ],
    );
    has(
        &of("google_volumes"),
        &[
            "resource.google_netapp_storage_pool.fast",
            "resource.google_netapp_volume.data",
            "resource.google_netapp_volume.home",
            "resource.google_compute_instance.client_machine",
        ],
    );
    // Machines without a size are there already.
    let names = of("netapp");
    assert!(names.iter().all(|name| !name.contains("virtual_machine")), "{names:?}");
}

/// Machines that mount network volumes are as many, and of the size, as the design has.
#[test]
fn clients_have_the_number_and_size_of_the_design() {
    let written = DESIGNS.iter().find(|(name, _)| *name == "shared").expect("a design").1;
    let text = text(&design(written), Form::Terraform).expect("a configuration");
    let body: hcl::Body = hcl::parse(&text).expect("a configuration");
    let figures = |label: &str| {
        let block = body.blocks().find(|block| {
            block.labels.iter().map(hcl::structure::BlockLabel::as_str).collect::<Vec<_>>()
                == ["azurerm_linux_virtual_machine", label]
        });
        let block = block.unwrap_or_else(|| panic!("no machine {label}"));
        ["count", "size"].map(|name| {
            let found = block.body.attributes().find(|attribute| attribute.key() == name);
            found.map(|attribute| attribute.expr().to_string()).unwrap_or_default()
        })
    };
    assert_eq!(figures("client_machine"), ["3", "\"Standard_D16s_v5\""]);
    assert_eq!(figures("client_far"), ["1", "\"Standard_D8s_v5\""]);
}

/// Returns attributes of a resource that a reader of the configuration finds.
fn attributes<const N: usize>(
    text: &str,
    kind: &str,
    label: &str,
    names: [&str; N],
) -> [String; N] {
    let body: hcl::Body = hcl::parse(text).expect("a configuration");
    let block = body.blocks().find(|block| {
        let labels = block.labels.iter().map(hcl::structure::BlockLabel::as_str);
        labels.collect::<Vec<_>>() == [kind, label]
    });
    let block = block.unwrap_or_else(|| panic!("no {kind} {label}"));
    names.map(|name| {
        let found = block.body.attributes().find(|attribute| attribute.key() == name);
        found.map(|attribute| attribute.expr().to_string()).unwrap_or_default()
    })
}

/// What is bought of a file service is what the design says; MiB and GiB are those of its sizes.
#[test]
fn file_services_have_the_figures_of_the_design() {
    let of = |name: &str| {
        let written = DESIGNS.iter().find(|(known, _)| *known == name).expect("a design").1;
        text(&design(written), Form::Terraform).expect("a configuration")
    };
    let fsx = of("fsx");
    let names = ["deployment_type", "storage_capacity", "throughput_capacity_per_ha_pair"];
    assert_eq!(
        attributes(&fsx, "aws_fsx_ontap_file_system", "multi_az", names),
        ["\"MULTI_AZ_1\"", "4000", "1024"]
    );
    let names = ["name", "junction_path", "size_in_megabytes"];
    assert_eq!(
        attributes(&fsx, "aws_fsx_ontap_volume", "data_files", names),
        ["\"data_files\"", "\"/data-files\"", "3072000"]
    );
    let google = of("google_volumes");
    let names = ["service_level", "capacity_gib"];
    assert_eq!(
        attributes(&google, "google_netapp_storage_pool", "fast", names),
        ["\"PREMIUM\"", "4096"]
    );
    let names = ["storage_pool", "capacity_gib"];
    assert_eq!(
        attributes(&google, "google_netapp_volume", "home", names),
        ["google_netapp_storage_pool.netapp_volumes_standard.name", "1536"]
    );
}

/// Figures that a reader of the configuration finds.
#[test]
fn disks_have_the_figures_of_the_design() {
    let written = DESIGNS.iter().find(|(name, _)| *name == "azure_v2").expect("a design").1;
    let text = text(&design(written), Form::Terraform).expect("a configuration");
    let body: hcl::Body = hcl::parse(&text).expect("a configuration");
    let disk = body
        .blocks()
        .find(|block| block.labels.first().is_some_and(|it| it.as_str() == "azurerm_managed_disk"))
        .expect("disks");
    let figure = |name: &str| {
        let found = disk.body.attributes().find(|attribute| attribute.key() == name);
        found.map(|attribute| attribute.expr().to_string()).unwrap_or_default()
    };
    assert_eq!(
        ["count", "disk_size_gb", "disk_iops_read_write", "disk_mbps_read_write"].map(figure),
        ["2", "512", "20000", "600"]
    );
    assert_eq!(figure("storage_account_type"), "\"PremiumV2_LRS\"");
}

#[test]
fn a_configuration_is_laid_out_as_terraform_does() {
    for (_, written) in DESIGNS {
        let Ok(text) = text(&design(written), Form::Terraform) else { continue };
        let mut terraform = Command::new("terraform");
        terraform.args(["fmt", "-"]).env("CHECKPOINT_DISABLE", "1");
        terraform.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut terraform) = terraform.spawn() else {
            testing::skipped!("`terraform` is not installed");
            return;
        };
        let stdin = terraform.stdin.as_mut().expect("a pipe");
        stdin.write_all(text.as_bytes()).expect("terraform reads");
        let done = terraform.wait_with_output().expect("terraform ends");
        assert!(done.status.success(), "{text}");
        similar(&String::from_utf8_lossy(&done.stdout), &text);
    }
}

#[track_caller]
fn similar(expected: &str, text: &str) {
    for (expected, line) in expected.lines().zip(text.lines()) {
        assert_eq!(line, expected);
    }
    assert_eq!(text.lines().count(), expected.lines().count());
}

#[test]
fn a_form_of_another_cloud_names_those_that_fit() {
    let azure = design(DESIGNS[0].1);
    let refusal = text(&azure, Form::Gcloud).expect_err("another cloud's");
    assert!(matches!(refusal, Refusal::OtherCloud { form: Form::Gcloud, .. }));
    assert!(refusal.help().contains("bicep, terraform, azure-cli"), "{}", refusal.help());
}

/// What a shell makes of a text in quotes.
fn said_by(shell: &str, text: &str) -> Option<String> {
    let script = format!("printf %s {}", quote::shell(text));
    let done = Command::new(shell).arg("-c").arg(script).output().ok()?;
    Some(String::from_utf8_lossy(&done.stdout).into_owned())
}

const ODD: [&str; 9] = [
    "plain",
    "two words",
    "it's",
    "a\"b",
    "$HOME ${x} $(id) `id`",
    "%{ if true }x${1 + 1}",
    "back\\slash \\$ \\\" \\'",
    "new\nline\ttab #comment",
    "\u{2018}curly\u{2019} \u{1F600}",
];

#[test]
fn a_shell_takes_odd_text_as_it_is() {
    for text in ODD {
        assert_eq!(said_by("sh", text).as_deref(), Some(text));
    }
}

#[test]
fn odd_text_is_quoted_for_bicep_powershell_and_fstab() {
    let check = |text: &str, bicep: &str, powershell: &str, fstab: &str| {
        assert_eq!(quote::bicep(text), bicep);
        assert_eq!(quote::powershell(text), powershell);
        assert_eq!(quote::fstab(text), fstab);
    };
    check("it's", "'it\\'s'", "'it''s'", "it's");
    check("${x} $y", "'\\${x} $y'", "'${x} $y'", "${x}\\040$y");
    check("a\\b\nc", "'a\\\\b\\nc'", "'a\\b\nc'", "a\\134b\\012c");
    check("\u{2019}", "'\u{2019}'", "'\u{2019}\u{2019}'", "\u{2019}");
    check("#x", "'#x'", "'#x'", "\\043x");
}

/// Reads a quoted text as HCL's specification says: none where it is more than a text.
fn read_hcl(quoted: &str) -> Option<String> {
    let mut rest = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let mut read = String::new();
    while let Some(letter) = rest.chars().next() {
        let escaped = [
            ("$${", "${"),
            ("%%{", "%{"),
            ("\\\"", "\""),
            ("\\\\", "\\"),
            ("\\n", "\n"),
            ("\\r", "\r"),
            ("\\t", "\t"),
        ];
        if let Some((word, meaning)) = escaped.iter().find(|(word, _)| rest.starts_with(word)) {
            read.push_str(meaning);
            rest = &rest[word.len()..];
            continue;
        }
        if let Some(hex) = rest.strip_prefix("\\u") {
            read.push(char::from_u32(u32::from_str_radix(hex.get(..4)?, 16).ok()?)?);
            rest = &hex[4..];
            continue;
        }
        let is_more = rest.starts_with("${") || rest.starts_with("%{");
        if is_more || matches!(letter, '"' | '\\') || letter.is_control() {
            return None;
        }
        read.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    Some(read)
}

/// Text that a template or a quotation may end or begin in.
const HCL_TEXT: &str = "[${}%~\"\\\\\n\t ]{0,12}";

/// Terraform 1.11 printed the left side for each of the right ones.
#[test]
fn odd_text_is_quoted_for_terraform() {
    for (text, quoted) in [
        ("${x}", r#""$${x}""#),
        ("$${x}", r#""$$${x}""#),
        ("$$$${x}", r#""$$$$${x}""#),
        ("%%{x}", r#""%%%{x}""#),
        ("$%{x}", r#""$%%{x}""#),
        ("%${x}", r#""%$${x}""#),
        ("$$ ${x}$", r#""$$ $${x}$""#),
        ("%%%{ab}${", r#""%%%%{ab}$${""#),
        ("a$", r#""a$""#),
        ("$\n$\"$", r#""$\n$\"$""#),
        ("\u{7}", r#""\u0007""#),
    ] {
        assert_eq!(quote::hcl(text), quoted);
        assert_eq!(read_hcl(quoted).as_deref(), Some(text));
    }
    for more in [r#""${x}""#, r#""a%{x}""#, r#""a"b""#, r#""\x""#, "\"\n\""] {
        assert_eq!(read_hcl(more), None, "{more}");
    }
}

/// The real program reads texts of such letters as what they were.
#[test]
fn terraform_itself_reads_odd_text_back() {
    let mut runner = TestRunner::deterministic();
    let drawn = (0..500).map(|_| HCL_TEXT.new_tree(&mut runner).expect("a text").current());
    let texts: Vec<String> = ODD.iter().map(|&text| text.to_owned()).chain(drawn).collect();
    let outputs = texts
        .iter()
        .enumerate()
        .map(|(idx, text)| format!("output \"t{idx}\" {{\n  value = {}\n}}\n", quote::hcl(text)));
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("main.tf"), outputs.collect::<String>()).expect("a file");
    let run = |args: &[&str]| {
        let mut terraform = Command::new("terraform");
        terraform.args(args).current_dir(folder.path()).env("CHECKPOINT_DISABLE", "1").output()
    };
    let Ok(applied) = run(&["apply", "-auto-approve", "-no-color"]) else {
        testing::skipped!("`terraform` is not installed");
        return;
    };
    assert!(applied.status.success(), "{}", String::from_utf8_lossy(&applied.stderr));
    let shown = run(&["output", "-json"]).expect("terraform runs again");
    let read: serde_json::Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    for (idx, text) in texts.iter().enumerate() {
        assert_eq!(read[format!("t{idx}")]["value"].as_str(), Some(text.as_str()));
    }
}

proptest! {
    #[test]
    fn terraform_reads_any_text_back(text in prop_oneof![HCL_TEXT, "\\PC{0,20}"]) {
        let quoted = quote::hcl(&text);
        let body: hcl::Body = hcl::parse(&format!("a = {quoted}\n"))
            .map_err(|error| TestCaseError::fail(format!("{error}")))?;
        prop_assert_eq!(body.attributes().count(), 1);
        prop_assert_eq!(read_hcl(&quoted), Some(text));
    }

    /// Names and paths of a user's never end a comment, a string or a line of a text.
    #[test]
    fn odd_names_leave_every_script_readable(
        name in "[ -~]{1,16}|\\PC{1,8}", folder in "[ -.0-~]{1,12}"
    ) {
        let trimmed = folder.trim_matches('.');
        let written = format!(
            "name = {}\n[vm]\nsize = \"DS13\"\n[[volume]]\nname = {}\nmount = {}\ndisk = \"P30\"\n\
             count = 2\ncache = \"None\"\n",
            quoted(&name), quoted(&name), quoted(&format!("/x{trimmed}"))
        );
        let (Some(design), _) = volume::design::parse(&written) else { return Ok(()) };
        for form in [Form::AzureCli, Form::Mdadm, Form::Fstab] {
            check_script("sh", &text(&design, form).expect("a script"));
        }
        let blocks = blocks(&text(&design, Form::Terraform).expect("a configuration"));
        prop_assert_eq!(blocks.len(), 14, "{:?}", blocks);
    }
}
