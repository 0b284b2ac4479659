//! What a cell says as a number.

use super::decimal::Decimal;

/// A number with its unit, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Blank, a dash, "N/A", 无.
    Missing,
    /// One number.
    Number(Quantity),
    /// From one number to another.
    Range,
    /// Words that hold a number, such as "about 5" or "3 (2023)".
    Unclear,
    /// A number whose mark-up has a meaning that its characters lack: struck out, or with the raised
    /// digit of a note.
    Marked,
    /// Words.
    Text,
}

/// A number in its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) number: Decimal,
    /// Without its power of ten: 元 for 亿元.
    pub(super) unit: String,
    /// The power of ten that is written behind the digits, not in the column's name: 亿, K, million.
    pub(super) power: i32,
    /// What is written behind the digits: 亿元, K; empty for a bare number and behind ¥.
    pub(super) written: String,
}

/// What a column's name says of its numbers: the name without it, and the unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ColumnUnit {
    pub(super) name: String,
    /// As it stands there: 亿元.
    pub(super) shown: String,
    pub(super) power: i32,
    pub(super) unit: String,
    /// Whether words around the numbers speak of thousands or millions in a way that `power` does
    /// not tell: "Profit ($ million)", 单位：万元 above the table.
    pub(super) scaled: bool,
}

impl ColumnUnit {
    /// Reads "营收（亿元）", "Pressure (MPa)", "重量/kg", "重量 [kg]".
    pub(super) fn of(header: &str) -> Self {
        let text = narrow(header);
        let text = text.trim();
        let bracketed = [('(', ')'), ('[', ']')]
            .into_iter()
            .find_map(|(open, close)| {
                let inside = text.strip_suffix(close)?;
                inside.rsplit_once(open)
            });
        let split = bracketed.or_else(|| text.rsplit_once('/'));
        let found = split.and_then(|(name, unit)| {
            let unit = unit.trim();
            let name = name.trim();
            (is_unit(unit) && !name.is_empty()).then(|| {
                let (power, rest) = multiplier(unit);
                Self {
                    name: name.to_owned(),
                    shown: unit.to_owned(),
                    power,
                    unit: rest.to_owned(),
                    scaled: power == 0 && speaks_of_scale(unit),
                }
            })
        });
        found.unwrap_or_else(|| Self {
            name: text.to_owned(),
            scaled: speaks_of_scale(text),
            ..Self::default()
        })
    }
}

