//! The teaching baseline: signed hashing of the words of a text.

use cornu_core::{EmbeddingProvider, Embeddings, Fingerprint, ProviderError, TextTokens};
use ndarray::{Array1, Array2, ArrayViewMut1};

/// Texts to vectors by counting hashed words, without a model: what shares no word shares no
/// direction. It shows what an index does, and what it costs when meaning is out of reach
/// (大模型 and LLM have nothing in common here). It is not meant for use.
///
/// # Definition
///
/// Another language can reproduce the vectors bit for bit; `tests/data/hash_reference.py` does.
///
/// 1. **Characters.** The text's code points, as they stand: no normalisation of any kind. `A` to
///    `Z` become `a` to `z`; no other letter changes its case. By number, and not by the Unicode
///    tables, which differ between versions, a code point is
///    - *ideographic*: 3040–30FF (kana), 3400–4DBF, 4E00–9FFF, F900–FAFF, 20000–3FFFF;
///    - *a separator*: below 80, all but digits, letters and `_`; and 80–BF, D7, F7, 2000–2BFF,
///      2E00–2E7F, 3000–303F, D800–F8FF, FE00–FE6F, FF00–FF0F, FF1A–FF20, FF3B–FF40, FF5B–FF65,
///      FFE0–FFFF, 1F000–1FAFF, E0000 and above (punctuation, symbols, emoji, private use);
///    - *of a word*: every other.
/// 2. **Tokens.** A longest run of code points of a word is one token. In a longest run of
///    ideographic ones each is a token, and so is each pair of neighbours. A text without tokens
///    has the one token that is empty.
/// 3. **Hash.** FNV-1a of 64 bits over the token's UTF-8 (start `cbf29ce484222325`, prime
///    `100000001b3`), then the finaliser of MurmurHash3 (`h ^= h >> 33`, `h *= ff51afd7ed558ccd`,
///    `h ^= h >> 33`, `h *= c4ceb9fe1a85ec53`, `h ^= h >> 33`, all modulo 2^64): FNV alone leaves
///    the high bits of short tokens alike.
/// 4. **Sum.** Each token, as often as it occurs, adds 1 at place `h mod D`, or −1 when the highest
///    bit of `h` is set. Should every place come to 0, the vector is that of the empty token alone.
/// 5. **Norm.** Each place is divided by the square root of the sum of squares, both in 64-bit
///    IEEE arithmetic (the sum is a whole number, so its order does not matter), and rounded to 32
///    bits.
///
/// Queries and documents are treated alike. Nothing is cut, whatever the length.
///
/// The course that this project follows had a function of this kind in an earlier chapter
/// (`hashed_embedding`). It is not available to us, and these vectors are not claimed to be equal
/// to its.
///
/// # Cost
///
/// O(bytes + D) time a text, on one thread; D · 8 bytes beside the result.
///
/// ```
/// use cornu_core::EmbeddingProvider;
/// use cornu_embed::HashEmbeddingProvider;
///
/// let provider = HashEmbeddingProvider::default();
/// let vectors = provider.embed(&["清空梯度", "梯度怎么清空"])?;
/// assert_eq!(vectors.dim(), (2, 512));
/// assert!(vectors.row(0).dot(&provider.embed_query("梯度")?) > 0.3);
/// # Ok::<(), cornu_core::ProviderError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HashEmbeddingProvider {
    dimension: usize,
    fingerprint: Fingerprint,
}

impl HashEmbeddingProvider {
    /// The dimension of [`default`](Self::default).
    pub const DEFAULT_DIMENSION: usize = 512;
    /// The least dimension.
    pub const MIN_DIMENSION: usize = 8;

    /// A provider of vectors of this length.
    ///
    /// # Errors
    /// [`ProviderError::Unavailable`] below [`MIN_DIMENSION`](Self::MIN_DIMENSION): everything
    /// would collide.
    pub fn new(dimension: usize) -> Result<Self, ProviderError> {
        if dimension < Self::MIN_DIMENSION {
            return Err(ProviderError::Unavailable {
                provider: "the hash provider".to_owned(),
                reason: format!("{dimension} dimensions are too few to tell words apart"),
                remedy: format!("ask for {} or more", Self::MIN_DIMENSION),
            });
        }
        Ok(Self::of(dimension))
    }

