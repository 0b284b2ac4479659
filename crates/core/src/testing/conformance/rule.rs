//! What the suites check, one name for each rule.

use std::fmt;

macro_rules! rules {
    ($($(#[$section:meta])* $name:ident: $statement:literal,)*) => {
        /// A rule that an implementation has to keep.
        ///
        /// ```
        /// use cornu_core::testing::conformance::Rule;
        /// assert_eq!(Rule::EmptyAcl.statement(), "an empty ACL admits nobody");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = concat!("In words: ", $statement, ".")] $name,)*
        }

        impl Rule {
            /// All rules, those of models before those of stores.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The rule in words.
            #[must_use]
            pub fn statement(self) -> &'static str {
                match self { $(Self::$name => $statement),* }
            }
        }
    };
}

rules! {
    // All suites
    CasesRun: "the random cases run to their end, without a panic",
    // Models
    Answers: "an ordinary text gets an answer, not an error",
    DimensionStays: "the dimension is at least 1 and does not change",
    FingerprintStays: "the fingerprint does not change with use",
    Shape: "the output has one entry for each input, of the stated dimension",
    Finite: "no number is NaN or infinite",
    UnitNorm: "every vector has L2 norm 1 within 1e-5",
    Order: "entry i of the output belongs to entry i of the input",
    Neighbours: "an entry has the same bits alone, in a batch, and in another order",
    Repeatable: "the same call gives the same bits, however often it is made",
    Concurrent: "calls from several threads at once give the bits of a single call",
    Distinct: "different texts do not all get the same output",
    EmbedIsCounted: "`embed` gives the vectors of `embed_counted`",
    TokenCounts: "there is one token count for each text, with kept at most total",
    Truncation: "a text is cut only where its token counts say so",
    TooLong: "a text that is too long is refused as TooLong, with its position, or cut",
    QueryShape: "a query gives a finite vector of shape (D) and L2 norm 1",
    QueryRepeatable: "a query gives the same bits, however often it is asked and in between",
    QueryWhole: "a scorer cuts the document, never the query",
    TokenSpans: "there is one span for each row, within the text, at character boundaries, and every word has a row",
    // Counters
    EmptyCountsZero: "the empty text has 0 tokens",
    PrefixSlack: "a prefix counts at most `slack` more tokens than the whole",
    FitHolds: "`fit` ends at a character boundary and keeps to the limit",
    FitFull: "what `fit` gives could not be a character longer; the longest where slack is 0",
    // Stores: who sees
    EmptyAcl: "an empty ACL admits nobody",
    GrantsWhole: "grants are compared whole, byte for byte, after NFC",
    Documents: "`documents` lists what the view holds, in order of name",
    EmptyView: "an empty view gives empty answers, not errors",
    ViewDigest: "a view's digest follows what is seen, and nothing else",
    HiddenChunk: "`chunk` gives None for a chunk that the view does not hold",
    HiddenHit: "`knn` gives only indexed chunks that the view holds",
    NonInterference: "every answer is that of a store that never held the hidden documents",
    Snapshot: "under an outdated view, the old answers or an error",
    // Stores: nearest neighbours
    Complete: "`knn` gives min(k, indexed chunks seen) entries, for any k",
    Scores: "scores are cosine similarities within 1e-5, whatever the length of the query",
    Nearest: "no chunk that is left out, or placed lower, is nearer by more than 2e-5",
    Ties: "chunks of equal vectors have equal scores and come in order of id, also at the cut",
    Prefix: "a smaller k gives a prefix of a larger one",
    FreshBuild: "answers follow the facts held, not the order in which they came",
    BadQuery: "a query of another dimension, zero or not finite is an error",
    // Stores: writing
    Accepts: "consistent facts are written, and read back, without an error",
    Changes: "`upsert` and `remove` say what they did",
    ReplacesAll: "an upsert leaves nothing of the facts before it",
    Removes: "a removal leaves nothing of the document, and nothing less of others",
    RefusesNotFinite: "a vector that is NaN or infinite is refused",
    RefusesNotUnit: "a vector whose norm is not 1 is refused",
    RefusesDimension: "a vector of another dimension is refused",
    RefusesRowCount: "a row count other than that of the indexed chunks is refused",
    RefusesChunks: "a chunk of another document, or an id that comes twice, is refused",
    NothingWritten: "an upsert that is refused changes nothing",
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?} ({})", self.statement())
    }
}