/// Whether words speak of thousands, millions, 万 or 亿.
pub(super) fn speaks_of_scale(text: &str) -> bool {
    const WORDS: [&str; 19] = [
        "万",
        "亿",
        "百万",
        "千元",
        "千人",
        "千美元",
        "thousand",
        "million",
        "billion",
        "trillion",
        " bn",
        " mn",
        "000s",
        "'000",
        "$m",
        "$k",
        "€m",
        "€k",
        "£m",
    ];
    let text = narrow(text).to_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

/// Reads a cell; a number without a unit of its own has the column's.
pub(super) fn read(cell: &str, column: &ColumnUnit) -> Value {
    let text = narrow(&grouped(cell));
    let text = text.trim();
    // Dashes of any number, also those of a delimiter row that came in again.
    let dashes = text.chars().all(|c| "-–—―:".contains(c));
    let blank = matches!(
        text.to_lowercase().as_str(),
        "/" | "n/a" | "na" | "none" | "null" | "无" | "暂无" | "未知" | "…" | "..."
    );
    if dashes || blank {
        return Value::Missing;
    }
    if !text.contains(|c: char| c.is_ascii_digit()) {
        // ½ and its kin are no digits that could be read.
        return match text.starts_with(char::is_numeric) {
            true => Value::Unclear,
            false => Value::Text,
        };
    }
    if range(text).is_some() {
        return Value::Range;
    }
    match number(text, column) {
        Some(quantity) => Value::Number(quantity),
        // A name such as P-101, unless a word of it is a number: about $200.
        None if text.starts_with(|c: char| c.is_ascii_alphabetic())
            && !text.split(' ').any(|word| number(word, column).is_some()) =>
        {
            Value::Text
        }
        None => Value::Unclear,
    }
}

/// The numbers that a range or "about 5" speaks of: what the cell may be worth. `None` where that
/// cannot be told.
pub(super) fn hinted(cell: &str, column: &ColumnUnit) -> Option<Vec<Quantity>> {
    let text = narrow(&grouped(cell));
    let text = text.trim();
    if let Some((low, high)) = range(text) {
        let unit = high.trim_start_matches(|c: char| c.is_ascii_digit() || ",. ".contains(c));
        let bare = low.ends_with(|c: char| c.is_ascii_digit());
        let low = if bare {
            format!("{low}{unit}")
        } else {
            low.to_owned()
        };
        return Some(vec![number(&low, column)?, number(high, column)?]);
    }
    let about = [
        "约", "大约", "about ", "around ", "approx. ", "ca. ", "~", "≈",
    ];
    let rest = about.iter().find_map(|word| text.strip_prefix(word))?;
    Some(vec![number(rest, column)?])
}

/// What a number may be worth that can be read in several ways: the comma of `10,7` parts tenths, or
/// was put wrong, and `1 200` is one number or two. `None` for all else.
pub(super) fn readings(cell: &str, column: &ColumnUnit) -> Option<Vec<Quantity>> {
    let text = narrow(&grouped(cell));
    let text = text.trim();
    let (sign, text) = match text.strip_prefix(['-', '−']) {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == ',' || c == ' '))
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(end)?;
    let spaced = digits.trim_end();
    let forms: Vec<String> = if let Some((whole, part)) = spaced.split_once(',') {
        let plain = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
        let both = !whole.is_empty() && !part.is_empty() && plain(whole) && plain(part);
        both.then(|| vec![format!("{whole}.{part}"), format!("{whole}{part}")])?
    } else {
        let groups: Vec<&str> = spaced.split(' ').collect();
        let (first, rest) = groups.split_first()?;
        let thousands = (1..=3).contains(&first.len())
            && !rest.is_empty()
            && rest.iter().all(|group| group.len() == 3);
        let whole = thousands.then(|| groups.concat())?;
        let each = groups.into_iter().map(str::to_owned);
        std::iter::once(whole).chain(each).collect()
    };
    forms
        .iter()
        .map(|form| number(&format!("{sign}{form}{unit}"), column))
        .collect()
}

/// Whether a cell is a number without a unit, so that its column's belongs to it.
pub(super) fn is_bare(cell: &str) -> bool {
    let marked = |c: char| c.is_alphabetic() || "%‰℃¥￥$€£".contains(c);
    let digits = cell.contains(char::is_numeric);
    let exponent = || {
        let end = cell.find(['e', 'E'])?;
        let (mantissa, rest) = cell.split_at_checked(end)?;
        let (_, rest) = exponent(mantissa.trim(), rest)?;
        Some(rest.is_empty() && !mantissa.contains(marked))
    };
    digits && (!cell.contains(marked) || exponent() == Some(true))
}

/// Whether a cell that is no number may stand for one: HK$500, ½, 十六, 两百万元, twenty, or for what no
/// number reaches: unlimited, 不限.
pub(super) fn looks_numeric(cell: &str) -> bool {
    const DIGITS: &str = "零〇一二三四五六七八九十百千两";
    const OPEN: [&str; 4] = ["不限", "无限", "无上限", "不设"];
    const WORDS: [&str; 36] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
        "thirty",
        "forty",
        "fifty",
        "sixty",
        "seventy",
        "eighty",
        "ninety",
        "hundred",
        "thousand",
        "million",
        "billion",
        "dozen",
        "half",
        "unlimited",
        "infinite",
    ];
    const MEASURES: &str = "个台元万亿多余人件套名家种米年天";
    let text = cell.trim().to_lowercase();
    // 一区 and 一般 are words.
    let behind = text.trim_start_matches(|c| DIGITS.contains(c));
    let chinese = match text.len() - behind.len() {
        0 => false,
        3 => behind.is_empty() || behind.starts_with(|c| MEASURES.contains(c)),
        _ => true,
    };
    let mut words = text.split(|c: char| !c.is_alphabetic());
    let first = words.next().unwrap_or_default();
    cell.contains(char::is_numeric)
        || chinese
        || text.starts_with('∞')
        || WORDS.contains(&first)
        || OPEN.iter().any(|open| text.starts_with(open))
        || text.starts_with("no limit")
}

