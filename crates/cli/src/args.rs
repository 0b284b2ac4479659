//! The command line.

mod examples;
pub(crate) mod parsers;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, Styles};
use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use cornu::store::Access;
use cornu::{Disclosure, Preset};

use crate::chat::ChatArgs;

/// Index files, ask as somebody, get cited evidence or a refusal
///
/// Every document names the grants that may see it, and every question is asked with the grants of
/// the asker. What they may not see has no influence on what they get.
#[derive(Debug, Parser)]
#[command(
    name = "cornu",
    version,
    color = ColorChoice::Never,
    styles = Styles::plain(),
    after_help = examples::CORNU
)]
pub(crate) struct Cli {
    /// No notes and no progress on standard error; errors are still told
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// A TOML file with values for flags: `db = "notes.db"`, `group = ["hr"]`, `prune = true`
    /// [default: cornu.toml in the current folder, if it is there]
    ///
    /// Keys are the long flags of all commands. A flag wins over the environment (CORNU_DB,
    /// CORNU_ACL_MAP, … lists parted by commas), that over the file. Paths count from the folder of
    /// the file. `cornu config` shows what is in force, and where it is from.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Index(IndexArgs),
    Search(SearchArgs),
    Ask(AskArgs),
    Explain(ExplainArgs),
    Calibrate(CalibrateArgs),
    Eval(EvalArgs),
    Remove(RemoveArgs),
    /// For the owner: check everything that has to hold in an index (exit code 1 when something does
    /// not)
    #[command(after_help = examples::DOCTOR)]
    Doctor(OwnerArgs),
    /// For the owner: counts and sizes; they tell about all documents, hidden ones too
    #[command(after_help = examples::STATS)]
    Stats(OwnerArgs),
    RebuildIndex(RebuildArgs),
    Config(ConfigArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Write files and folders of Markdown, HTML and plain text into an index
///
/// A file that cannot be read, or is not UTF-8, is reported and does not stop the others; the exit
/// code is 1 then, and 2 when none of the paths is there. Folders are searched for .md, .markdown,
/// .txt, .html and .htm; names that begin with a dot are passed over and symbolic links inside
/// folders are not followed. A file that is named itself is read whatever its ending. Where there is
/// nothing to index, no index is made.
///
/// A document that has not changed costs its hash. One whose file has gone stays until `cornu
/// remove`, or a run with --prune.
#[derive(Debug, Args)]
#[command(after_help = examples::INDEX)]
pub(crate) struct IndexArgs {
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) database: Database,
    /// A grant that may see the documents, `public` for everybody who holds that grant; repeat it
    /// for more. There is no default: nothing is public unless it says so
    #[arg(long, value_name = "GRANT", value_parser = parsers::grant)]
    pub(crate) acl: Vec<String>,
    /// A TOML file of path prefixes and their grants: `"handbook/pay" = ["hr"]`
    ///
    /// A prefix is a document, or a folder of the document's name, in whole names (`hr` is not a
    /// prefix of `hr-news/a.md`); `""` is one of every document. The longest one counts, alone.
    /// `[]` lets nobody see the document. Documents without a prefix get the grants of --acl, and
    /// fail where that is not given.
    #[arg(long, value_name = "FILE")]
    pub(crate) acl_map: Option<PathBuf>,
    /// The folder that documents are named from; all paths have to lie in it [default: the current
    /// folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) root: Option<PathBuf>,
    /// Also remove the documents of these paths whose files have vanished
    ///
    /// Only those that were indexed from the same --root; documents of other folders stay, and
    /// those of a path that is not there or cannot be read. Those that a version without --prune
    /// indexed are known again once their files have been indexed by this one.
    #[arg(long)]
    pub(crate) prune: bool,
    /// Say what --prune would remove, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Go on until Ctrl-C: index files anew when they change, and remove documents whose files
    /// vanish
    ///
    /// A file that cannot be read is reported and does not end it. What vanished before the start
    /// is removed with --prune only. With --json each change gives one JSON document on a line.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) watch: bool,
    /// Also store the token vectors of this model (a folder, a preset, or the carried projection
    /// e5-zh-en-tokens), so that `--rerank maxsim` reads them instead of computing them at each
    /// question
    ///
    /// One vector a token, in 16 bits: at 384 dimensions about 140 KB for a chunk of 180 tokens, at
    /// the 128 of e5-zh-en-tokens a third of it; name it with --rerank-tokens when asking then.
    /// Chunks that are in the index already get theirs as well.
    #[arg(long, value_name = "MODEL", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tokens: Option<String>,
    /// Also store the names and statements of the texts, so that `--route hop` can walk over them
    ///
    /// `rules` reads English and Chinese without a model. Chunks that are in the index already are
    /// read as well. What is written without it has none: give it at each run.
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub(crate) extract: Extract,
    #[command(flatten)]
    pub(crate) searching: SearchingArgs,
    #[command(flatten)]
    pub(crate) chunker: ChunkerArgs,
    #[command(flatten)]
    pub(crate) embedder: EmbedderArgs,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// How documents are cut. An index keeps it, so no other command has these flags.
#[derive(Debug, Args)]
pub(crate) struct ChunkerArgs {
    /// How tables are indexed [default: as the index was built; rows for a new one]
    ///
    /// `rows`: each row by itself, with the names of its columns; `ask` then answers questions about
    /// numbers from the cells. `columns`: that, and each column of a table of six or more columns by
    /// itself. `text`: as all other text.
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) tables: Option<TablesArg>,
    /// What each chunk is indexed behind, besides its headings; it is matched, and never shown
    /// [default: as the index was built; off for a new one]
    ///
    /// `title`: the document's title (of the front matter, the headings, or the file's name).
    /// `summary`: that, and the document's one or two most central sentences.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) context: Option<ContextArg>,
}

/// How the vectors are searched. An index keeps it, so no other command has these flags.
#[derive(Debug, Args)]
pub(crate) struct SearchingArgs {
    /// What the vectors are compared in, from now on [default: as before; f32 for a new index]
    ///
    /// What is found is scored again in f32, whichever it is. Codes are made in memory by each process
    /// at its first search, so `int8` and `bits` are for those that ask many questions of many
    /// chunks, such as `eval`; a single `search` is faster without.
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) scan: Option<ScanArg>,
    /// Whether a graph is walked instead, where the asker sees a fifth of all chunks or more, and more
    /// than 2,048 of them [default: as before; off for a new index]
    ///
    /// With `hnsw` an asker is never given what they may not see, and scores are exact; but hidden
    /// chunks have a part in which visible ones are found, so what an asker gets is no longer
    /// independent of what they do not see. It is used only where it was measured to find 95 % of
    /// the best ten on the index itself; `explain` tells.
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) approximate: Option<ApproximateArg>,
}

