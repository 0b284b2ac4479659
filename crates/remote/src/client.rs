//! One server, spoken to within a policy.

use std::fmt;
use std::io::{self, Read};
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::http::{Response, header};

use crate::endpoint::{Endpoint, without_secrets};
use crate::error::{Phase, RemoteError};
use crate::policy::{Policy, parse_retry_after, request_hash};

/// A synchronous client for one server. Share it between threads: connections are kept and used
/// again, at most [`IDLE_CONNECTIONS`](Self::IDLE_CONNECTIONS) of them idle.
///
/// ```no_run
/// use cornu_remote::{Client, Endpoint, Policy};
/// use serde_json::{Value, json};
///
/// let client = Client::new(Endpoint::new("http://localhost:11434")?, Policy::default())?;
/// let reply: Value = client.post_json("/api/show", &json!({ "model": "bge-m3" }))?;
/// # Ok::<(), cornu_remote::RemoteError>(())
/// ```
pub struct Client {
    endpoint: Endpoint,
    policy: Policy,
    agent: ureq::Agent,
}

impl Client {
    /// The most idle connections that are kept.
    pub const IDLE_CONNECTIONS: usize = 8;

    /// A client. Nothing is sent yet.
    ///
    /// # Errors
    /// [`RemoteError::Insecure`] for plain HTTP to another machine without
    /// [`allow_insecure`](Endpoint::allow_insecure).
    pub fn new(endpoint: Endpoint, policy: Policy) -> Result<Self, RemoteError> {
        endpoint.check_transport()?;
        let proxy = if endpoint.uses_proxy() {
            ureq::Proxy::try_from_env()
        } else {
            None
        };
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(proxy)
            .user_agent(concat!("cornu/", env!("CARGO_PKG_VERSION")))
            .accept("application/json")
            .max_idle_connections(Self::IDLE_CONNECTIONS)
            .max_idle_connections_per_host(Self::IDLE_CONNECTIONS)
            .timeout_resolve(Some(policy.connect))
            .timeout_connect(Some(policy.connect))
            .timeout_per_read(Some(policy.read))
            .timeout_per_write(Some(policy.read))
            .build()
            .new_agent();
        Ok(Self {
            endpoint,
            policy,
            agent,
        })
    }

    /// The server's address, and what is sent with every request.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The limits.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether what is sent goes to another machine. See [`Endpoint::is_loopback`] for what this
    /// cannot know.
    #[must_use]
    pub fn leaves_machine(&self) -> bool {
        !self.endpoint.is_loopback()
    }

