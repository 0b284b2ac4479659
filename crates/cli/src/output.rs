//! Standard output and standard error.
//!
//! Results go to standard output in one piece, all else to standard error. There are no colours.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use cornu::RagError;
use cornu::store::StoreError;

/// How a command ended, as an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// 0: done, found, answered.
    Done,
    /// 1: done, but for some files or documents; or `doctor` found something.
    Partly,
    /// 2: wrong usage, or something that could not be read or written.
    Failed,
    /// 3: refused, or nothing found.
    Nothing,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Done => 0,
            Outcome::Partly => 1,
            Outcome::Failed => 2,
            Outcome::Nothing => 3,
        })
    }
}

/// Where notes and progress go.
pub(crate) struct Terminal {
    quiet: bool,
    progress: bool,
}

impl Terminal {
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            quiet,
            progress: !quiet && io::stderr().is_terminal(),
        }
    }

    /// Something that a user should know and that is no error.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.line(&format!("note: {text}"));
        }
    }

    /// Something that went wrong; shown even when notes are not.
    pub(crate) fn error(&self, text: &str) {
        self.line(&format!("error: {text}"));
    }

    /// Overwrites the line of progress; an empty text clears it. Only where somebody looks.
    pub(crate) fn progress(&self, text: &str) {
        if self.progress {
            let mut stderr = io::stderr().lock();
            // Whoever closed standard error does not want to know.
            let _ = write!(
                stderr,
                "\r{text:<60}{}",
                if text.is_empty() { "\r" } else { "" }
            );
            let _ = stderr.flush();
        }
    }

    /// How the command line is used: the help that was asked for, or why the arguments are none.
    /// Gives the exit code.
    pub(crate) fn usage(&self, error: &clap::Error) -> ExitCode {
        // No styles are in it (`Cli` has none), so every control character is one of the arguments'.
        let text = printable(&error.render().ansi().to_string());
        if error.use_stderr() {
            let _ = io::stderr().lock().write_all(text.as_bytes());
            return Outcome::Failed.into();
        }
        // Whoever closed standard output does not want the help.
        let _ = print(&text);
        Outcome::Done.into()
    }

    /// Lines after the first are set in: a name with a line break in it does not pass for another
    /// message.
    fn line(&self, text: &str) {
        self.progress("");
        let shown = printable(text.trim_end()).replace('\n', "\n  ");
        let _ = writeln!(io::stderr().lock(), "{shown}");
    }
}

/// Writes a result for a reader. What the sources hold cannot steer the terminal.
pub(crate) fn print_text(text: &str) -> Result<()> {
    print(&printable(text))
}

/// Writes a result as one JSON document on one line. JSON itself escapes only the first 32
/// characters; the others that steer a terminal are escaped as well, which leaves the values as they
/// are.
pub(crate) fn print_json(json: &impl serde::Serialize) -> Result<()> {
    let json = serde_json::to_string(json)?;
    // Outside of strings JSON has none of these.
    print(&escaped(&json, |c| {
        steers(c).then(|| format!("\\u{:04x}", u32::from(c)))
    }))
}

/// Writes bytes as they are, with a line break at the end. A reader who has gone (`| head`) is no
/// error.
pub(crate) fn print(text: &str) -> Result<()> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.write_all(end.as_bytes()))
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// An error with its causes, without those that its text already gives.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    let mut out = String::new();
    for cause in error.chain() {
        let told = match cause.downcast_ref::<RagError>() {
            Some(error) => in_flags(error),
            None => cause.downcast_ref::<StoreError>().and_then(of_store),
        };
        let cause = told.unwrap_or(cause.to_string());
        if out.is_empty() {
            out = cause;
        } else if !out.contains(&cause) {
            out = format!("{out}: {cause}");
        }
    }
    out
}

