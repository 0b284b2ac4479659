//! Reader of the packed 4-bit form of multilingual-e5-small (`E5S1`, one file with shape,
//! tokenizer and weights). The file is read as it is, nothing is unpacked to disk.
//!
//! All numbers are little-endian. A header with the shape; a SentencePiece Unigram vocabulary
//! (offsets, log probabilities, UTF-8 pieces); a normalisation map, one code point to some; a
//! directory of tensors. A 4-bit block is 18 bytes for 32 weights: an f16 scale d and 16 bytes,
//! where byte j holds weight j in its low and weight j + 16 in its high nibble, and a weight is
//! (nibble − 8) · d.
//!
//! Every count, offset and length is checked against the real size of the file before anything is
//! allocated, so that reading allocates at most a small multiple of it.

pub(crate) mod charmap;
mod tokenizer;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use half::f16;

use super::config::{Activation, BertConfig, Family};
use super::error::ModelError;
use super::source::{Source, sha256_of};
use super::tokenizer::BertTokenizer;
use charmap::CharMap;
pub(crate) use tokenizer::PackedTokenizer;

const MAGIC: &[u8; 4] = b"E5S1";
const VERSION: u32 = 1;
const BLOCK_WEIGHTS: u64 = 32;
const BLOCK_BYTES: u64 = 18;

/// An open packed model.
///
/// ```no_run
/// use cornu_embed::bert::PackedModel;
/// let mut model = PackedModel::open("e5-small-q4.bin".as_ref())?;
/// assert_eq!(model.config().hidden, 384);
/// let bias = model.read("l0.q.b")?;
/// # Ok::<(), cornu_embed::bert::ModelError>(())
/// ```
pub struct PackedModel<R> {
    source: Source<R>,
    config: BertConfig,
    pieces: Pieces,
    map: CharMap,
    tensors: BTreeMap<String, Entry>,
}

/// The vocabulary: piece i is `text[i]` with log probability `scores[i]`.
pub(crate) struct Pieces {
    pub(crate) text: Vec<String>,
    pub(crate) scores: Vec<f32>,
    pub(crate) bos: u32,
    pub(crate) eos: u32,
    pub(crate) pad: u32,
    pub(crate) unknown: u32,
}

#[derive(Clone, Copy)]
struct Entry {
    four_bit: bool,
    elements: u64,
    offset: u64,
    bytes: u64,
}

impl PackedModel<BufReader<File>> {
    /// Opens a file.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`ModelError::Missing`].
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        Self::from_source(Source::open(path, "fetch the packed model again")?)
    }
}

impl<R: Read + Seek> PackedModel<R> {
    /// Reads everything but the weights; `file` names the source in errors. O(vocabulary).
    ///
    /// # Errors
    /// [`ModelError::Malformed`] or [`ModelError::TooLarge`] when the file is not what it says,
    /// [`ModelError::Io`].
    pub fn new(reader: R, file: &str) -> Result<Self, ModelError> {
        Self::from_source(Source::new(reader, file)?)
    }

    fn from_source(mut source: Source<R>) -> Result<Self, ModelError> {
        let config = read_config(&mut source)?;
        let pieces = read_pieces(&mut source, &config)?;
        let map = read_map(&mut source)?;
        let tensors = read_directory(&mut source)?;
        Ok(Self {
            source,
            config,
            pieces,
            map,
            tensors,
        })
    }

    /// The encoder's shape.
    #[must_use]
    pub fn config(&self) -> &BertConfig {
        &self.config
    }

    /// The tensors' names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Number of values of a tensor.
    #[must_use]
    pub fn elements(&self, name: &str) -> Option<u64> {
        self.tensors.get(name).map(|entry| entry.elements)
    }

    /// A tensor's values as f32.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] when there is no such tensor, [`ModelError::Io`].
    pub fn read(&mut self, name: &str) -> Result<Vec<f32>, ModelError> {
        let entry = self.entry(name)?;
        self.source.seek(entry.offset)?;
        let bytes = self.source.take(entry.bytes)?;
        Ok(if entry.four_bit {
            let mut values = vec![0.0; bytes.len() / BLOCK_BYTES as usize * BLOCK_WEIGHTS as usize];
            unpack(&bytes, &mut values);
            values
        } else {
            let (words, _) = bytes.as_chunks::<4>();
            words.iter().map(|word| f32::from_le_bytes(*word)).collect()
        })
    }

    /// A 4-bit tensor's blocks as they are; `None` when it is stored as f32.
    #[cfg(feature = "torch")]
    pub(crate) fn blocks(&mut self, name: &str) -> Result<Option<Vec<u8>>, ModelError> {
        let entry = self.entry(name)?;
        if !entry.four_bit {
            return Ok(None);
        }
        self.source.seek(entry.offset)?;
        self.source.take(entry.bytes).map(Some)
    }

