//! Questions to tables whose plain answer would be wrong: nothing is said, or the right thing.

use cornu_chunk::{Chunker, TableRows, TableRowsOptions, TableView};
use cornu_core::{Acl, DocId, Document};
use cornu_text::Tokenizer;

use crate::counters::chars;

/// The answer of the table in a document of this name; empty for none.
fn said(name: &str, source: &str, question: &str) -> String {
    let doc = Document::new(DocId::new(name).unwrap(), source, Acl::public());
    let chunks = TableRows::new(chars(), TableRowsOptions::default())
        .chunk(&doc)
        .unwrap();
    let table = TableView::all(&chunks).remove(0);
    let answer = table.ask(question, &Tokenizer::new());
    answer.map_or_else(String::new, |answer| answer.to_string())
}

/// A Markdown table of rows parted by `;`, cells by `,`, below `lead`, with questions and answers.
fn check(lead: &str, rows: &str, cases: &[(&str, &str)]) {
    let mut source = format!("{lead}\n\n");
    for (at, row) in rows.split(';').enumerate() {
        let cells: Vec<&str> = row.trim().split('|').map(str::trim).collect();
        source.push_str(&format!("| {} |\n", cells.join(" | ")));
        if at == 0 {
            source.push_str(&format!("{}|\n", "|---".repeat(cells.len())));
        }
    }
    for (question, expected) in cases {
        let answer = said("a.md", &source, question);
        assert_eq!(answer, *expected, "{question}\n{source}");
    }
}

#[test]
fn of_two_columns_with_one_name_none_is_taken() {
    let twins = "Name | Value | Value; n3 | 3 | 6; n4 | 4 | 20; n5 | 30 | 5";
    let asked = [
        "Which Name has the highest Value?",
        "What is the sum of Value?",
        "Value of n3?",
    ];
    check("T.", twins, &asked.map(|question| (question, "")));
    // With two names there is no doubt.
    let one = twins.replacen("Value | Value", "Value | Count", 1);
    check(
        "T.",
        &one,
        &[
            ("What is the Value of n3?", "3"),
            ("What is the Count of n3?", "6"),
        ],
    );
}

const LARGEST: &str = "Which item has the largest length?";
const SUM: &str = "What is the total length?";

#[test]
fn a_number_that_cannot_be_read_may_be_the_largest() {
    for cell in [
        "1 200",
        "10,7",
        "HK$500",
        "½",
        "十六",
        ">9",
        "12 (2023)",
        "1'200",
        "12[^1]",
        "12<sup>1</sup>",
        "~~99~~",
        "<del>99</del>",
    ] {
        let rows = format!("Item | Length; aa | {cell}; bb | 9; cc | 8; dd | 7");
        check("", &rows, &[(LARGEST, ""), (SUM, "")]);
    }
    // Words are none, and a blank is none.
    for cell in ["unknown", "—", "未测"] {
        let rows = format!("Item | Length; aa | {cell}; bb | 9; cc | 8; dd | 7");
        check("", &rows, &[(LARGEST, "bb: 9"), (SUM, "24")]);
    }
    check(
        "",
        "Item | Length; aa | 12<sup>1</sup>; bb | 9",
        &[("What is the length of aa?", "")],
    );
}

#[test]
fn powers_of_ten_and_narrow_spaces_are_read() {
    for (cell, largest, sum) in [
        ("1.5e3", "aa: 1.5e3", "1524"),
        ("12.", "aa: 12.", "36"),
        ("1\u{202F}200", "aa: 1\u{202F}200", "1224"),
        ("1\u{A0}200", "aa: 1\u{A0}200", "1224"),
        ("2e-1", "bb: 9", "24.2"),
    ] {
        let rows = format!("Item | Length; aa | {cell}; bb | 9; cc | 8; dd | 7");
        check("", &rows, &[(LARGEST, largest), (SUM, sum)]);
    }
    let rows = "Item | Length (m); aa | 1.5e3; bb | 9";
    check("", rows, &[(LARGEST, "aa: 1.5e3 m"), (SUM, "1509 m")]);
}

