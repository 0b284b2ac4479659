//! What the page of table `multihop` shows, how to read it, and what others published.

use cornu_eval::evidence::Printed;
use cornu_eval::report::{Column, Format, TableSpec};

use super::{AUDIT, AUDIT_HASH, HOTPOT, KEPT, MUSIQUE, MUSIQUE_RULES, ONE_PASSAGE, TOGETHER, WIKI};
use crate::table::Section;

pub(super) const ABOUT: &str = "Questions whose answer takes several passages, each passage one \
    unit. `dense`, `bm25` and `hybrid` (reciprocal ranks over the best 100 of both; the chapter's \
    levels 1 and 2 are `dense` and `hybrid`) know passages only. `walk` is `HopGraph::recall` with \
    the dense ranking, as the product asks it; the rows below it take a part away: no steps \
    (`walk-seeds-only`), no seeds from facts, none between names, none from vectors; \
    `walk-synonyms` adds edges between spellings of one name. `auto` is the hybrid search, or the \
    walk where `HopGate` finds a name in the question that leads somewhere; *hopped* is the share \
    of questions where it did. `level-3` is the chapter's \
    walk over names: HippoRAG 1 with the damping 0.85. All others are published methods, without \
    their language models and without synonyms; `published` keeps the quirks of the published \
    program, `clean` and `summed` do not.\n\nWhat was chosen where: the parameters of `walk` on the \
    150 questions of `2wiki-500` with the smallest SHA-256 of their id, which are left out here, \
    as for no other method; the rule of `auto` on these, on the development questions of \
    `questions-ext` and `questions-segments`, and on all of `musique-train-100`, \
    `hotpotqa-train-100`, `chains-open` and `chains-links`. `musique-train-100` and \
    `hotpotqa-train-100` were at hand while the rules and the walk were made, too, so read them as \
    development sets of these. The first chain \
    of the audit was a test case of it. All other methods have their published parameters. The \
    gold passages of `2wiki-500` are derived: subjects of its evidence triples, matched to titles.";

pub(super) fn sections() -> Vec<Section> {
    vec![
        Section {
            title: "Public sets",
            about: "Vectors of `multilingual-e5-small-q4`. Facts are read by the rules, those of \
                    `musique-train-100` are the published ones (gpt-3.5-turbo-1106) and cost no \
                    index time here. *Difference* is in recall@5 to `hybrid`, *p* of a paired \
                    randomisation test (Holm over the rows of a data set), *resolvable* the \
                    smallest true difference that the set would show with probability 0.8. *ms* is \
                    the median of a question without the model's pass for it, *mean ms* the mean, \
                    *index s* what is prepared besides embedding, *embedded* the texts that are embedded besides \
                    passages and questions. *(printed)* is what a paper states; each such figure stands on \
                    1,000 questions over a corpus of its own size, another embedder and another \
                    reader of facts, which the line below the table names.",
            datasets: &[WIKI, MUSIQUE, MUSIQUE_RULES, HOTPOT],
            spec: spec(),
        },
        Section {
            title: "Chains over companies",
            about: "Questions over two to four facts, each a passage of its own among 1,512, by a \
                    generator (`bench-data/chains`); beside each chain stands one whose names share \
                    words with it. The facts of `chains-kept` are worded by phrasings that nobody \
                    read who wrote rules, those of the others by 20 a relation; no rule was tuned on \
                    any of them, and `auto` not on `chains-kept`. `chains-links` \
                    names both ends of three facts, and *bridge@2* is how often the passage between \
                    is among the first two.",
            datasets: &["chains-open", KEPT, "chains-links"],
            spec: spec(),
        },
        Section {
            title: "Questions that one document answers",
            about: "Test questions over the documents of `bench-data`, in the chunks that the \
                    product makes: what walking costs where no hop is needed. Most of \
                    `questions-ext-test` and of `questions-20` are answered by one passage, those of \
                    `questions-segments-test` by several of one document. A piece of evidence is \
                    found by any chunk that holds it.",
            datasets: &[ONE_PASSAGE, "questions-20", "questions-segments-test"],
            spec: spec(),
        },
        Section {
            title: "To walk or not",
            about: "The product's routes on all questions on which nothing of `auto` was chosen: \
                    `2wiki-500-test`, `chains-kept`, and the three sets that one document answers, \
                    one question after another. *To walk* is the difference in recall@5 to walking \
                    always, paired by question.",
            datasets: &[TOGETHER],
            spec: TableSpec::new([
                rate("recall@2", "recall@2"),
                rate("recall@5", "recall@5"),
                rate("all gold@5", "all@5"),
                Column::new("hopped", "hopped", Format::Fixed(3)),
                rate("difference", "difference"),
                Column::new("p", "p", Format::Fixed(4)),
                rate("to walk", "to_walk"),
                Column::new("ms", "ms", Format::Fixed(2)),
                Column::new("mean ms", "mean_ms", Format::Fixed(2)),
                Column::new("questions", "questions", Format::Integer),
            ]),
        },
        Section {
            title: "The audit",
            about: "12 chains of ownership, each over three documents among 276, half Chinese, \
                    half English; the middle document shares no name with the question, and *bridge@2* is \
                    how often it is among the first two. \
                    `audit-hash` has vectors of hashed words, `audit` those of the model.",
            datasets: &[AUDIT_HASH, AUDIT],
            spec: spec(),
        },
    ]
}

