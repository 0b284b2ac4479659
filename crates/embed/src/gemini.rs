//! Vectors from Google's Gemini API.

use std::fmt;
use std::ops::RangeInclusive;

use cornu_core::{EmbeddingProvider, Embeddings, Fingerprint, ProviderError};
use cornu_remote::gemini::{BASE_URL, BatchRequest, KEY_HEADER, MAX_BATCH, TaskType};
use cornu_remote::{Client, Endpoint, Policy};
use ndarray::Array1;

use crate::requests::{Answer, Dispatch, TokenLimit};

/// What a [`GeminiEmbeddingProvider`] can be told; all of it has a default.
///
/// ```
/// use cornu_embed::GeminiOptions;
/// let options = GeminiOptions { dimension: 768, ..GeminiOptions::default() };
/// assert_eq!(options.model, "gemini-embedding-001");
/// ```
#[derive(Clone, Debug)]
pub struct GeminiOptions {
    /// `gemini-embedding-001`.
    pub model: String,
    /// 3,072, the model's own; down to 128 the API cuts vectors and we normalise them again.
    pub dimension: usize,
    /// Texts a request, at most 100. 100.
    pub batch_size: usize,
    /// Requests at a time. 2.
    pub concurrency: usize,
    /// A limit kept on our side. The model takes 2,048 tokens; what the API cuts beyond that
    /// cannot be seen.
    pub limit: Option<TokenLimit>,
    /// Where the API is.
    pub base_url: String,
    /// Time limits and retries.
    pub policy: Policy,
}

impl Default for GeminiOptions {
    fn default() -> Self {
        Self {
            model: "gemini-embedding-001".to_owned(),
            dimension: GeminiEmbeddingProvider::FULL_DIMENSION,
            batch_size: MAX_BATCH,
            concurrency: 2,
            limit: None,
            base_url: BASE_URL.to_owned(),
            policy: Policy::default(),
        }
    }
}

/// Vectors from Google's Gemini API.
///
/// Every text is sent to Google. There is no provider without a key, and no vector without the
/// API's answer. Queries are sent with the task RETRIEVAL_QUERY, documents with
/// RETRIEVAL_DOCUMENT. All vectors are normalised here: the API does that for the full length
/// only.
///
/// [`Embeddings::tokens`] are counted here where [`GeminiOptions::limit`] is set. Else they are the
/// number of characters, since the API gives no counts, and they do not tell what it cut. The
/// empty text is sent as one space.
///
/// The API's answers were never seen by this code: it is tested against a local server that
/// follows the reference. LIMITS says so too.
///
/// ```no_run
/// use cornu_core::EmbeddingProvider;
/// use cornu_embed::{GeminiEmbeddingProvider, GeminiOptions};
///
/// let provider = GeminiEmbeddingProvider::from_env(GeminiOptions::default())?; // GEMINI_API_KEY
/// assert_eq!(provider.embed(&["清空梯度"])?.dim(), (1, 3072));
/// # Ok::<(), cornu_core::ProviderError>(())
/// ```
pub struct GeminiEmbeddingProvider {
    client: Client,
    model: String,
    dimension: usize,
    dispatch: Dispatch,
    fingerprint: Fingerprint,
}

impl GeminiEmbeddingProvider {
    /// The environment variable that [`from_env`](Self::from_env) reads.
    pub const KEY_VARIABLE: &str = "GEMINI_API_KEY";
    /// The dimension of the model's own vectors.
    pub const FULL_DIMENSION: usize = 3072;
    /// The dimensions that can be asked for.
    pub const DIMENSIONS: RangeInclusive<usize> = 128..=Self::FULL_DIMENSION;

    /// A provider with the key in [`KEY_VARIABLE`](Self::KEY_VARIABLE). Nothing is sent yet.
    ///
    /// # Errors
    /// [`ProviderError::Unavailable`] when the variable is not set or is empty, and as
    /// [`new`](Self::new).
    pub fn from_env(options: GeminiOptions) -> Result<Self, ProviderError> {
        let key = std::env::var(Self::KEY_VARIABLE).unwrap_or_default();
        if key.trim().is_empty() {
            return Err(unavailable(
                format!("the environment variable {} is not set", Self::KEY_VARIABLE),
                "set it, or use a local provider",
            ));
        }
        Self::new(&key, options)
    }

