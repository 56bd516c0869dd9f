//! What a design does not say: variables at the top of every text.

use crate::quote;

/// A value that whoever builds the design gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    /// Name in small letters with `_` between.
    pub(crate) name: &'static str,
    /// What it is, as half a sentence.
    pub(crate) what: &'static str,
}

impl Variable {
    /// Makes one. Its text stands between double quotes and braces of a shell, where quotes of any
    /// kind, `$` and braces mean something.
    pub(crate) const fn new(name: &'static str, what: &'static str) -> Self {
        let bytes = what.as_bytes();
        let mut idx = 0;
        while idx < bytes.len() {
            let is_sign = matches!(bytes[idx], b'\'' | b'"' | b'`' | b'$' | b'{' | b'}' | b'\\');
            assert!(!is_sign, "what a variable is says no sign that shells read");
            idx += 1;
        }
        Variable { name, what }
    }

    /// Returns the name as variables of a shell are written.
    pub(crate) fn upper(self) -> String {
        self.name.to_uppercase()
    }

    /// Returns the line of a shell script that ends it where the variable is not set.
    pub(crate) fn demanded(self) -> String {
        let (name, what) = (self.upper(), self.what);
        format!(": \"${{{name}:?set {name}: {what}}}\"\n")
    }

    /// Returns the line of a shell script that takes what the design says unless it is set.
    pub(crate) fn with_default(self, value: &str) -> String {
        let name = self.upper();
        format!(": \"${{{name}:={}}}\" # {}\n", in_double_quotes(value), self.what)
    }
}

/// Of machines that reach network volumes, in every cloud.
pub(crate) const CLIENT_PREFIX: Variable = Variable::new(
    "client_prefix",
    "what the names of the machines that mount the volumes begin with",
);

/// Of machines of Amazon.
pub(crate) const AMI: Variable = Variable::new("ami_id", "image of the machine");
pub(crate) const KEY: Variable = Variable::new("key_name", "key pair to log in with");
pub(crate) const EC2_SUBNET: Variable =
    Variable::new("subnet_id", "subnet that the machine is in, of that zone");

/// Of machines of Google.
pub(crate) const GCE_ZONE: Variable =
    Variable::new("zone", "zone of the region of the design, such as europe-west1-b");
pub(crate) const GCE_IMAGE: Variable =
    Variable::new("image", "image of the system disk, as projects/PROJECT/global/images/NAME");
/// Unless it is named, Google Cloud takes pd-standard, which newer machines refuse.
pub(crate) const GCE_BOOT_DISK: Variable = Variable::new(
    "boot_disk_type",
    "type of the system disk: pd-balanced or, for machines such as C4 and N4, hyperdisk-balanced",
);
pub(crate) const GCE_SUBNET: Variable = Variable::new("subnetwork", "subnetwork of the machine");

/// Writes text into double quotes of a shell, where `$`, backticks, quotes and backslashes mean
/// something; of names of the catalogue and of regions nothing is changed.
fn in_double_quotes(text: &str) -> String {
    let mut quoted = String::new();
    for letter in text.chars() {
        if matches!(letter, '$' | '`' | '"' | '\\' | '}') {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted
}

/// Returns the head of a shell script: what it is of, what was checked, and what to fill in.
pub(crate) fn script_head(what: &str, checked: &str, variables: &str) -> String {
    let what = quote::comment(what);
    let mut head = format!("#!/bin/sh\n# {what}\n# {checked}\nset -eu\n");
    if !variables.is_empty() {
        head.push_str(TO_BE_FILLED_IN);
        head.push_str(variables);
    }
    head
}

/// What stands above the variables of a script.
pub(crate) const TO_BE_FILLED_IN: &str = "\n# To be filled in, or set in the environment:\n";
