//! Texts as numbers, for as long as something uses them.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Texts with numbers and what is kept of each. A text that nothing uses any more is forgotten, and
/// its number is given to another: so numbers depend on the history, and must not be seen outside.
#[derive(Debug)]
pub(super) struct Interned<T> {
    numbers: BTreeMap<Arc<str>, u32>,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    text: Arc<str>,
    uses: u32,
    kept: T,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self {
            numbers: BTreeMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T: Default> Interned<T> {
    /// The number of a text, which is used once more.
    pub(super) fn take(&mut self, text: &str) -> u32 {
        let known = self.numbers.get(text).copied();
        let slot = known.and_then(|number| self.slots.get_mut(number as usize));
        if let (Some(number), Some(slot)) = (known, slot) {
            slot.uses += 1;
            return number;
        }
        let text: Arc<str> = text.into();
        let slot = Slot {
            text: Arc::clone(&text),
            uses: 1,
            kept: T::default(),
        };
        let next = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(next as usize) {
            Some(free) => *free = slot,
            None => self.slots.push(slot),
        }
        self.numbers.insert(text, next);
        next
    }

    /// One use less.
    pub(super) fn release(&mut self, number: u32) {
        let Some(slot) = self.slots.get_mut(number as usize) else {
            return;
        };
        slot.uses = slot.uses.saturating_sub(1);
        if slot.uses == 0 {
            self.numbers.remove(&slot.text);
            slot.kept = T::default();
            self.free.push(number);
        }
    }
}

impl<T> Interned<T> {
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    pub(super) fn text(&self, number: u32) -> Arc<str> {
        let slot = self.slots.get(number as usize);
        slot.map_or_else(|| "".into(), |slot| Arc::clone(&slot.text))
    }

    pub(super) fn kept(&self, number: u32) -> Option<&T> {
        self.slots.get(number as usize).map(|slot| &slot.kept)
    }

    pub(super) fn kept_mut(&mut self, number: u32) -> Option<&mut T> {
        let slot = self.slots.get_mut(number as usize);
        slot.map(|slot| &mut slot.kept)
    }

    /// Texts in their order, with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, u32)> {
        self.numbers.iter().map(|(text, &number)| (text, number))
    }

    /// All numbers are below.
    pub(super) fn bound(&self) -> usize {
        self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::Interned;

    #[test]
    fn a_text_is_forgotten_with_its_last_use() {
        let mut texts: Interned<u8> = Interned::default();
        let (a, b) = (texts.take("a"), texts.take("b"));
        assert_eq!(texts.take("a"), a);
        *texts.kept_mut(a).unwrap() = 7;
        texts.release(a);
        assert_eq!((texts.find("a"), texts.kept(a)), (Some(a), Some(&7)));
        texts.release(a);
        assert_eq!((texts.find("a"), texts.find("b")), (None, Some(b)));
        // Its number goes to another, without what was kept.
        let c = texts.take("c");
        assert_eq!((c, texts.kept(c), &*texts.text(c)), (a, Some(&0), "c"));
        assert_eq!(texts.bound(), 2);
        let all: Vec<(&str, u32)> = texts.iter().map(|(text, at)| (&**text, at)).collect();
        assert_eq!(all, [("b", b), ("c", c)]);
    }
}
