//! The providers that need no model file: hash, and those over HTTP against a local server.

mod contract;
mod faults;
mod gemini;
mod hash;
mod limits;
mod openai;

use std::time::Duration;

use cornu_core::EmbeddingProvider;
use cornu_embed::{
    GeminiEmbeddingProvider, GeminiOptions, HashEmbeddingProvider, OpenAiEmbeddingProvider,
    OpenAiOptions,
};
use cornu_remote::testing::{Reply, Request, Server};
use cornu_remote::{Endpoint, Policy};
use serde_json::{Value, json};

const KEY: &str = "key-that-nobody-may-see-42";

/// Small waits, so that the tests are quick.
fn quick() -> Policy {
    Policy {
        connect: Duration::from_secs(2),
        read: Duration::from_millis(500),
        total: Duration::from_secs(5),
        retries: 2,
        backoff: Duration::from_millis(10),
        backoff_cap: Duration::from_millis(40),
        ..Policy::default()
    }
}

/// Both APIs over the hash provider. Vectors come three times too long, and in OpenAI's API in
/// reverse order with the right numbers.
fn embedding_server() -> Server {
    Server::start(|_, request| Reply::json(&answer(request))).unwrap()
}

fn answer(request: &Request) -> Value {
    let body = request.json();
    let vector = |text: &str, dimension: usize| {
        let hashed = HashEmbeddingProvider::new(dimension).unwrap();
        (hashed.embed_query(text).unwrap() * 3.0).to_vec()
    };
    if let Some(requests) = body["requests"].as_array() {
        let embeddings = requests.iter().map(|request| {
            let dimension = request["outputDimensionality"].as_u64().unwrap() as usize;
            let text = request["content"]["parts"][0]["text"].as_str().unwrap();
            let task = request["taskType"].as_str().unwrap();
            json!({ "values": vector(&format!("{task} {text}"), dimension) })
        });
        return json!({ "embeddings": embeddings.collect::<Vec<_>>() });
    }
    let dimension = body["dimensions"].as_u64().unwrap_or(64) as usize;
    let input = body["input"].as_array().unwrap();
    let data = input.iter().enumerate().rev().map(|(index, text)| {
        json!({ "index": index, "embedding": vector(text.as_str().unwrap(), dimension) })
    });
    let tokens: usize = input.iter().map(|text| text.as_str().unwrap().len()).sum();
    json!({ "data": data.collect::<Vec<_>>(), "usage": { "prompt_tokens": tokens } })
}

fn options() -> OpenAiOptions {
    OpenAiOptions {
        dimension: Some(64),
        query_prefix: "query: ".into(),
        document_prefix: "passage: ".into(),
        policy: quick(),
        ..OpenAiOptions::default()
    }
}

fn openai(server: &Server, options: OpenAiOptions) -> OpenAiEmbeddingProvider {
    let endpoint = Endpoint::new(&server.url()).unwrap().with_key(KEY).unwrap();
    OpenAiEmbeddingProvider::new(endpoint, "test-model", options).unwrap()
}

fn gemini(server: &Server, dimension: usize) -> GeminiEmbeddingProvider {
    let options = GeminiOptions {
        dimension,
        base_url: server.url(),
        policy: quick(),
        ..GeminiOptions::default()
    };
    GeminiEmbeddingProvider::new(KEY, options).unwrap()
}

/// The texts of each request, in the order in which the requests arrived.
fn sent_texts(server: &Server) -> Vec<Vec<String>> {
    let texts = |request: &Request| {
        let body = request.json();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        match body["requests"].as_array() {
            Some(all) => all
                .iter()
                .map(|one| text(&one["content"]["parts"][0]["text"]))
                .collect(),
            None => body["input"].as_array().unwrap().iter().map(text).collect(),
        }
    };
    server.requests().iter().map(texts).collect()
}
