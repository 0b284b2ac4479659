//! Planted leaks: ways in which systems let hidden documents shine through. Each has to be caught
//! by the suite, or the suite proves nothing.

use std::collections::{BTreeMap, BTreeSet};

use cornu::text::Tokenizer;
use cornu::{Chunk, Hit, Principal, RagOptions};

use crate::suite::{Route, caught, pairs};
use crate::world::World;

fn assert_caught(route: impl Fn(&World, &Principal, &str) -> String) {
    let route: &dyn Route = &route;
    let scenarios = caught(route);
    eprintln!("caught in {scenarios} of {} scenarios", pairs().len());
    assert!(scenarios > 0, "the suite did not notice");
}

/// What a hit looks like from outside.
fn shown(hits: &[Hit]) -> String {
    let lines = hits
        .iter()
        .map(|hit| format!("{} {}\n", hit.chunk.id, hit.score));
    lines.collect()
}

fn visible(world: &World, principal: &Principal, hits: &[Hit]) -> Vec<Hit> {
    hits.iter()
        .filter(|hit| world.all[&hit.chunk.doc].acl().admits(principal))
        .cloned()
        .collect()
}

fn dense(world: &World, principal: &Principal, question: &str, k: usize) -> Vec<Hit> {
    let found = world.home.index.search_dense(principal, question, k);
    found.unwrap().hits
}

fn hybrid(world: &World, principal: &Principal, question: &str, k: usize) -> Vec<Hit> {
    let found = world.home.index.search_hybrid(principal, question, k);
    found.unwrap().hits
}

/// Which numbers of BM25 come from all documents rather than from the visible ones.
#[derive(Clone, Copy, Default)]
struct Global {
    frequencies: bool,
    count: bool,
    lengths: bool,
}

fn chunks(world: &World, principal: Option<&Principal>) -> Vec<Chunk> {
    let chunker = RagOptions::default().chunker;
    world
        .all
        .values()
        .filter(|document| principal.is_none_or(|principal| document.acl().admits(principal)))
        .flat_map(|document| chunker.chunk(document).unwrap())
        .collect()
}

/// BM25 as it stands in textbooks, over every visible chunk.
fn bm25(world: &World, principal: &Principal, question: &str, global: Global) -> String {
    let tokenizer = Tokenizer::new();
    let words = |chunk: &Chunk| -> Vec<String> {
        let tokens = tokenizer.tokens(&chunk.index_text);
        tokens.into_iter().map(|token| token.text).collect()
    };
    let seen: Vec<Vec<String>> = chunks(world, Some(principal)).iter().map(words).collect();
    let all: Vec<Vec<String>> = chunks(world, None).iter().map(words).collect();
    let of = |leaks: bool| if leaks { &all } else { &seen };
    let count = of(global.count).len() as f64;
    let lengths = of(global.lengths);
    let average = lengths.iter().map(Vec::len).sum::<usize>() as f64 / lengths.len().max(1) as f64;
    let asked: BTreeSet<String> = tokenizer
        .tokens(question)
        .into_iter()
        .map(|token| token.text)
        .collect();
    let scores = seen.iter().map(|chunk| {
        let part = |word: &String| {
            let times = chunk.iter().filter(|other| *other == word).count() as f64;
            let holding = of(global.frequencies)
                .iter()
                .filter(|chunk| chunk.contains(word));
            let df = holding.count() as f64;
            let idf = (1.0 + (count - df + 0.5).max(0.0) / (df + 0.5)).ln();
            let length = 0.25 + 0.75 * chunk.len() as f64 / average.max(1.0);
            idf * times / (1.2 * length + times)
        };
        asked.iter().map(part).sum::<f64>()
    });
    let lines: BTreeSet<String> = scores.map(|score| format!("{score:.12}\n")).collect();
    lines.into_iter().collect()
}

#[test]
fn bm25_without_a_leak_passes() {
    let route = |world: &World, principal: &Principal, question: &str| {
        bm25(world, principal, question, Global::default())
    };
    assert_eq!(caught(&route), 0);
}

#[test]
fn leak_01_document_frequencies_of_all() {
    assert_caught(|world, principal, question| {
        let global = Global {
            frequencies: true,
            ..Global::default()
        };
        bm25(world, principal, question, global)
    });
}

#[test]
fn leak_02_number_of_chunks_of_all() {
    assert_caught(|world, principal, question| {
        let global = Global {
            count: true,
            ..Global::default()
        };
        bm25(world, principal, question, global)
    });
}

#[test]
fn leak_03_average_length_of_all() {
    assert_caught(|world, principal, question| {
        let global = Global {
            lengths: true,
            ..Global::default()
        };
        bm25(world, principal, question, global)
    });
}

#[test]
fn leak_04_filter_after_the_cut() {
    assert_caught(|world, principal, question| {
        let best = dense(world, &world.owner(), question, 2);
        shown(&visible(world, principal, &best))
    });
}

#[test]
fn leak_05_filter_after_fetching_more() {
    assert_caught(|world, principal, question| {
        let best = dense(world, &world.owner(), question, 6);
        let mut hits = visible(world, principal, &best);
        hits.truncate(3);
        shown(&hits)
    });
}

#[test]
fn leak_06_fuse_first_and_filter_then() {
    assert_caught(|world, principal, question| {
        // Nothing is cut; the ranks alone tell of what stood between.
        let all = hybrid(world, &world.owner(), question, 1000);
        shown(&visible(world, principal, &all))
    });
}

#[test]
fn leak_07_ties_in_the_order_of_rows() {
    assert_caught(|world, principal, question| {
        let mut hits = dense(world, principal, question, 1000);
        let row = |hit: &Hit| world.order.iter().position(|id| *id == hit.chunk.doc);
        hits.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| row(a).cmp(&row(b)))
        });
        hits.truncate(3);
        shown(&hits)
    });
}