    /// Sends `body` as JSON to `path` (which begins with `/` and follows the endpoint's own path),
    /// and reads the reply as JSON. Attempts, waits and sizes are those of the [`Policy`]; the
    /// request must be one that may be made twice.
    ///
    /// The reply is held in memory once as bytes (at most
    /// [`max_reply_bytes`](Policy::max_reply_bytes)) and once as `R`.
    ///
    /// # Errors
    /// [`RemoteError`]. [`RemoteError::RetriesExhausted`] where more than one attempt was made and
    /// the last one failed in a way that yet another might have mended.
    pub fn post_json<B, R>(&self, path: &str, body: &B) -> Result<R, RemoteError>
    where
        B: Serialize + ?Sized,
        R: DeserializeOwned,
    {
        let call = Call {
            client: self,
            path,
            shown: self.endpoint.shown(path),
            started: Instant::now(),
        };
        if !path.starts_with('/') || path.contains(['?', '#']) {
            return Err(call.unwritable("its path must begin with / and hold neither ? nor #"));
        }
        let body = serde_json::to_vec(body).map_err(|error| call.unwritable(&error.to_string()))?;
        let hash = request_hash(&body);
        let mut attempt = 1;
        loop {
            let error = match call.attempt(&body).and_then(|reply| call.parse(&reply)) {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            if !error.is_transient() {
                return Err(error);
            }
            let wait = self.policy.wait_for(attempt, hash, error.retry_after());
            match wait {
                Some(wait) if attempt <= self.policy.retries && wait < call.time_left() => {
                    std::thread::sleep(wait);
                    attempt += 1;
                }
                _ if attempt == 1 => return Err(error),
                _ => {
                    return Err(RemoteError::RetriesExhausted {
                        attempts: attempt,
                        last: Box::new(error),
                    });
                }
            }
        }
    }

    /// That a reply, though well-formed, does not answer the request.
    pub(crate) fn wrong_reply(&self, path: &str, reason: impl Into<String>) -> RemoteError {
        RemoteError::Reply {
            endpoint: self.endpoint.shown(path),
            reason: reason.into(),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("endpoint", &self.endpoint)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// One call of `post_json`.
struct Call<'a> {
    client: &'a Client,
    path: &'a str,
    shown: String,
    started: Instant,
}

impl Call<'_> {
    /// The most of an error's body that is read.
    const ERROR_BODY_BYTES: u64 = 64 << 10;

    fn time_left(&self) -> Duration {
        let total = self.client.policy.total;
        total.saturating_sub(self.started.elapsed())
    }

    /// One request and its reply's body.
    fn attempt(&self, body: &[u8]) -> Result<Vec<u8>, RemoteError> {
        let begun = Instant::now();
        let mut request = self
            .client
            .agent
            .post(self.client.endpoint.full(self.path))
            .config()
            .timeout_global(Some(self.time_left()))
            .build()
            .header(header::CONTENT_TYPE, "application/json");
        for (name, value) in self.client.endpoint.headers() {
            request = request.header(name, value);
        }
        let mut response = request
            .send(body)
            .map_err(|error| self.failed(error, begun, 0))?;
        match response.status().as_u16() {
            200..=299 => self.read_body(&mut response, begun),
            300..=399 => Err(self.redirected(&response)),
            _ => Err(self.refused(response)),
        }
    }

    fn read_body(
        &self,
        response: &mut Response<ureq::Body>,
        begun: Instant,
    ) -> Result<Vec<u8>, RemoteError> {
        let limit = self.client.policy.max_reply_bytes;
        let too_large = || RemoteError::TooLarge {
            endpoint: self.shown.clone(),
            limit,
        };
        // What the server announces is used to refuse, never to allocate.
        let announced = response.body().content_length();
        if announced.is_some_and(|length| length > limit as u64) {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        let mut reader = response.body_mut().as_reader().take(limit as u64 + 1);
        let end = reader.read_to_end(&mut bytes);
        if bytes.len() > limit {
            return Err(too_large());
        }
        end.map_err(|error| self.failed(error.into(), begun, bytes.len()))?;
        Ok(bytes)
    }

    fn redirected(&self, response: &Response<ureq::Body>) -> RemoteError {
        let location = response.headers().get(header::LOCATION);
        let location = location.map_or_else(String::new, |value| {
            String::from_utf8_lossy(value.as_bytes()).into_owned()
        });
        RemoteError::Redirect {
            endpoint: self.shown.clone(),
            code: response.status().as_u16(),
            location: self.excerpt(without_secrets(&location).as_bytes()),
        }
    }

    fn refused(&self, mut response: Response<ureq::Body>) -> RemoteError {
        let retry_after = response
            .headers()
            .get(header::RETRY_AFTER)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| parse_retry_after(value, SystemTime::now()));
        let mut bytes = Vec::new();
        let reader = response.body_mut().as_reader();
        // What was read before a failure is still worth showing.
        let _ = reader.take(Self::ERROR_BODY_BYTES).read_to_end(&mut bytes);
        RemoteError::Status {
            endpoint: self.shown.clone(),
            code: response.status().as_u16(),
            excerpt: self.excerpt(&bytes),
            retry_after,
        }
    }

    fn parse<R: DeserializeOwned>(&self, bytes: &[u8]) -> Result<R, RemoteError> {
        serde_json::from_slice(bytes).map_err(|error| {
            if error.is_eof() && !bytes.is_empty() {
                RemoteError::Truncated {
                    endpoint: self.shown.clone(),
                    received: bytes.len(),
                }
            } else {
                RemoteError::Json {
                    endpoint: self.shown.clone(),
                    reason: self.excerpt(error.to_string().as_bytes()),
                    excerpt: self.excerpt(bytes),
                }
            }
        })
    }

    fn failed(&self, error: ureq::Error, begun: Instant, received: usize) -> RemoteError {
        let endpoint = self.shown.clone();
        let connection = |detail: &dyn fmt::Display, transient| RemoteError::Connection {
            endpoint: self.shown.clone(),
            detail: self.excerpt(detail.to_string().as_bytes()),
            transient,
        };
        match error {
            ureq::Error::Timeout(timeout) => RemoteError::Timeout {
                endpoint,
                phase: match timeout {
                    ureq::Timeout::Resolve | ureq::Timeout::Connect => Phase::Connect,
                    ureq::Timeout::Global | ureq::Timeout::PerCall => Phase::Total,
                    _ => Phase::Read,
                },
                after: begun.elapsed(),
            },
            ureq::Error::Io(error) if received > 0 && is_broken(error.kind()) => {
                RemoteError::Truncated { endpoint, received }
            }
            // rustls reports a certificate that it does not trust as invalid data.
            ureq::Error::Io(error) => {
                let transient = error.kind() != io::ErrorKind::InvalidData;
                connection(&error, transient)
            }
            ureq::Error::ConnectionFailed => connection(&"the connection failed", true),
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => RemoteError::Url {
                url: endpoint,
                reason: "it is not an address that HTTP knows".to_owned(),
            },
            other => connection(&other, false),
        }
    }

    fn unwritable(&self, reason: &str) -> RemoteError {
        RemoteError::Request {
            endpoint: self.shown.clone(),
            reason: reason.to_owned(),
        }
    }

    /// The beginning of what a server said, on one line, without secrets.
    fn excerpt(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let text = self.client.endpoint.secrets().strike_out(&text);
        let mut out: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(RemoteError::EXCERPT_CHARS)
            .collect();
        if text.chars().nth(RemoteError::EXCERPT_CHARS).is_some() {
            out.pop();
            out.push('…');
        }
        out
    }
}

fn is_broken(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(
        kind,
        UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe
    )
}
