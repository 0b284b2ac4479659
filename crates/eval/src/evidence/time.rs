//! Time stamps in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time now in UTC, to the second: `2026-01-31T23:59:59Z`.
///
/// ```
/// let now = cornu_eval::evidence::utc_now();
/// assert!(now.len() == 20 && now.ends_with('Z'));
/// ```
#[must_use]
pub fn utc_now() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs());
    format_utc(seconds)
}

fn format_utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The Gregorian date of a day counted from 1970-01-01.
fn civil(days: u64) -> (u64, u64, u64) {
    // Years that begin in March put the leap day last; day 0 here is 0000-03-01.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months from March alternate 31 and 30 days in blocks of 153 days for five months.
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Whether a text has the form of a time stamp, each part within its range.
pub(super) fn is_utc(text: &str) -> bool {
    let shape = text.len() == 20
        && text
            .bytes()
            .zip(b"0000-00-00T00:00:00Z")
            .all(|(byte, form)| {
                if *form == b'0' {
                    byte.is_ascii_digit()
                } else {
                    byte == *form
                }
            });
    let part = |range: std::ops::Range<usize>| -> u32 {
        text.get(range)
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(99)
    };
    shape
        && (1..=12).contains(&part(5..7))
        && (1..=31).contains(&part(8..10))
        && part(11..13) < 24
        && part(14..16) < 60
        && part(17..19) <= 60
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_gregorian() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(format_utc(seconds), text);
            assert!(is_utc(text));
        }
        assert!(!is_utc("2026-13-01T00:00:00Z") && !is_utc("2026-01-01 00:00:00Z"));
    }
}
