//! One sweep of relaxation, block by block: what flows into each row, and how far the row moves.
//!
//! Blocks of one colour know nothing of each other, so each can be swept where it stands, or aside
//! while others read it, to the same bits.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use crate::kernel::{
    CHUNK, OctetValues, Ones, STRANDS, Scales, Values, inflow, octet_sums, row_sum, scales,
    seeds_of, table_sums,
};
use crate::moves::{Rows, Swept, Tally, move_row};
use crate::octets::{Run, SIDE};
use crate::real::Real;
use crate::solve::Lanes;
use crate::walk::{Block, Walk, Weights};

/// One sweep, as its blocks see it.
pub(crate) struct Sweep<'a, T, const L: usize> {
    pub(crate) walk: &'a Walk<T>,
    pub(crate) lanes: &'a Lanes<L>,
    pub(crate) omega: [f64; L],
    pub(crate) constant: &'a [[f64; L]],
    /// Whether to count what moved along edges back.
    pub(crate) close: bool,
}

impl<T: Real, const L: usize> Sweep<'_, T, L> {
    pub(crate) fn block(&self, block: &Block, place: impl Place<T, L>) -> Swept<L> {
        let sweep = self;
        let (arch, work) = (
            Arch::new(),
            SweepBlock {
                sweep,
                block,
                place,
            },
        );
        match self.close {
            true => arch.dispatch(Counted::<_, true>(work)),
            false => arch.dispatch(Counted::<_, false>(work)),
        }
    }

    /// Whether nothing but edges to the largest component flows into the rows.
    #[inline(always)]
    fn is_plain(&self, block: &Block, rows: &Range<usize>) -> bool {
        block.largest
            && seeds_of(&self.lanes.seeds, rows).is_empty()
            && self.walk.loops_of(rows).is_empty()
    }

    /// Moves the rows of a run that is plain.
    #[inline(always)]
    fn plain_run<const CLOSE: bool>(
        &self,
        run: &Run,
        place: &mut impl Place<T, L>,
        tally: &mut Tally<L>,
    ) {
        let (matrix, copy) = (&self.walk.incoming, &self.walk.octets);
        let shift = self.constant[0].map(|value| (1.0 - self.lanes.alpha) * value);
        match &matrix.weights {
            Weights::Ones => {
                self.move_run::<_, _, CLOSE>((Ones, Ones), run, &shift, place, tally);
            }
            Weights::Single(w) => {
                let weights = (&w[..], &copy.single[..]);
                self.move_run::<_, _, CLOSE>(weights, run, &shift, place, tally);
            }
            Weights::Double(w) => {
                let weights = (&w[..], &copy.double[..]);
                self.move_run::<_, _, CLOSE>(weights, run, &shift, place, tally);
            }
        }
    }

    /// Eight rows at a time, while the next ones' values are on their way. Where lengths differ several
    /// lanes are moved row by row: one row is enough to fill the registers.
    #[inline(always)]
    fn move_run<V: Values, O: OctetValues, const CLOSE: bool>(
        &self,
        (values, copied): (V, O),
        run: &Run,
        shift: &[f64; L],
        place: &mut impl Place<T, L>,
        tally: &mut Tally<L>,
    ) {
        let walk = self.walk;
        if run.depth > 0 {
            let table = run.start..run.start + run.depth * run.octets.len();
            let (columns, copied) = (&walk.octets.columns[table.clone()], copied.of_octet(table));
            let mut rows = run.rows.start..run.rows.start + SIDE;
            for (at, columns) in columns.chunks_exact(run.depth).enumerate() {
                let copied = copied.of_octet(at * run.depth..(at + 1) * run.depth);
                let sums = table_sums(columns, copied, place.read());
                let scales = scales(walk, &rows, run.depth);
                let mine = place.rows(rows.clone());
                self.move_octet::<CLOSE>(&rows, sums, &scales, shift, (mine, tally));
                rows = rows.end..rows.end + SIDE;
            }
        } else if L == 1 {
            for octet in walk.octets.of(run) {
                let sums = octet_sums(walk, &octet, place.read());
                let rows = octet.rows();
                let scales = scales(walk, &rows, octet.length());
                let mine = place.rows(rows.clone());
                self.move_octet::<CLOSE>(&rows, sums, &scales, shift, (mine, tally));
            }
        } else {
            for (at, row) in run.rows.clone().enumerate() {
                let sums = row_sum(&walk.incoming, values, row, place.read());
                let sums = sums.map(|sum| sum * self.lanes.alpha);
                let scales = (walk.strength[row], walk.inverse[row], walk.back[row]);
                for mine in place.rows(row..row + 1) {
                    let (how, to) = ((&self.omega, shift), (&mut *tally, at % STRANDS));
                    move_row::<_, L, CLOSE>(&sums, scales, how, mine, to);
                }
            }
        }
    }

    #[inline(always)]
    fn move_octet<const CLOSE: bool>(
        &self,
        rows: &Range<usize>,
        sums: [[f64; L]; SIDE],
        (strength, inverse): &Scales<T>,
        shift: &[f64; L],
        (mine, tally): (&mut [[T; L]], &mut Tally<L>),
    ) {
        let back = &self.walk.back[rows.clone()];
        if L > 1 {
            let (Some(mine), Some(back)) = (mine.first_chunk_mut(), back.first_chunk()) else {
                return;
            };
            let [a, b, c, d, e, f, g, h]: &mut [[T; L]; SIDE] = mine;
            let back: &[u8; SIDE] = back;
            // One by one: in a loop, rows and not lanes would become vectors.
            macro_rules! move_each {
                ($($side:literal $mine:ident),*) => {$(
                    let sum = sums[$side].map(|sum| sum * self.lanes.alpha);
                    let scales = (strength[$side], inverse[$side], back[$side]);
                    let (how, to) = ((&self.omega, shift), (&mut *tally, $side));
                    move_row::<_, L, CLOSE>(&sum, scales, how, $mine, to);
                )*};
            }
            move_each!(0 a, 1 b, 2 c, 3 d, 4 e, 5 f, 6 g, 7 h);
            return;
        }
        let rows = Rows {
            sums: &sums.map(|sums| sums.map(|sum| sum * self.lanes.alpha)),
            strength,
            inverse,
            back,
        };
        rows.move_all::<CLOSE>(mine, &self.omega, |_| *shift, tally);
    }

    /// Moves the rows, from what flows into them.
    #[inline(always)]
    fn settle<const CLOSE: bool>(
        &self,
        block: &Block,
        run: &Run,
        sums: &mut [[f64; L]],
        mine: &mut [[T; L]],
        tally: &mut Tally<L>,
    ) {
        let (rows, leaves) = (&run.rows, 1.0 - self.lanes.alpha);
        let (walk, components) = (self.walk, &self.walk.components);
        let shift_of = |component: usize| self.constant[component].map(|value| leaves * value);
        for &(row, share) in walk.loops_of(rows) {
            let at = row as usize - rows.start;
            // The node's own value is among those that flow in: solved for, instead of the old one.
            let (strength, inverse) = (walk.strength[row as usize], walk.inverse[row as usize]);
            let shift = shift_of(components.of_row(row as usize));
            for lane in 0..L {
                let old = mine[at][lane].wide();
                let way = sums[at][lane] * inverse.wide() - shift[lane] - old;
                let way = way / (1.0 - self.lanes.alpha * share);
                sums[at][lane] = (old + way + shift[lane]) * strength.wide();
            }
        }
        let rows = Rows {
            sums,
            strength: &walk.strength[rows.clone()],
            inverse: &walk.inverse[rows.clone()],
            back: &walk.back[rows.clone()],
        };
        match block.largest {
            true => {
                let shift = shift_of(0);
                rows.move_all::<CLOSE>(mine, &self.omega, |_| shift, tally);
            }
            false => {
                let shift = |at: usize| shift_of(components.of_row(run.rows.start + at));
                rows.move_all::<CLOSE>(mine, &self.omega, shift, tally);
            }
        }
    }
}

