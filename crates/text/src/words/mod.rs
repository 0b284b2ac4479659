//! Words of Chinese and English text for matching, with the place of each.
//!
//! One [`Tokenizer`] serves both sides of a search: what a document gives is what a query gives.

mod han;
mod identifier;
mod markup;
mod scan;
mod seen;
mod stop;
#[cfg(feature = "jieba")]
mod tagged;
#[cfg(feature = "traditional")]
mod traditional;

pub use han::Han;
pub use stop::StopWords;
#[cfg(feature = "jieba")]
pub use tagged::{TaggedWord, tagged_words};
#[cfg(feature = "traditional")]
pub use traditional::TraditionalError;

use std::ops::Range;

use cornu_core::{ByteSpan, Fingerprint};
use unicode_normalization::UnicodeNormalization;

use self::han::HanWord;
use self::scan::Piece;
use crate::chars::{char_at, char_before, is_han};
use crate::normalise::search_fold;

/// The version of the rules in this module: another number, another fingerprint.
///
/// 2: invisible characters and radicals are read as a reader sees them.
const RULES: u32 = 2;

/// A word, folded for matching, with its place in the text as it was given.
///
/// ```
/// use cornu_text::Tokenizer;
///
/// let text = "调 ＺＥＲＯ_grad";
/// let token = &Tokenizer::new().tokens(text)[1];
/// assert_eq!(token.text, "zero_grad");
/// assert_eq!(token.span.slice(text), Some("ＺＥＲＯ_grad"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// NFKC, case folded.
    pub text: String,
    /// Its bytes in the text.
    pub span: ByteSpan,
    /// The position, in the same list, of a longer token that this one is a part of.
    pub part_of: Option<usize>,
}

/// Cuts text into words.
///
/// - Runs of Chinese characters: see [`Han`].
/// - Everything else: Unicode's word boundaries (UAX 29).
/// - Identifiers are kept whole and also give their parts: `torch.zero_grad` gives
///   `torch.zero_grad`, `torch`, `zero_grad`, `zero`, `grad`; likewise `loadTrainBatch`,
///   `BGE-small`, `CT-2024-0173`, `std::fs`, `GPT4`, `5kg`, `Wu's`; `v1.5` gives `1.5`. A single letter
///   beside digits (`H200`) does not part. `C++`, `C#`, `.NET` keep their marks.
/// - `1,234.5` is the token `1234.5`.
/// - Each token is folded by itself (NFKC and case), so nothing merges: `10²` gives `10` and `²`,
///   never `102`; a superscript and a fraction stay as they are, an enclosed or squared symbol
///   gives what it stands for (`①` gives `1`, `㎏` gives `kg`), a subscript joins its letter (`H₂O`
///   gives `h2o`).
/// - Invisible characters (soft hyphens, zero-width ones, marks of direction, variation selectors)
///   part nothing and are in no token, and a radical such as `⼤` is the character that it looks
///   like. Spans are those of the text as it was given.
/// - HTML tags and character references part words and give none.
/// - Marks and emoji give no token. A word longer than 256 bytes is cut.
///
/// Not offered: stemming, and words of Japanese, Korean or Thai beyond UAX 29. Traditional and
/// simplified characters match only with the feature `traditional` and
/// `TokenizerBuilder::fold_traditional`.
///
/// O(bytes) time; one `String` a token. The first Chinese run in a process loads jieba's
/// dictionary, shared by all tokenizers (see the crate's README for the cost).
///
/// ```
/// use cornu_text::Tokenizer;
///
/// let tokenizer = Tokenizer::new();
/// let words: Vec<String> = tokenizer.tokens("C++ 和 v1.5").into_iter().map(|t| t.text).collect();
/// assert_eq!(words, ["c++", "和", "v1.5", "1.5"]);
/// ```
#[derive(Clone, Debug)]
pub struct Tokenizer {
    settings: TokenizerBuilder,
    fingerprint: Fingerprint,
}

/// The settings of a [`Tokenizer`].
///
/// ```
/// use cornu_text::{Han, StopWords, Tokenizer};
///
/// let tokenizer = Tokenizer::builder()
///     .han(Han::Bigrams)
///     .stop_words(StopWords::Common)
///     .parts(false)
///     .build();
/// assert_eq!(tokenizer.tokens("zero_grad").len(), 1);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct TokenizerBuilder {
    han: Han,
    stop_words: StopWords,
    parts: bool,
    markup: bool,
    #[cfg(feature = "traditional")]
    simplify: Option<traditional::Simplifier>,
}

impl Default for TokenizerBuilder {
    fn default() -> Self {
        Self {
            han: Han::default(),
            stop_words: StopWords::None,
            parts: true,
            markup: true,
            #[cfg(feature = "traditional")]
            simplify: None,
        }
    }
}

impl TokenizerBuilder {
    /// How Chinese runs become words; the dictionary by default.
    pub fn han(mut self, han: Han) -> Self {
        self.han = han;
        self
    }

