//! What holds for every model that takes texts in batches.

use ndarray::{Array2, ArrayView1};

use super::report::{Checks, Violation};
use super::rule::Rule;
use crate::provider::{ProviderError, TextTokens};

/// By how much the norm of a vector may differ from 1.
pub(super) const NORM_TOLERANCE: f64 = 1e-5;

/// Texts that any model has to take: Chinese, English, mixed, one letter, a paragraph.
pub(super) const PLAIN: &[&str] = &[
    "反向传播按链式法则计算梯度。",
    "The optimizer clears gradients with `zero_grad`.",
    "短句",
    "a",
    "北辰科技 FY2023 净利润 1,024.5 百万元，同比增长 12%。",
    "A table row is split, a header is repeated, and a code block is kept whole unless it is \
     larger than the limit; in that case it is split at line ends, and every piece carries the \
     opening fence again. 长一点的段落，中英混排，用来让同一批里的文本长度相差很大。",
];

/// Texts without letters. A model may refuse them, but then always.
pub(super) const BLANK: &[&str] = &["", " ", "\n\t \u{3000}\u{a0}"];

/// One entry of the output, as bits: two entries are equal when they cannot be told apart.
pub(super) type Bits = Vec<u32>;

type Call<'a> = dyn Fn(&[&str]) -> Result<Vec<Bits>, ProviderError> + Sync + 'a;
type Valid<'a> = dyn Fn(&[&str]) -> Result<Vec<Bits>, Violation> + 'a;
type Counted<'a> = dyn Fn(&[&str]) -> Result<Vec<(Bits, TextTokens)>, ProviderError> + 'a;

/// A model behind one signature.
pub(super) struct Batched<'a> {
    pub(super) checks: &'a Checks,
    /// The plain call.
    pub(super) call: &'a Call<'a>,
    /// The call with every check that concerns one output.
    pub(super) valid: &'a Valid<'a>,
}

