//! The work that chunking takes, counted rather than timed.

use cornu_chunk::{
    Chunker, ParentChild, ParentChildOptions, SentencePacked, SentencePackedOptions,
};

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
    use cornu_core::TokenCounter;
    meter.fingerprint().model()
}

/// Twice the text is twice the work, for shapes that invite more.
#[test]
fn work_grows_with_the_text_and_not_faster() {
    type Shape = (&'static str, fn(usize) -> String);
    let shapes: [Shape; 9] = [
        ("one line", |n| "字".repeat(n)),
        ("one url", |n| {
            format!("https://example.org/{}", "x".repeat(n))
        }),
        ("one sentence of words", |n| "word ".repeat(n)),
        ("blank lines", |n| format!("a.{}b.", "\n".repeat(n))),
        ("headings", |n| "# h\n".repeat(n) + "text\n"),
        ("nested quotes", |n| ">".repeat(n.min(2000)) + " text\n"),
        ("one table", |n| {
            "| a | b |\n|---|---|\n".to_owned() + &"| 1 | 2 |\n".repeat(n)
        }),
        ("one fence", |n| "```\n".to_owned() + &"x\n".repeat(n)),
        ("comments", |n| "a <!-- b --> c\n".repeat(n)),
    ];
    for (name, shape) in shapes {
        let work = |n: usize| {
            let source = shape(n);
            let document = doc(&source);
            let meter = Meter::new(chars());
            SentencePacked::new(meter.clone(), SentencePackedOptions::default())
                .chunk(&document)
                .unwrap();
            fixed(meter.clone(), 120, 20).chunk(&document).unwrap();
            let options = ParentChildOptions::default();
            ParentChild::new(meter.clone(), options)
                .unwrap()
                .chunk(&document)
                .unwrap();
            (meter.bytes() + meter.calls()) as f64 / source.len() as f64
        };
        let (small, large) = (work(2_000), work(16_000));
        assert!(
            large < 1.5 * small + 1.0,
            "{name}: {small} and {large} a byte"
        );
        // Three strategies; where all has to be cut, each by the default search for a window's end.
        assert!(large < 150.0, "{name}: {large} a byte");
    }
}
