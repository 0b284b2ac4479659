//! The serialised forms stay, and reading them back checks what construction checks.

use cornu_core::{
    Acl, ByteSpan, Chunk, ChunkId, ContentHash, DocId, Fingerprint, Grant, LineSpan, Principal,
    Ranking, Trace,
};
use proptest::prelude::*;
use serde_json::{Value, from_value, json, to_value};

#[test]
fn names_are_strings_and_are_checked_when_read() {
    assert_eq!(
        to_value(Acl::new(["hr", "a,b"]).unwrap()).unwrap(),
        json!(["a,b", "hr"])
    );
    assert_eq!(
        from_value::<Acl>(json!(["cafe\u{301}"])).unwrap(),
        Acl::new(["caf\u{e9}"]).unwrap()
    );
    assert!(from_value::<Acl>(json!([" hr"])).is_err());
    assert!(from_value::<Grant>(json!("")).is_err());
    assert!(from_value::<Principal>(json!(["a\u{0}"])).is_err());
    assert!(from_value::<DocId>(json!("")).is_err());
    assert!(from_value::<ChunkId>(json!("ab")).is_err());
}

#[test]
fn spans_are_checked_when_read() {
    assert_eq!(
        to_value(ByteSpan::new(3, 5).unwrap()).unwrap(),
        json!({"start": 3, "end": 5})
    );
    assert_eq!(
        to_value(LineSpan::new(3, 5).unwrap()).unwrap(),
        json!({"first": 3, "last": 5})
    );
    assert!(from_value::<ByteSpan>(json!({"start": 5, "end": 3})).is_err());
    assert!(from_value::<LineSpan>(json!({"first": 0, "last": 3})).is_err());
    assert!(from_value::<LineSpan>(json!({"first": 5, "last": 3})).is_err());
}

#[test]
fn a_ranking_and_a_trace_are_lists() {
    let ranking = Ranking::new([("a", 1.0), ("b", 2.0)]).unwrap();
    assert_eq!(
        to_value(ranking).unwrap(),
        json!([{"id": "b", "score": 2.0}, {"id": "a", "score": 1.0}])
    );
    let mut trace = Trace::new();
    trace.step("dense").note("k", 3_u64).note("exact", true);
    assert_eq!(
        to_value(trace).unwrap(),
        json!([{"stage": "dense", "notes": [["k", 3], ["exact", true]]}])
    );
}

fn chunk(text: &str, start: usize) -> Chunk {
    serde_json::from_value(json!({
        "id": "00".repeat(32), "doc": "a.md", "kind": "code", "role": "parent", "parent": null,
        "heading_path": [text], "span": {"start": start, "end": start + text.len()},
        "core": {"start": 0, "end": start + text.len()}, "lines": {"first": 1, "last": 1},
        "prefix": [], "language": "rust", "text": text, "index_text": text, "tokens": 3,
    }))
    .unwrap()
}

proptest! {
    #[test]
    fn values_come_back_equal(
        name in "[a-z中é]{1,8}",
        text in any::<String>(),
        start in 0_usize..1000,
        bytes in any::<[u8; 32]>(),
    ) {
        fn back<T>(value: &T) -> T
        where T: serde::Serialize + serde::de::DeserializeOwned {
            from_value(to_value(value).unwrap()).unwrap()
        }
        let acl = Acl::new([&name]).unwrap();
        prop_assert_eq!(back(&acl), acl);
        let doc = DocId::new(&name).unwrap();
        prop_assert_eq!(back(&doc), doc);
        let id = ChunkId::from_bytes(bytes);
        prop_assert_eq!(back(&id), id);
        prop_assert_eq!(to_value(id).unwrap(), Value::String(id.to_string()));
        let hash = ContentHash::from_bytes(bytes);
        prop_assert_eq!(back(&hash), hash);
        let print = Fingerprint::new(&name).with(&text, &text);
        prop_assert_eq!(back(&print), print);
        let chunk = chunk(&text, start);
        prop_assert_eq!(back(&chunk), chunk);
    }
}
