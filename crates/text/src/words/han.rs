//! Words in runs of Chinese characters.

#[cfg(feature = "jieba")]
use std::sync::OnceLock;

/// How runs of Chinese characters become words.
///
/// ```
/// use cornu_text::Han;
/// assert_eq!(Han::Bigrams.name(), "bigrams");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Han {
    /// Words of jieba's dictionary (most probable path, no guessing of unknown words), with the
    /// shorter dictionary words inside them as parts. Characters that the dictionary leaves single
    /// side by side, as in names and new terms, also give their bigrams, so that an unknown word
    /// is found wherever it stands.
    #[cfg(feature = "jieba")]
    Dictionary,
    /// Every bigram, with single characters as parts: no dictionary, no loading time, longer
    /// postings.
    Bigrams,
}

impl Han {
    /// The dictionary whose words are found, with its version, for fingerprints; "none" for
    /// bigrams.
    #[must_use]
    pub fn dictionary(self) -> &'static str {
        match self {
            #[cfg(feature = "jieba")]
            Self::Dictionary => "jieba-rs 0.11",
            Self::Bigrams => "none",
        }
    }

    /// A name that stays, for fingerprints.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "jieba")]
            Self::Dictionary => "dictionary",
            Self::Bigrams => "bigrams",
        }
    }
}

impl Default for Han {
    /// The dictionary where the crate is built with it, bigrams elsewhere.
    fn default() -> Self {
        #[cfg(feature = "jieba")]
        let default = Self::Dictionary;
        #[cfg(not(feature = "jieba"))]
        let default = Self::Bigrams;
        default
    }
}

/// A word of a run, in characters, and the word among the run's words that it is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HanWord {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) parent: Option<usize>,
}

/// The words of a run by start, longer ones first. `starts` holds the byte at which each
/// character of `run` starts.
pub(super) fn words(han: Han, run: &str, starts: &[usize]) -> Vec<HanWord> {
    let mut out = Vec::new();
    match han {
        Han::Bigrams => singles(0, starts.len(), &mut out),
        #[cfg(feature = "jieba")]
        Han::Dictionary => dictionary_words(run, starts, &mut out),
    }
    #[cfg(not(feature = "jieba"))]
    let _ = run;
    out
}

/// Where words of the run end, in characters; single characters count as words.
pub(super) fn borders(han: Han, run: &str) -> Vec<usize> {
    match han {
        Han::Bigrams => (1..=run.chars().count()).collect(),
        #[cfg(feature = "jieba")]
        Han::Dictionary => jieba()
            .cut(run, false)
            .iter()
            .map(|word| word.end)
            .collect(),
    }
}

/// Characters `from..to`, which are not part of a longer word: each with its neighbour, and alone.
fn singles(from: usize, to: usize, out: &mut Vec<HanWord>) {
    let base = out.len();
    for at in from..to {
        let pair = at + 1 < to;
        if pair {
            out.push(HanWord {
                start: at,
                end: at + 2,
                parent: None,
            });
        }
        // A character belongs to the pair that it opens; the last one to the pair before.
        let parent = if pair {
            Some(out.len() - 1)
        } else {
            (at > from).then(|| base + 2 * (at - from - 1))
        };
        out.push(HanWord {
            start: at,
            end: at + 1,
            parent,
        });
    }
}

#[cfg(feature = "jieba")]
fn dictionary_words(run: &str, starts: &[usize], out: &mut Vec<HanWord>) {
    let jieba = jieba();
    let mut single_from = 0; // characters from here to the current word stand single
    for word in jieba.cut(run, false) {
        if word.end - word.start == 1 {
            continue;
        }
        singles(single_from, word.start, out);
        single_from = word.end;
        let whole = out.len();
        out.push(HanWord {
            start: word.start,
            end: word.end,
            parent: None,
        });
        let byte = |at: usize| starts.get(at).copied().unwrap_or(run.len());
        for start in word.start..word.end {
            for length in [3, 2] {
                let end = start + length;
                if end <= word.end
                    && length < word.end - word.start
                    && run
                        .get(byte(start)..byte(end))
                        .is_some_and(|part| jieba.has_word(part))
                {
                    out.push(HanWord {
                        start,
                        end,
                        parent: Some(whole),
                    });
                }
            }
        }
    }
    singles(single_from, starts.len(), out);
}

/// The one dictionary of the process; the first use loads it.
#[cfg(feature = "jieba")]
pub(super) fn jieba() -> &'static jieba_rs::Jieba {
    static JIEBA: OnceLock<jieba_rs::Jieba> = OnceLock::new();
    JIEBA.get_or_init(jieba_rs::Jieba::new)
}