/// What the library says in the words of its options, in the words of the flags.
fn in_flags(error: &RagError) -> Option<String> {
    Some(match error {
        RagError::NoExtractions { .. } => {
            "nothing that the asker sees was read for names and statements, so there is nothing to \
             walk over; run `cornu index --extract rules` over the same paths"
                .to_owned()
        }
        RagError::NotDisclosed { doc } => format!(
            "{doc} is not public; it was not sent to the embedding server, and it is not in the \
             index. Use an embedder of this machine, or say `--send everything`"
        ),
        RagError::Chat { source } => format!(
            "the chat model gave no answer: {source}; ask again, or with --chat-fallback for \
             sentences of the sources in its place"
        ),
        RagError::Store(error) => return of_store(error),
        _ => return None,
    })
}

fn of_store(error: &StoreError) -> Option<String> {
    Some(match error {
        StoreError::ReadOnly { path } => format!(
            "{path} cannot be written, or its folder cannot; check their permissions. To read an \
             index SQLite keeps a small file beside it: where that cannot be, and nobody writes \
             the index meanwhile, read it with --immutable",
            path = path.display()
        ),
        StoreError::CannotOpen { path, detail } => format!(
            "{path} cannot be opened: {detail}; check the path, its folder and their permissions",
            path = path.display()
        ),
        _ => return None,
    })
}

/// A name, or another text that belongs on one line: control characters are written out, line breaks
/// among them.
pub(crate) fn name(name: &str) -> String {
    escaped(name, |c| steers(c).then(|| written_out(c)))
}

/// A text of several lines, in which everything that steers a terminal is written out.
fn printable(text: &str) -> String {
    // A carriage return before a line break is part of many files.
    escaped(&text.replace("\r\n", "\n"), |c| {
        let kept = matches!(c, '\n' | '\t');
        (steers(c) && !kept).then(|| written_out(c))
    })
}

/// Whether a character does something other than stand there: control characters, what turns the
/// direction of writing, and Unicode's own line breaks.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// `\n`, `\t`, `\r`, else `\u{1b}`.
fn written_out(c: char) -> String {
    match c {
        '\n' | '\t' | '\r' => c.escape_default().to_string(),
        c => c.escape_unicode().to_string(),
    }
}

fn escaped(text: &str, escape: impl Fn(char) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match escape(c) {
            Some(shown) => out.push_str(&shown),
            None => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_cannot_steer_the_terminal() {
        assert_eq!(
            printable("a\u{1b}[2Jb\n\tc\u{9b}\0d\u{202e}e\u{2066}\u{2028}f\u{7f}"),
            "a\\u{1b}[2Jb\n\tc\\u{9b}\\u{0}d\\u{202e}e\\u{2066}\\u{2028}f\\u{7f}"
        );
        assert_eq!(printable("one\r\ntwo\rthree"), "one\ntwo\\rthree");
        // What joins and marks letters is no more than a part of them.
        for text in ["清空梯度", "cafe\u{301}", "👩\u{200d}🔬", "שלום\u{200f}!"] {
            assert_eq!(printable(text), text);
        }
        assert_eq!(name("a\nb\tc\u{202e}"), "a\\nb\\tc\\u{202e}");
    }

    #[test]
    fn a_cause_is_told_once() {
        let error = anyhow::anyhow!("no such file").context("cannot read a.md: no such file");
        assert_eq!(chain(&error), "cannot read a.md: no such file");
        let error = anyhow::anyhow!("no such file").context("cannot read a.md");
        assert_eq!(chain(&error), "cannot read a.md: no such file");
    }

    #[test]
    fn the_library_is_told_in_the_words_of_the_flags() {
        let doc = cornu::DocId::new("a.md").unwrap();
        let error = anyhow::Error::from(RagError::NotDisclosed { doc }).context("index");
        let shown = chain(&error);
        assert!(shown.contains("a.md is not public"), "{shown}");
        assert!(shown.contains("--send everything"), "{shown}");
        assert!(!shown.contains("Disclosure"), "{shown}");
    }
}
