//! Cases of the kind "chunk_invariants" and SS-09, by their ids.

use std::collections::BTreeSet;

use cornu_chunk::{Chunker, ConfigError, ParentChild, ParentChildOptions, Window, expand, render};
use cornu_core::{ChunkKind, ChunkRole, Ranking};

use crate::counters::chars;
use crate::documents::{chunks, doc, family, fixed, named, packed, texts};

#[test]
fn ck_01_an_overlap_that_leaves_no_progress_is_refused() {
    for overlap in [256, 300] {
        let error = Window::new(256, overlap).unwrap_err();
        assert_eq!(error, ConfigError::Overlap { size: 256, overlap });
        let message = error.to_string();
        assert!(
            message.contains("256") && message.contains(&overlap.to_string()),
            "{message}"
        );
    }
}

#[test]
fn ck_02_starts_increase_where_the_cut_is_pulled_back_to_a_line_end() {
    let source = "行行行\n".repeat(40);
    let strategies: [&dyn Chunker; 2] = [&fixed(chars(), 40, 38), &packed(chars(), 40, 38)];
    for chunker in strategies {
        let found = chunker.chunk(&doc(&source)).unwrap();
        assert!(found.len() > 1);
        assert!(
            found
                .windows(2)
                .all(|pair| pair[0].span.start() < pair[1].span.start())
        );
        assert!(
            found
                .windows(2)
                .all(|pair| pair[0].span.end() < pair[1].span.end())
        );
    }
}

#[test]
fn ck_03_no_window_lies_within_another() {
    let found = fixed(chars(), 100, 20)
        .chunk(&doc(&"x".repeat(300)))
        .unwrap();
    let spans: Vec<_> = found.iter().map(|chunk| chunk.span.range()).collect();
    assert_eq!(spans, [0..100, 80..180, 160..260, 240..300]);
}

#[test]
fn ck_04_sizes_that_cannot_work_are_refused() {
    assert!(matches!(
        Window::new(0, 0),
        Err(ConfigError::Size {
            size: 0,
            overlap: 0
        })
    ));
    assert!(matches!(
        Window::new(-1, 0),
        Err(ConfigError::Size {
            size: -1,
            overlap: 0
        })
    ));
    let negative = Window::new(100, -5);
    assert!(matches!(
        negative,
        Err(ConfigError::NegativeOverlap {
            size: 100,
            overlap: -5
        })
    ));
    for ratio in [-0.1, 1.0, 2.0, f64::NAN] {
        assert!(matches!(
            Window::with_ratio(100, ratio),
            Err(ConfigError::Ratio { .. })
        ));
    }
    let options = ParentChildOptions {
        parent: Window::new(50, 0).unwrap(),
        child: Window::new(51, 0).unwrap(),
        ..Default::default()
    };
    let error = ParentChild::new(chars(), options).unwrap_err();
    assert_eq!(
        error,
        ConfigError::ChildAboveParent {
            child: 51,
            parent: 50
        }
    );
}

#[test]
fn ck_05_a_unit_longer_than_the_limit_is_cut_and_not_lost() {
    let source = format!("https://example.org/{}", "x".repeat(6000));
    let strategies: [&dyn Chunker; 3] = [
        &fixed(chars(), 512, 0),
        &packed(chars(), 512, 76),
        &family(chars(), 2000, 512),
    ];
    for chunker in strategies {
        let found = chunker.chunk(&doc(&source)).unwrap();
        let indexed: Vec<_> = found
            .iter()
            .filter(|chunk| chunk.role.is_indexed())
            .collect();
        assert!(indexed.iter().all(|chunk| chunk.tokens <= 512));
        let joined: String = indexed.iter().map(|chunk| chunk.text.as_str()).collect();
        assert_eq!(joined, source);
    }
}

#[test]
fn ck_07_ids_do_not_collide_across_documents() {
    let of = |name: &str| {
        packed(chars(), 100, 0)
            .chunk(&named(name, "same text"))
            .unwrap()[0]
            .id
    };
    let ids: BTreeSet<_> = ["hr/fin_1", "hr_fin/1", "hr_fin_1", "hr"].map(of).into();
    assert_eq!(ids.len(), 4);
}

