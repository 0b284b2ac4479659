//! Names: organisations by their endings, people, places, posts, titles in marks, dates, amounts.

use super::words::{Word, ends_clause};

/// A name with its bytes in the sentence.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it is a date or an amount.
    pub(super) is_number: bool,
}

/// Words that end the name of an organisation.
const ORGANISATIONS: [&str; 38] = [
    "公司",
    "有限公司",
    "股份有限公司",
    "集团",
    "银行",
    "大学",
    "学院",
    "医院",
    "研究院",
    "研究所",
    "基金",
    "基金会",
    "资本",
    "科技",
    "控股",
    "委员会",
    "政府",
    "法院",
    "检察院",
    "协会",
    "中心",
    "工厂",
    "学校",
    "中学",
    "小学",
    "事务所",
    "出版社",
    "证券",
    "保险",
    "信托",
    "投资",
    "实业",
    "物流",
    "电子",
    "药业",
    "酒店",
    "博物馆",
    "图书馆",
];

/// Endings of the name of a post.
const POSTS: [&str; 24] = [
    "董事长",
    "总裁",
    "总经理",
    "经理",
    "总监",
    "财务总监",
    "主任",
    "院长",
    "校长",
    "教授",
    "书记",
    "主席",
    "秘书长",
    "部长",
    "局长",
    "市长",
    "省长",
    "总统",
    "总理",
    "首席执行官",
    "创始人",
    "门卫",
    "会计师",
    "工程师",
];

/// Endings that make a place of the word before.
const PLACES: [&str; 9] = ["省", "市", "县", "区", "镇", "乡", "村", "路", "街道"];

/// Endings that are verbs, too: `Star 控股` is a name, and in `由 Star 基金控股` somebody holds.
const VERBS: [&str; 2] = ["控股", "投资"];

/// Words in front of such a verb that say how it is done.
const MANNERS: [&str; 9] = [
    "全资", "独资", "合资", "直接", "间接", "绝对", "相对", "共同", "实际",
];

/// Words in front of who does what a verb behind says.
const AGENTS: [&str; 2] = ["由", "被"];

/// Single characters that stand for parties and things in worked examples.
const STEMS: [&str; 10] = ["甲", "乙", "丙", "丁", "戊", "己", "庚", "辛", "壬", "癸"];

/// The names of a sentence in order, none overlapping another.
pub(super) fn names(sentence: &str, words: &[Word<'_>]) -> Vec<Name> {
    let mut out: Vec<Name> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let found = marked(words, at)
            .or_else(|| organisation(words, at).map(|to| (at, to, to, false)))
            .or_else(|| number(words, at).map(|to| (at, to, to, true)))
            .or_else(|| simple(words, at).map(|to| (at, to, to, false)));
        let Some((from, to, next, is_number)) = found else {
            at += 1;
            continue;
        };
        if let (Some(first), Some(last)) = (words.get(from), words.get(to.saturating_sub(1))) {
            let (start, end) = (first.span.start, last.span.end);
            let text = sentence.get(start..end).map_or("", str::trim);
            if text.chars().any(char::is_alphanumeric) {
                out.push(Name {
                    text: text.to_owned(),
                    start,
                    end,
                    is_number,
                });
            }
        }
        at = next.max(at + 1);
    }
    out
}

