//! Sizes of texts without a model: characters, and words.

use cornu_core::{Fingerprint, TokenCounter};

use crate::chars::{is_cjk, is_content};

/// How many characters of one run, of a word or of one repeated mark, count as one word. It keeps
/// a limit meaningful for base64, long rules and the like.
const RUN: usize = 32;

/// Counts characters (Unicode scalar values).
///
/// `count` and `fit` are O(bytes looked at); slack 0.
///
/// ```
/// use cornu_core::TokenCounter;
/// use cornu_text::CharCounter;
///
/// let counter = CharCounter::new();
/// assert_eq!(counter.count("一二ab"), 4);
/// assert_eq!(counter.fit("一二ab", 3), "一二a".len());
/// ```
#[derive(Clone, Debug)]
pub struct CharCounter {
    fingerprint: Fingerprint,
}

impl CharCounter {
    /// The counter; it has no settings.
    #[must_use]
    pub fn new() -> Self {
        Self {
            fingerprint: Fingerprint::new("cornu characters"),
        }
    }
}

impl Default for CharCounter {
    fn default() -> Self {
        Self::new()
    }
}

impl TokenCounter for CharCounter {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn count(&self, text: &str) -> usize {
        text.chars().count()
    }

    fn fit(&self, text: &str, limit: usize) -> usize {
        text.char_indices()
            .nth(limit)
            .map_or(text.len(), |(at, _)| at)
    }
}

/// Counts words, with each Chinese character, kana and Hangul syllable counted singly: an
/// estimate of a model's tokens that needs no model.
///
/// The rules, applied from left to right without looking ahead, so that a prefix never counts
/// more than the whole:
/// - a CJK character counts 1 ([`is_cjk`]);
/// - a run of other letters, digits and `_` counts 1 for each 32 characters begun. As in
///   Unicode's word rule, `.` `'` `’` `:` between letters, and `.` `,` `'` `;` between digits, keep
///   a run together: `don't`, `3.14` and `node.js` count 1, `zero-shot` counts 3;
/// - one of those marks directly after a run counts 0, any other mark or symbol counts 1, and a run
///   of one and the same mark counts 1 for each 32 begun (`-----` counts 1);
/// - white space counts 0; a combining mark or an invisible character belongs to what it follows.
///
/// So no 32 characters without white space count 0. `count` and `fit` are O(bytes looked at), one
/// pass, no allocation; slack 0.
///
/// ```
/// use cornu_core::TokenCounter;
/// use cornu_text::WordCounter;
///
/// let counter = WordCounter::new();
/// assert_eq!(counter.count("梯度 gradient 3.14, don't。"), 2 + 1 + 1 + 1 + 1);
/// assert_eq!(counter.fit("one two three", 2), "one two ".len());
/// ```
#[derive(Clone, Debug)]
pub struct WordCounter {
    fingerprint: Fingerprint,
}

impl WordCounter {
    /// The counter; it has no settings.
    #[must_use]
    pub fn new() -> Self {
        let (major, minor, patch) = char::UNICODE_VERSION;
        Self {
            fingerprint: Fingerprint::new("cornu words")
                .with("rules", 1)
                .with("unicode", format!("{major}.{minor}.{patch}")),
        }
    }
}

impl Default for WordCounter {
    fn default() -> Self {
        Self::new()
    }
}

impl TokenCounter for WordCounter {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn count(&self, text: &str) -> usize {
        let mut state = State::Start;
        text.chars().map(|c| state.step(c)).sum()
    }

    fn fit(&self, text: &str, limit: usize) -> usize {
        let mut state = State::Start;
        let mut count = 0;
        for (at, c) in text.char_indices() {
            count += state.step(c);
            if count > limit {
                return at;
            }
        }
        text.len()
    }
}

/// What the counter has just read, with the length of the run so far where there is one.
#[derive(Clone, Copy)]
enum State {
    /// White space or the start.
    Start,
    /// A word; whether its last character is a digit.
    Word { length: usize, digit: bool },
    /// A mark directly after a word, which goes on if the right kind of character follows.
    Joint {
        mark: char,
        length: usize,
        digit: bool,
    },
    /// A run of one mark or symbol, or a CJK character.
    Mark { mark: char, length: usize },
}

impl State {
    /// Reads a character; gives by how much the count grows.
    fn step(&mut self, c: char) -> usize {
        let (next, grows) = self.read(c);
        *self = next;
        grows
    }

    fn read(self, c: char) -> (Self, usize) {
        if c.is_whitespace() {
            return (Self::Start, 0);
        }
        if is_cjk(c) {
            return (Self::Mark { mark: c, length: 1 }, 1);
        }
        if c.is_alphanumeric() || c == '_' {
            let digit = c.is_numeric();
            return match self {
                Self::Word { length, .. } => (
                    Self::Word {
                        length: length + 1,
                        digit,
                    },
                    usize::from(length % RUN == 0),
                ),
                Self::Joint {
                    mark,
                    length,
                    digit: before,
                } if joins(mark, before, digit) => (
                    Self::Word {
                        length: length + 1,
                        digit,
                    },
                    usize::from(length % RUN == 0),
                ),
                _ => (Self::Word { length: 1, digit }, 1),
            };
        }
        match self {
            Self::Word { length, digit } if is_joint(c) => (
                Self::Joint {
                    mark: c,
                    length: length + 1,
                    digit,
                },
                usize::from(length % RUN == 0),
            ),
            Self::Word { length, digit } if is_attached(c) => (
                Self::Word {
                    length: length + 1,
                    digit,
                },
                usize::from(length % RUN == 0),
            ),
            Self::Mark { mark, length } if mark == c || is_attached(c) => (
                Self::Mark {
                    mark,
                    length: length + 1,
                },
                usize::from(length % RUN == 0),
            ),
            _ => (Self::Mark { mark: c, length: 1 }, 1),
        }
    }
}

fn is_joint(c: char) -> bool {
    matches!(c, '.' | ',' | ':' | ';' | '\'' | '’')
}

/// Whether `mark` keeps a word together between characters of these kinds.
fn joins(mark: char, digit_before: bool, digit_after: bool) -> bool {
    match mark {
        '.' | '\'' | '’' => digit_before == digit_after,
        ':' => !digit_before && !digit_after,
        _ => digit_before && digit_after,
    }
}

/// Combining marks, joiners, variation selectors, controls: nothing that is seen on its own.
fn is_attached(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{300}'..='\u{36F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2060}'..='\u{206F}'
            | '\u{20D0}'..='\u{20FF}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{1F3FB}'..='\u{1F3FF}')
        || (!is_content(c) && c >= '\u{E0000}')
}
