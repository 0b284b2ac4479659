//! What holds for any text, checked on random ones.

use cornu_chunk::Chunker;
use cornu_core::ChunkId;
use proptest::prelude::*;

use crate::any_bytes::check_document;
use crate::counters::chars;
use crate::documents::{doc, packed};
use crate::generated::{markdown, noise, plain_markdown};

/// Each case runs sixteen chunkings twice; `PROPTEST_CASES` asks for more of them.
pub(crate) fn config() -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(64),
    }
}

/// Lines of U+3000 are blank to a reader, and code to Markdown.
#[test]
fn code_may_begin_with_lines_that_look_blank() {
    check_document(&doc("Words.\n\n\n\t\u{3000}\n\t\n    code()\nmore"), 32, 0);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn invariants_hold_for_markdown(source in markdown(), size in 8i64..200, overlap in 0i64..60) {
        check_document(&doc(&source), size, overlap);
    }

    #[test]
    fn invariants_hold_for_noise(source in noise(), size in 1i64..60, overlap in 0i64..20) {
        check_document(&doc(&source), size, overlap);
    }

    #[test]
    fn invariants_hold_for_any_string(source in any::<String>(), size in 1i64..40) {
        check_document(&doc(&source), size, size / 3);
    }

    /// An edit in one section leaves the ids of the others, wherever the bytes move to.
    #[test]
    fn ids_survive_an_edit_in_another_section(
        before in plain_markdown(), after in plain_markdown(), new in "[a-z]{1,30}", size in 20i64..120,
    ) {
        let middle = |text: &str| format!("{before}\n\n# 中间的一节\n\n{text}\n\n# 后面\n\n{after}");
        let chunker = packed(chars(), size, size / 7);
        let ids = |source: &str| -> Vec<(ChunkId, bool)> {
            let chunks = chunker.chunk(&doc(source)).unwrap();
            chunks.iter().map(|chunk| {
                (chunk.id, chunk.heading_path.first().is_some_and(|title| title == "中间的一节"))
            }).collect()
        };
        let (old, new) = (ids(&middle("Old text.")), ids(&middle(&new)));
        let others = |ids: &[(ChunkId, bool)]| -> Vec<ChunkId> {
            ids.iter().filter(|(_, edited)| !edited).map(|&(id, _)| id).collect()
        };
        prop_assert_eq!(others(&old), others(&new));
    }
}