/// Where a block's rows are changed.
pub(crate) trait Place<T, const L: usize> {
    /// What flows in.
    fn read(&self) -> &[[T; L]];
    /// Rows to be changed. Each is asked for once.
    fn rows(&mut self, rows: Range<usize>) -> &mut [[T; L]];
}

/// Where they stand.
pub(crate) struct Standing<'a, T, const L: usize>(pub(crate) &'a mut [[T; L]]);

impl<T, const L: usize> Place<T, L> for Standing<'_, T, L> {
    #[inline(always)]
    fn read(&self) -> &[[T; L]] {
        self.0
    }
    #[inline(always)]
    fn rows(&mut self, rows: Range<usize>) -> &mut [[T; L]] {
        &mut self.0[rows]
    }
}

/// In a place of their own, that begins with row `first`: others still read where they stand.
pub(crate) struct Aside<'a, T, const L: usize> {
    pub(crate) y: &'a [[T; L]],
    pub(crate) mine: &'a mut [[T; L]],
    pub(crate) first: usize,
}

impl<T: Copy, const L: usize> Place<T, L> for Aside<'_, T, L> {
    #[inline(always)]
    fn read(&self) -> &[[T; L]] {
        self.y
    }
    #[inline(always)]
    fn rows(&mut self, rows: Range<usize>) -> &mut [[T; L]] {
        let mine = &mut self.mine[rows.start - self.first..rows.end - self.first];
        mine.copy_from_slice(&self.y[rows]);
        mine
    }
}

