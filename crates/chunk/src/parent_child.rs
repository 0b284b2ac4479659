//! Small chunks to match, large ones to show.

use std::sync::Arc;

use cornu_core::{ByteSpan, Chunk, ChunkKind, ChunkRole, Document, TokenCounter};

use crate::chunker::{ChunkError, Chunker};
use crate::comments::Comments;
use crate::context::HeadingContext;
use crate::emit::{Namer, Place, cores};
use crate::html::outline_of;
use crate::markdown::{Outline, Section};
use crate::pack::{Draft, block_kind, only_block};
use crate::piece::{Measure, Piece};
use crate::sentence::{Packing, counter_name, pieces_of};
use crate::unit::UnitKind;
use crate::window::{ConfigError, Window};

/// Settings of [`ParentChild`].
///
/// ```
/// let options = cornu_chunk::ParentChildOptions::default();
/// assert_eq!((options.parent.size(), options.child.size()), (800, 100));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParentChildOptions {
    /// Size and overlap of what is shown; 800 tokens and none unless set.
    pub parent: Window,
    /// Size and overlap of what is indexed; 100 tokens and none unless set.
    pub child: Window,
    /// What the children's `index_text` begins with; the heading path unless set.
    pub heading_context: HeadingContext,
    /// Whether HTML comments are text; not, unless set.
    pub comments: Comments,
}

impl Default for ParentChildOptions {
    fn default() -> Self {
        Self {
            parent: Window::fixed(800, 0),
            child: Window::fixed(100, 0),
            heading_context: HeadingContext::default(),
            comments: Comments::default(),
        }
    }
}

/// Large chunks that are shown, each with small ones that are indexed.
///
/// - A parent is a whole section with all its subsections where these fit; else the section's own
///   text, packed by the rules of [`SentencePacked`](crate::SentencePacked), and each subsection by
///   itself. So a parent keeps an argument together and never mixes siblings.
/// - The children of a parent are its text packed again, by the same rules and to the smaller size.
///   Each lies in one section (a subsection's child has the longer heading path), and its core in
///   its parent's core.
/// - Only children are [`Indexed`](ChunkRole::Indexed); a parent's `index_text` is its `text`.
///   [`expand`](crate::expand) takes a ranking of children to their parents.
///
/// Time is linear, about twice that of `SentencePacked`; each unit is still counted once.
///
/// ```
/// use std::sync::Arc;
/// use cornu_chunk::{Chunker, ParentChild, ParentChildOptions, Window};
/// use cornu_core::{Acl, ChunkRole, DocId, Document};
/// use cornu_text::WordCounter;
///
/// let source = "# A\n\nOne two three. Four five six.\n\n## B\n\nSeven eight.\n";
/// let doc = Document::new(DocId::new("a.md")?, source, Acl::public());
/// let options = ParentChildOptions { child: Window::new(5, 0)?, ..Default::default() };
/// let chunks = ParentChild::new(Arc::new(WordCounter::new()), options)?.chunk(&doc)?;
/// let (parent, children) = chunks.split_first().unwrap();
/// assert_eq!(parent.text, source.trim_end());
/// assert_eq!(children.len(), 3);
/// assert!(children.iter().all(|child| child.parent == Some(parent.id)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ParentChild {
    counter: Arc<dyn TokenCounter>,
    options: ParentChildOptions,
    fingerprint: String,
    parent_fingerprint: String,
}

impl ParentChild {
    /// A chunker that measures with `counter`.
    ///
    /// # Errors
    /// [`ConfigError::ChildAboveParent`] when children are larger than parents.
    pub fn new(
        counter: Arc<dyn TokenCounter>,
        options: ParentChildOptions,
    ) -> Result<Self, ConfigError> {
        let (parent, child) = (options.parent, options.child);
        if child.size() > parent.size() {
            let (child, parent) = (child.size(), parent.size());
            return Err(ConfigError::ChildAboveParent { child, parent });
        }
        let fingerprint = format!(
            "parent-child/v1 parent={} parent_overlap={} child={} child_overlap={} context={} \
             comments={} counter={}",
            parent.size(),
            parent.overlap(),
            child.size(),
            child.overlap(),
            options.heading_context.as_str(),
            options.comments.as_str(),
            counter_name(&*counter),
        );
        let parent_fingerprint = format!("{fingerprint} role=parent");
        Ok(Self {
            counter,
            options,
            fingerprint,
            parent_fingerprint,
        })
    }
}

impl std::fmt::Debug for ParentChild {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ParentChild")
            .field(&self.fingerprint)
            .finish()
    }
}

