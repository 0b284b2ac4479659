//! Multi-hop retrieval: vectors, words, both, and walks over facts, on the same questions.

mod columns;
pub(super) mod cut;
pub(super) mod embedded;
mod frontier;
mod measure;
mod methods;
pub(super) mod raised;
pub(super) mod set;
pub(super) mod words;

use anyhow::Result;
use cornu_core::EmbeddingProvider;
use cornu_embed::HashEmbeddingProvider;
use cornu_eval::evidence::{License, Printed, Row};

use crate::external::{self, Found};
use crate::licenses;
use crate::table::{Bench, Part, Section, Table};

use cut::Cut;
use measure::measure;
use methods::More;
use set::{DEV, Facts, Set};

/// The chains of ownership of `bench-data`, by vectors of hashed words and by the model's.
const AUDIT_HASH: &str = "audit-hash";
const AUDIT: &str = "audit";
const WIKI: &str = "2wiki-500-test";
const MUSIQUE: &str = "musique-train-100";
const MUSIQUE_RULES: &str = "musique-train-100-rules";
const HOTPOT: &str = "hotpotqa-train-100";
/// Questions that one document answers: the file, and a folder of documents besides the corpus.
const ONE_HOP: [(&str, &str, Option<&str>); 3] = [
    (ONE_PASSAGE, "questions-ext.jsonl", None),
    ("questions-20", "questions-20.jsonl", None),
    (
        "questions-segments-test",
        "questions-segments.jsonl",
        Some("long"),
    ),
];
const ONE_PASSAGE: &str = "questions-ext-test";
/// All questions on which nothing of `auto` was chosen.
const TOGETHER: &str = "test-questions";
pub(super) const AUDIT_FOLDER: &str = "audit";
pub(super) const CHAINS_FOLDER: &str = "chains";
const KEPT: &str = "chains-kept";
/// The chains of `bench-data`, by how the ids of their questions begin.
const CHAINS: [(&str, &str); 3] = [("chains-open", "o"), (KEPT, "k"), ("chains-links", "l")];
const ALL_METHODS: [More; 3] = [More::Hippo, More::Prop, More::HopRag];

/// A public set, and how it is measured.
struct Plan {
    dataset: &'static str,
    folder: &'static str,
    /// Questions that are left out: choices were made on them.
    dev: usize,
    /// Whether its facts are those that were published for it, not those of the rules.
    openie: bool,
    /// Each embeds tens of thousands of further texts, so that no set has all.
    more: &'static [More],
}

const PLANS: [Plan; 4] = [
    Plan {
        dataset: WIKI,
        folder: "2wiki-500",
        dev: DEV,
        openie: false,
        more: &[],
    },
    Plan {
        dataset: MUSIQUE,
        folder: "musique-train-100",
        dev: 0,
        openie: true,
        more: &[More::Hippo],
    },
    Plan {
        dataset: MUSIQUE_RULES,
        folder: "musique-train-100",
        dev: 0,
        openie: false,
        more: &[],
    },
    Plan {
        dataset: HOTPOT,
        folder: "hotpotqa-train-100",
        dev: 0,
        openie: false,
        more: &[More::Prop],
    },
];

/// Systems that were published for a set and are not measured on it.
const UNMEASURED: [(&str, &str, &str); 3] = [
    (
        WIKI,
        "hipporag-2-published",
        "no triples are published for the set, and those of the rules would be another method's",
    ),
    (
        WIKI,
        "proprag-published",
        "the rules read 72,195 propositions, and embedding them exceeds the table's running time",
    ),
    (
        MUSIQUE,
        "proprag-published",
        "no propositions are published for the set",
    ),
];

/// Table `multihop`.
pub struct Multihop;

