//! A chat server as a model that writes.

use std::fmt;

use cornu_core::{ChatCompletion, ChatEnd, ChatPrompt, ChatProvider, Fingerprint, ProviderError};

use crate::client::Client;
use crate::endpoint::Endpoint;
use crate::openai::{ChatRequest, Message, Role};
use crate::policy::Policy;

/// What an [`OpenAiChatProvider`] can be told; all of it has a default.
///
/// ```
/// use cornu_remote::OpenAiChatOptions;
/// let options = OpenAiChatOptions::default();
/// assert_eq!((options.temperature, options.seed), (Some(0.0), Some(0)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OpenAiChatOptions {
    /// 0 for the likeliest text. `None` leaves it to the server: some models refuse the parameter.
    /// Default 0.
    pub temperature: Option<f32>,
    /// For servers that sample repeatably. Default 0.
    pub seed: Option<u64>,
    /// What stands in the fingerprint in place of the server's address: say the same for two
    /// servers that hold the same weights.
    pub identity: Option<String>,
    /// Time limits and retries.
    pub policy: Policy,
}

impl Default for OpenAiChatOptions {
    fn default() -> Self {
        Self {
            temperature: Some(0.0),
            seed: Some(0),
            identity: None,
            policy: Policy::default(),
        }
    }
}

/// A model behind an OpenAI-compatible `/v1/chat/completions`.
///
/// Temperature 0 and a seed make texts as repeatable as the server can; few servers promise more.
/// A reply that says it ended for another reason than that the model was done
/// (`finish_reason` other than `stop`) is a cut one.
///
/// ```
/// use cornu_core::{ChatPrompt, ChatProvider};
/// use cornu_remote::testing::{Reply, Server};
/// use cornu_remote::{Endpoint, OpenAiChatProvider};
/// use serde_json::json;
///
/// let server = Server::scripted([Reply::json(&json!({
///     "choices": [{ "message": { "content": "Four." }, "finish_reason": "stop" }]
/// }))])?;
/// let model = OpenAiChatProvider::new(Endpoint::new(&server.url())?, "m", Default::default())?;
/// assert!(!model.leaves_machine());
/// let prompt = ChatPrompt { system: "Be brief.", user: "2 + 2?", max_tokens: 8 };
/// assert_eq!(model.complete(&prompt)?.text, "Four.");
/// assert_eq!(server.requests()[0].json()["temperature"], 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OpenAiChatProvider {
    client: Client,
    model: String,
    temperature: Option<f32>,
    seed: Option<u64>,
    fingerprint: Fingerprint,
}

impl OpenAiChatProvider {
    /// A model of a server. Nothing is sent yet.
    ///
    /// # Errors
    /// [`ProviderError::Unavailable`] for an endpoint that cannot be used, such as plain HTTP to
    /// another machine, or an empty name.
    pub fn new(
        endpoint: Endpoint,
        model: &str,
        options: OpenAiChatOptions,
    ) -> Result<Self, ProviderError> {
        if model.trim().is_empty() {
            return Err(ProviderError::Unavailable {
                provider: endpoint.to_string(),
                reason: "the chat model has no name".to_owned(),
                remedy: "give the name under which the server knows it".to_owned(),
            });
        }
        let server = options.identity.unwrap_or_else(|| endpoint.to_string());
        let mut fingerprint = Fingerprint::new(model)
            .with("provider", "openai-compatible chat")
            .with("server", server);
        if let Some(temperature) = options.temperature {
            fingerprint = fingerprint.with("temperature", temperature);
        }
        if let Some(seed) = options.seed {
            fingerprint = fingerprint.with("seed", seed);
        }
        let client =
            Client::new(endpoint, options.policy).map_err(|error| error.into_provider(model))?;
        Ok(Self {
            client,
            model: model.to_owned(),
            temperature: options.temperature,
            seed: options.seed,
            fingerprint,
        })
    }

    /// The server, and the limits of a call.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }
}

impl ChatProvider for OpenAiChatProvider {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn leaves_machine(&self) -> bool {
        self.client.leaves_machine()
    }

    fn complete(&self, prompt: &ChatPrompt<'_>) -> Result<ChatCompletion, ProviderError> {
        let messages = vec![
            Message::new(Role::System, prompt.system),
            Message::new(Role::User, prompt.user),
        ];
        let mut request = ChatRequest::new(&*self.model, messages);
        request.temperature = self.temperature;
        request.seed = self.seed;
        request.max_tokens = Some(u32::try_from(prompt.max_tokens).unwrap_or(u32::MAX));
        let reply = self
            .client
            .chat(&request)
            .map_err(|error| error.into_provider(&self.model))?;
        Ok(ChatCompletion {
            text: reply.content,
            // A server that gives no reason is taken at its word that it was done.
            end: match reply.finish_reason.as_deref() {
                None | Some("stop") => ChatEnd::Whole,
                Some("length") => ChatEnd::Length,
                Some(reason) => ChatEnd::Stopped {
                    reason: reason.chars().take(64).collect(),
                },
            },
        })
    }
}

impl fmt::Debug for OpenAiChatProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiChatProvider")
            .field("client", &self.client)
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}
