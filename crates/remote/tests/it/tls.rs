//! The other side of https is checked before anything is said to it.

use std::io::Read;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;

use cornu_remote::testing::{Reply, Server};
use cornu_remote::{Client, Endpoint, RemoteError};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, Stream};
use serde_json::{Value, json};

use crate::quick;

fn ask(url: &str) -> RemoteError {
    let endpoint = Endpoint::new(url)
        .unwrap()
        .with_key("sk-a-secret-key")
        .unwrap();
    let client = Client::new(endpoint, quick()).unwrap();
    client
        .post_json::<_, Value>("/x", &json!("a text"))
        .unwrap_err()
}

/// A server whose certificate names it rightly and is signed by nobody that counts. It takes one
/// connection, and gives what was said to it behind the handshake.
fn untrusted() -> (String, JoinHandle<Vec<u8>>) {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut said = Vec::new();
        // Ends with an error: the client hangs up.
        let _ = Stream::new(&mut connection, &mut socket).read_to_end(&mut said);
        said
    });
    (url, thread)
}

#[test]
fn a_certificate_that_nobody_signed_is_refused_at_once() {
    let (url, server) = untrusted();
    let error = ask(&url);
    assert!(
        matches!(
            error,
            RemoteError::Connection {
                transient: false,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(error.to_string().contains("certificate"), "{error}");
    assert_eq!(server.join().unwrap(), b"");
}

#[test]
fn a_server_that_does_not_speak_tls_learns_nothing() {
    let server = Server::scripted([Reply::text("1")]).unwrap();
    let error = ask(&server.url().replace("http://", "https://"));
    let said = format!("{error:?}");
    assert!(
        said.contains("Connection") || said.contains("Timeout"),
        "{said}"
    );
    let heard = format!("{:?}", server.requests());
    assert!(
        !heard.contains("a text") && !heard.contains("sk-a-secret-key"),
        "{heard}"
    );
}