/// What the vectors are compared in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScanArg {
    /// As they are: exact
    F32,
    /// In 8 bits with a bound on what they lose: exact
    Int8,
    /// In one bit a component: approximate, from 2,049 visible chunks on
    Bits,
}

/// Whether a graph is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApproximateArg {
    /// All visible vectors are compared
    Off,
    /// A hierarchical navigable small world graph over all chunks
    Hnsw,
}

/// How tables are indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TablesArg {
    /// Row by row
    #[default]
    Rows,
    /// Row by row, and wide tables column by column, too
    Columns,
    /// As text
    Text,
}

/// What stands in front of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContextArg {
    /// Nothing
    #[default]
    Off,
    /// The document's title
    Title,
    /// Title and summary
    Summary,
}

/// Find the chunks that fit a query
#[derive(Debug, Args)]
#[command(after_help = examples::SEARCH)]
pub(crate) struct SearchArgs {
    /// What to look for
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) index: Reading,
    #[command(flatten)]
    pub(crate) asker: Asker,
    /// How to search
    #[arg(long, value_enum, default_value_t = Route::Hybrid)]
    pub(crate) route: Route,
    /// How many chunks, at most
    #[arg(
        short,
        long = "top-k",
        value_name = "K",
        default_value = "10",
        value_parser = parsers::count,
        allow_negative_numbers = true
    )]
    pub(crate) k: NonZeroUsize,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Answer a question with cited sentences of the sources, or refuse