impl Table for Multihop {
    fn name(&self) -> &'static str {
        "multihop"
    }

    fn summary(&self) -> &'static str {
        "multi-hop retrieval: dense, BM25, hybrid, walks over facts, HippoRAG, PropRAG, HopRAG"
    }

    fn about(&self) -> &'static str {
        columns::ABOUT
    }

    fn sections(&self) -> Vec<Section> {
        columns::sections()
    }

    fn brief(&self) -> Section {
        columns::brief()
    }

    fn printed(&self) -> Vec<Printed> {
        columns::printed()
    }

    fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>> {
        let mut rows = bench.rows(AUDIT_HASH, || {
            audit(bench, AUDIT_HASH, &HashEmbeddingProvider::default())
        })?;
        if bench.part == Part::Quick {
            return Ok(rows);
        }
        match Cut::keeping(bench.models)? {
            Ok(model) => {
                let model = &model;
                rows.extend(bench.rows(AUDIT, || audit(bench, AUDIT, model))?);
                for plan in &PLANS {
                    rows.extend(bench.rows(plan.dataset, || public(bench, plan, model))?);
                }
                for (dataset, ids) in CHAINS {
                    rows.extend(bench.rows(dataset, || chains(bench, dataset, ids, model))?);
                }
                for (dataset, file, further) in ONE_HOP {
                    let set = || Set::of_documents(bench.data, file, further);
                    rows.extend(bench.rows(dataset, || one_hop(bench, dataset, &set()?, model))?);
                }
                rows.extend(bench.rows(TOGETHER, || together(bench, model))?);
            }
            Err(reason) => {
                rows.extend(gated(AUDIT, &ALL_METHODS, &reason));
                for (dataset, _) in CHAINS {
                    rows.extend(gated(dataset, &[], &reason));
                }
                for (dataset, ..) in ONE_HOP {
                    rows.extend(gated(dataset, &[], &reason));
                }
                rows.extend(frontier::gated(TOGETHER, &reason));
                for plan in &PLANS {
                    rows.extend(gated(plan.dataset, plan.more, &reason));
                }
            }
        }
        let unmeasured = UNMEASURED.iter();
        rows.extend(unmeasured.map(|(dataset, system, why)| Row::gated(*dataset, *system, *why)));
        Ok(rows)
    }

    fn inputs(&self) -> &'static [&'static str] {
        &[
            "audit/corpus.jsonl",
            "audit/queries.jsonl",
            "audit/qrels.tsv",
            "chains/corpus.jsonl",
            "chains/queries.jsonl",
            "chains/qrels.tsv",
            "questions-20.jsonl",
            "questions-ext.jsonl",
            "questions-segments.jsonl",
            "long/long.toml",
            "long/calder-archive.md",
            "long/vennor-reservoir.md",
            "external.toml",
        ]
    }

    fn licenses(&self) -> Vec<License> {
        licenses::with_public_sets()
    }

    fn known_failures(&self) -> Vec<String> {
        [
            "The gold passages of 2wiki-500 were derived by matching the subjects of its evidence \
             to titles; the walk gives titles a weight of their own, which such gold rewards.",
            "HippoRAG and PropRAG run without synonyms and without the language model that each \
             asks at query time; HopRAG's questions come from rules. The published figures are of \
             other embedders, other facts and the whole question sets.",
            "That a name in a title weighs more cannot be switched off, so no row takes it away.",
            "The questions that one document answers are over other documents than those that need \
             several, so what tells them apart may be the documents as well. `auto` was chosen on \
             153 of the one kind and 530 of the other.",
            "The audit has 12 questions of two patterns; three templates of its distractors were \
             reworded once, after every baseline had been seen to find nothing. It is a \
             demonstration, not a held-out test.",
        ]
        .map(str::to_owned)
        .into()
    }
}

fn audit(bench: &Bench<'_>, dataset: &str, model: &dyn EmbeddingProvider) -> Result<Vec<Row>> {
    let set = Set::new(&bench.data.set(AUDIT_FOLDER)?, 0)?;
    let facts = set.by_rules();
    measure(dataset, &set, &facts, model, &ALL_METHODS, bench)
}

