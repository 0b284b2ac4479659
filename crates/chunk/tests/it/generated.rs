//! Random Markdown.

use proptest::prelude::*;

/// Any text of characters that mean something to Markdown or to Unicode.
pub(crate) fn noise() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        4 => "[a-zA-Z]{1,8}",
        3 => "[一-龥]{1,6}",
        3 => Just("\n".to_owned()),
        2 => Just("\n\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        2 => Just(" ".to_owned()),
        1 => Just("\t".to_owned()),
        1 => Just("　".to_owned()),
        6 => prop::sample::select(MARKS).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

const MARKS: &[&str] = &[
    "#",
    "## ",
    "> ",
    "- ",
    "1. ",
    "```",
    "```rs\n",
    "~~~",
    "    ",
    "|",
    "|---|---|\n",
    "| a | b |\n",
    "<!--",
    "-->",
    "<div>\n",
    "</div>\n",
    "<pre>",
    "[x]: u\n",
    "[x]",
    "[^1]: n\n",
    "[^1]",
    "---\n",
    "===\n",
    "+++\n",
    "k: v\n",
    "*",
    "_",
    "`",
    "$$",
    "\\",
    "。",
    "！",
    ". ",
    "? ",
    "\u{feff}",
    "\0",
    "👩‍👩‍👧‍👦",
    "e\u{301}",
    "***\n",
    "<br>",
    "![",
    "](",
    ")",
    "“",
    "”",
];

/// Documents as people write them, with any of the three line ends.
pub(crate) fn markdown() -> impl Strategy<Value = String> {
    let ends = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\r"]);
    (plain_markdown(), ends).prop_map(|(text, end)| text.replace('\n', end))
}

/// Documents as people write them; every block is closed.
pub(crate) fn plain_markdown() -> impl Strategy<Value = String> {
    let body = prop::collection::vec(block(), 1..14);
    (front(), body).prop_map(|(front, blocks)| front + &blocks.join("\n\n") + "\n")
}

fn front() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        1 => Just("---\ntitle: 手册\ntags: [a, b]\n---\n".to_owned()),
        1 => Just("+++\ntitle = \"x\"\n+++\n".to_owned()),
        1 => Just("\u{feff}---\na: 1\n...\n".to_owned()),
    ]
}

fn block() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (1..5usize, sentence()).prop_map(|(level, title)| {
            format!("{} {}", "#".repeat(level), title.trim())
        }),
        6 => paragraph(),
        1 => sentence().prop_map(|title| format!("{}\n===", title.trim())),
        2 => (prop::sample::select(vec!["```", "~~~", "````"]), lines()).prop_map(|(fence, lines)| {
            format!("{fence}rust\n{lines}\n{fence}")
        }),
        2 => table(),
        2 => prop::collection::vec(sentence(), 1..5).prop_map(|items| {
            items.iter().enumerate().map(|(at, item)| {
                format!("{}- {item}", "  ".repeat(at % 3))
            }).collect::<Vec<_>>().join("\n")
        }),
        1 => paragraph().prop_map(|text| format!("> # 引用\n> {}", text.replace('\n', "\n> "))),
        1 => lines().prop_map(|text| format!("- item\n\n  ```py\n  {}\n  ```", text.replace('\n', "\n  "))),
        1 => lines().prop_map(|text| format!("<!--\n## 草稿\n{text}\n-->")),
        1 => Just("<div>\n## no\n</div>".to_owned()),
        1 => Just("see [s] and[^1]\n\n[s]: https://example.org/x\n\n[^1]: 脚注。".to_owned()),
        1 => Just("---".to_owned()),
        1 => "[a-z0-9]{80,200}",
        1 => Just("    indented\n    code".to_owned()),
        1 => Just("\n\n\n".to_owned()),
    ]
}

fn sentence() -> impl Strategy<Value = String> {
    prop_oneof![
        (
            "[A-Z][a-z]{1,7}( [a-z]{1,9}){0,10}",
            prop::sample::select(vec![". ", "? ", "! "])
        )
            .prop_map(|(text, end)| text + end),
        (
            "[一-龥]{2,24}",
            prop::sample::select(vec!["。", "！", "？"])
        )
            .prop_map(|(text, end)| text + end),
        Just("👩‍👩‍👧‍👦 v1.5 与 `zero_grad`。".to_owned()),
    ]
}

fn paragraph() -> impl Strategy<Value = String> {
    prop::collection::vec(sentence(), 1..8).prop_map(|sentences| sentences.concat())
}

fn lines() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-z# =(){};]{0,30}", 1..12).prop_map(|lines| lines.join("\n"))
}

fn table() -> impl Strategy<Value = String> {
    prop::collection::vec(("[a-z一-龥]{0,6}", "[0-9]{0,4}"), 1..12).prop_map(|rows| {
        let mut out = "| 名称 | 值 |\n|---|--:|".to_owned();
        for (name, value) in rows {
            out += &format!("\n| {name} | {value} |");
        }
        out
    })
}

/// Blocks of code, tables and texts within quotes, lists and footnotes, up to four deep.
pub(crate) fn nested() -> impl Strategy<Value = String> {
    let layer = prop::sample::select(vec![
        ("> ", "> "),
        (">", ">"),
        ("- ", "  "),
        ("10. ", "    "),
        ("[^1]: ", "    "),
        ("-\t", "\t"),
        ("", ""),
    ]);
    let leaf = prop_oneof![
        4 => (prop::sample::select(vec!["```", "~~~~"]), lines(), any::<bool>()).prop_map(
            |(fence, lines, closed)| {
                let end = if closed { format!("\n{fence}") } else { String::new() };
                format!("{fence}rust\n{lines}{end}")
            }
        ),
        4 => table(),
        1 => paragraph(),
        1 => Just("    indented\n    code".to_owned()),
    ];
    let block = (leaf, prop::collection::vec(layer, 0..4), any::<bool>()).prop_map(
        |(leaf, layers, led)| {
            let text = if led { format!("Led.\n\n{leaf}") } else { leaf };
            layers.into_iter().fold(text, |text, (first, next)| {
                let mut marker = first;
                let lines = text.lines().map(|line| {
                    let marked = format!("{marker}{line}");
                    marker = next;
                    marked
                });
                lines.collect::<Vec<_>>().join("\n")
            })
        },
    );
    prop::collection::vec(block, 1..4).prop_map(|blocks| blocks.join("\n\n") + "\n")
}
