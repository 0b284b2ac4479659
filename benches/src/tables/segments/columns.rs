//! What the page of table `segments` shows, and how to read it.

use cornu_eval::report::{Column, Format, TableSpec};

use super::FITTED;
use crate::table::Section;

pub(super) const ABOUT: &str = "What a reader, or a model, is shown of what was found, when every system \
    may show equally many tokens. `top-k` shows chunks one by one; `rse` shows runs of neighbouring \
    chunks (Relevant Segment Extraction), chosen exactly, `rse-paper` by dsRAG's greedy. `+header` \
    indexes each chunk behind a header of its document's title and an extractive summary \
    (AutoContext). `parent-child` indexes children of 100 tokens and shows their parents, `section` \
    shows the whole section of each chunk, up to the next heading, `chapter` all that is below its \
    heading of level 2. All with `multilingual-e5-small-q4`, hybrid search by reciprocal ranks, over \
    the twelve documents of the corpus and the two of `long/`; test questions only. Runs have the \
    preset `balanced`, but as many chunks at most as the budget holds chunks of mean size, and \
    relevance around the threshold of the index, as the program has it; `rse-fitted` has what a run \
    costs, the decay, the width of that relevance and the penalty of a chunk fitted on dev questions, \
    and shows single chunks behind the runs while there is room. Contexts are taken from the \
    top; the one that no longer fits is cut where the budget ends.";

pub(super) fn sections() -> Vec<Section> {
    vec![
        Section {
            title: "Passages longer than a chunk",
            about: "Questions whose evidence no chunk can hold. *Recall* is the share of its pieces that \
                    are shown within 500, 1,000 or 2,000 tokens, *all* the share of questions with \
                    every piece within 1,000. *Precision* is the share of what is shown that belongs \
                    to a section with evidence, *completeness* the share of these sections that is \
                    shown, both within 1,000 tokens; *tokens* is what was spent of them. *Refused* is \
                    below the threshold of the index, or without any run. *Difference* is in recall in \
                    1,000 tokens to `top-k`, *p* of a paired randomisation test (Holm over the rows of a \
                    data set), *resolvable* the smallest true difference that the set would show with \
                    probability 0.8.",
            datasets: &[
                "segments",
                "segments-run",
                "segments-spread",
                "segments-zh",
                "segments-en",
            ],
            spec: spec(),
        },
        Section {
            title: "Other questions",
            about: "The test questions of `questions-ext`, most of which one chunk answers.",
            datasets: &["ext"],
            spec: spec(),
        },
        Section {
            title: "What was fitted",
            about: "The thresholds, on the dev questions of `questions-ext`: one in ten with an answer \
                    may be refused. And for `rse-fitted`, on the dev questions of both sets: first the \
                    price of a run, which is its least value, too, and how slowly relevance falls with \
                    rank (8 pairs; the preset has 0.5 and 30), then half the width of the cosines from \
                    relevance 0 to 1 (none where it is the program's) and the penalty of a chunk (15 \
                    pairs); with the mean recall in 1,000 tokens on those questions of single chunks, \
                    of the preset and of the best. Nothing else is fitted.",
            datasets: &[FITTED],
            spec: TableSpec::new([
                Column::new("threshold", "value", Format::Fixed(4)),
                Column::new("width", "width", Format::Fixed(2)),
                Column::new("penalty", "penalty", Format::Fixed(2)),
                Column::new("price", "price", Format::Fixed(2)),
                Column::new("decay", "decay", Format::Integer),
                Column::new("dev recall, single chunks", "single", Format::Fixed(3)),
                Column::new("dev recall, preset", "preset", Format::Fixed(3)),
                Column::new("dev recall, best", "best", Format::Fixed(3)),
                Column::new("dev questions", "questions", Format::Integer),
                Column::new("chunks", "chunks", Format::Integer),
                Column::new("mean tokens", "mean_tokens", Format::Fixed(1)),
            ]),
        },
    ]
}

pub(super) fn brief() -> Section {
    let short =
        |header: &str, metric: &str| Column::new(header, metric, Format::Fixed(2)).with_interval();
    Section {
        datasets: &["segments", "ext"],
        ..Section::whole(TableSpec::new([
            short("recall in 500 tokens", "recall@500tok"),
            short("in 1,000", "recall@1000tok"),
            short("in 2,000", "recall@2000tok"),
            short("precision in 1,000", "precision@1000tok"),
        ]))
    }
}

fn spec() -> TableSpec {
    TableSpec::new([
        rate("recall in 500 tokens", "recall@500tok"),
        rate("in 1,000", "recall@1000tok"),
        rate("in 2,000", "recall@2000tok"),
        rate("all in 1,000", "all@1000tok"),
        rate("precision", "precision@1000tok"),
        rate("completeness", "complete@1000tok"),
        Column::new("tokens", "tokens@1000tok", Format::Integer),
        rate("refused, answerable", "refused_answerable"),
        rate("refused, unanswerable", "refused_unanswerable"),
        rate("difference", "difference"),
        Column::new("p", "p", Format::Fixed(4)),
        Column::new("resolvable", "resolvable", Format::Fixed(3)),
        Column::new("answerable", "answerable", Format::Integer),
        Column::new("unanswerable", "unanswerable", Format::Integer),
    ])
}

fn rate(header: &str, metric: &str) -> Column {
    Column::new(header, metric, Format::Fixed(3)).with_interval()
}
