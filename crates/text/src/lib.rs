//! Text, in one place.
pub mod chars;
pub mod sentence;
pub use chars::{is_cjk, is_han, is_hangul, is_kana};
pub use sentence::{SentenceEnds, Sentences, cuts_word, ends_sentence, is_sentence_end, sentences};