/// `《…》`, `“…”`, `「…」`, `『…』` around at most twelve words.
fn marked(words: &[Word<'_>], at: usize) -> Option<(usize, usize, usize, bool)> {
    let close = match words.get(at)?.text {
        "《" => "》",
        "“" => "”",
        "「" => "」",
        "『" => "』",
        _ => return None,
    };
    let inside = words.get(at + 1..)?.iter().take(13);
    let length = inside.take_while(|word| word.text != close).count();
    let end = at + 1 + length;
    let closed = words.get(end)?.text == close && (1..=12).contains(&length);
    closed.then_some((at + 1, end, end + 1, false))
}

/// Nouns, names and Latin words up to the last ending of an organisation: `甲公司`, `Alpha 资本`,
/// `腾讯科技（深圳）有限公司`. What is said of one is no part of its name: `星辰基金全资控股`.
fn organisation(words: &[Word<'_>], at: usize) -> Option<usize> {
    if says_how(words, at)
        || at
            .checked_sub(1)
            .is_some_and(|before| says_how(words, before))
    {
        return None;
    }
    // Behind the last ending, and the one before it.
    let (mut last, mut before) = (None, None);
    let mut next = at;
    while let Some(word) = words.get(next) {
        let follows = next > at;
        if last.is_some() && says_how(words, next) {
            break;
        }
        let ends = |ending: &&str| word.text.ends_with(*ending);
        if word.tag == "nt" || (follows && ORGANISATIONS.iter().any(ends)) {
            before = last.replace(next + 1);
        }
        let inside = can_name(word)
            || ORGANISATIONS.contains(&word.text)
            || (follows && word.text.trim().is_empty())
            || (follows && place_in_brackets(words, next));
        let limit = next - at >= 12;
        let is_post = POSTS.contains(&word.text);
        if !inside || limit || is_post {
            break;
        }
        next += if follows && place_in_brackets(words, next) {
            3
        } else {
            1
        };
    }
    match last {
        Some(end) if is_done(words, at, end) => before,
        _ => last,
    }
}

/// Whether a verb stands here with how it is done in front of it. Before another ending it is part
/// of a name: `直接投资基金`.
fn says_how(words: &[Word<'_>], at: usize) -> bool {
    let is =
        |at: usize, texts: &[&str]| words.get(at).is_some_and(|word| texts.contains(&word.text));
    is(at, &MANNERS) && is(at + 1, &VERBS) && !is(at + 2, &ORGANISATIONS)
}

/// Whether what a name seems to end in is what its bearer does: `由` directly before the name, and
/// behind it the end of the clause (no other verb follows that it could do) or, with `的`, whom it
/// does it with.
fn is_done(words: &[Word<'_>], at: usize, end: usize) -> bool {
    let verb = end.checked_sub(1).and_then(|last| words.get(last));
    if !verb.is_some_and(|word| VERBS.contains(&word.text)) {
        return false;
    }
    let before = words.get(..at).unwrap_or_default().iter().rev();
    let agent = before
        .map(|word| word.text)
        .find(|text| !text.trim().is_empty());
    let closed = match words.get(end).map(|word| word.text) {
        Some("的") => organisation(words, end + 1).is_some(),
        Some(next) => next.chars().all(ends_clause),
        None => true,
    };
    closed && agent.is_some_and(|word| AGENTS.contains(&word))
}

fn can_name(word: &Word<'_>) -> bool {
    let is_noun = word.tag.starts_with('n') || matches!(word.tag, "eng" | "j" | "vn" | "b" | "l");
    is_noun || STEMS.contains(&word.text)
}

fn place_in_brackets(words: &[Word<'_>], at: usize) -> bool {
    let is =
        |at: usize, texts: [&str; 2]| words.get(at).is_some_and(|word| texts.contains(&word.text));
    is(at, ["（", "("])
        && words.get(at + 1).is_some_and(|word| word.tag == "ns")
        && is(at + 2, ["）", ")"])
}

/// A date (`2009年3月`), or an amount with its unit (`2.14亿美元`, `15%`).
fn number(words: &[Word<'_>], at: usize) -> Option<usize> {
    let first = words.get(at)?;
    if !first.text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let units = [
        "年", "月", "日", "号", "%", "元", "美元", "亿元", "万元", "亿", "万", "人", "吨", "公里",
    ];
    let mut end = at + 1;
    while let Some(word) = words.get(end) {
        let digits = word.text.starts_with(|c: char| c.is_ascii_digit());
        let unit = units.contains(&word.text) || (word.tag == "m" && !digits);
        if !unit && !digits {
            break;
        }
        end += 1;
    }
    let has_unit = end > at + 1 || first.text.chars().any(|c| !c.is_ascii_digit() && c != '.');
    has_unit.then_some(end)
}

/// One word: a person, a place with its endings, a proper noun, a post, Latin letters, a stem.
fn simple(words: &[Word<'_>], at: usize) -> Option<usize> {
    let word = words.get(at)?;
    let characters = word.text.chars().count();
    // "张某": a person whose name is kept back.
    let kept_back = words
        .get(at + 1)
        .is_some_and(|next| ["某", "某某"].contains(&next.text));
    if characters == 1 && kept_back && word.text.chars().all(cornu_text::is_han) {
        return Some(at + 2);
    }
    match word.tag {
        "nr" | "nrt" | "nrfg" if characters >= 2 => Some(at + 1),
        "ns" => {
            let tail = words.get(at + 1..)?.iter();
            Some(at + 1 + tail.take_while(|word| PLACES.contains(&word.text)).count())
        }
        "nz" | "nt" => Some(at + 1),
        "eng" => {
            let tail = words.get(at + 1..).unwrap_or_default();
            let length = tail.chunks(2).take_while(|pair| {
                matches!(pair, [space, word] if space.text.trim().is_empty() && word.tag == "eng")
            });
            Some(at + 1 + 2 * length.count())
        }
        _ if POSTS.contains(&word.text) || STEMS.contains(&word.text) => Some(at + 1),
        _ => None,
    }
}