/// One number with its unit and nothing else.
pub(super) fn number(text: &str, column: &ColumnUnit) -> Option<Quantity> {
    // (1,200) and (1,200)万元: brackets of a book-keeper.
    let opened = text
        .trim()
        .strip_prefix('(')
        .and_then(|t| t.split_once(')'));
    let unbracketed = opened.map(|(inside, after)| format!("{}{after}", inside.trim()));
    let mut negative = unbracketed.is_some();
    let mut text = unbracketed.as_deref().unwrap_or(text).trim();
    if let Some(rest) = text.strip_prefix(['-', '−']) {
        (negative, text) = (!negative, rest.trim_start());
    } else if let Some(rest) = text.strip_prefix('+') {
        text = rest.trim_start();
    }
    let sign = text.chars().next().filter(|c| "¥$€£".contains(*c));
    if let Some(sign) = sign {
        text = text.get(sign.len_utf8()..)?.trim_start();
    }
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == ',' || c == '.'))
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    let (shift, rest) = exponent(digits, rest).unwrap_or((0, rest));
    let rest = rest.trim();
    // `12.` as programs print it; before a unit a point may end a sentence.
    let whole = digits.strip_suffix('.').filter(|_| rest.is_empty());
    let plain = without_separators(whole.unwrap_or(digits))?;
    let (power, unit) = multiplier(rest);
    // "2 billion" beside bare numbers that are millions.
    if column.scaled && power != 0 {
        return None;
    }
    if !(rest.is_empty() || unit.is_empty() || is_unit(unit))
        || (sign.is_some() && !unit.is_empty())
    {
        return None;
    }
    let bare = rest.is_empty() && sign.is_none();
    let (power, unit) = match (bare, sign) {
        (true, _) => (column.power, column.unit.clone()),
        (_, Some(sign)) => (power, sign.to_string()),
        // 万 alone counts things of the column's unit.
        (_, None) if unit.is_empty() => (power, column.unit.clone()),
        _ => (power, unit.to_owned()),
    };
    let number = Decimal::parse(&plain)?.shifted(power + shift)?;
    Some(Quantity {
        number: if negative { number.negated() } else { number },
        unit,
        power: if bare { 0 } else { power },
        written: if sign.is_some() {
            String::new()
        } else {
            rest.to_owned()
        },
    })
}

/// The power of ten behind a mantissa, and what follows: `1.5e3`, `2e-4`. `E` may stand in a code
/// such as 7E5, unless the mantissa has a point or the exponent a sign.
fn exponent<'a>(mantissa: &str, rest: &'a str) -> Option<(i32, &'a str)> {
    let small = rest.starts_with('e');
    let rest = rest.strip_prefix(['e', 'E'])?;
    let signed = rest.starts_with(['-', '−', '+']);
    let negative = rest.starts_with(['-', '−']);
    let rest = rest
        .strip_prefix(['-', '−', '+'])
        .filter(|_| signed)
        .unwrap_or(rest);
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (digits, rest) = rest.split_at_checked(end)?;
    let sure = small || signed || mantissa.contains('.');
    if !sure || !(1..=2).contains(&digits.len()) || rest.starts_with(char::is_alphanumeric) {
        return None;
    }
    let power: i32 = digits.parse().ok()?;
    Some((if negative { -power } else { power }, rest))
}

/// A text whose narrow spaces between digits are the commas that they stand for: those that no
/// typist puts between two numbers.
fn grouped(text: &str) -> String {
    let narrow = |c: char| matches!(c, '\u{A0}' | '\u{2009}' | '\u{202F}');
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let behind = out.ends_with(|c: char| c.is_ascii_digit());
        let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
        let run = rest.bytes().take_while(u8::is_ascii_digit).count();
        out.push(if narrow(c) && behind && run == 3 {
            ','
        } else {
            c
        });
    }
    out
}

/// Full-width characters as their narrow twins, the yen's two signs as one, and none that nobody sees:
/// spreadsheets put marks of direction beside numbers.
pub(super) fn narrow(text: &str) -> String {
    let one = |c: char| match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).unwrap_or(c),
        '￥' => '¥',
        '\u{3000}' | '\u{A0}' | '\u{2009}' | '\u{202F}' => ' ',
        c => c,
    };
    let seen = text.chars().filter(|c| !cornu_text::is_invisible(*c));
    seen.map(one).collect()
}

