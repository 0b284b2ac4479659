//! Columns whose numbers are names: years, telephone numbers, identifiers. They have an order, and a
//! difference, but no sum and no mean.

use super::decimal::Decimal;
use super::quantity::Quantity;

/// Words behind which a column's numbers are names, whatever they are.
const NAMES: [&str; 10] = [
    "id",
    "ids",
    "code",
    "zip",
    "postcode",
    "phone",
    "telephone",
    "tel",
    "no",
    "isbn",
];
const NAMES_HAN: [&str; 12] = [
    "编号", "序号", "工号", "学号", "代号", "代码", "邮编", "电话", "手机", "号码", "单号", "账号",
];

/// Whether the numbers of a column, by its folded name, are names.
pub(super) fn are_names<'a>(name: &str, mut numbers: impl Iterator<Item = &'a Quantity>) -> bool {
    let last = |word: &str| {
        let before = name.trim_end_matches(['.', '#']).strip_suffix(word);
        before.is_some_and(|before| !before.ends_with(char::is_alphanumeric))
    };
    if NAMES.iter().any(|word| last(word)) || NAMES_HAN.iter().any(|word| name.ends_with(word)) {
        return true;
    }
    // "Days per year" are no years, and "2023" and 年产量 head what is counted.
    let from = ["year of", "year built", "year founded", "year born"];
    let years = ["year", "years"].iter().any(|word| last(word))
        || from.iter().any(|words| name.starts_with(words))
        || ["年", "年份", "年度"].iter().any(|end| name.ends_with(end));
    let other = name.contains(['每', '/']) || name.contains(|c: char| c.is_ascii_digit());
    let rate = other
        || name
            .split_whitespace()
            .any(|word| word == "per" || word == "a");
    let (first, last) = (Decimal::whole(1000), Decimal::whole(2999));
    let is_year = |quantity: &Quantity| {
        let number = quantity.number;
        let within = |from, to| Some(number.order(from)?.is_ge() && number.order(to)?.is_le());
        quantity.unit.is_empty() && number.is_whole() && within(first, last) == Some(true)
    };
    years && !rate && numbers.all(is_year)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn years(name: &str, numbers: &[&str]) -> bool {
        let quantities: Vec<Quantity> = numbers
            .iter()
            .map(|number| Quantity {
                number: Decimal::parse(number).unwrap_or(Decimal::ZERO),
                unit: String::new(),
                power: 0,
                written: String::new(),
            })
            .collect();
        are_names(name, quantities.iter())
    }

    #[test]
    fn years_go_by_name_and_number() {
        for name in [
            "year",
            "fiscal year",
            "year of birth",
            "年份",
            "成立年份",
            "出厂年",
        ] {
            assert!(years(name, &["1998", "2021"]), "{name}");
            assert!(!years(name, &["1998", "12"]), "{name}");
        }
        for name in [
            "days per year",
            "2023年",
            "年产量",
            "sales a year",
            "yearly sales",
        ] {
            assert!(!years(name, &["1998", "2021"]), "{name}");
        }
    }

    #[test]
    fn by_the_last_word_of_the_header() {
        for name in [
            "id",
            "order id",
            "zip code",
            "no.",
            "订单编号",
            "联系电话",
            "学号",
        ] {
            assert!(are_names(name, [].into_iter()), "{name}");
        }
        for name in [
            "paid",
            "valid",
            "bid",
            "number of calls",
            "端口",
            "电话费",
            "casino",
        ] {
            assert!(!are_names(name, [].into_iter()), "{name}");
        }
    }
}