fn chains(
    bench: &Bench<'_>,
    dataset: &str,
    ids: &str,
    model: &dyn EmbeddingProvider,
) -> Result<Vec<Row>> {
    let public = bench.data.set(CHAINS_FOLDER)?;
    let set = Set::of(&public, 0, |id| id.starts_with(ids))?;
    measure(dataset, &set, &set.by_rules(), model, &[], bench)
}

fn one_hop(
    bench: &Bench<'_>,
    dataset: &str,
    set: &Set,
    model: &dyn EmbeddingProvider,
) -> Result<Vec<Row>> {
    measure(dataset, set, &set.by_rules(), model, &[], bench)
}

/// The test questions of both kinds.
fn together(bench: &Bench<'_>, model: &dyn EmbeddingProvider) -> Result<Vec<Row>> {
    let wiki = match external::find("2wiki-500")? {
        Found::Set(set) => Set::new(&set, DEV)?,
        Found::Absent(reason) => return Ok(frontier::gated(TOGETHER, &reason)),
    };
    let chains = bench.data.set(CHAINS_FOLDER)?;
    let mut sets = vec![wiki, Set::of(&chains, 0, |id| id.starts_with('k'))?];
    for (_, file, further) in ONE_HOP {
        sets.push(Set::of_documents(bench.data, file, further)?);
    }
    frontier::measure(TOGETHER, &sets, model, bench)
}

fn public(bench: &Bench<'_>, plan: &Plan, model: &dyn EmbeddingProvider) -> Result<Vec<Row>> {
    let set = match external::find(plan.folder)? {
        Found::Set(set) => Set::new(&set, plan.dev)?,
        Found::Absent(reason) => return Ok(gated(plan.dataset, plan.more, &reason)),
    };
    let facts = if plan.openie {
        // They were read by somebody else, at a cost that no file tells.
        Facts {
            passages: set.by_openie(plan.folder)?,
            seconds: 0.0,
        }
    } else {
        set.by_rules()
    };
    measure(plan.dataset, &set, &facts, model, plan.more, bench)
}

