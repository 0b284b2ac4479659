//! The suite for [`TokenCounter`].

use super::provider::{BLANK, PLAIN};
use super::report::{Checks, Report, Violation};
use super::rule::Rule;
use crate::provider::TokenCounter;
use crate::testing::strategies::{AWKWARD, markdown};

/// How much a counter is asked.
///
/// ```
/// assert_eq!(cornu_core::testing::conformance::CounterOptions::default().cases, 32);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterOptions {
    /// Random Markdown texts, of up to a few hundred characters. Default 32.
    pub cases: u32,
    /// Of the random texts. Default 0.
    pub seed: u64,
}

impl Default for CounterOptions {
    fn default() -> Self {
        Self { cases: 32, seed: 0 }
    }
}

/// Checks a token counter: nothing counts 0, a prefix counts at most `slack` more than the whole,
/// the same count at every call, and `fit` against the counts of all prefixes.
///
/// Where `slack` is 0, counts grow with the prefix, and `fit` has to find the longest that keeps
/// to the limit. Where it is not, `fit` has to find one that keeps to the limit and would not
/// with one more character. Cost: for each text, a count for every character.
///
/// ```
/// use cornu_core::testing::conformance::{CounterOptions, check_token_counter};
/// use cornu_core::{Fingerprint, TokenCounter};
///
/// struct Characters(Fingerprint);
/// impl TokenCounter for Characters {
///     fn fingerprint(&self) -> &Fingerprint { &self.0 }
///     fn count(&self, text: &str) -> usize { text.chars().count() }
/// }
/// check_token_counter(&Characters(Fingerprint::new("characters")), &CounterOptions::default())?;
/// # Ok::<(), cornu_core::testing::conformance::Violation>(())
/// ```
///
/// # Errors
/// The first [`Violation`].
pub fn check_token_counter(
    counter: &dyn TokenCounter,
    options: &CounterOptions,
) -> Result<Report, Violation> {
    let checks = Checks::default();
    let fingerprint = counter.fingerprint().clone();
    let empty = counter.count("");
    checks.check(
        Rule::EmptyCountsZero,
        empty == 0,
        || "\"\"".to_owned(),
        || format!("{empty} tokens"),
    )?;
    for text in [PLAIN, AWKWARD].concat() {
        let count = counter.count(text);
        checks.check(
            Rule::Answers,
            count > 0,
            || format!("{text:?}"),
            || "0 tokens".to_owned(),
        )?;
    }
    for text in [PLAIN, AWKWARD, BLANK].concat() {
        check_text(counter, &checks, text)?;
    }
    checks.random(options.cases, options.seed, &markdown(), |text| {
        check_text(counter, &checks, text)
    })?;
    checks.check(
        Rule::FingerprintStays,
        *counter.fingerprint() == fingerprint,
        || "after use".to_owned(),
        || fingerprint.differences(counter.fingerprint()).join("; "),
    )?;
    Ok(checks.report())
}

fn check_text(counter: &dyn TokenCounter, checks: &Checks, text: &str) -> Result<(), Violation> {
    let whole = counter.count(text);
    let again = counter.count(text);
    checks.check(
        Rule::Repeatable,
        whole == again,
        || format!("{text:?}"),
        || format!("{whole} tokens, then {again}"),
    )?;
    let mut counts: Vec<(usize, usize)> = Vec::new(); // end of a prefix, its tokens
    for end in (0..=text.len()).filter(|&end| text.is_char_boundary(end)) {
        let count = text.get(..end).map_or(0, |prefix| counter.count(prefix));
        counts.push((end, count));
    }
    let slack = counter.slack();
    // Each prefix against the shortest count among itself and the longer ones.
    let mut least = whole;
    for &(end, count) in counts.iter().rev() {
        least = least.min(count);
        checks.check(
            Rule::PrefixSlack,
            count <= least.saturating_add(slack),
            || format!("the first {end} bytes of {text:?}"),
            || format!("{count} tokens, {least} for a longer prefix, slack {slack}"),
        )?;
    }
    for limit in [
        0,
        1,
        2,
        3,
        7,
        whole.saturating_sub(1),
        whole,
        whole + 1,
        usize::MAX,
    ] {
        check_fit(counter, checks, text, limit, &counts)?;
    }
    Ok(())
}

fn check_fit(
    counter: &dyn TokenCounter,
    checks: &Checks,
    text: &str,
    limit: usize,
    counts: &[(usize, usize)],
) -> Result<(), Violation> {
    let input = || format!("limit {limit} on {text:?}");
    let end = counter.fit(text, limit);
    let at = counts.iter().position(|&(boundary, _)| boundary == end);
    let count = at.and_then(|at| counts.get(at)).map(|&(_, count)| count);
    checks.check(
        Rule::FitHolds,
        count.is_some_and(|count| count <= limit),
        input,
        || format!("fit gives {end}, a prefix of {count:?} tokens"),
    )?;
    let full = match counter.slack() {
        0 => {
            counts
                .iter()
                .rev()
                .find(|&&(_, count)| count <= limit)
                .map(|&(end, _)| end)
                == Some(end)
        }
        _ => at
            .and_then(|at| counts.get(at + 1))
            .is_none_or(|&(_, count)| count > limit),
    };
    checks.check(Rule::FitFull, full, input, || {
        format!("fit gives {end}, though a longer prefix keeps to the limit")
    })
}
