//! Any bytes: what the fuzz target runs, here over bytes from a fixed generator, so that every run
//! of the tests covers it without a nightly compiler.

use std::sync::Arc;

use cornu_chunk::{
    Chunker, Comments, FixedWindow, FixedWindowOptions, HeadingContext, ParentChild,
    ParentChildOptions, SentencePacked, SentencePackedOptions, TableRows, TableRowsOptions,
    TableView, Window,
};
use cornu_core::{Acl, DocId, Document, TokenCounter};

use crate::counters::{chars, jealous, merging, words};
use crate::invariants::{Settings, check, check_places};

/// Two bytes of settings, the rest a file. Bytes that are not UTF-8 are refused, nothing else is.
pub(crate) fn check_bytes(bytes: &[u8]) {
    let (size, overlap, rest) = match bytes {
        [size, overlap, rest @ ..] => (*size, *overlap, rest),
        _ => (7, 3, bytes),
    };
    let id = DocId::new("any.md").expect("a name");
    if let Ok(document) = Document::from_bytes(id, rest, Acl::public()) {
        check_document(&document, 1 + i64::from(size), i64::from(overlap));
    } else {
        assert!(std::str::from_utf8(rest).is_err());
    }
}

/// Every strategy with every counter over one document.
pub(crate) fn check_document(document: &Document, size: i64, overlap: i64) {
    for counter in [chars(), words(), merging(), jealous()] {
        check_with(
            document,
            &(counter as Arc<dyn TokenCounter>),
            size,
            overlap.min(size - 1),
        );
    }
}

fn check_with(document: &Document, counter: &Arc<dyn TokenCounter>, size: i64, overlap: i64) {
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
            rows: false,
            wide: false,
        }
    }
    let window = Window::new(size, overlap).expect("a window that works");
    let limit = window.size();
    let windows = FixedWindow::new(counter.clone(), FixedWindowOptions { window });
    let blind = Settings {
        structured: false,
        ..settings(&windows, &**counter, limit)
    };
    check(&blind, document);
    for heading_context in [HeadingContext::None, HeadingContext::Path] {
        let options = SentencePackedOptions {
            window,
            heading_context,
            comments: Comments::Hide,
        };
        let packed = SentencePacked::new(counter.clone(), options);
        check(&settings(&packed, &**counter, limit), document);
    }
    for wide in [None, Some(3)] {
        let text = SentencePackedOptions {
            window,
            ..Default::default()
        };
        let options = TableRowsOptions {
            text,
            parent: limit * 3,
            columns: 3,
            fill_down: limit.is_multiple_of(2),
            wide,
        };
        let rows = TableRows::new(counter.clone(), options);
        let rows = Settings {
            parent_limit: limit * 3,
            rows: true,
            wide: wide.is_some(),
            ..settings(&rows, &**counter, limit)
        };
        // Whatever the chunks are, their tables can be read again.
        let chunks = check(&rows, document);
        check_places(&chunks, &TableView::all(&chunks));
    }
    let options = ParentChildOptions {
        parent: Window::new(size * 5, 0).expect("a window that works"),
        child: window,
        ..Default::default()
    };
    let family = ParentChild::new(counter.clone(), options).expect("children that fit");
    check(&settings(&family, &**counter, limit), document);
}

#[cfg(test)]
mod corpus {
    use super::check_bytes;

    const PIECES: &[&[u8]] = &[
        b"# ",
        b"\n",
        b"\n\n",
        b"\r\n",
        b"\r",
        b"```",
        b"~~~",
        b"|",
        b"|--|\n",
        b"| a | b |\n|---|---|\n",
        b"- ",
        b"1. ",
        b"> ",
        b"    ",
        b"\t",
        b"<!--",
        b"-->",
        b"<div>",
        b"</div>\n",
        b"---\n",
        b"===\n",
        b"+++\n",
        b"k: v\n",
        b"[a]: u\n",
        b"[a]",
        b"[^1]: n\n",
        b"[^1]",
        b"$$",
        b"`",
        b"*",
        b"_",
        b"\\",
        b"\xef\xbb\xbf",
        b"\xe3\x80\x80",
        b"\xe3\x80\x82",
        b"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa6",
        b"\0",
        b"word ",
        b"One. ",
        b"x",
        b"\xff",
        b"\xe4\xb8",
        b"\xe6\xa2\xaf\xe5\xba\xa6\xe6\xb2\xbf\xe8\xae\xa1\xe7\xae\x97\xe5\x9b\xbe\xe3\x80\x82",
    ];

    /// A generator of its own (xorshift), so that the corpus is the same for ever.
    fn next(state: &mut u64) -> usize {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 16) as usize
    }

    #[test]
    fn any_bytes_go_in_and_the_invariants_hold() {
        let mut state = 0x9e37_79b9_7f4a_7c15;
        let mut text = 0;
        for case in 0..2_000 {
            let mut bytes = vec![(next(&mut state) % 80) as u8, (next(&mut state) % 40) as u8];
            for _ in 0..next(&mut state) % 50 {
                match case % 8 {
                    // Raw bytes, ASCII, and pieces that mean something; few of them broken.
                    0 => bytes.push(next(&mut state) as u8),
                    1 => bytes.push((next(&mut state) % 128) as u8),
                    _ => {
                        let piece = PIECES[next(&mut state) % PIECES.len()];
                        if case % 8 == 2 || std::str::from_utf8(piece).is_ok() {
                            bytes.extend_from_slice(piece);
                        }
                    }
                }
            }
            text += usize::from(std::str::from_utf8(bytes.get(2..).unwrap()).is_ok());
            check_bytes(&bytes);
        }
        assert!(
            text > 1_000,
            "most of the corpus has to be text, {text} are"
        );
    }
}
