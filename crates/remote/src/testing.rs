//! A local server that misbehaves on request.
//!
//! For the tests of what is built on this crate: the retries, limits and checks of a client are
//! worth what they do when the other side is slow, wrong or gone. Speaks just enough HTTP/1.1.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A server on a free port of 127.0.0.1; ends when dropped.
///
/// ```
/// use cornu_remote::testing::{Reply, Server};
/// use cornu_remote::{Client, Endpoint, Policy};
/// use serde_json::{Value, json};
///
/// let server = Server::scripted([Reply::json(&json!({ "ok": true }))])?;
/// let client = Client::new(Endpoint::new(&server.url())?, Policy::once())?;
/// let reply: Value = client.post_json("/echo", &json!({ "n": 1 }))?;
/// assert_eq!(reply["ok"], true);
/// assert_eq!(server.requests()[0].path, "/echo");
/// assert_eq!(server.requests()[0].json()["n"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

type Handler = dyn Fn(usize, &Request) -> Reply + Send + Sync;

struct Shared {
    handler: Box<Handler>,
    requests: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    stopped: AtomicBool,
}

impl Server {
    /// A server that answers by a function of the request and its number, from 0.
    ///
    /// # Errors
    /// When no port can be had.
    pub fn start(
        handler: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            handler: Box::new(handler),
            requests: Mutex::new(Vec::new()),
            connections: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let acceptor = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Ok(Self {
            address,
            shared,
            acceptor: Some(acceptor),
        })
    }

    /// A server that gives these replies in turn, and the last one again and again.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn scripted(replies: impl IntoIterator<Item = Reply>) -> io::Result<Self> {
        let replies: Vec<Reply> = replies.into_iter().collect();
        Self::start(move |number, _| {
            let reply = replies.get(number).or_else(|| replies.last());
            reply.cloned().unwrap_or_else(Reply::hang_up)
        })
    }

    /// `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was asked so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// How many connections were made so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the acceptor; should that fail, it ends with the next connection or the process.
        if TcpStream::connect(self.address).is_ok()
            && let Some(acceptor) = self.acceptor.take()
        {
            let _ = acceptor.join();
        }
    }
}

/// A request that arrived.
///
/// ```
/// use cornu_remote::testing::Request;
/// let request = Request {
///     method: "POST".into(),
///     path: "/".into(),
///     headers: vec![("Accept".into(), "text/plain".into())],
///     body: b"[1]".to_vec(),
/// };
/// assert_eq!(request.header("accept"), Some("text/plain"));
/// assert_eq!(request.json()[0], 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `POST`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// The first value of a header; case does not matter in its name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null when it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// What the server does with a request.
///
/// ```
/// use std::time::Duration;
/// use cornu_remote::testing::Reply;
/// let reply = Reply::status(429, "slow down").with_header("Retry-After", "1");
/// let slow = Reply::text("{}").after(Duration::from_secs(2));
/// assert_ne!(reply, slow);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    announced: Option<usize>,
    delay: Duration,
    pause: Duration,
    raw: bool,
    endless: bool,
}

impl Reply {
    /// Status 200 with any body.
    #[must_use]
    pub fn text(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            body: body.into(),
            announced: None,
            delay: Duration::ZERO,
            pause: Duration::ZERO,
            raw: false,
            endless: false,
        }
    }

    /// Status 200 with JSON.
    #[must_use]
    pub fn json(body: &Value) -> Self {
        Self::text(body.to_string()).with_header("Content-Type", "application/json")
    }

    /// Another status.
    #[must_use]
    pub fn status(status: u16, body: &str) -> Self {
        Self {
            status,
            ..Self::text(body)
        }
    }

    /// These bytes, without a status line or headers of the server's own.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            raw: true,
            ..Self::text(bytes)
        }
    }

    /// The connection is closed without a word.
    #[must_use]
    pub fn hang_up() -> Self {
        Self::raw("")
    }

    /// A body that never ends, in chunks.
    #[must_use]
    pub fn endless() -> Self {
        Self {
            endless: true,
            ..Self::text("0".repeat(16 << 10))
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Announces another length than the body has, and closes the connection after the body.
    #[must_use]
    pub fn announcing(mut self, bytes: usize) -> Self {
        self.announced = Some(bytes);
        self
    }

    /// Announces the whole body and sends only its first bytes.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.announced = Some(self.body.len());
        self.body.truncate(bytes);
        self
    }

    /// Waits before the first byte.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Waits after every byte of the body.
    #[must_use]
    pub fn dripping(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Writes the reply; gives whether the connection may be used again.
    fn write(&self, stream: &mut TcpStream, shared: &Shared) -> io::Result<bool> {
        sleep(self.delay, shared);
        if self.raw {
            stream.write_all(&self.body)?;
            return Ok(false);
        }
        let mut head = format!("HTTP/1.1 {} Scripted\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if self.endless {
            head.push_str("Transfer-Encoding: chunked\r\n\r\n");
            stream.write_all(head.as_bytes())?;
            while !shared.is_stopped() {
                stream.write_all(format!("{:x}\r\n", self.body.len()).as_bytes())?;
                stream.write_all(&self.body)?;
                stream.write_all(b"\r\n")?;
            }
            return Ok(false);
        }
        let length = self.announced.unwrap_or(self.body.len());
        head.push_str(&format!("Content-Length: {length}\r\n\r\n"));
        stream.write_all(head.as_bytes())?;
        if self.pause.is_zero() {
            stream.write_all(&self.body)?;
        } else {
            for byte in &self.body {
                if shared.is_stopped() {
                    return Ok(false);
                }
                stream.write_all(&[*byte])?;
                sleep(self.pause, shared);
            }
        }
        Ok(self.announced.is_none())
    }
}

impl Shared {
    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_stopped() {
            return;
        }
        if let Ok(stream) = stream {
            shared.connections.fetch_add(1, Ordering::SeqCst);
            let shared = Arc::clone(shared);
            // A connection that breaks is what this server is for.
            std::thread::spawn(move || serve(stream, &shared).unwrap_or(()));
        }
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    while let Some(request) = read_request(&mut reader)? {
        let number = {
            let mut requests = lock(&shared.requests);
            requests.push(request.clone());
            requests.len() - 1
        };
        let reply = (shared.handler)(number, &request);
        if !reply.write(&mut stream, shared)? {
            break;
        }
    }
    Ok(())
}

/// The next request of a connection; `None` when the client has closed it.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let method = words.next().unwrap_or_default();
    let path = words.next().unwrap_or_default();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_owned(), value.trim().to_owned())),
            None => break,
        }
    }
    let mut request = Request {
        method,
        path,
        headers,
        body: Vec::new(),
    };
    let length = request
        .header("content-length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    reader.take(length).read_to_end(&mut request.body)?;
    Ok(Some(request))
}

/// Sleeps, and wakes early when the server ends.
fn sleep(time: Duration, shared: &Shared) {
    let until = Instant::now() + time;
    while !shared.is_stopped() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(Duration::from_millis(20)));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
