//! HopRAG over whole corpora, with no hop to five, beside the first stage that it starts from.

mod columns;
mod entrants;
mod measure;

use anyhow::Result;
use cornu_core::EmbeddingProvider;
use cornu_embed::HashEmbeddingProvider;
use cornu_eval::evidence::{License, Row};

use super::multihop::AUDIT_FOLDER;
use super::multihop::cut::Cut;
use super::multihop::set::{DEV, Set};
use crate::external::{self, Found};
use crate::licenses;
use crate::table::{Bench, Part, Section, Table};

/// The chains of ownership of `bench-data`, by vectors of hashed words: the quick part.
const AUDIT_HASH: &str = "audit-hash";
const WIKI: &str = "2wiki-500-sample";
const MUSIQUE: &str = "musique-train-100";
const HOTPOT: &str = "hotpotqa-train-100";

/// A public set, and how much of it is measured.
struct Plan {
    dataset: &'static str,
    folder: &'static str,
    /// Questions that are left out: choices were made on them.
    dev: usize,
    /// Questions and passages; all of them where there is no such limit.
    sample: Option<(usize, usize)>,
}

const PUBLIC: [Plan; 3] = [
    Plan {
        dataset: WIKI,
        folder: "2wiki-500",
        dev: DEV,
        // All 6,119 passages answer and raise 93,711 different questions.
        sample: Some((100, 1500)),
    },
    Plan {
        dataset: MUSIQUE,
        folder: "musique-train-100",
        dev: 0,
        sample: None,
    },
    Plan {
        dataset: HOTPOT,
        folder: "hotpotqa-train-100",
        dev: 0,
        sample: None,
    },
];

/// Table `hoprag`.
pub struct HopRagTable;

impl Table for HopRagTable {
    fn name(&self) -> &'static str {
        "hoprag"
    }

    fn summary(&self) -> &'static str {
        "HopRAG with 0 to 5 hops: queue, chain coverage, retrieval F1, recall up to 200"
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

    fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>> {
        let mut rows = bench.rows(AUDIT_HASH, || {
            let set = Set::new(&bench.data.set(AUDIT_FOLDER)?, 0)?;
            measured(AUDIT_HASH, &set, &HashEmbeddingProvider::default(), bench)
        })?;
        if bench.part == Part::Quick {
            return Ok(rows);
        }
        let model = Cut::keeping(bench.models)?;
        for plan in &PUBLIC {
            rows.extend(bench.rows(plan.dataset, || match &model {
                Ok(model) => public(bench, plan, model),
                Err(reason) => Ok(gated(plan.dataset, reason)),
            })?);
        }
        Ok(rows)
    }

    fn inputs(&self) -> &'static [&'static str] {
        &[
            "audit/corpus.jsonl",
            "audit/queries.jsonl",
            "audit/qrels.tsv",
            "external.toml",
        ]
    }

    fn licenses(&self) -> Vec<License> {
        licenses::with_public_sets()
    }

    fn known_failures(&self) -> Vec<String> {
        [
            "The questions of passages are made of templates, where the paper has a language model \
             write them, and hops are chosen by similarity, where it asks one: the figures say \
             little of the published system.",
            "A question that a passage raises is \"What is X?\" for each of its names, so edges lead \
             to passages about X and hardly ever to what is said of X elsewhere.",
            "The gold passages of 2wiki-500 were derived by matching the subjects of its evidence \
             to titles, which favours edges of that kind.",
            "musique-train-100 and hotpotqa-train-100 were at hand while the rules that read names \
             and facts were made.",
        ]
        .map(str::to_owned)
        .into()
    }
}

fn public(bench: &Bench<'_>, plan: &Plan, model: &dyn EmbeddingProvider) -> Result<Vec<Row>> {
    let set = match external::find(plan.folder)? {
        Found::Set(set) => Set::new(&set, plan.dev)?,
        Found::Absent(reason) => return Ok(gated(plan.dataset, &reason)),
    };
    let set = match plan.sample {
        Some((asked, passages)) => set.sample(asked, passages),
        None => set,
    };
    measured(plan.dataset, &set, model, bench)
}

fn measured(
    dataset: &str,
    set: &Set,
    model: &dyn EmbeddingProvider,
    bench: &Bench<'_>,
) -> Result<Vec<Row>> {
    let space = entrants::Space::new(set, &set.by_rules(), model)?;
    measure::measure(dataset, &space, bench)
}

fn gated(dataset: &str, reason: &str) -> Vec<Row> {
    let names = entrants::names().into_iter();
    names
        .map(|name| Row::gated(dataset, name, reason))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::multihop::CHAINS_FOLDER;
    use super::*;
    use crate::table::tests::quick;

    #[test]
    fn each_hop_reaches_more_and_what_it_reaches_is_counted() {
        let rows = quick("hoprag", |bench| HopRagTable.measure(bench).unwrap());
        let names: Vec<&str> = rows.iter().map(|row| row.system.as_str()).collect();
        assert_eq!(
            names,
            entrants::names(),
            "what is gated is what is measured"
        );
        let get = |system: &str, metric: &str| {
            let row = rows.iter().find(|row| row.system == system).unwrap();
            row.metrics[metric].value
        };
        for rules in ["clean", "published"] {
            let of = |hops: usize, metric: &str| match hops {
                0 => get("no-hops", metric),
                hops => get(&format!("{rules}-{hops}"), metric),
            };
            for hops in 1..=5 {
                let before = of(hops - 1, "visited");
                let grown = of(hops, "visited") - before;
                assert!((grown - of(hops, "queue")).abs() < 1e-9, "{rules}-{hops}");
                assert!(of(hops, "chain") >= of(hops - 1, "chain"));
            }
            assert!(of(1, "queue") > 0.0);
        }
        // What is kept of starts is all of them, only in another order.
        assert_eq!(get("no-hops", "recall@200"), get("dense", "recall@200"));
        assert_eq!(get("no-hops", "visited"), 20.0);
        assert!(
            rows.iter()
                .all(|row| row.metrics.values().all(|measure| !measure.is_timing()))
        );
    }

    #[test]
    fn the_control_is_given_as_many_passages_as_the_hops_reached() {
        let rows = quick("hoprag", |bench| {
            let set = Set::new(&bench.data.set(CHAINS_FOLDER).unwrap(), 0);
            let set = set.unwrap().sample(24, 160);
            measured("chains", &set, &HashEmbeddingProvider::default(), bench).unwrap()
        });
        let get = |system: &str, metric: &str| {
            let row = rows.iter().find(|row| row.system == system).unwrap();
            row.metrics[metric].value
        };
        // Before any hop both have the same 20.
        assert_eq!(get("no-hops", "chain_dense"), get("no-hops", "chain"));
        assert_eq!(get("dense", "chain"), get("no-hops", "chain"));
        assert!(get("clean-5", "chain_dense") > get("no-hops", "chain_dense"));
        assert!(get("clean-5", "chain") > get("no-hops", "chain"));
        // Beyond 20, each depth is a run of its own.
        for name in ["dense", "hybrid", "no-hops", "clean-1"] {
            let grown = get(name, "recall@100") > get(name, "recall@20");
            assert!(grown, "{name}");
        }
    }

    #[test]
    fn every_row_has_a_section() {
        let datasets = PUBLIC.iter().map(|plan| plan.dataset);
        for dataset in datasets.chain([AUDIT_HASH]) {
            let sections = columns::sections();
            let holding = sections.iter().filter(|section| section.holds(dataset));
            assert_eq!(holding.count(), 1, "{dataset}");
            assert_eq!(gated(dataset, "a reason").len(), entrants::names().len());
        }
    }
}
