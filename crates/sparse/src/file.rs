//! An index in a file, of which a search reads what it needs.
//!
//! ```text
//! 0     256 bytes    header (below), numbers little endian
//! 256   32 · pages   blake3 of each 16 KiB of the body
//!       0 to 4095    zeros up to a multiple of 4096
//!       the body     each part at a multiple of 64:
//!         20 · D     documents: ordinal u32, version 16 bytes
//!          4 · R     rows: document u32
//!          4 · R     rows: words u32
//!         size · R   rows: id
//!          8 · T     terms: end of its text u64
//!          8 · (T+1) terms: first posting u64
//!          4 · (T+1) terms: first block u32
//!          8 · B     blocks: largest count, smallest length u32
//!          4 · P     postings: row u32
//!          4 · P     postings: count u32
//!          the terms' texts, end to end
//! ```

mod merged;
mod part;
mod runs;

use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;

use bytemuck::{AnyBitPattern, NoUninit};
use cornu_core::Fingerprint;

pub(crate) use self::part::{Damaged, Part};
use self::part::{PAGE, Pages};
pub use self::runs::{FileBuilder, FileError, Output, Scratch};
use crate::dictionary::Dictionary;
use crate::index::{Bm25Index, fingerprint};
use crate::segment::{Block, Segment};

const MAGIC: &[u8; 8] = b"CORNUBM2";
const VERSION: u32 = 1;
const HEADER: usize = 256;
const BODY_ALIGNMENT: usize = 4096;
const PART_ALIGNMENT: usize = 64;

/// What a file says of itself beside the counts: whose they are, and of which documents.
///
/// See [`Bm25Index::open`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Names the collection; a file of another one is not opened.
    pub owner: [u8; 32],
    /// Names the state of the facts that the file was built from.
    pub state: [u8; 16],
    /// The documents that it holds, those without rows among them: ordinal and version.
    pub documents: Vec<(u32, [u8; 16])>,
}

/// Ids that are their bytes may stand in a file.
impl<I: Ord + Clone + NoUninit> Bm25Index<I> {
    /// Writes the index: the same bytes for the same facts and origin, whatever steps led there.
    /// The file must not be changed afterwards: write to another name, synchronise, rename.
    ///
    /// O(postings); an index with changes that no merge has dropped yet is merged for it.
    ///
    /// # Errors
    /// Those of `out`; [`Unsupported`](io::ErrorKind::Unsupported) where numbers are big endian.
    pub fn write(&self, origin: &Origin, out: impl Write + Seek) -> io::Result<()> {
        if cfg!(target_endian = "big") {
            return Err(io::ErrorKind::Unsupported.into());
        }
        if self.is_compact() {
            return write(self.base(), self.fingerprint(), self.epoch(), origin, out);
        }
        let merged = self.merged().map_err(io::Error::other)?;
        write(&merged, self.fingerprint(), self.epoch(), origin, out)
    }
}

impl<I: Ord + Clone + AnyBitPattern> Bm25Index<I> {
    /// An index from the bytes of a file, mapped as a rule. `None` when they are of another
    /// version of the format, of another tokenizer or owner, or damaged: then it is to be built
    /// from the facts.
    ///
    /// Reads the header, the hashes of the pages and the list of documents. A page is compared
    /// with its hash when it is first touched.
    ///
    /// ```
    /// use std::io::Cursor;
    /// use cornu_core::Fingerprint;
    /// use cornu_sparse::{Bm25Index, DocumentRows, Origin, Row, TermCounts};
    ///
    /// let counts = TermCounts::from_pairs(3, [("gradient", 2)])?;
    /// let document = DocumentRows { document: 7, rows: vec![Row { id: 1_u32, counts }] };
    /// let tokenizer = Fingerprint::new("by hand");
    /// let index = Bm25Index::build(tokenizer.clone(), [document], 1)?;
    /// let origin = Origin { owner: [0; 32], state: [1; 16], documents: vec![(7, [2; 16])] };
    /// let mut file = Cursor::new(Vec::new());
    /// index.write(&origin, &mut file)?;
    ///
    /// let (opened, found) = Bm25Index::open(file.into_inner(), tokenizer, &[0; 32]).ok_or("its own")?;
    /// assert_eq!((&opened, &found), (&index, &origin));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
        tokenizer: Fingerprint,
        owner: &[u8; 32],
    ) -> Option<(Self, Origin)> {
        if cfg!(target_endian = "big") {
            return None;
        }
        let file = bytes.as_ref();
        let head = Head::read(file.get(..HEADER)?)?;
        let known = fingerprint(&tokenizer).digest();
        if head.id_size != size_of::<I>() as u64 || head.owner != *owner || head.made_by != known {
            return None;
        }
        let layout = Layout::new(&head)?;
        let table = file.get(HEADER..layout.hashes_end)?;
        if file.len() != layout.body.end || file.get(..HEADER)? != head.write(table) {
            return None;
        }
        let hashes = table.as_chunks::<32>().0.to_vec();
        let pages = Arc::new(Pages::new(Box::new(bytes), layout.body.clone(), hashes));
        let [
            sources,
            documents,
            lengths,
            ids,
            ends,
            starts,
            block_starts,
            blocks,
            indices,
            counts,
            text,
        ] = layout.parts;
        let sources: Part<[u32; 5]> = Part::mapped(&pages, sources);
        let sources = sources.all().ok()?.iter().map(source).collect();
        let base = Segment {
            ids: Part::mapped(&pages, ids),
            documents: Part::mapped(&pages, documents),
            lengths: Part::mapped(&pages, lengths),
            dictionary: Dictionary::new(Part::mapped(&pages, text), Part::mapped(&pages, ends)),
            starts: Part::mapped(&pages, starts),
            indices: Part::mapped(&pages, indices),
            counts: Part::mapped(&pages, counts),
            blocks: Part::mapped(&pages, blocks),
            block_starts: Part::mapped(&pages, block_starts),
        };
        let origin = Origin {
            owner: head.owner,
            state: head.state,
            documents: sources,
        };
        Some((Self::of(tokenizer, base, head.epoch), origin))
    }
}

