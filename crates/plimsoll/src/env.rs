//! Every environment variable that the program reads, each declared once with its text.
//!
//! The reference page is made from [`ALL`]. Variables in job files (`${NAME}`) are the user's own:
//! the loader asks for them.
#![expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]

/// An environment variable.
#[derive(Debug)]
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it changes, a sentence.
    pub(crate) doc: &'static str,
}

/// Behaves as if the kernel had no `io_uring`.
pub(crate) const FORBID_URING: Variable = Variable {
    name: "PLIMSOLL_FORBID_URING",
    doc: "With 1, the engine `io_uring` is not used, as on a kernel that forbids it; jobs that \
          name it run with `libaio`, and the record says so.",
};

/// Switches colour off.
pub(crate) const NO_COLOR: Variable = Variable {
    name: "NO_COLOR",
    doc: "If it is set and not empty, messages have no colour. Messages that do not go to a \
          terminal never have any.",
};

/// Kind of terminal.
pub(crate) const TERM: Variable =
    Variable { name: "TERM", doc: "With `dumb`, messages have no colour." };

/// Folder for temporary files.
pub(crate) const TMPDIR: Variable = Variable {
    name: "TMPDIR",
    doc: "Where `plimsoll vdbench -t` makes its scratch files, and `plimsoll demo` when it cannot \
          write to the current folder; /tmp unless set.",
};

/// The user's folder.
pub(crate) const HOME: Variable = Variable {
    name: "HOME",
    doc: "Runs are stored below .local/share in it if XDG_DATA_HOME is not set, and the data of \
          `plimsoll rehearse` below .local/state if XDG_STATE_HOME is not set.",
};

/// The run store.
pub(crate) const STORE: Variable = Variable {
    name: "PLIMSOLL_STORE",
    doc: "The file in which runs are stored if `--store` names none. If it is set and empty, no \
          run is stored.",
};

/// The user's folder for data.
pub(crate) const XDG_DATA_HOME: Variable = Variable {
    name: "XDG_DATA_HOME",
    doc: "Runs are stored in plimsoll/runs.db below it if PLIMSOLL_STORE is not set.",
};

/// The user's folder for what programs keep.
pub(crate) const XDG_STATE_HOME: Variable = Variable {
    name: "XDG_STATE_HOME",
    doc: "Where `plimsoll rehearse` keeps the data of emulated volumes without `--backing`.",
};

/// What sshd says of the connection.
pub(crate) const SSH_CONNECTION: Variable = Variable {
    name: "SSH_CONNECTION",
    doc: "Set by sshd: an agent reads from it which network interface leads to the controller, for \
          `plimsoll fleet check`.",
};

/// What servers and clients of fio mode know each other by.
pub(crate) const TOKEN_FILE: Variable = Variable {
    name: "PLIMSOLL_TOKEN_FILE",
    doc: "The token of `plimsoll fio --server` and `--client` if `--token-file` names none.",
};

/// What a collector of OpenTelemetry asks for. The name is the field's own.
pub(crate) const OTLP_HEADERS: Variable = Variable {
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    doc: "Headers that `--otlp` sends with each request, such as a key that the collector asks \
          for: `name=value,name=value`.",
};

/// All of them, in the order of the reference.
pub(crate) const ALL: [Variable; 11] = [
    FORBID_URING,
    HOME,
    NO_COLOR,
    OTLP_HEADERS,
    SSH_CONNECTION,
    STORE,
    TOKEN_FILE,
    TERM,
    TMPDIR,
    XDG_DATA_HOME,
    XDG_STATE_HOME,
];

/// Returns the value of a variable that a job file names; `None` where it is not set, or no text.
pub(crate) fn of_job_file(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

impl Variable {
    /// Returns the value; `None` where it is not set, or no text.
    pub(crate) fn get(&self) -> Option<String> {
        std::env::var(self.name).ok()
    }

    /// Returns whether it is set to anything but nothing.
    pub(crate) fn is_set(&self) -> bool {
        std::env::var_os(self.name).is_some_and(|value| !value.is_empty())
    }
}
