//! Views of the present state, so that asking again does not read the grants again.

use cornu_core::{Principal, View};

use crate::sqlite::schema::State;

/// How many principals are remembered.
const CAPACITY: usize = 64;

/// Views by the exact set of grants, all of one state. The least recently used one goes first.
#[derive(Default)]
pub(crate) struct Views {
    state: Option<State>,
    views: Vec<View>,
}

impl Views {
    pub(crate) fn get(&mut self, state: State, principal: &Principal) -> Option<View> {
        if self.state != Some(state) {
            return None;
        }
        let at = self
            .views
            .iter()
            .position(|view| view.principal() == principal)?;
        let view = self.views.remove(at);
        self.views.push(view.clone());
        Some(view)
    }

    /// A view of a later state throws out those of earlier ones, and never the other way round.
    pub(crate) fn put(&mut self, state: State, view: &View) {
        if self.state.is_some_and(|held| held.epoch > state.epoch) {
            return;
        }
        if self.state != Some(state) {
            self.state = Some(state);
            self.views.clear();
        }
        self.views
            .retain(|held| held.principal() != view.principal());
        if self.views.len() >= CAPACITY {
            self.views.remove(0);
        }
        self.views.push(view.clone());
    }
}
