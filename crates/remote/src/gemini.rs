//! Google's Gemini API, as far as embeddings go.
//!
//! Written from its reference (`models.batchEmbedContents`, version v1beta). It has been tried
//! against a local server only: no key was at hand.

use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::error::RemoteError;

/// Where the API is.
pub const BASE_URL: &str = "https://generativelanguage.googleapis.com/v1beta";

/// The header that carries the key. The key is never put into the address, where logs would keep
/// it.
pub const KEY_HEADER: &str = "x-goog-api-key";

/// The most texts that the API takes at once.
pub const MAX_BATCH: usize = 100;

/// What a vector is for.
///
/// ```
/// let task = cornu_remote::gemini::TaskType::RetrievalQuery;
/// assert_eq!(serde_json::to_string(&task)?, r#""RETRIEVAL_QUERY""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskType {
    /// To search with.
    RetrievalQuery,
    /// To be found.
    RetrievalDocument,
}

/// Texts to embed, all for the same use.
///
/// ```
/// use cornu_remote::gemini::{BatchRequest, TaskType};
/// let request = BatchRequest {
///     model: "gemini-embedding-001".into(),
///     texts: vec!["a".into()],
///     task: TaskType::RetrievalDocument,
///     dimension: 768,
/// };
/// assert_eq!(request.texts.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchRequest {
    /// The model's name, without `models/`.
    pub model: String,
    /// The texts, at most [`MAX_BATCH`].
    pub texts: Vec<String>,
    /// What the vectors are for.
    pub task: TaskType,
    /// How long the vectors shall be.
    pub dimension: usize,
}

impl Client {
    /// Vectors from `batchEmbedContents`, in the order of the request. Their count is checked.
    ///
    /// # Errors
    /// [`RemoteError`]; [`RemoteError::Request`] for a model's name that would change the address,
    /// [`RemoteError::Reply`] for a reply with too few or too many vectors.
    pub fn batch_embed_contents(
        &self,
        request: &BatchRequest,
    ) -> Result<Vec<Vec<f32>>, RemoteError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if request.model.is_empty() || !request.model.chars().all(allowed) {
            return Err(RemoteError::Request {
                endpoint: self.endpoint().to_string(),
                reason: format!("{:?} is no name of a model", request.model),
            });
        }
        let tail = format!("models/{}:batchEmbedContents", request.model);
        let path = self.endpoint().versioned("v1beta", &tail);
        let model = format!("models/{}", request.model);
        let body = BatchWire {
            requests: request
                .texts
                .iter()
                .map(|text| RequestWire {
                    model: &model,
                    content: ContentWire {
                        parts: [PartWire { text }],
                    },
                    task_type: request.task,
                    output_dimensionality: request.dimension,
                })
                .collect(),
        };
        let reply: ReplyWire = self.post_json(&path, &body)?;
        let (given, wanted) = (reply.embeddings.len(), request.texts.len());
        if given != wanted {
            let reason = format!("{given} vectors for {wanted} texts");
            return Err(self.wrong_reply(&path, reason));
        }
        let vectors = reply.embeddings.into_iter();
        Ok(vectors.map(|embedding| embedding.values).collect())
    }
}

#[derive(Serialize)]
struct BatchWire<'a> {
    requests: Vec<RequestWire<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestWire<'a> {
    model: &'a str,
    content: ContentWire<'a>,
    task_type: TaskType,
    output_dimensionality: usize,
}

#[derive(Serialize)]
struct ContentWire<'a> {
    parts: [PartWire<'a>; 1],
}

#[derive(Serialize)]
struct PartWire<'a> {
    text: &'a str,
}

#[derive(Deserialize)]
struct ReplyWire {
    #[serde(default)]
    embeddings: Vec<ValuesWire>,
}

#[derive(Deserialize)]
struct ValuesWire {
    #[serde(default)]
    values: Vec<f32>,
}