    /// A provider with this key. Nothing is sent yet.
    ///
    /// # Errors
    /// [`ProviderError::Unavailable`] for an empty key, a dimension outside
    /// [`DIMENSIONS`](Self::DIMENSIONS), or other options that cannot be used.
    pub fn new(key: &str, options: GeminiOptions) -> Result<Self, ProviderError> {
        if !Self::DIMENSIONS.contains(&options.dimension) {
            return Err(unavailable(
                format!("{} dimensions cannot be asked for", options.dimension),
                "ask for 128 to 3072",
            ));
        }
        if options.batch_size > MAX_BATCH {
            return Err(unavailable(
                format!("the API does not take {} texts at once", options.batch_size),
                "set batch_size to 100 or less",
            ));
        }
        let endpoint = Endpoint::new(&options.base_url)
            .and_then(|endpoint| endpoint.with_key_in(KEY_HEADER, key))
            .map_err(|error| error.into_provider(PROVIDER))?;
        let mut fingerprint = Fingerprint::new(&options.model)
            .with("provider", "gemini")
            .with("dimension", options.dimension)
            .with("query_task", "RETRIEVAL_QUERY")
            .with("document_task", "RETRIEVAL_DOCUMENT");
        if options.base_url != BASE_URL {
            fingerprint = fingerprint.with("server", &endpoint);
        }
        if let Some(limit) = &options.limit {
            fingerprint = limit.sign(fingerprint);
        }
        let client =
            Client::new(endpoint, options.policy).map_err(|error| error.into_provider(PROVIDER))?;
        Ok(Self {
            client,
            model: options.model,
            dimension: options.dimension,
            dispatch: Dispatch::new(
                PROVIDER.to_owned(),
                options.batch_size,
                options.concurrency,
                options.limit,
            )?,
            fingerprint,
        })
    }

    /// The largest difference from 1 that the norm of a vector had when it came from the API, in
    /// all calls so far. Far from 0 below the full dimension.
    #[must_use]
    pub fn server_norm_error(&self) -> f64 {
        self.dispatch.norm_error()
    }

    /// Whether texts go to another machine: yes, unless
    /// [`base_url`](GeminiOptions::base_url) says otherwise.
    #[must_use]
    pub fn leaves_machine(&self) -> bool {
        self.client.leaves_machine()
    }

    fn embed_for(&self, task: TaskType, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        let send = |texts| {
            let request = BatchRequest {
                model: self.model.clone(),
                texts,
                task,
                dimension: self.dimension,
            };
            let vectors = self.client.batch_embed_contents(&request);
            Ok(Answer {
                vectors: vectors.map_err(|error| error.into_provider(PROVIDER))?,
                tokens: None,
            })
        };
        self.dispatch.embed("", texts, self.dimension, &send)
    }
}

impl EmbeddingProvider for GeminiEmbeddingProvider {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        self.embed_for(TaskType::RetrievalDocument, texts)
    }

    fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
        let embeddings = self.embed_for(TaskType::RetrievalQuery, &[text])?;
        Ok(embeddings.vectors.row(0).to_owned())
    }
}

impl fmt::Debug for GeminiEmbeddingProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GeminiEmbeddingProvider")
            .field("client", &self.client)
            .field("fingerprint", &self.fingerprint)
            .field("batch_size", &self.dispatch.batch_size)
            .field("concurrency", &self.dispatch.concurrency)
            .field("limit", &self.dispatch.limit)
            .finish_non_exhaustive()
    }
}

const PROVIDER: &str = "the Gemini provider";

fn unavailable(reason: String, remedy: &str) -> ProviderError {
    ProviderError::Unavailable {
        provider: PROVIDER.to_owned(),
        reason,
        remedy: remedy.to_owned(),
    }
}