fn gated(dataset: &str, more: &[More], reason: &str) -> Vec<Row> {
    methods::names(more)
        .into_iter()
        .map(|system| Row::gated(dataset, system, reason))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::corpus::BenchData;
    use crate::table::tests::quick;

    #[test]
    fn the_walk_finds_the_chains_that_the_hybrid_search_loses() {
        let rows = quick("multihop", |bench| Multihop.measure(bench).unwrap());
        let names: Vec<&str> = rows.iter().map(|row| row.system.as_str()).collect();
        assert_eq!(
            names,
            methods::names(&ALL_METHODS),
            "what is gated is what is measured"
        );
        let get = |system: &str, metric: &str| {
            let row = rows.iter().find(|row| row.system == system).unwrap();
            row.metrics[metric].value
        };
        // The ends of a chain share names with the question, so words alone find some of them.
        assert!(get("bm25", "recall@5") > 0.3);
        assert!(get("walk", "all@5") > get("hybrid", "all@5"));
        assert!(get("walk", "recall@5") > get("walk-seeds-only", "recall@5"));
        // What stands between two names is among the first two, and only because they are seeds.
        assert_eq!(get("walk", "bridge@2"), 1.0);
        assert!(get("walk-no-between", "bridge@2") < 1.0);
        // Both names of each question lead somewhere, however the scores of the vectors lie.
        assert_eq!((get("auto", "hopped"), get("auto", "bridge@2")), (1.0, 1.0));
        assert!(
            rows.iter()
                .all(|row| row.metrics.values().all(|measure| !measure.is_timing()))
        );
    }

    #[test]
    fn public_sets_are_what_the_plans_say() {
        for plan in &PLANS {
            let public = match external::find(plan.folder).unwrap() {
                Found::Set(public) => public,
                Found::Absent(reason) => {
                    eprintln!("SKIPPED {}: {reason}", plan.dataset);
                    continue;
                }
            };
            let set = Set::new(&public, plan.dev).unwrap();
            let asked = if plan.dataset == WIKI { 348 } else { 100 };
            assert_eq!(set.asked.len(), asked, "{}", plan.dataset);
            if plan.openie {
                let facts = set.by_openie(plan.folder).unwrap();
                let triples = facts.iter().map(|passage| passage.extraction.triples.len());
                // 17,234 have length 3, of which 30 repeat one of their own passage.
                assert_eq!(triples.sum::<usize>(), 17_204);
                assert!(facts.iter().zip(&set.texts).all(|(passage, text)| {
                    let title = passage.title.as_deref();
                    title.is_none_or(|title| text.starts_with(title))
                }));
            }
        }
    }

    #[test]
    fn chains_and_questions_of_one_hop_are_what_they_say() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let data = BenchData::load(&root.join("bench-data")).unwrap();
        let public = data.set(CHAINS_FOLDER).unwrap();
        let counts = CHAINS.map(|(_, ids)| {
            let set = Set::of(&public, 0, |id| id.starts_with(ids)).unwrap();
            assert!(
                set.asked
                    .iter()
                    .all(|asked| (2..=4).contains(&asked.gold.len()))
            );
            let with_bridge = set.asked.iter().filter(|asked| !asked.bridges.is_empty());
            (set.asked.len(), with_bridge.count())
        });
        assert_eq!(counts, [(144, 0), (72, 0), (36, 36)]);
        let sets =
            ONE_HOP.map(|(_, file, further)| Set::of_documents(&data, file, further).unwrap());
        assert_eq!(sets.each_ref().map(|set| set.asked.len()), [161, 17, 66]);
        let set = &sets[0];
        let single = set
            .asked
            .iter()
            .filter(|asked| asked.gold.len() == 1)
            .count();
        assert!(
            single * 10 > set.asked.len() * 8,
            "{single} of {}",
            set.asked.len()
        );
        // A chunk that is cut within a phrase does not hold it; that is rare.
        let held = set
            .asked
            .iter()
            .filter(|asked| asked.gold.iter().all(|piece| !piece.is_empty()));
        assert!(held.count() * 10 > set.asked.len() * 9);
    }

    #[test]
    fn without_a_model_every_row_is_gated_under_its_own_name() {
        for row in PLANS
            .iter()
            .flat_map(|plan| gated(plan.dataset, plan.more, "a reason"))
        {
            assert_eq!(row.gate_reason.as_deref(), Some("a reason"));
            let unmeasured = UNMEASURED.iter();
            let mut twice = unmeasured.filter(|one| (one.0, one.1) == (&row.dataset, &row.system));
            assert!(twice.next().is_none(), "{} {}", row.dataset, row.system);
        }
    }

    #[test]
    fn every_row_has_one_section_and_every_published_figure_a_row() {
        let mut rows: Vec<(&str, &str)> = UNMEASURED.iter().map(|one| (one.0, one.1)).collect();
        let audits = [AUDIT_HASH, AUDIT].map(|dataset| (dataset, &ALL_METHODS[..]));
        let plans = PLANS.iter().map(|plan| (plan.dataset, plan.more));
        let one_hop = ONE_HOP.iter().map(|(dataset, ..)| *dataset);
        let bare = CHAINS.iter().map(|(dataset, _)| *dataset).chain(one_hop);
        let bare = bare.map(|dataset| (dataset, &[][..]));
        for (dataset, more) in plans.chain(audits).chain(bare) {
            rows.extend(methods::names(more).into_iter().map(|name| (dataset, name)));
        }
        rows.extend(frontier::SYSTEMS.map(|system| (TOGETHER, system)));
        for (dataset, _) in &rows {
            let sections = columns::sections();
            let holding = sections.iter().filter(|section| section.holds(dataset));
            assert_eq!(holding.count(), 1, "{dataset}");
        }
        for printed in columns::printed() {
            let row = (printed.dataset.as_deref().unwrap(), printed.system.as_str());
            assert!(rows.contains(&row), "{row:?}");
        }
    }
}