/// An extreme that no reading reaches is one, and the cell is named; of all else it is a part.
#[test]
fn a_number_of_two_readings_is_left_out_and_said_so() {
    let shortest = "Which item has the smallest length?";
    for (cell, largest, smallest) in [
        ("10,7", "bb: 108", "cc: 8"),
        ("1,07", "bb: 108", ""),
        ("1 200", "", ""),
        ("20 300", "", "cc: 8"),
    ] {
        let rows = format!("Item | Length; aa | {cell}; bb | 108; cc | 8");
        let cases = [
            (LARGEST, largest),
            (shortest, smallest),
            (SUM, ""),
            ("Which items have a length above 5?", ""),
        ];
        check("", &rows, &cases);
    }
    let source = "| Item | Length |\n|---|---|\n| aa | 10,7 |\n| bb | 108 |\n";
    let doc = Document::new(DocId::new("a.md").unwrap(), source, Acl::public());
    let chunks = TableRows::new(chars(), TableRowsOptions::default())
        .chunk(&doc)
        .unwrap();
    let answer = TableView::all(&chunks)[0].ask(LARGEST, &Tokenizer::new());
    let left_out = answer.unwrap().left_out;
    assert_eq!(left_out[0].1, cornu_chunk::LeftOut::Ambiguous);
    assert_eq!((left_out[0].0.row, &*left_out[0].0.text), (1, "10,7"));
}

#[test]
fn what_a_range_or_an_about_may_reach_is_no_extreme() {
    let shortest = "Which item has the smallest length?";
    for (cell, largest, smallest) in [
        ("about 5", "bb: 9", ""),
        ("about 500", "", "cc: 8"),
        ("约 9", "", "cc: 8"),
        ("3-8", "bb: 9", ""),
        ("8.5-12", "", "cc: 8"),
        ("8.2 ~ 8.5", "bb: 9", "cc: 8"),
        ("5 kg to 6 kg", "", ""),
    ] {
        let rows = format!("Item | Length; aa | {cell}; bb | 9; cc | 8");
        check("", &rows, &[(LARGEST, largest), (shortest, smallest)]);
    }
}

#[test]
fn a_word_of_any_question_names_no_row() {
    let rows = "Grade | Pay; A | 100; IT | 200; Max | 300";
    let cases = [
        ("Which grade has a pay of more than 50?", "A, IT, Max"),
        ("What is the pay of grade A?", "100"),
        ("A 的 pay 是多少？", "100"),
        ("What is the pay of IT?", "200"),
        ("What is the max pay?", "Max: 300"),
        ("What is the pay of Max?", "300"),
        ("Max pay?", ""),
    ];
    check("", rows, &cases);
    let rows = "Pump | Certified | Load; P1 | yes | 3; P2 | no | 9; P3 | no | 4";
    check(
        "",
        rows,
        &[("Which pump has a load of no more than 5?", "")],
    );
    let rows = "Plan | Price; All | 100; One | 200; Two | 300";
    let cases = [
        ("Which plans have one price of more than 150?", ""),
        ("What is the price of One?", "200"),
    ];
    check("", rows, &cases);
    // What is asked of one row is a name's end.
    let rows = "型号 | 价格; iPhone Pro | 999; iPhone Air | 799";
    let cases = [
        ("iPhone Pro Max 的价格是多少？", ""),
        ("iPhone Pro 的价格是多少？", "999"),
    ];
    check("", rows, &cases);
}

#[test]
fn a_number_of_the_question_is_a_bound_or_a_name() {
    let rows = "年份 | 销量; 2021 | 2000; 2022 | 3000; 2023 | 4000";
    let cases = [
        ("哪些年份的销量超过 2022？", ""),
        ("2022 的销量是多少？", "3000"),
    ];
    check("", rows, &cases);
    let rows = "城市 | 气温（℃）; 漠河 | -30; 海口 | 20; 北京 | 2";
    let cases = [
        ("气温在 -5 以下的城市有哪些？", "漠河"),
        ("气温在 -5℃ 以下的城市有哪些？", "漠河"),
        ("气温在 5 以下的城市有哪些？", "漠河, 北京"),
        ("气温在 3-5 以下的城市有哪些？", ""),
    ];
    check("", rows, &cases);
    let rows = "Item | Weight (g); aa | 300; bb | 5";
    let cases = [
        ("Which items have a weight above 5 kg?", ""),
        ("Which items have a weight above 5 g?", "aa"),
        ("Which items have a weight above 5?", "aa"),
    ];
    check("# Weights in kg", rows, &cases);
    for (lead, name, highest) in [
        ("", "Profit (USD million)", "aa: 900 USD million"),
        ("Table 1 (in millions)", "Profit", "aa: 900"),
        ("表 1（单位：万元）", "Profit", "aa: 900"),
    ] {
        let rows = format!("Firm | {name}; aa | 900; bb | 300");
        let cases = [
            ("Which firm has a profit below 500000?", ""),
            ("Which firm has the highest profit?", highest),
        ];
        check(lead, &rows, &cases);
    }
    let rows = "Firm | Profit (USD million); aa | 300; bb | 5 billion";
    let cases = [
        ("What is the total profit?", ""),
        ("Which firm has the highest profit?", ""),
    ];
    check("", rows, &cases);
    let rows = "Version | Size; 1.9 | 5; 1.10 | 7";
    check("", rows, &[("What is the highest version?", "")]);
}

