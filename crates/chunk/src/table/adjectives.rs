//! What a superlative is about. "The cheapest model" is one by its price: asked for its power, the
//! least power would be another model's number.

/// How a word such as "heaviest" goes with a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suits {
    /// It is about what the column has: "cheapest" and a price.
    Own,
    /// It may be about any column: "highest".
    Any,
    /// It is about another kind of thing, unless it stands beside the column's name: "the heaviest
    /// rainfall".
    Beside,
    /// It is about something else.
    Not,
}

/// Parts of a column's name, and units.
type Kind = (&'static [&'static str], &'static [&'static str]);

/// Whole words only: 评价 is no price, and 增长 no length.
const PRICE: Kind = (
    &[
        "价格", "单价", "售价", "报价", "均价", "总价", "房价", "票价", "定价", "标价", "原价",
        "现价", "进价", "造价", "费用", "运费", "月费", "年费", "成本", "金额", "租金", "price",
        "cost", "fee", "fare", "rent", "msrp",
    ],
    &[
        "¥", "$", "€", "£", "元", "美元", "欧元", "usd", "eur", "cny", "rmb", "gbp", "yuan",
    ],
);
const WEIGHT: Kind = (
    &[
        "重量", "净重", "毛重", "体重", "自重", "载重", "质量", "weight", "mass",
    ],
    &[
        "kg", "g", "mg", "t", "吨", "千克", "公斤", "克", "斤", "lb", "lbs", "oz",
    ],
);
const TIME: Kind = (
    &[
        "时间", "耗时", "时长", "延迟", "历时", "工期", "time", "duration", "latency", "delay",
        "wait",
    ],
    &[
        "s", "ms", "us", "µs", "min", "h", "hr", "hour", "hours", "minutes", "seconds", "days",
        "weeks", "months", "years", "小时", "分钟", "分", "秒", "毫秒", "天", "日", "周", "个月",
        "年",
    ],
);
const LENGTH: Kind = (
    &["长度", "全长", "总长", "距离", "里程", "length", "distance"],
    &[
        "m", "km", "cm", "mm", "米", "公里", "千米", "厘米", "毫米", "ft", "mi", "miles",
    ],
);

/// How a (folded) word of comparison goes with a column of a (folded) name and a (folded) unit.
pub(super) fn suits(word: &str, name: &str, unit: &str) -> Suits {
    let is = |(names, units): Kind| {
        units.contains(&unit) || names.iter().any(|part| has_word(name, part))
    };
    let or = |own: bool, other: Suits| if own { Suits::Own } else { other };
    let about = |stems: &[&str]| stems.iter().any(|stem| word.contains(stem));
    if about(&["贵", "便宜", "cheap", "expensive"]) {
        return or(is(PRICE), Suits::Not);
    }
    if about(&["重", "轻", "heav", "light"]) {
        return or(is(WEIGHT), Suits::Beside);
    }
    if about(&["长", "短", "long", "short"]) {
        return match is(TIME) || is(LENGTH) {
            true => Suits::Own,
            // A queue of 12 may be long.
            false if unit.is_empty() && !is(PRICE) && !is(WEIGHT) => Suits::Any,
            false => Suits::Beside,
        };
    }
    if about(&["快", "慢"]) {
        // What takes least time is fastest.
        return match is(TIME) || is(LENGTH) || is(PRICE) || is(WEIGHT) {
            true => Suits::Not,
            false => Suits::Any,
        };
    }
    Suits::Any
}

/// Whether a word of comparison means a column of this (folded) name where a question names none: "the
/// cheapest", of a table with a price. One of two prices, or what a thing costs a year, it is not.
pub(super) fn means(word: &str, name: &str) -> bool {
    let of = |stems: &[&str], names: &[&str]| {
        stems.iter().any(|stem| word.contains(stem)) && names.contains(&name)
    };
    let prices = [
        "价格",
        "单价",
        "售价",
        "价钱",
        "price",
        "unit price",
        "list price",
    ];
    of(&["贵", "便宜", "cheap", "expensive"], &prices)
        || of(
            &["重", "轻", "heav", "light"],
            &["重量", "体重", "weight", "mass"],
        )
}

/// Whether a name has a part: anywhere in Chinese, as a whole word or its plural in English.
fn has_word(name: &str, part: &str) -> bool {
    match part.is_ascii() {
        false => name.contains(part),
        true => name
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| {
                word.strip_prefix(part)
                    .is_some_and(|rest| rest.is_empty() || rest == "s")
            }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_meant_where_it_is_the_column_of_that_name() {
        assert!(
            means("cheapest", "price") && means("哪个贵", "价格") && means("heavier", "weight")
        );
        assert!(!means("cheapest", "shipping price") && !means("cheapest", "weight"));
        assert!(!means("最高", "价格") && !means("longest", "length"));
    }

    #[test]
    fn a_superlative_goes_by_its_own_kind() {
        for (word, name, unit, expected) in [
            ("cheapest", "price", "", Suits::Own),
            ("cheapest", "hotel", "$", Suits::Own),
            ("cheapest", "power", "w", Suits::Not),
            ("cheapest", "priced items", "", Suits::Not),
            ("最便宜", "价格", "元", Suits::Own),
            ("最贵", "功耗", "w", Suits::Not),
            ("最重", "净重", "kg", Suits::Own),
            ("heaviest", "price", "$", Suits::Beside),
            ("longest", "wait", "", Suits::Own),
            ("longest", "queue", "", Suits::Any),
            ("longest", "power", "w", Suits::Beside),
            ("最快", "同比增长", "%", Suits::Any),
            ("最快", "耗时", "秒", Suits::Not),
            ("最高", "价格", "元", Suits::Any),
            ("最贵", "评价", "", Suits::Not),
            ("最长", "同比增长", "%", Suits::Beside),
        ] {
            assert_eq!(suits(word, name, unit), expected, "{word} {name}");
        }
    }
}
