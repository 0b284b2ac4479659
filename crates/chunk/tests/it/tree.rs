//! Folders of files (case MD-27).

use std::fs;

use cornu_chunk::{TreeError, read_markdown_tree};
use cornu_core::{Acl, DocumentError};

#[test]
fn md_27_a_file_that_is_not_utf_8_is_named_and_stops_nothing() {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("b.md", "# 二\n正文\n".as_bytes());
    write("sub/a.markdown", "# 一\n".as_bytes());
    // "# 说明\n龘靐\n" in GB18030.
    write("gbk.md", b"# \xcb\xb5\xc3\xf7\n\xfd\x98\xecU\n");
    write("notes.txt", b"no Markdown");
    write(".git/x.md", b"hidden");

    let tree = read_markdown_tree(root.path(), |_| Acl::public());
    let ids: Vec<_> = tree.documents.iter().map(|doc| doc.id().as_str()).collect();
    assert_eq!(ids, ["b.md", "sub/a.markdown"]);
    let [(path, error)] = tree.failed.as_slice() else {
        panic!("{:?}", tree.failed)
    };
    assert!(path.ends_with("gbk.md"));
    assert!(matches!(
        error,
        TreeError::Document(DocumentError::NotUtf8 { at: 4, .. })
    ));
    assert!(error.to_string().contains("gbk.md"));
    assert!(
        tree.documents
            .iter()
            .all(|doc| !doc.source().contains('\u{fffd}'))
    );
}

#[test]
fn a_folder_that_does_not_exist_is_reported() {
    let root = tempfile::tempdir().unwrap();
    let tree = read_markdown_tree(&root.path().join("absent"), |_| Acl::public());
    assert!(tree.documents.is_empty());
    assert_eq!(tree.failed.len(), 1);
}

/// `é` as one character and as `e` with a mark above it: two files, one id.
#[test]
fn md_27_two_names_of_one_id_are_reported() {
    let root = tempfile::tempdir().unwrap();
    let (decomposed, composed) = ("cafe\u{301}.md", "caf\u{e9}.md");
    fs::write(root.path().join(composed), "# composed\n").unwrap();
    fs::write(root.path().join(decomposed), "# decomposed\n").unwrap();
    if fs::read_dir(root.path()).unwrap().count() == 1 {
        eprintln!("SKIPPED: this file system takes both names for one file");
        return;
    }
    let tree = read_markdown_tree(root.path(), |_| Acl::public());
    let [document] = tree.documents.as_slice() else {
        panic!("{:?}", tree.documents)
    };
    // "e" sorts before "é".
    assert_eq!(document.source(), "# decomposed\n");
    assert_eq!(document.id().as_str(), composed);
    let [(path, error)] = tree.failed.as_slice() else {
        panic!("{:?}", tree.failed)
    };
    assert_eq!(path, &root.path().join(composed));
    let message = error.to_string();
    assert!(
        message.contains(composed) && message.contains(decomposed),
        "{message}"
    );
}
