//! The work that chunking takes, counted rather than timed.

use std::sync::Arc;

use cornu_chunk::{
    Chunker, ParentChild, ParentChildOptions, SentencePacked, SentencePackedOptions,
};
use cornu_core::TokenCounter;

use crate::counters::{Meter, chars, jealous, merging, words};
use crate::documents::{doc, fixed};

fn sample(copies: usize) -> String {
    let table = "| 名 | 值 |\n|---|---|\n".to_owned() + &"| k | 10 |\n".repeat(60);
    let code = "```rust\n".to_owned() + &"let x = 1;\n".repeat(60) + "```\n";
    let prose = "梯度沿计算图反向流动。See `zero_grad` for details. ".repeat(30);
    (0..copies)
        .map(|copy| format!("# 第 {copy} 章\n\n## 小节\n\n{prose}\n\n{table}\n{code}\n"))
        .collect()
}

#[test]
fn bytes_counted_are_a_small_multiple_of_the_source() {
    let source = sample(20);
    for (counter, times) in [
        (chars(), 3.0),
        (words(), 3.0),
        (merging(), 6.0),
        (jealous(), 6.0),
    ] {
        let meter = Meter::new(counter.clone());
        SentencePacked::new(meter.clone(), SentencePackedOptions::default())
            .chunk(&doc(&source))
            .unwrap();
        let ratio = meter.bytes() as f64 / source.len() as f64;
        assert!(
            ratio < times,
            "{} counted {ratio} times",
            counter_name(&meter)
        );

        let meter = Meter::new(counter.clone());
        let chunker = ParentChild::new(meter.clone(), ParentChildOptions::default()).unwrap();
        chunker.chunk(&doc(&source)).unwrap();
        let ratio = meter.bytes() as f64 / source.len() as f64;
        assert!(
            ratio < 2.0 * times,
            "{} counted {ratio} times",
            counter_name(&meter)
        );
    }
}

fn counter_name(meter: &Meter) -> &str {
    meter.fingerprint().model()
}

/// Twice the text is twice the work, for shapes that invite more.
#[test]
fn work_grows_with_the_text_and_not_faster() {
    type Shape = (&'static str, fn(usize) -> String);
    type Make = fn(Arc<dyn TokenCounter>) -> Box<dyn Chunker>;
    let shapes: [Shape; 14] = [
        ("one line", |n| "字".repeat(n)),
        ("one url", |n| {
            format!("https://example.org/{}", "x".repeat(n))
        }),
        ("one sentence of words", |n| "word ".repeat(n)),
        ("blank lines", |n| format!("a.{}b.", "\n".repeat(n))),
        ("headings", |n| "# h\n".repeat(n) + "text\n"),
        ("nested quotes", |n| ">".repeat(n) + " text\n"),
        ("one table", |n| {
            "| a | b |\n|---|---|\n".to_owned() + &"| 1 | 2 |\n".repeat(n)
        }),
        ("one fence", |n| "```\n".to_owned() + &"x\n".repeat(n)),
        ("comments", |n| "a <!-- b --> c\n".repeat(n)),
        ("lazy lines below deep quotes", |n| {
            ">".repeat(2 * n) + "x\n" + &"y\n".repeat(n)
        }),
        ("lazy lines below deep lists", |n| {
            "- ".repeat(n) + "x\n" + &"y\n".repeat(n)
        }),
        ("lazy lines below deep footnotes", |n| {
            "[^a]: ".repeat(n) + "x\n" + &"y\n".repeat(n)
        }),
        ("one wide table", |n| {
            "|a".repeat(n) + "\n" + &"|-".repeat(n) + "\n"
        }),
        ("a wide table of many rows", |n| {
            let header = "|a".repeat(n / 4) + "\n" + &"|-".repeat(n / 4) + "\n";
            header + &"|1\n".repeat(n)
        }),
    ];
    let strategies: [(&str, Make); 3] = [
        ("packed", |counter| {
            Box::new(SentencePacked::new(counter, Default::default()))
        }),
        ("fixed", |counter| Box::new(fixed(counter, 120, 20))),
        ("family", |counter| {
            Box::new(ParentChild::new(counter, Default::default()).unwrap())
        }),
    ];
    for (name, shape) in shapes {
        let mut total = 0.0;
        for (strategy, make) in strategies {
            let work = |n: usize| {
                let source = shape(n);
                let meter = Meter::new(chars());
                make(meter.clone()).chunk(&doc(&source)).unwrap();
                (meter.bytes() + meter.calls()) as f64 / source.len() as f64
            };
            let (small, large) = (work(2_000), work(16_000));
            assert!(
                large < 1.5 * small + 1.0,
                "{name}, {strategy}: {small} and {large} a byte"
            );
            total += large;
        }
        // Where all has to be cut, each cut is made by the default search for a window's end.
        assert!(total < 150.0, "{name}: {total} a byte");
    }
}
