//! The `.vec` file.
//!
//! ```text
//! 0     256 bytes   header (below), numbers little endian
//! 256   32 · documents   ordinal u32, first row u32, rows u32, 4 bytes 0, half a digest
//!       32 · rows        ids of chunks
//!       32 · blocks      blake3 of each 256 rows
//!       0 to 4095        zeros up to a multiple of 4096
//!       4 · D · rows     f32, by document, by place
//! ```

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cornu_core::ChunkId;

use super::segment::{BLOCK_ROWS, Damaged, Mapped, Segment};
use super::{Place, Plan, Resident};
use crate::artifact::ArtifactFile;
use crate::error::StoreError;
use crate::map::map;
use crate::read::Reader;
use crate::sqlite::schema::{Meta, State};

const MAGIC: &[u8; 8] = b"CORNUVEC";
const VERSION: u32 = 1;
const HEADER: usize = 256;
const ALIGNMENT: usize = 4096;

/// Ids that are held before they are written: a megabyte.
const IDS_AT_ONCE: usize = 1 << 15;

/// Whose vectors a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    store: [u8; 16],
    fingerprint: [u8; 32],
    dimension: usize,
}

impl Identity {
    pub(crate) fn of(meta: &Meta) -> Self {
        Self {
            store: meta.store,
            fingerprint: meta.fingerprint.digest(),
            dimension: meta.dimension,
        }
    }

    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// One name for all of it.
    pub(crate) fn digest(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key("cornu vectors identity v1");
        hash.update(&self.store);
        hash.update(&self.fingerprint);
        hash.update(&(self.dimension as u64).to_le_bytes());
        *hash.finalize().as_bytes()
    }
}

/// Where the sections lie.
struct Layout {
    documents: Range<usize>,
    ids: Range<usize>,
    hashes: Range<usize>,
    values: Range<usize>,
}

impl Layout {
    fn new(documents: usize, rows: usize, dimension: usize) -> Option<Self> {
        let section = |start: usize, size: usize, count: usize| {
            Some(start..start.checked_add(size.checked_mul(count)?)?)
        };
        let documents = section(HEADER, 32, documents)?;
        let ids = section(documents.end, 32, rows)?;
        let hashes = section(ids.end, 32, rows.div_ceil(BLOCK_ROWS))?;
        let start = hashes.end.checked_next_multiple_of(ALIGNMENT)?;
        let values = section(start, dimension.checked_mul(4)?, rows)?;
        Some(Self {
            documents,
            ids,
            hashes,
            values,
        })
    }
}

/// Writes all rows to a new file and puts it in place of the old one. Rows go from the facts to the
/// file one by one; the ids of [`IDS_AT_ONCE`] rows are held, and some 150 bytes a document.
pub(crate) fn save(
    plan: &Plan<'_>,
    reader: &Reader<'_>,
    identity: Identity,
    artifact: &ArtifactFile,
) -> Result<(), StoreError> {
    if cfg!(target_endian = "big") {
        return Ok(()); // The file is mapped as it is, and holds little-endian numbers.
    }
    artifact.replace_with(|out| write(plan, reader, identity, artifact, out))
}

fn write(
    plan: &Plan<'_>,
    reader: &Reader<'_>,
    identity: Identity,
    artifact: &ArtifactFile,
    out: &mut BufWriter<File>,
) -> Result<(), StoreError> {
    let failed = |error| artifact.failed(error);
    let (places, rows) = (plan.places(), plan.live());
    let layout = Layout::new(places.len(), rows, identity.dimension)
        .filter(|_| u32::try_from(rows).is_ok())
        .ok_or_else(|| failed(io::Error::other("too many vectors for one file")))?;
    let documents = document_table(&places);
    let mut header = Header::new(identity, plan.state(), places.len(), rows);
    header.hash.update(&documents);
    let mut ids = Ids {
        at: layout.ids.start as u64,
        held: Vec::with_capacity(32 * IDS_AT_ONCE.min(rows)),
    };
    let mut blocks = Blocks::default();
    out.seek(SeekFrom::Start(layout.values.start as u64))
        .map_err(failed)?;
    plan.each_row(reader, |id, values| {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        blocks.add(bytes);
        header.hash.update(id.as_bytes());
        let written = out.write_all(bytes).and_then(|()| ids.add(id, out));
        written.map_err(failed)
    })?;
    let hashes = blocks.finish();
    header.hash.update(&hashes);
    let finish = (|| {
        ids.write(out)?;
        out.seek(SeekFrom::Start(layout.hashes.start as u64))?;
        out.write_all(&hashes)?;
        out.seek(SeekFrom::Start(0))?;
        out.write_all(&header.finish())?;
        out.write_all(&documents)?;
        out.flush()?;
        out.get_ref().set_len(layout.values.end as u64)
    })();
    finish.map_err(failed)
}

fn document_table(places: &[Place]) -> Vec<u8> {
    let mut table = Vec::with_capacity(32 * places.len());
    for place in places {
        table.extend_from_slice(&place.ordinal.to_le_bytes());
        table.extend_from_slice(&place.start.to_le_bytes());
        table.extend_from_slice(&place.rows.to_le_bytes());
        table.extend_from_slice(&[0; 4]);
        table.extend_from_slice(&place.digest);
    }
    table
}

