//! MaxSim as a reranker, with an embedder that is known by heart.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cornu_core::{
    ByteSpan, Fingerprint, ProviderError, Side, TextTokens, TokenEmbedder, TokenVectors,
};
use cornu_rerank::{
    Candidate, Candidates, MaxSim, Precision, RerankError, Reranker, Scale, TokenSpace,
    TokensError, Unscored,
};
use ndarray::Array2;

use crate::{id, order};

/// One vector a letter, at the letter's place, and before all a special token at place 0.
pub(crate) struct Letters {
    fingerprint: Fingerprint,
    calls: AtomicUsize,
}

impl Default for Letters {
    fn default() -> Self {
        Self {
            fingerprint: Fingerprint::new("letters"),
            calls: AtomicUsize::new(0),
        }
    }
}

impl Letters {
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

impl TokenEmbedder for Letters {
    fn token_dimension(&self) -> usize {
        27
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn embed_tokens(&self, texts: &[&str], _: Side) -> Result<Vec<TokenVectors>, ProviderError> {
        self.calls.fetch_add(texts.len(), Ordering::Relaxed);
        let one = |text: &&str| {
            let letters: Vec<(usize, u8)> = text
                .bytes()
                .enumerate()
                .filter(|(_, byte)| byte.is_ascii_lowercase())
                .collect();
            let mut vectors = Array2::zeros((letters.len() + 1, 27));
            vectors[(0, 0)] = 1.0;
            for (row, (_, letter)) in letters.iter().enumerate() {
                vectors[(row + 1, usize::from(letter - b'a') + 1)] = 1.0;
            }
            let span = |at| Some(ByteSpan::new(at, at + 1).unwrap());
            let spans = letters.iter().map(|&(at, _)| span(at));
            TokenVectors {
                vectors,
                spans: [None].into_iter().chain(spans).collect(),
                tokens: TextTokens::whole(letters.len()),
            }
        };
        Ok(texts.iter().map(one).collect())
    }
}

fn space() -> (Arc<Letters>, TokenSpace) {
    let letters = Arc::new(Letters::default());
    (Arc::clone(&letters), TokenSpace::new(letters))
}

#[test]
fn stored_vectors_give_the_score_of_vectors_computed_on_the_spot() {
    let texts = ["abc", "bcd", "xyz", "a"];
    for precision in [Precision::F32, Precision::F16, Precision::Int8] {
        let (letters, space) = space();
        let space = space.with_precision(precision);
        let stored = space.documents(&texts).unwrap();
        let reranker = MaxSim::new(space);
        let with = |which: &dyn Fn(usize) -> bool| {
            let all = texts.iter().enumerate().map(|(at, text)| Candidate {
                tokens: stored.get(at).filter(|_| which(at)),
                ..Candidate::new(id(at), text, -(at as f64))
            });
            let before = letters.calls();
            let reranked = reranker
                .rerank("bcx", &Candidates::new(all).unwrap())
                .unwrap();
            (reranked, letters.calls() - before)
        };
        let (all, calls) = with(&|_| true);
        assert_eq!(calls, 1, "the query alone");
        let (some, calls) = with(&|at| at != 1);
        assert_eq!(calls, 2, "the query and the document without vectors");
        assert_eq!(all, some);
        assert_eq!(with(&|_| false).0, all);
        // The special token matches everywhere: 1 for each, and the letters in common.
        let scores: Vec<f64> = all
            .entries()
            .iter()
            .map(|entry| entry.outcome.score().unwrap().value())
            .collect();
        assert_eq!(order(&all), [0, 1, 2, 3]);
        assert_eq!(scores, [3.0, 3.0, 2.0, 1.0], "{precision:?}");
        assert_eq!(all.scored().as_slice()[0].score, 3.0);
        assert_eq!(
            all.entries()[0].outcome.score().unwrap().scale(),
            Scale::MaxSim
        );
    }
}

#[test]
fn special_tokens_count_or_not_on_both_sides() {
    let (_, space) = space();
    let space = space.with_special_tokens(false);
    assert_eq!(space.documents(&["ab"]).unwrap()[0].len(), 2);
    assert_eq!(space.query("abc").unwrap().len(), 3);
    assert_ne!(
        space.fingerprint(),
        TokenSpace::new(Arc::new(Letters::default())).fingerprint()
    );
    let reranker = MaxSim::new(space);
    let found = [("ab", 0.9), ("", 0.8), ("b", 0.7)];
    let found = found
        .iter()
        .enumerate()
        .map(|(at, (text, score))| Candidate::new(id(at), text, *score));
    let found = Candidates::new(found).unwrap();
    let reranked = reranker.rerank("b", &found).unwrap();
    // A tie stays in first-stage order; what has no token has no score.
    assert_eq!(order(&reranked), [0, 2, 1]);
    assert_eq!(
        reranked.entries()[2].outcome.unscored(),
        Some(Unscored::NoTokens)
    );
    // Nor does anything when the query has none that counts.
    let nothing = reranker.rerank("?", &found).unwrap();
    assert_eq!(
        (order(&nothing), nothing.report().scored),
        (vec![0, 1, 2], 0)
    );
}

#[test]
fn matches_say_which_token_answers_which() {
    let (_, space) = space();
    let reranker = MaxSim::new(space);
    let candidate = Candidate::new(id(0), "b, a", 1.0);
    let matches = reranker.explain("az", &candidate).unwrap();
    let span = |start| Some(ByteSpan::new(start, start + 1).unwrap());
    let pairs: Vec<_> = matches
        .iter()
        .map(|one| (one.query, one.document, one.similarity))
        .collect();
    assert_eq!(
        pairs,
        [
            (None, None, 1.0),
            (span(0), span(3), 1.0),
            // Nothing is near to z; of equals the first, here the special token, is named.
            (span(1), None, 0.0),
        ]
    );
    let scored = reranker
        .rerank("az", &Candidates::new([candidate]).unwrap())
        .unwrap();
    let sum: f64 = matches.iter().map(|one| one.similarity).sum();
    assert_eq!(scored.entries()[0].outcome.score().unwrap().value(), sum);
}

#[test]
fn an_embedder_that_misbehaves_is_an_error() {
    struct Bad(Fingerprint, &'static str);
    impl TokenEmbedder for Bad {
        fn token_dimension(&self) -> usize {
            2
        }
        fn fingerprint(&self) -> &Fingerprint {
            &self.0
        }
        fn embed_tokens(
            &self,
            texts: &[&str],
            side: Side,
        ) -> Result<Vec<TokenVectors>, ProviderError> {
            let document = side == Side::Document;
            let count = texts.len() + usize::from(self.1 == "more" && document);
            let width = if self.1 == "wider" && document { 3 } else { 2 };
            let value = if self.1 == "nan" && document {
                f32::NAN
            } else {
                0.5
            };
            let spans = 1 + usize::from(self.1 == "spans" && document);
            let one = TokenVectors {
                vectors: Array2::from_elem((1, width), value),
                spans: vec![None; spans],
                tokens: TextTokens::whole(1),
            };
            Ok(vec![one; count])
        }
    }
    let rerank = |how| {
        let space = TokenSpace::new(Arc::new(Bad(Fingerprint::new("bad"), how)));
        let found = Candidates::new([Candidate::new(id(0), "a", 1.0)]).unwrap();
        MaxSim::new(space).rerank("q", &found)
    };
    assert!(rerank("well").is_ok());
    assert!(matches!(
        rerank("more"),
        Err(RerankError::Rows {
            sent: 1,
            found: 2,
            ..
        })
    ));
    let tokens = |how| match rerank(how) {
        Err(RerankError::Tokens(error)) => error,
        other => panic!("{how}: {other:?}"),
    };
    assert!(matches!(
        tokens("wider"),
        TokensError::Dimension {
            query: 2,
            document: 3
        }
    ));
    assert!(matches!(
        tokens("nan"),
        TokensError::NotFinite { token: 0, .. }
    ));
    assert!(matches!(
        tokens("spans"),
        TokensError::Mask { mask: 2, tokens: 1 }
    ));
}
