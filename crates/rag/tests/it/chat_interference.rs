//! What the asker may not see has no influence on any byte that a model is sent.

use std::sync::Arc;

use cornu::chat::{Chat, Passage, Prompt};
use cornu::core::testing::proptest::prelude::*;
use cornu::text::WordCounter;
use cornu::{LiveRagIndex, Principal, RagOptions};

use crate::chat::Scripted;
use crate::suite::{Pair, Route, caught, pairs};
use crate::world::{World, cases, options, provider, scenario};

/// All that a model is sent, and all that the asker gets, with several budgets and thresholds.
fn sent(world: &World, principal: &Principal, question: &str) -> String {
    let mut out = String::new();
    for (context, value) in [(4000, -1.0), (4000, 0.3), (30, -1.0)] {
        let reply = "The loss of AdamW [1]. Gradients add up [2]. It is 7 [3].";
        let model = Arc::new(Scripted::saying(reply));
        let options = RagOptions {
            chat: Some(Chat {
                context,
                ..Chat::new(model.clone())
            }),
            entity_check: false,
            ..options()
        };
        let path = world.home.folder.path().join("index.db");
        let index = LiveRagIndex::open(path, provider(), options).unwrap();
        let response = index.answer(principal, question, &world.home.threshold(value));
        out.push_str(&model.asked().concat());
        out.push_str(&match response {
            Ok(response) => format!("{}{}", response.to_json(), response.trace),
            Err(error) => error.to_string(), // no passage fits
        });
    }
    out
}

#[test]
fn prompts_are_those_of_an_index_of_the_visible_documents() {
    let mut asked = 0;
    for pair in pairs() {
        let Some((whole, visible)) = pair.interferes(&sent) else {
            let Pair { scenario, .. } = pair;
            asked += usize::from(!scenario.question.is_empty());
            continue;
        };
        panic!("whole: {whole}\nvisible: {visible}\n{:#?}", pair.scenario);
    }
    assert!(asked > 30, "{asked}");
}

#[test]
fn the_model_is_asked_in_most_scenarios() {
    // Who sees everything asks the model; that the prompts compared above are no empty ones.
    let mut prompts = 0;
    let route = |world: &World, principal: &Principal, question: &str| {
        usize::from(sent(world, principal, question).contains("ChatPrompt")).to_string()
    };
    for pair in pairs().iter().filter(|pair| pair.hides_something()) {
        prompts += pair.on_visible(&route).parse::<usize>().unwrap();
    }
    let hiding = pairs().iter().filter(|pair| pair.hides_something()).count();
    assert!(prompts * 2 > hiding, "{prompts} of {hiding}");
}

/// Passages of what everybody sees, left out of the prompt by grant afterwards: the numbers of
/// those that stay tell that there were others.
#[test]
fn leak_19_a_prompt_numbered_before_the_filter() {
    let leaky = |world: &World, principal: &Principal, question: &str| {
        let found = world.home.index.search_hybrid(&world.owner(), question, 6);
        let hits = found.unwrap().hits;
        let seen = hits
            .iter()
            .enumerate()
            .filter(|(_, hit)| world.all[&hit.chunk.doc].acl().admits(principal));
        let lines = seen.map(|(at, hit)| format!("[{}] {}\n", at + 1, hit.chunk.text));
        lines.collect()
    };
    assert!(caught(&leaky) > 0, "the suite did not notice");
}

/// A budget that hidden passages use up.
#[test]
fn leak_20_a_budget_that_hidden_passages_share() {
    let leaky = |world: &World, principal: &Principal, question: &str| {
        let found = world.home.index.search_hybrid(&world.owner(), question, 6);
        let passages = found.unwrap().hits.into_iter().map(|hit| Passage {
            titles: hit.chunk.heading_path.clone(),
            text: match world.all[&hit.chunk.doc].acl().admits(principal) {
                true => hit.chunk.text.clone(),
                false => "(withheld)".to_owned(),
            },
        });
        let counter = WordCounter::new();
        let prompt = Prompt::new(question, passages.collect(), 60, &counter);
        prompt.user().replace("(withheld)", "")
    };
    assert!(caught(&leaky) > 0, "the suite did not notice");
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn any_history_asker_and_question(scenario in scenario()) {
        let pair = Pair::new(scenario);
        let route: &dyn Route = &sent;
        prop_assert_eq!(pair.interferes(route), None);
    }
}
