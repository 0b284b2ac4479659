//! What kind of character a character is: the one place that says what counts as CJK.

/// Whether the character is a Chinese character: unified ideographs with all extensions, the
/// compatibility block, and the marks 々, 〇, 〆 that stand in their place.
///
/// ```
/// use cornu_text::is_han;
/// assert!(is_han('字') && is_han('〇') && is_han('𠀀'));
/// assert!(!is_han('。') && !is_han('あ') && !is_han('A'));
/// ```
#[must_use]
pub fn is_han(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{3005}'..='\u{3007}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFD}')
}

/// Whether the character is hiragana or katakana, half-width katakana and the length mark
/// included.
///
/// ```
/// use cornu_text::is_kana;
/// assert!(is_kana('あ') && is_kana('ｱ') && is_kana('ー'));
/// assert!(!is_kana('・'));
/// ```
#[must_use]
pub fn is_kana(c: char) -> bool {
    matches!(c,
        '\u{3041}'..='\u{309F}'
        | '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{30FF}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{FF66}'..='\u{FF9F}'
        | '\u{1B000}'..='\u{1B16F}')
}

/// Whether the character is a Hangul syllable or letter.
///
/// ```
/// assert!(cornu_text::is_hangul('한') && !cornu_text::is_hangul('漢'));
/// ```
#[must_use]
pub fn is_hangul(c: char) -> bool {
    matches!(c,
        '\u{AC00}'..='\u{D7FF}'
        | '\u{1100}'..='\u{11FF}'
        | '\u{3130}'..='\u{318F}'
        | '\u{A960}'..='\u{A97F}'
        | '\u{FFA0}'..='\u{FFDC}')
}

/// Whether the character is written without spaces between words or in square cells: Chinese
/// characters, kana and Hangul. Punctuation is not.
///
/// ```
/// use cornu_text::is_cjk;
/// assert!("字かカ한".chars().all(is_cjk));
/// assert!(!"aé1。，Ａ".chars().any(is_cjk));
/// ```
#[must_use]
pub fn is_cjk(c: char) -> bool {
    c >= '\u{1100}' && (is_han(c) || is_kana(c) || is_hangul(c))
}

/// Whether nobody sees the character and it stands for no letter: soft hyphens, zero-width spaces and
/// joiners, marks of direction, variation selectors, byte order marks (Unicode's default-ignorable
/// characters without the fillers of Hangul). Word processors, spreadsheets, web pages and PDF files
/// strew them into words and numbers.
///
/// ```
/// use cornu_text::is_invisible;
/// assert!("\u{ad}\u{200b}\u{200f}\u{feff}\u{fe0f}".chars().all(is_invisible));
/// assert!(!"a \u{301}\u{3000}".chars().any(is_invisible));
/// ```
#[must_use]
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}'
        | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}'
        | '\u{E0000}'..='\u{E0FFF}')
}

/// Whether the character can carry a meaning of its own: a letter, a digit, a symbol or an emoji;
/// not white space, punctuation, a control or a combining mark.
pub(crate) fn is_content(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    c.is_alphanumeric()
        || (c >= '\u{2100}'
            && !c.is_whitespace()
            && !matches!(c,
                '\u{2E00}'..='\u{2E7F}'
                | '\u{3000}'..='\u{303F}'
                | '\u{30A0}' | '\u{30FB}'
                | '\u{FE00}'..='\u{FE6F}'
                | '\u{FEFF}'
                | '\u{FF00}'..='\u{FF65}'
                | '\u{FFE0}'..='\u{FFFF}'
                | '\u{E0000}'..='\u{E0FFF}'))
}

/// Whether the character stands in a quoted or bracketed passage's last place and belongs to the
/// text before it, wherever it stands. Straight quotes are not here: they open as well.
pub(crate) fn is_closing(c: char) -> bool {
    is_closing_bracket(c) || is_closing_quote(c)
}

/// As [`is_closing`], quotes only.
pub(crate) fn is_closing_quote(c: char) -> bool {
    matches!(
        c,
        '”' | '’' | '」' | '』' | '»' | '›' | '〞' | '〟' | '﹂' | '﹄' | '｣'
    )
}

/// As [`is_closing`], brackets and title marks only.
pub(crate) fn is_closing_bracket(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '}'
            | '）'
            | '】'
            | '］'
            | '｝'
            | '〕'
            | '〉'
            | '》'
            | '〗'
            | '〙'
            | '〛'
            | '｠'
    )
}

/// The bracket or title mark that closes `open`; `None` for anything else.
pub(crate) fn closing_of(open: char) -> Option<char> {
    Some(match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '（' => '）',
        '【' => '】',
        '［' => '］',
        '｛' => '｝',
        '〔' => '〕',
        '〈' => '〉',
        '《' => '》',
        '〖' => '〗',
        '〘' => '〙',
        '〚' => '〛',
        '｟' => '｠',
        _ => return None,
    })
}

/// Whether a quotation can begin with the character.
pub(crate) fn is_opening_quote(c: char) -> bool {
    matches!(
        c,
        '“' | '‘' | '「' | '『' | '«' | '‹' | '〝' | '﹁' | '﹃' | '｢' | '„'
    )
}

/// The character that starts at byte `at`.
pub(crate) fn char_at(text: &str, at: usize) -> Option<char> {
    work::step();
    text.get(at..)?.chars().next()
}

/// The character that ends at byte `at`.
pub(crate) fn char_before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

/// Counts the characters that are looked at, so that a test can hold the work linear without a
/// clock. Nothing outside tests.
pub(crate) mod work {
    #[cfg(test)]
    thread_local! {
        static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }

    #[inline]
    pub(crate) fn step() {
        #[cfg(test)]
        STEPS.with(|steps| steps.set(steps.get() + 1));
    }

    #[cfg(test)]
    pub(crate) fn steps_of<T>(f: impl FnOnce() -> T) -> u64 {
        let before = STEPS.with(std::cell::Cell::get);
        f();
        STEPS.with(std::cell::Cell::get) - before
    }
}