///
/// An answer holds no word that is not in a source. It is a refusal (exit code 3) when nothing is
/// similar enough, or what is similar does not name what the question names.
///
/// A question about numbers of which a table holds the row and the column (the value, the largest,
/// the smallest, sum, mean, count, difference, above or below a bound) is also answered from the
/// table's cells, each cited by line, row and column; no threshold applies to these.
///
/// With --chat-endpoint a model writes the answer from what was found, and every sentence of it is
/// checked against the sources that it cites; what they do not hold is left out. What would be
/// refused is refused before the model is asked.
#[derive(Debug, Args)]
#[command(after_help = examples::ASK)]
pub(crate) struct AskArgs {
    /// The question
    pub(crate) question: String,
    #[command(flatten)]
    pub(crate) index: Reading,
    #[command(flatten)]
    pub(crate) asker: Asker,
    /// The least cosine similarity with which there is an answer: a number, or a file of
    /// `calibrate` [default for the hash embedder: 0.2]
    #[arg(long, value_name = "NUMBER|FILE", allow_negative_numbers = true)]
    pub(crate) threshold: Option<String>,
    /// Also give the runs of neighbouring chunks that belong to the answer, whole
    ///
    /// `balanced` bridges small gaps, `precision` keeps to what is surely relevant, `find-all` goes
    /// for all there is. What counts as relevant is what the threshold says.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) segments: SegmentsArg,
    /// Where the evidence comes from; it is judged by its similarity either way
    #[arg(long, value_enum, default_value_t)]
    pub(crate) route: AskRoute,
    #[command(flatten)]
    pub(crate) chat: ChatArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// What reads names and statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Extract {
    /// Nothing
    #[default]
    Off,
    /// Rules, without a model
    Rules,
}

/// Where the evidence of an answer comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AskRoute {
    /// From the vectors
    Dense,
    /// From the vectors and the words
    #[default]
    Hybrid,
    /// From a walk over names and statements; needs `index --extract`
    Hop,
    /// From the vectors and the words, or from the walk where these look as if the question needed
    /// one; `explain` tells why
    Auto,
}

/// The runs of chunks beside an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SegmentsArg {
    #[default]
    Off,
    Balanced,
    Precision,
    FindAll,
}

impl SegmentsArg {
    pub(crate) fn preset(self) -> Option<Preset> {
        match self {
            Self::Off => None,
            Self::Balanced => Some(Preset::Balanced),
            Self::Precision => Some(Preset::Precision),
            Self::FindAll => Some(Preset::FindAll),
        }
    }
}

/// Show why a question finds what it finds
///
/// Each chunk's rank and score in each route, its share of the fused score, and the words that were
/// counted for it. With --threshold: how `ask` came to its answer or refusal.
#[derive(Debug, Args)]
#[command(after_help = examples::EXPLAIN)]
pub(crate) struct ExplainArgs {
    /// The question
    pub(crate) question: String,
    #[command(flatten)]
    pub(crate) index: Reading,
    #[command(flatten)]
    pub(crate) asker: Asker,
    /// Explain the answer that `ask` gives with this threshold: a number, or a file of `calibrate`
    #[arg(long, value_name = "NUMBER|FILE", allow_negative_numbers = true)]
    pub(crate) threshold: Option<String>,
    /// How many chunks, at most
    #[arg(
        short,
        long = "top-k",
        value_name = "K",
        default_value = "10",
        value_parser = parsers::count,
        allow_negative_numbers = true,
        conflicts_with = "threshold"
    )]
    pub(crate) k: NonZeroUsize,
    /// Also show the value of each result and the runs that `ask --segments` gives
    #[arg(long, value_enum, default_value_t)]
    pub(crate) segments: SegmentsArg,
    /// Which search is explained
    ///
    /// `hop` shows the seeds of the walk, and for each chunk the shares of its score with the most
    /// probable path of each; `auto` shows what it decided and why.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) route: AskRoute,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// For the owner: fit the threshold of `ask` on questions with and without an answer
