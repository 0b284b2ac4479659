//! What the pages of table `eval` show, and how to read it.

use cornu_eval::report::{Column, Format, TableSpec};

use crate::table::Section;

use super::{FITTED, signals};

pub(super) fn sections() -> Vec<Section> {
    vec![
        Section {
            title: "Answers and refusals",
            about: "`questions-20` is the course's setting, `questions-ext` the test questions of that file. \
                    Recall is of retrieval, before any refusal. `live-strict` has the \
                    threshold at which one question in ten without an answer should be answered, \
                    `live-lenient` the one at which one in ten with an answer should be refused. \
                    *Citations with evidence* is the share of an answer's citations whose chunk \
                    holds the question's evidence, over answered answerable questions; *answers \
                    citing evidence* the share of these with at least one. `teaching` cites its \
                    best window. *Unsupported* is the share of an answer's words that the cited \
                    chunks do not hold: an extract is made of them, so it is 0 by construction; \
                    the section on claims measures what has to be checked.",
            datasets: &["questions-20", "questions-ext"],
            spec: TableSpec::new([
                rate("recall@1", "recall@1").with_printed(),
                rate("recall@5", "recall@5").with_printed(),
                rate("citations with evidence", "citations_with_evidence").with_printed(),
                rate("answers citing evidence", "answers_citing_evidence"),
                rate("refused, unanswerable", "refused_unanswerable").with_printed(),
                rate("of these near misses", "refused_near_miss"),
                rate("refused, answerable", "refused_answerable"),
                rate("unsupported", "unsupported").with_printed(),
                Column::new("answerable", "answerable", Format::Integer),
                Column::new("unanswerable", "unanswerable", Format::Integer),
            ]),
        },
        Section {
            title: "What tells an answerable question",
            about: "The test questions of `questions-ext`, by what could be judged before an answer \
                    is given: how often one with an answer has a higher value than one without (the \
                    area under the ROC curve; 0.5 is chance), with DeLong intervals. `cosine`, the \
                    best of the five first passages, is what `ask` judges by; `bm25` the best score; \
                    `words` the share of the question's words that these five hold, rare ones \
                    weighing more; `cross-encoder` its best score of ten. *Near misses* ask what the \
                    documents might say and do not; the others are about something else.",
            datasets: &[signals::DATASET],
            spec: TableSpec::new([
                rate("all without an answer", "auc"),
                rate("about something else", "auc_unrelated"),
                rate("near misses", "auc_near_miss"),
            ]),
        },
        Section {
            title: "What each part gives",
            about: "Retrieval over the same questions with one part taken away: `no-dense` is BM25 \
                    alone, `no-sparse` cosine alone, `no-structure` fixed windows of 120 tokens, \
                    `no-heading` chunks without the heading path before what is indexed, \
                    `no-prefix` the model without its own `query: ` and `passage: `, `no-fit` \
                    reciprocal ranks in place of the fitted weight, which all others share. \
                    `small-chunks` indexes children of 100 tokens and shows them alone. *Difference* is in recall@5 to \
                    `live`, *p* of a paired randomisation test (Holm over the rows of a data set), \
                    *resolvable* the smallest true difference that the set would show with \
                    probability 0.8.",
            datasets: &["retrieval-20", "retrieval-ext"],
            spec: TableSpec::new(
                [
                    rate("recall@1", "recall@1"),
                    rate("recall@5", "recall@5"),
                    rate("MRR", "mrr"),
                    Column::new("tokens shown", "tokens@5", Format::Integer),
                ]
                .into_iter()
                .chain(compared()),
            ),
        },
        Section {
            title: "Public multi-hop sets",
            about: "Retrieval alone, each passage a document. Nothing is fitted on these sets: the \
                    weight of `live` comes from the dev questions of `questions-ext`; `no-fit` is \
                    reciprocal ranks. The gold \
                    passages of `2wiki-500` are derived. *Difference*, *p* and *resolvable* as \
                    above, to `live`.",
            datasets: &["2wiki-500", "musique-train-100", "hotpotqa-train-100"],
            spec: TableSpec::new(
                [
                    rate("recall@2", "recall@2"),
                    rate("recall@5", "recall@5"),
                    rate("nDCG@10", "ndcg@10"),
                ]
                .into_iter()
                .chain(compared())
                .chain([
                    Column::new("questions", "questions", Format::Integer),
                    Column::new("passages", "passages", Format::Integer),
                    Column::new("chunks", "chunks", Format::Integer),
                ]),
            ),
        },
        Section {
            title: "Claims of a chat answer",
            about: "Where a model writes the answer, `cornu::claims` checks each sentence against \
                    what it cites. Each row is a kind of claim in the midst of two true ones; \
                    *flagged* should be 0 for the two true kinds and 1 for all others. The check \
                    goes by words, so a number or a name that the source lacks is caught by \
                    construction; what a model does with words that the source has is not: a \
                    negation, names that changed places, a number from the next line. These rows \
                    say so. `word` is one other word in a sentence that is true otherwise.",
            datasets: &["claims"],
            spec: TableSpec::new([
                Column::new("flagged", "flagged", Format::Percent(1)).with_interval(),
                Column::new("claims", "claims", Format::Integer),
            ]),
        },
        Section {
            title: "What was fitted",
            about: "On the dev questions of `questions-ext`, and on nothing else. The expected \
                    rates are what the calibration promises for questions like these; compare them \
                    with what the test questions show above.",
            datasets: &[FITTED],
            spec: TableSpec::new([
                Column::new("value", "value", Format::Fixed(4)).with_interval(),
                Column::new(
                    "false answers expected",
                    "expected_false_answers",
                    Format::Percent(1),
                )
                .with_interval(),
                Column::new(
                    "false refusals expected",
                    "expected_false_refusals",
                    Format::Percent(1),
                )
                .with_interval(),
                Column::new("dev questions", "questions", Format::Integer),
            ]),
        },
    ]
}

pub(super) fn brief() -> Section {
    let short =
        |header: &str, metric: &str| Column::new(header, metric, Format::Fixed(2)).with_interval();
    Section {
        datasets: &["questions-20", "questions-ext"],
        ..Section::whole(TableSpec::new([
            short("recall@1", "recall@1"),
            short("recall@5", "recall@5"),
            short("answers citing evidence", "answers_citing_evidence"),
            short("refused, unanswerable", "refused_unanswerable"),
            short("refused, answerable", "refused_answerable"),
        ]))
    }
}

fn rate(header: &str, metric: &str) -> Column {
    Column::new(header, metric, Format::Fixed(3)).with_interval()
}

fn compared() -> [Column; 3] {
    [
        rate("difference", "difference"),
        Column::new("p", "p", Format::Fixed(3)),
        Column::new("resolvable", "resolvable", Format::Fixed(3)),
    ]
}