    /// What [`Tokenizer::query`] leaves out; nothing by default.
    pub fn stop_words(mut self, stop_words: StopWords) -> Self {
        self.stop_words = stop_words;
        self
    }

    /// Whether identifiers and words also give their parts; on by default.
    pub fn parts(mut self, parts: bool) -> Self {
        self.parts = parts;
        self
    }

    /// Whether HTML tags and character references are markup rather than text; on by default.
    pub fn markup(mut self, markup: bool) -> Self {
        self.markup = markup;
        self
    }

    /// Folds traditional characters to simplified ones, each by itself, before words are looked
    /// for; off by default. OpenCC's character table.
    ///
    /// # Errors
    /// [`TraditionalError`] when the table that the library carries cannot be read.
    #[cfg(feature = "traditional")]
    pub fn fold_traditional(mut self) -> Result<Self, TraditionalError> {
        self.simplify = Some(traditional::Simplifier::load()?);
        Ok(self)
    }

    /// The tokenizer. Loads nothing yet.
    #[must_use]
    pub fn build(self) -> Tokenizer {
        let version = |(major, minor, patch): (u64, u64, u64)| format!("{major}.{minor}.{patch}");
        let (major, minor, patch) = char::UNICODE_VERSION;
        let fingerprint = Fingerprint::new("cornu tokenizer")
            .with("rules", RULES)
            .with("han", self.han.name())
            .with("dictionary", self.han.dictionary())
            .with("parts", self.parts)
            .with("markup", self.markup)
            .with("traditional", self.folds_traditional())
            .with("unicode", format!("{major}.{minor}.{patch}"))
            .with("uax29", version(unicode_segmentation::UNICODE_VERSION));
        Tokenizer {
            settings: self,
            fingerprint,
        }
    }

    fn folds_traditional(&self) -> bool {
        #[cfg(feature = "traditional")]
        let folds = self.simplify.is_some();
        #[cfg(not(feature = "traditional"))]
        let folds = false;
        folds
    }

    /// What a Chinese character is matched as.
    fn fold_han(&self, c: char) -> char {
        let mut composed = c;
        if matches!(c, '\u{F900}'..='\u{FAFF}' | '\u{2F800}'..='\u{2FA1F}') {
            composed = std::iter::once(c).nfkc().next().unwrap_or(c);
        }
        #[cfg(feature = "traditional")]
        if let Some(simplify) = &self.simplify {
            composed = simplify.character(composed);
        }
        composed
    }
}

impl Default for Tokenizer {
    fn default() -> Self {
        TokenizerBuilder::default().build()
    }
}

impl Tokenizer {
    /// The tokenizer with default settings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Settings to choose from.
    pub fn builder() -> TokenizerBuilder {
        TokenizerBuilder::default()
    }

    /// Everything that [`tokens`](Self::tokens) depends on. Stop words are not part of it: they
    /// concern queries, an index holds every word.
    #[must_use]
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// The words of a document or a query, by start, longer ones first; a part follows its whole.
    #[must_use]
    pub fn tokens(&self, text: &str) -> Vec<Token> {
        let Some(seen) = seen::seen(text) else {
            return self.visible_tokens(text);
        };
        let mut tokens = self.visible_tokens(&seen.text);
        for token in &mut tokens {
            token.span = ByteSpan::from_range(seen.source(token.span.range()));
        }
        tokens
    }

    /// The words of a text without invisible characters.
    fn visible_tokens(&self, text: &str) -> Vec<Token> {
        let mut out = Vec::new();
        if self.settings.markup {
            for part in markup::plain_parts(text) {
                self.part(text, part.range(), &mut out);
            }
        } else {
            self.part(text, 0..text.len(), &mut out);
        }
        out
    }

    /// The words of a query without its stop words, or with them where nothing else would remain
    /// ("to be or not to be", "我的"). With [`StopWords::None`] the same as
    /// [`tokens`](Self::tokens).
    #[must_use]
    pub fn query(&self, text: &str) -> Vec<Token> {
        let tokens = self.tokens(text);
        let stays = |token: &Token| !self.settings.stop_words.contains(&token.text);
        if tokens.iter().all(stays) || !tokens.iter().any(stays) {
            return tokens;
        }
        let mut places = Vec::with_capacity(tokens.len());
        let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
        for mut token in tokens {
            if stays(&token) {
                token.part_of = token
                    .part_of
                    .and_then(|whole| places.get(whole).copied().flatten());
                places.push(Some(out.len()));
                out.push(token);
            } else {
                places.push(None);
            }
        }
        out
    }

