//! Reads passages from standard input, one JSON object `{"title", "text"}` a line, and writes what
//! the rules find, one JSON object a line.

use std::io::{BufRead, Write};

use cornu_extract::RuleExtractor;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let extractor = RuleExtractor::new();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let passage: serde_json::Value = serde_json::from_str(&line?)?;
        let part = |name: &str| {
            passage
                .get(name)
                .and_then(|value| value.as_str())
                .unwrap_or("")
        };
        let found = extractor.read(&format!("{}\n{}", part("title"), part("text")));
        writeln!(out, "{}", serde_json::to_string(&found)?)?;
    }
    Ok(())
}
