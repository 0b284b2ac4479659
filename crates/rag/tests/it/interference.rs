//! What the asker may not see has no influence on any byte of what they get.

use cornu::core::testing::proptest::prelude::*;
use cornu::{AnswerRoute, AskOptions, LiveRagIndex, Principal};

use crate::suite::{Pair, Route, pairs};
use crate::world::{World, cases, scenario};

type Named = (&'static str, fn(&World, &Principal, &str) -> String);

/// Every way of asking, as text and as JSON.
const ROUTES: [Named; 16] = [
    ("dense", |world, principal, question| {
        let found = world
            .home
            .index
            .search_dense(principal, question, 3)
            .unwrap();
        found.to_json() + &found.trace.to_string()
    }),
    ("sparse", |world, principal, question| {
        let found = world
            .home
            .index
            .search_sparse(principal, question, 3)
            .unwrap();
        found.to_json() + &found.trace.to_string()
    }),
    ("hybrid", |world, principal, question| {
        let found = world
            .home
            .index
            .search_hybrid(principal, question, 3)
            .unwrap();
        found.to_json() + &found.trace.to_string()
    }),
    ("all hits", |world, principal, question| {
        let found = world
            .home
            .index
            .search_hybrid(principal, question, 1000)
            .unwrap();
        found.to_json() + &found.trace.to_string()
    }),
    ("convex", |world, principal, question| {
        let found = world.convex.search_hybrid(principal, question, 2).unwrap();
        found.to_json() + &found.trace.to_string()
    }),
    ("hop", |world, principal, question| {
        let index = &world.home.index;
        let few = index.search_hop(principal, question, 3).unwrap();
        let all = index.search_hop(principal, question, 1000).unwrap();
        let explained = index.explain_hop(principal, question, 5).unwrap();
        format!("{}{}{}{explained}", few.to_json(), all.to_json(), all.trace)
    }),
    ("auto", |world, principal, question| {
        let index = &world.home.index;
        let few = index.search_auto(principal, question, 3).unwrap();
        let explained = index.explain_auto(principal, question, 5).unwrap();
        format!("{}{}{explained}", few.to_json(), few.trace)
    }),
    ("ask by auto", |world, principal, question| {
        let options = AskOptions {
            route: AnswerRoute::Auto,
            ..AskOptions::default()
        };
        [-1.0, 0.3]
            .map(|value| {
                let threshold = world.home.threshold(value);
                let index = &world.home.index;
                let asked = index.ask(principal, question, &threshold, &options);
                asked.unwrap().to_json()
            })
            .concat()
    }),
    ("answer by hop", |world, principal, question| {
        [-1.0, 0.3]
            .map(|value| {
                let threshold = world.home.threshold(value);
                let index = &world.home.index;
                let response = index.answer_hop(principal, question, &threshold).unwrap();
                response.to_json() + &response.trace.to_string()
            })
            .concat()
    }),
    ("explain", |world, principal, question| {
        let trace = world.home.index.explain(principal, question, 5).unwrap();
        serde_json::to_string(&trace).unwrap() + &trace.to_string()
    }),
    ("answer", |world, principal, question| {
        answers(&world.home.index, world, principal, question)
    }),
    ("answer by convex", |world, principal, question| {
        answers(&world.convex, world, principal, question)
    }),
    (
        "reranked by a cross-encoder",
        |world, principal, question| reranked(world, 0, principal, question),
    ),
    ("reranked by a cascade", |world, principal, question| {
        reranked(world, 1, principal, question)
    }),
    (
        "reranked by late interaction",
        |world, principal, question| reranked(world, 2, principal, question),
    ),
    ("documents", |world, principal, _| {
        format!("{:?}", world.home.index.documents(principal).unwrap())
    }),
];

/// Search, explanation and answers with one of the rerankers.
fn reranked(world: &World, which: usize, principal: &Principal, question: &str) -> String {
    let index = &world.reranked[which];
    let found = index.search_hybrid(principal, question, 3).unwrap();
    let explained = index.explain(principal, question, 3).unwrap();
    let answers = answers(index, world, principal, question);
    format!("{}{}{explained}{answers}", found.to_json(), found.trace)
}

fn answers(index: &LiveRagIndex, world: &World, principal: &Principal, question: &str) -> String {
    [-1.0, 0.1, 0.3, 0.6]
        .into_iter()
        .map(|value| {
            let threshold = world.home.threshold(value);
            let response = index.answer(principal, question, &threshold).unwrap();
            format!(
                "{}{}{}",
                response.to_json(),
                response.outcome,
                response.trace
            )
        })
        .collect()
}

fn check(pair: &Pair) {
    for (name, route) in ROUTES {
        let route: &dyn Route = &route;
        if let Some((whole, visible)) = pair.interferes(route) {
            panic!(
                "{name} interferes\n whole: {whole}\nvisible: {visible}\n{:#?}",
                pair.scenario
            );
        }
    }
}

#[test]
fn every_route_gives_what_an_index_of_the_visible_documents_gives() {
    for pair in pairs() {
        check(pair);
    }
}

#[test]
fn the_scenarios_have_something_to_find_and_something_to_hide() {
    let pairs = pairs();
    let hiding = pairs.iter().filter(|pair| pair.hides_something()).count();
    assert!(hiding * 3 > pairs.len(), "{hiding} of {}", pairs.len());
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn any_history_asker_and_question(scenario in scenario()) {
        check(&Pair::new(scenario));
    }
}