///
/// The threshold depends on what the given grants see: hand it only to askers who may see that.
#[derive(Debug, Args)]
#[command(after_help = examples::CALIBRATE)]
pub(crate) struct CalibrateArgs {
    #[command(flatten)]
    pub(crate) index: Reading,
    #[command(flatten)]
    pub(crate) asker: Asker,
    /// One question a line, as JSON: {"id", "type", "split", "lang", "question", "answer",
    /// "evidence", "near_miss"}; one without evidence has no answer
    #[arg(long, value_name = "FILE")]
    pub(crate) questions: PathBuf,
    /// Only the questions of this split
    #[arg(long, value_parser = ["dev", "test"])]
    pub(crate) split: Option<String>,
    /// The part of questions without an answer that may be answered all the same [default: 0.1]
    #[arg(long, value_name = "RATE", value_parser = parsers::rate, allow_negative_numbers = true, conflicts_with = "false_refusals")]
    pub(crate) false_answers: Option<f64>,
    /// The part of questions with an answer that may be refused
    #[arg(long, value_name = "RATE", value_parser = parsers::rate, allow_negative_numbers = true)]
    pub(crate) false_refusals: Option<f64>,
    /// Where the threshold is written, for `ask --threshold`
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// For the owner: measure the routes on questions of your own
///
/// Recall at each -k, nDCG@10 and the reciprocal rank of the first find (mrr), each with a 95 %
/// interval, routes side by side; how often `ask` answers what has no answer and refuses what has
/// one. With --questions a find is a phrase in a chunk's text, and nDCG@10 is that of the documents;
/// with --beir a find is a document. Everything is asked as the given grants: what they do not see
/// counts as not found.
#[derive(Debug, Args)]
#[command(after_help = examples::EVAL)]
pub(crate) struct EvalArgs {
    #[command(flatten)]
    pub(crate) index: Reading,
    #[command(flatten)]
    pub(crate) asker: Asker,
    /// One question a line, as JSON, as for `calibrate`
    #[arg(long, value_name = "FILE", conflicts_with = "beir")]
    pub(crate) questions: Option<PathBuf>,
    /// A folder in the layout of BEIR: `queries.jsonl`, and judgments in `qrels/SPLIT.tsv` or
    /// `qrels.tsv` that name documents as citations do, or without their endings
    #[arg(long, value_name = "FOLDER")]
    pub(crate) beir: Option<PathBuf>,
    /// The judgments of --beir, where they are elsewhere
    #[arg(long, value_name = "FILE", conflicts_with = "questions")]
    pub(crate) qrels: Option<PathBuf>,
    /// Only the questions of this split [default: all; for --beir test]
    #[arg(long, value_parser = ["dev", "test", "train"])]
    pub(crate) split: Option<String>,
    /// The routes to measure
    #[arg(
        long,
        value_enum,
        value_name = "ROUTE",
        value_delimiter = ',',
        default_value = "dense,sparse,hybrid"
    )]
    pub(crate) routes: Vec<Route>,
    /// Where recall is cut, in chunks or documents; at most 100
    #[arg(
        short,
        long = "recall-at",
        value_name = "K",
        value_delimiter = ',',
        default_value = "1,5,10",
        value_parser = parsers::count,
        allow_negative_numbers = true
    )]
    pub(crate) k: Vec<NonZeroUsize>,
    /// Compare two routes question by question, such as hybrid,sparse: the mean difference, its
    /// interval, and the p of a paired randomisation test, also corrected for all comparisons of
    /// the run (Holm); repeat it for more
    #[arg(long, value_enum, value_name = "A,B", value_delimiter = ',')]
    pub(crate) compare: Vec<Route>,
    /// The threshold of the answers: a number, or a file of `calibrate` [default for the hash
    /// embedder: 0.2]
    #[arg(long, value_name = "NUMBER|FILE", allow_negative_numbers = true)]
    pub(crate) threshold: Option<String>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// For the owner: take documents out of an index, with all that is derived from them
