//! Reader of safetensors files that trusts nothing the file says about itself.
//!
//! The layout: a little-endian u64 with the length of a JSON header, the header (for each tensor
//! its type, shape and byte range), then the data. Checked before anything is read: the header is
//! at most 16 MiB; each range is as long as type and shape make it; the ranges follow one another
//! without gap or overlap and end where the file ends. A tensor is read when asked for, so the
//! memory in use is that of one tensor, and never more than the size of the file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use half::{bf16, f16};
use serde::Deserialize;

use super::error::ModelError;
use super::source::Source;

const MAX_HEADER: u64 = 16 << 20;

/// An open safetensors file.
///
/// ```
/// use cornu_embed::bert::SafeTensors;
/// let header = br#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
/// let mut file = (header.len() as u64).to_le_bytes().to_vec();
/// file.extend_from_slice(header);
/// file.extend_from_slice(&1.5f32.to_le_bytes());
/// file.extend_from_slice(&2.5f32.to_le_bytes());
///
/// let mut tensors = SafeTensors::new(std::io::Cursor::new(&file), "example")?;
/// assert_eq!(tensors.shape("w"), Some(&[2][..]));
/// assert_eq!(tensors.read("w")?, [1.5, 2.5]);
///
/// file.pop(); // a file that is cut short is refused at once
/// assert!(SafeTensors::new(std::io::Cursor::new(&file), "example").is_err());
/// # Ok::<(), cornu_embed::bert::ModelError>(())
/// ```
pub struct SafeTensors<R> {
    source: Source<R>,
    tensors: BTreeMap<String, Entry>,
}

struct Entry {
    kind: String,
    shape: Vec<usize>,
    start: u64,
    bytes: u64,
}

#[derive(Deserialize)]
struct RawEntry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

impl SafeTensors<BufReader<File>> {
    /// Opens a file.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`ModelError::Missing`].
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        Self::from_source(Source::open(path, "fetch the model's model.safetensors")?)
    }
}

impl<R: Read + Seek> SafeTensors<R> {
    /// Reads and checks the header; `file` names the source in errors. O(header).
    ///
    /// # Errors
    /// [`ModelError::Malformed`] or [`ModelError::TooLarge`] when the file is not what it says,
    /// [`ModelError::Io`].
    pub fn new(reader: R, file: &str) -> Result<Self, ModelError> {
        Self::from_source(Source::new(reader, file)?)
    }

    fn from_source(mut source: Source<R>) -> Result<Self, ModelError> {
        let length = source.u64()?;
        if length > MAX_HEADER {
            return Err(ModelError::TooLarge {
                file: source.file().to_owned(),
                what: "length of its header".into(),
                value: length,
                limit: MAX_HEADER,
            });
        }
        let header = source.take(length)?;
        let data = source.len() - source.position();
        let tensors = parse_header(&header, source.position(), data)
            .map_err(|what| ModelError::malformed(source.file(), what))?;
        Ok(Self { source, tensors })
    }

    /// The tensors' names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// A tensor's shape.
    #[must_use]
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.tensors.get(name).map(|entry| entry.shape.as_slice())
    }

    /// A tensor's values in row-major order, as f32. F32, F16 and BF16 are read.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] when there is no such tensor, [`ModelError::Unsupported`] for
    /// another type, [`ModelError::Io`].
    pub fn read(&mut self, name: &str) -> Result<Vec<f32>, ModelError> {
        let file = self.source.file().to_owned();
        let entry = self
            .tensors
            .get(name)
            .ok_or_else(|| ModelError::malformed(&file, format!("no tensor {name:?}")))?;
        let decode: fn(&[u8]) -> Vec<f32> = match entry.kind.as_str() {
            "F32" => |bytes| decode(bytes, f32::from_le_bytes),
            "F16" => |bytes| decode(bytes, |pair| f16::from_le_bytes(pair).to_f32()),
            "BF16" => |bytes| decode(bytes, |pair| bf16::from_le_bytes(pair).to_f32()),
            other => {
                return Err(ModelError::Unsupported {
                    file,
                    what: format!("{other} for tensor {name:?}"),
                    remedy: "convert the weights to F32, F16 or BF16".to_owned(),
                });
            }
        };
        self.source.seek(entry.start)?;
        let bytes = self.source.take(entry.bytes)?;
        Ok(decode(&bytes))
    }
}

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    Half,
    #[cfg_attr(
        not(feature = "torch"),
        expect(dead_code, reason = "checkpoints of a training")
    )]
    Single,
}

