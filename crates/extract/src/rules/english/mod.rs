//! English.

mod lexicon;
mod phrases;
mod scan;
mod statements;

use super::Collector;

/// Reads one sentence.
pub(super) fn read(sentence: &str, title: Option<&str>, out: &mut Collector) {
    let tokens = scan::tokens(sentence);
    let names = phrases::names(sentence, &tokens);
    for name in &names {
        out.entity(&name.text);
    }
    statements::read(sentence, &tokens, &names, title, out);
}
