//! Packs of texts over threads.

use cornu_core::ProviderError;
use rayon::ThreadPool;
use rayon::prelude::*;

use super::adapter::Adapter;
use super::encoder::{Encoder, ForwardError, Weights, rows_of};
use super::error::ModelError;
use super::files::ModelFiles;
use super::options::BertOptions;
use super::tokenizer::{BertTokenizer, Tokens};

/// Rows below which a pack is not worth sharing a product.
const WORTHWHILE: usize = 64;

/// Rows up to which rows were seen to be independent of one another on MKL.
const MOST_ROWS: usize = 1024;

/// An encoder with its tokenizer and its threads.
///
/// libtorch's own threads are switched off within ours: each of ours works on a pack of its own,
/// so that no product is split differently when the number of threads changes.
pub(crate) struct Runtime {
    pub(crate) encoder: Encoder,
    pub(crate) tokenizer: BertTokenizer,
    pub(crate) name: String,
    pub(crate) weights_sha256: String,
    pool: ThreadPool,
    rows_per_pack: usize,
    packable: bool,
}

impl Runtime {
    /// Loads the encoder; `head` reads what stands on top of it from the same file.
    pub(crate) fn load<H: Send>(
        files: ModelFiles,
        options: &BertOptions,
        adapter: Option<Adapter>,
        head: impl FnOnce(&mut Weights) -> Result<H, ModelError> + Send,
    ) -> Result<(Self, H), ModelError> {
        let torch = |what: String| ModelError::Torch { what };
        let threads = options
            .threads
            .or_else(|| std::thread::available_parallelism().ok())
            .map_or(1, std::num::NonZero::get);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|at| format!("cornu-bert-{at}"))
            // The number of OpenMP and MKL threads belongs to the thread that sets it.
            .start_handler(|_| tch::set_num_threads(1))
            .build()
            .map_err(|error| torch(error.to_string()))?;
        let name = files.name().to_owned();
        let weights_sha256 = files.weights_sha256().to_owned();
        let path = files.weights_path().to_owned();
        let (config, tokenizer, weights) = files.into_parts();
        let mut weights = Weights::new(weights, &path).changed_by(adapter);
        let (encoder, head, packable) = pool.install(|| {
            let encoder = Encoder::load(config, &mut weights)?;
            let head = head(&mut weights)?;
            let packable = encoder
                .rows_are_independent()
                .map_err(|error| torch(error.to_string()))?;
            Ok::<_, ModelError>((encoder, head, packable))
        })?;
        let runtime = Self {
            encoder,
            tokenizer,
            name,
            weights_sha256,
            pool,
            rows_per_pack: options.rows_per_pack.get(),
            packable,
        };
        Ok((runtime, head))
    }

    /// Whether texts share packs on this machine (see [`super::encoder`]).
    pub(crate) fn packable(&self) -> bool {
        self.packable
    }

    /// Turns texts to tokens, on all threads. The first failing text, by position, is the error.
    pub(crate) fn tokenize<T: Sync>(
        &self,
        texts: &[T],
        encode: impl Fn(usize, &T) -> Result<Tokens, ProviderError> + Sync,
    ) -> Result<Vec<Tokens>, ProviderError> {
        let results: Vec<_> = self.pool.install(|| {
            texts
                .par_iter()
                .enumerate()
                .map(|(at, text)| encode(at, text))
                .collect()
        });
        results.into_iter().collect()
    }

    /// Runs the encoder over all texts and `finish`es each from its last hidden states, (tokens,
    /// hidden) row-major. Results come in the order of the texts.
    pub(crate) fn encode<T: Send>(
        &self,
        texts: &[Tokens],
        finish: impl Fn(&Tokens, &[f32]) -> T + Sync,
    ) -> Result<Vec<T>, ProviderError> {
        self.encode_through(texts, self.encoder.config().layers, finish)
    }

    /// As [`encode`](Self::encode), from the states after the first `layers` layers.
    pub(crate) fn encode_through<T: Send>(
        &self,
        texts: &[Tokens],
        layers: usize,
        finish: impl Fn(&Tokens, &[f32]) -> T + Sync,
    ) -> Result<Vec<T>, ProviderError> {
        let lengths: Vec<usize> = texts.iter().map(Tokens::len).collect();
        self.over_packs(&lengths, |pack| {
            let members: Vec<&Tokens> = pack.iter().filter_map(|&at| texts.get(at)).collect();
            let values = rows_of(&self.encoder.forward_through(&members, layers)?)?;
            self.cut(&values, &members, &finish)
        })
    }

    /// Runs `work` over packs of items, given how many rows each has. Results come in the order of
    /// the items.
    pub(crate) fn over_packs<T: Send>(
        &self,
        lengths: &[usize],
        work: impl Fn(&[usize]) -> Result<Vec<T>, ForwardError> + Sync,
    ) -> Result<Vec<T>, ProviderError> {
        let packs = self.packs(lengths);
        let done: Vec<Vec<(usize, T)>> = self.pool.install(|| {
            packs
                .par_iter()
                .with_max_len(1)
                .map(|pack| Ok(pack.iter().copied().zip(work(pack)?).collect()))
                .collect::<Result<_, _>>()
                .map_err(|error| self.failed(error))
        })?;
        let mut slots: Vec<Option<T>> = lengths.iter().map(|_| None).collect();
        for (at, value) in done.into_iter().flatten() {
            if let Some(slot) = slots.get_mut(at) {
                *slot = Some(value);
            }
        }
        let lost = || self.failed(ForwardError::Tokens);
        slots.into_iter().collect::<Option<_>>().ok_or_else(lost)
    }

    /// Finishes each text of a pack from its rows of `values`.
    fn cut<T>(
        &self,
        values: &[f32],
        members: &[&Tokens],
        finish: impl Fn(&Tokens, &[f32]) -> T,
    ) -> Result<Vec<T>, ForwardError> {
        let width = self.encoder.config().hidden;
        let mut rest = values;
        let mut out = Vec::with_capacity(members.len());
        for tokens in members {
            let (own, after) = rest
                .split_at_checked(tokens.len() * width)
                .ok_or(ForwardError::Tokens)?;
            out.push(finish(tokens, own));
            rest = after;
        }
        Ok(out)
    }

    fn packs(&self, lengths: &[usize]) -> Vec<Vec<usize>> {
        let most = self.packable.then(|| {
            let share = lengths.iter().sum::<usize>() / self.pool.current_num_threads();
            share.clamp(WORTHWHILE, MOST_ROWS).min(self.rows_per_pack)
        });
        group(lengths, most.unwrap_or(0))
    }

    /// Runs work on the threads of the model.
    pub(crate) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    pub(crate) fn failed(&self, error: ForwardError) -> ProviderError {
        ProviderError::Failed {
            provider: self.name.clone(),
            source: Box::new(error),
        }
    }
}

