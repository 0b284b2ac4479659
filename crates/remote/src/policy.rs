//! How long to wait, how often to try again, how much to accept.

use std::time::{Duration, SystemTime};

/// Limits of a call. Every field has a default; all of them are bounds on what a server can cost.
///
/// **Tried again** are the statuses 408, 429, 500, 502, 503 and 504, and broken connections: one
/// that could not be made, or that ended before the reply was whole. Not tried again are all other
/// statuses, and a server that went silent after the request was sent: it may still be at work,
/// and a second request would only add to that.
///
/// **Waits** double from [`backoff`](Self::backoff) to [`backoff_cap`](Self::backoff_cap) and are
/// shortened by up to half, by an amount that depends on [`seed`](Self::seed), the attempt and the
/// request, and on nothing else. A `Retry-After` that is longer than this wait replaces it. One
/// that is longer than [`retry_after_cap`](Self::retry_after_cap), or than what is left of
/// [`total`](Self::total), ends the call at once: coming back early is what the server asked us
/// not to do.
///
/// ```
/// use std::time::Duration;
/// use cornu_remote::Policy;
///
/// let patient = Policy { retries: 8, total: Duration::from_secs(900), ..Policy::default() };
/// assert!(patient.wait(3, 0) <= Duration::from_secs(2));
/// assert_eq!(patient.wait(3, 0), patient.wait(3, 0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Looking up the name, connecting and the TLS handshake, each attempt. 10 s.
    pub connect: Duration,
    /// The longest silence of the server while a reply is awaited or read. 60 s.
    pub read: Duration,
    /// The whole call with all attempts and waits. 300 s.
    pub total: Duration,
    /// Attempts after the first. 4.
    pub retries: u32,
    /// The wait before the first retry, before it is shortened. 0.5 s.
    pub backoff: Duration,
    /// The longest wait that doubling leads to. 20 s.
    pub backoff_cap: Duration,
    /// The longest `Retry-After` that is waited for. 60 s.
    pub retry_after_cap: Duration,
    /// The largest reply, in bytes. 64 MiB: about 2,000 vectors of 3,072 dimensions.
    pub max_reply_bytes: usize,
    /// Seed of the shortening. Give different machines different seeds. 0.
    pub seed: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            read: Duration::from_secs(60),
            total: Duration::from_secs(300),
            retries: 4,
            backoff: Duration::from_millis(500),
            backoff_cap: Duration::from_secs(20),
            retry_after_cap: Duration::from_secs(60),
            max_reply_bytes: 64 << 20,
            seed: 0,
        }
    }
}

impl Policy {
    /// One attempt, no waits.
    #[must_use]
    pub fn once() -> Self {
        Self {
            retries: 0,
            ..Self::default()
        }
    }

    /// Whether a reply with this status is worth another attempt.
    ///
    /// ```
    /// use cornu_remote::Policy;
    /// assert!(Policy::retries_status(429) && Policy::retries_status(503));
    /// assert!(!Policy::retries_status(401) && !Policy::retries_status(501));
    /// ```
    #[must_use]
    pub fn retries_status(status: u16) -> bool {
        matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
    }

    /// The wait after attempt number `attempt` (from 1) of the request with the hash `request`:
    /// between half of and the whole of min(`backoff` · 2^(attempt−1), `backoff_cap`).
    #[must_use]
    pub fn wait(&self, attempt: u32, request: u64) -> Duration {
        let doubled = 1_u32
            .checked_shl(attempt.saturating_sub(1))
            .and_then(|factor| self.backoff.checked_mul(factor))
            .unwrap_or(self.backoff_cap)
            .min(self.backoff_cap);
        let random = mix(self.seed ^ mix(request ^ u64::from(attempt)));
        let unit = (random >> 11) as f64 / (1_u64 << 53) as f64; // [0, 1)
        doubled.mul_f64(1.0 - unit / 2.0)
    }

    /// The wait after an attempt, given what the server asked for; `None` when it asked for more
    /// than the cap.
    pub(crate) fn wait_for(
        &self,
        attempt: u32,
        request: u64,
        asked: Option<Duration>,
    ) -> Option<Duration> {
        let own = self.wait(attempt, request);
        match asked {
            Some(asked) if asked > self.retry_after_cap => None,
            Some(asked) => Some(own.max(asked)),
            None => Some(own),
        }
    }
}

/// `Retry-After` in either of its forms (RFC 9110, 10.2.3): seconds, or a date.
pub(crate) fn parse_retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

/// FNV-1a over the request's bytes: requests that fail together come back apart.
pub(crate) fn request_hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The output function of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_to_the_cap_and_are_shortened_by_at_most_half() {
        let policy = Policy::default();
        for attempt in 1..100 {
            let full = Duration::from_millis(500)
                .saturating_mul(1_u32.checked_shl(attempt - 1).unwrap_or(u32::MAX))
                .min(policy.backoff_cap);
            for request in 0..50 {
                let wait = policy.wait(attempt, request);
                assert!(
                    wait <= full && wait >= full / 2,
                    "{attempt}: {wait:?} of {full:?}"
                );
            }
        }
    }

    #[test]
    fn waits_depend_on_seed_request_and_attempt() {
        let policy = Policy::default();
        let other = Policy {
            seed: 1,
            ..Policy::default()
        };
        assert_eq!(policy.wait(1, 7), policy.wait(1, 7));
        assert_ne!(policy.wait(1, 7), policy.wait(1, 8));
        assert_ne!(policy.wait(1, 7), other.wait(1, 7));
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let read = |value| parse_retry_after(value, now);
        assert_eq!(read(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(
            read("Sun, 06 Nov 1994 08:50:07 GMT"),
            Some(Duration::from_secs(30))
        );
        assert_eq!(read("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(read("soon"), None);
        assert_eq!(read("-3"), None);
    }

    #[test]
    fn a_long_retry_after_ends_the_call_and_a_short_one_is_waited_for() {
        let policy = Policy::default();
        let asked = |seconds| policy.wait_for(1, 0, Some(Duration::from_secs(seconds)));
        assert_eq!(asked(60), Some(Duration::from_secs(60)));
        assert_eq!(asked(61), None);
        assert_eq!(asked(0), Some(policy.wait(1, 0)));
    }
}