/// The bytes of a file that holds these tensors, in the order of their names.
pub(crate) fn to_bytes(
    tensors: &BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    precision: Precision,
) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    let mut data: Vec<u8> = Vec::new();
    for (name, (shape, values)) in tensors {
        let start = data.len();
        let kind = match precision {
            Precision::Half => {
                let halves = values.iter().map(|&value| f16::from_f32(value));
                data.extend(halves.flat_map(f16::to_le_bytes));
                "F16"
            }
            Precision::Single => {
                data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                "F32"
            }
        };
        let entry = serde_json::json!({
            "dtype": kind, "shape": shape, "data_offsets": [start, data.len()],
        });
        header.insert(name.clone(), entry);
    }
    let mut header = serde_json::Value::Object(header).to_string();
    // The data begin at a multiple of eight bytes.
    while !header.len().is_multiple_of(8) {
        header.push(' ');
    }
    let length = header.len() as u64;
    [&length.to_le_bytes(), header.as_bytes(), &data].concat()
}

fn decode<const N: usize>(bytes: &[u8], value: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    let (groups, _) = bytes.as_chunks::<N>();
    groups.iter().map(|group| value(*group)).collect()
}

fn parse_header(json: &[u8], base: u64, data: u64) -> Result<BTreeMap<String, Entry>, String> {
    let raw: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(json).map_err(|error| format!("its header: {error}"))?;
    let mut tensors = BTreeMap::new();
    let mut ranges = Vec::new();
    for (name, value) in raw {
        if name == "__metadata__" {
            continue;
        }
        let entry: RawEntry = serde_json::from_value(value)
            .map_err(|error| format!("header entry {name:?}: {error}"))?;
        let [start, end] = entry.data_offsets;
        let bytes = tensor_bytes(&entry)
            .ok_or_else(|| format!("tensor {name:?} has an unknown type or an impossible shape"))?;
        if end.checked_sub(start) != Some(bytes) || end > data {
            return Err(format!(
                "tensor {name:?} of {bytes} bytes claims bytes {start} to {end} of {data}"
            ));
        }
        ranges.push((start, end));
        let shape = entry.shape.iter().map(|&size| usize::try_from(size));
        let shape = shape
            .collect::<Result<_, _>>()
            .map_err(|_| format!("tensor {name:?} is too large for this machine"))?;
        let kind = entry.dtype;
        let start = base + start;
        tensors.insert(
            name,
            Entry {
                kind,
                shape,
                start,
                bytes,
            },
        );
    }
    ranges.sort_unstable();
    let mut expected = 0;
    for (start, end) in ranges {
        if start != expected {
            return Err(format!(
                "its tensors overlap or leave a gap at byte {expected}"
            ));
        }
        expected = end;
    }
    if expected != data {
        return Err(format!("its tensors end at byte {expected} of {data}"));
    }
    Ok(tensors)
}

fn tensor_bytes(entry: &RawEntry) -> Option<u64> {
    let width: u64 = match entry.dtype.as_str() {
        "BOOL" | "U8" | "I8" | "F8_E4M3" | "F8_E5M2" => 1,
        "F16" | "BF16" | "U16" | "I16" => 2,
        "F32" | "U32" | "I32" => 4,
        "F64" | "U64" | "I64" => 8,
        _ => return None,
    };
    entry
        .shape
        .iter()
        .try_fold(width, |bytes, &size| bytes.checked_mul(size))
}
