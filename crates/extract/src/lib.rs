//! What a text says, as data: named things, statements between them, statements in words.
//!
//! | module | what it holds |
//! |---|---|
//! | [`rules`] | [`RuleExtractor`]: English and Chinese by rules, without a model |
//! | [`chat`] | [`ChatExtractor`]: a language model behind an OpenAI-compatible server |
//! | [`openie`] | [`read_openie`]: published OpenIE files, read strictly, with a [`ImportReport`] |
//! | [`key`] | [`entity_key`], [`paper_key`]: when two names are one |
//! | [`questions`](mod@questions) | [`questions()`]: what a passage answers and what it raises |
//! | [`quality`] | [`NameOverlap`]: precision and recall of names against a reference |
//!
//! Everything but the language model is deterministic and runs in time linear in the text.
//!
//! # Example
//!
//! ```
//! use cornu_core::Extractor;
//! use cornu_extract::RuleExtractor;
//!
//! let text = "Billy Elliot\nBilly Elliot is a 2000 drama film directed by Stephen Daldry. \
//!             It was scored by Stephen Warbeck.";
//! let found = &RuleExtractor::new().extract(&[text])?[0];
//!
//! assert!(found.entities.contains(&"Stephen Daldry".to_owned()));
//! let last = found.triples.last().ok_or("a triple")?;
//! // "It" is the passage's subject, which its title names.
//! assert_eq!((last.subject.as_str(), last.predicate.as_str()), ("Billy Elliot", "was scored by"));
//! assert_eq!(last.object, "Stephen Warbeck");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod chat;
pub mod key;
pub mod openie;
pub mod quality;
pub mod questions;
pub mod rules;

pub use chat::{ChatExtractor, ChatOptions, Usage};
pub use key::{KeyWord, entity_key, key_words, paper_key, push_key_word};
pub use openie::{ImportReport, ImportRules, ImportedPassage, OpenIeError, read_openie};
pub use quality::NameOverlap;
pub use questions::{Questions, questions};
pub use rules::{RuleExtractor, split_title};

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