/// Positions of texts in packs: the longest first, equal lengths side by side, at most `most`
/// tokens in a pack. A longer text is alone.
fn group(lengths: &[usize], most: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<(usize, usize)> = lengths.iter().copied().enumerate().collect();
    order.sort_by_key(|&(_, length)| std::cmp::Reverse(length));
    let mut packs: Vec<Vec<usize>> = Vec::new();
    let mut rows = 0_usize;
    for (at, length) in order {
        match packs.last_mut() {
            Some(pack) if rows.saturating_add(length) <= most => {
                pack.push(at);
                rows += length;
            }
            _ => {
                packs.push(vec![at]);
                rows = length;
            }
        }
    }
    packs
}

#[cfg(test)]
mod tests {
    use super::group;

    #[test]
    fn packs_hold_each_text_once_and_keep_to_their_size() {
        let lengths: Vec<usize> = (0..200).map(|at| 2 + at * 7919 % 300).collect();
        for most in [0, 1, 64, 256, 100_000] {
            let packs = group(&lengths, most);
            for pack in &packs {
                let rows: usize = pack.iter().map(|&at| lengths[at]).sum();
                assert!(pack.len() == 1 || rows <= most);
                assert!(pack.is_sorted_by(|&a, &b| lengths[a] >= lengths[b]));
            }
            let mut all: Vec<usize> = packs.into_iter().flatten().collect();
            all.sort_unstable();
            assert_eq!(all, (0..lengths.len()).collect::<Vec<_>>());
        }
        // Where rows are not independent, each text is a pack.
        assert!(group(&lengths, 0).iter().all(|pack| pack.len() == 1));
    }
}
