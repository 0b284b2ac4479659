use cornu_text::{cuts_word, ends_sentence, is_sentence_end, sentences};

fn split(text: &str) -> Vec<&str> {
    let spans: Vec<_> = sentences(text).collect();
    let parts: Vec<&str> = spans.iter().map(|span| span.slice(text).unwrap()).collect();
    assert_eq!(parts.concat(), text, "lossless");
    parts
}

/// The sentences without the white space that stays with them.
fn trimmed(text: &str) -> Vec<&str> {
    split(text).into_iter().map(str::trim).collect()
}

#[track_caller]
fn check(expected: &[&str]) {
    assert_eq!(split(&expected.concat()), expected);
}

#[test]
fn ss_02_closing_quotes_stay_with_their_sentence() {
    check(&["他说：“好的。”", "然后走了。", "她问：「真的吗？」"]);
    check(&["“走！”", "「停。」", "『好？』", "‘行。’", "完"]);
    check(&["He said “Go.” ", "Then \"Run!\" ", "Then 'stop.' ", "Done."]);
    check(&["（全句在括号里。）", "下一句。"]);
    check(&["(A whole sentence.) ", "Another one."]);
    check(&["好。 」", "下一句。"]);
}

#[test]
fn a_sentence_can_start_right_after_a_closing_quote() {
    check(&[
        "He said “Go.”",
        "Then he left. ",
        "“Why?”",
        "Because. ",
        "So “a.b”C",
    ]);
    check(&["U.S.-based and Mr.Smith, OK?No. ", "Done."]);
}

#[test]
fn a_straight_quote_after_a_mark_opens_or_closes_by_what_came_before() {
    check(&["他说\"好。\"", "\"行。\"", "完。"]);
    check(&["甲。", "\"乙。", "丙。\"", "丁。"]);
}

#[test]
fn ss_03_an_ellipsis_inside_brackets_ends_nothing() {
    check(&[
        "常见做法：缓存（内存，磁盘……），排队（优先级……），重试（退避……）。",
        "下一句。",
    ]);
    check(&["（内存……磁盘）是缓存。", "好。"]);
    check(&["Use [a, b, ...] or (x ... Y) here. ", "Next."]);
    check(&["他走了（真的吗？我不信。）然后回来。", "好。"]);
    check(&["看《你好！李焕英》了吗？", "《为什么？》很好。"]);
    // A bracket that never closes holds nothing together.
    check(&["坏（了。", "真的……", "好。"]);
}

#[test]
fn ss_05_numbers_amounts_and_versions_are_whole() {
    let text = "圆周率约3.14，罚款1.6万元。Version 2.0.1 is out. 温度36.5℃。";
    assert_eq!(
        trimmed(text),
        [
            "圆周率约3.14，罚款1.6万元。",
            "Version 2.0.1 is out.",
            "温度36.5℃。"
        ]
    );
    check(&[
        "涨了.5个点，１．５倍，$3.50，v1.2-rc.1。",
        "It cost 3.5. ",
        "Then 10.20.30.40!",
    ]);
    check(&["In 2004. ", "15 people came."]);
}

#[test]
fn ss_06_abbreviations_end_only_before_a_clear_start() {
    let text = "See Dr. Wu et al. [2004], e.g. Fig. 3. I like apples, pears, etc. They are cheap.";
    assert_eq!(
        trimmed(text),
        [
            "See Dr. Wu et al. [2004], e.g. Fig. 3.",
            "I like apples, pears, etc.",
            "They are cheap."
        ]
    );
    check(&[
        "J. R. R. Tolkien met Prof. C. S. Lewis at 5 p.m. in Oxford. ",
        "They talked.",
    ]);
    check(&[
        "Apple Inc. CEO Cook left the U.S. Navy. ",
        "He went to Acme Corp. ",
        "The end.",
    ]);
    check(&["No. 5 is alive. ", "Is it? ", "No. ", "I am sure."]);
    check(&[
        "Wu et al. Found it. ",
        "Not Wu et al. ",
        "They lost it, i.e. nothing.",
    ]);
    check(&["See pp. 3-5, Eq. (2), Vol. IV and Nov. 29. ", "Done."]);
    check(&[
        "gradient vs. Hessian, etc. and more. ",
        "例如e.g.中文，vs.传统方法。",
        "etc. ",
        "它们很便宜。",
    ]);
    check(&["It works well. however small. ", "Next."]);
}

