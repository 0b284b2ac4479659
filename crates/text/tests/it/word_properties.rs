//! What holds for the words of every text.

use cornu_text::{Han, StopWords, Tokenizer, search_fold};
use proptest::prelude::*;

use crate::texts::any_text;

fn tokenizer() -> impl Strategy<Value = Tokenizer> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(bigrams, parts, markup, stop)| {
            let mut builder = Tokenizer::builder().parts(parts).markup(markup);
            if bigrams {
                builder = builder.han(Han::Bigrams);
            }
            if stop {
                builder = builder.stop_words(StopWords::Common);
            }
            builder.build()
        },
    )
}

proptest! {
    #[test]
    fn spans_are_in_order_and_parts_lie_in_their_whole(text in any_text(), tokenizer in tokenizer()) {
        for tokens in [tokenizer.tokens(&text), tokenizer.query(&text)] {
            for pair in tokens.windows(2) {
                let (a, b) = (pair[0].span, pair[1].span);
                prop_assert!(
                    a.start() < b.start() || (a.start() == b.start() && a.end() > b.end()),
                    "{:?} before {:?}", pair[0], pair[1]
                );
            }
            for (at, token) in tokens.iter().enumerate() {
                prop_assert!(!token.text.is_empty());
                prop_assert!(token.span.slice(&text).is_some_and(|part| !part.is_empty()));
                if let Some(whole) = token.part_of {
                    prop_assert!(whole < at);
                    prop_assert!(tokens[whole].span.contains(token.span), "{:?}", token);
                }
            }
        }
    }

    #[test]
    fn tokens_are_deterministic_and_folded(text in any_text(), tokenizer in tokenizer()) {
        let tokens = tokenizer.tokens(&text);
        prop_assert_eq!(&tokens, &tokenizer.clone().tokens(&text));
        for token in tokens {
            // Powers, indices and fractions stay as they are.
            let raised = token.text.chars().any(|c| {
                ('\u{2070}'..='\u{208E}').contains(&c) || (c.is_numeric() && !c.is_alphabetic() && !c.is_ascii())
            });
            prop_assert!(raised || search_fold(&token.text) == token.text, "{:?}", token);
        }
    }

    #[test]
    fn every_letter_and_digit_is_in_a_token(text in any_text(), bigrams: bool, parts: bool) {
        let mut builder = Tokenizer::builder().parts(parts).markup(false);
        if bigrams {
            builder = builder.han(Han::Bigrams);
        }
        let mut covered = vec![false; text.len()];
        for token in builder.build().tokens(&text) {
            covered[token.span.range()].fill(true);
        }
        for (at, c) in text.char_indices() {
            prop_assert!(covered[at] || !c.is_alphanumeric(), "{c:?} at {at} is in no token");
        }
    }

    #[test]
    fn a_text_finds_itself_whatever_its_case(text in "[a-zA-Z0-9_ .#+-]{0,40}") {
        let tokenizer = Tokenizer::new();
        let whole = |text: &str| -> Vec<String> {
            let tokens = tokenizer.tokens(text);
            tokens.into_iter().filter(|t| t.part_of.is_none()).map(|t| t.text).collect()
        };
        prop_assert_eq!(whole(&text), whole(&text.to_ascii_uppercase()));
    }

    #[test]
    fn cutting_questions_never_panic(text in any_text(), tokenizer in tokenizer()) {
        for at in 0..text.len() + 2 {
            let _ = tokenizer.cuts_word(&text, at);
        }
    }

    /// End to end, nothing left out, each at its place.
    #[cfg(feature = "jieba")]
    #[test]
    fn tagged_words_cover_the_text(text in any_text()) {
        let mut end = 0;
        for word in cornu_text::tagged_words(&text) {
            prop_assert_eq!(word.span.start, end);
            prop_assert_eq!(text.get(word.span.clone()), Some(word.text));
            prop_assert!(!word.text.is_empty() && !word.tag.is_empty(), "{:?}", word);
            end = word.span.end;
        }
        prop_assert_eq!(end, text.len());
    }
}
