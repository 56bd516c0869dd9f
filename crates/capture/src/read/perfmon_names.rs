//! Counters of Windows, in English and by the Swedish names of the Premium Storage guide.

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counter {
    ReadIops,
    WriteIops,
    AllIops,
    ReadBytes,
    WriteBytes,
    AllBytes,
    ReadSeconds,
    WriteSeconds,
    AllSeconds,
    /// Mean over the interval.
    QueueMean,
    /// As it was at one moment.
    QueueNow,
    FreePercent,
    FreeMegabytes,
    CpuPercent,
    CommittedPercent,
    CommittedBytes,
}

/// What kind of thing a counter is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    Logical,
    Physical,
    Processor,
    Memory,
}

/// Returns the kind of thing, by its lower-case name.
pub(super) fn object(name: &str) -> Option<Object> {
    match name {
        "logicaldisk" | "logisk disk" => Some(Object::Logical),
        "physicaldisk" | "fysisk disk" => Some(Object::Physical),
        "processor" | "processor information" | "processorinformation" => Some(Object::Processor),
        "memory" | "minne" => Some(Object::Memory),
        _ => None,
    }
}

/// Returns what a counter counts, by its lower-case name.
pub(super) fn counter(name: &str) -> Option<Counter> {
    let found = match name {
        "disk reads/sec" | "diskläsningar/sek" => Counter::ReadIops,
        "disk writes/sec" | "diskskrivningar/sek" => Counter::WriteIops,
        "disk transfers/sec" | "disköverföringar/sek" => Counter::AllIops,
        "disk read bytes/sec" | "disk - lästa byte/sek" => Counter::ReadBytes,
        "disk write bytes/sec" | "disk - skrivna byte/sek" => Counter::WriteBytes,
        "disk bytes/sec" | "disk - byte/sek" => Counter::AllBytes,
        "avg. disk sec/read" | "medel s/diskläsning" => Counter::ReadSeconds,
        "avg. disk sec/write" | "medel s/diskskrivning" => Counter::WriteSeconds,
        "avg. disk sec/transfer" | "medel s/disköverföring" => Counter::AllSeconds,
        "avg. disk queue length" | "genomsnittlig diskkölängd" => Counter::QueueMean,
        "current disk queue length" | "aktuell diskkölängd" => Counter::QueueNow,
        "% free space" => Counter::FreePercent,
        "free megabytes" => Counter::FreeMegabytes,
        "% processor time" | "% processortid" => Counter::CpuPercent,
        "% committed bytes in use" | "% använda dedikerade byte" => Counter::CommittedPercent,
        "committed bytes" => Counter::CommittedBytes,
        _ => return None,
    };
    Some(found)
}

/// Counters that say nothing more than those above, or nothing that is asked here.
pub(super) fn is_left_out(name: &str) -> bool {
    let shares = ["% disk time", "% disk read time", "% disk write time", "% idle time"];
    let means = ["avg. disk bytes/read", "avg. disk bytes/write", "avg. disk bytes/transfer"];
    let queues = ["avg. disk read queue length", "avg. disk write queue length", "split io/sec"];
    let sizes = ["genomsnittligt antal byte/diskläsning", "genomsnittlig disk byte/skrivning"];
    [&shares[..], &means, &queues, &sizes].iter().any(|names| names.contains(&name))
}
