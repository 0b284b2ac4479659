//! How pieces become chunks.
use std::sync::Arc;

use cornu_chunk::{
    Chunker, Comments, HeadingContext, SentencePacked, SentencePackedOptions, Window,
};
use cornu_core::{Chunk, ChunkKind};

use crate::counters::{chars, jealous, merging, words};
use crate::documents::{chunks, doc, packed, texts};

fn plain(source: &str, size: i64, overlap: i64) -> Vec<Chunk> {
    let options = SentencePackedOptions {
        window: Window::new(size, overlap).unwrap(),
        heading_context: HeadingContext::None,
        comments: Comments::Hide,
    };
    SentencePacked::new(chars(), options)
        .chunk(&doc(source))
        .unwrap()
}

#[test]
fn sentences_fill_a_chunk_and_are_not_cut() {
    let source = "一二三四。五六七八。九十。百千万亿。";
    assert_eq!(
        texts(&plain(source, 13, 0)),
        ["一二三四。五六七八。九十。", "百千万亿。"]
    );
    assert_eq!(
        texts(&plain(source, 12, 0)),
        ["一二三四。五六七八。", "九十。百千万亿。"]
    );
}

#[test]
fn the_overlap_is_whole_sentences() {
    let source = "一二三四。五六七八。九十。百千万亿。";
    let found = plain(source, 13, 3);
    assert_eq!(
        texts(&found),
        ["一二三四。五六七八。九十。", "九十。百千万亿。"]
    );
    // The overlap is shown twice and owned once.
    assert!(found[0].span.overlaps(found[1].span));
    assert_eq!(found[0].core.end(), found[1].core.start());
    // Two tokens are too few for the last sentence.
    assert_eq!(
        texts(&plain(source, 13, 2)),
        ["一二三四。五六七八。九十。", "百千万亿。"]
    );
}

#[test]
fn the_default_overlap_is_15_percent() {
    let options = SentencePackedOptions::default();
    assert_eq!(options.window, Window::with_ratio(256, 0.15).unwrap());
}

#[test]
fn small_blocks_share_a_chunk_and_large_ones_do_not() {
    let source = "See:\n\n```rs\nf();\n```\n\nDone.\n";
    let found = chunks(source, 100);
    assert_eq!((found.len(), found[0].kind), (1, ChunkKind::Prose));

    // A block that does not fit beside the text, but does alone, is moved, never cut.
    let text = "a".repeat(30) + ".";
    let code = format!("```rs\n{}\n```", "f();\n".repeat(8).trim_end());
    let found = chunks(&format!("{text}\n\n{code}\n\n{text}\n"), 60);
    assert_eq!(texts(&found), [text.as_str(), code.as_str(), text.as_str()]);
    assert_eq!(found[1].kind, ChunkKind::Code);
    assert_eq!(found[1].language.as_deref(), Some("rs"));
}

#[test]
fn a_block_that_fits_alone_is_not_cut_for_the_text_that_leads_to_it() {
    let code = format!("```rs\n{}\n```", "f();\n".repeat(9).trim_end());
    let found = chunks(&format!("See below:\n\n{code}\n"), 60);
    assert_eq!(texts(&found), ["See below:", code.as_str()]);
    // One that fits nowhere begins there.
    let code = format!("```rs\n{}\n```", "f();\n".repeat(20).trim_end());
    let found = chunks(&format!("See below:\n\n{code}\n"), 60);
    assert!(found[0].text.starts_with("See below:\n\n```rs\nf();\n"));
    assert_eq!(found[0].kind, ChunkKind::Code);
}

#[test]
fn code_that_has_to_be_cut_is_cut_between_lines() {
    let code = format!("~~~python\n{}~~~\n", "x = 1\n".repeat(30));
    let found = chunks(&code, 60);
    assert!(found.len() > 3);
    for chunk in &found {
        assert_eq!(
            (chunk.kind, chunk.language.as_deref()),
            (ChunkKind::Code, Some("python"))
        );
        assert!(
            chunk
                .text
                .lines()
                .all(|line| ["x = 1", "~~~", "~~~python"].contains(&line))
        );
        assert!(chunk.index_text.starts_with("~~~python\n"));
    }
    assert!(found[0].prefix.is_empty());
    assert!(
        found[1..]
            .iter()
            .all(|c| c.prefix[0].slice(&code) == Some("~~~python\n"))
    );
}

