//! Vectors from any server that speaks OpenAI's `/v1/embeddings`.

use std::fmt;

use cornu_core::{EmbeddingProvider, Embeddings, Fingerprint, ProviderError};
use cornu_remote::openai::EmbeddingsRequest;
use cornu_remote::{Client, Endpoint, Policy};
use ndarray::Array1;

use crate::requests::{Answer, Dispatch, TokenLimit};

/// What an [`OpenAiEmbeddingProvider`] can be told; all of it has a default.
///
/// ```
/// use cornu_embed::OpenAiOptions;
///
/// // A model that was trained with prefixes: its card says which.
/// let options = OpenAiOptions {
///     dimension: Some(384),
///     query_prefix: "query: ".into(),
///     document_prefix: "passage: ".into(),
///     ..OpenAiOptions::default()
/// };
/// assert_eq!(options.batch_size, 32);
/// ```
#[derive(Clone, Debug)]
pub struct OpenAiOptions {
    /// The length of the vectors. [`connect`](OpenAiEmbeddingProvider::connect) learns it when it
    /// is not said; every reply is checked against it.
    pub dimension: Option<usize>,
    /// Sends `dimensions`, for models that can give shorter vectors than their own. Needs
    /// `dimension`. Off: many servers refuse the parameter.
    pub shorten: bool,
    /// Put before every query.
    pub query_prefix: String,
    /// Put before every document.
    pub document_prefix: String,
    /// Texts a request. 32, which is the most that TEI takes as it comes.
    pub batch_size: usize,
    /// Requests at a time. 4.
    pub concurrency: usize,
    /// A limit kept on our side. Without one, what the server cuts cannot be seen.
    pub limit: Option<TokenLimit>,
    /// What stands in the fingerprint in place of the server's address: say the same for two
    /// servers that hold the same weights, such as a revision.
    pub identity: Option<String>,
    /// Time limits and retries.
    pub policy: Policy,
}

impl Default for OpenAiOptions {
    fn default() -> Self {
        Self {
            dimension: None,
            shorten: false,
            query_prefix: String::new(),
            document_prefix: String::new(),
            batch_size: 32,
            concurrency: 4,
            limit: None,
            identity: None,
            policy: Policy::default(),
        }
    }
}

/// Vectors from a server: TEI, vLLM, Ollama, llama.cpp, OpenAI, or any other with the same API.
///
/// - Vectors come in the order of the texts, whatever the order of the reply and of the requests
///   in flight. A reply with a vector too few, too many, twice, of another length, zero or not
///   finite is refused whole.
/// - Vectors are normalised here, whatever the server does;
///   [`server_norm_error`](Self::server_norm_error) says how far off they were.
/// - [`Embeddings::tokens`] are counted here where [`OpenAiOptions::limit`] is set. Else they are
///   estimates: the server's count for a request, shared out by bytes; characters where it gives
///   none. **They do not tell what a server cut**: no reply does.
/// - The empty text is sent as one space, since the APIs refuse it.
/// - The promise that a text's vector has the same bits in any batch is the server's to keep. TEI,
///   vLLM and others batch on their own and differ in the last bits.
///
/// Cost: the vectors, N · D · 4 bytes, and `concurrency` requests and replies in flight.
///
/// ```no_run
/// use cornu_core::EmbeddingProvider;
/// use cornu_embed::{OpenAiEmbeddingProvider, OpenAiOptions};
/// use cornu_remote::Endpoint;
///
/// let ollama = Endpoint::new("http://localhost:11434")?;
/// let provider = OpenAiEmbeddingProvider::connect(ollama, "bge-m3", OpenAiOptions::default())?;
/// assert_eq!(provider.embed(&["清空梯度"])?.dim(), (1, provider.dimension()));
/// assert!(!provider.leaves_machine());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OpenAiEmbeddingProvider {
    client: Client,
    model: String,
    dimension: usize,
    shorten: bool,
    query_prefix: String,
    document_prefix: String,
    dispatch: Dispatch,
    fingerprint: Fingerprint,
}

impl OpenAiEmbeddingProvider {
    /// The text that [`connect`](Self::connect) sends.
    pub const PROBE: &str = "cornu";

    /// A provider of vectors of [`OpenAiOptions::dimension`]. Nothing is sent yet.
    ///
    /// # Errors
    /// [`ProviderError::Unavailable`] without a dimension, or for an endpoint or options that
    /// cannot be used.
    pub fn new(
        endpoint: Endpoint,
        model: &str,
        options: OpenAiOptions,
    ) -> Result<Self, ProviderError> {
        let Some(dimension) = options.dimension.filter(|&dimension| dimension > 0) else {
            return Err(ProviderError::Unavailable {
                provider: label(model),
                reason: "the dimension is not known".to_owned(),
                remedy: "set OpenAiOptions::dimension, or use connect, which asks the server"
                    .to_owned(),
            });
        };
        Self::with_dimension(endpoint, model, options, dimension)
    }

