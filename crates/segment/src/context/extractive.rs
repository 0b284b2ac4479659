//! A summary out of a text's own sentences.

use std::collections::{BTreeMap, BTreeSet};

use cornu_core::{Fingerprint, ProviderError, Summariser, TokenCounter};
use cornu_text::{StopWords, Tokenizer, WordCounter, is_cjk, sentences};

/// Which sentences make a summary.
///
/// The two weights are plain choices, not fitted to anything.
///
/// ```
/// use cornu_segment::ExtractiveOptions;
/// assert_eq!(ExtractiveOptions::default().sentences, 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExtractiveOptions {
    /// How many sentences, at most. Default 2.
    pub sentences: usize,
    /// The weight of a sentence's place against its centrality, from 0 to 1. Default 0.3.
    pub position: f64,
    /// By how much likeness to a sentence that is taken already counts against another, from 0 to
    /// 1. Default 0.5.
    pub redundancy: f64,
    /// Sentences of fewer different words are taken only when there is no other. Default 4.
    pub words: usize,
}

impl Default for ExtractiveOptions {
    fn default() -> Self {
        Self {
            sentences: 2,
            position: 0.3,
            redundancy: 0.5,
            words: 4,
        }
    }
}

/// Summarises by centroid and position (after Radev, Jing, Styś and Tam 2004): needs no model, says
/// nothing that the text does not say.
///
/// A sentence is a vector of its words' counts times ln(1 + N / n), with N sentences of which n
/// hold the word; function words do not count. Its score is
/// `(1 − position) · cosine with the sum of all + position · (1 − place / N)`. The best sentence that
/// fits is taken, then the best that is left after likeness to those taken is subtracted, in the
/// end in the order of the text. Equal scores: the earlier sentence.
///
/// Headings, code, tables, lists of links and HTML give no sentences; a text that has nothing else
/// is summarised by its first words. O(words · log) time.
///
/// ```
/// use cornu_core::Summariser;
/// use cornu_segment::ExtractiveSummariser;
///
/// let summariser = ExtractiveSummariser::default();
/// let text = "# 反向传播\n\n反向传播沿计算图计算每个参数的梯度。见下图。梯度用于更新参数。天气很好。";
/// assert_eq!(summariser.summarise(text, 20)?, "反向传播沿计算图计算每个参数的梯度。");
/// # Ok::<(), cornu_core::ProviderError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExtractiveSummariser {
    tokenizer: Tokenizer,
    counter: WordCounter,
    options: ExtractiveOptions,
    fingerprint: Fingerprint,
}

impl Default for ExtractiveSummariser {
    fn default() -> Self {
        let tokenizer = Tokenizer::builder().stop_words(StopWords::Common).build();
        Self::new(tokenizer, ExtractiveOptions::default())
    }
}

impl ExtractiveSummariser {
    /// Words by this tokenizer, without its stop words.
    #[must_use]
    pub fn new(tokenizer: Tokenizer, options: ExtractiveOptions) -> Self {
        let counter = WordCounter::new();
        let fingerprint = Fingerprint::new("cornu extractive summariser v1")
            .with("sentences", options.sentences)
            .with("position", options.position)
            .with("redundancy", options.redundancy)
            .with("words", options.words)
            .with("tokenizer", tokenizer.fingerprint())
            .with("counter", counter.fingerprint());
        Self {
            tokenizer,
            counter,
            options,
            fingerprint,
        }
    }

    fn candidates<'t>(&self, text: &'t str, max_tokens: usize) -> Vec<Candidate<'t>> {
        let mut found: Vec<Candidate<'t>> = Vec::new();
        for block in paragraphs(text) {
            let prose = text.get(block).unwrap_or_default();
            for span in sentences(prose) {
                let sentence = span.slice(prose).unwrap_or_default().trim();
                let mut counts: BTreeMap<String, f64> = BTreeMap::new();
                for token in self.tokenizer.query(sentence) {
                    if token.part_of.is_none() {
                        *counts.entry(token.text).or_insert(0.0) += 1.0;
                    }
                }
                if counts.is_empty() {
                    continue;
                }
                found.push(Candidate {
                    text: sentence,
                    tokens: self.counter.count(sentence),
                    vector: counts,
                    score: 0.0,
                });
            }
        }
        self.weigh(&mut found);
        let long_enough = |c: &Candidate<'_>| c.vector.len() >= self.options.words;
        if found
            .iter()
            .any(|c| long_enough(c) && c.tokens <= max_tokens)
        {
            for candidate in &mut found {
                if !long_enough(candidate) {
                    candidate.score = f64::NEG_INFINITY;
                }
            }
        }
        found
    }

    /// Turns counts to weights, and scores each sentence.
    fn weigh(&self, sentences: &mut [Candidate<'_>]) {
        let count = sentences.len() as f64;
        let mut holders: BTreeMap<String, f64> = BTreeMap::new();
        for word in sentences.iter().flat_map(|s| s.vector.keys()) {
            *holders.entry(word.clone()).or_insert(0.0) += 1.0;
        }
        let mut centroid: BTreeMap<String, f64> = BTreeMap::new();
        for sentence in sentences.iter_mut() {
            for (word, weight) in &mut sentence.vector {
                let held = holders.get(word).copied().unwrap_or(1.0);
                *weight *= libm::log(1.0 + count / held);
                *centroid.entry(word.clone()).or_insert(0.0) += *weight;
            }
        }
        let position = self.options.position;
        for (place, sentence) in sentences.iter_mut().enumerate() {
            let central = cosine(&sentence.vector, &centroid);
            sentence.score =
                (1.0 - position) * central + position * (1.0 - place as f64 / count.max(1.0));
        }
    }
}