/// The section of ids, written between the rows.
struct Ids {
    at: u64,
    held: Vec<u8>,
}

impl Ids {
    fn add(&mut self, id: ChunkId, out: &mut BufWriter<File>) -> io::Result<()> {
        self.held.extend_from_slice(id.as_bytes());
        if self.held.len() < 32 * IDS_AT_ONCE {
            return Ok(());
        }
        let back = out.stream_position()?;
        self.write(out)?;
        out.seek(SeekFrom::Start(back)).map(drop)
    }

    fn write(&mut self, out: &mut BufWriter<File>) -> io::Result<()> {
        out.seek(SeekFrom::Start(self.at))?;
        out.write_all(&self.held)?;
        self.at += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }
}

/// The hashes of blocks of rows.
#[derive(Default)]
struct Blocks {
    block: blake3::Hasher,
    rows: usize,
    hashes: Vec<u8>,
}

impl Blocks {
    fn add(&mut self, row: &[u8]) {
        self.block.update(row);
        self.rows += 1;
        if self.rows == BLOCK_ROWS {
            self.end();
        }
    }

    fn end(&mut self) {
        self.hashes
            .extend_from_slice(self.block.finalize().as_bytes());
        self.block.reset();
        self.rows = 0;
    }

    fn finish(mut self) -> Vec<u8> {
        if self.rows > 0 {
            self.end();
        }
        self.hashes
    }
}

/// The header: its fields, then the hash of them and of the tables, which the hash is given in
/// their order.
struct Header {
    fields: Vec<u8>,
    hash: blake3::Hasher,
}

impl Header {
    fn new(identity: Identity, state: State, documents: usize, rows: usize) -> Self {
        let mut bytes = Vec::with_capacity(HEADER);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(BLOCK_ROWS as u32).to_le_bytes());
        for number in [
            identity.dimension as u64,
            documents as u64,
            rows as u64,
            state.epoch,
        ] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&identity.store);
        bytes.extend_from_slice(&state.id);
        bytes.extend_from_slice(&identity.fingerprint);
        bytes.resize(HEADER - 32, 0);
        let mut hash = blake3::Hasher::new_derive_key("cornu vec file v1");
        hash.update(&bytes);
        Self {
            fields: bytes,
            hash,
        }
    }

    fn finish(self) -> Vec<u8> {
        let mut bytes = self.fields;
        bytes.extend_from_slice(self.hash.finalize().as_bytes());
        bytes
    }
}

/// The vectors of a file, or `None` when there is none, it is another store's, of another
/// version, or damaged: then they come from the facts.
///
/// Reads the header and the tables, 64 bytes a row at most; the rows are mapped.
pub(crate) fn load(path: &Path, identity: Identity) -> Option<Resident> {
    if cfg!(target_endian = "big") {
        return None;
    }
    let map = map(&File::open(path).ok()?).ok()?;
    let mut fields = Fields(map.get(..HEADER)?);
    if fields.take(8)? != MAGIC || fields.u32()? != VERSION || fields.u32()? != BLOCK_ROWS as u32 {
        return None;
    }
    let dimension = fields.size()?;
    let (documents, rows, epoch) = (fields.size()?, fields.size()?, fields.u64()?);
    let (store, id, fingerprint) = (fields.array()?, fields.array()?, fields.array()?);
    let found = Identity {
        store,
        fingerprint,
        dimension,
    };
    let layout = Layout::new(documents, rows, dimension)?;
    if found != identity || map.len() != layout.values.end {
        return None;
    }
    let state = State { epoch, id };
    let tables = map.get(HEADER..layout.hashes.end)?;
    let mut header = Header::new(identity, state, documents, rows);
    header.hash.update(tables);
    if map.get(..HEADER)? != header.finish() {
        return None;
    }
    let places = read_places(map.get(layout.documents)?, rows)?;
    let hashes = map.get(layout.hashes)?.as_chunks::<32>().0.to_vec();
    let mapped = Mapped {
        verified: hashes.iter().map(|_| AtomicBool::new(false)).collect(),
        hashes,
        ids: layout.ids,
        values: layout.values,
        map,
    };
    Some(Resident {
        newest: places.last().map(|place| place.ordinal),
        state,
        dimension,
        segments: vec![Arc::new(Segment::mapped(dimension, rows, mapped))],
        places,
    })
}

fn read_places(table: &[u8], rows: usize) -> Option<Vec<Place>> {
    let mut places = Vec::with_capacity(table.len() / 32);
    let mut end = 0;
    for entry in table.as_chunks::<32>().0 {
        let mut fields = Fields(entry);
        let (ordinal, start, count) = (fields.u32()?, fields.u32()?, fields.u32()?);
        fields.take(4)?;
        if start != end {
            return None;
        }
        end = start.checked_add(count)?;
        places.push(Place {
            ordinal,
            digest: fields.array()?,
            segment: 0,
            start,
            rows: count,
        });
    }
    let sorted = places.is_sorted_by(|a, b| a.ordinal < b.ordinal);
    (sorted && end as usize == rows).then_some(places)
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.u64()?).ok()
    }
}

impl Resident {
    /// Compares every block of the file with its hash.
    pub(crate) fn verify(&self) -> Result<(), Damaged> {
        self.segments
            .iter()
            .try_for_each(|segment| segment.values(0..segment.len()).map(drop))
    }
}