#[test]
fn ss_07_addresses_and_file_names_are_whole() {
    check(&[
        "文档见 https://example.org/a.b?x=1!y 。",
        "配置在 config.prod.yaml。",
        "联系 a.b@example.org。",
    ]);
    check(&[
        "见 https://example.org/?查询=一&b=2!三 吧。",
        "Use node.js or ./run.sh? ",
        "Ask a@b.co. ",
        "Then ls .gitignore.",
    ]);
    check(&[
        "if a != b ? c : d 行。",
        "看图![图](a.png)，<!-- 注 --> 好。",
    ]);
    check(&["用 `a. B? C!` 和 ``x` Y. Z``。", "We use C#. ", ".NET too."]);
}

#[test]
fn ss_12_a_very_long_sentence_is_kept_whole() {
    let long = format!("{}。", "字".repeat(150_000));
    check(&[&long, "后句。"]);
    let spaces = format!("一。{}", " ".repeat(80_000));
    check(&[&spaces, "one two three"]);
    check(&[&"a".repeat(2_000_000)]);
}

#[test]
fn ss_13_a_full_stop_between_a_digit_and_chinese_ends() {
    let text = "请先了解Java7.0.然后使用 v1.5。Then run it! 结束";
    assert_eq!(
        trimmed(text),
        [
            "请先了解Java7.0.",
            "然后使用 v1.5。",
            "Then run it!",
            "结束"
        ]
    );
    check(&[
        "用Java.",
        "然后编译.",
        "真的吗?",
        "对!",
        "好｡",
        "行．",
        "完",
    ]);
    check(&[
        "1.打开文件。",
        "关。\n",
        "2.运行。\n  ",
        "3. Close it. ",
        "Done.",
    ]);
    check(&["# 1.2. 引言 A. 苹果 B. 香蕉。"]);
}

#[test]
fn ss_05_the_number_of_an_item_within_a_line_stays_with_it() {
    check(&["步骤如下：1. 打开电源。", "2. 等待。", "3. 关闭。"]);
    check(&["Steps: 1. Open. ", "2. Wait. ", "3. Go on. ", "Done."]);
    check(&["a. 甲。", "b. 乙。"]);
    check(&["分两步:1.打开。", "2.关闭！", "完。"]);
    check(&["先；2. 等待；3. 关闭。", "好。"]);
    check(&["他说：“1. 甲。", "2. 乙。”", "完。"]);
    check(&["Is it? ", "1.2. Open it. ", "**2.** Wait. ", "Done."]);
    check(&["好。[1] ", "2. 等待。"]);
}

#[test]
fn ss_05_a_number_that_ends_a_sentence() {
    check(&["It was in 2024. ", "Then we left."]);
    check(&["Version 2.0.1 is out. ", "See it."]);
    check(&[
        "It rose to 5. ",
        "The next day it fell. ",
        "It rose to 5. ",
        "Then 6.",
    ]);
    check(&[
        "We met at 10:30. ",
        "Then we left. ",
        "The ratio is 3:1. ",
        "Good.",
    ]);
    check(&["会议在10：30. ", "然后散会。"]);
    check(&[
        "See Fig. 3. ",
        "I like it. ",
        "He chose plan b. ",
        "We did not.",
    ]);
    check(&["Founded? ", "2024. ", "Then it grew."]);
}

#[test]
fn ss_15_a_run_of_marks_ends_one_sentence() {
    check(&["真的？！", "不会吧……！！！", "好。"]);
    check(&["What?! ", "No... ", "Yes!!! ", "好。。。", "行…… ", "完……"]);
    check(&["好。 ——  ***  ！！"]);
    check(&["！！好。", "行"]);
    check(&["。。。"]);
    check(&["Well . . . yes. ", "真的？ ！", "好"]);
    check(&["🎉。", "👍！"]);
}