/// A document with its version, as numbers that are their bytes.
fn record(&(ordinal, version): &(u32, [u8; 16])) -> [u32; 5] {
    let word = |at: usize| {
        let words = version.as_chunks::<4>().0;
        words.get(at).map_or(0, |word| u32::from_le_bytes(*word))
    };
    [ordinal, word(0), word(1), word(2), word(3)]
}

fn source(&[ordinal, words @ ..]: &[u32; 5]) -> (u32, [u8; 16]) {
    let mut version = [0; 16];
    for (to, word) in version.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *to = word.to_le_bytes();
    }
    (ordinal, version)
}

fn damaged(_: Damaged) -> io::Error {
    let what = "the index that was to be written is damaged";
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn write<I: NoUninit>(
    segment: &Segment<I>,
    made_by: &Fingerprint,
    epoch: u64,
    origin: &Origin,
    out: impl Write + Seek,
) -> io::Result<()> {
    let (text, ends) = segment.dictionary.parts();
    let head = Head {
        rows: segment.len() as u64,
        terms: segment.dictionary.len() as u64,
        blocks: segment.blocks.len() as u64,
        postings: segment.postings_len() as u64,
        text: text.len() as u64,
        ..Head::new::<I>(made_by, epoch, origin)
    };
    let sources: Vec<[u32; 5]> = origin.documents.iter().map(record).collect();
    let parts: [&[u8]; 11] = [
        bytemuck::cast_slice(&sources),
        bytemuck::cast_slice(segment.documents.all().map_err(damaged)?),
        bytemuck::cast_slice(segment.lengths.all().map_err(damaged)?),
        bytemuck::cast_slice(segment.ids.all().map_err(damaged)?),
        bytemuck::cast_slice(ends.all().map_err(damaged)?),
        bytemuck::cast_slice(segment.starts.all().map_err(damaged)?),
        bytemuck::cast_slice(segment.block_starts.all().map_err(damaged)?),
        bytemuck::cast_slice(segment.blocks.all().map_err(damaged)?),
        bytemuck::cast_slice(segment.indices.all().map_err(damaged)?),
        bytemuck::cast_slice(segment.counts.all().map_err(damaged)?),
        text.all().map_err(damaged)?,
    ];
    let mut parts = parts.into_iter();
    write_parts(&head, out, |_, body| {
        parts.next().map_or(Ok(()), |bytes| body.put(bytes))
    })
}

/// The file of which `put` gives the parts, one after another, as large as the header says.
fn write_parts<W: Write + Seek>(
    head: &Head,
    mut out: W,
    mut put: impl FnMut(usize, &mut Body<&mut W>) -> io::Result<()>,
) -> io::Result<()> {
    let layout = Layout::new(head).ok_or_else(|| io::Error::other("too many rows for one file"))?;
    out.seek(SeekFrom::Start(layout.body.start as u64))?;
    let mut body = Body::new(&mut out);
    for (at, place) in layout.parts.iter().enumerate() {
        body.pad_to(place.start)?;
        put(at, &mut body)?;
    }
    let table = body.finish()?;
    out.seek(SeekFrom::Start(0))?;
    out.write_all(&head.write(&table))?;
    out.write_all(&table)?;
    // The gap before the body was sought over, and reads as zeros.
    out.flush()
}

/// Hashes what it passes on, page by page.
struct Body<W> {
    out: W,
    page: Vec<u8>,
    written: usize,
    hashes: Vec<u8>,
}

impl<W: Write> Body<W> {
    fn new(out: W) -> Self {
        Self {
            out,
            page: Vec::with_capacity(PAGE),
            written: 0,
            hashes: Vec::new(),
        }
    }

    fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len();
        while !bytes.is_empty() {
            let room = (PAGE - self.page.len()).min(bytes.len());
            let (now, later) = bytes.split_at(room);
            self.page.extend_from_slice(now);
            bytes = later;
            if self.page.len() == PAGE {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// One value that is its bytes.
    fn put_one(&mut self, value: &impl NoUninit) -> io::Result<()> {
        self.put(bytemuck::bytes_of(value))
    }

    fn pad_to(&mut self, place: usize) -> io::Result<()> {
        self.put(&[0; PART_ALIGNMENT][..place.saturating_sub(self.written).min(PART_ALIGNMENT)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.hashes
            .extend_from_slice(blake3::hash(&self.page).as_bytes());
        self.out.write_all(&self.page)?;
        self.page.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<Vec<u8>> {
        if !self.page.is_empty() {
            self.flush()?;
        }
        Ok(self.hashes)
    }
}

/// Sizes and names.
#[derive(Clone, Copy)]
struct Head {
    id_size: u64,
    documents: u64,
    rows: u64,
    terms: u64,
    blocks: u64,
    postings: u64,
    text: u64,
    epoch: u64,
    state: [u8; 16],
    owner: [u8; 32],
    made_by: [u8; 32],
}

impl Head {
    /// Of a file without rows.
    fn new<I>(made_by: &Fingerprint, epoch: u64, origin: &Origin) -> Self {
        Self {
            id_size: size_of::<I>() as u64,
            documents: origin.documents.len() as u64,
            rows: 0,
            terms: 0,
            blocks: 0,
            postings: 0,
            text: 0,
            epoch,
            state: origin.state,
            owner: origin.owner,
            made_by: made_by.digest(),
        }
    }

    /// The header: its fields, and the hash of them and of the table behind it.
    fn write(&self, table: &[u8]) -> [u8; HEADER] {
        let mut bytes = Vec::with_capacity(HEADER);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(PAGE as u32).to_le_bytes());
        for number in [
            self.id_size,
            self.documents,
            self.rows,
            self.terms,
            self.blocks,
            self.postings,
            self.text,
            self.epoch,
        ] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.state);
        bytes.extend_from_slice(&self.owner);
        bytes.extend_from_slice(&self.made_by);
        bytes.resize(HEADER - 32, 0);
        let mut hash = blake3::Hasher::new_derive_key("cornu postings file v1");
        hash.update(&bytes);
        hash.update(table);
        bytes.extend_from_slice(hash.finalize().as_bytes());
        let mut header = [0; HEADER];
        for (to, from) in header.iter_mut().zip(bytes) {
            *to = from;
        }
        header
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let this_version = fields.array()? == *MAGIC
            && fields.array()? == VERSION.to_le_bytes()
            && fields.array()? == (PAGE as u32).to_le_bytes();
        if !this_version {
            return None;
        }
        let mut number = || fields.array().map(u64::from_le_bytes);
        let [id_size, documents, rows, terms] = [number()?, number()?, number()?, number()?];
        let [blocks, postings, text, epoch] = [number()?, number()?, number()?, number()?];
        Some(Self {
            id_size,
            documents,
            rows,
            terms,
            blocks,
            postings,
            text,
            epoch,
            state: fields.array()?,
            owner: fields.array()?,
            made_by: fields.array()?,
        })
    }
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }
}

/// Where everything lies: the parts within the body, the body within the file.
struct Layout {
    hashes_end: usize,
    body: Range<usize>,
    parts: [Range<usize>; 11],
}

impl Layout {
    fn new(head: &Head) -> Option<Self> {
        let id_size = usize::try_from(head.id_size).ok()?;
        let ends = head.terms.checked_add(1)?;
        let sizes = [
            (head.documents, 20),
            (head.rows, 4),
            (head.rows, 4),
            (head.rows, id_size),
            (head.terms, 8),
            (ends, 8),
            (ends, 4),
            (head.blocks, size_of::<Block>()),
            (head.postings, 4),
            (head.postings, 4),
            (head.text, 1),
        ];
        let mut end: usize = 0;
        let mut parts = [const { 0..0 }; 11];
        for (part, (count, size)) in parts.iter_mut().zip(sizes) {
            let start = end.checked_next_multiple_of(PART_ALIGNMENT)?;
            end = start.checked_add(usize::try_from(count).ok()?.checked_mul(size)?)?;
            *part = start..end;
        }
        let table = end.div_ceil(PAGE).checked_mul(32)?;
        let hashes_end = HEADER.checked_add(table)?;
        let start = hashes_end.checked_next_multiple_of(BODY_ALIGNMENT)?;
        Some(Self {
            hashes_end,
            body: start..start.checked_add(end)?,
            parts,
        })
    }
}