    /// A provider of vectors of the length that the server gives; sends [`PROBE`](Self::PROBE) to
    /// learn it. Checks [`OpenAiOptions::dimension`] where it is set.
    ///
    /// # Errors
    /// [`ProviderError`], when the server cannot be reached or answers wrongly.
    pub fn connect(
        endpoint: Endpoint,
        model: &str,
        options: OpenAiOptions,
    ) -> Result<Self, ProviderError> {
        let declared = options.dimension;
        let mut provider = Self::with_dimension(endpoint, model, options, declared.unwrap_or(0))?;
        let answer = provider.send(vec![Self::PROBE.to_owned()])?;
        let found = answer.vectors.first().map_or(0, Vec::len);
        if found == 0 {
            return Err(provider.dispatch.protocol("an empty vector".to_owned()));
        }
        if let Some(declared) = declared
            && declared != found
        {
            let reason = format!("vectors of {found} dimensions, not the {declared} declared");
            return Err(provider.dispatch.protocol(reason));
        }
        provider.dimension = found;
        provider.fingerprint = provider.fingerprint.with("dimension", found);
        Ok(provider)
    }

    /// The largest difference from 1 that the norm of a vector had when it came from the server,
    /// in all calls so far.
    #[must_use]
    pub fn server_norm_error(&self) -> f64 {
        self.dispatch.norm_error()
    }

    /// Whether texts go to another machine; see [`Endpoint::is_loopback`] for what cannot be known.
    #[must_use]
    pub fn leaves_machine(&self) -> bool {
        self.client.leaves_machine()
    }

    fn with_dimension(
        endpoint: Endpoint,
        model: &str,
        options: OpenAiOptions,
        dimension: usize,
    ) -> Result<Self, ProviderError> {
        if options.shorten && options.dimension.is_none() {
            return Err(ProviderError::Unavailable {
                provider: label(model),
                reason: "shorten is set and the dimension is not".to_owned(),
                remedy: "set OpenAiOptions::dimension to the length wanted".to_owned(),
            });
        }
        let server = options.identity.unwrap_or_else(|| endpoint.to_string());
        let mut fingerprint = Fingerprint::new(model)
            .with("provider", "openai-compatible")
            .with("server", server)
            .with("query_prefix", &options.query_prefix)
            .with("document_prefix", &options.document_prefix)
            .with("dimension", dimension)
            .with("shorten", options.shorten);
        if let Some(limit) = &options.limit {
            fingerprint = limit.sign(fingerprint);
        }
        let provider = label(model);
        let client =
            Client::new(endpoint, options.policy).map_err(|e| e.into_provider(&provider))?;
        Ok(Self {
            client,
            model: model.to_owned(),
            dimension,
            shorten: options.shorten,
            query_prefix: options.query_prefix,
            document_prefix: options.document_prefix,
            dispatch: Dispatch::new(
                provider,
                options.batch_size,
                options.concurrency,
                options.limit,
            )?,
            fingerprint,
        })
    }

    fn send(&self, texts: Vec<String>) -> Result<Answer, ProviderError> {
        let mut request = EmbeddingsRequest::new(&self.model, texts);
        request.dimensions = (self.shorten && self.dimension > 0).then_some(self.dimension);
        let reply = self.client.embeddings(&request);
        let reply = reply.map_err(|error| error.into_provider(&self.dispatch.provider))?;
        Ok(Answer {
            vectors: reply.vectors,
            tokens: reply.prompt_tokens,
        })
    }

    fn embed_with(&self, prefix: &str, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        let send = |texts| self.send(texts);
        self.dispatch.embed(prefix, texts, self.dimension, &send)
    }
}

impl EmbeddingProvider for OpenAiEmbeddingProvider {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        self.embed_with(&self.document_prefix, texts)
    }

    fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
        let embeddings = self.embed_with(&self.query_prefix, &[text])?;
        Ok(embeddings.vectors.row(0).to_owned())
    }
}

impl fmt::Debug for OpenAiEmbeddingProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiEmbeddingProvider")
            .field("client", &self.client)
            .field("fingerprint", &self.fingerprint)
            .field("batch_size", &self.dispatch.batch_size)
            .field("concurrency", &self.dispatch.concurrency)
            .field("limit", &self.dispatch.limit)
            .finish_non_exhaustive()
    }
}

fn label(model: &str) -> String {
    format!("the embedding server for {model:?}")
}
