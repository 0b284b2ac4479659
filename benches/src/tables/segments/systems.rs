//! What each system shows for a question, best first.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use cornu::segment::Mode;
use cornu_chunk::markdown::Outline;
use cornu_core::{ByteSpan, ChunkId, DocId};

use super::fit::Shape;
use super::world::{Build, World};

/// Hits of a question that are looked at.
const DEPTH: usize = 100;

/// A part of a document that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) doc: DocId,
    pub(super) span: ByteSpan,
}

/// How contexts are made of what is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// Chunk by chunk.
    TopK,
    /// Runs of chunks.
    Runs(Mode),
    /// Runs by options that were fitted, and behind them single chunks that are in none.
    Shaped(Shape),
    /// The parent of each child, once.
    Parents,
    /// The section of each chunk, once: up to the next heading, or with all that is below its
    /// heading of level 2.
    Section,
    Chapter,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct System {
    pub(super) name: &'static str,
    pub(super) build: Build,
    pub(super) way: Way,
}

const fn system(name: &'static str, build: Build, way: Way) -> System {
    System { name, build, way }
}

/// The reference first. Those of [`Build::Plain`] are the quick part, but for the sections.
pub(super) const SYSTEMS: [System; 9] = [
    system("top-k", Build::Plain, Way::TopK),
    system("rse", Build::Plain, Way::Runs(Mode::Clean)),
    system("rse-paper", Build::Plain, Way::Runs(Mode::Paper)),
    system("top-k+header", Build::Header, Way::TopK),
    system("rse+header", Build::Header, Way::Runs(Mode::Clean)),
    system("rse-paper+header", Build::Header, Way::Runs(Mode::Paper)),
    system("parent-child", Build::Children, Way::Parents),
    system("section", Build::Plain, Way::Section),
    system("chapter", Build::Plain, Way::Chapter),
];

impl System {
    /// The contexts for a question that has to do with a budget of tokens. Only runs look at it.
    pub(super) fn contexts(
        &self,
        world: &World,
        question: &str,
        budget: usize,
    ) -> Result<Vec<Shown>> {
        let indexed = world.index(self.build)?;
        let live = &indexed.live;
        let mut shown: Vec<Shown> = Vec::new();
        let options = match self.way {
            Way::Runs(mode) => Some(indexed.options(mode, budget)),
            Way::Shaped(shape) => Some(shape.options(indexed, budget)),
            _ => None,
        };
        if let Some(options) = options {
            let found = live
                .index
                .segments(&live.everybody, &[question], &options)?;
            let runs = found.runs.into_iter();
            let runs = runs.map(|run| Shown {
                doc: run.doc,
                span: run.span,
            });
            shown.extend(runs);
            if !matches!(self.way, Way::Shaped(_)) {
                return Ok(shown);
            }
        }
        let found = live.index.search_hybrid(&live.everybody, question, DEPTH)?;
        let mut parents: BTreeSet<ChunkId> = BTreeSet::new();
        for hit in &found.hits {
            let chunk = live.chunks.get(&hit.chunk.id).context("a chunk of ours")?;
            let span = match self.way {
                Way::Parents => {
                    let parent = chunk.parent.and_then(|id| live.parents.get(&id));
                    match parent {
                        Some(parent) if !parents.insert(parent.id) => continue,
                        Some(parent) => parent.span,
                        None => chunk.span,
                    }
                }
                Way::Section | Way::Chapter => {
                    let (_, outline) = world.document(chunk.doc.as_str())?;
                    let level = if self.way == Way::Section { u8::MAX } else { 2 };
                    section(outline, chunk.span, level)
                }
                Way::TopK | Way::Runs(_) | Way::Shaped(_) => chunk.span,
            };
            let context = Shown {
                doc: chunk.doc.clone(),
                span,
            };
            let holds = |known: &Shown| known.doc == context.doc && known.span.contains(span);
            let again = match self.way {
                Way::Shaped(_) => shown.iter().any(holds),
                _ => shown.contains(&context),
            };
            if !again {
                shown.push(context);
            }
        }
        Ok(shown)
    }
}

/// The section that a chunk begins in, or the one above it whose heading is of this level at most,
/// with all that is below its heading. What stands before the first such heading is its own.
fn section(outline: &Outline, chunk: ByteSpan, level: u8) -> ByteSpan {
    let sections = outline.sections();
    let at = sections.partition_point(|section| section.span.end() <= chunk.start());
    let Some(own) = sections.get(at) else {
        return chunk;
    };
    let (mut first, mut top) = (at, own);
    while top.level > level {
        let Some((at, above)) = top
            .parent
            .and_then(|parent| Some((parent, sections.get(parent)?)))
        else {
            break;
        };
        (first, top) = (at, above);
    }
    let below = sections.iter().skip(first + 1);
    // Only a section that was climbed to, or is of the level, has its subsections with it.
    let whole = level != u8::MAX && top.level == level;
    let last = below
        .take_while(|section| whole && section.level > top.level)
        .last();
    let end = last.map_or(top.span.end(), |last| last.span.end());
    ByteSpan::from_range(top.span.start()..end.max(top.span.start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_has_its_subsections_and_a_section_has_not() {
        let source = "# T\n\nintro\n\n## A\n\na\n\n### A1\n\na1\n\n### A2\n\na2\n\n## B\n\nb\n";
        let outline = Outline::parse(source);
        let at = |text: &str| {
            let start = source.find(text).unwrap();
            ByteSpan::new(start, start + text.len()).unwrap()
        };
        let text = |place: &str, level| {
            let span = section(&outline, at(place), level);
            span.slice(source).unwrap().trim()
        };
        assert_eq!(text("a1\n", u8::MAX), "### A1\n\na1");
        assert_eq!(text("a2\n", 2), "## A\n\na\n\n### A1\n\na1\n\n### A2\n\na2");
        assert_eq!(text("a\n\n### A1", u8::MAX), "## A\n\na");
        assert_eq!(text("intro", 2), "# T\n\nintro");
        assert_eq!(text("b\n", 2), "## B\n\nb");
    }
}