#[test]
fn leak_08_a_cache_that_does_not_know_who_asks() {
    assert_caught(|world, principal, question| {
        let mut cache: BTreeMap<String, f64> = BTreeMap::new();
        let mut best = |asker: &Principal| {
            *cache.entry(question.to_owned()).or_insert_with(|| {
                let hits = dense(world, asker, question, 1);
                hits.first().map_or(0.0, |hit| hit.score)
            })
        };
        best(&world.owner());
        format!("best score {}", best(principal))
    });
}

#[test]
fn leak_09_a_count_in_the_trace() {
    assert_caught(|world, principal, question| {
        let found = world
            .home
            .index
            .search_hybrid(principal, question, 5)
            .unwrap();
        let mut trace = found.trace;
        let hidden = world
            .all
            .values()
            .filter(|one| !one.acl().admits(principal));
        trace.step("acl").note("filtered", hidden.count());
        trace.to_string()
    });
}

#[test]
fn leak_10_extremes_over_hidden_scores() {
    assert_caught(|world, principal, question| {
        let all = dense(world, &world.owner(), question, 1000);
        let best = all.first().map_or(1.0, |hit| hit.score);
        let last = all.last().map_or(0.0, |hit| hit.score);
        let hits = dense(world, principal, question, 3);
        let scaled = hits
            .iter()
            .map(|hit| (hit.score - last) / (best - last + 1e-9));
        format!("{:?}", scaled.collect::<Vec<_>>())
    });
}

#[test]
fn leak_11_a_threshold_fitted_on_hidden_texts() {
    assert_caught(|world, principal, question| {
        let best = dense(world, &world.owner(), question, 1);
        let fitted = best.first().map_or(0.0, |hit| hit.score * 0.9);
        let threshold = world.home.threshold(fitted.clamp(-1.0, 1.0));
        let response = world.home.index.answer(principal, question, &threshold);
        response.unwrap().outcome.to_string()
    });
}

#[test]
fn leak_12_the_epoch() {
    assert_caught(|world, principal, question| {
        let hits = dense(world, principal, question, 3);
        format!(
            "{} at {}",
            shown(&hits),
            world.home.index.store().epoch().unwrap()
        )
    });
}

#[test]
fn leak_13_ordinals() {
    assert_caught(|world, principal, _| {
        let snapshot = world.home.index.store().snapshot(principal).unwrap();
        format!("{:?}", snapshot.view().ordinals().collect::<Vec<_>>())
    });
}

#[test]
fn leak_14_a_quote_from_a_hidden_twin() {
    assert_caught(|world, principal, question| {
        let all = chunks(world, None);
        let hits = dense(world, principal, question, 3);
        let cited = hits.iter().map(|hit| {
            let twins = all.iter().filter(|chunk| chunk.text == hit.chunk.text);
            twins.map(Chunk::citation).min().unwrap_or_default()
        });
        cited.collect::<Vec<_>>().join("\n")
    });
}

#[test]
fn leak_15_twins_of_hidden_chunks_are_dropped() {
    assert_caught(|world, principal, question| {
        let mut texts = BTreeSet::new();
        let all = dense(world, &world.owner(), question, 1000);
        let kept: Vec<Hit> = all
            .into_iter()
            .filter(|hit| texts.insert(hit.chunk.text.clone()))
            .collect();
        shown(&visible(world, principal, &kept))
    });
}

#[test]
fn leak_16_words_that_hidden_texts_know() {
    assert_caught(|world, _, question| {
        let tokenizer = Tokenizer::new();
        let known: BTreeSet<String> = chunks(world, None)
            .iter()
            .flat_map(|chunk| tokenizer.tokens(&chunk.text))
            .map(|token| token.text)
            .collect();
        let asked = tokenizer.tokens(question).into_iter();
        let unknown: Vec<String> = asked
            .map(|token| token.text)
            .filter(|word| !known.contains(word))
            .collect();
        format!("not in the index: {unknown:?}")
    });
}

#[test]
fn leak_17_a_refusal_that_knows_more() {
    assert_caught(|world, principal, question| {
        let ask = |who: &Principal| {
            let threshold = world.home.threshold(0.3);
            world
                .home
                .index
                .answer(who, question, &threshold)
                .unwrap()
                .outcome
        };
        match (ask(principal).answer(), ask(&world.owner()).answer()) {
            (None, Some(_)) => "You may not see the answer.".to_owned(),
            (None, None) => "There is no answer.".to_owned(),
            (Some(answer), _) => answer.to_string(),
        }
    });
}

#[test]
fn leak_18_rerank_then_filter() {
    for which in 0..3 {
        assert_caught(|world, principal, question| {
            let found = world.reranked[which].search_hybrid(&world.owner(), question, 1000);
            shown(&visible(world, principal, &found.unwrap().hits))
        });
    }
}

#[test]
fn leak_19_walk_over_all_then_filter() {
    assert_caught(|world, principal, question| {
        let index = &world.home.index;
        let found = index.search_hop(&world.owner(), question, 1000).unwrap();
        shown(&visible(world, principal, &found.hits))
    });
}

#[test]
fn leak_20_a_route_chosen_from_all() {
    assert_caught(|world, principal, question| {
        let index = &world.home.index;
        let all = index.search_auto(&world.owner(), question, 3).unwrap();
        let trace = all.trace.to_string();
        let chosen = trace.lines().find(|line| line.contains("asked = \"auto\""));
        let seen = hybrid(world, principal, question, 3);
        format!("{}\n{}", chosen.unwrap_or_default(), shown(&seen))
    });
}
