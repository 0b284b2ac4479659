//! Megabytes a second of the three strategies, beside text-splitter's `MarkdownSplitter` on the same
//! text with the same limit: `cargo bench -p cornu-chunk --bench throughput`.
//!
//! One round runs each contestant once, so that a change in the machine's load meets all of them
//! alike; the report gives medians over the rounds. Both sides measure in characters, so that no
//! tokenizer is timed, and both give byte offsets.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::sync::Arc;
use std::time::Instant;

use cornu_chunk::markdown::Outline;
use cornu_chunk::{
    Chunker, FixedWindow, FixedWindowOptions, ParentChild, ParentChildOptions, SentencePacked,
    SentencePackedOptions, Window,
};
use cornu_core::{Acl, DocId, Document};
use cornu_text::CharCounter;
use text_splitter::{Characters, ChunkConfig, MarkdownSplitter};

const ROUNDS: usize = 21;
const LIMIT: i64 = 500;
const OVERLAP: i64 = 75;

fn sample() -> String {
    let section = |at: usize| {
        format!(
            "## {at}. 反向传播 / Backpropagation\n\n\
             梯度沿计算图反向流动，每个节点把上游梯度乘以局部导数。叶子张量的梯度会累积，所以每一步之前要调用 `zero_grad()`。\
             The engine walks the graph in reverse topological order. Each node multiplies the upstream gradient \
             by its local derivative, e.g. 2x for x², and passes the product on. See [the notes][n].\n\n\
             - 第一步：前向计算，保存中间结果。\n- Second step: call `backward()` on a scalar loss.\n  - 标量以外需要传入梯度。\n\n\
             ```python\nx = torch.tensor([1.0, 2.0], requires_grad=True)\nloss = (x ** 2).sum()\nloss.backward()\nprint(x.grad)\n```\n\n\
             | 算子 | 局部导数 | 保存 |\n|---|---|---|\n| add | 1, 1 | 无 |\n| mul | b, a | a, b |\n| exp | exp(x) | 输出 |\n\n\
             > 注意：in-place operations may overwrite saved values. 这样会报错。\n\n\
             [n]: https://example.org/notes-{at}\n\n"
        )
    };
    let mut out = "---\ntitle: sample\n---\n# Autograd\n\n".to_owned();
    let mut at = 0;
    while out.len() < 1_000_000 {
        out += &section(at);
        at += 1;
    }
    out
}

fn owned((at, text): (usize, &str)) -> (usize, String) {
    (at, text.to_owned())
}

fn main() {
    let source = sample();
    let doc = Document::new(
        DocId::new("sample.md").unwrap(),
        source.clone(),
        Acl::public(),
    );
    let counter = Arc::new(CharCounter::new());
    let window = Window::new(LIMIT, OVERLAP).unwrap();
    let chunkers: Vec<(&str, Box<dyn Chunker>)> = vec![
        (
            "fixed",
            Box::new(FixedWindow::new(
                counter.clone(),
                FixedWindowOptions { window },
            )),
        ),
        (
            "sentence",
            Box::new(SentencePacked::new(
                counter.clone(),
                SentencePackedOptions {
                    window,
                    ..Default::default()
                },
            )),
        ),
        (
            "parent-child",
            Box::new(
                ParentChild::new(
                    counter,
                    ParentChildOptions {
                        parent: Window::new(4 * LIMIT, 0).unwrap(),
                        child: Window::new(LIMIT, 0).unwrap(),
                        ..Default::default()
                    },
                )
                .unwrap(),
            ),
        ),
    ];
    let config = || ChunkConfig::new(LIMIT as usize).with_sizer(Characters);
    let splitter = MarkdownSplitter::new(config());
    let overlapping = MarkdownSplitter::new(config().with_overlap(OVERLAP as usize).unwrap());

    let mut contestants: Vec<(String, Box<dyn Fn() -> usize + '_>)> = Vec::new();
    for (name, chunker) in &chunkers {
        let run = || chunker.chunk(&doc).unwrap().len();
        contestants.push(((*name).to_owned(), Box::new(run)));
    }
    // Texts are copied, as they are into our chunks.
    contestants.push((
        "text-splitter".to_owned(),
        Box::new(|| {
            splitter
                .chunk_indices(&source)
                .map(owned)
                .collect::<Vec<_>>()
                .len()
        }),
    ));
    contestants.push((
        "  with overlap".to_owned(),
        Box::new(|| {
            overlapping
                .chunk_indices(&source)
                .map(owned)
                .collect::<Vec<_>>()
                .len()
        }),
    ));
    contestants.push((
        "outline only".to_owned(),
        Box::new(|| Outline::parse(&source).blocks().len()),
    ));
    contestants.push((
        "sentences only".to_owned(),
        Box::new(|| cornu_text::sentences(&source).count()),
    ));

    let mut times = vec![Vec::new(); contestants.len()];
    let mut counts = vec![0; contestants.len()];
    for _ in 0..ROUNDS {
        for (at, (_, run)) in contestants.iter().enumerate() {
            let start = Instant::now();
            counts[at] = std::hint::black_box(run());
            times[at].push(start.elapsed().as_secs_f64());
        }
    }
    println!(
        "{} bytes, limit {LIMIT} characters, {ROUNDS} interleaved rounds",
        source.len()
    );
    println!(
        "{:16} {:>10} {:>12} {:>12}",
        "", "MB/s", "median ms", "pieces"
    );
    for (at, (name, _)) in contestants.iter().enumerate() {
        times[at].sort_by(f64::total_cmp);
        let median = times[at][ROUNDS / 2];
        let rate = source.len() as f64 / 1e6 / median;
        println!(
            "{name:16} {rate:>10.1} {:>12.2} {:>12}",
            median * 1e3,
            counts[at]
        );
    }
}
