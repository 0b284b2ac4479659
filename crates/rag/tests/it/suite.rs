//! The non-interference suite: runs a route over an index and over one that holds what the asker
//! sees alone, and compares the bytes. The real routes have to pass it, and leaky ones to fail.

use std::sync::OnceLock;

use cornu::Principal;
use cornu::core::testing::proptest::strategy::{Strategy, ValueTree};
use cornu::core::testing::proptest::test_runner::{Config, TestRng, TestRunner};

use crate::world::{Scenario, World, scenario};

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
        (0..60)
            .map(|_| Pair::new(scenario().new_tree(&mut runner).unwrap().current()))
            .collect()
    })
}

/// How many of the scenarios a route interferes in.
pub(crate) fn caught(route: &dyn Route) -> usize {
    pairs()
        .iter()
        .filter(|pair| pair.interferes(route).is_some())
        .count()
}
