//! What holds for any text, checked on random ones.

use std::sync::Arc;

use cornu_chunk::{
    Chunker, Comments, HeadingContext, ParentChild, ParentChildOptions, SentencePacked,
    SentencePackedOptions, Window,
};
use cornu_core::{ChunkId, Document, TokenCounter};
use proptest::prelude::*;

use crate::counters::{chars, jealous, merging, words};
use crate::documents::{doc, fixed, packed};
use crate::generated::{markdown, noise, plain_markdown};
use crate::invariants::{Settings, check};

/// Every strategy, with sizes, over one text.
pub(crate) fn check_all(source: &str, size: i64, overlap: i64) {
    let document = doc(source);
    for counter in [chars(), words(), merging(), jealous()] {
        check_counter(&document, counter, size, overlap);
    }
}

fn check_counter(document: &Document, counter: Arc<dyn TokenCounter>, size: i64, overlap: i64) {
    let overlap = overlap.min(size - 1);
    let limit = usize::try_from(size).unwrap();
    let window = Window::new(size, overlap).unwrap();
    let windows = fixed(counter.clone(), size, overlap);
    fn settings<'a>(
        chunker: &'a dyn Chunker,
        counter: &'a dyn TokenCounter,
        limit: usize,
    ) -> Settings<'a> {
        Settings {
            chunker,
            counter,
            limit,
            parent_limit: limit * 5,
            structured: true,
        }
    }
    check(
        &Settings {
            structured: false,
            ..settings(&windows, &*counter, limit)
        },
        document,
    );
    for heading_context in [HeadingContext::None, HeadingContext::Path] {
        let options = SentencePackedOptions {
            window,
            heading_context,
            comments: Comments::Hide,
        };
        let packed = SentencePacked::new(counter.clone(), options);
        check(&settings(&packed, &*counter, limit), document);
    }
    let options = ParentChildOptions {
        parent: Window::new(size * 5, 0).unwrap(),
        child: window,
        ..Default::default()
    };
    let family = ParentChild::new(counter.clone(), options).unwrap();
    check(&settings(&family, &*counter, limit), document);
}

proptest! {
    #[test]
    fn invariants_hold_for_markdown(source in markdown(), size in 8i64..200, overlap in 0i64..60) {
        check_all(&source, size, overlap);
    }

    #[test]
    fn invariants_hold_for_noise(source in noise(), size in 1i64..60, overlap in 0i64..20) {
        check_all(&source, size, overlap);
    }

    #[test]
    fn invariants_hold_for_any_string(source in any::<String>(), size in 1i64..40) {
        check_all(&source, size, size / 3);
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
