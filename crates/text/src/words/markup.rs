//! HTML in running text: tags and character references are places between words.

use cornu_core::ByteSpan;

/// How far, in bytes, a tag reaches at most.
const TAG_REACH: usize = 512;

/// Elements whose tags are taken for markup; `<T>` in `Vec<T>` is none.
const ELEMENTS: [&str; 66] = [
    "a",
    "abbr",
    "article",
    "aside",
    "b",
    "blockquote",
    "body",
    "br",
    "button",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "html",
    "i",
    "img",
    "input",
    "ins",
    "kbd",
    "li",
    "main",
    "mark",
    "nav",
    "ol",
    "p",
    "picture",
    "pre",
    "q",
    "s",
    "section",
    "small",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
];

const ENTITIES: [&str; 24] = [
    "amp", "lt", "gt", "quot", "apos", "nbsp", "ensp", "emsp", "thinsp", "hellip", "mdash",
    "ndash", "middot", "times", "copy", "reg", "deg", "ldquo", "rdquo", "lsquo", "rsquo", "bull",
    "laquo", "raquo",
];

/// The parts of a text between tags and character references, in order. O(bytes): a `<` or `&`
/// is followed for a bounded distance.
pub(super) fn plain_parts(text: &str) -> impl Iterator<Item = ByteSpan> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= text.len() {
            return None;
        }
        let start = at;
        let bytes = text.as_bytes();
        let mut look = at;
        while let Some(offset) = bytes
            .get(look..)?
            .iter()
            .position(|byte| matches!(byte, b'<' | b'&'))
        {
            let found = look + offset;
            if let Some(end) = markup_end(bytes, found) {
                at = end;
                return Some(ByteSpan::from_range(start..found));
            }
            look = found + 1;
        }
        at = text.len();
        Some(ByteSpan::from_range(start..text.len()))
    })
}

/// The end of the tag or character reference that starts at `at`.
fn markup_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at + 1..)?;
    let length = if bytes.get(at) == Some(&b'<') {
        tag(rest)
    } else {
        reference(rest)
    };
    length.map(|length| at + 1 + length)
}

fn tag(rest: &[u8]) -> Option<usize> {
    if rest.starts_with(b"!--") {
        return Some(3);
    }
    let slash = usize::from(rest.first() == Some(&b'/'));
    let body = rest.get(slash..)?;
    let name = body.iter().position(|b| !b.is_ascii_alphanumeric())?;
    let known = body
        .get(..name)
        .and_then(|name| std::str::from_utf8(name).ok())
        .is_some_and(|name| ELEMENTS.iter().any(|e| e.eq_ignore_ascii_case(name)));
    if !known {
        return None;
    }
    let after = body.get(name..)?;
    let close = after
        .iter()
        .take(TAG_REACH)
        .position(|b| matches!(b, b'>' | b'<'))?;
    let inside = after.get(..close)?;
    // Between name and `>`: nothing, a slash, or attributes with values. `a <b and c> d` is text.
    let attributes = inside.first().is_some_and(u8::is_ascii_whitespace) && inside.contains(&b'=');
    let plain = inside.iter().all(|b| b.is_ascii_whitespace() || *b == b'/');
    (after.get(close) == Some(&b'>') && (plain || attributes)).then_some(slash + name + close + 1)
}

fn reference(rest: &[u8]) -> Option<usize> {
    let end = rest.iter().take(10).position(|&byte| byte == b';')?;
    let name = rest.get(..end)?;
    let known = match name {
        [b'#', b'x' | b'X', digits @ ..] => {
            !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit)
        }
        [b'#', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => ENTITIES.iter().any(|entity| entity.as_bytes() == name),
    };
    known.then_some(end + 1)
}
