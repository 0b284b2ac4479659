//! html5gum's tokens, as much of them as the reader asks for.

use std::ops::Range;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{HtmlString, Spanned, StartTag, Token as Raw, Tokenizer};

/// A piece of the source.
#[derive(Debug)]
pub(super) enum Token {
    Start(Start, Range<usize>),
    End(String, Range<usize>),
    /// Text, character references not decoded.
    Text(Range<usize>),
    /// A comment that says something.
    Comment(Range<usize>),
}

/// A start tag.
#[derive(Debug, Default)]
pub(super) struct Start {
    pub(super) name: String,
    /// Hidden by an attribute.
    pub(super) hidden: bool,
    /// The language of code, by its class.
    pub(super) language: Option<String>,
    pub(super) self_closing: bool,
}

/// All tokens, in order; ranges increase and lie in the source, on character boundaries.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    let mut out = Vec::new();
    let mut at = 0;
    // The tokenizer of a string has no way to fail.
    for raw in Tokenizer::new_with_emitter(source, emitter).flatten() {
        let (span, token): (_, fn(Range<usize>) -> Token) = match &raw {
            Raw::String(text) => (text.span, Token::Text),
            Raw::Comment(comment) if comment.value.trim_ascii().is_empty() => continue,
            Raw::Comment(comment) => (comment.span, Token::Comment),
            Raw::StartTag(tag) => (tag.span, |_| Token::Text(0..0)),
            Raw::EndTag(tag) => (tag.span, |_| Token::Text(0..0)),
            Raw::Doctype(_) | Raw::Error(_) => continue,
        };
        let start = floor(source, span.start.max(at));
        let end = floor(source, span.end.max(start));
        let range = start..end;
        at = end;
        out.push(match raw {
            Raw::StartTag(tag) => Token::Start(start_tag(&tag), range),
            Raw::EndTag(tag) => Token::End(name(&tag.name), range),
            _ => token(range),
        });
    }
    out
}

/// A character reference at the start of `text` (which begins with `&`): its length, and what it
/// stands for. `None` where it is an ampersand and no more.
pub(super) fn reference(text: &str) -> Option<(usize, String)> {
    let body = text.get(1..)?;
    let named = |c: char| c.is_ascii_alphanumeric() || c == '#';
    let length = body.find(|c| !named(c)).unwrap_or(body.len()).min(LONGEST);
    let closed = usize::from(body.get(length..).is_some_and(|rest| rest.starts_with(';')));
    let written = text.get(..1 + length + closed)?;
    let mut decoded = String::new();
    for token in Tokenizer::new(written).flatten() {
        if let Raw::String(value) = token {
            decoded.push_str(&String::from_utf8_lossy(&value));
        }
    }
    if decoded == written {
        return None;
    }
    // What stands behind a reference that is not closed is text: "&#xfnl" is U+000F and "nl".
    let mut behind = decoded.chars();
    behind.next();
    let both = behind.rev().zip(written.chars().rev());
    let text: usize = both
        .take_while(|(one, other)| one == other)
        .map(|(c, _)| c.len_utf8())
        .sum();
    decoded.truncate(decoded.len() - text);
    Some((written.len() - text, decoded))
}

/// The longest name of a character reference has 31 letters.
const LONGEST: usize = 40;

fn start_tag(tag: &StartTag<usize>) -> Start {
    let value = |key: &str| -> Option<String> {
        let found: Option<&Spanned<HtmlString, usize>> = tag.attributes.get(key.as_bytes());
        found.map(|value| String::from_utf8_lossy(&value.value).to_ascii_lowercase())
    };
    let is = |key: &str, wanted: &str| value(key).is_some_and(|value| value.trim() == wanted);
    let undisplayed = |style: String| {
        let packed: String = style.split_whitespace().collect();
        packed.split(';').any(|rule| rule == "display:none")
    };
    let classes = value("class").unwrap_or_default();
    let language = classes.split_whitespace().find_map(|class| {
        let named = class.strip_prefix("language-");
        named.or_else(|| class.strip_prefix("lang-"))
    });
    Start {
        name: name(&tag.name),
        hidden: value("hidden").is_some()
            || is("aria-hidden", "true")
            || is("role", "navigation")
            || value("style").is_some_and(undisplayed),
        language: language.map(str::to_owned),
        self_closing: tag.self_closing,
    }
}

fn name(name: &HtmlString) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// The last character boundary at or before a byte.
fn floor(source: &str, at: usize) -> usize {
    let at = at.min(source.len());
    (0..=at)
        .rev()
        .find(|&at| source.is_char_boundary(at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_ends_where_text_begins() {
        let read = |text| reference(text).map(|(length, words)| (&text[..length], words));
        for (text, written, words) in [
            ("&eacute;t", "&eacute;", "\u{e9}"),
            ("&#xfnl", "&#xf", "\u{f}"),
            ("&#97a b", "&#97", "a"),
            ("&ampamp;", "&amp", "&"),
            ("&notit;", "&not", "\u{ac}"),
            ("&semi;;", "&semi;", ";"),
            ("&fjlig;j", "&fjlig;", "fj"),
        ] {
            assert_eq!(read(text), Some((written, words.to_owned())), "{text}");
        }
        assert_eq!(
            read("&nothing of the kind"),
            Some(("&not", "\u{ac}".to_owned()))
        );
        assert_eq!(read("& b"), None);
        assert_eq!(read("&xyz;"), None);
    }
}
