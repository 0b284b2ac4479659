//! What the page of table `hoprag` shows, and how to read it.

use cornu_eval::report::{Column, Format, TableSpec};

use super::{AUDIT_HASH, HOTPOT, MUSIQUE, WIKI};
use crate::table::Section;

pub(super) const ABOUT: &str = "HopRAG joins passages by questions: those that one raises and \
    another answers. It starts from the 20 passages nearest to the question, follows one edge of \
    each in every hop, and keeps the 20 most helpful of all that it visited. `clean-N` and \
    `published-N` take N hops over the edges of the two sets of rules (`EdgeRules`: the paper's cap \
    of N log N edges, or the published program's edges without a cap and with those for passages \
    that nobody asks for), which on these four sets are the same edges; `no-hops` orders its 20 starts by helpfulness and takes none. The edges span the \
    whole corpus. No language model has a part: questions are made of templates from what the rules \
    read (`cornu_extract::questions`), hops are chosen by similarity. `dense` is the first stage, \
    `hybrid` reciprocal ranks over the best 200 of it and of BM25.\n\n*queue* is the mean number of \
    passages that the last hop reached for the first time, *visited* that of all passages reached, \
    starts included. *Chain* is the share of questions whose gold passages were all visited; for \
    `dense` and `hybrid`, that are all among the best 20. *Chain, dense* is the control: all gold \
    passages among as many of the dense ranking as were visited for that question. *F1@20* is the \
    mean of 2PR/(P + R) over questions, P the share of the 20 passages kept that are gold, R the \
    share of the gold that is kept; with two gold passages it is at most 0.18. *Recall@k* up to 20 \
    is of these 20; above, of a run that starts from k passages and keeps k. *Difference* is in \
    recall@20 to `dense`, *p* of a paired randomisation test (Holm over the rows of a data set).";

pub(super) fn sections() -> Vec<Section> {
    vec![
        Section {
            title: "2WikiMultihopQA",
            about: "A sample of `2wiki-500`: the first 100 questions, by the SHA-256 of their ids, that no \
                    choice was made on; their gold passages and those with the smallest SHA-256, 1,500 of \
                    6,119 together. So it is easier than the whole set, and not to be compared with \
                    table `multihop`. All passages would answer and raise 93,711 different questions. \
                    Vectors of `multilingual-e5-small-q4`, here and in the next two sections. *ms* is the \
                    median of the first 50 questions without the model's pass, *index s* reading the \
                    rules and joining the passages, *embedded* the questions of passages that are \
                    embedded besides.",
            datasets: &[WIKI],
            spec: spec(),
        },
        Section {
            title: "MuSiQue",
            about: "All of `musique-train-100`. Facts are read by the rules.",
            datasets: &[MUSIQUE],
            spec: spec(),
        },
        Section {
            title: "HotpotQA",
            about: "All of `hotpotqa-train-100`.",
            datasets: &[HOTPOT],
            spec: spec(),
        },
        Section {
            title: "The audit",
            about: "12 chains of three documents among 276 (table `multihop`), by vectors of hashed \
                    words.",
            datasets: &[AUDIT_HASH],
            spec: spec(),
        },
    ]
}

pub(super) fn brief() -> Section {
    Section {
        datasets: &[WIKI],
        ..Section::whole(TableSpec::new([
            mean("visited", "visited"),
            rate("chain", "chain"),
            rate("recall@5", "recall@5"),
            rate("recall@20", "recall@20"),
        ]))
    }
}

fn spec() -> TableSpec {
    TableSpec::new([
        mean("queue", "queue"),
        mean("visited", "visited"),
        rate("chain", "chain"),
        rate("chain, dense", "chain_dense"),
        rate("F1@20", "f1@20"),
        rate("recall@2", "recall@2"),
        rate("recall@5", "recall@5"),
        rate("recall@20", "recall@20"),
        rate("recall@50", "recall@50"),
        rate("recall@100", "recall@100"),
        rate("recall@200", "recall@200"),
        rate("difference", "difference"),
        Column::new("p", "p", Format::Fixed(4)),
        Column::new("ms", "ms", Format::Fixed(2)),
        Column::new("index s", "index_s", Format::Fixed(2)),
        Column::new("edges", "edges", Format::Integer),
        Column::new("embedded", "embedded", Format::Integer),
        Column::new("questions", "questions", Format::Integer),
        Column::new("passages", "passages", Format::Integer),
    ])
}

fn rate(header: &str, metric: &str) -> Column {
    Column::new(header, metric, Format::Fixed(3)).with_interval()
}

fn mean(header: &str, metric: &str) -> Column {
    Column::new(header, metric, Format::Fixed(1)).with_interval()
}
