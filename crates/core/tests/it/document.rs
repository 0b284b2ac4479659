//! Source texts: nothing is decoded by guessing.

use cornu_core::{Acl, ContentHash, DocId, Document, DocumentError};
use proptest::prelude::*;

#[test]
fn md_27_a_gb18030_file_is_refused_by_name_and_offset() {
    // "# 说明\n龘靐\n" in GB18030. The first two bytes of 说 happen to be UTF-8, those of 明 are not.
    let bytes = [
        0x23, 0x20, 0xCB, 0xB5, 0xC3, 0xF7, 0x0A, 0xFD, 0x98, 0xEB, 0x5B, 0x0A,
    ];
    let doc = DocId::new("注意/gbk.md").unwrap();
    let error = Document::from_bytes(doc.clone(), &bytes, Acl::public()).unwrap_err();
    assert!(matches!(&error, DocumentError::NotUtf8 { doc: named, at: 4 } if *named == doc));
    assert!(error.to_string().contains("注意/gbk.md"), "{error}");
    assert!(
        error.to_string().contains("iconv"),
        "names the remedy: {error}"
    );
}

#[test]
fn a_byte_order_mark_is_part_of_the_source() {
    let source = "\u{feff}# A\r\n";
    let doc = DocId::new("a.md").unwrap();
    let document = Document::from_bytes(doc, source.as_bytes(), Acl::nobody()).unwrap();
    assert_eq!(document.source(), source);
    assert!(document.acl().is_empty());
}

#[test]
fn a_missing_file_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| Document::read(folder, &folder.join(name), Acl::public());
    let error = read("no-such-file.md").unwrap_err();
    assert!(error.to_string().contains("no-such-file.md"), "{error}");
    assert_eq!(read("README.md").unwrap().id().as_str(), "README.md");
    assert!(matches!(
        read("../text/README.md"),
        Err(DocumentError::Id(_))
    ));
}

proptest! {
    #[test]
    fn any_bytes_are_kept_exactly_or_refused(bytes in any::<Vec<u8>>()) {
        let doc = DocId::new("a.md").unwrap();
        match Document::from_bytes(doc, &bytes, Acl::public()) {
            Ok(document) => {
                prop_assert_eq!(document.source().as_bytes(), &bytes[..]);
                prop_assert_eq!(document.content_hash(), ContentHash::of(&bytes));
            }
            Err(DocumentError::NotUtf8 { at, .. }) => {
                prop_assert!(std::str::from_utf8(&bytes[..at]).is_ok());
                prop_assert!(std::str::from_utf8(&bytes).is_err());
            }
            Err(other) => panic!("{other}"),
        }
    }
}
