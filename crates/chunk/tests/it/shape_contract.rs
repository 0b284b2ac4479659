//! The rows of the course's shape contract that concern chunks.

use cornu_chunk::Chunker;
use cornu_core::{Acl, Chunk, ContentHash, DocId, Document, DocumentFacts, Principal};

use crate::counters::chars;
use crate::documents::packed;

fn facts(source: &str, acl: &Acl) -> DocumentFacts {
    let doc = Document::new(DocId::new("ops/pumps.md").unwrap(), source, acl.clone());
    let chunks = packed(chars(), 60, 0).chunk(&doc).unwrap();
    DocumentFacts {
        doc: doc.id().clone(),
        content: ContentHash::of(source.as_bytes()),
        acl: doc.acl().clone(),
        vectors: ndarray::Array2::zeros((chunks.len(), 0)),
        chunks,
    }
}

fn find<'a>(facts: &'a DocumentFacts, text: &str) -> &'a Chunk {
    let found = facts.chunks.iter().find(|chunk| chunk.text.contains(text));
    found.unwrap_or_else(|| panic!("no chunk with {text:?}"))
}

/// "chunk 记录: row: 稳定 chunk_id、source、section、acl". The grants are the document's: a chunk
/// names its document, and a store writes both in one record.
#[test]
fn shape_contract_chunk_row_has_stable_id_source_section_and_acl() {
    let source = "# 泵\n\n## 启动\n\n先开阀门。\n\n## 停机\n\n按停止键。\n";
    let acl = Acl::new(["ops", "audit"]).unwrap();
    let row = facts(source, &acl);
    let stop = find(&row, "按停止键");

    // chunk_id: the same in every run, also when something else in the document changes.
    assert_eq!(facts(source, &acl), row);
    let edited = source.replace("先开阀门。", "先开进口阀门，再开出口阀门，然后等待一分钟。");
    let after = facts(&edited, &acl);
    assert_eq!(find(&after, "按停止键").id, stop.id);
    assert_ne!(find(&after, "出口").id, find(&row, "先开阀门").id);
    assert_ne!(
        find(&after, "按停止键").span,
        stop.span,
        "moved, not renamed"
    );
    let ids: std::collections::BTreeSet<_> = row.chunks.iter().map(|chunk| chunk.id).collect();
    assert_eq!(ids.len(), row.chunks.len());
    // Pinned, so that another build, machine or year gives the same.
    assert_eq!(stop.id.to_string(), PINNED);

    // source and section.
    assert!(row.chunks.iter().all(|chunk| chunk.doc == row.doc));
    assert_eq!(stop.doc.as_str(), "ops/pumps.md");
    assert_eq!(stop.heading_path, ["泵", "停机"]);
    assert_eq!(stop.citation(), "ops/pumps.md § 泵 › 停机, lines 7-9");

    // acl: the document's list of grants, and no other.
    let grants: Vec<&str> = row.acl.grants().map(cornu_core::Grant::as_str).collect();
    assert_eq!(grants, ["audit", "ops"]);
    assert!(row.acl.admits(&Principal::new(["ops"]).unwrap()));
    assert!(!row.acl.admits(&Principal::public()));
    // Who may see a document is no part of what its chunks are called.
    assert_eq!(facts(source, &Acl::public()).chunks, row.chunks);
}

const PINNED: &str = "07a1cb85173aa37c3e5460e9aba1b4c09792ea8c03f7daf2c47576afae045c91";
