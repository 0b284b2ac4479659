//! Views that were read before, so that asking again does not read the grants again.

use std::sync::Arc;

use cornu_core::{Principal, View};

use crate::digest::Seal;
use crate::sqlite::schema::State;

/// How many principals are remembered.
const CAPACITY: usize = 64;

/// Views by the exact set of grants, each with the state in which it was last found to be true. The
/// least recently used one goes first.
#[derive(Default)]
pub(crate) struct Views {
    held: Vec<Arc<Held>>,
}

/// What a principal sees in a state.
pub(crate) struct Held {
    pub(crate) state: State,
    pub(crate) view: View,
    /// One for each grant of the principal, in their order.
    pub(crate) marks: Vec<Mark>,
}

/// What tells whether the documents of a grant are those of an earlier state.
///
/// An ordinal is never used twice and grows with time. So where a later state has no newer document
/// under the grant it has no other than those of the earlier one; and where it has as many, it has
/// all of them. The seal says the same by itself, but by exclusive or, which somebody who writes
/// many documents could bring about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) documents: u64,
    pub(crate) newest: Option<u32>,
    pub(crate) seal: Seal,
}

impl Views {
    pub(crate) fn get(&mut self, principal: &Principal) -> Option<Arc<Held>> {
        let held = self.held.remove(self.place_of(principal)?);
        self.held.push(Arc::clone(&held));
        Some(held)
    }

    /// A view of a later state takes the place of an earlier one, and never the other way round,
    /// unless the one that is held is of a state that nothing stands on any more.
    pub(crate) fn put(&mut self, new: Held, stands: impl FnOnce(State) -> bool) {
        if let Some(at) = self.place_of(new.view.principal()) {
            let held = self.held.get(at).map(|held| held.state);
            if held.is_some_and(|held| held.epoch > new.state.epoch && stands(held)) {
                return;
            }
            self.held.remove(at);
        }
        if self.held.len() >= CAPACITY {
            self.held.remove(0);
        }
        self.held.push(Arc::new(new));
    }

    fn place_of(&self, principal: &Principal) -> Option<usize> {
        let mut held = self.held.iter();
        held.position(|held| held.view.principal() == principal)
    }
}
