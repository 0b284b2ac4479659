//! Where a server is, and the key it wants.

use std::fmt;
use std::net::IpAddr;

use ureq::http::{HeaderName, HeaderValue, Uri};

use crate::error::RemoteError;

/// The address of a server, with what every request to it carries.
///
/// The address is what the server's own documentation calls the base URL, with or without a path.
/// Where the path is empty, the calls of this crate add the customary version (`/v1`; `/v1beta`
/// for Gemini); where it is not, it is taken as it stands. A query (`?api-version=…`) is sent with
/// every request, and shown nowhere.
///
/// `Debug` and `Display` show the address without its query, and the names of headers without
/// their values.
///
/// ```
/// use cornu_remote::Endpoint;
///
/// let endpoint = Endpoint::new("https://example.org/v1?tenant=blue-whale")?.with_key("a-secret")?;
/// assert_eq!(endpoint.to_string(), "https://example.org/v1");
/// let debug = format!("{endpoint:?}");
/// assert!(!debug.contains("a-secret") && !debug.contains("blue-whale"), "{debug}");
/// assert!(!endpoint.is_loopback());
/// # Ok::<(), cornu_remote::RemoteError>(())
/// ```
#[derive(Clone)]
pub struct Endpoint {
    /// Scheme, authority and path, without a slash at its end.
    base: String,
    has_path: bool,
    query: Option<String>,
    secure: bool,
    loopback: bool,
    headers: Vec<(HeaderName, HeaderValue)>,
    secrets: Secrets,
    allow_insecure: bool,
    proxy_from_env: bool,
}

impl Endpoint {
    /// Reads an address. Nothing is looked up or sent.
    ///
    /// # Errors
    /// [`RemoteError::Url`] for an address that is not http or https, has no host, or holds a user
    /// name or a fragment.
    pub fn new(url: &str) -> Result<Self, RemoteError> {
        let url = url.trim();
        let refuse = |reason: &str| RemoteError::Url {
            url: without_secrets(url),
            reason: reason.to_owned(),
        };
        if url.contains('#') {
            return Err(refuse("it has a fragment"));
        }
        let uri: Uri = url
            .parse()
            .map_err(|error: ureq::http::uri::InvalidUri| refuse(&error.to_string()))?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            Some(_) => return Err(refuse("it is neither http nor https")),
            None => return Err(refuse("it does not begin with http:// or https://")),
        };
        let authority = uri.authority().ok_or_else(|| refuse("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(refuse("it holds a user name; use with_key or with_header"));
        }
        if uri.host().unwrap_or_default().is_empty() {
            return Err(refuse("it has no host"));
        }
        let path = uri.path().trim_end_matches('/');
        let query = uri.query().map(str::to_owned);
        let scheme = if secure { "https" } else { "http" };
        Ok(Self {
            base: format!("{scheme}://{authority}{path}"),
            has_path: !path.is_empty(),
            secrets: Secrets::of_query(query.as_deref()),
            query,
            secure,
            loopback: uri.host().is_some_and(is_loopback_host),
            headers: Vec::new(),
            allow_insecure: false,
            proxy_from_env: false,
        })
    }

    /// Sends `Authorization: Bearer KEY`.
    ///
    /// # Errors
    /// [`RemoteError::Credential`] for a key that is empty or cannot stand in a header (a line
    /// break at its end is the usual reason). The error does not repeat the key.
    pub fn with_key(self, key: &str) -> Result<Self, RemoteError> {
        let what = "the key";
        self.check_secret(what, key)?;
        let value = format!("Bearer {key}");
        self.push(HeaderName::from_static("authorization"), &value, key, what)
    }

    /// As [`with_key`](Self::with_key), with the value of an environment variable.
    ///
    /// # Errors
    /// [`RemoteError::Credential`], also when the variable is not set; the error names it.
    pub fn with_key_from_env(self, variable: &str) -> Result<Self, RemoteError> {
        let key = self.read_env(variable)?;
        self.with_key(&key)
    }

    /// Sends a key in a header of its own, such as `x-goog-api-key` or `api-key`.
    ///
    /// # Errors
    /// As [`with_key`](Self::with_key).
    pub fn with_key_in(self, header: &str, key: &str) -> Result<Self, RemoteError> {
        self.check_secret(header, key)?;
        self.with_header(header, key)
    }