    /// Whether a cut at byte `at` falls inside a word: as [`cuts_word`](crate::cuts_word), and
    /// inside a Chinese word of this tokenizer. Looks at most 64 characters to either side.
    ///
    /// ```
    /// # #[cfg(feature = "jieba")] {
    /// let tokenizer = cornu_text::Tokenizer::new();
    /// assert!(tokenizer.cuts_word("学习神经网络", "学习神".len()));
    /// assert!(!tokenizer.cuts_word("学习神经网络", "学习".len()));
    /// # }
    /// ```
    #[must_use]
    pub fn cuts_word(&self, text: &str, at: usize) -> bool {
        const REACH: usize = 64;
        let han = |c: Option<char>| c.is_some_and(is_han);
        if !han(char_before(text, at)) || !han(char_at(text, at)) {
            return crate::cuts_word(text, at);
        }
        let before = text.get(..at).unwrap_or_default().chars().rev();
        let after = text.get(at..).unwrap_or_default().chars();
        let head = before.take_while(|&c| is_han(c)).take(REACH).count();
        let tail = after.take_while(|&c| is_han(c)).take(REACH).count();
        let start = text
            .get(..at)
            .and_then(|before| before.char_indices().rev().nth(head.checked_sub(1)?))
            .map_or(at, |(start, _)| start);
        let run: String = text
            .get(start..)
            .unwrap_or_default()
            .chars()
            .take(head + tail)
            .map(|c| self.settings.fold_han(c))
            .collect();
        !han::borders(self.settings.han, &run).contains(&head)
    }

    /// The words of the bytes `range`, which holds no markup.
    fn part(&self, text: &str, range: Range<usize>, out: &mut Vec<Token>) {
        scan::pieces(text, range, &mut |piece| match piece {
            Piece::Han(range) => self.han_run(text, range, out),
            Piece::Word(range) => self.word(text, range, out),
            Piece::Symbol(range) => symbol(text, range, out),
        });
    }

    fn word(&self, text: &str, range: Range<usize>, out: &mut Vec<Token>) {
        let Some(word) = text.get(range.clone()) else {
            return;
        };
        let whole = out.len();
        out.push(Token {
            text: fold_word(word),
            span: ByteSpan::from_range(range.clone()),
            part_of: None,
        });
        if !self.settings.parts || scan::is_grouped(word) {
            return;
        }
        for part in identifier::parts(word) {
            out.push(Token {
                text: fold_word(word.get(part.start..part.end).unwrap_or_default()),
                span: ByteSpan::from_range(range.start + part.start..range.start + part.end),
                part_of: Some(part.parent.map_or(whole, |parent| whole + 1 + parent)),
            });
        }
    }

    fn han_run(&self, text: &str, range: Range<usize>, out: &mut Vec<Token>) {
        let source = text.get(range.clone()).unwrap_or_default();
        let mut run = String::with_capacity(source.len());
        let mut source_starts = Vec::with_capacity(source.len() / 3);
        let mut starts = Vec::with_capacity(source.len() / 3);
        for (at, c) in source.char_indices() {
            source_starts.push(range.start + at);
            starts.push(run.len());
            run.push(self.settings.fold_han(c));
        }
        let byte = |list: &[usize], at: usize, end: usize| list.get(at).copied().unwrap_or(end);
        let base = out.len();
        for HanWord { start, end, parent } in han::words(self.settings.han, &run, &starts) {
            // Without parts only what stands for itself is kept.
            if !self.settings.parts && parent.is_some() {
                continue;
            }
            out.push(Token {
                text: run
                    .get(byte(&starts, start, run.len())..byte(&starts, end, run.len()))
                    .unwrap_or_default()
                    .to_owned(),
                span: ByteSpan::from_range(
                    byte(&source_starts, start, range.end)..byte(&source_starts, end, range.end),
                ),
                part_of: parent.map(|parent| base + parent),
            });
        }
    }
}

/// A word as it is matched; a number loses its thousands separators, any hyphen is `-`.
fn fold_word(word: &str) -> String {
    if scan::is_grouped(word) {
        return word.replace(',', "");
    }
    let folded = search_fold(word);
    if folded.contains(['\u{2010}', '\u{2019}']) {
        return folded.replace('\u{2010}', "-").replace('\u{2019}', "'");
    }
    folded.into_owned()
}

/// A symbol is matched as what it stands for, if that is letters or digits in a row and no power
/// or fraction.
fn symbol(text: &str, range: Range<usize>, out: &mut Vec<Token>) {
    let Some(source) = text.get(range.clone()) else {
        return;
    };
    let raised_or_fraction = source.chars().any(|c| {
        matches!(c, '\u{B2}' | '\u{B3}' | '\u{B9}' | '\u{BC}'..='\u{BE}' | '\u{2070}'..='\u{208E}'
            | '\u{2150}'..='\u{215F}' | '\u{2189}')
    });
    let mut folded = String::new();
    if !raised_or_fraction {
        folded = search_fold(source).into_owned();
        folded.retain(|c| c.is_alphanumeric() || c == '°');
    }
    if folded.is_empty() {
        if !source.chars().any(char::is_alphanumeric) {
            return;
        }
        folded = source.to_owned();
    }
    out.push(Token {
        text: folded,
        span: ByteSpan::from_range(range),
        part_of: None,
    });
}
