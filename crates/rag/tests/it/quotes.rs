//! What an answer quotes, and what a question's names are found in.

use cornu::claims::{Source, Support, check_claims};
use cornu::text::Tokenizer;
use cornu::{Acl, Outcome, Principal};

use crate::world::{Home, document};

/// The best quote for a question, with its lines; the refusal's words where there is none.
fn best(source: &str, question: &str) -> String {
    let home = Home::wide();
    home.index
        .ingest(&document("a.md", source, Acl::public()))
        .unwrap();
    let response = home
        .index
        .answer(&Principal::public(), question, &home.threshold(-1.0))
        .unwrap();
    let Outcome::Answered(answer) = &response.outcome else {
        return response.outcome.to_string();
    };
    let citation = &answer.statements[0].citation;
    assert!(citation.resolves_in(source), "{citation}");
    format!("{} @{}", citation.quote, citation.lines)
}

#[test]
fn a_quote_is_of_one_row_or_item() {
    let table = "# 设备\n\n说明如下。\n\n| 设备 | 操作 |\n|---|---|\n| 泵甲 | 先停机。再断电。 |\n\
        | 泵乙 | 先通电。再开机。 |\n";
    let asked = "泵乙怎么再开机？";
    let row = "| 泵乙 | 先通电。再开机。 | @8";
    assert_eq!(best(table, asked), row);
    assert_eq!(best(&table.replace('\n', "\r\n"), asked), row);
    assert_eq!(best(&table.replace('\n', "\r"), asked), row);
    let list = "# Fares\n\n- Oslo is fast. It costs 1800 NOK\n- Lima is slow. It costs 300 PEN\n";
    let quote = best(list, "Lima costs?");
    assert!(!quote.contains('\n'), "{quote}");
}

/// Lines may end with CR alone: the sentence below a heading is one all the same.
#[test]
fn the_sentence_below_a_heading_is_found_at_any_line_end() {
    let source = "# A\n泵的压力是三兆帕。\n## B\n阀门是红色。\n";
    for end in ["\n", "\r\n", "\r"] {
        let source = source.replace('\n', end);
        assert_eq!(
            best(&source, "泵的压力是多少？"),
            "泵的压力是三兆帕。 @2",
            "{end:?}"
        );
    }
}

#[test]
fn what_a_comment_says_is_no_answer() {
    for source in [
        "标价见下。<!-- 内部。底价是五十元。完。 -->标价是八十元。\n",
        "<div>\n<!-- 底价是五十元。 -->\n标价是八十元。\n</div>\n",
    ] {
        assert!(
            best(source, "底价是多少？").starts_with("标价是八十元。"),
            "{source}"
        );
    }
}

/// Names are found whatever a word processor made of them.
#[test]
fn a_name_is_found_as_a_reader_sees_it() {
    for (source, question) in [
        ("错误 LN‑601 表示分片只读。", "What does LN-601 mean?"),
        ("Sean O’Brien leads the team.", "Who is O'Brien?"),
        (
            "It is cleared by Opti\u{ad}mizerX.",
            "What does OptimizerX clear?",
        ),
        ("调用 zero_\u{200b}grad 清空梯度。", "zero_grad 做什么？"),
        ("本文介绍反向⻚⾯。", "“反向页面”是什么？"),
        ("A replica needs 24 GB of memory.", "Does it need 24GB?"),
        ("A replica needs 24GB of memory.", "Does it need 24 GB?"),
        ("The cluster has many GPUs.", "Has it a GPU?"),
    ] {
        assert_eq!(best(source, question), format!("{source} @1"), "{question}");
    }
    for (source, question, missing) in [
        (
            "A replica needs 24 GB of memory.",
            "Does it need 32GB?",
            "32GB",
        ),
        (
            "A replica needs 24 GB of memory.",
            "Does it need 24TB?",
            "24TB",
        ),
        ("Grade P7 is here.", "Is 7P there?", "7P"),
    ] {
        let refusal = format!("No answer: what was found does not mention {missing}.");
        assert_eq!(best(source, question), refusal);
    }
}

#[test]
fn a_claim_may_write_a_number_and_its_unit_together() {
    let sources = [Source {
        label: "1",
        text: "Each replica needs 24 GB of memory. 泵重 35 kg。",
    }];
    for (claim, held) in [
        ("Each replica needs 24GB of memory [1].", true),
        ("Each replica needs 32GB of memory [1].", false),
        ("Each replica needs 24TB of memory [1].", false),
        ("泵重35kg[1]。", true),
        ("泵重53kg[1]。", false),
    ] {
        let judged = check_claims(&Tokenizer::new(), claim, &sources);
        assert_eq!(
            judged[0].support == Support::Held,
            held,
            "{claim}: {judged:?}"
        );
    }
}