#[test]
fn a_name_of_several_rows_is_not_what_rows_are() {
    let rows = "Region | Month | Sales; East | Jan | 30; East | Feb | 5; West | Jan | 20; \
        West | Feb | 25";
    let cases = [
        ("Which region has the highest sales?", ""),
        ("How many regions are there?", ""),
        ("Which region has sales above 20?", ""),
        ("What are the total sales of each region?", ""),
        ("What are the total sales by month?", ""),
        ("What are the total sales of East?", "35"),
        ("What are the total sales?", "80"),
    ];
    check("", rows, &cases);
    let rows = "Team | City | Heads; aa | Rome | 30; bb | Rome | 5; cc | Oslo | 5";
    let cases = [
        ("How many employees are in Rome?", ""),
        ("How many teams are in Rome?", "2"),
    ];
    check("# Employees", rows, &cases);
    let rows = "Name | Score; North | ; aa | 20; bb | 30";
    check("", rows, &[("How many names are there?", "")]);
}

#[test]
fn comparisons_are_of_known_rows_and_true() {
    let rows = "City | Limit; Oslo | 180; Lima | 95; New York | 350; Rome | 100-300; Bonn | ";
    let cases = [
        ("Which has the higher limit, Oslo or Lima?", "Oslo: 180"),
        ("Which has the higher limit, Oslo or Rome?", ""),
        ("Which has the higher limit, Oslo or Bonn?", ""),
        ("Which city has a higher limit than Oslo and Lima?", ""),
        (
            "What is the difference between the limit in Oslo, Lima and Bonn?",
            "",
        ),
        ("How much higher is the limit in Oslo than in Lima?", "85"),
        ("How much higher is the limit in Lima than in Oslo?", ""),
        ("How much lower is the limit in Lima than in Oslo?", "85"),
        ("Oslo 的 limit 比 Lima 高多少？", "85"),
        ("Oslo 的 limit 比 Lima 低多少？", ""),
        ("What is the total limit of Oslo and Bonn?", ""),
        ("What is the total limit of Oslo and Lima?", "275"),
    ];
    check("", rows, &cases);
}

#[test]
fn a_sum_that_the_table_denies_is_none() {
    let growth = "What is the total growth?";
    for (total, expected) in [("14%", ""), ("30%", "30%"), ("—", "30%")] {
        let rows = format!("Item | Growth; aa | 10%; bb | 20%; Total | {total}");
        check("", &rows, &[(growth, expected)]);
    }
    let rows = "项目 | 金额; 收入 | 100; 其中：服务 | 40; 支出 | 20";
    check(
        "",
        rows,
        &[("金额的总和是多少？", ""), ("收入的金额是多少？", "100")],
    );
    let rows = "Item | Load; aa | 30; bb | 5; Sub-total | 35; Total (all) | 35";
    let cases = [
        ("Which item has the largest load?", "aa: 30"),
        ("What is the total load?", "35"),
    ];
    check("", rows, &cases);
    // A "mean" above all is the name of a method.
    let most = "Which method has the highest score?";
    let rows = "Method | Score; Mean | 30; Last | 20";
    check("", rows, &[(most, "")]);
    let rows = "Method | Score; First | 30; Last | 20; Mean | 25";
    check("", rows, &[(most, "First: 30")]);
}

/// `rowspan` is not read, so that the rows below it are short.
#[test]
fn merged_cells_are_not_asked() {
    let rows = |span: &str, site: &str| {
        format!(
            "<table><tr><th>Site</th><th>Host</th><th>RAM</th></tr>\
             <tr><td{span}>Rome</td><td>a1</td><td>64</td></tr>\
             <tr>{site}<td>a2</td><td>128</td></tr></table>"
        )
    };
    let question = "What is the host of a2?";
    assert_eq!(said("a.html", &rows(" rowspan=2", ""), question), "");
    assert_eq!(said("a.html", &rows("", ""), question), "");
    let most = "Which RAM has the most RAM?";
    assert_eq!(
        said("a.html", &rows("", "<td>Rome</td>"), most),
        "Rome: 128"
    );
}