/// One block's part of a sweep.
struct SweepBlock<'a, 'b, T, P, const L: usize> {
    sweep: &'a Sweep<'b, T, L>,
    block: &'a Block,
    place: P,
}

/// The same, with or without [`Swept::back`].
struct Counted<W, const CLOSE: bool>(W);

impl<T: Real, P: Place<T, L>, const L: usize, const CLOSE: bool> WithSimd
    for Counted<SweepBlock<'_, '_, T, P, L>, CLOSE>
{
    type Output = Swept<L>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Swept<L> {
        let SweepBlock {
            sweep,
            block,
            mut place,
        } = self.0;
        let (walk, lanes) = (sweep.walk, sweep.lanes);
        let leaves = [1.0 - lanes.alpha; L];
        let mut tally = Tally::default();
        let mut buffer = [[0.0; L]; CHUNK];
        let plain = sweep.is_plain(block, &block.rows);
        for run in walk.runs(block) {
            let abreast = L > 1 || !run.octets.is_empty();
            if abreast && (plain || sweep.is_plain(block, &run.rows)) {
                sweep.plain_run::<CLOSE>(run, &mut place, &mut tally);
                continue;
            }
            let seeds = (&lanes.seeds[..], &leaves);
            let sums = inflow(walk, run, lanes.alpha, seeds, place.read(), &mut buffer);
            let mine = place.rows(run.rows.clone());
            sweep.settle::<CLOSE>(block, run, sums, mine, &mut tally);
        }
        tally.swept()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Dangling, GraphBuilder};

    /// Wider registers add nothing in another order, and no product is fused with its sum.
    #[test]
    fn the_same_bits_with_plain_instructions_and_with_the_widest() {
        for weight in [1.0, 0.1] {
            same_bits::<1>(weight);
            same_bits::<4>(weight);
            same_bits::<8>(weight);
        }
    }

    fn same_bits<const L: usize>(weight: f64) {
        let mut builder = GraphBuilder::undirected(400).unwrap();
        for at in 0..1_500_u32 {
            let (from, to) = (at * at % 397, (at * 7 + 11) % 400);
            builder
                .add(from, to, f64::powi(weight, (at % 3) as i32))
                .unwrap();
        }
        let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart).unwrap();
        let slabs = walk.blocks.iter().flat_map(|block| walk.runs(block));
        let slabs = slabs.filter(|run| run.depth > 0).count();
        assert!(slabs > 3, "{slabs}");
        let lanes = Lanes {
            alpha: 0.5,
            tolerance: 1e-10,
            parallel_from: None,
            wanted: [true; L],
            seeds: vec![(0, 0, 1.0)],
        };
        let sweep = Sweep {
            walk: &walk,
            lanes: &lanes,
            omega: std::array::from_fn(|lane| 1.1 + 0.01 * lane as f64),
            constant: &vec![[0.001; L]; walk.volumes.len()],
            close: true,
        };
        let start = |row: u32| std::array::from_fn(|lane| 1.0 / (f64::from(row) + lane as f64));
        let run = |arch: Arch| {
            let mut y: Vec<[f64; L]> = (1..=400).map(start).collect();
            let mut swept = Vec::new();
            for block in &walk.blocks {
                let (sweep, place) = (&sweep, Standing(&mut y[..]));
                let work = SweepBlock {
                    sweep,
                    block,
                    place,
                };
                let Swept { moved, back, mass } = arch.dispatch(Counted::<_, true>(work));
                swept.push([moved, back, mass]);
            }
            (y, swept)
        };
        assert_eq!(run(Arch::Scalar), run(Arch::new()), "{L} lanes");
    }
}