impl Chunker for ParentChild {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn chunk(&self, doc: &Document) -> Result<Vec<Chunk>, ChunkError> {
        let source = doc.source();
        let outline = outline_of(doc);
        let hide_comments = self.options.comments == Comments::Hide;
        let measure = Measure::new(source, &outline, &*self.counter, hide_comments);
        let pieces = measure.pieces();
        let family = Family {
            measure: &measure,
            options: &self.options,
            pieces: &pieces,
        };
        let mut parents = Vec::new();
        let mut at = 0;
        while at < outline.sections().len() {
            at = family.parents(at, &mut parents);
        }
        let families: Vec<_> = parents
            .into_iter()
            .map(|(section, parent)| (section, family.children(&parent), parent))
            .filter(|(_, children, _)| !children.is_empty())
            .collect();
        let drafts: Vec<Draft> = families
            .iter()
            .map(|(_, _, parent)| parent.clone())
            .collect();
        let parent_cores = cores(&drafts, ByteSpan::from_range(0..source.len()));
        let mut namer = Namer::new(doc, &outline);
        let mut chunks = Vec::new();
        for ((section, children, parent), core) in families.into_iter().zip(parent_cores) {
            let parent = namer.chunk(
                parent,
                Place {
                    fingerprint: &self.parent_fingerprint,
                    role: ChunkRole::Parent,
                    parent: None,
                    path: path(&outline, section),
                    core,
                },
            );
            let id = parent.id;
            chunks.push(parent);
            let (sections, drafts): (Vec<usize>, Vec<Draft>) = children.into_iter().unzip();
            let child_cores = cores(&drafts, core);
            for ((section, draft), core) in sections.into_iter().zip(drafts).zip(child_cores) {
                let place = Place {
                    fingerprint: &self.fingerprint,
                    role: ChunkRole::Indexed,
                    parent: Some(id),
                    path: path(&outline, section),
                    core,
                };
                chunks.push(namer.chunk(draft, place));
            }
        }
        Ok(chunks)
    }
}

fn path(outline: &Outline, section: usize) -> &[String] {
    outline
        .sections()
        .get(section)
        .map_or(&[], |section| &section.path)
}

/// The two generations of one document. Sections go by their index.
struct Family<'a> {
    measure: &'a Measure<'a>,
    options: &'a ParentChildOptions,
    pieces: &'a [Piece],
}

impl Family<'_> {
    /// Adds the parents of a section and of all its subsections; gives the section after these.
    fn parents(&self, at: usize, out: &mut Vec<(usize, Draft)>) -> usize {
        let sections = self.measure.outline.sections();
        let Some(section) = sections.get(at) else {
            return at + 1;
        };
        let below = sections.get(at + 1..).unwrap_or_default();
        let after = match section.level {
            0 => at + 1,
            level => at + 1 + below.iter().take_while(|other| other.level > level).count(),
        };
        if let Some(draft) = self.whole(section, sections.get(after - 1).unwrap_or(section)) {
            out.push((at, draft));
            return after;
        }
        let packing = Packing {
            measure: self.measure,
            window: self.options.parent,
            heading_context: HeadingContext::None,
        };
        let own = packing.section(section, pieces_of(self.pieces, section));
        out.extend(own.into_iter().map(|draft| (at, draft)));
        let mut next = at + 1;
        while next < after {
            next = self.parents(next, out);
        }
        after
    }

    /// One parent for the sections from `first` to `last`, if there is no comment among them and
    /// they fit.
    fn whole(&self, first: &Section, last: &Section) -> Option<Draft> {
        let limit = self.options.parent.size();
        let start = self
            .pieces
            .partition_point(|piece| piece.block < first.blocks.start);
        let pieces = self.pieces.get(start..).unwrap_or_default();
        let mut total = 0;
        let mut count = 0;
        for piece in pieces
            .iter()
            .take_while(|piece| piece.block < last.blocks.end)
        {
            total += piece.tokens + if count == 0 { 0 } else { piece.gap };
            count += 1;
            if total > limit || piece.kind == UnitKind::Hidden {
                return None;
            }
        }
        let pieces = pieces.get(..count).unwrap_or_default();
        let from = pieces.iter().find(|piece| piece.kind != UnitKind::Decor)?;
        let to = pieces.iter().rev().find(|piece| piece.is_body())?;
        let span = ByteSpan::from_range(from.span.start()..to.span.end());
        let index_text = self.measure.words(span).into_owned();
        let tokens = self.measure.counter.count(&index_text);
        let block = only_block(pieces);
        (tokens <= limit).then_some(Draft {
            span,
            own: span,
            next: last.span.end(),
            kind: block.map_or(ChunkKind::Prose, |block| {
                block_kind(self.measure.outline, block)
            }),
            block,
            repeated: None,
            index_text,
            tokens,
        })
    }

    /// The children of a parent, each with its section.
    fn children(&self, parent: &Draft) -> Vec<(usize, Draft)> {
        let packing = Packing {
            measure: self.measure,
            window: self.options.child,
            heading_context: self.options.heading_context,
        };
        let sections = self.measure.outline.sections();
        let first = sections.partition_point(|section| section.span.end() <= parent.own.start());
        let inside = sections.iter().enumerate().skip(first);
        inside
            .take_while(|(_, section)| section.span.start() < parent.own.end())
            .flat_map(|(at, section)| {
                let pieces = self.clipped(pieces_of(self.pieces, section), parent.own);
                let drafts = packing.section(section, &pieces);
                drafts.into_iter().map(move |draft| (at, draft))
            })
            .collect()
    }

    /// The parts of the pieces within `span`; a parent may hold a part of a piece too large for it.
    fn clipped(&self, pieces: &[Piece], span: ByteSpan) -> Vec<Piece> {
        let first = pieces.partition_point(|piece| piece.span.end() <= span.start());
        let inside = pieces.iter().skip(first);
        inside
            .take_while(|piece| piece.span.start() < span.end())
            .map(|&piece| {
                if span.contains(piece.span) {
                    return piece;
                }
                let start = piece.span.start().max(span.start());
                let end = piece.span.end().min(span.end());
                self.measure
                    .fragment(piece, ByteSpan::from_range(start..end), piece.gap)
            })
            .collect()
    }
}
