//! What the page shows.

use cornu_eval::report::{Column, Format, TableSpec};

use crate::table::Section;

pub(super) fn sections() -> Vec<Section> {
    vec![
        Section {
            title: "Nearest neighbours within narrow views",
            about: "50 askers who see 200 of 10,000 chunks each.",
            datasets: &[
                "narrow-read-1",
                "narrow-read-2",
                "narrow-read-8",
                "narrow-read-64",
                "narrow-read-open5",
                "narrow-read-open50",
                "narrow-read-open80",
                "narrow-read-polled50",
                "narrow-read-polled80",
                "narrow-write-1",
                "narrow-write-2",
                "narrow-write-8",
                "narrow-write-64",
                "narrow-write-open5",
                "narrow-write-open50",
                "narrow-write-open80",
                "narrow-write-polled50",
                "narrow-write-polled80",
            ],
            spec: loads(),
        },
        Section {
            title: "BM25",
            about: "One asker who sees all.",
            datasets: &[
                "bm25-read-1",
                "bm25-read-2",
                "bm25-read-8",
                "bm25-read-64",
                "bm25-read-open5",
                "bm25-read-open50",
                "bm25-read-open80",
                "bm25-read-polled50",
                "bm25-read-polled80",
                "bm25-write-1",
                "bm25-write-2",
                "bm25-write-8",
                "bm25-write-64",
                "bm25-write-open5",
                "bm25-write-open50",
                "bm25-write-open80",
                "bm25-write-polled50",
                "bm25-write-polled80",
            ],
            spec: loads(),
        },
        Section {
            title: "Nearest neighbours among all",
            about: "One asker who sees all. A scan alone uses all cores, and the control counts on one for as long; *of memory's rate* is the bytes of vectors a second beside a plain read of as many bytes by all cores.",
            datasets: &[
                "full-scan-read-1",
                "full-scan-read-2",
                "full-scan-read-8",
                "full-scan-read-64",
                "full-scan-read-open5",
                "full-scan-read-open50",
                "full-scan-read-open80",
                "full-scan-read-polled50",
                "full-scan-read-polled80",
                "full-scan-write-1",
                "full-scan-write-2",
                "full-scan-write-8",
                "full-scan-write-64",
                "full-scan-write-open5",
                "full-scan-write-open50",
                "full-scan-write-open80",
                "full-scan-write-polled50",
                "full-scan-write-polled80",
            ],
            spec: loads(),
        },
        Section {
            title: "Hybrid searches, questions by Zipf's law",
            about: "1,000 questions, the n-th asked as often as 1/n says.",
            datasets: &[
                "zipf-read-1",
                "zipf-read-2",
                "zipf-read-8",
                "zipf-read-64",
                "zipf-read-open5",
                "zipf-read-open50",
                "zipf-read-open80",
                "zipf-read-polled50",
                "zipf-read-polled80",
                "zipf-write-1",
                "zipf-write-2",
                "zipf-write-8",
                "zipf-write-64",
                "zipf-write-open5",
                "zipf-write-open50",
                "zipf-write-open80",
                "zipf-write-polled50",
                "zipf-write-polled80",
            ],
            spec: loads(),
        },
        Section {
            title: "One after another",
            about: "Without load: a look-up in a cache of 5,000 entries by itself, its 100 candidates \
                    compared with the view and copied; a dense search whose candidates are kept, \
                    snapshot and the reading of ten chunks included; and one whose are not.",
            datasets: &["one-by-one"],
            spec: TableSpec::new([
                Column::new("p50", "p50_ms", Format::Milliseconds(4)),
                Column::new("p99", "p99_ms", Format::Milliseconds(4)),
            ]),
        },
        Section {
            title: "The machine itself",
            about: "A thread for each core that does nothing but read the clock, for a second before the \
                    loads of each workload: how much of the time it does not get in pauses of 0.2 ms and \
                    more, how many these are, and the longest.",
            datasets: &["machine"],
            spec: TableSpec::new([
                Column::new("stalled", "stalled", Format::Percent(2)).with_interval(),
                Column::new("stalls/s of a core", "stalls", Format::Fixed(1)).with_interval(),
                Column::new("longest", "longest_ms", Format::Milliseconds(1)).with_interval(),
            ]),
        },
        Section {
            title: "Lock errors",
            about: "Eight threads, each of which reads a row and writes one in a transaction, by three \
                    habits; and eight that search and write through this store.",
            datasets: &["lock-errors"],
            spec: TableSpec::new([
                Column::new("committed/s", "qps", Format::Fixed(0)),
                Column::new("errors", "error_rate", Format::Percent(1)),
            ]),
        },
    ]
}

pub(super) fn brief() -> Section {
    Section {
        title: "",
        about: "",
        datasets: &[
            "narrow-write-8",
            "bm25-write-8",
            "full-scan-write-8",
            "zipf-read-8",
        ],
        spec: TableSpec::new([
            Column::new("QPS", "qps", Format::Fixed(0)).with_printed(),
            Column::new("p50", "p50_ms", Format::Milliseconds(2)).with_printed(),
            Column::new("p99", "p99_ms", Format::Milliseconds(2)).with_printed(),
            Column::new("errors", "error_rate", Format::Percent(1)).with_printed(),
            Column::new("hits", "hit_rate", Format::Percent(1)).with_printed(),
        ]),
    }
}

fn loads() -> TableSpec {
    TableSpec::new([
        Column::new("QPS", "qps", Format::Fixed(0))
            .with_interval()
            .with_printed(),
        Column::new("p50", "p50_ms", Format::Milliseconds(3)).with_printed(),
        Column::new("p99", "p99_ms", Format::Milliseconds(3))
            .with_interval()
            .with_printed(),
        Column::new("errors", "error_rate", Format::Percent(1)).with_printed(),
        Column::new("hits", "hit_rate", Format::Percent(1)).with_printed(),
        Column::new("1/(1 − hits)", "bound", Format::Fixed(2)),
        Column::new("to one connection", "to_one", Format::Fixed(2)).with_interval(),
        Column::new("to the pool", "to_pool", Format::Fixed(2)),
        Column::new("p99 / idle p50", "p99_to_idle", Format::Fixed(1)).with_interval(),
        Column::new("p99 / calm p50", "p99_to_calm", Format::Fixed(1)).with_interval(),
        Column::new("p99 / control's", "p99_to_control", Format::Fixed(1)),
        Column::new("of memory's rate", "of_memory", Format::Percent(0)),
    ])
}
