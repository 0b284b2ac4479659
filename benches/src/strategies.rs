//! Chunking strategies by name, each as a user gets it, sizes in the embedder's own tokens.

use std::sync::Arc;

use anyhow::{Result, bail};
use cornu_chunk::{
    Chunker, FixedWindow, FixedWindowOptions, HeadingContext, ParentChild, ParentChildOptions,
    SentencePacked, SentencePackedOptions,
};
use cornu_core::TokenCounter;

/// Windows of 120 tokens that see no structure.
pub const FIXED: &str = "fixed";
/// Whole sentences of one section, the heading path before what is indexed.
pub const SENTENCE: &str = "sentence";
/// The same without the heading path.
pub const SENTENCE_BARE: &str = "sentence-bare";
/// Small children are indexed, their parents shown.
pub const PARENT_CHILD: &str = "parent-child";

/// The strategy of a name.
///
/// # Errors
/// A name that is none of the above.
pub fn strategy(name: &str, counter: &Arc<dyn TokenCounter>) -> Result<Arc<dyn Chunker>> {
    let counter = counter.clone();
    let sentence = SentencePackedOptions::default();
    Ok(match name {
        FIXED => Arc::new(FixedWindow::new(counter, FixedWindowOptions::default())),
        SENTENCE => Arc::new(SentencePacked::new(counter, sentence)),
        SENTENCE_BARE => {
            let heading_context = HeadingContext::None;
            let options = SentencePackedOptions {
                heading_context,
                ..sentence
            };
            Arc::new(SentencePacked::new(counter, options))
        }
        PARENT_CHILD => Arc::new(ParentChild::new(counter, ParentChildOptions::default())?),
        _ => bail!("there is no strategy {name:?}"),
    })
}
