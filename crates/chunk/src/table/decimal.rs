//! Exact decimal numbers, so that 0.1 + 0.2 is 0.3.

use std::cmp::Ordering;
use std::fmt;

/// `digits · 10^−scale`, without trailing zeros behind the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: i128,
    scale: u32,
}

impl Decimal {
    pub(super) const ZERO: Self = Self {
        digits: 0,
        scale: 0,
    };

    pub(super) fn whole(number: usize) -> Self {
        Self {
            digits: number as i128,
            scale: 0,
        }
    }

    /// Digits with at most one point; at most 24 digits.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let all = [whole, part].concat();
        let digits = !all.is_empty() && all.len() <= 24 && all.bytes().all(|b| b.is_ascii_digit());
        let number = digits.then(|| all.parse().ok())??;
        Some(Self::of(number, part.len() as u32))
    }

    fn of(mut digits: i128, mut scale: u32) -> Self {
        while scale > 0 && digits % 10 == 0 {
            (digits, scale) = (digits / 10, scale - 1);
        }
        Self { digits, scale }
    }

    /// Whether nothing but zeros stands behind the point.
    pub(super) fn is_whole(self) -> bool {
        10_i128
            .checked_pow(self.scale)
            .is_some_and(|one| self.digits % one == 0)
    }

    pub(super) fn negated(self) -> Self {
        Self {
            digits: -self.digits,
            ..self
        }
    }

    /// Times 10 to this power.
    pub(super) fn shifted(self, power: i32) -> Option<Self> {
        let scale = i64::from(self.scale) - i64::from(power);
        if scale >= 0 {
            return Some(Self::of(self.digits, u32::try_from(scale).ok()?));
        }
        let factor = 10_i128.checked_pow(u32::try_from(-scale).ok()?)?;
        Some(Self::of(self.digits.checked_mul(factor)?, 0))
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let (a, b, scale) = self.aligned(other)?;
        Some(Self::of(a.checked_add(b)?, scale))
    }

    /// The quotient to ten places behind the point, rounded half away from zero.
    pub(super) fn over(self, count: usize) -> Option<Self> {
        let count = i128::try_from(count).ok().filter(|count| *count > 0)?;
        let scaled = self.digits.checked_mul(10_i128.pow(10))?;
        let half = if scaled < 0 { -count / 2 } else { count / 2 };
        Some(Self::of(scaled.checked_add(half)? / count, self.scale + 10))
    }

    pub(super) fn order(self, other: Self) -> Option<Ordering> {
        let (a, b, _) = self.aligned(other)?;
        Some(a.cmp(&b))
    }

    fn aligned(self, other: Self) -> Option<(i128, i128, u32)> {
        let scale = self.scale.max(other.scale);
        let raised = |number: Self| {
            let factor = 10_i128.checked_pow(scale - number.scale)?;
            number.digits.checked_mul(factor)
        };
        Some((raised(self)?, raised(other)?, scale))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits.unsigned_abs().to_string();
        let scale = self.scale as usize;
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, part) = digits.split_at(digits.len() - scale);
        let sign = if self.digits < 0 { "-" } else { "" };
        let point = if part.is_empty() { "" } else { "." };
        write!(f, "{sign}{whole}{point}{part}")
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn sums_are_exact() {
        let of = |text: &str| Decimal::parse(text).unwrap_or(Decimal::ZERO);
        let sum = of("0.1").plus(of("0.2"));
        assert_eq!(sum.map(|sum| sum.to_string()).as_deref(), Some("0.3"));
        assert_eq!(of("1.50").to_string(), "1.5");
        assert_eq!(
            of("12").shifted(-4).map(|d| d.to_string()).as_deref(),
            Some("0.0012")
        );
        assert_eq!(
            of("1.2").shifted(8).map(|d| d.to_string()).as_deref(),
            Some("120000000")
        );
        assert_eq!(
            of("10").over(3).map(|d| d.to_string()).as_deref(),
            Some("3.3333333333")
        );
        assert_eq!(
            of("2").negated().over(3).map(|d| d.to_string()).as_deref(),
            Some("-0.6666666667")
        );
        assert_eq!(Decimal::parse("1.2.3"), None);
        assert_eq!(Decimal::parse(&"9".repeat(40)), None);
    }
}
