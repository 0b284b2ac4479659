//! The packed 4-bit file, against SentencePiece and against the engine that it comes with.

use std::collections::BTreeSet;

use cornu_core::TokenCounter;
use cornu_embed::bert::{HfTokenCounter, PackedModel};
use unicode_normalization::UnicodeNormalization;

use super::{data, json, model, oracle_texts};

fn ids(value: &serde_json::Value) -> Vec<u32> {
    serde_json::from_value(value.clone()).unwrap()
}

/// Ids are SentencePiece's over the same pieces, on every text. The engine's own differ where it
/// leaves the original: a space at the end, decomposed letters, runs of unknown characters, and
/// control pieces spelt out in a text.
#[test]
fn e5_token_ids_are_sentencepieces() {
    let Some(folder) = model("multilingual-e5-small-q4") else {
        return;
    };
    let tokenizer = PackedModel::open(&folder.join("e5-small-q4.bin"))
        .unwrap()
        .tokenizer()
        .unwrap();
    let oracle = json(&data("e5.json"));
    let texts = oracle_texts();
    let rows = oracle["ids"].as_array().unwrap();
    assert!(texts.len() >= 50 && texts.len() == rows.len());
    let mut as_engine = 0;
    for (text, row) in texts.iter().zip(rows) {
        let ours = tokenizer.ids(&format!("passage: {text}")).unwrap();
        assert_eq!(ours, ids(&row["ids"]), "{text:?}");
        match row.get("engine") {
            None => as_engine += 1,
            Some(_) => assert!(
                text.is_empty()
                    || text.ends_with(' ')
                    || text.contains(['\u{301}', '𒀀'])
                    || text.contains("<s>"),
                "{text:?}"
            ),
        }
    }
    assert!(as_engine >= 69, "{as_engine}");
}

/// Every entry of the file's map: what a code point becomes is what it becomes in the middle of a
/// word, and that is NFKC but for the entries counted here.
#[test]
fn all_entries_of_the_normalisation_map_are_carried() {
    let Some(folder) = model("multilingual-e5-small-q4") else {
        return;
    };
    let packed = PackedModel::open(&folder.join("e5-small-q4.bin")).unwrap();
    let tokenizer = packed.tokenizer().unwrap();
    let mut exceptions = BTreeSet::new();
    let mut count = 0;
    for (from, to) in packed.normalisation() {
        count += 1;
        let through = tokenizer.ids(&format!("a{from}b")).unwrap();
        let direct = tokenizer.ids(&format!("a{to}b")).unwrap();
        assert_eq!(through, direct, "{from:?} to {to:?}");
        if from.nfkc().collect::<String>() != to {
            exceptions.insert(from);
        }
    }
    assert_eq!(count, 4837);
    // Control characters and exotic spaces that are deleted or become a space, for the most part.
    let controls = exceptions.iter().filter(|from| from.is_control()).count();
    assert_eq!((exceptions.len(), controls), (45, 34));
    assert_eq!(
        tokenizer.ids("a\u{200b}b").unwrap(),
        tokenizer.ids("a b").unwrap()
    );
    // The oracle's script holds the map against SentencePiece over all code points; two that
    // differ compose with the letters around them there, the others came to Unicode later.
    let oracle = json(&data("e5.json"));
    assert_eq!(
        oracle["map_differs_from_nmt_nfkc_at"]
            .as_array()
            .unwrap()
            .len(),
        176
    );
}

#[test]
fn the_packed_tokenizer_counts_and_fits() {
    let Some(folder) = model("multilingual-e5-small-q4") else {
        return;
    };
    let counter = HfTokenCounter::open(&folder).unwrap();
    assert_eq!(counter.count(""), 0);
    for text in oracle_texts() {
        for limit in [0, 1, 3, 100] {
            let end = counter.fit(&text, limit);
            assert!(counter.count(&text[..end]) <= limit);
            if let Some(next) = text[end..].chars().next() {
                let more = counter.count(&text[..end + next.len_utf8()]);
                assert!(more > limit, "{text:?} {limit} {end}");
            }
        }
    }
}