    /// Builds the tokenizer in memory. O(vocabulary): 0.3 s for 250,000 pieces.
    ///
    /// # Errors
    /// [`ModelError::Tokenizer`].
    pub fn tokenizer(&self) -> Result<BertTokenizer, ModelError> {
        let file = self.source.file();
        let inner = PackedTokenizer::new(&self.pieces, self.map.clone(), file)?;
        let lengths = self.pieces.text.iter().map(|text| text.chars().count());
        BertTokenizer::packed(
            inner,
            lengths.max().unwrap_or(0),
            file,
            self.vocabulary_sha256(),
        )
    }

    /// sha256 over what the tokenizer is made of.
    fn vocabulary_sha256(&self) -> String {
        let mut bytes = Vec::new();
        let mut part = |text: &str| {
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        };
        for (text, score) in self.pieces.text.iter().zip(&self.pieces.scores) {
            part(text);
            part(&score.to_bits().to_string());
        }
        for (from, to) in self.map.entries() {
            part(&from.to_string());
            part(to);
        }
        let pieces = &self.pieces;
        for id in [pieces.bos, pieces.eos, pieces.pad, pieces.unknown] {
            part(&id.to_string());
        }
        sha256_of(&bytes)
    }

    /// The normalisation map's entries, sorted by code point: for each, what it becomes.
    pub fn normalisation(&self) -> impl Iterator<Item = (char, &str)> {
        self.map.entries()
    }

    fn entry(&self, name: &str) -> Result<Entry, ModelError> {
        self.tensors
            .get(name)
            .copied()
            .ok_or_else(|| ModelError::malformed(self.source.file(), format!("no tensor {name:?}")))
    }
}

/// Bytes of a row of `width` weights; `None` where rows do not end with a block.
#[cfg(feature = "torch")]
pub(crate) fn row_bytes(width: usize) -> Option<usize> {
    width
        .is_multiple_of(BLOCK_WEIGHTS as usize)
        .then(|| width / BLOCK_WEIGHTS as usize * BLOCK_BYTES as usize)
}

/// Dequantises whole blocks; stops where either side ends.
pub(crate) fn unpack(bytes: &[u8], values: &mut [f32]) {
    let (blocks, _) = bytes.as_chunks::<{ BLOCK_BYTES as usize }>();
    let (groups, _) = values.as_chunks_mut::<{ BLOCK_WEIGHTS as usize }>();
    for ([low, high, nibbles @ ..], group) in blocks.iter().zip(groups) {
        let scale = f16::from_le_bytes([*low, *high]).to_f32();
        let (first, second) = group.split_at_mut(nibbles.len());
        for ((byte, first), second) in nibbles.iter().zip(first).zip(second) {
            *first = (f32::from(byte & 15) - 8.0) * scale;
            *second = (f32::from(byte >> 4) - 8.0) * scale;
        }
    }
}

fn read_config<R: Read + Seek>(source: &mut Source<R>) -> Result<BertConfig, ModelError> {
    let magic = source.take(4)?;
    let version = source.u32()?;
    if magic != MAGIC || version != VERSION {
        return Err(ModelError::malformed(
            source.file(),
            format!("it starts with {magic:?}, version {version}; E5S1, version 1 is read"),
        ));
    }
    let mut number = |name: &str, limit: u32| count(source, name, limit);
    let hidden = number("hidden size", 1 << 14)?;
    let layers = number("layers", 1 << 8)?;
    let heads = number("heads", 1 << 8)?;
    let intermediate = number("intermediate size", 1 << 16)?;
    let vocabulary = number("vocabulary", 1 << 22)?;
    let positions = number("positions", 1 << 17)?;
    let types = number("token types", 1 << 8)?;
    let epsilon = f64::from(source.f32()?);
    let block = source.u32()?;
    if u64::from(block) != BLOCK_WEIGHTS {
        return Err(ModelError::malformed(
            source.file(),
            format!("blocks of {block} weights; blocks of {BLOCK_WEIGHTS} are read"),
        ));
    }
    let config = BertConfig {
        hidden,
        layers,
        heads,
        intermediate,
        vocabulary,
        positions,
        first_position: 0,
        types,
        epsilon,
        activation: Activation::Gelu,
        family: Family::Bert,
    };
    config.check(source.file())?;
    Ok(config)
}

