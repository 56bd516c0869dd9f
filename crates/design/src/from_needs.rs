//! Requirements, as a file of needs gives them, as the search takes them.

use needs::{LoadRequirement, Requirements, VolumeRequirement};

use crate::need::{Need, PhaseNeed, VolumeNeed, VolumeUse};

/// What is asked for, and what was taken for granted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchInput {
    /// What is asked for.
    pub need: Need,
    /// What is not known and was left out.
    pub notes: Vec<String>,
    /// Loads of which nothing shows that they are at random places, as is assumed: mounts and
    /// phases.
    pub random_assumed: Vec<(String, String)>,
}

impl SearchInput {
    /// Says whether it is assumed how many I/Os of a load are at random places.
    pub fn is_random_assumed(&self, mount: &str, phase: &str) -> bool {
        self.random_assumed.iter().any(|(of, in_phase)| of == mount && in_phase == phase)
    }
}

/// Makes requirements a need. What a search cannot do without is a mistake: all of them are
/// returned, each with what to write.
pub fn asked(requirements: &Requirements) -> Result<SearchInput, Vec<String>> {
    let mut reader = Reader::default();
    let volumes: Vec<VolumeNeed> =
        requirements.volumes.iter().map(|volume| reader.volume(volume)).collect();
    let value = |amount: &Option<needs::Amount>| amount.as_ref().map(|amount| amount.value);
    let machine = &requirements.machine;
    if machine.cpus.is_none() && machine.memory_gib.is_none() {
        let text = "processors and memory are not known: a machine of any size is accepted: write \
                    `cpus = ..` and `memory_gib = ..` below `[machine]`";
        reader.notes.push(text.to_owned());
    }
    let need = Need {
        volumes,
        vcpus: value(&machine.cpus),
        memory_gib: value(&machine.memory_gib),
        series: None,
    };
    if let Err(error) = need.check() {
        reader.mistakes.push(error.to_string());
    }
    let Reader { notes, mistakes, random_assumed } = reader;
    if mistakes.is_empty() {
        Ok(SearchInput { need, notes, random_assumed })
    } else {
        Err(mistakes)
    }
}

#[derive(Default)]
struct Reader {
    notes: Vec<String>,
    mistakes: Vec<String>,
    random_assumed: Vec<(String, String)>,
}

impl Reader {
    fn volume(&mut self, volume: &VolumeRequirement) -> VolumeNeed {
        let value = |amount: &Option<needs::Amount>| amount.as_ref().map(|amount| amount.value);
        let name = &volume.name;
        if volume.capacity_gib.is_none() {
            let text = format!("the capacity of {name} is not known: any size is accepted");
            self.notes.push(format!("{text}: write `capacity_gib = ..`"));
        }
        if volume.loads.is_empty() {
            let text = format!("no rate of {name} is known: no rate is required");
            self.notes.push(format!("{text}: write `iops = ..`"));
        }
        VolumeNeed {
            mount: ::needs::design_mount(name),
            usage: match volume.usage {
                needs::VolumeUse::Data => VolumeUse::Data,
                needs::VolumeUse::Log => VolumeUse::Log,
                needs::VolumeUse::Temp => VolumeUse::Temp,
            },
            capacity_gib: value(&volume.capacity_gib).unwrap_or(0.0),
            working_set_gib: value(&volume.working_set_gib),
            hit_share: value(&volume.hit_share),
            latency_ms_max: value(&volume.latency_ms_max),
            is_shared: volume.is_shared,
            phases: volume.loads.iter().filter_map(|load| self.load(name, load)).collect(),
        }
    }

    fn load(&mut self, name: &str, load: &LoadRequirement) -> Option<PhaseNeed> {
        let value = |amount: &Option<needs::Amount>| amount.as_ref().map(|amount| amount.value);
        let mut lacks = |what: &str, key: &str| {
            let text = format!("{what} of {name} is not known: write `{key} = ..`");
            if !self.mistakes.contains(&text) {
                self.mistakes.push(text);
            }
        };
        let size = value(&load.io_size_bytes);
        let read_share = value(&load.read_share);
        if size.is_none() {
            lacks("the size of I/Os", "io_size_kib");
        }
        if read_share.is_none() {
            lacks("the share of reads", "read_percent");
        }
        let iops = value(&load.iops);
        let (size, read_share, iops) = (size?, read_share?, iops?);
        if load.is_random_assumed() {
            let of = (::needs::design_mount(name), load.phase.word().to_owned());
            self.random_assumed.push(of);
        }
        // Percentiles of operations and of bytes are of different moments: both are carried.
        let bytes = value(&load.throughput_bytes_per_s).unwrap_or(0.0);
        let of_bytes = if iops > 0.0 { bytes / iops } else { 0.0 };
        Some(PhaseNeed {
            phase: load.phase.word().to_owned(),
            iops,
            size_bytes: size.max(of_bytes).round().max(1.0) as u64,
            step_bytes: load.io_sizes.as_ref().map(|sizes| sizes.step_bytes().into()),
            read_share,
            random_share: value(&load.random_share).unwrap_or(1.0),
            queue_depth: value(&load.queue_depth),
        })
    }
}
