//! The model that writes answers, where one is named.

use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};
use cornu::chat::{Chat, OnFailure, Unsupported};
use cornu::remote::{Endpoint, OpenAiChatOptions, OpenAiChatProvider, Policy};
use cornu::{ChatProvider, Disclosure, Principal, Response};

use crate::args::{Send, parsers};
use crate::output::Terminal;

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// A server with /v1/chat/completions, such as http://localhost:8080: its model writes the
    /// answer from what was found, and each sentence is checked
    ///
    /// The question and the passages that the asker sees are sent to it. On another machine it has
    /// to be https.
    #[arg(long, value_name = "URL")]
    pub(crate) chat_endpoint: Option<String>,
    /// The model's name, as the server knows it
    #[arg(long, value_name = "NAME")]
    pub(crate) chat_model: Option<String>,
    /// The environment variable that holds the server's key [default: no key is sent]
    #[arg(long, value_name = "VAR")]
    pub(crate) chat_key_env: Option<String>,
    /// What a chat server on another machine may be sent of the documents [default: public]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) chat_send: Option<Send>,
    /// What becomes of sentences that their sources do not hold
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Doubtful::Drop)]
    pub(crate) chat_unsupported: Doubtful,
    /// When the server gives no answer, quote the sources in its place, and say so
    #[arg(long)]
    pub(crate) chat_fallback: bool,
    /// The longest reply, in tokens of the model
    #[arg(long, value_name = "N", default_value = "512", value_parser = parsers::count, allow_negative_numbers = true)]
    pub(crate) chat_max_tokens: NonZeroUsize,
    /// How much of what was found is sent, in words (Chinese: characters)
    #[arg(long, value_name = "N", default_value = "4000", value_parser = parsers::count, allow_negative_numbers = true)]
    pub(crate) chat_context: NonZeroUsize,
    /// How long to wait for the reply, in seconds, all attempts together
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = parsers::seconds, allow_negative_numbers = true)]
    pub(crate) chat_timeout: NonZeroU64,
}

/// What becomes of sentences that their sources do not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Doubtful {
    /// They are left out
    Drop,
    /// They are shown and marked, beside others that are held
    Flag,
}

impl ChatArgs {
    /// The model, if one is named.
    pub(crate) fn model(&self, principal: &Principal) -> Result<Option<Chat>> {
        let (url, model) = match (&self.chat_endpoint, &self.chat_model) {
            (None, None) => return Ok(None),
            (Some(url), Some(model)) => (url, model),
            (Some(_), None) => {
                bail!("--chat-endpoint says where and not which; add --chat-model NAME")
            }
            (None, Some(_)) => {
                bail!("--chat-model says which and not where; add --chat-endpoint URL")
            }
        };
        let mut endpoint = Endpoint::new(url)?;
        if let Some(variable) = &self.chat_key_env {
            endpoint = endpoint.with_key_from_env(variable)?;
        }
        let limit = Duration::from_secs(self.chat_timeout.get());
        let options = OpenAiChatOptions {
            policy: Policy {
                read: limit,
                total: limit,
                ..Policy::default()
            },
            ..OpenAiChatOptions::default()
        };
        let provider = OpenAiChatProvider::new(endpoint, model, options)?;
        let disclosure = self.chat_send.map_or_else(Disclosure::default, Into::into);
        // The library refuses too; this is said in the words of the flags.
        ensure!(
            !provider.leaves_machine() || disclosure.permits_asker(principal),
            "a written answer sends what the asker sees to {url}; ask as `--group public` alone, \
             or say `--chat-send everything`"
        );
        Ok(Some(Chat {
            unsupported: match self.chat_unsupported {
                Doubtful::Drop => Unsupported::Drop,
                Doubtful::Flag => Unsupported::Flag,
            },
            on_failure: match self.chat_fallback {
                true => OnFailure::Extract,
                false => OnFailure::Error,
            },
            context: self.chat_context.get(),
            max_tokens: self.chat_max_tokens.get(),
            disclosure,
            ..Chat::new(Arc::new(provider))
        }))
    }
}

/// What a reader should know of a reply beside the answer.
pub(crate) fn note(response: &Response, terminal: &Terminal) {
    let Some(chat) = &response.chat else {
        return;
    };
    // Not the sentences themselves: nobody vouches for them, and some are made to be believed.
    match chat.dropped.len() {
        0 => {}
        1 => terminal.note(
            "1 sentence of the model's reply was left out, for its sources do not hold it; --json \
             shows it",
        ),
        many => terminal.note(&format!(
            "{many} sentences of the model's reply were left out, for their sources do not hold \
             them; --json shows them"
        )),
    }
    if chat.cut {
        terminal.note("the model's reply was cut; --chat-max-tokens allows a longer one");
    }
    if chat.other_language {
        terminal.note("the model answers in another language than that of the question");
    }
}

/// The line in front of an answer that stands in for a model's. It is part of the answer: nobody
/// shall take the one for the other.
pub(crate) fn degraded(response: &Response) -> String {
    let why = response
        .chat
        .as_ref()
        .and_then(|chat| chat.degraded.as_ref());
    why.map_or_else(String::new, |why| {
        format!("The chat model gave no answer ({why}). Sentences of the sources in its place:\n\n")
    })
}