fn read_pieces<R: Read + Seek>(
    source: &mut Source<R>,
    config: &BertConfig,
) -> Result<Pieces, ModelError> {
    let pieces = count(source, "pieces", 1 << 22)?;
    let special = [source.u32()?, source.u32()?, source.u32()?, source.u32()?];
    let [bos, eos, pad, unknown] = special;
    let blob_length = source.u64()?;
    let malformed = |file: &str, what: &str| Err(ModelError::malformed(file, what));
    if pieces > config.vocabulary {
        return malformed(
            source.file(),
            "it has more pieces than the vocabulary has ids",
        );
    }
    if special.iter().any(|&id| id as usize >= pieces) {
        return malformed(
            source.file(),
            "a special token's id is not in the vocabulary",
        );
    }
    let offsets = source.take((pieces as u64 + 1) * 4)?;
    let scores = source.take(pieces as u64 * 4)?;
    let blob = source.take(blob_length)?;
    let (offsets, _) = offsets.as_chunks::<4>();
    let offsets: Vec<usize> = offsets
        .iter()
        .map(|offset| u32::from_le_bytes(*offset) as usize)
        .collect();
    let (scores, _) = scores.as_chunks::<4>();
    let scores: Vec<f32> = scores
        .iter()
        .map(|score| f32::from_le_bytes(*score))
        .collect();
    if scores.iter().any(|score| !score.is_finite()) {
        return malformed(source.file(), "a piece's score is not finite");
    }
    // Offsets that only grow keep the pieces' total length within the blob's.
    if !offsets.is_sorted() {
        return malformed(source.file(), "the pieces' offsets are not in order");
    }
    let text = offsets
        .windows(2)
        .map(|pair| match pair {
            [start, end] => std::str::from_utf8(blob.get(*start..*end)?)
                .ok()
                .map(str::to_owned),
            _ => None,
        })
        .collect::<Option<Vec<String>>>();
    let Some(text) = text else {
        return malformed(
            source.file(),
            "a piece is not UTF-8 or lies outside the blob",
        );
    };
    Ok(Pieces {
        text,
        scores,
        bos,
        eos,
        pad,
        unknown,
    })
}

fn read_map<R: Read + Seek>(source: &mut Source<R>) -> Result<CharMap, ModelError> {
    let entries = source.u32()?;
    let bytes = source.u32()?;
    let start = source.position();
    let mut map = Vec::new();
    for _ in 0..entries {
        let from = code_point(source)?;
        let length = source.u8()?;
        let mut to = String::new();
        for _ in 0..length {
            to.push(code_point(source)?);
        }
        map.push((from, to));
    }
    if source.position() - start != u64::from(bytes) {
        return Err(ModelError::malformed(
            source.file(),
            format!("its normalisation map is not {bytes} bytes long"),
        ));
    }
    CharMap::new(map)
        .ok_or_else(|| ModelError::malformed(source.file(), "its normalisation map is not sorted"))
}

fn read_directory<R: Read + Seek>(
    source: &mut Source<R>,
) -> Result<BTreeMap<String, Entry>, ModelError> {
    let entries = source.u32()?;
    let mut tensors = BTreeMap::new();
    for _ in 0..entries {
        let length = source.u16()?;
        let name = String::from_utf8_lossy(&source.take(u64::from(length))?).into_owned();
        let kind = source.u8()?;
        let elements = u64::from(source.u32()?);
        let offset = source.u64()?;
        let bytes = source.u64()?;
        let expected = match kind {
            0 => elements * 4,
            1 if elements.is_multiple_of(BLOCK_WEIGHTS) => elements / BLOCK_WEIGHTS * BLOCK_BYTES,
            _ => {
                return Err(ModelError::malformed(
                    source.file(),
                    format!("tensor {name:?}: {elements} values of type {kind}"),
                ));
            }
        };
        if bytes != expected
            || offset
                .checked_add(bytes)
                .is_none_or(|end| end > source.len())
        {
            return Err(ModelError::malformed(
                source.file(),
                format!("tensor {name:?} claims {bytes} bytes at {offset}, it needs {expected}"),
            ));
        }
        let entry = Entry {
            four_bit: kind == 1,
            elements,
            offset,
            bytes,
        };
        if tensors.insert(name, entry).is_some() {
            return Err(ModelError::malformed(
                source.file(),
                "a tensor is there twice",
            ));
        }
    }
    Ok(tensors)
}

fn count<R: Read + Seek>(
    source: &mut Source<R>,
    name: &str,
    limit: u32,
) -> Result<usize, ModelError> {
    let value = source.u32()?;
    if value == 0 {
        return Err(ModelError::malformed(source.file(), format!("{name}: 0")));
    }
    if value > limit {
        return Err(ModelError::TooLarge {
            file: source.file().to_owned(),
            what: name.to_owned(),
            value: u64::from(value),
            limit: u64::from(limit),
        });
    }
    Ok(value as usize)
}

fn code_point<R: Read + Seek>(source: &mut Source<R>) -> Result<char, ModelError> {
    let value = source.u32()?;
    char::from_u32(value).ok_or_else(|| {
        ModelError::malformed(source.file(), format!("{value:#x} is not a code point"))
    })
}
