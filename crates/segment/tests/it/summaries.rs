//! Summaries out of a text's own sentences.

use cornu_core::{Summariser, TokenCounter};
use cornu_segment::{ExtractiveOptions, ExtractiveSummariser};
use cornu_text::{Tokenizer, WordCounter};
use proptest::prelude::*;

fn one() -> ExtractiveSummariser {
    let options = ExtractiveOptions {
        sentences: 1,
        ..ExtractiveOptions::default()
    };
    ExtractiveSummariser::new(Tokenizer::new(), options)
}

/// The sentence that says what the others speak of, though it stands second.
#[test]
fn the_central_sentence_is_taken() {
    let english = "Thanks to everybody who helped with this page. The scheduler assigns each task to a \
        worker of the cluster. A worker reports to the scheduler when its task is done. A task that \
        fails is assigned to another worker by the scheduler. Lunch is at noon.";
    let found = one().summarise(english, 40).unwrap();
    assert!(found.contains("scheduler"), "{found}");
    let chinese = "感谢大家的帮助与支持。调度器把每个任务分配给集群中的一个节点。节点完成任务后向调度器报告。\
        失败的任务由调度器重新分配给另一个节点。午餐在十二点。";
    let found = one().summarise(chinese, 60).unwrap();
    assert!(
        found.contains("调度器") && found.contains("任务"),
        "{found}"
    );
}

#[test]
fn the_second_sentence_says_something_else() {
    let text = "The pump moves the cooling water to the tank. The pump moves cooling water to the tank. \
        A filter behind the tank keeps sand away from the turbine.";
    let found = ExtractiveSummariser::default().summarise(text, 60).unwrap();
    assert_eq!(
        found,
        "The pump moves the cooling water to the tank. A filter behind the tank keeps sand away from \
         the turbine."
    );
}

#[test]
fn markup_is_no_sentence() {
    let text = "# Big Title Of This Very Document\n\n```rust\nlet answer = compute everything here.\n```\n\n\
        | name | value of this row |\n|---|---|\n| a | b |\n\n<div>html is here with words</div>\n\n---\n\n\
        - The only sentence of real prose stands in a list.\n- Short one.\n\n[link]: https://example.org\n";
    let found = ExtractiveSummariser::default().summarise(text, 40).unwrap();
    assert_eq!(found, "The only sentence of real prose stands in a list.");
}

#[test]
fn sentences_of_a_wrapped_paragraph_are_one_line() {
    let text = "The scheduler assigns each task\nto a worker of\nthe cluster.\n";
    let found = one().summarise(text, 40).unwrap();
    assert_eq!(
        found,
        "The scheduler assigns each task to a worker of the cluster."
    );
}

#[test]
fn chinese_sentences_join_without_a_space() {
    let text = "水泵把冷却水送到水箱。过滤器防止沙子进入涡轮。";
    assert_eq!(
        ExtractiveSummariser::default().summarise(text, 60).unwrap(),
        text
    );
}

#[test]
fn without_sentences_the_first_words() {
    let summariser = ExtractiveSummariser::default();
    assert_eq!(
        summariser.summarise("# Only a heading here", 3).unwrap(),
        "# Only a"
    );
    assert_eq!(summariser.summarise("", 3).unwrap(), "");
    assert_eq!(summariser.summarise("？！…", 3).unwrap(), "？！…");
}

proptest! {
    /// Never longer than asked, never words that are not there, the same every time.
    #[test]
    fn no_text_makes_it_fail(text in "\\PC{0,80}|([a-c要的。. \n#|`>-]{0,60})", limit in 0..30_usize) {
        let summariser = one();
        let found = summariser.summarise(&text, limit).unwrap();
        prop_assert!(WordCounter::new().count(&found) <= limit, "{found:?}");
        let squeeze = |text: &str| text.split_whitespace().collect::<String>();
        let whole = squeeze(&text);
        for part in found.split_whitespace() {
            prop_assert!(whole.contains(part), "{:?} {:?}", part, text);
        }
        prop_assert_eq!(found, summariser.summarise(&text, limit).unwrap());
    }
}
