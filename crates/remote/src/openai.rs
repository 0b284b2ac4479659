//! The API that OpenAI made customary: spoken by TEI, vLLM, Ollama, llama.cpp and many more.

use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::error::RemoteError;

/// What is sent to `/v1/embeddings`.
///
/// ```
/// use cornu_remote::openai::EmbeddingsRequest;
/// let request = EmbeddingsRequest::new("bge-m3", ["a", "b"]);
/// assert_eq!(serde_json::to_string(&request)?, r#"{"model":"bge-m3","input":["a","b"]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EmbeddingsRequest {
    /// The model's name, as the server knows it.
    pub model: String,
    /// The texts.
    pub input: Vec<String>,
    /// Asks for shorter vectors, where the model can give them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<usize>,
}

impl EmbeddingsRequest {
    /// A request for vectors of the model's own length.
    pub fn new<S: Into<String>>(
        model: impl Into<String>,
        input: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            model: model.into(),
            input: input.into_iter().map(Into::into).collect(),
            dimensions: None,
        }
    }
}

/// Vectors, in the order of the request.
///
/// ```
/// use cornu_remote::openai::EmbeddingsReply;
/// let reply = EmbeddingsReply { vectors: vec![vec![0.6, 0.8]], prompt_tokens: Some(3) };
/// assert_eq!(reply.vectors[0].len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingsReply {
    /// One for each text, as the server gave them: of any length, normalised or not.
    pub vectors: Vec<Vec<f32>>,
    /// The tokens of all texts together, by the server's count, where it gives one.
    pub prompt_tokens: Option<u64>,
}

/// Who says a message.
///
/// ```
/// assert_eq!(serde_json::to_string(&cornu_remote::openai::Role::System)?, r#""system""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// What is asked.
    User,
    /// What the model said before.
    Assistant,
}

/// One message of a conversation.
///
/// ```
/// use cornu_remote::openai::{Message, Role};
/// assert_eq!(Message::new(Role::User, "梯度？").content, "梯度？");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
}

impl Message {
    /// A message.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
        }
    }
}

/// What is sent to `/v1/chat/completions`. What is `None` is left to the server.
///
/// ```
/// use cornu_remote::openai::{ChatRequest, Message, Role};
/// let mut request = ChatRequest::new("qwen3", vec![Message::new(Role::User, "Hi")]);
/// request.temperature = Some(0.0);
/// request.seed = Some(7);
/// assert_eq!(
///     serde_json::to_string(&request)?,
///     r#"{"model":"qwen3","messages":[{"role":"user","content":"Hi"}],"temperature":0.0,"seed":7}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChatRequest {
    /// The model's name, as the server knows it.
    pub model: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// 0 for the likeliest answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// The longest answer, in the model's tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// For servers that sample repeatably.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The form of the answer, such as a JSON schema, for servers that hold a model to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_format: Option<serde_json::Value>,
}

impl ChatRequest {
    /// A request with the server's own settings.
    pub fn new(model: impl Into<String>, messages: Vec<Message>) -> Self {
        Self {
            model: model.into(),
            messages,
            temperature: None,
            max_tokens: None,
            seed: None,
            response_format: None,
        }
    }
}

/// An answer.
///
/// ```
/// use cornu_remote::openai::ChatReply;
/// let reply = ChatReply { content: "…".into(), finish_reason: Some("length".into()), tokens: None };
/// assert!(reply.is_cut());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatReply {
    /// What the model said.
    pub content: String,
    /// Why it stopped, in the server's words: "stop", "length", "content_filter".
    pub finish_reason: Option<String>,
    /// Tokens read and written together, by the server's count, where it gives one.
    pub tokens: Option<u64>,
}

impl ChatReply {
    /// Whether the answer ended because it reached its longest length.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.finish_reason.as_deref() == Some("length")
    }
}

impl Client {
    /// Vectors from `/v1/embeddings`, one for each text, put in the order of the request. Their
    /// count and their numbering are checked; their lengths and values are not.
    ///
    /// # Errors
    /// [`RemoteError`]; [`RemoteError::Reply`] for a reply with a vector missing, too many, or
    /// twice.
    pub fn embeddings(&self, request: &EmbeddingsRequest) -> Result<EmbeddingsReply, RemoteError> {
        let path = self.endpoint().versioned("v1", "embeddings");
        let reply: EmbeddingsWire = self.post_json(&path, request)?;
        let wanted = request.input.len();
        let given = reply.data.len();
        if given != wanted {
            let reason = format!("{given} vectors for {wanted} texts");
            return Err(self.wrong_reply(&path, reason));
        }
        let mut slots: Vec<Option<Vec<f32>>> = vec![None; wanted];
        for item in reply.data {
            match slots.get_mut(item.index) {
                None => {
                    let reason = format!("a vector for text {} of {wanted}", item.index);
                    return Err(self.wrong_reply(&path, reason));
                }
                Some(Some(_)) => {
                    let reason = format!("two vectors for text {} of {wanted}", item.index);
                    return Err(self.wrong_reply(&path, reason));
                }
                Some(slot) => *slot = Some(item.embedding),
            }
        }
        // As many as slots, none twice: each slot is filled.
        Ok(EmbeddingsReply {
            vectors: slots.into_iter().flatten().collect(),
            prompt_tokens: reply.usage.and_then(|usage| usage.prompt_tokens),
        })
    }

    /// An answer from `/v1/chat/completions`. A call that fails part-way may be made again, and
    /// then be paid for twice.
    ///
    /// # Errors
    /// [`RemoteError`]; [`RemoteError::Reply`] for a reply without an answer in words.
    pub fn chat(&self, request: &ChatRequest) -> Result<ChatReply, RemoteError> {
        let path = self.endpoint().versioned("v1", "chat/completions");
        let reply: ChatWire = self.post_json(&path, request)?;
        let Some(choice) = reply.choices.into_iter().next() else {
            return Err(self.wrong_reply(&path, "no choice"));
        };
        let Some(content) = choice.message.content else {
            let reason = match choice.message.refusal {
                Some(_) => "the model refused".to_owned(),
                None => "a message without content".to_owned(),
            };
            return Err(self.wrong_reply(&path, reason));
        };
        Ok(ChatReply {
            content,
            finish_reason: choice.finish_reason,
            tokens: reply.usage.and_then(|usage| usage.total_tokens),
        })
    }
}

#[derive(Deserialize)]
struct EmbeddingsWire {
    data: Vec<EmbeddingWire>,
    #[serde(default)]
    usage: Option<UsageWire>,
}

#[derive(Deserialize)]
struct EmbeddingWire {
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct UsageWire {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    total_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct ChatWire {
    choices: Vec<ChoiceWire>,
    #[serde(default)]
    usage: Option<UsageWire>,
}

#[derive(Deserialize)]
struct ChoiceWire {
    message: MessageWire,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct MessageWire {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}
