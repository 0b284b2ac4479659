use std::collections::BTreeSet;

use cornu_text::{Han, StopWords, Token, Tokenizer, is_han};

fn texts(tokens: &[Token]) -> Vec<&str> {
    tokens.iter().map(|token| token.text.as_str()).collect()
}

/// The words, without the single characters that bigrams have as parts, so that most expectations
/// hold with and without a dictionary.
fn words(text: &str) -> Vec<String> {
    let tokens = Tokenizer::new().tokens(text);
    let single = |token: &Token| {
        token.part_of.is_some() && token.text.chars().all(is_han) && token.span.len() == 3
    };
    tokens
        .into_iter()
        .filter(|token| !single(token))
        .map(|token| token.text)
        .collect()
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(words(text).join(" "), expected, "{text}");
}

/// How many different words of the query the document holds, and how many the query has.
fn overlap(tokenizer: &Tokenizer, query: &str, document: &str) -> (usize, usize) {
    let tokens = tokenizer.tokens(document);
    let held: BTreeSet<&str> = texts(&tokens).into_iter().collect();
    let tokens = tokenizer.query(query);
    let asked: BTreeSet<&str> = texts(&tokens).into_iter().collect();
    (asked.intersection(&held).count(), asked.len())
}

#[track_caller]
fn finds(tokenizer: &Tokenizer, query: &str, document: &str) {
    let (found, asked) = overlap(tokenizer, query, document);
    assert!(
        asked > 0 && found == asked,
        "{query}: {found} of {asked} in {document}"
    );
}

/// The best document for the query is `best`, and no other holds as much of it.
#[track_caller]
fn ranks_first(query: &str, best: &str, documents: &[&str]) {
    let tokenizer = Tokenizer::new();
    let (most, _) = overlap(&tokenizer, query, best);
    for other in documents.iter().filter(|other| **other != best) {
        assert!(
            overlap(&tokenizer, query, other).0 < most,
            "{query}: {other} as good as {best}"
        );
    }
}

fn all_han() -> Vec<Tokenizer> {
    let mut out = vec![
        Tokenizer::builder().han(Han::Bigrams).build(),
        Tokenizer::new(),
    ];
    out.dedup_by(|a, b| a.fingerprint() == b.fingerprint());
    out
}

#[test]
fn tk_01_words_inside_a_run_of_chinese_are_found() {
    let document = "本周评审了灰度发布流程，升级redis-cli后30台恢复";
    for tokenizer in all_han() {
        for query in [
            "灰度",
            "发布流程",
            "恢复",
            "redis",
            "redis-cli",
            "30台",
            "流程",
            "评审",
        ] {
            finds(&tokenizer, query, document);
        }
        assert_eq!(overlap(&tokenizer, "部署", document).0, 0);
    }
}

#[test]
fn tk_02_two_characters_are_enough_even_for_unknown_words() {
    for tokenizer in all_han() {
        for (query, document) in [
            ("灰度", "本周评审了灰度发布流程"),
            ("灰度发布", "先灰度发布再全量"),
            ("鈥鈀", "材料鈥鈀合金"), // no dictionary holds this one
            ("鈥", "鈥"),
            ("𠮷野", "在𠮷野家吃饭"),
        ] {
            finds(&tokenizer, query, document);
        }
    }
}

#[test]
fn tk_05_identifiers_are_found_whole_and_by_their_parts() {
    let documents = [
        "optimizer.zero_grad() 清空梯度",
        "loadTrainBatch 读取一批样本",
    ];
    let tokenizer = Tokenizer::new();
    for (query, document) in [
        ("zero_grad", documents[0]),
        ("grad", documents[0]),
        ("train batch", documents[1]),
        ("loadTrainBatch", documents[1]),
        ("LOADTRAINBATCH", documents[1]),
        ("Optimizer", documents[0]),
    ] {
        finds(&tokenizer, query, document);
        ranks_first(query, document, &documents);
    }
    ranks_first(
        "zero_grad",
        "zero_grad 说明",
        &["grad 说明", "zero grad 说明", "zero_grad 说明"],
    );
}

