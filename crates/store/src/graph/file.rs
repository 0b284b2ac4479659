//! The `.hnsw` file.
//!
//! ```text
//! 0     256 bytes        header (below), numbers little endian
//! 256   32 · documents   ordinal u32, first node u32, rows u32, 4 bytes 0, half a digest
//!       24 · rungs       ef u64, recall f64, compared f64
//!       4 · nodes        scales, f32
//!       8 · links · nodes    links of the lowest layer, u32
//!       4 · links · blocks   links of the upper layers, u32
//!       D · nodes        codes, i8
//! ```
//!
//! The header ends with a hash of its fields and of all that follows. What it holds besides can be
//! computed: the layers of a node are a function of its number.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::net::{NONE, entry, upper_places};
use super::{Document, Graph, Net, Rung, Sections, Shape};
use crate::artifact::ArtifactFile;
use crate::error::StoreError;
use crate::map::map;
use crate::resident::{Identity, Resident};
use crate::sqlite::schema::State;

const MAGIC: &[u8; 8] = b"CORNUGRF";
const VERSION: u32 = 1;
const HEADER: usize = 256;
const DOCUMENT: usize = 32;
const RUNG: usize = 24;

/// The documents of a graph over the rows of these vectors.
pub(crate) fn documents_of(resident: &Resident) -> Option<Vec<Document>> {
    let mut start = 0_u32;
    let mut documents = Vec::with_capacity(resident.places().len());
    for place in resident.places() {
        documents.push(Document {
            ordinal: place.ordinal,
            digest: place.digest,
            start,
            rows: place.rows,
        });
        start = start.checked_add(place.rows)?;
    }
    (start < NONE).then_some(documents)
}

/// Writes a graph to a new file and puts it in place of the old one.
pub(crate) fn save(
    artifact: &ArtifactFile,
    identity: Identity,
    state: State,
    documents: &[Document],
    net: Net<'_>,
    ladder: &[Rung],
) -> Result<(), StoreError> {
    if cfg!(target_endian = "big") {
        return Ok(()); // The file is mapped as it is, and holds little-endian numbers.
    }
    let mut tables = Vec::with_capacity(DOCUMENT * documents.len() + RUNG * ladder.len());
    for document in documents {
        tables.extend_from_slice(&document.ordinal.to_le_bytes());
        tables.extend_from_slice(&document.start.to_le_bytes());
        tables.extend_from_slice(&document.rows.to_le_bytes());
        tables.extend_from_slice(&[0; 4]);
        tables.extend_from_slice(&document.digest);
    }
    for rung in ladder {
        tables.extend_from_slice(&(rung.ef as u64).to_le_bytes());
        tables.extend_from_slice(&rung.recall.to_le_bytes());
        tables.extend_from_slice(&rung.compared.to_le_bytes());
    }
    let parts: [&[u8]; 5] = [
        &tables,
        bytemuck::cast_slice(net.scales),
        bytemuck::cast_slice(net.base),
        bytemuck::cast_slice(net.upper),
        bytemuck::cast_slice(net.codes),
    ];
    let fields = fields(
        identity,
        state,
        net.shape,
        documents.len(),
        net.scales.len(),
        ladder.len(),
    );
    let hash = hash(&fields, &parts);
    let write = |out: &mut BufWriter<File>| {
        out.write_all(&fields)?;
        out.write_all(&hash)?;
        parts.iter().try_for_each(|part| out.write_all(part))
    };
    artifact.replace_with(|out| write(out).map_err(|error: io::Error| artifact.failed(error)))
}

fn fields(
    identity: Identity,
    state: State,
    shape: Shape,
    documents: usize,
    nodes: usize,
    rungs: usize,
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    for number in [shape.links, shape.build_ef, documents, nodes, rungs] {
        bytes.extend_from_slice(&(number as u64).to_le_bytes());
    }
    bytes.extend_from_slice(&state.epoch.to_le_bytes());
    bytes.extend_from_slice(&state.id);
    bytes.extend_from_slice(&identity.digest());
    bytes.resize(HEADER - 32, 0);
    bytes
}

