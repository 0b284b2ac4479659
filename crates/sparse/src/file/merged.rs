//! Several segments as one file, without the one in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Seek, Write};

use bytemuck::NoUninit;
use cornu_core::Fingerprint;

use super::{Body, Damaged, Head, Origin, damaged, record, write_parts};
use crate::bits::Bits;
use crate::error::SparseError;
use crate::segment::{BLOCK, Rows, Segment};

/// A segment, and those of its rows that are left out.
pub(super) struct Run<I> {
    pub(super) segment: Segment<I>,
    pub(super) dead: Bits,
}

/// The rows of several runs in the order of their ids: 12 bytes a row.
pub(super) struct Merged<'a, I> {
    runs: &'a [Run<I>],
    rows: Vec<Rows<'a, I>>,
    /// Each row of the whole: its run, and its place there.
    order: Vec<(u32, u32)>,
    /// Of each run, the places of its rows in the whole; nowhere for those that are dead.
    places: Vec<Vec<u32>>,
    /// Of each run, whether all its rows are in the whole.
    complete: Vec<bool>,
}

const NOWHERE: u32 = u32::MAX;

/// What is counted before the first part is written.
#[derive(Default)]
struct Sizes {
    terms: u64,
    blocks: u64,
    postings: u64,
    text: u64,
}

/// A term, and where it is: run and number.
type Holders = [(usize, u32)];

impl<'a, I: Ord> Merged<'a, I> {
    /// O(rows · log runs).
    pub(super) fn new(runs: &'a [Run<I>]) -> Result<Self, SparseError> {
        let rows = runs.iter().map(|run| run.segment.rows());
        let rows: Vec<Rows<'a, I>> = rows.collect::<Result<_, _>>()?;
        let mut places: Vec<Vec<u32>> = Vec::new();
        let mut heap = BinaryHeap::new();
        let next = |run: usize, from: usize| -> Option<(&'a I, usize, usize)> {
            let (rows, dead) = (rows.get(run)?, &runs.get(run)?.dead);
            let at = (from..rows.ids.len()).find(|&at| !dead.contains(at))?;
            Some((rows.ids.get(at)?, run, at))
        };
        for (at, rows) in rows.iter().enumerate() {
            places.push(vec![NOWHERE; rows.ids.len()]);
            heap.extend(next(at, 0).map(Reverse));
        }
        let mut order: Vec<(u32, u32)> = Vec::new();
        let mut last: Option<&I> = None;
        while let Some(Reverse((id, run, at))) = heap.pop() {
            if last == Some(id) {
                let document = rows.get(run).and_then(|rows| rows.documents.get(at));
                let document = document.copied().unwrap_or_default();
                return Err(SparseError::DuplicateRow { document });
            }
            last = Some(id);
            let number = |at: usize| u32::try_from(at).ok().filter(|&at| at != NOWHERE);
            let row = number(order.len()).ok_or(SparseError::TooLarge)?;
            if let Some(place) = places.get_mut(run).and_then(|places| places.get_mut(at)) {
                *place = row;
            }
            let pair = number(run).zip(number(at));
            order.push(pair.ok_or(SparseError::TooLarge)?);
            heap.extend(next(run, at + 1).map(Reverse));
        }
        Ok(Self {
            runs,
            rows,
            order,
            places,
            complete: runs.iter().map(|run| run.dead.count() == 0).collect(),
        })
    }

