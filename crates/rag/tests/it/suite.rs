//! The non-interference suite: runs a route over an index and over one that holds what the asker
//! sees alone, and compares the bytes. The real routes have to pass it, and leaky ones to fail.

use std::sync::OnceLock;

use cornu::core::testing::proptest::strategy::{Strategy, ValueTree};
use cornu::core::testing::proptest::test_runner::{Config, TestRng, TestRunner};
use cornu::{Acl, Principal};

use crate::world::{Scenario, World, Write, document, grants, scenario};

/// A way of asking an index: the bytes that the asker gets.
pub(crate) trait Route {
    fn ask(&self, world: &World, principal: &Principal, question: &str) -> String;
}

impl<F: Fn(&World, &Principal, &str) -> String> Route for F {
    fn ask(&self, world: &World, principal: &Principal, question: &str) -> String {
        self(world, principal, question)
    }
}

/// An index, and what of it the asker may know.
pub(crate) struct Pair {
    pub(crate) scenario: Scenario,
    whole: World,
    visible: World,
}

impl Pair {
    pub(crate) fn new(scenario: Scenario) -> Self {
        let whole = World::of(&scenario.writes, &scenario.question);
        let visible = World::of_visible(&whole, &scenario.principal);
        Self {
            scenario,
            whole,
            visible,
        }
    }

    /// The two results, if they differ.
    pub(crate) fn interferes(&self, route: &dyn Route) -> Option<(String, String)> {
        let Scenario {
            principal,
            question,
            ..
        } = &self.scenario;
        let whole = route.ask(&self.whole, principal, question);
        let visible = route.ask(&self.visible, principal, question);
        (whole != visible).then_some((whole, visible))
    }

    /// The result over what the asker sees alone.
    pub(crate) fn on_visible(&self, route: &dyn Route) -> String {
        let Scenario {
            principal,
            question,
            ..
        } = &self.scenario;
        route.ask(&self.visible, principal, question)
    }

    pub(crate) fn hides_something(&self) -> bool {
        self.whole.all.len() > self.visible.all.len() && !self.visible.all.is_empty()
    }
}

/// Always the same scenarios, built once for all routes.
pub(crate) fn pairs() -> &'static [Pair] {
    static PAIRS: OnceLock<Vec<Pair>> = OnceLock::new();
    PAIRS.get_or_init(|| {
        let config = Config::default();
        let random = TestRng::deterministic_rng(config.rng_algorithm);
        let mut runner = TestRunner::new_with_rng(config, random);
        let mut draw = || scenario().new_tree(&mut runner).unwrap().current();
        let drawn: Vec<Scenario> = (0..60).map(|_| draw()).collect();
        let made = [crowd(), twins()];
        drawn.into_iter().chain(made).map(Pair::new).collect()
    })
}

/// Two dozen hidden documents that are nearer to the question than the visible ones.
fn crowd() -> Scenario {
    let question = "Why does zero_grad clear the gradient?";
    let hidden = (0..24).map(|at| {
        let text = format!("# Answer {at}\n\n{question}\n");
        document(&format!("h{at:02}.md"), &text, grants(["hr"]))
    });
    let visible = ["the gradient of a hill", "clear water", "why not", "zero"]
        .into_iter()
        .enumerate()
        .map(|(at, text)| document(&format!("v{at}.md"), text, Acl::public()));
    Scenario {
        writes: hidden.chain(visible).map(Write::Ingest).collect(),
        principal: Principal::public(),
        question: question.to_owned(),
    }
}

/// Visible documents with equal texts, each with a hidden twin before and after it by name.
fn twins() -> Scenario {
    let pages = (0..6).rev().flat_map(|at| {
        let text = "# Twin\n\nAdamW reports loss with FY2023.\n";
        [("a", "hr"), ("m", "public"), ("z", "hr")]
            .map(|(name, grant)| document(&format!("{name}{at}.md"), text, grants([grant])))
    });
    Scenario {
        writes: pages.map(Write::Ingest).collect(),
        principal: Principal::public(),
        question: "Which loss does AdamW report?".to_owned(),
    }
}

/// How many of the scenarios a route interferes in.
pub(crate) fn caught(route: &dyn Route) -> usize {
    pairs()
        .iter()
        .filter(|pair| pair.interferes(route).is_some())
        .count()
}
