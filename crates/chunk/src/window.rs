//! How large chunks are, and how far they overlap.

/// A size and an overlap in tokens that can work: the size is at least 1, the overlap smaller.
///
/// It cannot be made otherwise, so a chunker never has to doubt its settings.
///
/// ```
/// use cornu_chunk::Window;
///
/// let window = Window::new(256, 38)?;
/// assert_eq!((window.size(), window.overlap()), (256, 38));
/// assert_eq!(Window::with_ratio(256, 0.15)?, window);
///
/// let error = Window::new(256, 256).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "an overlap of 256 tokens does not fit a chunk of 256; give an overlap below the size",
/// );
/// assert!(Window::new(0, 0).is_err() && Window::new(-1, 0).is_err());
/// assert!(Window::new(100, -5).is_err());
/// # Ok::<(), cornu_chunk::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window {
    size: usize,
    overlap: usize,
}

impl Window {
    /// A window of `size` tokens that shares at most `overlap` with the one before it. The numbers
    /// are signed because they come from configuration files and command lines, where a negative
    /// one must be named, not wrapped.
    ///
    /// # Errors
    /// [`ConfigError`] unless `size >= 1` and `0 <= overlap < size`.
    pub fn new(size: i64, overlap: i64) -> Result<Self, ConfigError> {
        let positive = usize::try_from(size).ok().filter(|&size| size > 0);
        let Some(tokens) = positive else {
            return Err(ConfigError::Size { size, overlap });
        };
        match usize::try_from(overlap) {
            Err(_) => Err(ConfigError::NegativeOverlap { size, overlap }),
            Ok(shared) if shared >= tokens => Err(ConfigError::Overlap { size, overlap }),
            Ok(overlap) => Ok(Self {
                size: tokens,
                overlap,
            }),
        }
    }

    /// A window whose overlap is a share of its size, rounded down.
    ///
    /// # Errors
    /// [`ConfigError`] unless `size >= 1` and `0 <= ratio < 1`.
    pub fn with_ratio(size: i64, ratio: f64) -> Result<Self, ConfigError> {
        if !(0.0..1.0).contains(&ratio) {
            return Err(ConfigError::Ratio { size, ratio });
        }
        Self::new(size, (size.max(0) as f64 * ratio) as i64)
    }

    /// For defaults: the caller has looked at the numbers.
    pub(crate) const fn fixed(size: usize, overlap: usize) -> Self {
        assert!(overlap < size, "an overlap below the size");
        Self { size, overlap }
    }

    /// The most tokens a chunk may have; at least 1.
    #[must_use]
    pub fn size(self) -> usize {
        self.size
    }

    /// The most tokens that a chunk repeats of the one before it; below the size.
    #[must_use]
    pub fn overlap(self) -> usize {
        self.overlap
    }
}

/// Why settings cannot work.
///
/// See [`Window`] for an example.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No chunk could hold anything.
    #[error(
        "a chunk of {size} tokens (overlap {overlap}) holds nothing; give a size of at least 1"
    )]
    Size {
        /// The size asked for.
        size: i64,
        /// The overlap asked for.
        overlap: i64,
    },
    /// Text between two chunks would be lost.
    #[error("an overlap of {overlap} tokens (size {size}) would skip text; give 0 or more")]
    NegativeOverlap {
        /// The size asked for.
        size: i64,
        /// The overlap asked for.
        overlap: i64,
    },
    /// No chunk could get further than the one before it.
    #[error(
        "an overlap of {overlap} tokens does not fit a chunk of {size}; give an overlap below the \
         size"
    )]
    Overlap {
        /// The size asked for.
        size: i64,
        /// The overlap asked for.
        overlap: i64,
    },
    /// Not a share.
    #[error("an overlap of {ratio} times the size {size} is no share; give a ratio in [0, 1)")]
    Ratio {
        /// The size asked for.
        size: i64,
        /// The ratio asked for.
        ratio: f64,
    },
    /// Children that no parent could hold.
    #[error(
        "children of {child} tokens do not fit parents of {parent}; give parents at least the size \
         of their children"
    )]
    ChildAboveParent {
        /// The children's size.
        child: usize,
        /// The parents' size.
        parent: usize,
    },
}
