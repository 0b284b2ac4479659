//! The course chapter's fault injections: each shows its signal where the fault is, and not in the
//! strategy that is meant to cure it.

use cornu_chunk::markdown::Outline;
use cornu_chunk::metrics::{boundary_breaks, context_completeness, evidence_unit};
use cornu_chunk::{Chunker, expand};
use cornu_core::{ByteSpan, Chunk, ChunkKind, Ranking};
use cornu_text::cuts_word;

use crate::counters::words;
use crate::documents::{doc, family, fixed, packed};

/// A section whose fact rests on a condition far above it.
fn manual() -> String {
    let steps: String = (1..=24)
        .map(|step| format!("第{step}步，检查编号为 unit-{step} 的阀门是否关闭。"))
        .collect();
    format!(
        "# 手册\n\n## 停机\n\n仅当压力低于 0.3 兆帕时，才可以执行以下步骤。{steps}\
         最后把主开关 main_switch 置于零位。\n\n## 其他\n\n与此无关的内容。\n"
    )
}

fn tabular() -> String {
    let rows: String = (1..=40)
        .map(|row| format!("| 部门{row} | {} | {} |\n", row * 17, row * 31))
        .collect();
    format!(
        "# 财务\n\n各部门收入与成本如下。\n\n| 部门 | 收入 | 成本 |\n|---|---|---|\n{rows}\n完。\n"
    )
}

#[test]
fn fixed_windows_cut_sentences_and_words_and_ours_do_not() {
    let source = manual();
    let document = doc(&source);
    let broken = fixed(words(), 30, 0).chunk(&document).unwrap();
    let breaks = boundary_breaks(&source, &broken);
    assert!(breaks.rate() > 0.3, "{breaks:?}");
    assert!(broken.iter().any(ends_in_half_a_sentence), "the signal");
    // Cut by characters, words are cut too.
    let characters = fixed(crate::counters::chars(), 30, 0)
        .chunk(&document)
        .unwrap();
    assert!(boundary_breaks(&source, &characters).in_word > 0);
    assert!(
        characters
            .iter()
            .any(|chunk| cuts_word(&source, chunk.span.end()))
    );

    for chunker in [
        &packed(words(), 60, 9) as &dyn Chunker,
        &family(words(), 400, 60),
    ] {
        let chunks = chunker.chunk(&document).unwrap();
        let breaks = boundary_breaks(&source, &chunks);
        assert!(breaks.boundaries > 3);
        assert_eq!((breaks.in_unit, breaks.in_word), (0, 0));
        assert!(!chunks.iter().any(ends_in_half_a_sentence));
    }
}

fn ends_in_half_a_sentence(chunk: &Chunk) -> bool {
    !chunk.text.trim_end().ends_with(['。', '|'])
}

#[test]
fn small_chunks_alone_lose_the_condition_and_parents_keep_it() {
    let source = manual();
    let document = doc(&source);
    let outline = Outline::parse(&source);
    let fact = source.find("main_switch").unwrap();
    let unit = evidence_unit(&source, &outline, fact).unwrap();
    let condition = "压力低于 0.3 兆帕";

    // Only small chunks: the hit has the fact and not what it depends on.
    let small = packed(words(), 60, 9).chunk(&document).unwrap();
    let hit = small
        .iter()
        .find(|chunk| chunk.text.contains("main_switch"))
        .unwrap();
    assert!(!hit.text.contains(condition), "the signal");
    let cut = context_completeness(&source, unit, &[hit.span]);
    assert!(cut < 0.3, "{cut}");

    // The same small chunks, expanded.
    let chunks = family(words(), 800, 60).chunk(&document).unwrap();
    let child = chunks
        .iter()
        .find(|chunk| chunk.role.is_indexed() && chunk.text.contains("main_switch"))
        .unwrap();
    assert!(!child.text.contains(condition));
    let hits = Ranking::new([(child.id, 1.0)]).unwrap();
    let shown: Vec<&Chunk> = expand(&hits, |id| chunks.iter().find(|chunk| chunk.id == *id))
        .iter()
        .filter_map(|expanded| chunks.iter().find(|chunk| chunk.id == expanded.id))
        .collect();
    assert!(shown[0].text.contains(condition));
    let spans: Vec<ByteSpan> = shown.iter().map(|chunk| chunk.span).collect();
    assert_eq!(context_completeness(&source, unit, &spans), 1.0);
}

#[test]
fn a_table_cut_to_pieces_loses_its_header_and_ours_repeats_it() {
    let source = tabular();
    let document = doc(&source);
    let holds_row = |chunk: &&Chunk| chunk.text.contains("| 部门30 |");
    let has_header = |text: &str| text.contains("| 部门 | 收入 | 成本 |");

    let broken = fixed(words(), 80, 0).chunk(&document).unwrap();
    let piece = broken.iter().find(holds_row).unwrap();
    assert!(
        !has_header(&piece.index_text) && piece.prefix.is_empty(),
        "the signal"
    );
    let cut = broken
        .iter()
        .filter(|chunk| !chunk.text.trim_end().ends_with(['|', '。']))
        .count();
    assert!(cut > 0, "rows are cut, too");

    for chunker in [
        &packed(words(), 100, 15) as &dyn Chunker,
        &family(words(), 800, 100),
    ] {
        let chunks = chunker.chunk(&document).unwrap();
        let tables: Vec<_> = chunks
            .iter()
            .filter(|chunk| chunk.role.is_indexed() && chunk.kind == ChunkKind::Table)
            .collect();
        assert!(tables.len() > 2);
        for chunk in tables {
            assert!(has_header(&chunk.index_text), "{}", chunk.index_text);
            let mut rows = chunk.text.lines().filter(|line| line.contains('|'));
            assert!(rows.all(|row| row.starts_with('|') && row.ends_with('|')));
            assert!(has_header(&cornu_chunk::render(chunk, &source)));
        }
    }
}