#[test]
fn identifiers_and_their_parts() {
    check("zero_grad", "zero_grad zero grad");
    check("loadTrainBatch", "loadtrainbatch load train batch");
    check(
        "HTTPServer parseJSON",
        "httpserver http server parsejson parse json",
    );
    check("max_split_size_mb", "max_split_size_mb max split size mb");
    check("BGE-small", "bge-small bge small");
    check("CT-2024-0173", "ct-2024-0173 ct 2024 0173");
    check("node.js", "node.js node js");
    check("torch.nn.Linear", "torch.nn.linear torch nn linear");
    check(
        "optimizer.zero_grad()",
        "optimizer.zero_grad optimizer zero_grad zero grad",
    );
    check(
        "std::fs::read_dir",
        "std::fs::read_dir std fs read_dir read dir",
    );
    check("__init__ _x", "__init__ init _x x");
    check("GPT4 H200 e5 5kg", "gpt4 gpt 4 h200 e5 5kg 5 kg");
    check("Wu's don't", "wu's wu don't");
    check("用zero_grad清空", "用 zero_grad zero grad 清空");
    check(
        "snake_camelCase",
        "snake_camelcase snake camelcase camel case",
    );
    check("ｚｅｒｏ＿ｇｒａｄ", "zero_grad zero grad");
    check("a - b --flag c-", "a b flag c");
}

#[test]
fn tk_06_marks_that_make_a_name_are_kept() {
    let documents = [
        "C++ 模板",
        "C# 泛型",
        "C 指针",
        "版本 v1.5 发布",
        "版本 v1.6 发布",
    ];
    for (query, best) in [
        ("C++", 0),
        ("c#", 1),
        ("C", 2),
        ("v1.5", 3),
        ("v1.6", 4),
        ("Ｃ＋＋", 0),
    ] {
        ranks_first(query, documents[best], &documents);
    }
    check(
        "C++17, F# 和 .NET 的 .gitignore",
        "c++17 c++ 17 f# 和 .net net 的 .gitignore gitignore",
    );
    check("C#是 语言 (C++) g++.", "c# 是 语言 c++ g++");
    check("a++b issue#12 x+y", "a b issue 12 x y");
    check("v1.5 v2.0.1 3.14 .5", "v1.5 1.5 v2.0.1 2.0.1 3.14 5");
    check(
        "1,234,567.5 and 1,2,3 key:value",
        "1234567.5 and 1 2 3 key value",
    );
    check("约3，4个 名：x；y：z a·b", "约 3 4 个 名 x y z a b");
    check(
        "(see) \"it\", [now]! (C++) \"v1.5\" .",
        "see it now c++ v1.5 1.5",
    );
    check("end.Then f().x", "end.then end then f x");
}

#[test]
fn tk_08_symbols_are_folded_one_by_one_and_keep_their_place() {
    let text = "面积10²平方米……约5㎏，第①步";
    let tokens = Tokenizer::new().tokens(text);
    let texts = texts(&tokens);
    assert!(!texts.contains(&"102"), "{texts:?}");
    for wanted in ["10", "²", "5", "kg", "1"] {
        assert!(texts.contains(&wanted), "{wanted} in {texts:?}");
    }
    let place = |wanted: &str| {
        let token = tokens.iter().find(|token| token.text == wanted).unwrap();
        token.span.slice(text).unwrap()
    };
    assert_eq!((place("kg"), place("1"), place("²")), ("㎏", "①", "²"));
    assert_eq!(overlap(&Tokenizer::new(), "102", text).0, 0);
    finds(&Tokenizer::new(), "5kg", "重5kg");

    check("10³ 10⁻³ 2½ ¾ x² 1¹²", "10 ³ 10 ⁻³ 2 ½ ¾ x ² 1 ¹²");
    check("H₂O x₁ 10₂ Ⅳ ⅣA", "h2o x1 10 ₂ iv iva");
    check("36.5℃ №5 ㏑2 ⑴⒉⓪🄰", "36.5 °c no 5 ln 2 1 2 0 a");
    check("10ⁱ ⁱ ⁻ ₊", "10i ⁱ");
    check("第①②步 1①2", "第 1 2 步 1 1 2");
}

#[test]
fn tb_15_width_and_case_fold() {
    let row = "| 甲　| １２ |";
    assert_eq!(words("| 名称　| 数量 |"), ["名称", "数量"]);
    assert_eq!(words(row), ["甲", "12"]);
    finds(&Tokenizer::new(), "甲 12", row);
    check("ＢＥＲＴ Straße ﬁne ΟΔΟΣ ｶﾞ", "bert strasse fine οδοσ ガ");
    check("１．５ ｖ１．５ １，２３４", "1.5 v1.5 1.5 1 234");
    check("cafe\u{301}", "café");
}