    /// Sends a header with every request. Its value is treated as a secret.
    ///
    /// # Errors
    /// [`RemoteError::Credential`] for a name or a value that HTTP does not allow, and for a
    /// header that this crate writes itself.
    pub fn with_header(self, name: &str, value: &str) -> Result<Self, RemoteError> {
        let Ok(parsed) = name.parse::<HeaderName>() else {
            return Err(self.credential(&format!("the header {name:?}"), "this is no header name"));
        };
        const OWN: [&str; 5] = [
            "content-length",
            "content-type",
            "host",
            "transfer-encoding",
            "connection",
        ];
        if OWN.contains(&parsed.as_str()) {
            return Err(self.credential(
                &format!("the header {name:?}"),
                "it is written by the client itself",
            ));
        }
        let what = format!("the header {name:?}");
        self.push(parsed, value, value, &what)
    }

    /// Allows plain HTTP to another machine: everyone on the way can read texts, key and vectors.
    #[must_use]
    pub fn allow_insecure(mut self) -> Self {
        self.allow_insecure = true;
        self
    }

    /// Uses the proxy that `ALL_PROXY`, `HTTPS_PROXY` or `HTTP_PROXY` name (less those of
    /// `NO_PROXY`). Off by default, because a variable that some other program set would route
    /// texts through a machine that nobody named here. Never used for this machine's own servers.
    #[must_use]
    pub fn with_proxy_from_env(mut self) -> Self {
        self.proxy_from_env = true;
        self
    }

    /// Whether the address is this machine's own: `localhost`, 127.0.0.0/8 or `::1`. What a server
    /// there does with a text, such as forwarding it, cannot be known from here.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// Plain HTTP needs loopback or consent.
    pub(crate) fn check_transport(&self) -> Result<(), RemoteError> {
        if self.secure || self.loopback || self.allow_insecure {
            return Ok(());
        }
        Err(RemoteError::Insecure {
            endpoint: self.to_string(),
        })
    }

    pub(crate) fn uses_proxy(&self) -> bool {
        self.proxy_from_env && !self.loopback
    }

    /// `/v1/embeddings` for ("v1", "embeddings") where the address has no path of its own.
    pub(crate) fn versioned(&self, version: &str, tail: &str) -> String {
        if self.has_path {
            format!("/{tail}")
        } else {
            format!("/{version}/{tail}")
        }
    }

    /// The address of a call, to show.
    pub(crate) fn shown(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// The address of a call, to send.
    pub(crate) fn full(&self, path: &str) -> String {
        match &self.query {
            Some(query) => format!("{}{path}?{query}", self.base),
            None => self.shown(path),
        }
    }

    pub(crate) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    fn push(
        mut self,
        name: HeaderName,
        value: &str,
        secret: &str,
        what: &str,
    ) -> Result<Self, RemoteError> {
        let Ok(mut header) = HeaderValue::from_str(value) else {
            return Err(self.credential(
                what,
                "it holds a character that no header may hold, such as a line break; trim it",
            ));
        };
        header.set_sensitive(true);
        self.secrets.add(secret);
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, header));
        Ok(self)
    }

    fn read_env(&self, variable: &str) -> Result<String, RemoteError> {
        std::env::var(variable).map_err(|_| {
            self.credential(
                &format!("the key in the environment variable {variable}"),
                "the variable is not set (or is not UTF-8); set it, or give the key itself",
            )
        })
    }

    fn check_secret(&self, what: &str, key: &str) -> Result<(), RemoteError> {
        if key.trim().is_empty() {
            return Err(self.credential(what, "it is empty; give one, or none at all"));
        }
        Ok(())
    }

    fn credential(&self, what: &str, reason: &str) -> RemoteError {
        RemoteError::Credential {
            endpoint: self.to_string(),
            what: what.to_owned(),
            reason: reason.to_owned(),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Endpoint")
            .field("address", &self.base)
            .field("headers", &names)
            .field("allow_insecure", &self.allow_insecure)
            .field("proxy_from_env", &self.proxy_from_env)
            .finish_non_exhaustive()
    }
}