    fn of(dimension: usize) -> Self {
        let fingerprint = Fingerprint::new("hash")
            .with(
                "definition",
                "signed fnv1a-murmur3, words and ideographs, v1",
            )
            .with("dimension", dimension);
        Self {
            dimension,
            fingerprint,
        }
    }

    /// Fills a row with the sums of a text; gives the number of its tokens.
    fn fill(&self, text: &str, mut row: ArrayViewMut1<'_, f32>) -> usize {
        let mut sums = vec![0_i64; self.dimension];
        let mut add = |token: &str| {
            let hash = token_hash(token);
            let place = (hash % self.dimension as u64) as usize;
            if let Some(sum) = sums.get_mut(place) {
                *sum += if hash >> 63 == 0 { 1 } else { -1 };
            }
        };
        let count = for_each_token(text, &mut add);
        if count == 0 {
            add("");
        }
        if sums.iter().all(|&sum| sum == 0) {
            let hash = token_hash("");
            if let Some(sum) = sums.get_mut((hash % self.dimension as u64) as usize) {
                *sum = if hash >> 63 == 0 { 1 } else { -1 };
            }
        }
        let squares: f64 = sums.iter().map(|&sum| (sum as f64) * (sum as f64)).sum();
        let norm = squares.sqrt();
        for (out, &sum) in row.iter_mut().zip(&sums) {
            *out = (sum as f64 / norm) as f32;
        }
        count
    }
}

impl Default for HashEmbeddingProvider {
    /// 512 dimensions.
    fn default() -> Self {
        Self::of(Self::DEFAULT_DIMENSION)
    }
}

impl EmbeddingProvider for HashEmbeddingProvider {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        let mut vectors = Array2::zeros((texts.len(), self.dimension));
        let rows = vectors.rows_mut().into_iter().zip(texts);
        let tokens = rows
            .map(|(row, text)| TextTokens::whole(self.fill(text, row)))
            .collect();
        Ok(Embeddings { vectors, tokens })
    }

    fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
        let mut vector = Array1::zeros(self.dimension);
        self.fill(text, vector.view_mut());
        Ok(vector)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Separator,
    Word,
    Ideographic,
}

fn class_of(c: char) -> Class {
    match u32::from(c) {
        0x30..=0x39 | 0x41..=0x5A | 0x61..=0x7A | 0x5F => Class::Word,
        0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF => Class::Ideographic,
        0x2_0000..=0x3_FFFF => Class::Ideographic,
        0..=0xBF | 0xD7 | 0xF7 | 0x2000..=0x2BFF | 0x2E00..=0x2E7F | 0x3000..=0x303F => {
            Class::Separator
        }
        0xD800..=0xF8FF | 0xFE00..=0xFE6F | 0xFF00..=0xFF0F | 0xFF1A..=0xFF20 => Class::Separator,
        0xFF3B..=0xFF40 | 0xFF5B..=0xFF65 | 0xFFE0..=0xFFFF => Class::Separator,
        0x1_F000..=0x1_FAFF | 0xE_0000.. => Class::Separator,
        _ => Class::Word,
    }
}

/// Calls back with every token; gives their number.
fn for_each_token(text: &str, token: &mut impl FnMut(&str)) -> usize {
    let mut count = 0;
    let mut emit = |text: &str| {
        token(text);
        count += 1;
    };
    let mut word = String::new();
    let mut pair = String::new(); // the ideograph before, if any, and then this one
    for c in text.chars() {
        let class = class_of(c);
        if class == Class::Word {
            word.push(c.to_ascii_lowercase());
        } else if !word.is_empty() {
            emit(&word);
            word.clear();
        }
        if class != Class::Ideographic {
            pair.clear();
            continue;
        }
        let before = pair.len();
        pair.push(c);
        if before > 0 {
            emit(&pair);
            pair.drain(..before);
        }
        emit(&pair);
    }
    if !word.is_empty() {
        emit(&word);
    }
    count
}

fn token_hash(token: &str) -> u64 {
    let fnv = token.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let h = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let h = (h ^ (h >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^ (h >> 33)
}