/// The digits of `1,234,567.5`; `None` where commas stand elsewhere.
fn without_separators(digits: &str) -> Option<String> {
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if part.contains([',', '.']) || digits.ends_with('.') {
        return None;
    }
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let grouped = whole.contains(',');
    if first.is_empty() || (grouped && first.len() > 3) || groups.any(|group| group.len() != 3) {
        return None;
    }
    Some(digits.replace(',', ""))
}

/// The power of ten in front of a unit, and the unit.
fn multiplier(text: &str) -> (i32, &str) {
    const WORDS: [(&str, i32); 14] = [
        ("万亿", 12),
        ("千亿", 11),
        ("百亿", 10),
        ("十亿", 9),
        ("亿", 8),
        ("千万", 7),
        ("百万", 6),
        ("十万", 5),
        ("万", 4),
        ("thousand", 3),
        ("million", 6),
        ("billion", 9),
        ("trillion", 12),
        ("千", 3),
    ];
    // One letter by itself: 7B, 24M, 128k.
    match text {
        "k" | "K" => return (3, ""),
        "M" => return (6, ""),
        "B" => return (9, ""),
        "T" => return (12, ""),
        _ => {}
    }
    // 千克, 千米, 千瓦 are units of their own.
    let own = ["千克", "千米", "千瓦", "千卡", "千帕"];
    if own.iter().any(|unit| text.starts_with(unit)) {
        return (0, text);
    }
    WORDS
        .iter()
        .find_map(|(word, power)| Some((*power, text.strip_prefix(word)?.trim_start())))
        .unwrap_or((0, text))
}

/// Short, of letters and the marks of units: not the power of 10³, the ending of 4th or the month of
/// 12 June, which are no units that numbers could be added in.
fn is_unit(text: &str) -> bool {
    const ENDINGS: [&str; 4] = ["st", "nd", "rd", "th"];
    const MONTHS: [&str; 13] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "sept",
        "september",
        "october",
        "november",
        "december",
    ];
    let length = text.chars().count();
    let mark = |c: char| c.is_alphabetic() || "%‰°℃℉/·²³µΩ^".contains(c);
    let small = text.to_lowercase();
    let month = small.len() > 2 && MONTHS.iter().any(|month| month.starts_with(&small));
    (1..=12).contains(&length)
        && text.chars().all(|c| mark(c) || c == ' ')
        && !text.starts_with(['/', '^', '²', '³'])
        && !ENDINGS.contains(&small.as_str())
        && !month
}

/// Both ends of a range.
fn range(text: &str) -> Option<(&str, &str)> {
    let numeric = |part: &str, first: bool| {
        let digit = |c: char| c.is_ascii_digit();
        let edge = if first {
            part.ends_with(digit)
        } else {
            part.starts_with(digit)
        };
        edge || (first && part.starts_with(digit) && number(part, &ColumnUnit::default()).is_some())
    };
    let marks = ["~", "–", "—", "至", "到", " to ", "-"];
    marks.iter().find_map(|mark| {
        let (low, high) = text.split_once(mark)?;
        let (low, high) = (low.trim(), high.trim());
        // The sign of 2e-4 parts nothing.
        let mantissa = low.strip_suffix(['e', 'E']).unwrap_or_default();
        let power = exponent(mantissa, text.get(mantissa.len()..).unwrap_or_default());
        let signs = *mark == "-" && !mantissa.is_empty() && power.is_some();
        let both = !signs
            && !high.contains(mark)
            && low.starts_with(|c: char| c.is_ascii_digit())
            && numeric(low, true)
            && numeric(high, false);
        both.then_some((low, high))
    })
}

#[cfg(test)]
mod tests {
    use super::{ColumnUnit, Value, read};

