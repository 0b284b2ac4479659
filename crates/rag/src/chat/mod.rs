//! Answers that a model writes, and that nobody has to believe.
//!
//! Off by default. With a [`Chat`] in the [options](crate::RagOptions::chat), `answer` hands the
//! evidence to a model as numbered sources and checks each sentence of what comes back:
//!
//! 1. Whether there is an answer is decided before, from the evidence alone: a question that is
//!    refused never reaches the model.
//! 2. [`Prompt`]: the passages that the asker sees and that the threshold let through, as JSON, so
//!    that no passage can pass for another one or for the question.
//! 3. [`review`](review()): every sentence of the reply is a claim and has to be held by the sources
//!    that it cites. What is not is dropped, or flagged where [`Unsupported::Flag`] asks for it; a
//!    source that does not exist, a link, and the end of a reply that was cut are dropped always.
//! 4. Nothing left is a refusal. What was dropped stands in the [`ChatReport`] and in the trace.
//!
//! The checks read the reply and the sources and nothing else. Instructions that stand in a source
//! may change what the model writes; they do not change what passes.

mod prompt;
mod review;
mod written;

use std::fmt;
use std::sync::Arc;

use cornu_chunk::html::shown;
use cornu_core::{
    ByteSpan, ChatProvider, Chunk, DocumentFacts, Principal, ProviderError, TokenCounter, Trace,
};
use cornu_remote::Disclosure;
use cornu_store::Snapshot;
use cornu_text::WordCounter;

use crate::answer::{Outcome, Reason, Refusal};
use crate::error::RagError;
use crate::evidence::whole;
use crate::index::LiveRagIndex;

pub use prompt::{Language, Passage, Prompt};
pub use review::{Doubt, Judgement, review};
pub use written::{ChatReport, Cited, Dropped, Sentence, Written};

/// A model that writes answers, and how far it is trusted.
///
/// ```
/// use std::sync::Arc;
/// use cornu::chat::{Chat, OnFailure};
/// use cornu::remote::{Endpoint, OpenAiChatProvider};
/// use cornu::RagOptions;
///
/// let server = Endpoint::new("http://localhost:8080")?;
/// let model = OpenAiChatProvider::new(server, "qwen2.5-7b-instruct", Default::default())?;
/// let chat = Chat { on_failure: OnFailure::Extract, ..Chat::new(Arc::new(model)) };
/// let options = RagOptions { chat: Some(chat), ..RagOptions::default() };
/// assert!(options.chat.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Chat {
    /// The model.
    pub provider: Arc<dyn ChatProvider>,
    /// What becomes of sentences that their sources do not hold. Default: dropped.
    pub unsupported: Unsupported,
    /// What becomes of a question when the model gives no text. Default: an error.
    pub on_failure: OnFailure,
    /// How much of the evidence is sent, by [`counter`](Self::counter). Passages go whole, in order,
    /// each that still fits. Default 4,000.
    pub context: usize,
    /// The longest reply, in the model's tokens. Default 512.
    pub max_tokens: usize,
    /// What `context` counts. Default: words, and Chinese characters singly.
    pub counter: Arc<dyn TokenCounter>,
    /// What may be sent to a model on another machine: the texts of documents that everybody sees,
    /// or all. A model on this machine is given whatever the asker sees. Default:
    /// [`Disclosure::PublicOnly`]; then who sees more than what is public is not answered by it.
    pub disclosure: Disclosure,
}

/// What becomes of sentences that their sources do not hold.
///
/// ```
/// assert_eq!(cornu::chat::Unsupported::default(), cornu::chat::Unsupported::Drop);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unsupported {
    /// They are not part of the answer.
    #[default]
    Drop,
    /// They are part of it, each with its [`Doubt`], as long as another sentence is held. A sentence
    /// that cites what does not exist, has a link or was cut is dropped all the same.
    Flag,
}

/// What becomes of a question when the model gives no text.
///
/// ```
/// assert_eq!(cornu::chat::OnFailure::default(), cornu::chat::OnFailure::Error);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnFailure {
    /// [`RagError::Chat`].
    #[default]
    Error,
    /// The sentences of the evidence, as without a model; [`ChatReport::degraded`] says so.
    Extract,
}

impl Chat {
    /// Answers by this model, with the defaults.
    #[must_use]
    pub fn new(provider: Arc<dyn ChatProvider>) -> Self {
        Self {
            provider,
            unsupported: Unsupported::default(),
            on_failure: OnFailure::default(),
            context: 4000,
            max_tokens: 512,
            counter: Arc::new(WordCounter::new()),
            disclosure: Disclosure::default(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), RagError> {
        for (name, value) in [("context", self.context), ("max_tokens", self.max_tokens)] {
            if value == 0 {
                let problem = format!("`{name}` of the chat model is 0; give at least 1");
                return Err(RagError::Options { problem });
            }
        }
        Ok(())
    }

    /// A prompt holds what the asker sees, so who asks a model elsewhere that may be sent public
    /// texts only has to be one who sees public texts only.
    pub(crate) fn check_disclosure(&self, principal: &Principal) -> Result<(), RagError> {
        match !self.provider.leaves_machine() || self.disclosure.permits_asker(principal) {
            true => Ok(()),
            false => Err(RagError::ChatAskerNotPublic),
        }
    }
}

impl fmt::Debug for Chat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat")
            .field("provider", self.provider.fingerprint())
            .field("unsupported", &self.unsupported)
            .field("on_failure", &self.on_failure)
            .field("context", &self.context)
            .field("max_tokens", &self.max_tokens)
            .field("counter", self.counter.fingerprint())
            .field("disclosure", &self.disclosure)
            .finish()
    }
}

