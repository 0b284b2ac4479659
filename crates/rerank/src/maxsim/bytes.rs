//! Token vectors as bytes of a store: version, precision, dimension, number of tokens, then the
//! values, all little-endian.

use half::f16;

use super::tokens::{Precision, TokenMatrix, Values, is_usable};
use crate::error::TokensError;

/// Of this layout.
const VERSION: u8 = 1;

const HEADER: usize = 8;

impl TokenMatrix {
    /// As bytes: a header of 8, then [`Precision::bytes`]. The same on every machine.
    ///
    /// | bytes | what |
    /// |---|---|
    /// | 1 | version, 1 |
    /// | 1 | precision: 0 f32, 1 f16, 2 int8 |
    /// | 2 | dimension |
    /// | 4 | tokens |
    /// | int8: 4 a token | scales |
    /// | rest | components, token after token |
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let values = self.precision().bytes(self.len(), self.dimension);
        let mut bytes = Vec::with_capacity(HEADER + values);
        bytes.extend([VERSION, self.precision() as u8]);
        // Both were checked when the matrix was made.
        bytes.extend((self.dimension as u16).to_le_bytes());
        bytes.extend((self.len() as u32).to_le_bytes());
        match &self.values {
            Values::F32(values) => bytes.extend(values.iter().flat_map(|x| x.to_le_bytes())),
            Values::F16(values) => bytes.extend(values.iter().flat_map(|x| x.to_le_bytes())),
            Values::Int8 { codes, scales } => {
                bytes.extend(scales.iter().flat_map(|x| x.to_le_bytes()));
                bytes.extend(codes.iter().map(|code| code.cast_unsigned()));
            }
        }
        bytes
    }

    /// From [`to_bytes`](Self::to_bytes). O(bytes).
    ///
    /// # Errors
    /// [`TokensError::Bytes`] for anything else: another version, another length than the header
    /// says, a number that is not finite.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TokensError> {
        let problem = |problem| Err(TokensError::Bytes { problem });
        let Some((&[version, precision, d0, d1, t0, t1, t2, t3], body)) = bytes.split_first_chunk()
        else {
            return problem("they are shorter than their header");
        };
        if version != VERSION {
            return problem("they are of another version");
        }
        let precision = match precision {
            0 => Precision::F32,
            1 => Precision::F16,
            2 => Precision::Int8,
            _ => return problem("their precision is unknown"),
        };
        let dimension = usize::from(u16::from_le_bytes([d0, d1]));
        let tokens = u32::from_le_bytes([t0, t1, t2, t3]) as usize;
        if dimension == 0 && tokens > 0 {
            return problem("their vectors have no dimension");
        }
        // In 64 bits: 65535 dimensions and 2³² − 1 tokens do not overflow it.
        let width = precision.bytes(1, dimension) as u64;
        if width.checked_mul(tokens as u64) != Some(body.len() as u64) {
            return problem("their length is not the one that their header says");
        }
        let values = match precision {
            Precision::F32 => Values::F32(floats(body)),
            Precision::F16 => {
                let (halves, _) = body.as_chunks();
                Values::F16(
                    halves
                        .iter()
                        .map(|&half| f16::from_le_bytes(half))
                        .collect(),
                )
            }
            Precision::Int8 => {
                let (scales, codes) = body.split_at(4 * tokens);
                Values::Int8 {
                    scales: floats(scales),
                    codes: codes.iter().map(|code| code.cast_signed()).collect(),
                }
            }
        };
        let usable = match &values {
            Values::F32(values) => values.iter().all(|&x| is_usable(x)),
            Values::F16(values) => values.iter().all(|x| x.is_finite()),
            // As they are made: the largest code is 127, of a component that was taken.
            Values::Int8 { scales, codes } => {
                scales
                    .iter()
                    .all(|&scale| is_usable(scale * 127.0 * (1.0 - f32::EPSILON)))
                    && !codes.contains(&i8::MIN)
            }
        };
        match usable {
            true => Ok(Self { dimension, values }),
            false => problem("a number is not finite"),
        }
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (floats, _) = bytes.as_chunks();
    floats
        .iter()
        .map(|&float| f32::from_le_bytes(float))
        .collect()
}
