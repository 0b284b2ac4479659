//! A model that writes.

use crate::fingerprint::Fingerprint;
use crate::provider::ProviderError;

/// A prompt to a text.
///
/// What comes back is a text that somebody else wrote: it may say anything, whatever the prompt
/// asked for. Whoever shows it to a reader checks it first.
///
/// ```
/// use cornu_core::{ChatCompletion, ChatEnd, ChatPrompt, ChatProvider, Fingerprint, ProviderError};
///
/// /// Says what it was told.
/// struct Echo(Fingerprint);
///
/// impl ChatProvider for Echo {
///     fn fingerprint(&self) -> &Fingerprint { &self.0 }
///     fn leaves_machine(&self) -> bool { false }
///     fn complete(&self, prompt: &ChatPrompt<'_>) -> Result<ChatCompletion, ProviderError> {
///         Ok(ChatCompletion { text: prompt.user.to_owned(), end: ChatEnd::Whole })
///     }
/// }
///
/// let model: Box<dyn ChatProvider> = Box::new(Echo(Fingerprint::new("echo")));
/// let prompt = ChatPrompt { system: "Repeat.", user: "清空梯度", max_tokens: 16 };
/// assert_eq!(model.complete(&prompt)?.text, "清空梯度");
/// # Ok::<(), ProviderError>(())
/// ```
pub trait ChatProvider: Send + Sync {
    /// Everything the text depends on, but the prompt. A model that samples may give another text
    /// each time, under one fingerprint.
    fn fingerprint(&self) -> &Fingerprint;

    /// Whether the prompt goes to another machine. There is no default: who answers `false` says
    /// that texts of documents that are not public may be handed over.
    fn leaves_machine(&self) -> bool;

    /// What the model writes. An empty text is one.
    ///
    /// # Errors
    /// [`ProviderError`], when there is no text: the model cannot be reached, fails, or does not
    /// answer in time. Never waits for ever.
    fn complete(&self, prompt: &ChatPrompt<'_>) -> Result<ChatCompletion, ProviderError>;
}

/// What a [`ChatProvider`] is given.
///
/// ```
/// let prompt = cornu_core::ChatPrompt { system: "Be brief.", user: "What is 2 + 2?", max_tokens: 8 };
/// assert_eq!(prompt.max_tokens, 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatPrompt<'a> {
    /// The instructions.
    pub system: &'a str,
    /// What they are applied to.
    pub user: &'a str,
    /// The longest text, in the model's own tokens.
    pub max_tokens: usize,
}

/// What a model wrote.
///
/// ```
/// use cornu_core::{ChatCompletion, ChatEnd};
/// let completion = ChatCompletion { text: "Four, and".to_owned(), end: ChatEnd::Length };
/// assert!(completion.is_cut());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatCompletion {
    /// The text, as it came.
    pub text: String,
    /// Why it ended.
    pub end: ChatEnd,
}

/// Why a text ended.
///
/// ```
/// assert_ne!(cornu_core::ChatEnd::Whole, cornu_core::ChatEnd::Length);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatEnd {
    /// The model had said what it wanted to say.
    Whole,
    /// It had written [`ChatPrompt::max_tokens`].
    Length,
    /// It was stopped, for a reason of its own: a filter, say.
    Stopped {
        /// The reason, in its words.
        reason: String,
    },
}

impl ChatCompletion {
    /// Whether the text may end in the midst of a sentence.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.end != ChatEnd::Whole
    }
}
