//! Questions to tables whose plain answer would be wrong: nothing is said, or the right thing.

use cornu_chunk::{Chunker, TableRows, TableRowsOptions, TableView};
use cornu_core::{Acl, DocId, Document};
use cornu_text::Tokenizer;

use crate::counters::chars;
use crate::table_questions::ask;

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

#[test]
fn of_columns_that_a_bracket_tells_apart_none_is_taken() {
    let rows = "产品 | 价格（含税） | 价格（不含税）; 水泵 | 113 | 100; 阀门 | 226 | 200";
    let cases = [
        ("水泵的价格是多少？", ""),
        ("哪个产品的价格最高？", ""),
        ("价格的总和是多少？", ""),
        ("水泵的价格（不含税）是多少？", "100 不含税"),
    ];
    check("", rows, &cases);
    let rows = "Firm | Revenue (EU) | Revenue; aa | 100 | 900; bb | 400 | 300";
    let cases = [
        ("Which firm has the highest revenue?", "aa: 900"),
        ("What is the revenue (EU) of aa?", "100 EU"),
    ];
    check("", rows, &cases);
}

/// A cell that is blank in the first column may be merged with the one above it.
#[test]
fn rows_without_a_name_may_belong_to_the_row_above() {
    let rows = "班组 | 设备 | 数量; 一班 | 铣床 | 3; | 车床 | 5; 二班 | 磨床 | 4";
    let cases = [
        ("一班的数量是多少？", ""),
        ("一班和二班哪个数量更大？", ""),
        ("哪个班组的数量最大？", ""),
        ("哪些班组的数量超过 3？", ""),
        ("有几个班组？", ""),
        ("一班的铣床的数量是多少？", "3"),
        ("车床的数量是多少？", "5"),
        ("二班的数量是多少？", "4"),
        ("最大的数量是多少？", "5"),
        ("数量的总和是多少？", "12"),
    ];
    check("", rows, &cases);
}

/// Totals go by other words than those of the first column, or by none.
#[test]
fn rows_that_sum_up_are_known_beside_a_number_or_a_group() {
    let rows = "序号 | 项目 | 金额; 1 | 收入 | 100; 2 | 支出 | 50; | 合计 | 150";
    let cases = [
        ("金额的总和是多少？", "150"),
        ("最大的金额是多少？", "1: 100"),
        ("支出的金额是多少？", "50"),
    ];
    check("", rows, &cases);
    check("", &rows.replace("; |", "; 3 |"), &cases);
    let rows = "Region | Month | Sales; East | Jan | 10; East | Feb | 20; East | Total | 30; \
        West | Jan | 40";
    let cases = [
        ("What are the total sales?", ""),
        ("What are the total sales of East?", "30"),
        ("What are the highest sales?", "West: 40"),
    ];
    check("", rows, &cases);
    let rows = "Item | Load; aa | 30; bb | 5; | 35";
    let cases = [
        ("What is the total load?", ""),
        ("Which item has the largest load?", ""),
        ("What is the load of aa?", "30"),
    ];
    check("", rows, &cases);
    // A word that every row has beside a name of its own is a property.
    let rows = "Item | Basis | Price; aa | Total | 5; bb | Total | 3";
    let cases = [
        ("What is the price of aa?", "5"),
        ("Which item has the highest price?", "aa: 5"),
    ];
    check("", rows, &cases);
}

#[test]
fn rows_of_statistics_and_headers_said_again_are_no_data() {
    let cases = [
        ("What is the total price?", ""),
        ("What is the average price?", ""),
        ("How many items are there?", ""),
    ];
    check("", "Item | Price; aa | 5; bb | 4; Max | 5; Min | 4", &cases);
    check("", "Item | Price; aa | 5; bb | 4; 标准差 | 0.5", &cases);
    // It is a name where it is not the largest of the others.
    let rows = "Plan | Price; Mini | 5; Pro | 7; Max | 9";
    check("", rows, &[("What is the total price?", "21")]);
    let rows = "Pump | 2023; P-1 | 3; P-2 | 5; Pump | 2023; P-3 | 7";
    let cases = [
        ("How many pumps are there?", "3"),
        ("Which pump has the largest 2023?", "P-3: 7"),
        ("What is the total 2023?", "15"),
    ];
    check("", rows, &cases);
    // With the line of dashes below it, and a row of nothing.
    check("", &rows.replace("P-3", "--- | :---:; | ; P-3"), &cases);
    let rows = "型号 | 压力; 一区 | 一区; P-1 | 3; P-2 | 5";
    check(
        "",
        rows,
        &[("有多少个型号？", ""), ("压力的总和是多少？", "8")],
    );
}

