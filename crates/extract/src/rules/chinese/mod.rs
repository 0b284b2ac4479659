//! Chinese.

mod names;
mod statements;
mod words;

use super::Collector;

/// Reads one sentence.
pub(super) fn read(sentence: &str, title: Option<&str>, out: &mut Collector) {
    let words = words::words(sentence);
    let names = names::names(sentence, &words);
    for name in &names {
        out.entity(&name.text);
    }
    statements::read(sentence, &names, title, out);
}
