//! What a trace says of how the vectors were searched.

use std::sync::Arc;

use cornu::store::{Approximate, Hnsw, Options, Route, Scan};
use cornu::{Acl, DocId, Document, HashEmbeddingProvider, LiveRagIndex, Principal, RagOptions};

fn opened(path: &std::path::Path, scan: Scan, approximate: Approximate) -> LiveRagIndex {
    let provider = Arc::new(HashEmbeddingProvider::default());
    let store = Options {
        scan,
        approximate,
        route: Route::Resident,
        ..Options::default()
    };
    let options = RagOptions {
        store,
        ..RagOptions::default()
    };
    LiveRagIndex::open(path, provider, options).unwrap()
}

/// Each search says so, none by default; the walk is named where there is one, whatever its view.
#[test]
fn a_trace_names_the_scan_or_the_walk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    let walked = Hnsw {
        ef: Some(16),
        narrow_per_mille: 0,
        ..Hnsw::default()
    };
    let narrow = Hnsw {
        ef: Some(16),
        ..Hnsw::default()
    };
    let index = opened(&path, Scan::Full, Approximate::Hnsw(walked));
    for at in 0..60 {
        let text = format!("# Part {at}\n\nLeave of {} days in year {at}.\n", at % 23);
        let name = DocId::new(&format!("{at}.md")).unwrap();
        let document = Document::new(name, text, Acl::public());
        index.ingest(&document).unwrap();
    }
    index.prepare().unwrap();
    drop(index);
    let said = [
        (Scan::Full, Approximate::Never, None),
        (
            Scan::Int8,
            Approximate::Never,
            Some("vectors: scan = \"int8, exact\""),
        ),
        (
            Scan::Bits { per_hit: 4 },
            Approximate::Never,
            Some("vectors: scan = \"bits, approximate\""),
        ),
        // A hundred candidates are ten times the ten that a breadth is measured for.
        (
            Scan::Full,
            Approximate::Hnsw(walked),
            Some("vectors: walk = \"hnsw, approximate\", breadth = 160"),
        ),
        (
            Scan::Int8,
            Approximate::Hnsw(narrow),
            Some("no graph that reaches the recall\", scan = \"int8, exact\""),
        ),
    ];
    let (public, question) = (Principal::public(), "How many days of leave?");
    for (scan, approximate, said) in said {
        let index = opened(&path, scan, approximate);
        let traces = [
            index.explain(&public, question, 5).unwrap().to_string(),
            index
                .search_dense(&public, question, 100)
                .unwrap()
                .trace
                .to_string(),
            index
                .search_hybrid(&public, question, 5)
                .unwrap()
                .trace
                .to_string(),
        ];
        for trace in traces {
            match said {
                Some(said) => assert_eq!(trace.matches(said).count(), 1, "{said}: {trace}"),
                None => assert!(!trace.contains("vectors:"), "{trace}"),
            }
        }
        let sparse = index.search_sparse(&public, question, 5).unwrap();
        assert!(!sparse.trace.to_string().contains("vectors:"));
    }
}