    /// What of each row of the whole.
    fn each_row<T>(
        &self,
        get: impl Fn(&Rows<'a, I>, usize) -> Option<T>,
    ) -> impl Iterator<Item = T> {
        self.order.iter().filter_map(move |&(run, at)| {
            let rows = self.rows.get(run as usize)?;
            get(rows, at as usize)
        })
    }

    /// Each term in order, with the runs that hold it. O(terms · log runs) comparisons.
    fn each_term(&self, mut take: impl FnMut(&[u8], &Holders) -> io::Result<()>) -> io::Result<()> {
        let mut heap = BinaryHeap::new();
        let next = |run: usize, term: u32| -> Result<_, Damaged> {
            let dictionary = self.runs.get(run).map(|run| &run.segment.dictionary);
            match dictionary {
                Some(it) if (term as usize) < it.len() => {
                    Ok(Some(Reverse((it.get(term as usize)?, run, term))))
                }
                _ => Ok(None),
            }
        };
        for run in 0..self.runs.len() {
            heap.extend(next(run, 0).map_err(damaged)?);
        }
        let mut holders: Vec<(usize, u32)> = Vec::new();
        while let Some(Reverse((name, run, term))) = heap.pop() {
            holders.push((run, term));
            heap.extend(next(run, term + 1).map_err(damaged)?);
            if heap.peek().is_none_or(|Reverse((next, ..))| *next != name) {
                take(name, &holders)?;
                holders.clear();
            }
        }
        Ok(())
    }

    /// How many rows hold a term.
    fn count(&self, holders: &Holders) -> Result<usize, Damaged> {
        let mut count = 0;
        for &(run, term) in holders {
            let rows = self
                .runs
                .get(run)
                .ok_or(Damaged)?
                .segment
                .postings(term)?
                .rows;
            count += match (self.complete.get(run), self.places.get(run)) {
                (Some(true), _) => rows.len(),
                (_, Some(places)) => rows
                    .iter()
                    .filter(|&&row| lives(places, row).is_some())
                    .count(),
                _ => return Err(Damaged),
            };
        }
        Ok(count)
    }

    /// The postings of a term: rows of the whole, ascending, with their counts.
    fn gather(&self, holders: &Holders, into: &mut Vec<(u32, u32)>) -> Result<(), Damaged> {
        into.clear();
        for &(run, term) in holders {
            let (Some(run), Some(places)) = (self.runs.get(run), self.places.get(run)) else {
                return Err(Damaged);
            };
            let postings = run.segment.postings(term)?;
            let pairs = postings.rows.iter().zip(postings.counts);
            into.extend(pairs.filter_map(|(&row, &count)| Some((lives(places, row)?, count))));
        }
        // Ascending runs, which a stable sort merges.
        into.sort_by_key(|(row, _)| *row);
        Ok(())
    }

    fn sizes(&self) -> io::Result<Sizes> {
        let mut sizes = Sizes::default();
        self.each_term(|name, holders| {
            let count = self.count(holders).map_err(damaged)?;
            if count > 0 {
                sizes.terms += 1;
                sizes.text += name.len() as u64;
                sizes.postings += count as u64;
                sizes.blocks += count.div_ceil(BLOCK) as u64;
            }
            Ok(())
        })?;
        match sizes.terms < u64::from(u32::MAX) && u32::try_from(sizes.blocks).is_ok() {
            true => Ok(sizes),
            false => Err(io::Error::other(SparseError::TooLarge)),
        }
    }

    /// Writes the file. Each part that is told by terms is a pass over the dictionaries, three of
    /// them one over the postings, too.
    pub(super) fn write(
        &self,
        made_by: &Fingerprint,
        epoch: u64,
        origin: &Origin,
        out: impl Write + Seek,
    ) -> io::Result<()>
    where
        I: NoUninit,
    {
        let sizes = self.sizes()?;
        let head = Head {
            rows: self.order.len() as u64,
            terms: sizes.terms,
            blocks: sizes.blocks,
            postings: sizes.postings,
            text: sizes.text,
            ..Head::new::<I>(made_by, epoch, origin)
        };
        let lengths: Vec<u32> = self
            .each_row(|rows, at| rows.lengths.get(at).copied())
            .collect();
        let mut found = Vec::new();
        write_parts(&head, out, |part, body| match part {
            0 => origin
                .documents
                .iter()
                .try_for_each(|document| body.put_one(&record(document))),
            1 => self
                .each_row(|rows, at| rows.documents.get(at))
                .try_for_each(|document| body.put_one(document)),
            2 => body.put(bytemuck::cast_slice(&lengths)),
            3 => self
                .each_row(|rows, at| rows.ids.get(at))
                .try_for_each(|id| body.put_one(id)),
            4 => self.sums(body, |name, _| name.len() as u64),
            5 => {
                body.put_one(&0_u64)?;
                self.sums(body, |_, count| count as u64)
            }
            6 => {
                body.put_one(&0_u32)?;
                self.sums(body, |_, count| count.div_ceil(BLOCK) as u32)
            }
            7 => self.each_term(|_, holders| {
                self.gather(holders, &mut found).map_err(damaged)?;
                found.chunks(BLOCK).try_for_each(|block| {
                    let counts = block.iter().map(|(_, count)| *count);
                    let rows = block
                        .iter()
                        .filter_map(|(row, _)| lengths.get(*row as usize));
                    let bounds = [counts.max().unwrap_or(0), rows.copied().min().unwrap_or(0)];
                    body.put_one(&bounds)
                })
            }),
            8 => self.each_term(|_, holders| {
                self.gather(holders, &mut found).map_err(damaged)?;
                found.iter().try_for_each(|(row, _)| body.put_one(row))
            }),
            9 => self.each_term(|_, holders| {
                self.gather(holders, &mut found).map_err(damaged)?;
                found.iter().try_for_each(|(_, count)| body.put_one(count))
            }),
            _ => self.each_term(
                |name, holders| match self.count(holders).map_err(damaged)? {
                    0 => Ok(()),
                    _ => body.put(name),
                },
            ),
        })
    }

    /// The running sum of something of each term that any row holds.
    fn sums<W: Write, N: NoUninit + Default + std::ops::AddAssign>(
        &self,
        body: &mut Body<W>,
        of: impl Fn(&[u8], usize) -> N,
    ) -> io::Result<()> {
        let mut sum = N::default();
        self.each_term(
            |name, holders| match self.count(holders).map_err(damaged)? {
                0 => Ok(()),
                count => {
                    sum += of(name, count);
                    body.put_one(&sum)
                }
            },
        )
    }
}

fn lives(places: &[u32], row: u32) -> Option<u32> {
    let place = places.get(row as usize).copied();
    place.filter(|&place| place != NOWHERE)
}