/// K may be kelvin, and "above 10" beside 7B ten billion.
#[test]
fn a_letter_behind_numbers_is_kept_and_not_taken_for_granted() {
    let rows = "Sample | Temperature; aa | 300 K; bb | 77 K";
    let cases = [
        ("What is the average temperature?", "188.5 K"),
        ("What is the total temperature?", "377 K"),
        ("Which samples have a temperature above 100?", ""),
        ("Which sample has the highest temperature?", "aa: 300 K"),
    ];
    check("", rows, &cases);
    let rows = "城市 | 人数（人）; 甲市 | 5 万; 乙市 | 3 万";
    let cases = [
        ("哪些城市的人数超过 4？", ""),
        ("哪些城市的人数超过 4 万？", "甲市"),
        ("人数的总和是多少？", "80000 人"),
    ];
    check("", rows, &cases);
    let rows = "公司 | 营收; 甲司 | 3.2亿元; 乙司 | 1.1亿元";
    check("", rows, &[("营收的总和是多少？", "4.3 亿元")]);
}

/// Spreadsheets put marks of direction beside numbers, web pages zero-width spaces into names.
#[test]
fn what_nobody_sees_is_in_no_number_and_no_name() {
    let rows = "Pump | Load; P-\u{200b}1 | \u{202a}12\u{202c}; P-2 | \u{200e}7";
    let cases = [
        (
            "Which pump has the largest load?",
            "P-\u{200b}1: \u{202a}12\u{202c}",
        ),
        ("What is the total load?", "19"),
        ("What is the load of P-1?", "\u{202a}12\u{202c}"),
        ("What is the lo\u{ad}ad of P\u{2060}-2?", "\u{200e}7"),
    ];
    check("", rows, &cases);
}

#[test]
fn a_range_of_rows_is_more_than_its_ends() {
    let rows = "Year | Sales; 2021 | 5; 2022 | 7; 2023 | 6";
    let cases = [
        ("What are the total sales from 2021 to 2023?", ""),
        ("What are the total sales between 2021 and 2023?", ""),
        ("2021-2023 的 sales 总和是多少？", ""),
        ("2021 至 2023 的 sales 最高是多少？", ""),
        ("Which years from 2021 to 2023 have sales above 4?", ""),
        ("What are the total sales of 2021 and 2023?", "11"),
        (
            "What is the difference of sales between 2021 and 2023?",
            "1",
        ),
        // Years name the rows.
        ("Which year has the highest sales?", "2022: 7"),
        ("Which years have sales above 5?", "2022, 2023"),
        ("What is the largest year?", "2023: 2023"),
    ];
    check("", rows, &cases);
}

/// A number in words may be the largest, and no number is more than "unlimited".
#[test]
fn what_stands_for_a_number_is_doubted() {
    for cell in [
        "一千多",
        "两百万元",
        "五个",
        "ten",
        "twenty-five",
        "half",
        "unlimited",
        "no limit",
        "不限",
        "∞",
    ] {
        let rows = format!("Item | Length; aa | {cell}; bb | 9; cc | 8; dd | 7");
        check("", &rows, &[(LARGEST, ""), (SUM, "")]);
    }
}

/// The line above a table tells what its numbers are counted in, though it is no caption.
#[test]
fn a_scale_above_the_table_is_seen() {
    let rows = "项 | 金额; 甲项 | 500; 乙项 | 300";
    let cases = [
        ("哪些项的金额超过 400？", ""),
        ("哪个项的金额最大？", "甲项: 500"),
    ];
    check("# 年报\n\n概况如下。\n\n单位：万元", rows, &cases);
    check(
        "# 年报\n\n单位：元",
        rows,
        &[("哪些项的金额超过 400？", "甲项")],
    );
    let rows = "项 | 金额; 甲项 | 500; 乙项 | 1.2亿";
    check(
        "# 年报\n\n（单位：万元）",
        rows,
        &[("金额的总和是多少？", "")],
    );
}

