//! What went wrong, where, and what to do.

use std::time::Duration;

use cornu_core::ProviderError;

/// Why a call gave no reply.
///
/// `endpoint` is the address without its query; no field holds a key, a header's value or a
/// query's value, even where the server repeated it. `excerpt` is at most
/// [`EXCERPT_CHARS`](Self::EXCERPT_CHARS) characters of what the server said, which may repeat
/// what was sent to it.
///
/// ```
/// use cornu_remote::{Endpoint, RemoteError};
///
/// let error = Endpoint::new("ftp://example.org/v1?key=secret").unwrap_err();
/// assert!(matches!(error, RemoteError::Url { .. }));
/// assert!(!error.to_string().contains("secret"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The address cannot be used.
    #[error("the address {url:?} cannot be used: {reason}; give one such as https://host/v1")]
    Url {
        /// The address, without user information and query.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Plain HTTP to another machine.
    #[error(
        "{endpoint} is plain HTTP to another machine, so everyone on the way could read the texts \
         and the key; use https, or say allow_insecure"
    )]
    Insecure {
        /// The address.
        endpoint: String,
    },
    /// A key or a header is missing or cannot be sent.
    #[error("{what} for {endpoint} cannot be used: {reason}")]
    Credential {
        /// The address.
        endpoint: String,
        /// Which key or header.
        what: String,
        /// What is wrong with it, and the remedy.
        reason: String,
    },
    /// What was to be sent is no JSON, or has a form that the server could not take.
    #[error("the request to {endpoint} cannot be written: {reason}")]
    Request {
        /// The address.
        endpoint: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Time ran out.
    #[error(
        "{endpoint}: no answer within {} ms ({phase}); raise Policy::{}, or send smaller batches",
        after.as_millis(), phase.knob()
    )]
    Timeout {
        /// The address.
        endpoint: String,
        /// What was being waited for.
        phase: Phase,
        /// How long this attempt had lasted.
        after: Duration,
    },
    /// The connection could not be made, or broke before the server answered.
    #[error("{endpoint}: {detail}; check that the server runs there and can be reached")]
    Connection {
        /// The address.
        endpoint: String,
        /// What the network said.
        detail: String,
        /// Whether another attempt may help.
        transient: bool,
    },
    /// The reply ended too early.
    #[error(
        "{endpoint}: the reply was cut off after {received} bytes; the server or something on the \
         way broke the connection, try again"
    )]
    Truncated {
        /// The address.
        endpoint: String,
        /// Bytes of the body that arrived.
        received: usize,
    },
    /// The reply is larger than allowed.
    #[error(
        "{endpoint}: the reply is larger than {limit} bytes; send smaller batches, or raise \
         Policy::max_reply_bytes"
    )]
    TooLarge {
        /// The address.
        endpoint: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The server refused.
    #[error("{endpoint} answered with status {code}: {excerpt:?}; {}", status_remedy(*code, *retry_after))]
    Status {
        /// The address.
        endpoint: String,
        /// HTTP status.
        code: u16,
        /// The beginning of what it said.
        excerpt: String,
        /// How long the server asked to stay away.
        retry_after: Option<Duration>,
    },
    /// The server points elsewhere. Redirects are never followed: they would carry the texts and
    /// the key to a place that nobody named.
    #[error("{endpoint} redirects ({code}) to {location:?}; name that address if you trust it")]
    Redirect {
        /// The address.
        endpoint: String,
        /// HTTP status.
        code: u16,
        /// Where it points, without the query.
        location: String,
    },
    /// The reply is not the JSON that was expected.
    #[error(
        "{endpoint}: the reply is not the JSON expected: {reason}; it begins {excerpt:?}; check \
         that the address is that of an API of this kind"
    )]
    Json {
        /// The address.
        endpoint: String,
        /// What the parser said.
        reason: String,
        /// The beginning of the reply.
        excerpt: String,
    },
    /// The reply is well-formed and does not answer the request.
    #[error("{endpoint} answered wrongly: {reason}; nothing of the reply was kept")]
    Reply {
        /// The address.
        endpoint: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Every attempt failed.
    #[error("gave up after {attempts} attempts; the last one: {last}")]
    RetriesExhausted {
        /// Attempts made.
        attempts: u32,
        /// What the last one met.
        #[source]
        last: Box<RemoteError>,
    },
}

/// What was being waited for when time ran out.
///
/// ```
/// assert_eq!(cornu_remote::error::Phase::Connect.to_string(), "connecting");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Looking up the name, connecting, the TLS handshake.
    Connect,
    /// Sending the request, waiting for the reply, or reading it.
    Read,
    /// The call as a whole.
    Total,
}

impl Phase {
    fn knob(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Read => "read",
            Self::Total => "total",
        }
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::Read => "the server was silent",
            Self::Total => "the call as a whole",
        })
    }
}

impl RemoteError {
    /// The longest excerpt of a reply in an error, in characters.
    pub const EXCERPT_CHARS: usize = 300;

    /// Whether another attempt may help; see [`Policy`](crate::Policy) for the rule.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Status { code, .. } => crate::Policy::retries_status(*code),
            Self::Connection { transient, .. } => *transient,
            Self::Truncated { .. } => true,
            Self::Timeout { phase, .. } => *phase == Phase::Connect,
            _ => false,
        }
    }

    /// The status that the server answered with, in the last attempt.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status { code, .. } | Self::Redirect { code, .. } => Some(*code),
            Self::RetriesExhausted { last, .. } => last.status(),
            _ => None,
        }
    }

    /// The same as an error of a provider: missing set-up is `Unavailable`, a wrong reply is
    /// `Protocol`, all else is `Failed` with this error as its source.
    #[must_use]
    pub fn into_provider(self, provider: &str) -> ProviderError {
        let provider = provider.to_owned();
        match self {
            Self::Url { .. } | Self::Insecure { .. } | Self::Credential { .. } => {
                ProviderError::Unavailable {
                    provider,
                    reason: self.to_string(),
                    remedy: "nothing was sent".to_owned(),
                }
            }
            Self::Json { .. } | Self::Reply { .. } => ProviderError::Protocol {
                provider,
                reason: self.to_string(),
                remedy: "check the server, its model and its version".to_owned(),
            },
            _ => ProviderError::Failed {
                provider,
                source: Box::new(self),
            },
        }
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

fn status_remedy(code: u16, retry_after: Option<Duration>) -> String {
    if let Some(wait) = retry_after {
        return format!("it asks to come back after {} s", wait.as_secs());
    }
    match code {
        401 | 403 => "check the key and what it may do",
        404 => "check the address and the model's name",
        413 => "send smaller batches or shorter texts",
        400 | 422 => "check the model's name, its options and its input limit",
        429 => "ask less often, or for a higher quota",
        500.. => "the server is in trouble, look at its log",
        _ => "see what the server said",
    }
    .to_owned()
}