#[test]
fn indented_code_has_no_fence_to_repeat() {
    let source = format!("text\n\n{}", "    line of code\n".repeat(20));
    let found = chunks(&source, 60);
    assert!(found.len() > 3 && found.iter().all(|chunk| chunk.prefix.is_empty()));
    assert!(
        found[1..]
            .iter()
            .all(|chunk| chunk.text.starts_with("    line"))
    );
}

#[test]
fn code_in_a_list_item_stays_whole() {
    let source =
        "- step one\n\n  ```sh\n  make\n  make install\n  ```\n\n- step two, which is long\n";
    let found = chunks(source, 52);
    assert!(found.iter().any(|chunk| {
        chunk
            .text
            .contains("  ```sh\n  make\n  make install\n  ```")
    }));
}

#[test]
fn list_items_are_not_cut_into_each_other() {
    let source = "1. 第一项。\n2. 第二项。\n   续行。\n3. 第三项。\n";
    let found = plain(source, 16, 0);
    assert_eq!(
        texts(&found),
        ["1. 第一项。\n2. 第二项。", "续行。\n3. 第三项。"]
    );
}

#[test]
fn a_long_heading_is_packed_like_a_sentence() {
    let title = "标题".repeat(60);
    let source = format!("# {title}\n\n正文。\n");
    let found = chunks(&source, 40);
    assert_eq!(texts(&found).concat().matches("标题").count(), 60);
    assert!(found.iter().all(|chunk| chunk.tokens <= 40));
    assert_eq!(found[0].heading_path, [title]);
    let huge = format!("# {}\n\n正文。\n", "长".repeat(5000));
    let found = chunks(&huge, 100);
    assert_eq!(
        found.last().unwrap().heading_path[0].chars().count(),
        257,
        "cut, with a mark"
    );
    assert_eq!(texts(&found).concat().matches('长').count(), 5000);
}

#[test]
fn a_path_that_is_too_long_loses_its_outer_titles_first() {
    let source = "# 一个相当长的最外层标题一个相当长的最外层标题\n\n## 内层\n\n正文。\n";
    let found = chunks(source, 60);
    assert_eq!(found[0].index_text, "内层\n正文。");
    assert_eq!(found[0].heading_path.len(), 2);
}

#[test]
fn the_limit_holds_for_counters_that_do_not_add_up() {
    let source = "# T\n\n".to_owned() + &"Some words here. 还有一些中文。\n\n".repeat(40);
    for counter in [merging(), jealous(), words(), chars()] {
        let found = packed(Arc::clone(&counter) as _, 40, 6)
            .chunk(&doc(&source))
            .unwrap();
        assert!(found.iter().all(|chunk| chunk.tokens <= 40));
        let mean = found.iter().map(|c| c.tokens).sum::<usize>() / found.len();
        assert!(mean >= 20, "chunks of {mean} tokens are too small");
    }
    // Where merging makes the whole smaller than its parts, the room is used.
    let found = packed(merging(), 40, 0).chunk(&doc(&source)).unwrap();
    let full = found.iter().filter(|chunk| chunk.tokens >= 30).count();
    assert!(
        full * 10 >= found.len() * 8,
        "{full} of {} are full",
        found.len()
    );
}

#[test]
fn emoji_and_accents_are_not_cut_apart() {
    let family = "👩‍👩‍👧‍👦";
    let found = chunks(&family.repeat(30), 20);
    assert!(found.len() > 5);
    assert!(
        found
            .iter()
            .all(|chunk| chunk.text.len() % family.len() == 0)
    );
    // Marks without end are cut like anything else, in linear time.
    let zalgo = "e".to_owned() + &"\u{301}".repeat(50_000);
    assert!(chunks(&zalgo, 100).iter().all(|chunk| chunk.tokens <= 100));
}