#[test]
fn tb_22_a_line_break_tag_parts_words() {
    let cell = "| 1 | 先停机<br>再断电 |";
    let found = words(cell);
    assert!(found.contains(&"停机".to_owned()) && !found.iter().any(|word| word.contains("br")));
    let tokens = Tokenizer::new().tokens(cell);
    for token in &tokens {
        assert!(!token.span.slice(cell).unwrap().contains('<'));
    }
    for tag in [
        "<br>",
        "<br/>",
        "<BR />",
        "</td>",
        "<td class=\"a\">",
        "&nbsp;",
        "&#160;",
        "<!-- -->",
    ] {
        for (left, right) in [("停机", "断电"), ("foo", "bar")] {
            assert_eq!(
                words(&format!("{left}{tag}{right}")),
                [left, right],
                "{tag}"
            );
        }
    }
    check("a <b and c> d", "a b and c d");
    check("Vec<T> x<y AT&T &foo; f(&x)", "vec t x y at t foo f x");
    let plain = Tokenizer::builder().markup(false).build();
    assert_eq!(texts(&plain.tokens("a<br>b")), ["a", "br", "b"]);
}

/// Word processors, web pages and PDF files strew invisible characters into words, and PDF files
/// have radicals in the place of characters.
#[test]
fn what_nobody_sees_parts_no_word() {
    for tokenizer in all_han() {
        for (query, document) in [
            ("gradient", "the gra\u{ad}dient"),
            ("zero_grad", "zero_\u{200b}grad"),
            ("BERT", "B\u{200b}E\u{2060}RT"),
            ("12", "1\u{200b}2"),
            ("hello", "\u{202a}hello\u{202c}"),
            ("שלום", "\u{200f}שלום\u{200e}"),
            ("数据库", "数\u{200b}据\u{feff}库连接"),
            ("梯度", "梯\u{200d}度"),
            ("葛城", "葛\u{e0100}城"),
            ("大模型", "⼤模型"),
            ("页面", "⻚⾯"),
            ("gra\u{ad}dient ⼤", "gradient 大"),
        ] {
            finds(&tokenizer, query, document);
        }
    }
    // The places are those of the text as it was given.
    let text = "\u{feff}清 zero_\u{200b}grad\u{200b}，⻚⾯\u{fe0f}。";
    let tokens = Tokenizer::new().tokens(text);
    let place = |wanted: &str| {
        let token = tokens.iter().find(|token| token.text == wanted).unwrap();
        token.span.slice(text).unwrap()
    };
    assert_eq!(place("清"), "清");
    assert_eq!(place("zero_grad"), "zero_\u{200b}grad");
    assert_eq!((place("zero"), place("grad")), ("zero", "grad"));
    assert_eq!(place("页面"), "⻚⾯");
    // A base and its emoji presentation, or letters of other scripts, are what they were.
    check("1\u{fe0f}\u{20e3} 👩\u{200d}🔬", "1\u{20e3}");
}

#[test]
fn tk_10_a_query_of_stop_words_keeps_them() {
    let tokenizer = Tokenizer::builder().stop_words(StopWords::Common).build();
    for query in ["to be or not to be", "The Who", "我的", "是 不是"] {
        let tokens = tokenizer.query(query);
        assert_eq!(tokens, tokenizer.tokens(query), "{query}");
        assert!(!tokens.is_empty(), "{query}");
    }
    assert_eq!(
        texts(&tokenizer.query("The gradient of the loss")),
        ["gradient", "loss"]
    );
    #[cfg(feature = "jieba")]
    assert_eq!(texts(&tokenizer.query("什么是梯度")), ["梯度"]);
    // A part keeps the whole it belongs to, wherever that has moved.
    let tokens = tokenizer.query("the copy_to");
    assert_eq!(texts(&tokens), ["copy_to", "copy"]);
    assert_eq!(tokens[1].part_of, Some(0));
    // An index keeps every word, so that such queries find something.
    assert_eq!(tokenizer.tokens("The Who").len(), 2);
    assert!(tokenizer.query("").is_empty() && tokenizer.query("…… ——").is_empty());
}

