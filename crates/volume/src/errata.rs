//! Where the source documents contradict themselves, and which figure is used.
//!
//! A printed figure that is wrong is never used in silence: the rules of [`limits`](crate::limits)
//! give the one that follows from the rest, and this list says why.

/// One contradiction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erratum {
    /// Rows of the table of cases that it is about.
    pub cases: &'static [&'static str],
    /// Which document, and where in it.
    pub place: &'static str,
    /// What is printed there.
    pub printed: &'static [&'static str],
    /// What is used instead.
    pub used: &'static str,
    /// Why.
    pub why: &'static str,
}

/// All that are known, by document.
pub const ERRATA: &[Erratum] = &[
    Erratum {
        cases: &["P-44", "P-45"],
        place: "Premium Storage guide (2018), cost example, lines 182 and 190",
        printed: &["$1,544.34 in total"],
        used: "$1,548.00",
        why: "its parts are $1,003.66 and $544.34; the printed saving follows the wrong total",
    },
    Erratum {
        cases: &["P-73", "P-74"],
        place: "Premium Storage guide (2018), Iometer results, lines 399 to 406",
        printed: &["reads 50,000 IOPS", "writes 64,000 IOPS"],
        used: "reads 64,000, writes 50,000",
        why: "the specifications of the two rows are swapped: ten P30 without cache give 50,000 \
              and the cached path 64,000, as the fio runs of the same guide show",
    },
    Erratum {
        cases: &["P-76", "P-77", "P-78"],
        place: "Premium Storage guide (2018), line 395",
        printed: &["8 KB in all scenarios"],
        used: "64 KB in the three rows of throughput",
        why: "the table below it says so, and 8 KB could not reach these rates",
    },
    Erratum {
        cases: &["P-81"],
        place: "Premium Storage guide (2018), line 498",
        printed: &["random writes"],
        used: "random reads",
        why: "the job file above the remark reads",
    },
    Erratum {
        cases: &["P-50"],
        place: "Premium Storage guide (2018), lines 228 and 242",
        printed: &["data disks: ReadOnly (text)", "data disks: None (table)"],
        used: "the mode that the design states for each disk",
        why: "text and table disagree on the default",
    },
    Erratum {
        cases: &["P-20", "P-21"],
        place: "Premium Storage guide (2018), lines 167 and 168",
        printed: &["DS14: 4,000 IOPS and 33 MB/s", "GS5: 5,000 IOPS and 50 MB/s"],
        used: "64,000 IOPS and 512 MB/s; 160,000 and 1,600",
        why: "the columns of the cache are per core, beside columns of the whole machine",
    },
    Erratum {
        cases: &["P-22"],
        place: "Premium Storage guide (2018), line 223",
        printed: &["about two data disks per core"],
        used: "the number in the catalogue for the size",
        why: "true for the two sizes shown; later tables have four per core",
    },
    Erratum {
        cases: &["P-70"],
        place: "Premium Storage guide (2018), line 337",
        printed: &["10 disks named NoCacheWrites, 11 disks"],
        used: "11 disks: 10 striped without cache, 1 with ReadOnly",
        why: "the eleventh is the cached one",
    },
    Erratum {
        cases: &["A-03"],
        place: "NetApp Files benchmarks (2019), line 83",
        printed: &["4.5 GiB/s"],
        used: "4.39 GiB/s",
        why: "the measured 4,500 MiB/s were divided by 1,000 instead of 1,024",
    },
    Erratum {
        cases: &["A-08", "A-09"],
        place: "NetApp Files benchmarks (2019), lines 113 and 117",
        printed: &["1.3 ms", "4.0 threads = 0.0013 s x 5,000"],
        used: "1.14 ms x 3,500 = 3.99, so 4 threads; 0.0013 s x 5,000 = 6.5",
        why: "two examples were mixed, and the product is wrong",
    },
    Erratum {
        cases: &["A-07"],
        place: "NetApp Files benchmarks (2019), lines 36, 63 and 95",
        printed: &["1+14", "12", "24"],
        used: "none: the three are kept as what was said",
        why: "the number of client machines differs from one page to the next",
    },
    Erratum {
        cases: &["A-12"],
        place: "NetApp Files benchmarks (2019), line 179",
        printed: &["run SeqRead-4"],
        used: "20 threads",
        why: "the label says 4, the parameter threads=20",
    },
    Erratum {
        cases: &["E-11"],
        place: "EDA training module (2023), line 59",
        printed: &["2,000 MiB/s (2 GiB/s)"],
        used: "2,000 MB/s = 1,907 MiB/s = 1.863 GiB/s",
        why: "16,000 Mb/s are decimal",
    },
    Erratum {
        cases: &["E-15b"],
        place: "EDA training module (2023), lines 14 and 66",
        printed: &["about 700,000 read IOPS", "about 709,000 read IOPS"],
        used: "709,000 for 8 KiB; 700,000 as the limit",
        why: "1.3 % apart: table and text round differently",
    },
    Erratum {
        cases: &["E-06", "E-07"],
        place: "EDA training module (2023), lines 20 and 32",
        printed: &["nconnect=16", "nconnect=8"],
        used: "what the design says",
        why: "two tests with different settings, not a rule",
    },
    Erratum {
        cases: &["E-09", "E-14"],
        place: "EDA training module (2023), lines 23 and 62",
        printed: &["rsize of 256 KiB is better", "no difference to 64 KiB"],
        used: "calls per I/O: fewer at 256 KiB; no effect where the volume's bytes bind",
        why: "the first is about EDA work, the second about fio on a large volume",
    },
    Erratum {
        cases: &["N-06b"],
        place: "NetApp Files on Linux (2024), line 79",
        printed: &["about 17 % less"],
        used: "15.65 % less",
        why: "from 460,000 to 388,000; 18.6 % only if counted from the smaller",
    },
    Erratum {
        cases: &["N-13"],
        place: "NetApp Files on Linux (2024), line 141",
        printed: &["compared with tests without caching"],
        used: "compared with tests with caching",
        why: "the tests described are those without",
    },
    Erratum {
        cases: &["N-12"],
        place: "NetApp Files on Linux (2024), line 151",
        printed: &["256 KiB writes less and reads more than 64 KiB"],
        used: "writes more (2,500 over 2,400), reads less (3,500 under 3,600 MiB/s)",
        why: "the figures of the two sections say the opposite of the text",
    },
    Erratum {
        cases: &["N-02"],
        place: "NetApp Files on Linux (2024), lines 21, 33 and 59",
        printed: &["6", "32"],
        used: "none: both are kept as what was said",
        why: "the number of clients differs between the sections",
    },
    Erratum {
        cases: &["N-15"],
        place: "NetApp Files on Linux (2024), lines 44, 167, 169 and 171",
        printed: &["64 KiB random", "64 KiB sequential", "chunks of 4 KiB"],
        used: "the order only: more connections, more I/O at less latency",
        why: "the size and the pattern of the test are not stated",
    },
    Erratum {
        cases: &["M-02"],
        place: "disk performance page",
        printed: &["4,267 + 4,266 + 4,266"],
        used: "12,800 / 3 for each disk",
        why: "the printed shares add up to 12,799",
    },
    Erratum {
        cases: &["M-06"],
        place: "disk metrics page",
        printed: &["cached path 61 % used", "28,600 in total (older edition)"],
        used: "62.5 %; 28,800",
        why: "10,000 of 16,000; 16,000 + 12,800",
    },
    Erratum {
        cases: &["M-22b"],
        place: "NetApp Files cost model, dynamic resizing",
        printed: &["$2,238.33"],
        used: "$2,287.85",
        why: "24 hours at 5 TiB are listed and not counted",
    },
    Erratum {
        cases: &["M-22d"],
        place: "NetApp Files cost model (2026), change of service level",
        printed: &["$5,549.38"],
        used: "$5,554.37",
        why: "the sum of its parts, as the edition of 2021 has it",
    },
];
