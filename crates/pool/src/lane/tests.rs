//! The steps of a lane one by one, at times of the test's choice.

use proptest::prelude::*;

use super::*;

const COURTESY: Duration = Duration::from_micros(200);

proptest! {
    /// The worst that can be: whoever waits wakes too late for every free place, since somebody
    /// who runs takes it the moment it is there.
    #[test]
    fn nobody_waits_longer_than_the_bound(
        places in 1usize..4,
        loans in prop::collection::vec(1u64..3000, 1..40),
        gaps in prop::collection::vec(0u64..2000, 1..20),
    ) {
        let manners = Manners { grace: Duration::ZERO, courtesy: COURTESY };
        let lane: Lane<()> = Lane::new(places, manners);
        let mut state = lane.state.lock();
        let began = Instant::now();
        let at = |micros: u64| began + Duration::from_micros(micros);
        let mut loans = loans.iter().copied().cycle();
        let longest_loan = std::cell::Cell::new(0);
        let mut loan = |now: u64| {
            let loan = loans.next().unwrap_or(1);
            longest_loan.set(longest_loan.get().max(loan));
            now + loan
        };
        // When each place comes back, and who waits: ticket, since when, the bound in turns.
        let mut back: Vec<u64> = Vec::new();
        for _ in 0..places {
            prop_assert!(state.take_free().is_some());
            back.push(loan(0));
        }
        let mut waiting: Vec<(u64, u64, u64)> = Vec::new();
        let mut arrivals = gaps.iter().scan(0, |now, gap| {
            *now += gap;
            Some(*now)
        }).peekable();
        while arrivals.peek().is_some() || !waiting.is_empty() {
            let next_back = back.iter().copied().min().unwrap_or(u64::MAX);
            if let Some(now) = arrivals.next_if(|&arrival| arrival <= next_back) {
                let (ticket, _) = state.queue(at(now));
                waiting.push((ticket, now, waiting.len() as u64 + 1));
                continue;
            }
            let now = next_back;
            let place = back.iter().position(|&one| one == now).unwrap_or(0);
            state.metrics.in_use -= 1;
            state.take_back(Some(()), COURTESY, || at(now));
            for (_, since, turns) in &waiting {
                let (waited, bound) = (now - since, turns * (COURTESY.as_micros() as u64 + longest_loan.get()));
                prop_assert!(waited <= bound, "{waited} µs of at most {bound}");
            }
            match state.given.pop() {
                Some((ticket, _)) => {
                    prop_assert_eq!(ticket, waiting.remove(0).0, "first come, first served");
                }
                None => {
                    prop_assert!(state.take_at_once(manners.grace, || at(now)).is_some());
                }
            }
            back[place] = loan(now);
        }
    }

    /// Where all who are called come in time, nobody is served before those who came earlier: whoever
    /// comes, gives back, gives up or wakes, in whatever order, and however many places there are.
    #[test]
    fn who_comes_in_time_is_passed_by_nobody(
        places in 1usize..4,
        steps in prop::collection::vec((0u8..10, any::<prop::sample::Index>()), 1..120),
    ) {
        let grace = Duration::from_micros(50);
        let lane: Lane<()> = Lane::new(places, Manners { grace, courtesy: Duration::MAX });
        let mut state = lane.state.lock();
        // Time stands still: no call is old.
        let now = Instant::now();
        let mut waiting: Vec<u64> = Vec::new();
        let mut out = 0;
        for (step, which) in steps {
            let chosen = (!waiting.is_empty()).then(|| which.index(waiting.len()));
            match (step, chosen) {
                (0..=3, _) => match state.take_at_once(grace, || now) {
                    // There is one for each who waits.
                    Some(_) => {
                        prop_assert!(waiting.len() <= state.free.len(), "before {:?}", waiting);
                        out += 1;
                    }
                    None => waiting.push(state.queue(now).0),
                },
                (4..=5, _) if out > 0 => {
                    out -= 1;
                    state.metrics.in_use -= 1;
                    state.take_back(Some(()), Duration::MAX, || now);
                }
                // One place more.
                (6, _) => state.take_back(None, Duration::MAX, || now),
                // Somebody wakes, whether they were called or not, or their time is over.
                (7.., Some(at)) => {
                    let free = state.free.len();
                    let outcome = state.outcome(waiting[at], step == 9, grace, now);
                    let served = matches!(outcome, Some(Ok(_)));
                    prop_assert_eq!(served, at < free, "{} of {} with {} free", at, waiting.len(), free);
                    prop_assert_eq!(outcome.is_some(), served || step == 9);
                    if outcome.is_some() {
                        waiting.remove(at);
                        out += usize::from(served);
                    }
                }
                _ => {}
            }
            // Who sleeps beside a free place has been woken.
            let free = state.free.len();
            prop_assert!(state.waiters.iter().take(free).all(|one| one.called.is_some()));
            prop_assert!(state.waiters.iter().map(|one| one.ticket).eq(waiting.iter().copied()));
        }
    }
}