#[cfg(feature = "traditional")]
#[test]
fn tk_09_traditional_and_simplified_match() {
    for han in all_han() {
        let builder = Tokenizer::builder();
        let builder = if han.fingerprint().get("han") == Some("bigrams") {
            builder.han(Han::Bigrams)
        } else {
            builder
        };
        let folding = builder.fold_traditional().unwrap().build();
        finds(&folding, "资料库", "資料庫連線逾時");
        finds(&folding, "資料庫", "资料库连线逾时");
        let (found, asked) = overlap(&han, "资料库", "資料庫連線逾時");
        assert!(found < asked);
        assert_ne!(folding.fingerprint(), han.fingerprint());
        let tokens = folding.tokens("資料庫");
        assert_eq!(tokens[0].span.start(), 0);
        assert!(
            tokens
                .iter()
                .all(|token| token.span.slice("資料庫").is_some())
        );
    }
}

/// Another dictionary gives other words, so its version is part of the fingerprint and has to
/// follow the dependency.
#[cfg(feature = "jieba")]
#[test]
#[allow(clippy::print_stderr)]
fn the_fingerprint_names_the_dictionary_in_use() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let Ok(manifest) = std::fs::read_to_string(manifest) else {
        eprintln!("SKIPPED: no workspace manifest here to compare with");
        return;
    };
    let pin = manifest
        .lines()
        .find_map(|line| line.strip_prefix("jieba-rs = \""))
        .unwrap();
    let version = pin.split('"').next().unwrap();
    let name = format!("jieba-rs {version}");
    assert_eq!(
        Tokenizer::new().fingerprint().get("dictionary"),
        Some(name.as_str())
    );
}

#[cfg(feature = "jieba")]
#[test]
fn the_dictionary_gives_words_and_the_words_inside_them() {
    let tokens = Tokenizer::new().tokens("世界卫生组织");
    assert_eq!(texts(&tokens), ["世界卫生组织", "世界", "卫生", "组织"]);
    assert!(tokens[1..].iter().all(|token| token.part_of == Some(0)));
    let whole = Tokenizer::builder().parts(false).build();
    assert_eq!(
        texts(&whole.tokens("世界卫生组织 zero_grad")),
        ["世界卫生组织", "zero_grad"]
    );
    let tokenizer = Tokenizer::new();
    assert!(tokenizer.cuts_word("学习神经网络", "学习神".len()));
    assert!(tokenizer.cuts_word("学习神经网络", "学".len()));
    assert!(!tokenizer.cuts_word("学习神经网络", "学习".len()));
    assert!(tokenizer.cuts_word("学a_b", "学a".len()) && !tokenizer.cuts_word("学ab", "学".len()));
}

#[test]
fn bigrams_overlap_and_single_characters_are_parts() {
    let tokenizer = Tokenizer::builder().han(Han::Bigrams).build();
    let tokens = tokenizer.tokens("一二三");
    assert_eq!(texts(&tokens), ["一二", "一", "二三", "二", "三"]);
    let parents: Vec<_> = tokens.iter().map(|token| token.part_of).collect();
    assert_eq!(parents, [None, Some(0), None, Some(2), Some(2)]);
    assert_eq!(texts(&tokenizer.tokens("一")), ["一"]);
}

#[test]
fn fingerprints_tell_settings_apart() {
    let base = Tokenizer::new();
    assert_eq!(
        base.fingerprint(),
        Tokenizer::builder().build().fingerprint()
    );
    assert_ne!(
        base.fingerprint(),
        Tokenizer::builder().parts(false).build().fingerprint()
    );
    assert_ne!(
        base.fingerprint(),
        Tokenizer::builder().markup(false).build().fingerprint()
    );
    // Stop words concern queries; an index does not depend on them.
    let filtered = Tokenizer::builder().stop_words(StopWords::Common).build();
    assert_eq!(base.fingerprint(), filtered.fingerprint());
}

#[test]
fn data_is_cut_and_gives_no_parts() {
    let data = "aB3".repeat(1_000);
    let tokens = Tokenizer::new().tokens(&data);
    assert!(
        tokens
            .iter()
            .all(|token| token.span.len() <= 256 && token.part_of.is_none())
    );
    assert_eq!(
        tokens.iter().map(|token| token.span.len()).sum::<usize>(),
        data.len()
    );
}