    fn shown(cell: &str, header: &str) -> String {
        match read(cell, &ColumnUnit::of(header)) {
            Value::Number(quantity) => format!("{}|{}", quantity.number, quantity.unit),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn cells_are_read() {
        for (cell, header, expected) in [
            ("12", "值", "12|"),
            ("1,234,567.50", "值", "1234567.5|"),
            ("１２", "数量", "12|"),
            ("-3.5 MPa", "压力", "-3.5|MPa"),
            ("(1,200)", "利润（元）", "-1200|元"),
            ("3.2亿元", "营收", "320000000|元"),
            ("5 万", "人数（人）", "50000|人"),
            ("12.5%", "占比", "12.5|%"),
            ("12.5", "占比（%）", "12.5|%"),
            ("3.5", "营收（亿元）", "350000000|元"),
            ("(5,000)万元", "利润", "-50000000|元"),
            ("¥1,200", "价格", "1200|¥"),
            ("$3.5 million", "Price", "3500000|$"),
            ("7B", "参数量", "7000000000|"),
            ("128k", "上下文", "128000|"),
            ("5千克", "重量", "5|千克"),
            ("1.5e3", "值", "1500|"),
            ("1.5E3", "值", "1500|"),
            ("-2e-4 kg", "值", "-0.0002|kg"),
            ("1.5e3", "营收（亿元）", "150000000000|元"),
            ("7E5", "型号", "Unclear"),
            ("2e-4 to 3e-4", "值", "Range"),
            ("1.5e300", "值", "Unclear"),
            ("12.", "值", "12|"),
            ("\u{200e}1\u{200b}2\u{feff}", "值", "12|"),
            ("12. kg", "值", "Unclear"),
            ("1\u{202F}200", "值", "1200|"),
            ("1\u{A0}234\u{A0}567 t", "值", "1234567|t"),
            ("1 200", "值", "Unclear"),
            ("12\u{A0}34", "值", "Unclear"),
            ("300 PEN", "Hotel", "300|PEN"),
            ("10³", "值", "Unclear"),
            ("5 m³", "值", "5|m³"),
            ("4th", "值", "Unclear"),
            ("12 June", "值", "Unclear"),
            ("3 Sept", "值", "Unclear"),
            ("3 mar", "值", "Unclear"),
            ("3 marks", "值", "3|marks"),
            ("", "x", "Missing"),
            ("—", "x", "Missing"),
            (":---:", "x", "Missing"),
            ("N/A", "x", "Missing"),
            ("3-5 MPa", "压力", "Range"),
            ("3~5", "压力", "Range"),
            ("10 kg to 20 kg", "x", "Range"),
            ("约 5", "x", "Unclear"),
            (">5", "x", "Unclear"),
            ("1,23", "x", "Unclear"),
            ("2023-05-01", "x", "Unclear"),
            ("5 (2023)", "x", "Unclear"),
            ("about $200", "Price", "Unclear"),
            ("P-101", "型号", "Text"),
            ("铣床", "设备", "Text"),
        ] {
            assert_eq!(shown(cell, header), expected, "{cell:?} under {header:?}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is() {
        let column = ColumnUnit::of("Length (m)");
        for (cell, expected) in [
            ("10,7", "10.7 107"),
            ("-10,75 m", "-10.75 -1075"),
            ("1 200", "1200 1 200"),
            ("1 200 m", "1200 1 200"),
            ("12 34", ""),
            ("1,2,3", ""),
            ("about 5", ""),
            ("12 (2023)", ""),
        ] {
            let found = super::readings(cell, &column).unwrap_or_default();
            let found: Vec<String> = found.iter().map(|one| one.number.to_string()).collect();
            assert_eq!(found.join(" "), expected, "{cell:?}");
        }
        for (cell, bare) in [
            ("1.5e3", true),
            ("12", true),
            ("12 kg", false),
            ("7E5", false),
        ] {
            assert_eq!(super::is_bare(cell), bare, "{cell}");
        }
    }

    #[test]
    fn units_of_columns_are_read() {
        for (header, name, unit) in [
            ("营收（亿元）", "营收", "亿元"),
            ("Pressure (MPa)", "Pressure", "MPa"),
            ("重量/kg", "重量", "kg"),
            ("价格", "价格", ""),
            ("Q1 (2023)", "Q1 (2023)", ""),
        ] {
            let column = ColumnUnit::of(header);
            assert_eq!((column.name.as_str(), column.shown.as_str()), (name, unit));
        }
    }
}
