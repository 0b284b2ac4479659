//! Numeric questions over tables: what is answered, from which cells, and what is not.

use cornu_chunk::{
    Chunker, LeftOut, TableAnswer, TableOperation, TableRows, TableRowsOptions, TableView,
};
use cornu_text::Tokenizer;
use proptest::prelude::*;

use crate::counters::chars;
use crate::documents::doc;

const PUMPS: &str = "# 水泵手册\n\n表 2：水泵参数\n\n\
    | 型号 | 压力（MPa） | 流量（m³/h） | 价格 | 班组 |\n|---|---|---|---|---|\n\
    | P-101 | 3.5 | 1,200 | ¥12,000 | 一班 |\n\
    | P-102 | 12 | 800 | ¥9,500 | 二班 |\n\
    | P-103 | 3-5 | 950 | — | 一班 |\n\
    | P-104 | 0.8 | 1,500 | ¥1.2万 | 二班 |\n";

const FIRMS: &str = "# 年报\n\n| 公司 | 营收（亿元） | 利润 | 增长率 |\n|---|---|---|---|\n\
    | 甲公司 | 120.5 | 3.2亿元 | 12.5% |\n\
    | 乙公司 | 98 | (5,000)万元 | -3% |\n\
    | 丙公司 | 240 | 12亿元 | 8% |\n\
    | 合计 | 458.5 |  |  |\n";

const CITIES: &str = "# Travel\n\nTable 1. Hotel limits\n\n\
    | City | Hotel limit | Meals | Days |\n|---|---|---|---|\n\
    | Oslo | $180 | $60 | 3 |\n| New York | $350 | $80 | 5 |\n| Lima | $95 | n/a | 10 |\n\
    | Paris | about $200 | $70 | 4 |\n";

const MODELS: &str = "| 模型代号 | 参数量 | 上下文窗口 |\n|---|---|---|\n| BGE-small | 24M | 512 |\n\
    | Qwen-2.5-7B | 7B | 128k |\n| Llama-3-8B | 8B | 8k |\n";

pub(crate) fn ask(source: &str, question: &str) -> Option<TableAnswer> {
    table(source).ask(question, &Tokenizer::new())
}

fn table(source: &str) -> TableView {
    let chunks = TableRows::new(chars(), TableRowsOptions::default())
        .chunk(&doc(source))
        .unwrap();
    TableView::all(&chunks).remove(0)
}

/// A question, its answer, and the coordinates of the cells that it rests on.
type Case<'a> = (&'a str, &'a str, &'a [(usize, usize)]);

