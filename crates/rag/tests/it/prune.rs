//! What is removed when files vanish, and what is embedded when nothing has changed.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use cornu::{Acl, Change, DocId, LiveRagIndex, RagError};

use crate::journey::Counting;
use crate::world::{Home, document, grants, options};

fn id(name: &str) -> DocId {
    DocId::new(name).unwrap()
}

/// Two folders with a document each, in one index.
fn two_roots() -> (Home, PathBuf, PathBuf) {
    let home = Home::new();
    let [one, two] = ["one", "two"].map(|name| home.folder.path().join(name));
    for (root, name) in [(&one, "a.md"), (&two, "b.md")] {
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(root.join(name), "# Notes\n\nSome words.\n").unwrap();
        let report = home
            .index
            .sync_tree(root, |_| Acl::public(), |_| {})
            .unwrap();
        assert_eq!((report.inserted, report.removed.len()), (1, 0));
    }
    (home, one, two)
}

#[test]
fn a_tree_that_is_synced_loses_what_its_folder_lost_and_nothing_else() {
    let (home, one, two) = two_roots();
    let by_hand = document("sub/by-hand.md", "Of no folder.", Acl::nobody());
    home.index.ingest(&by_hand).unwrap();
    fs::remove_file(one.join("a.md")).unwrap();
    // `ingest_tree` removes nothing.
    home.index
        .ingest_tree(&one, |_| Acl::public(), |_| {})
        .unwrap();
    assert_eq!(home.index.store().all_documents().unwrap().len(), 3);
    let report = home
        .index
        .sync_tree(&one, |_| Acl::public(), |_| {})
        .unwrap();
    assert_eq!(report.removed, [id("a.md")]);
    let report = home
        .index
        .sync_tree(&two, |_| Acl::public(), |_| {})
        .unwrap();
    assert_eq!((report.unchanged, report.removed.len()), (1, 0));
    assert_eq!(
        home.index.store().all_documents().unwrap(),
        [id("b.md"), id("sub/by-hand.md")]
    );
}

#[test]
fn what_cannot_be_looked_at_has_not_vanished() {
    let (home, one, two) = two_roots();
    let whole = |root: &PathBuf| {
        home.index
            .prune(root, std::slice::from_ref(root), |_| false)
    };
    fs::rename(&one, home.folder.path().join("moved")).unwrap();
    let error = whole(&one).unwrap_err();
    assert!(matches!(error, RagError::Unreadable { .. }), "{error}");
    // A file that is there is not gone, whether the caller knows of it or not.
    assert_eq!(whole(&two).unwrap(), []);
    // A part that is not there: nothing is removed, not even from the parts that are.
    fs::remove_file(two.join("b.md")).unwrap();
    let parts = [two.clone(), two.join("absent")];
    home.index.prune(&two, &parts, |_| false).unwrap_err();
    assert_eq!(home.index.store().all_documents().unwrap().len(), 2);
    // Outside of the part that was looked at, and known to be there.
    assert_eq!(
        home.index
            .prune(&two, &[two.join("sub")], |_| false)
            .unwrap(),
        []
    );
    let here = home.index.prune(&two, std::slice::from_ref(&two), |_| true);
    assert_eq!(here.unwrap(), []);
    assert_eq!(whole(&two).unwrap(), [id("b.md")]);
}

#[test]
fn a_document_that_is_ingested_by_hand_is_no_longer_its_folders() {
    let (home, one, _) = two_roots();
    home.index
        .ingest(&document("a.md", "Another text, by hand.", Acl::public()))
        .unwrap();
    fs::remove_file(one.join("a.md")).unwrap();
    let report = home
        .index
        .sync_tree(&one, |_| Acl::public(), |_| {})
        .unwrap();
    assert_eq!(report.removed, []);
}

#[test]
fn an_unchanged_document_is_not_embedded_again_whoever_may_see_it() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Arc::new(Counting::default());
    let path = folder.path().join("index.db");
    let index = LiveRagIndex::open(path, provider.clone(), options()).unwrap();
    let with = |acl: Acl| document("a.md", "# A\n\nSome words. More words.\n", acl);
    for acl in [Acl::nobody(), Acl::public(), grants(["hr"])] {
        index.ingest(&with(acl.clone())).unwrap();
        let before = provider.texts();
        let again = index.ingest(&with(acl)).unwrap();
        assert_eq!((again.change, again.chunks), (Change::Unchanged, 1));
        assert_eq!(provider.texts(), before);
    }
    // Other grants that nobody shares with the old ones: written again, not embedded again.
    let before = provider.texts();
    let moved = index.ingest(&with(grants(["board"]))).unwrap();
    assert_eq!((moved.change, moved.chunks), (Change::Replaced, 1));
    assert_eq!(provider.texts(), before);
    assert_eq!(index.store().doctor().unwrap(), []);
}
