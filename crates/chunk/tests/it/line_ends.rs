//! Lines ended by CR alone, by LF and by CRLF give one structure (siblings of MD-01 and MD-21).

use cornu_chunk::markdown::Outline;
use proptest::prelude::*;

use crate::documents::{chunks, texts, titles};
use crate::generated::{nested, noise, plain_markdown};

#[test]
fn md_21_a_lone_cr_ends_a_line_of_code() {
    assert_eq!(titles("# A\r```\r# x\r```\r# B\rtext\r"), ["A", "B"]);
    assert_eq!(titles("    code\r# H\r"), ["H"]);
    assert_eq!(titles("# A\r\r    code\r\r# B\r"), ["A", "B"]);
    assert_eq!(titles("> ~~~\r> code\r# H\r"), ["H"]);
    assert_eq!(titles("<pre>\r# no\r</pre>\r# H\r"), ["H"]);
}

#[test]
fn md_01_one_stray_cr_in_a_file_of_lf_lines() {
    assert_eq!(titles("# A\n```\n# x\r```\r# B\n"), ["A", "B"]);
    assert_eq!(titles("# A\n\n    code\r# B\r\n"), ["A", "B"]);
}

#[test]
fn md_21_evidence_keeps_the_bytes_of_its_line_ends() {
    let source = "# A\r\r```\r# x\r```\r";
    let found = chunks(source, 100);
    assert_eq!(texts(&found), ["# A\r\r```\r# x\r```"]);
    assert_eq!(found[0].lines.to_string(), "1-5");
}

/// Nothing but the bytes of the line ends may differ.
fn check_cr(text: &str) -> Result<(), TestCaseError> {
    let lf = text.replace('\r', "");
    let cr = lf.replace('\n', "\r");
    prop_assert_eq!(Outline::parse(&lf), Outline::parse(&cr));
    Ok(())
}

fn all_titles(source: &str) -> Vec<(String, u8, bool)> {
    let outline = Outline::parse(source);
    let headings = outline.headings().iter();
    headings
        .map(|heading| (heading.title.clone(), heading.level, heading.in_container))
        .collect()
}

proptest! {
    #[test]
    fn lines_that_end_with_cr_have_the_structure_of_lines_that_end_with_lf(
        markdown in plain_markdown(), nested in nested(), noise in noise(),
    ) {
        check_cr(&markdown)?;
        check_cr(&nested)?;
        check_cr(&noise)?;
    }

    #[test]
    fn crlf_gives_the_same_headings(markdown in plain_markdown(), nested in nested()) {
        for text in [markdown, nested] {
            prop_assert_eq!(all_titles(&text), all_titles(&text.replace('\n', "\r\n")));
        }
    }
}