impl Batched<'_> {
    /// Order, independence of neighbours, repeatability, threads. The texts differ.
    pub(super) fn check(&self, texts: &[&str]) -> Result<(), Violation> {
        let alone = self.alone(texts)?;
        let first = alone.first();
        self.checks.check(
            Rule::Distinct,
            alone.len() < 2 || alone.iter().any(|bits| Some(bits) != first),
            || show(texts),
            || "the same output for all of them".to_owned(),
        )?;
        self.check_batch(texts, &alone)?;
        let again = (self.valid)(texts)?;
        self.checks.check(
            Rule::Repeatable,
            again == alone,
            || show(texts),
            || "another output at a later call".to_owned(),
        )?;
        self.check_threads(texts, &alone)
    }

    /// As [`check`](Self::check), for texts of which some may be refused.
    pub(super) fn check_random(&self, texts: &[String]) -> Result<(), Violation> {
        let mut accepted: Vec<&str> = Vec::new();
        for text in texts {
            if self.check_refusable(text)? && !accepted.contains(&text.as_str()) {
                accepted.push(text);
            }
        }
        let alone = self.alone(&accepted)?;
        self.check_batch(&accepted, &alone)
    }

    /// A text that may be refused, but then always; whether it was accepted.
    pub(super) fn check_refusable(&self, text: &str) -> Result<bool, Violation> {
        let accepted = (self.call)(&[text]).is_ok();
        self.checks.check(
            Rule::Repeatable,
            (self.call)(&[text]).is_ok() == accepted,
            || show(&[text]),
            || "refused at one call, accepted at another".to_owned(),
        )?;
        if accepted {
            (self.valid)(&[text])?;
        }
        Ok(accepted)
    }

    fn alone(&self, texts: &[&str]) -> Result<Vec<Bits>, Violation> {
        let mut alone = Vec::new();
        for &text in texts {
            alone.extend((self.valid)(&[text])?);
        }
        Ok(alone)
    }

    /// The batch as given, backwards, and doubled.
    fn check_batch(&self, texts: &[&str], alone: &[Bits]) -> Result<(), Violation> {
        let forwards: Vec<usize> = (0..texts.len()).collect();
        let backwards: Vec<usize> = (0..texts.len()).rev().collect();
        let doubled = [backwards.as_slice(), &forwards].concat();
        for order in [&forwards, &backwards, &doubled] {
            let batch: Vec<&str> = order
                .iter()
                .filter_map(|&at| texts.get(at).copied())
                .collect();
            let output = (self.valid)(&batch)?;
            for ((at, bits), text) in order.iter().zip(&output).zip(&batch) {
                let expected = alone.get(*at);
                let elsewhere = alone.contains(bits);
                let rule = match Some(bits) != expected && elsewhere {
                    true => Rule::Order,
                    false => Rule::Neighbours,
                };
                self.checks.check(
                    rule,
                    Some(bits) == expected,
                    || format!("{text:?} within {}", show(&batch)),
                    || match elsewhere {
                        true => "the output of another text".to_owned(),
                        false => "other bits than alone".to_owned(),
                    },
                )?;
            }
            self.checks
                .check(Rule::Order, true, String::new, String::new)?;
        }
        Ok(())
    }

    fn check_threads(&self, texts: &[&str], alone: &[Bits]) -> Result<(), Violation> {
        let call = self.call;
        let agree = std::thread::scope(|scope| {
            let work = || call(texts).is_ok_and(|output| output == alone);
            let threads = [(); 3].map(|()| scope.spawn(work));
            threads.map(|thread| thread.join().unwrap_or(false))
        });
        self.checks.check(
            Rule::Concurrent,
            agree == [true; 3],
            || format!("{} from three threads", show(texts)),
            || "an error or another output in one of them".to_owned(),
        )
    }

    /// Long texts that differ at the front, in the middle or at the end: refused as too long, or
    /// cut as the counts say, or told apart. `counts` gives bits and counts.
    pub(super) fn check_long(
        &self,
        characters: usize,
        counts: &Counted<'_>,
    ) -> Result<(), Violation> {
        let short = PLAIN.first().copied().unwrap_or_default();
        let alone = (self.valid)(&[short])?;
        for place in ["front", "middle", "end"] {
            let pair = ["密码是甲乙丙。", "password: tulip 42."].map(|secret| {
                let half = "填充句子。Filler. ".repeat(characters / 28 + 1);
                match place {
                    "front" => format!("{secret}{half}{half}"),
                    "middle" => format!("{half}{secret}{half}"),
                    _ => format!("{half}{half}{secret}"),
                }
            });
            let input = || format!("two long texts that differ at the {place}: {:?}", pair[0]);
            let mut outputs = Vec::new();
            for text in &pair {
                match counts(&[short, text]) {
                    Ok(output) => {
                        let given = output.first().map(|(bits, _)| bits);
                        self.checks.check(
                            Rule::Neighbours,
                            given == alone.first(),
                            || format!("{short:?} beside a long text"),
                            || "other bits than alone".to_owned(),
                        )?;
                        (self.valid)(&[short, text])?;
                        outputs.extend(output.into_iter().nth(1));
                    }
                    Err(error) => self.checks.check(
                        Rule::TooLong,
                        matches!(error, ProviderError::TooLong { index: 1, .. }),
                        input,
                        || format!("at position 1 of the call, the error: {error}"),
                    )?,
                }
            }
            if let [(first, a), (second, b)] = outputs.as_slice() {
                self.checks.check(
                    Rule::Truncation,
                    first != second || (a.is_cut() && b.is_cut()),
                    input,
                    || format!("the same output, with the counts {a:?} and {b:?}"),
                )?;
            }
        }
        Ok(())
    }
}

/// Every number finite, every row of norm 1.
pub(super) fn check_rows(
    checks: &Checks,
    rows: &Array2<f32>,
    input: impl Fn() -> String,
) -> Result<(), Violation> {
    for (at, row) in rows.rows().into_iter().enumerate() {
        check_unit(checks, &row, || format!("vector {at} of {}", input()))?;
    }
    Ok(())
}

/// Every component finite, norm 1.
pub(super) fn check_unit(
    checks: &Checks,
    vector: &ArrayView1<'_, f32>,
    input: impl Fn() -> String,
) -> Result<(), Violation> {
    let bad = vector.iter().find(|x| !x.is_finite());
    checks.check(Rule::Finite, bad.is_none(), &input, || {
        format!("the component {}", bad.copied().unwrap_or_default())
    })?;
    let norm = vector
        .iter()
        .map(|&x| f64::from(x) * f64::from(x))
        .sum::<f64>()
        .sqrt();
    checks.check(
        Rule::UnitNorm,
        (norm - 1.0).abs() <= NORM_TOLERANCE,
        &input,
        || format!("norm {norm}"),
    )
}

/// One count a text, none of them kept beyond its total.
pub(super) fn check_counts(
    checks: &Checks,
    texts: &[&str],
    tokens: &[TextTokens],
) -> Result<(), Violation> {
    let fits = tokens.iter().all(|count| count.kept <= count.total);
    checks.check(
        Rule::TokenCounts,
        tokens.len() == texts.len() && fits,
        || show(texts),
        || format!("{tokens:?}"),
    )
}

pub(super) fn bits<'a>(values: impl IntoIterator<Item = &'a f32>) -> Bits {
    values.into_iter().map(|value| value.to_bits()).collect()
}

pub(super) fn show(texts: &[&str]) -> String {
    format!("{texts:?}")
}