#[test]
fn powers_endings_and_months_are_no_units() {
    for (rows, question) in [
        ("Item | Size; aa | 5²; bb | 3²", "What is the total size?"),
        (
            "Item | Size; aa | 10³; bb | 999",
            "Which item has the largest size?",
        ),
        (
            "Item | Place; aa | 4th; bb | 5th",
            "What is the total place?",
        ),
        (
            "Item | Date; aa | 12 June; bb | 3 June",
            "What is the total date?",
        ),
    ] {
        check("", rows, &[(question, "")]);
    }
    let rows = "Item | Date; aa | 12 June; bb | 3 June";
    check("", rows, &[("What is the date of aa?", "12 June")]);
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

/// The cheapest model is not the one with the least power, nor the largest the one with the highest
/// price.
#[test]
fn a_superlative_is_not_moved_to_another_column() {
    let routers = "# 路由器\n\n| 型号 | 价格（元） | 功耗 | 重量 | 启动耗时 |\n|---|---|---|---|---|\n\
        | X5 | 399 | 20 W | 1 kg | 30 秒 |\n| X7 | 1299 | 12 W | 3 kg | 9 秒 |\n";
    let pumps = "# Pumps\n\n| Model | Price | Power (W) | Wait (h) |\n|---|---|---|---|\n\
        | A1 | $40 | 900 | 5 |\n| B2 | $90 | 300 | 7 |\n";
    let rain = "| Station | Rainfall (mm) | Snow (cm) |\n|---|---|---|\n| Oslo | 80 | 9 |\n| Lima | 5 | 0 |\n";
    let shops = "| 车间 | 负荷 | 人数 |\n|---|---|---|\n| 甲 | 80% | 9 |\n| 乙 | 55% | 12 |\n";
    for (source, question) in [
        (rain, "What is the snow of the heaviest station?"),
        (shops, "最重的车间的人数是多少？"),
        (routers, "最便宜的型号的功耗是多少？"),
        (routers, "最贵的型号的重量是多少？"),
        (routers, "最重的型号的价格是多少？"),
        (routers, "最高的型号的价格是多少？"),
        (routers, "最大的型号功耗多少？"),
        (routers, "哪个型号的启动耗时最快？"),
        (pumps, "What is the power of the cheapest model?"),
        (pumps, "What is the price of the largest model?"),
        (pumps, "What is the power of the longest model?"),
        (pumps, "What is the price of the largest?"),
        (pumps, "What is the price of the largest pump?"),
        (pumps, "What is the largest pump's price?"),
        (routers, "最大的路由器的价格是多少？"),
    ] {
        let answer = ask(source, question);
        assert!(answer.is_none(), "{question}: {answer:?}");
    }
    for (source, question, expected) in [
        (routers, "最贵的型号的价格是多少？", "X7: 1299 元"),
        (routers, "价格最高的型号是哪个？", "X7: 1299 元"),
        (routers, "功耗最低的型号是哪个？", "X7: 12 W"),
        (routers, "最高的价格是多少？", "X7: 1299 元"),
        (routers, "哪个型号的重量最轻？", "X5: 1 kg"),
        (pumps, "What is the price of the cheapest model?", "A1: $40"),
        (pumps, "Which model has the highest power?", "A1: 900 W"),
        (pumps, "Which model has the longest wait?", "B2: 7 h"),
        (
            pumps,
            "What is the difference between model A1 and model B2 in price?",
            "$50",
        ),
        (pumps, "What is the total model price?", "$130"),
        (
            rain,
            "Which station had the heaviest rainfall?",
            "Oslo: 80 mm",
        ),
        (shops, "哪个车间的负荷最重？", "甲: 80%"),
        (pumps, "What is the average model power?", "600 W"),
    ] {
        let answer = ask(source, question).map(|answer| answer.to_string());
        assert_eq!(answer.as_deref(), Some(expected), "{question}");
    }
}
