//! Text, in one place: sentences, words, sizes and normal forms of Chinese and English.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sentence`] | [`sentences`]: a lossless split; [`SentenceEnds`], [`ends_sentence`], [`cuts_word`]: whether a cut hurts |
//! | [`words`] | [`Tokenizer`]: words and identifiers for matching, with their places |
//! | [`counter`] | [`CharCounter`], [`WordCounter`]: sizes without a model |
//! | [`normalise`] | [`nfc`], [`search_fold`], [`fold_whitespace`] |
//! | [`chars`] | [`is_cjk`], [`is_han`], [`is_kana`], [`is_hangul`], [`is_invisible`] |
//!
//! Everything is deterministic, takes any string, and runs in time linear in it. Offsets are bytes
//! of the text as it was given.
//!
//! # Example
//!
//! ```
//! use cornu_core::TokenCounter;
//! use cornu_text::{Tokenizer, WordCounter, sentences};
//!
//! let text = "先调用 optimizer.zero_grad() 清空梯度。Then run loss.backward(). 完成！";
//!
//! let split: Vec<&str> = sentences(text).filter_map(|span| span.slice(text)).collect();
//! assert_eq!(split.len(), 3);
//! assert_eq!(split.concat(), text);
//!
//! // Documents and queries go through the same function.
//! let tokenizer = Tokenizer::new();
//! let document = tokenizer.tokens(text);
//! for wanted in tokenizer.query("zero_grad Grad 梯度") {
//!     assert!(document.iter().any(|token| token.text == wanted.text), "{wanted:?}");
//! }
//!
//! assert_eq!(WordCounter::new().count("清空梯度 gradient"), 5);
//! ```
//!
//! # Features
//!
//! - `jieba` (default): Chinese words from jieba's dictionary. Without it [`Han::Bigrams`] is the
//!   default, and the tokenizer's fingerprint says so.
//! - `traditional`: `TokenizerBuilder::fold_traditional`, so that traditional and simplified forms
//!   of a word match. Without it they do not; vectors have to bridge them.

pub mod chars;
pub mod counter;
pub mod normalise;
pub mod sentence;
pub mod words;

pub use chars::{is_cjk, is_han, is_hangul, is_invisible, is_kana};
pub use counter::{CharCounter, WordCounter};
pub use normalise::{FoldedText, fold_whitespace, nfc, search_fold};
pub use sentence::{SentenceEnds, Sentences, cuts_word, ends_sentence, is_sentence_end, sentences};
#[cfg(feature = "traditional")]
pub use words::TraditionalError;
pub use words::{Han, StopWords, Token, Tokenizer, TokenizerBuilder};
#[cfg(feature = "jieba")]
pub use words::{TaggedWord, tagged_words};

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
