//! The only crate of Cornu that opens a socket: JSON over HTTP to embedding and chat servers.
//!
//! | module | what it holds |
//! |---|---|
//! | [`endpoint`] | [`Endpoint`]: where a server is, and the key it wants |
//! | [`policy`] | [`Policy`]: time limits, retries, the size of a reply |
//! | [`client`] | [`Client`]: `post_json`, with the policy applied |
//! | [`openai`] | `/v1/embeddings` and `/v1/chat/completions` |
//! | [`gemini`] | `batchEmbedContents` |
//! | [`chat`] | [`OpenAiChatProvider`]: a chat server as a model that writes |
//! | [`disclosure`] | [`Disclosure`]: which documents may leave the machine |
//! | [`error`] | [`RemoteError`]: what went wrong, where, and what to do |
//!
//! # What leaves the machine
//!
//! Nothing, unless you make a [`Client`]: no other type here, and no other crate of Cornu, sends a
//! byte. A client sends what it is given to the one server it was made for. It follows no
//! redirect, uses no proxy unless told to, speaks plain HTTP to this machine only (unless told
//! otherwise), and keeps no cookie. Naming a remote provider is the consent for public documents;
//! for all others [`Disclosure`] is a second, explicit switch.
//!
//! A key appears in the request's header and nowhere else: not in `Debug`, not in an error, not
//! when a server sends it back.
//!
//! # Example
//!
//! ```no_run
//! use cornu_remote::{Client, Endpoint, Policy, openai::EmbeddingsRequest};
//!
//! let endpoint = Endpoint::new("http://localhost:8080")?;
//! let client = Client::new(endpoint, Policy::default())?;
//! let reply = client.embeddings(&EmbeddingsRequest::new("BAAI/bge-m3", ["如何清空梯度"]))?;
//! assert_eq!(reply.vectors.len(), 1);
//! # Ok::<(), cornu_remote::RemoteError>(())
//! ```
//!
//! # Features
//!
//! - `testing`: the module `testing`, a local server that misbehaves on request, for tests of what is
//!   built on this crate.

pub mod chat;
pub mod client;
pub mod disclosure;
pub mod endpoint;
pub mod error;
pub mod gemini;
pub mod openai;
pub mod policy;
#[cfg(feature = "testing")]
pub mod testing;

pub use chat::{OpenAiChatOptions, OpenAiChatProvider};
pub use client::Client;
pub use disclosure::Disclosure;
pub use endpoint::Endpoint;
pub use error::RemoteError;
pub use policy::Policy;

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
