//! Files of other tools are known by their content.

use dialects::Foreign;

#[track_caller]
fn check(text: &str, expected: Option<Foreign>) {
    assert_eq!(Foreign::recognise(text.as_bytes()), expected, "{text}");
}

#[test]
fn configurations_and_results_of_iometer() {
    let setup = "Version 1.1.0 \r\n'TEST SETUP ======\r\n'Test Description\r\n\t\r\n";
    check(setup, Some(Foreign::IometerConfiguration));
    let specs = "Version 2006.07.27\n'ACCESS SPECIFICATIONS ====\n\t4K,NONE\n";
    check(specs, Some(Foreign::IometerConfiguration));
    let result = "'Test Type,Test Description\n0,\n'Version\n1.1.0\n";
    check(result, Some(Foreign::IometerResult));
}

#[test]
fn command_lines_of_diskspd() {
    for line in [
        "diskspd -w50 -b4K -c8G -o32 -Sh -L -r -d600 C:\\testfile.foo",
        "diskspd.exe -b8K file.dat > result.txt",
        ".\\diskspd.exe -b8K -d300 F:\\testfile.dat",
        "C:\\DISKSPD-Ready\\amd64\\DiskSpd -t2 -o32 IO.dat",
        "@echo off\nrem first\n\"C:\\Program Files\\DiskSpd\\diskspd.exe\" -d10 x",
        "& \"$dir\\diskspd.exe\" -d10 x",
        "@diskspd /? ",
    ] {
        check(line, Some(Foreign::DiskspdCommands));
    }
}

#[test]
fn profiles_of_diskspd() {
    let text = "<?xml version=\"1.0\"?>\n<Profile>\n  <Progress>0</Progress>\n  <TimeSpans>\n";
    check(text, Some(Foreign::DiskspdProfile));
    check("<Profile><TimeSpans><TimeSpan/></TimeSpans></Profile>", Some(Foreign::DiskspdProfile));
}

/// As PowerShell's `>` and editors of Windows write text.
#[test]
fn files_may_be_in_utf16_or_begin_with_a_mark() {
    for (text, expected) in [
        ("<Profile>\r\n  <TimeSpans>\r\n", Foreign::DiskspdProfile),
        ("diskspd.exe -b8K -d300 F:\\testfile.dat\r\n", Foreign::DiskspdCommands),
        ("Version 1.1.0 \r\n'TEST SETUP ====\r\n", Foreign::IometerConfiguration),
        ("'Test Type,Test Description\r\n", Foreign::IometerResult),
    ] {
        check(&format!("\u{feff}{text}"), Some(expected));
        check_wide(text, expected);
    }
    check("\u{feff}[a]\nrw=read\n", None);
    // No language of jobs is written so.
    check_wide("[a]\nrw=read\n", Foreign::WideText);
    check_wide("", Foreign::WideText);
}

#[track_caller]
fn check_wide(text: &str, expected: Foreign) {
    let marked = || format!("\u{feff}{text}").encode_utf16().collect::<Vec<u16>>();
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let bytes: Vec<u8> = marked().into_iter().flat_map(order).collect();
        assert_eq!(Foreign::recognise(&bytes), Some(expected), "{bytes:x?}");
    }
}

#[test]
fn what_only_speaks_of_them_is_none() {
    for text in [
        "",
        "[job]\nrw=read\n; as diskspd -r does\nfilename=diskspd.dat\n",
        "[job]\nexec_prerun=diskspd -c1G x\n",
        "# diskspd -w50 is what we had before\nsd=sd1,lun=/dev/sdx\n",
        "diskspd\n",
        "<Profile>of a user</Profile>\n",
    ] {
        check(text, None);
    }
}

#[test]
fn the_mistake_says_what_it_is_and_what_to_write() {
    let mistake = Foreign::IometerConfiguration.mistake("a.icf");
    assert_eq!(mistake.message, "`a.icf` is a test configuration of Iometer");
    assert!(mistake.help[0].contains("`plimsoll run` runs it"), "{:?}", mistake.help);
    let mistake = Foreign::IometerResult.mistake("a.csv");
    assert!(mistake.message.ends_with(", which is not supported yet"), "{}", mistake.message);
    assert!(mistake.help[0].contains("`plimsoll import`"), "{:?}", mistake.help);
}