impl Summariser for ExtractiveSummariser {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// Never fails. Tokens are those of [`WordCounter`].
    fn summarise(&self, text: &str, max_tokens: usize) -> Result<String, ProviderError> {
        let candidates = self.candidates(text, max_tokens);
        let mut chosen: BTreeSet<usize> = BTreeSet::new();
        let mut room = max_tokens;
        while chosen.len() < self.options.sentences {
            let mut best: Option<(usize, f64)> = None;
            for (at, candidate) in candidates.iter().enumerate() {
                let free = !chosen.contains(&at) && candidate.score > f64::NEG_INFINITY;
                if !free || candidate.tokens > room {
                    continue;
                }
                let likeness = chosen
                    .iter()
                    .filter_map(|other| candidates.get(*other))
                    .map(|other| cosine(&candidate.vector, &other.vector))
                    .fold(0.0, f64::max);
                let score = candidate.score - self.options.redundancy * likeness;
                if best.is_none_or(|(_, most)| score > most) {
                    best = Some((at, score));
                }
            }
            let Some((at, _)) = best else {
                break;
            };
            room -= candidates.get(at).map_or(0, |c| c.tokens);
            chosen.insert(at);
        }
        let mut out = String::new();
        for sentence in chosen.iter().filter_map(|at| candidates.get(*at)) {
            if out.chars().next_back().is_some_and(wants_space) {
                out.push(' ');
            }
            out.push_str(
                &sentence
                    .text
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" "),
            );
        }
        if out.is_empty() {
            let whole = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let end = self.counter.fit(&whole, max_tokens);
            out = whole.get(..end).unwrap_or_default().trim_end().to_owned();
        }
        Ok(out)
    }
}

struct Candidate<'t> {
    text: &'t str,
    tokens: usize,
    vector: BTreeMap<String, f64>,
    score: f64,
}

/// Whether a space stands between a sentence that ends so and the next: Chinese sets none.
fn wants_space(last: char) -> bool {
    let wide = matches!(last, '\u{3000}'..='\u{303F}' | '\u{FF01}'..='\u{FF60}' | '”' | '’' | '…');
    !wide && !is_cjk(last)
}

fn cosine(a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>) -> f64 {
    let dot: f64 = a
        .iter()
        .filter_map(|(word, weight)| Some(weight * b.get(word)?))
        .sum();
    let norm = |v: &BTreeMap<String, f64>| v.values().map(|w| w * w).sum::<f64>().sqrt();
    let norms = norm(a) * norm(b);
    if norms > 0.0 { dot / norms } else { 0.0 }
}

/// The ranges of a Markdown text that hold running prose, a list item or a paragraph each.
fn paragraphs(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut out: Vec<std::ops::Range<usize>> = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    let mut open = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let trimmed = line.trim();
        if let Some((mark, length)) = fence {
            let run = trimmed.chars().take_while(|&c| c == mark).count();
            if run >= length && trimmed.chars().all(|c| c == mark) {
                fence = None;
            }
            open = false;
            continue;
        }
        if let Some(opened) = opens_fence(trimmed) {
            fence = Some(opened);
            open = false;
            continue;
        }
        if !is_prose(trimmed) {
            open = false;
            continue;
        }
        let lead = line.len() - line.trim_start().len();
        let mark = list_mark(line.trim_start());
        match out.last_mut() {
            Some(last) if open && mark == 0 => last.end = end,
            _ => out.push(start + lead + mark..end),
        }
        open = true;
    }
    out
}

fn opens_fence(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|&c| c == mark).count();
    (length >= 3).then_some((mark, length))
}

/// Not blank, a heading, a row of a table, HTML, a rule, an image or a definition.
fn is_prose(line: &str) -> bool {
    let heading = line.starts_with('#');
    let other =
        line.starts_with(['|', '<', '!']) || (line.starts_with('[') && line.contains("]: "));
    let rule = line
        .chars()
        .all(|c| matches!(c, '-' | '*' | '_' | '=' | ' '));
    !heading && !other && !rule
}

/// Bytes of a list, quote or number mark with its white space.
fn list_mark(line: &str) -> usize {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match line.as_bytes().get(digits) {
        Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
        Some(b'-' | b'*' | b'+' | b'>') if digits == 0 => 1,
        _ => return 0,
    };
    let rest = line.get(mark..).unwrap_or_default();
    let spaces = rest.len() - rest.trim_start().len();
    if spaces == 0 { 0 } else { mark + spaces }
}