pub(super) fn brief() -> Section {
    Section {
        datasets: &[WIKI, MUSIQUE, HOTPOT, ONE_PASSAGE],
        ..Section::whole(TableSpec::new([
            rate("recall@2", "recall@2"),
            rate("recall@5", "recall@5"),
            rate("all gold@5", "all@5"),
            Column::new("ms", "ms", Format::Fixed(1)),
        ]))
    }
}

fn spec() -> TableSpec {
    TableSpec::new([
        rate("recall@2", "recall@2").with_printed(),
        rate("recall@5", "recall@5").with_printed(),
        rate("all gold@5", "all@5"),
        rate("bridge@2", "bridge@2"),
        rate("hopped", "hopped"),
        rate("difference", "difference"),
        Column::new("p", "p", Format::Fixed(4)),
        Column::new("resolvable", "resolvable", Format::Fixed(3)),
        Column::new("ms", "ms", Format::Fixed(2)),
        Column::new("mean ms", "mean_ms", Format::Fixed(2)),
        Column::new("index s", "index_s", Format::Fixed(2)),
        Column::new("embedded", "embedded", Format::Integer),
        Column::new("questions", "questions", Format::Integer),
        Column::new("passages", "passages", Format::Integer),
    ])
}

fn rate(header: &str, metric: &str) -> Column {
    Column::new(header, metric, Format::Fixed(3)).with_interval()
}

/// Published figures, with what they stand on.
pub(super) fn printed() -> Vec<Printed> {
    const FIRST: &str = "the HippoRAG paper for `hipporag-1` (1,000 questions, ColBERTv2, facts by \
        gpt-3.5-turbo-1106)";
    const SECOND: &str = "the HippoRAG 2 paper for `hipporag-2-published` (1,000 questions, NV-Embed-v2, \
        facts and filter by Llama-3.3-70B)";
    const PROP: &str = "the PropRAG paper for `proprag-published` (1,000 questions, NV-Embed-v2, \
        propositions by Llama-3.3-70B)";
    const ALONE: &str = "the HippoRAG paper for `bm25` (1,000 questions, no model)";
    let row = |dataset: &str, system: &str, figures: &[(&str, f64)], source: &str| Printed {
        system: system.to_owned(),
        dataset: Some(dataset.to_owned()),
        metrics: figures
            .iter()
            .map(|(metric, value)| ((*metric).to_owned(), *value))
            .collect(),
        source: source.to_owned(),
    };
    let both = |two: f64, five: f64| [("recall@2", two), ("recall@5", five)];
    vec![
        row(WIKI, "bm25", &both(0.518, 0.619), ALONE),
        row(MUSIQUE, "bm25", &both(0.323, 0.412), ALONE),
        row(HOTPOT, "bm25", &both(0.554, 0.722), ALONE),
        row(MUSIQUE, "hipporag-1", &both(0.409, 0.519), FIRST),
        row(WIKI, "hipporag-2-published", &[("recall@5", 0.904)], SECOND),
        row(
            MUSIQUE,
            "hipporag-2-published",
            &[("recall@5", 0.747)],
            SECOND,
        ),
        row(WIKI, "proprag-published", &[("recall@5", 0.941)], PROP),
        row(MUSIQUE, "proprag-published", &[("recall@5", 0.783)], PROP),
        row(HOTPOT, "proprag-published", &[("recall@5", 0.974)], PROP),
    ]
}
