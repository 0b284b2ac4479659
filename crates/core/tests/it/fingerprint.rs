//! Fingerprints: equal exactly when model and all settings are.

use std::collections::BTreeMap;

use cornu_core::Fingerprint;
use proptest::prelude::*;

type Settings = BTreeMap<String, String>;

fn settings() -> impl Strategy<Value = Settings> {
    let word = prop::sample::select(vec![
        "", "a", "b", "ab", "pool", "cls", "c ls", ";", "=", "中",
    ]);
    let word = word.prop_map(str::to_owned).boxed();
    prop::collection::btree_map(word.clone(), word, 0..4)
}

fn make(model: &str, settings: &Settings) -> Fingerprint {
    let start = Fingerprint::new(model);
    settings
        .iter()
        .fold(start, |print, (name, value)| print.with(name, value))
}

proptest! {
    #[test]
    fn digest_and_differences_agree_with_equality(
        models in [prop::sample::select(vec!["e5", "bge", ""]), prop::sample::select(vec!["e5", "bge", ""])],
        a in settings(),
        b in settings(),
    ) {
        let (there, here) = (make(models[0], &a), make(models[1], &b));
        let equal = models[0] == models[1] && a == b;
        prop_assert_eq!(there == here, equal);
        prop_assert_eq!(there.digest() == here.digest(), equal);
        let differences = there.differences(&here);
        let changed = a.keys().chain(b.keys()).collect::<std::collections::BTreeSet<_>>();
        let changed = changed.into_iter().filter(|name| a.get(*name) != b.get(*name)).count();
        prop_assert_eq!(differences.len(), changed + usize::from(models[0] != models[1]));
        prop_assert_eq!(here.differences(&there).len(), differences.len());
    }
}

#[test]
fn differences_name_setting_and_both_values() {
    let there = Fingerprint::new("a")
        .with("dimension", 384)
        .with("limit", 512);
    let here = Fingerprint::new("b")
        .with("dimension", 768)
        .with("prefix", "query: ");
    assert_eq!(
        there.differences(&here),
        [
            r#"model: "a" there, "b" here"#,
            r#"dimension: "384" there, "768" here"#,
            r#"limit: "512" there, absent here"#,
            r#"prefix: absent there, "query: " here"#,
        ]
    );
    assert_eq!(there.with("limit", 1).get("limit"), Some("1"));
}

/// Pinned: an index written by one version has to be read by the next.
#[test]
fn the_digest_is_the_documented_hash() {
    let print = Fingerprint::new("m").with("k", "v");
    let mut hasher = blake3::Hasher::new_derive_key("cornu fingerprint v1");
    for part in ["m", "k", "v"] {
        hasher.update(&1_u64.to_le_bytes());
        hasher.update(part.as_bytes());
    }
    assert_eq!(print.digest(), *hasher.finalize().as_bytes());
}