#[test]
fn ck_09_other_settings_give_other_ids() {
    let source = "一二三四。".repeat(60);
    let ids = |overlap| -> BTreeSet<_> {
        let found = packed(chars(), 100, overlap).chunk(&doc(&source)).unwrap();
        found.into_iter().map(|chunk| chunk.id).collect()
    };
    assert!(ids(20).is_disjoint(&ids(40)));
    let (a, b) = (fixed(chars(), 100, 20), fixed(chars(), 100, 40));
    assert_ne!(a.fingerprint(), b.fingerprint());
}

#[test]
fn ck_10_han_characters_are_counted() {
    let found = chunks(&"字".repeat(6000), 800);
    assert!(found.len() >= 8 && found.iter().all(|chunk| chunk.tokens <= 800));
    assert_eq!(texts(&found).concat().chars().count(), 6000);
    assert_eq!(chunks("短。", 800).len(), 1, "nothing is too short");
}

#[test]
fn ck_12_each_piece_of_a_section_has_its_own_span() {
    let source = "# S\n\n".to_owned() + &"一段不长不短的中文句子。".repeat(416);
    let found = chunks(&source, 1100);
    assert!(found.len() >= 5);
    let spans: BTreeSet<_> = found.iter().map(|chunk| chunk.span).collect();
    assert_eq!(spans.len(), found.len());
    assert!(
        found
            .iter()
            .all(|chunk| chunk.span.slice(&source) == Some(&chunk.text))
    );
}

#[test]
fn ck_15_equal_paragraphs_have_different_places() {
    let source = "同一段话。\n\n同一段话。\n\n同一段话。\n";
    let found = packed(chars(), 6, 0).chunk(&doc(source)).unwrap();
    let starts: Vec<_> = found.iter().map(|chunk| chunk.span.start()).collect();
    assert_eq!(starts, [0, 17, 34]);
    let citations: BTreeSet<_> = found.iter().map(cornu_core::Chunk::citation).collect();
    let ids: BTreeSet<_> = found.iter().map(|chunk| chunk.id).collect();
    assert_eq!((citations.len(), ids.len()), (3, 3));
}

#[test]
fn ck_16_every_piece_of_a_fence_renders_balanced() {
    let source = format!("```rust\n{}```\n说明\n", "let x = 1;\n".repeat(200));
    let found = chunks(&source, 300);
    let code: Vec<_> = found
        .iter()
        .filter(|chunk| chunk.kind == ChunkKind::Code)
        .collect();
    assert!(code.len() > 5);
    for chunk in code {
        assert_eq!(chunk.language.as_deref(), Some("rust"));
        assert_eq!(chunk.span.slice(&source), Some(chunk.text.as_str()), "raw");
        let shown = render(chunk, &source);
        assert!(
            shown.starts_with("```rust\n") && shown.ends_with("\n```"),
            "{shown}"
        );
        assert_eq!(shown.matches("```").count(), 2);
    }
    assert_eq!(render(found.last().unwrap(), &source), "说明");
}

#[test]
fn ck_16_longer_fences_lists_and_unclosed_fences_render_balanced() {
    let inner = "````md\n```\nx\n```\n".to_owned() + &"text\n".repeat(40) + "````\n";
    for chunk in chunks(&inner, 60) {
        let shown = render(&chunk, &inner);
        assert!(
            shown.starts_with("````md") && shown.ends_with("\n````"),
            "{shown}"
        );
    }
    let unclosed = "before\n\n~~~~\n".to_owned() + &"x\n".repeat(10);
    assert!(render(&chunks(&unclosed, 200)[0], &unclosed).ends_with("x\n~~~~"));
    let list = "- item\n\n  ```sh\n".to_owned() + &"  make\n".repeat(30) + "  ```\n";
    let found = chunks(&list, 60);
    assert!(
        render(&found[1], &list).starts_with("```sh\n"),
        "{}",
        render(&found[1], &list)
    );
}

#[test]
fn render_sets_definitions_apart() {
    let source = "see [s]\n\n# B\n\nx\n\n[s]: https://example.org\n";
    let found = chunks(source, 100);
    assert_eq!(
        render(&found[0], source),
        "[s]: https://example.org\n\nsee [s]"
    );
}