/// Who is called and has no core loses the place after a while, and keeps the turn.
#[test]
fn a_place_waits_for_whom_was_called_and_not_for_ever() {
    let manners = Manners::default();
    let lane: Lane<u8> = Lane::new(1, manners);
    let mut state = lane.state.lock();
    let began = Instant::now();
    let later = |by: Duration| began + by;
    assert!(state.take_at_once(manners.grace, || began).is_some());
    let (first, _) = state.queue(began);
    let (second, _) = state.queue(began);
    state.metrics.in_use -= 1;
    state.take_back(Some(7), manners.courtesy, || began);
    // The place is theirs, for a while.
    let tick = Duration::from_nanos(1);
    let mut come = |at| state.take_at_once(manners.grace, || at);
    assert!(come(later(manners.grace - tick)).is_none());
    assert_eq!(come(later(manners.grace)), Some(Some(7)));
    // They come too late, go on waiting as the first, and are called again.
    let now = later(manners.grace * 2);
    assert!(state.outcome(first, false, manners.grace, now).is_none());
    state.metrics.in_use -= 1;
    state.take_back(Some(7), manners.courtesy, || now);
    assert!(state.take_at_once(manners.grace, || now).is_none());
    assert!(state.outcome(second, false, manners.grace, now).is_none());
    assert!(matches!(
        state.outcome(first, false, manners.grace, now),
        Some(Ok(Some(7)))
    ));
}

/// A place that was let lie is not forgotten when the one who was called for it gives up.
#[test]
fn who_leaves_passes_the_call_on() {
    let manners = Manners {
        grace: Duration::ZERO,
        courtesy: Duration::MAX,
    };
    let lane: Lane<()> = Lane::new(1, manners);
    let mut state = lane.state.lock();
    let now = Instant::now();
    let place = state.take_free().unwrap();
    let (first, _) = state.queue(now);
    let (second, _) = state.queue(now);
    state.metrics.in_use -= 1;
    state.take_back(place, manners.courtesy, || now);
    let called = |state: &State<()>| -> Vec<bool> {
        state
            .waiters
            .iter()
            .map(|one| one.called.is_some())
            .collect()
    };
    assert_eq!(called(&state), [true, false]);
    // Somebody was faster, gave it back, and the first's time is over.
    let place = state.take_at_once(manners.grace, || now).unwrap();
    assert!(state.outcome(first, false, manners.grace, now).is_none());
    assert_eq!(called(&state), [false, false]);
    state.metrics.in_use -= 1;
    state.take_back(place, manners.courtesy, || now);
    assert_eq!(called(&state), [true, false]);
    state.leave(first, now);
    assert_eq!(called(&state), [true]);
    assert!(matches!(
        state.outcome(second, true, manners.grace, now),
        Some(Ok(_))
    ));
}

/// Their time is over while a place is kept for another: as long as it is kept they get none, and
/// then they get it, as somebody would who came in that moment.
#[test]
fn who_has_no_time_left_gets_what_a_newcomer_would_get() {
    let manners = Manners::default();
    for waited in [manners.grace / 2, manners.grace] {
        let lane: Lane<u8> = Lane::new(1, manners);
        let mut state = lane.state.lock();
        let began = Instant::now();
        assert!(state.take_free().is_some());
        let (first, _) = state.queue(began);
        let (second, _) = state.queue(began);
        state.metrics.in_use -= 1;
        state.take_back(Some(7), manners.courtesy, || began);
        let now = began + waited;
        let outcome = state.outcome(second, true, manners.grace, now);
        let served = matches!(outcome, Some(Ok(Some(7))));
        assert_eq!(served, waited == manners.grace);
        assert_eq!(state.metrics.timeouts, u64::from(!served));
        assert_eq!(state.metrics.in_use, usize::from(served));
        assert!(state.waiters.iter().map(|one| one.ticket).eq([first]));
    }
}
