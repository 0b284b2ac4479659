//! Entries under one lock, within a number of bytes.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::cache::flight::Flight;
use crate::cache::key::CacheKey;

/// What the tables take for an entry besides key and value.
const OVERHEAD: usize = 64;

/// A part of a cache.
///
/// What goes is found by a hand that moves round (CLOCK): an entry that was used since it last
/// came by is passed over once. So what is asked often stays, what was asked once goes, and what
/// belongs to an earlier epoch, which nobody asks for any more, goes first of all.
pub(crate) struct Shard<V> {
    slots: Vec<Option<Entry<V>>>,
    free: Vec<usize>,
    /// One entry a hash: another key of the same hash takes its place.
    places: HashMap<u64, usize>,
    hand: usize,
    bytes: usize,
    limit: usize,
    /// Computations under way; as many as threads, so a list will do.
    flights: Vec<(CacheKey, Arc<Flight<V>>)>,
}

struct Entry<V> {
    hash: u64,
    key: CacheKey,
    value: Arc<V>,
    bytes: usize,
    since: Duration,
    used: bool,
}

/// What a look-up finds.
pub(crate) enum Found<V> {
    Value(Arc<V>),
    Nothing,
    /// Another key with the same hash.
    Collision,
    /// It was there, and too old.
    Expired,
}

impl<V> Shard<V> {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            places: HashMap::new(),
            hand: 0,
            bytes: 0,
            limit,
            flights: Vec::new(),
        }
    }

    pub(crate) fn get(
        &mut self,
        hash: u64,
        key: &CacheKey,
        now: Duration,
        ttl: Option<Duration>,
    ) -> Found<V> {
        let Some(&place) = self.places.get(&hash) else {
            return Found::Nothing;
        };
        let Some(entry) = self.slots.get_mut(place).and_then(Option::as_mut) else {
            return Found::Nothing;
        };
        if entry.key != *key {
            return Found::Collision;
        }
        // Of the future, as a clock that was set back has it: no age, so too old.
        let age = now.checked_sub(entry.since);
        if ttl.is_some_and(|ttl| age.is_none_or(|age| age >= ttl)) {
            self.take_out(place);
            return Found::Expired;
        }
        entry.used = true;
        Found::Value(Arc::clone(&entry.value))
    }

    /// Keeps a value, and says how many others went for it; `None` when it is too large to stay.
    pub(crate) fn put(
        &mut self,
        hash: u64,
        key: CacheKey,
        value: Arc<V>,
        bytes: usize,
        now: Duration,
    ) -> Option<u64> {
        let bytes = bytes.saturating_add(key.bytes()).saturating_add(OVERHEAD);
        if bytes > self.limit {
            return None;
        }
        let mut gone = 0;
        if let Some(&place) = self.places.get(&hash) {
            let other = self.slots.get(place).and_then(Option::as_ref);
            gone += u64::from(other.is_some_and(|other| other.key != key));
            self.take_out(place);
        }
        while self.bytes + bytes > self.limit && self.turn_out_one() {
            gone += 1;
        }
        let entry = Entry {
            hash,
            key,
            value,
            bytes,
            since: now,
            used: false,
        };
        self.bytes += bytes;
        let place = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = Some(entry);
        }
        self.places.insert(hash, place);
        Some(gone)
    }

    /// Drops an entry, if it is there.
    pub(crate) fn remove(&mut self, hash: u64, key: &CacheKey) {
        if let Some(&place) = self.places.get(&hash) {
            let entry = self.slots.get(place).and_then(Option::as_ref);
            if entry.is_some_and(|entry| entry.key == *key) {
                self.take_out(place);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.free.clear();
        self.places.clear();
        self.hand = 0;
        self.bytes = 0;
    }

    pub(crate) fn flight(&self, key: &CacheKey) -> Option<Arc<Flight<V>>> {
        let found = self.flights.iter().find(|(of, _)| of == key);
        found.map(|(_, flight)| Arc::clone(flight))
    }

    pub(crate) fn take_off(&mut self, key: CacheKey) -> Arc<Flight<V>> {
        let flight = Arc::new(Flight::new());
        self.flights.push((key, Arc::clone(&flight)));
        flight
    }

    pub(crate) fn land(&mut self, flight: &Arc<Flight<V>>) {
        self.flights
            .retain(|(_, other)| !Arc::ptr_eq(other, flight));
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn turn_out_one(&mut self) -> bool {
        // Two rounds pass over every entry once and find one the second time at the latest.
        for _ in 0..self.slots.len() * 2 {
            let place = self.hand % self.slots.len();
            self.hand = place + 1;
            match self.slots.get_mut(place) {
                Some(Some(entry)) if entry.used => entry.used = false,
                Some(Some(_)) => {
                    self.take_out(place);
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    fn take_out(&mut self, place: usize) {
        if let Some(entry) = self.slots.get_mut(place).and_then(Option::take) {
            self.bytes -= entry.bytes;
            self.places.remove(&entry.hash);
            self.free.push(place);
        }
    }
}
