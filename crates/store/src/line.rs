//! Which states of a database came to be one upon the other.

use std::collections::VecDeque;

use crate::sqlite::schema::State;

/// How many states are remembered, at 24 bytes each.
const CAPACITY: usize = 1024;

/// The last states that somebody began to read, each of which came to be by commits upon the one
/// before. Within one line an ordinal names one version of one document.
///
/// Another database in the place of the one that is open begins another line.
#[derive(Default)]
pub(crate) struct Line {
    /// By epoch.
    states: VecDeque<State>,
    /// How many lines were before this one.
    number: u64,
}

impl Line {
    pub(crate) fn contains(&self, state: State) -> bool {
        if self.newest() == Some(state) {
            return true;
        }
        let at = self
            .states
            .binary_search_by_key(&state.epoch, |one| one.epoch);
        at.is_ok_and(|at| self.states.get(at) == Some(&state))
    }

    /// The line's number, where it has the state.
    pub(crate) fn number_for(&self, state: State) -> Option<u64> {
        self.contains(state).then_some(self.number)
    }

    pub(crate) fn newest(&self) -> Option<State> {
        self.states.back().copied()
    }

    /// Goes on with a state that is not among them: after the newest of them, or on its own where
    /// nothing says that it came from that one.
    /// Returns the number of the line that has it now.
    pub(crate) fn go_on(&mut self, state: State, came_from_newest: bool) -> u64 {
        if !came_from_newest {
            self.states.clear();
            self.number += 1;
        }
        if self.states.len() >= CAPACITY {
            self.states.pop_front();
        }
        self.states.push_back(state);
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_what_came_from_one_another() {
        let state = |epoch: usize, id: u8| State {
            epoch: epoch as u64,
            id: [id; 16],
        };
        let mut line = Line::default();
        for epoch in 1..=CAPACITY + 1 {
            line.go_on(state(2 * epoch, 1), true);
        }
        assert!(!line.contains(state(2, 1)), "the oldest made room");
        assert!(line.contains(state(4, 1)));
        assert!(!line.contains(state(4, 2)), "a copy of another way");
        assert!(!line.contains(state(5, 1)));
        line.go_on(state(6, 2), false);
        assert!(line.contains(state(6, 2)));
        assert!(!line.contains(state(4, 1)));
        assert_eq!(line.newest(), Some(state(6, 2)));
    }
}