fn hash(fields: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = blake3::Hasher::new_derive_key("cornu graph file v1");
    hash.update(fields);
    for part in parts {
        hash.update(part);
    }
    *hash.finalize().as_bytes()
}

/// The graph of a file, or `None` when there is none, it is another store's, of another version, or
/// damaged. Reads and hashes all of it once.
pub(crate) fn load(path: &Path, identity: Identity) -> Option<Graph> {
    if cfg!(target_endian = "big") {
        return None;
    }
    let map = map(&File::open(path).ok()?).ok()?;
    let numbers = map.get(16..64)?.as_chunks::<8>().0.iter();
    let numbers: Vec<u64> = numbers.map(|bytes| u64::from_le_bytes(*bytes)).collect();
    let [links, build_ef, documents, nodes, rungs, epoch] = *numbers.as_slice() else {
        return None;
    };
    let size = |number: u64| usize::try_from(number).ok();
    let shape = Shape {
        dimension: identity.dimension(),
        links: size(links)?,
        build_ef: size(build_ef)?,
    };
    let (documents, nodes, rungs) = (size(documents)?, size(nodes)?, size(rungs)?);
    let id = map.get(64..80)?.try_into().ok()?;
    let state = State { epoch, id };
    let expected = fields(identity, state, shape, documents, nodes, rungs);
    if map.get(..HEADER - 32)? != expected {
        return None;
    }
    let stored: &[u8] = map.get(HEADER - 32..HEADER)?;
    if hash(&expected, &[map.get(HEADER..)?]) != stored {
        return None;
    }
    let mut end = HEADER;
    let mut section = |size: usize, count: usize| {
        let start = end;
        end = start.checked_add(size.checked_mul(count)?)?;
        Some(start..end)
    };
    let of_documents = section(DOCUMENT, documents)?;
    let of_rungs = section(RUNG, rungs)?;
    let upper_at = upper_places(nodes, shape.links);
    let blocks = upper_at.last().copied()? as usize;
    let sections = Sections {
        scales: section(4, nodes)?,
        base: section(8 * shape.links, nodes)?,
        upper: section(4 * shape.links, blocks)?,
        codes: section(shape.dimension, nodes)?,
    };
    if map.len() != end {
        return None;
    }
    Some(Graph {
        state,
        shape,
        documents: read_documents(map.get(of_documents)?, nodes)?,
        ladder: read_ladder(map.get(of_rungs)?)?,
        entry: entry(&upper_at),
        upper_at,
        sections,
        map,
    })
}

fn read_documents(table: &[u8], nodes: usize) -> Option<Vec<Document>> {
    let mut documents = Vec::with_capacity(table.len() / DOCUMENT);
    let mut end = 0_u32;
    for entry in table.as_chunks::<DOCUMENT>().0 {
        let number = |at: usize| {
            let bytes = entry.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(bytes))
        };
        let document = Document {
            ordinal: number(0)?,
            start: number(4)?,
            rows: number(8)?,
            digest: entry.get(16..)?.try_into().ok()?,
        };
        if document.start != end {
            return None;
        }
        end = end.checked_add(document.rows)?;
        documents.push(document);
    }
    let sorted = documents.is_sorted_by(|a, b| a.ordinal < b.ordinal);
    (sorted && end as usize == nodes).then_some(documents)
}

fn read_ladder(table: &[u8]) -> Option<Vec<Rung>> {
    let rung = |bytes: &[u8; RUNG]| {
        let part = |at: usize| bytes.get(at..at + 8)?.try_into().ok();
        Some(Rung {
            ef: usize::try_from(u64::from_le_bytes(part(0)?)).ok()?,
            recall: f64::from_le_bytes(part(8)?),
            compared: f64::from_le_bytes(part(16)?),
        })
    };
    table.as_chunks::<RUNG>().0.iter().map(rung).collect()
}
