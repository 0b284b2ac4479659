//! The limit that is kept on our side, and the token counts.

use std::sync::Arc;

use cornu_core::{EmbeddingProvider, Fingerprint, ProviderError, TextTokens, TokenCounter};
use cornu_embed::OpenAiOptions;
use cornu_embed::requests::{TokenLimit, Truncation};

use super::{embedding_server, openai, options, sent_texts};

struct Characters(Fingerprint);

impl TokenCounter for Characters {
    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
    fn count(&self, text: &str) -> usize {
        text.chars().count()
    }
}

/// "query: " has 7 characters, "passage: " has 9; each text has room for 5.
fn limited(truncation: Truncation, tokens: usize) -> OpenAiOptions {
    let counter = Arc::new(Characters(Fingerprint::new("characters")));
    OpenAiOptions {
        limit: Some(TokenLimit {
            counter,
            tokens,
            truncation,
        }),
        ..options()
    }
}

#[test]
fn a_text_that_is_too_long_is_refused_before_anything_is_sent() {
    let server = embedding_server();
    let provider = openai(&server, limited(Truncation::Error, 14));
    let error = provider
        .embed(&["短", "一二三四五", "一二三四五六"])
        .unwrap_err();
    assert!(
        matches!(
            error,
            ProviderError::TooLong {
                index: 2,
                tokens: 6,
                limit: 5
            }
        ),
        "{error:?}"
    );
    assert!(server.requests().is_empty());
    assert_eq!(provider.embed(&["短", "一二三四五"]).unwrap().nrows(), 2);
    assert!(provider.embed_query("一二三四五六七").is_ok());
    assert!(provider.embed_query("一二三四五六七八").is_err());
}

#[test]
fn em_01_what_is_cut_is_counted() {
    for (truncation, sent) in [
        (Truncation::Right, "一二三四五"),
        (Truncation::Left, "三四五六七"),
    ] {
        let server = embedding_server();
        let provider = openai(&server, limited(truncation, 14));
        let embeddings = provider.embed_counted(&["短", "一二三四五六七"]).unwrap();
        let cut = TextTokens { kept: 5, total: 7 };
        assert_eq!(embeddings.tokens, [TextTokens::whole(1), cut]);
        assert_eq!(embeddings.truncated().collect::<Vec<_>>(), [1]);
        assert_eq!(sent_texts(&server)[0][1], format!("passage: {sent}"));
        assert!(provider.fingerprint().get("truncation").is_some());
    }
}

#[test]
fn a_prefix_that_leaves_no_room_is_an_error_whatever_the_truncation() {
    let server = embedding_server();
    for truncation in [Truncation::Error, Truncation::Left, Truncation::Right] {
        let error = openai(&server, limited(truncation, 9))
            .embed(&["一"])
            .unwrap_err();
        assert!(
            matches!(error, ProviderError::TooLong { index: 0, .. }),
            "{error:?}"
        );
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_limit_that_refuses_changes_no_fingerprint_and_one_that_cuts_does() {
    let server = embedding_server();
    let print = |options| openai(&server, options).fingerprint().clone();
    assert_eq!(print(options()), print(limited(Truncation::Error, 14)));
    assert_ne!(print(options()), print(limited(Truncation::Right, 14)));
    assert_ne!(
        print(limited(Truncation::Left, 14)),
        print(limited(Truncation::Right, 14))
    );
    assert_ne!(
        print(limited(Truncation::Right, 15)),
        print(limited(Truncation::Right, 14))
    );
}

#[test]
fn without_a_limit_the_servers_count_is_shared_out() {
    let server = embedding_server();
    let provider = openai(&server, options());
    // The server counts bytes, prefix included.
    let tokens = provider
        .embed_counted(&["", "abc", "一二三四五六"])
        .unwrap()
        .tokens;
    let totals: Vec<usize> = tokens.iter().map(|tokens| tokens.total).collect();
    assert_eq!(totals.iter().sum::<usize>(), 3 * 9 + 3 + 18);
    assert_eq!(totals[0], 0);
    assert!(totals[1] < totals[2]);
    let one = provider.embed_counted(&["abc"]).unwrap().tokens;
    assert_eq!(one, [TextTokens::whole(12)]);
}
