//! Rust source with comments and the insides of literals blanked, line by line.

/// The code of a source file: what stands in comments and literals becomes spaces, so that a rule
/// that looks for a word does not find it in prose. Lines keep their numbers and lengths in
/// characters. Linear in the text.
#[must_use]
pub fn code_lines(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let end = match c {
            '/' if chars.get(at + 1) == Some(&'/') => line_end(&chars, at),
            '/' if chars.get(at + 1) == Some(&'*') => block_end(&chars, at),
            '"' => string_end(&chars, at),
            'r' | 'b' | 'c' if !in_word(&chars, at) => match raw_string_end(&chars, at) {
                Some(end) => end,
                None => at,
            },
            '\'' => char_end(&chars, at),
            _ => at,
        };
        if end == at {
            out.push(c);
            at += 1;
            continue;
        }
        for (place, &blanked) in chars.iter().enumerate().take(end).skip(at) {
            let edge = place == at || place + 1 == end;
            let keep = blanked == '\n' || (edge && blanked == '"');
            out.push(if keep { blanked } else { ' ' });
        }
        at = end;
    }
    out.lines().map(str::to_owned).collect()
}

fn in_word(chars: &[char], at: usize) -> bool {
    at > 0
        && chars
            .get(at - 1)
            .is_some_and(|c| c.is_alphanumeric() || *c == '_')
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars
        .iter()
        .skip(at)
        .position(|c| *c == '\n')
        .map_or(chars.len(), |n| at + n)
}

fn block_end(chars: &[char], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut place = at;
    while let Some(pair) = chars.get(place..place + 2) {
        match pair {
            ['/', '*'] => (depth, place) = (depth + 1, place + 2),
            ['*', '/'] => (depth, place) = (depth.saturating_sub(1), place + 2),
            _ => place += 1,
        }
        if depth == 0 {
            return place;
        }
    }
    chars.len()
}

fn string_end(chars: &[char], at: usize) -> usize {
    let mut place = at + 1;
    while let Some(c) = chars.get(place) {
        match c {
            '\\' => place += 2,
            '"' => return place + 1,
            _ => place += 1,
        }
    }
    chars.len()
}

/// The end of `r"…"`, `br#"…"#`, `b"…"`, `c"…"`; nothing if no string starts here.
fn raw_string_end(chars: &[char], at: usize) -> Option<usize> {
    let mut place = at;
    if matches!(chars.get(place), Some('b' | 'c')) {
        place += 1;
    }
    if chars.get(place) == Some(&'"') {
        return Some(string_end(chars, place));
    }
    if chars.get(place) != Some(&'r') {
        return None;
    }
    place += 1;
    let hashes = chars.iter().skip(place).take_while(|c| **c == '#').count();
    place += hashes;
    if chars.get(place) != Some(&'"') {
        return None;
    }
    place += 1;
    while let Some(c) = chars.get(place) {
        place += 1;
        let closed = chars.iter().skip(place).take_while(|c| **c == '#').count() >= hashes;
        if *c == '"' && closed {
            return Some(place + hashes);
        }
    }
    Some(chars.len())
}

/// The end of a character literal, or `at` for a lifetime.
fn char_end(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), Some(_)) => {
            let close = chars.iter().skip(at + 3).take(10).position(|c| *c == '\'');
            close.map_or(at, |n| at + 4 + n)
        }
        (Some(_), Some('\'')) => at + 3,
        _ => at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        code_lines(text).join("\n")
    }

    #[test]
    fn comments_and_literals_are_blank_and_code_is_not() {
        assert_eq!(code("a // todo!\nb"), "a         \nb");
        assert_eq!(
            code("a /* x /* y */ z */ b"),
            format!("a {} b", " ".repeat(17))
        );
        assert_eq!(code(r#"f("a \" b", x)"#), r#"f("      ", x)"#);
        assert_eq!(code("r#\"a \" b\"# + c"), format!("{} + c", " ".repeat(10)));
        assert_eq!(
            code("x: &'a str = 'b'; '\\'' '\\u{1F600}' c")
                .matches('c')
                .count(),
            1
        );
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
        assert_eq!(code("for_each(bar)"), "for_each(bar)");
    }

    #[test]
    fn lines_keep_their_numbers() {
        let text = "a\n/* b\nc */ d\n\"e\nf\" g\n";
        let lines = code_lines(text);
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[2].trim(), "d");
        assert_eq!(lines[4].trim_start_matches(['"', ' ']), "g");
    }

    #[test]
    fn broken_source_is_read_to_its_end() {
        for text in ["/* a", "\"a", "r#\"a", "'", "b'", "'\\", "r##", "\"a\\"] {
            assert_eq!(
                code_lines(text).concat().chars().count(),
                text.chars().count(),
                "{text}"
            );
        }
    }
}