/// What came of asking the model.
pub(crate) enum Reply {
    /// A text, checked.
    Given(Outcome, ChatReport),
    /// None: the sentences of the evidence have to do.
    Missing(ChatReport),
}

impl LiveRagIndex {
    /// Asks the model about passages that the threshold let through.
    pub(crate) fn ask_chat(
        &self,
        chat: &Chat,
        snapshot: &Snapshot<'_>,
        chunks: &[&Chunk],
        question: &str,
        trace: &mut Trace,
    ) -> Result<Reply, RagError> {
        let mut report = ChatReport::of(chat.provider.fingerprint());
        let mut sources = Vec::new();
        for &chunk in chunks {
            // A passage without a word for a reader, such as a piece of a tag, is no source.
            if let Some(citation) = whole(chunk) {
                sources.push((passage(snapshot, chunk)?, citation));
            }
        }
        if sources.is_empty() {
            return Ok(Reply::Missing(report)); // which finds no sentence either, and refuses
        }
        let passages = sources.iter().map(|(passage, _)| passage.clone()).collect();
        let prompt = Prompt::new(question, passages, chat.context, &*chat.counter);
        trace
            .step("chat")
            .note("model", report.model.as_str())
            .note("instructions", u64::from(Prompt::VERSION))
            .note("passages", chunks.len())
            .note("sent", prompt.passages().len())
            .note("language", prompt.language().name())
            .note("context", chat.context)
            .note("max_tokens", chat.max_tokens);
        if prompt.passages().is_empty() {
            return Err(RagError::Options {
                problem: format!(
                    "no passage of the evidence fits the {} tokens of `context` for the chat \
                     model; raise it, or index smaller chunks",
                    chat.context
                ),
            });
        }
        let waiting = snapshot.waiting();
        let completion = chat.provider.complete(&prompt.as_chat(chat.max_tokens));
        drop(waiting);
        let completion = match completion {
            Ok(completion) => completion,
            Err(error) => return failed(chat, error, report, trace),
        };
        report.cut = completion.is_cut();
        let kept: Vec<_> = prompt
            .sent()
            .iter()
            .filter_map(|&at| sources.get(at))
            .collect();
        let texts: Vec<&Passage> = kept.iter().map(|(passage, _)| passage).collect();
        let citations = kept.iter().map(|(_, citation)| citation.clone()).collect();
        let outcome = match prompt::is_declined(&completion.text) {
            true => refusal(Reason::ModelDeclined),
            false => {
                let tokenizer = &self.options.tokenizer;
                let judged = review(tokenizer, &completion.text, completion.is_cut(), &texts);
                let written = Written::of(judged, citations, chat.unsupported, &mut report);
                report.other_language = written
                    .as_ref()
                    .is_some_and(|written| !prompt.language().is_of(&written.text()));
                match written {
                    Some(written) => Outcome::Written(written),
                    None => refusal(Reason::NothingHeld {
                        dropped: report.dropped.len(),
                    }),
                }
            }
        };
        report.note(trace);
        Ok(Reply::Given(outcome, report))
    }
}

fn refusal(reason: Reason) -> Outcome {
    Outcome::Refused(Refusal { reason })
}

fn failed(
    chat: &Chat,
    error: ProviderError,
    mut report: ChatReport,
    trace: &mut Trace,
) -> Result<Reply, RagError> {
    match chat.on_failure {
        OnFailure::Error => Err(RagError::Chat { source: error }),
        OnFailure::Extract => {
            report.degraded = Some(error.to_string());
            // Not the error's text: it tells how long was waited.
            trace.step("chat failed").note("degraded", true);
            Ok(Reply::Missing(report))
        }
    }
}

/// What the model is shown of a chunk: its titles, what belongs in front of it (the header of a
/// table), and what a reader would see of its text.
fn passage(snapshot: &Snapshot<'_>, chunk: &Chunk) -> Result<Passage, RagError> {
    let mut text = String::new();
    if !chunk.prefix.is_empty()
        && let Some(facts) = snapshot.facts(&chunk.doc)?
    {
        for &span in &chunk.prefix {
            text.push_str(&shown(chunk, piece(&facts, span)));
            text.push('\n');
        }
    }
    text.push_str(&shown(chunk, &chunk.text));
    Ok(Passage {
        titles: chunk.heading_path.clone(),
        text: text.trim().to_owned(),
    })
}

/// Bytes of a document, from the chunk that holds them.
fn piece(facts: &DocumentFacts, span: ByteSpan) -> &str {
    let holder = facts.chunks.iter().find(|chunk| chunk.span.contains(span));
    let within = holder.and_then(|chunk| {
        let start = span.start() - chunk.span.start();
        chunk.text.get(start..start + span.len())
    });
    within.unwrap_or_default().trim_end()
}