/// What must not be shown, even where a server says it.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// Shorter values than this are too common to look for: striking out every "1" helps nobody.
    const SHORTEST: usize = 6;

    /// The values of a query: as they are sent, percent-decoded, and as a form is decoded (where
    /// `+` is a space). A server may repeat any of them.
    fn of_query(query: Option<&str>) -> Self {
        let mut secrets = Self::default();
        for pair in query.unwrap_or_default().split('&') {
            let value = pair.split_once('=').map_or(pair, |(_, value)| value);
            secrets.add(value);
            secrets.add(&percent_decoded(value));
            secrets.add(&percent_decoded(&value.replace('+', " ")));
        }
        secrets
    }

    fn add(&mut self, secret: &str) {
        if secret.len() >= Self::SHORTEST && !self.0.iter().any(|known| known == secret) {
            self.0.push(secret.to_owned());
            // Longest first, so that one that holds another is struck out whole.
            self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
    }

    /// The text with every secret replaced.
    pub(crate) fn strike_out(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            text.replace(secret.as_str(), "[secret]")
        })
    }
}

/// The text with each `%` and two hexadecimal digits as the byte they stand for; what is then not
/// UTF-8 becomes U+FFFD, as it does in an excerpt of a reply.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
        let byte = match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => u8::try_from(high * 16 + low).ok(),
            _ => None,
        };
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() {
            after.get(2..).unwrap_or_default()
        } else {
            after
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The address without query, fragment and user information.
pub(crate) fn without_secrets(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = url.get(..end).unwrap_or_default();
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(s, r)| (s, r));
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let host = authority.rsplit('@').next().unwrap_or_default();
    let separator = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{separator}{host}{path}")
}

fn is_loopback_host(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]"] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in [
            "localhost.example.org",
            "10.0.0.1",
            "128.0.0.1",
            "[::2]",
            "127.0.0.1.nip.io",
        ] {
            assert!(!is_loopback_host(host), "{host}");
        }
    }

    #[test]
    fn addresses_are_shown_without_what_may_be_secret() {
        for (url, shown) in [
            ("https://u:p@host/a?k=v", "https://host/a"),
            ("https://u:p@ss@host/a#f", "https://host/a"),
            ("u:p@host", "host"),
            ("https://host?key=1/x@y", "https://host"),
            ("", ""),
        ] {
            assert_eq!(without_secrets(url), shown);
        }
    }

    #[test]
    fn the_version_is_added_to_an_empty_path_only() {
        let path = |url: &str| Endpoint::new(url).unwrap().versioned("v1", "embeddings");
        assert_eq!(path("http://localhost:1"), "/v1/embeddings");
        assert_eq!(path("http://localhost:1/"), "/v1/embeddings");
        assert_eq!(path("http://localhost:1/v1/"), "/embeddings");
        assert_eq!(path("http://localhost:1/api/v3"), "/embeddings");
    }

    #[test]
    fn a_query_is_sent_with_every_call() {
        let endpoint = Endpoint::new("https://host/v1/?api-version=2024").unwrap();
        assert_eq!(
            endpoint.full("/embeddings"),
            "https://host/v1/embeddings?api-version=2024"
        );
        assert_eq!(endpoint.shown("/embeddings"), "https://host/v1/embeddings");
    }

    #[test]
    fn percent_signs_stand_for_bytes_where_two_digits_follow() {
        for (text, decoded) in [
            ("abc%2Bdef1", "abc+def1"),
            ("%e6%89%8b", "手"),
            ("%", "%"),
            ("%2", "%2"),
            ("%zz%2", "%zz%2"),
            ("%%41", "%A"),
            ("手%20册", "手 册"),
            ("%FF", "\u{FFFD}"),
        ] {
            assert_eq!(percent_decoded(text), decoded);
        }
    }

    #[test]
    fn a_later_key_replaces_an_earlier_one() {
        let endpoint = Endpoint::new("https://host").unwrap();
        let endpoint = endpoint
            .with_key("first-key")
            .unwrap()
            .with_key("second-key")
            .unwrap();
        assert_eq!(endpoint.headers().len(), 1);
        assert_eq!(endpoint.headers()[0].1, "Bearer second-key");
    }
}