fn check(source: &str, cases: &[Case<'_>]) {
    for (question, expected, cells) in cases {
        let answer = ask(source, question).unwrap_or_else(|| panic!("silent: {question}"));
        assert_eq!(answer.to_string(), *expected, "{question}");
        let places: Vec<_> = answer.cells.iter().map(|c| (c.row, c.column)).collect();
        assert_eq!(places, *cells, "{question}");
        for cell in &answer.cells {
            assert_eq!(source[cell.span.range()].trim(), cell.text, "{question}");
            assert_eq!(table(source).quote(cell), Some(&source[cell.span.range()]));
            let line = source.lines().nth(cell.line - 1).unwrap();
            assert!(line.contains(&cell.text), "{question}");
        }
    }
}

#[test]
fn cells_by_row_and_column() {
    check(
        PUMPS,
        &[
            ("P-101 的压力是多少？", "3.5 MPa", &[(1, 2)]),
            ("P-104 的价格是多少？", "¥1.2万", &[(4, 4)]),
            ("型号 P-102 的流量是多少", "800 m³/h", &[(2, 3)]),
            ("P-103 的班组是什么？", "一班", &[(3, 5)]),
            ("水泵 P-103 的压力是多少？", "3-5 MPa", &[(3, 2)]),
        ],
    );
    check(
        CITIES,
        &[
            ("What is the hotel limit in Oslo?", "$180", &[(1, 2)]),
            ("What is the hotel limit in New York?", "$350", &[(2, 2)]),
            ("How much are meals in Oslo?", "$60", &[(1, 3)]),
        ],
    );
    check(MODELS, &[("Qwen-2.5-7B 的参数量是多少？", "7B", &[(2, 2)])]);
    check(FIRMS, &[("甲公司的利润是多少？", "3.2亿元", &[(1, 3)])]);
}

#[test]
fn the_largest_and_the_smallest() {
    check(
        PUMPS,
        &[
            ("哪个型号的压力最高？", "P-102: 12 MPa", &[(2, 2)]),
            ("压力最低的型号是哪个？", "P-104: 0.8 MPa", &[(4, 2)]),
            ("流量最大的型号是哪个？", "P-104: 1,500 m³/h", &[(4, 3)]),
            ("一班的流量最大的型号是哪个", "P-101: 1,200 m³/h", &[(1, 3)]),
            // 12,000 and 1.2万 are the same.
            (
                "价格最高的型号是哪个？",
                "P-101, P-104: ¥12,000",
                &[(1, 4), (4, 4)],
            ),
        ],
    );
    check(
        CITIES,
        &[
            (
                "Which city has the highest hotel limit?",
                "New York: $350",
                &[(2, 2)],
            ),
            (
                "Which city has the lowest hotel limit?",
                "Lima: $95",
                &[(3, 2)],
            ),
        ],
    );
    check(
        MODELS,
        &[
            ("哪个模型代号的参数量最大？", "Llama-3-8B: 8B", &[(3, 2)]),
            (
                "上下文窗口最小的模型代号是哪个？",
                "BGE-small: 512",
                &[(1, 3)],
            ),
        ],
    );
    check(
        FIRMS,
        &[
            // 合计 is larger and no firm; 5,000万 in brackets is negative.
            ("哪家公司的营收最高？", "丙公司: 240 亿元", &[(3, 2)]),
            ("哪家公司的利润最低？", "乙公司: (5,000)万元", &[(2, 3)]),
            ("增长率最低的公司是哪家？", "乙公司: -3%", &[(2, 4)]),
        ],
    );
}

#[test]
fn sums_means_and_counts() {
    check(
        PUMPS,
        &[
            (
                "流量的总和是多少？",
                "4450 m³/h",
                &[(1, 3), (2, 3), (3, 3), (4, 3)],
            ),
            (
                "流量的平均值是多少？",
                "1112.5 m³/h",
                &[(1, 3), (2, 3), (3, 3), (4, 3)],
            ),
            ("有多少个型号？", "4", &[(1, 1), (2, 1), (3, 1), (4, 1)]),
            ("一班有多少个型号？", "2", &[(1, 1), (3, 1)]),
            ("一班的流量合计是多少？", "2150 m³/h", &[(1, 3), (3, 3)]),
        ],
    );
    check(
        FIRMS,
        &[
            (
                "公司的营收总和是多少？",
                "458.5 亿元",
                &[(1, 2), (2, 2), (3, 2)],
            ),
            ("一共有几个公司？", "3", &[(1, 1), (2, 1), (3, 1)]),
        ],
    );
    check(
        CITIES,
        &[
            (
                "What is the total of the days?",
                "22",
                &[(1, 4), (2, 4), (3, 4), (4, 4)],
            ),
            (
                "What is the average of meals?",
                "$70",
                &[(1, 3), (2, 3), (4, 3)],
            ),
            (
                "How many cities are there?",
                "4",
                &[(1, 1), (2, 1), (3, 1), (4, 1)],
            ),
        ],
    );
}

#[test]
fn rows_beside_each_other() {
    check(
        PUMPS,
        &[
            ("P-101 和 P-102 哪个压力更高？", "P-102: 12 MPa", &[(2, 2)]),
            (
                "P-101 和 P-102 哪个流量更小？",
                "P-102: 800 m³/h",
                &[(2, 3)],
            ),
            (
                "P-102 的压力比 P-101 高多少？",
                "8.5 MPa",
                &[(1, 2), (2, 2)],
            ),
            (
                "P-101 与 P-104 的流量相差多少？",
                "300 m³/h",
                &[(1, 3), (4, 3)],
            ),
        ],
    );
    check(
        CITIES,
        &[
            (
                "Which has the higher hotel limit, Oslo or Lima?",
                "Oslo: $180",
                &[(1, 2)],
            ),
            (
                "What is the difference between the hotel limit in New York and Oslo?",
                "$170",
                &[(1, 2), (2, 2)],
            ),
        ],
    );
}

#[test]
fn rows_within_a_bound() {
    check(
        PUMPS,
        &[
            (
                "哪些型号的压力超过 3 MPa？",
                "P-101, P-102",
                &[(1, 2), (2, 2)],
            ),
            (
                "哪些型号的流量不低于1,200？",
                "P-101, P-104",
                &[(1, 3), (4, 3)],
            ),
            (
                "流量在 950 以下的型号有哪些？",
                "P-102, P-103",
                &[(2, 3), (3, 3)],
            ),
            ("有几个型号的流量大于 900？", "3", &[(1, 3), (3, 3), (4, 3)]),
        ],
    );
    check(
        FIRMS,
        &[
            (
                "营收超过 100 亿元的公司有哪些？",
                "甲公司, 丙公司",
                &[(1, 2), (3, 2)],
            ),
            (
                "哪些公司的增长率低于 10%？",
                "乙公司, 丙公司",
                &[(2, 4), (3, 4)],
            ),
        ],
    );
    check(
        CITIES,
        &[
            (
                "Which city has a hotel limit of more than $100?",
                "Oslo, New York",
                &[(1, 2), (2, 2)],
            ),
            (
                "Which city has at least 5 days?",
                "New York, Lima",
                &[(2, 4), (3, 4)],
            ),
        ],
    );
}

#[test]
fn what_is_left_out_is_said() {
    let why = |source, question| -> Vec<(usize, LeftOut)> {
        let answer = ask(source, question).unwrap();
        answer
            .left_out
            .iter()
            .map(|(cell, why)| (cell.row, *why))
            .collect()
    };
    assert_eq!(why(PUMPS, "哪个型号的压力最高？"), [(3, LeftOut::Range)]);
    assert_eq!(
        why(PUMPS, "价格最高的型号是哪个？"),
        [(3, LeftOut::Missing)]
    );
    assert_eq!(
        why(CITIES, "Which city has the highest hotel limit?"),
        [(4, LeftOut::Unclear)]
    );
    assert_eq!(why(FIRMS, "公司的营收总和是多少？"), [(4, LeftOut::Total)]);
}

#[test]
fn what_is_not_understood_is_not_answered() {
    for (source, question) in [
        (PUMPS, "P-101 的颜色是什么？"),        // no such column
        (PUMPS, "P-999 的压力是多少？"),        // no such row
        (PUMPS, "P-103 的价格是多少？"),        // missing
        (PUMPS, "为什么 P-101 的压力是 3.5？"), // another question
        (PUMPS, "去年 P-101 的压力是多少？"),   // another time
        (PUMPS, "P-101 的电机压力是多少？"),    // another thing
        (PUMPS, "哪个型号的压力不是最高？"),
        (PUMPS, "除了 P-102，哪个型号的压力最高？"),
        (PUMPS, "压力第二高的型号是哪个？"),
        (CITIES, "Which city does not have the highest hotel limit?"),
        (CITIES, "Which city has the second highest hotel limit?"),
        (CITIES, "Is the hotel limit in Oslo $180?"),
        (PUMPS, "压力"),
        (PUMPS, "哪个型号最好？"),
        (PUMPS, "压力和流量最大的型号是哪个？"), // two columns
        (PUMPS, "压力最高和最低的型号是哪个？"), // two questions
        (PUMPS, "一班的压力是多少？"),           // two rows
        (PUMPS, "哪些型号的压力超过 3 元？"),    // another unit
        (PUMPS, "班组最大的是哪个？"),           // no numbers
        (PUMPS, "P-101 比 P-102 和 P-104 的压力高多少？"), // three rows
        (CITIES, "What is the hotel limit in Berlin?"),
        (CITIES, "What was the hotel limit in Oslo in 2019?"),
        (CITIES, "Why is the hotel limit in Oslo so low?"),
        (CITIES, "What is the parking limit in Oslo?"),
        (CITIES, "Is the hotel limit in Oslo enough?"),
        (CITIES, ""),
        (MODELS, "Qwen-2.5-72B 的参数量是多少？"),
        (MODELS, "Qwen-2.5-7B-Instruct 的参数量是多少？"),
    ] {
        let answer = ask(source, question);
        assert!(answer.is_none(), "{question}: {answer:?}");
    }
}

/// A wrong number is worse than none: where a question may ask for something else, nothing is said.
#[test]
fn what_could_be_asked_in_two_ways_is_not_answered() {
    let staff = "| Department | Number of employees | Distance (km) | Profit (thousand USD) |\n\
        |---|---|---|---|\n| Sales | 120 | 12 | 900 |\n| Research | 45 | 0.5 | 300 |\n";
    let classes = "| 班级 | 学生人数 | 利润（万元） |\n|---|---|---|\n| 一班 | 40 | 30 |\n| 二班 | 38 | 20 |\n";
    let hosts = "| Host | Site | RAM (GB) |\n|---|---|---|\n| alpha | Berlin | 64 |\n| delta | Rome | 256 |\n";
    for (source, question) in [
        // "Employees" is a column, not what the rows are.
        (staff, "How many employees does Sales have?"),
        (staff, "How many employees are in Research?"),
        (staff, "How many Sales are there?"),
        (classes, "一班有几个学生？"),
        // A letter is a unit; a bare number beside thousands may be either.
        (staff, "Which departments have a distance below 1000 m?"),
        (staff, "Which departments have a distance above 1000m?"),
        (staff, "Which departments have a profit above 500000?"),
        (classes, "利润超过200000的班级有几个？"),
        // No row is inside: nothing to cite.
        (staff, "Which departments have a distance above 500 km?"),
        // The rows are hosts.
        (hosts, "Which site has the most RAM?"),
    ] {
        let answer = ask(source, question);
        assert!(answer.is_none(), "{question}: {answer:?}");
    }
    let shown = |source, question| ask(source, question).map(|answer| answer.to_string());
    assert_eq!(
        shown(hosts, "Which host has the most RAM?").as_deref(),
        Some("delta: 256 GB")
    );
    assert_eq!(
        shown(staff, "Which departments have a distance above 5 km?").as_deref(),
        Some("Sales")
    );
    assert_eq!(
        shown(staff, "What is the number of employees of Sales?").as_deref(),
        Some("120")
    );
}

/// "How many" of something that is a column asks a row for its cell, where that is a whole number.
#[test]
fn how_many_of_a_column_is_the_cell_of_a_row() {
    let routers = "| 型号 | 端口 | 功耗 | 天线 |\n|---|---|---|---|\n| X5 | 4 | 12 W | 2 根 |\n\
        | X5 Pro | 8 | 18 W | 4 根 |\n| X7 | 8 | 25 W | 约 6 |\n";
    let teams = "| Team | Members | Rooms | Share |\n|---|---|---|---|\n| Red | 12 | 3 | 0.5 |\n\
        | Blue | 9 | 2-3 | 0.5 |\n";
    check(
        routers,
        &[
            ("X7 有几个端口？", "8", &[(3, 2)]),
            ("X5 Pro 有几个端口？", "8", &[(2, 2)]),
        ],
    );
    check(
        teams,
        &[
            ("How many members does team Red have?", "12", &[(1, 2)]),
            ("How many rooms has Red?", "3", &[(1, 3)]),
            ("How many teams are there?", "2", &[(1, 1), (2, 1)]),
        ],
    );
    for (source, question) in [
        // One row has 4: the question is about rows.
        (routers, "有几个型号有 4 个端口？"),
        (routers, "几个型号的端口是 4？"),
        (teams, "How many teams have 12 members?"),
        // Not a whole number, or one of something else.
        (routers, "X7 有几个天线？"),
        (routers, "X7 有几个功耗？"),
        (teams, "How many rooms has Blue?"),
        (teams, "How many shares has Red?"),
        (teams, "How many rooms do Red and Blue have?"),
    ] {
        let answer = ask(source, question);
        assert!(answer.is_none(), "{question}: {answer:?}");
    }
}

/// "The cheapest" is about the column of prices, where there is one.
#[test]
fn a_comparison_of_prices_or_weights_needs_no_column() {
    let routers = "# 路由器\n\n| 型号 | 价格（元） | 功耗 | 重量 |\n|---|---|---|---|\n\
        | X5 | 399 | 20 W | 1 kg |\n| X7 | 1299 | 12 W | 3 kg |\n";
    let pumps = "# Dosing pumps\n\n| Model | Price | Weight (kg) |\n|---|---|---|\n\
        | A1 | $40 | 9.5 |\n| B2 | $90 | 3 |\n| C3 | $90 | 4 |\n";
    check(
        routers,
        &[
            ("最贵的型号是哪个？", "X7: 1299 元", &[(2, 2)]),
            ("X5 和 X7 哪个便宜？", "X5: 399 元", &[(1, 2)]),
            ("X7 比 X5 贵多少？", "900 元", &[(1, 2), (2, 2)]),
            ("X5 比 X7 轻多少？", "2 kg", &[(1, 4), (2, 4)]),
            ("哪个型号最重？", "X7: 3 kg", &[(2, 4)]),
        ],
    );
    check(
        pumps,
        &[
            ("Which dosing pump is the cheapest?", "A1: $40", &[(1, 2)]),
            (
                "Which pump is the most expensive?",
                "B2, C3: $90",
                &[(2, 2), (3, 2)],
            ),
            (
                "How much heavier is A1 than B2?",
                "6.5 kg",
                &[(1, 3), (2, 3)],
            ),
            (
                "How much more expensive is B2 than A1?",
                "$50",
                &[(1, 2), (2, 2)],
            ),
        ],
    );
    let two =
        "| Model | Price | Price (net) |\n|---|---|---|\n| A1 | $40 | $30 |\n| B2 | $90 | $20 |\n";
    let yearly = "| Model | Cost per year |\n|---|---|\n| A1 | $40 |\n| B2 | $90 |\n";
    for (source, question) in [
        (two, "Which model is the cheapest?"),
        (yearly, "Which model is the cheapest?"),
        (pumps, "How much heavier is B2 than A1?"),
        (pumps, "Which pump is the longest?"),
        (routers, "X7 是最贵的吗？"),
        (routers, "除了 X7 哪个型号最贵？"),
    ] {
        let answer = ask(source, question);
        assert!(answer.is_none(), "{question}: {answer:?}");
    }
}

/// Years and identifiers have an order and a difference, and no sum.
#[test]
fn names_made_of_digits_are_not_added_up() {
    let staff = "| Name | Employee ID | Year of birth | Salary |\n|---|---|---|---|\n\
        | Ada | 1001 | 1985 | 4000 |\n| Bo | 1002 | 1991 | 5000 |\n";
    let orders = "| 客户 | 订单编号 | 年份 | 金额 |\n|---|---|---|---|\n\
        | 甲 | 30012 | 2021 | 500 |\n| 乙 | 30013 | 2023 | 700 |\n";
    for (source, question) in [
        (staff, "What is the sum of employee IDs?"),
        (staff, "What is the average employee ID?"),
        (staff, "What is the average year of birth?"),
        (orders, "订单编号总和是多少？"),
        (orders, "年份的平均值是多少？"),
    ] {
        let answer = ask(source, question);
        assert!(answer.is_none(), "{question}: {answer:?}");
    }
    check(
        staff,
        &[
            ("What is the average salary?", "4500", &[(1, 4), (2, 4)]),
            ("Who has the highest year of birth?", "Bo: 1991", &[(2, 3)]),
        ],
    );
    check(orders, &[("金额总和是多少？", "1200", &[(1, 4), (2, 4)])]);
}

/// Rows that sum up others, by other names too, are no data.
#[test]
fn rows_that_sum_up_are_known_by_their_names() {
    for total in [
        "Grand total",
        "Sum of all",
        "Subtotal",
        "共计",
        "全部",
        "合计（件）",
        "Total",
    ] {
        let source = format!(
            "| Shop | Items |\n|---|---|\n| East | 10 |\n| West | 30 |\n| {total} | 40 |\n"
        );
        let sum = ask(&source, "What is the total items?").map(|answer| answer.value);
        assert_eq!(sum.as_deref(), Some("40"), "{total}");
        let most = ask(&source, "Which shop has the most items?").map(|answer| answer.to_string());
        assert_eq!(most.as_deref(), Some("West: 30"), "{total}");
    }
}

/// Kilograms and grams side by side: no answer rather than a wrong one.
#[test]
fn different_units_are_not_compared() {
    let source = "| 部件 | 重量 |\n|---|---|\n| 泵体 | 5 kg |\n| 螺丝 | 20 g |\n";
    assert!(ask(source, "哪个部件的重量最大？").is_none());
    assert!(ask(source, "重量的总和是多少？").is_none());
    let lookup = ask(source, "螺丝的重量是多少？").unwrap();
    assert_eq!(
        (lookup.operation, lookup.value.as_str()),
        (TableOperation::Lookup, "20 g")
    );
}

/// Two rows of one name are told apart by another word, or not at all.
#[test]
fn rows_of_one_name_need_another_word() {
    let source =
        "| 产品 | 年份 | 销量 |\n|---|---|---|\n| 水泵 | 甲地 | 10 |\n| 水泵 | 乙地 | 20 |\n";
    assert!(ask(source, "水泵的销量是多少？").is_none());
    assert_eq!(ask(source, "水泵在乙地的销量是多少？").unwrap().value, "20");
}

proptest! {
    /// Sum, maximum and minimum of any column of whole numbers are those of the numbers.
    #[test]
    fn numbers_are_right(numbers in proptest::collection::vec(-1_000_000_i64..1_000_000, 1..12)) {
        let mut source = String::from("| 名称 | 数量 |\n|---|---|\n");
        for (at, number) in numbers.iter().enumerate() {
            source.push_str(&format!("| n{at} | {number} |\n"));
        }
        let value = |question: &str| ask(&source, question).unwrap();
        prop_assert_eq!(value("数量的总和是多少？").value, numbers.iter().sum::<i64>().to_string());
        prop_assert_eq!(value("数量最大的名称是哪个？").value, numbers.iter().max().unwrap().to_string());
        let smallest = value("数量最小的名称是哪个？");
        let least = numbers.iter().min().unwrap();
        prop_assert_eq!(&smallest.value, &least.to_string());
        let rows: Vec<usize> = smallest.cells.iter().map(|cell| cell.row - 1).collect();
        let expected: Vec<usize> = (0..numbers.len()).filter(|&at| numbers[at] == *least).collect();
        prop_assert_eq!(rows, expected);
    }

    /// Any question over any table: an answer or silence, never a failure.
    #[test]
    fn no_question_makes_it_fail(
        cells in proptest::collection::vec("[-0-9a-z.,%万亿至~() ]{0,8}", 6),
        question in "(\\PC{0,20}|[a-c0-9最大小多少超过以下的MPa ?]{0,20})",
    ) {
        let source = format!(
            "| {} | {} |\n|---|---|\n| {} | {} |\n| {} | {} |\n",
            cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]
        );
        let chunks = TableRows::new(chars(), TableRowsOptions::default()).chunk(&doc(&source)).unwrap();
        for table in TableView::all(&chunks) {
            for question in [&question, &cells[1], &cells[2]] {
                let _ = table.ask(question, &Tokenizer::new());
            }
        }
    }
}