///
/// Exit code 3 when none of them was there, 1 when some were not.
#[derive(Debug, Args)]
#[command(after_help = examples::REMOVE)]
pub(crate) struct RemoveArgs {
    /// Names of documents, as citations show them
    #[arg(required = true, value_name = "DOC")]
    pub(crate) documents: Vec<String>,
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// An index as a whole.
#[derive(Debug, Args)]
pub(crate) struct OwnerArgs {
    #[command(flatten)]
    pub(crate) index: Reading,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// For the owner: throw away what is derived from the documents' facts, and derive it again
#[derive(Debug, Args)]
#[command(after_help = examples::REBUILD)]
pub(crate) struct RebuildArgs {
    #[command(flatten)]
    pub(crate) database: Database,
    /// Give the space of removed documents back first; needs as much free space as the file has
    #[arg(long)]
    pub(crate) vacuum: bool,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Print the values of flags that are in force, and where each is from
///
/// Flags that are given win over all of these.
#[derive(Debug, Args)]
#[command(after_help = examples::CONFIG)]
pub(crate) struct ConfigArgs {
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Print the completions of a shell
#[derive(Debug, Args)]
#[command(after_help = examples::COMPLETIONS)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// Print the man page, or write those of all commands
#[derive(Debug, Args)]
#[command(after_help = examples::MAN)]
pub(crate) struct ManArgs {
    /// Write one page a command into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Database {
    /// The index
    #[arg(long = "db", value_name = "FILE")]
    pub(crate) path: PathBuf,
}

/// An index that is read.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    #[command(flatten)]
    pub(crate) database: Database,
    /// Read an index where nothing may be written, such as on read-only media: otherwise SQLite
    /// keeps a small file beside it. Only where nobody writes the index meanwhile
    #[arg(long)]
    pub(crate) immutable: bool,
}

impl Reading {
    pub(crate) fn access(&self) -> Access {
        match self.immutable {
            true => Access::Immutable,
            false => Access::ReadOnly,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Asker {
    /// A grant that the asker holds; repeat it for more, or say --as. Nothing is implied, not even
    /// `public`
    #[arg(long = "group", visible_alias = "as", value_name = "GRANT", value_parser = parsers::grant)]
    pub(crate) groups: Vec<String>,
    /// The same as --group public
    #[arg(long)]
    pub(crate) public: bool,
}

/// The models that an index is asked with.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    pub(crate) rerank: RerankArgs,
    #[command(flatten)]
    pub(crate) embedder: EmbedderArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EmbedderArgs {
    /// The model: `hash`, `bert:FOLDER`, `bert:PRESET`, or `openai:URL#MODEL`
    ///
    /// `hash` needs nothing and knows words, not meaning. `bert` runs on this machine and needs a
    /// build with the feature `torch`; presets are looked for in the folder CORNU_MODELS. `openai`
    /// is any server with /v1/embeddings; its key is taken from OPENAI_API_KEY, if that is set. An
    /// index opens only with the model it was built with.
    #[arg(long = "embedder", value_name = "MODEL", default_value = "hash")]
    pub(crate) model: String,
    /// What an `openai` server may be sent of the documents; it has to be said. A query is always
    /// sent
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) send: Option<Send>,
}

#[derive(Debug, Args)]
pub(crate) struct RerankArgs {
    /// A second look at the best 50 of the hybrid search; needs a build with the feature `torch`
    ///
    /// `cross` puts all of them through a cross-encoder, `cascade` those above the largest drop of
    /// the first scores (8 to 16), `maxsim` compares token with token, `staged` puts all in the
    /// order of `maxsim` and then those above its largest drop through the cross-encoder. What was
    /// looked at again
    /// stands in the order of both scores; `ask` still judges by the similarity.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Rerank::None)]
    pub(crate) rerank: Rerank,
    /// The model of the second look: a folder or a preset. For `cross`, `cascade` and `staged` a
    /// cross-encoder (such as bge-reranker-base or ms-marco-MiniLM-L-6-v2) [default: the carried
    /// e5-zh-en-pair], for `maxsim` the same as --rerank-tokens
    #[arg(long, value_name = "MODEL", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) rerank_model: Option<String>,
    /// The model of the token vectors for `maxsim` and `staged`: an embedding model or the carried
    /// projection e5-zh-en-tokens. The one that `index --tokens` was given, or vectors are computed
    /// at each question [default: that of --embedder]
    #[arg(long, value_name = "MODEL", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) rerank_tokens: Option<String>,
    /// How much the second score counts beside the first: from 0 (not at all) to 1 (alone), each
    /// brought to 0 to 1 over the candidates [default: 0.5 for the carried cross-encoder and for
    /// `maxsim`, 1 for a cross-encoder that --rerank-model names]
    #[arg(long, value_name = "WEIGHT")]
    pub(crate) rerank_weight: Option<f64>,
}

/// How to look again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rerank {
    /// Not at all
    None,
    /// All candidates through a cross-encoder
    Cross,
    /// Those above the elbow through a cross-encoder
    Cascade,
    /// Late interaction
    Maxsim,
    /// Late interaction, then those above its elbow through a cross-encoder
    Staged,
}

/// What a server may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Send {
    /// Documents that name the grant `public`
    Public,
    /// All documents
    Everything,
}

impl From<Send> for Disclosure {
    fn from(what: Send) -> Self {
        match what {
            Send::Public => Self::PublicOnly,
            Send::Everything => Self::Everything,
        }
    }
}

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Route {
    /// By the vectors
    Dense,
    /// By the words
    Sparse,
    /// By both
    Hybrid,
    /// By a walk over names and statements; needs `index --extract`
    Hop,
    /// By the vectors and the words, or by the walk where these look as if the question needed one
    Auto,
}

impl Route {
    /// As on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Sparse => "sparse",
            Self::Hybrid => "hybrid",
            Self::Hop => "hop",
            Self::Auto => "auto",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Format {
    /// One JSON document on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