#[test]
fn an_ellipsis_ends_where_a_sentence_can_begin() {
    check(&["苹果、香蕉……", "我们都喜欢。"]);
    check(&["我……我不知道。"]);
    check(&["wait...what and so ... on. ", "Then... ", "Yes."]);
    check(&["他…走了……，又来了。"]);
}

#[test]
fn a_quoted_question_can_be_part_of_its_sentence() {
    check(&["这个“为什么？”的问题很难。", "好。"]);
    check(&["“甲？”、“乙？”和“丙？”等问题。"]);
    check(&["\"Really?\" she asked. ", "“Go!” he said."]);
}

#[test]
fn semicolons_and_colons_end_nothing() {
    check(&["甲；乙; 丙：丁: 戊。"]);
}

#[test]
fn a_blank_line_ends_a_sentence_and_a_line_break_does_not() {
    check(&["标题\n\n", "正文一\n正文二。\n", "正文三"]);
    check(&["a\r\n\r\n", "b\r\nc\r\n  \r\n", "d\u{2029}", "e"]);
    check(&["标题\n \t\u{3000}\n  ", "正文"]);
}

#[test]
fn closing_markdown_and_citations_stay_with_their_sentence() {
    check(&[
        "**注意。**",
        "下一句。",
        "**重点**在后。",
        "*Done.* ",
        "Next.",
    ]);
    check(&[
        "结果。[1]",
        "下一句。[2, 3] ",
        "好.² ",
        "See this.[^a] ",
        "[链接](x)在后。",
    ]);
    check(&[
        "* 列表。
",
        "* 列表二。",
        "**重点**句。",
    ]);
    check(&["句一。", "**重点**句二。", "2*3 得 6。", "**三。**"]);
}

#[test]
fn empty_and_blank_texts() {
    assert!(split("").is_empty());
    check(&[" \n\n "]);
    check(&["\n\n甲\n\n", "乙"]);
}

#[test]
fn a_cut_at_a_sentence_end() {
    let text = "**好。** 约3.14米。\n\n标题\n\n完";
    for good in [
        "",
        "**好。",
        "**好。**",
        "**好。** ",
        "**好。** 约3.14米。",
        "**好。** 约3.14米。\n\n标题",
    ] {
        assert!(is_sentence_end(text, good.len()), "{good}");
    }
    for bad in [
        "*",
        "**好",
        "**好。** 约",
        "**好。** 约3.",
        "**好。** 约3.14米",
    ] {
        assert!(!is_sentence_end(text, bad.len()), "{bad}");
    }
    assert!(is_sentence_end(text, text.len()));
    assert!(!is_sentence_end(text, 3) && !is_sentence_end(text, 999));
}

#[test]
fn a_text_that_ends_with_a_sentence() {
    for good in [
        "好。",
        "他说：“好的。”\n",
        "(Done.) **",
        "see etc.",
        "真的？！",
        "等等……",
        "在 2004.",
    ] {
        assert!(ends_sentence(good), "{good}");
    }
    for bad in [
        "",
        "标题",
        "see Dr.",
        "e.g.",
        "1.",
        "J. R.",
        "好。——然",
        "约3.14",
        "好。\n\n标题\n\n",
    ] {
        assert!(!ends_sentence(bad), "{bad}");
    }
}

#[test]
fn a_cut_inside_a_word() {
    for (text, at) in [
        ("gradient", 3),
        ("zero_grad", 4),
        ("zero_grad", 5),
        ("3.14", 1),
        ("v1.5", 3),
        ("don't", 3),
        ("梯", 1),
        ("BGE-small", 4),
    ] {
        assert!(cuts_word(text, at), "{text} at {at}");
    }
    for (text, at) in [
        ("梯度", 3),
        ("ab cd", 2),
        ("ab cd", 3),
        ("ab.", 2),
        ("a.", 2),
        ("用ab", 3),
        ("x", 0),
        ("x", 1),
        ("x", 9),
        ("- a", 1),
    ] {
        assert!(!cuts_word(text, at), "{text} at {at}");
    }
}