#[test]
fn ck_17_white_space_of_the_text_is_kept() {
    let source = "　　首行缩进的段落。\n\n两  个  空格\n";
    let found = packed(chars(), 12, 0).chunk(&doc(source)).unwrap();
    assert_eq!(texts(&found), ["　　首行缩进的段落。", "两  个  空格"]);
    assert!(
        found
            .iter()
            .all(|chunk| chunk.span.slice(source) == Some(&chunk.text))
    );
}

#[test]
fn ck_18_pieces_of_a_section_stay_in_it() {
    let source = format!(
        "# 甲\n\n{}\n\n# 乙\n\n{}\n",
        "子。".repeat(300),
        "丑。".repeat(300)
    );
    let found = chunks(&source, 500);
    assert_eq!(found.len(), 4);
    for chunk in &found {
        assert!(!(chunk.text.contains('子') && chunk.text.contains('丑')));
        let title = if chunk.text.contains('子') {
            "甲"
        } else {
            "乙"
        };
        assert_eq!(chunk.heading_path, [title]);
    }
}

#[test]
fn ss_09_cuts_lie_between_characters() {
    let source = "—".repeat(1500) + "完";
    for chunker in [
        &fixed(bytes(), 100, 20) as &dyn Chunker,
        &packed(bytes(), 100, 20),
        &family(bytes(), 400, 100),
    ] {
        let found = chunker.chunk(&doc(&source)).unwrap();
        let indexed = found.iter().filter(|chunk| chunk.role.is_indexed());
        let mut reached = 0;
        for chunk in indexed {
            assert!(source.is_char_boundary(chunk.span.start()));
            assert!(source.is_char_boundary(chunk.span.end()));
            assert!(chunk.span.start() <= reached, "a gap");
            assert!(chunk.tokens <= 100);
            reached = chunk.span.end();
        }
        assert_eq!(reached, source.len());
    }
}

/// Every byte is a token.
fn bytes() -> std::sync::Arc<dyn cornu_core::TokenCounter> {
    struct Bytes(cornu_core::Fingerprint);
    impl cornu_core::TokenCounter for Bytes {
        fn fingerprint(&self) -> &cornu_core::Fingerprint {
            &self.0
        }
        fn count(&self, text: &str) -> usize {
            text.len()
        }
    }
    std::sync::Arc::new(Bytes(cornu_core::Fingerprint::new("bytes")))
}

#[test]
fn a_parent_is_a_section_with_its_subsections_where_they_fit() {
    let source = "# A\n\nintro.\n\n## B\n\nbbb.\n\n### C\n\nccc.\n\n## D\n\nddd.\n";
    let paths = |parent: i64| -> Vec<String> {
        let found = family(chars(), parent, 10).chunk(&doc(source)).unwrap();
        let parents = found.iter().filter(|chunk| chunk.role == ChunkRole::Parent);
        parents.map(|chunk| chunk.heading_path.join("/")).collect()
    };
    assert_eq!(paths(200), ["A"]);
    assert_eq!(paths(30), ["A", "A/B", "A/D"]);
    assert_eq!(paths(12), ["A", "A/B", "A/B/C", "A/D"]);
}

#[test]
fn expansion_keeps_the_best_rank_and_each_parent_once() {
    let source = "# A\n\none. two. six.\n\n# B\n\nten. tin. ton.\n";
    let found = family(chars(), 30, 8).chunk(&doc(source)).unwrap();
    let lookup = |id: &_| found.iter().find(|chunk| chunk.id == *id);
    let child = |text: &str| {
        let held =
            |chunk: &&cornu_core::Chunk| chunk.role.is_indexed() && chunk.text.contains(text);
        found.iter().find(held).unwrap()
    };
    let hits = [
        (child("six").id, 0.5),
        (child("tin").id, 0.9),
        (child("one").id, 0.8),
    ];
    let shown = expand(&Ranking::new(hits).unwrap(), lookup);
    let ids: Vec<_> = shown.iter().map(|shown| Some(shown.id)).collect();
    assert_eq!(ids, [child("tin").parent, child("one").parent]);
    let ranks: Vec<_> = shown
        .iter()
        .map(|shown| (shown.rank, shown.score))
        .collect();
    assert_eq!(ranks, [(1, 0.9), (2, 0.8)]);
    assert_eq!(shown[1].matched, [child("one").id, child("six").id]);
    // What has no parent, or is not known, stands for itself.
    let shown = expand(&Ranking::new(hits).unwrap(), |_| None);
    assert_eq!(shown.len(), 3);
}
