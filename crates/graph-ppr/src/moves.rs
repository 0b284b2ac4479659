//! How far rows move, from the sums of what flows into them; and what that comes to.

use crate::kernel::{STRANDS, strand_sum};
use crate::real::Real;

/// What a sweep comes to, by lane.
#[derive(Clone, Copy)]
pub(crate) struct Swept<const L: usize> {
    /// L1 distance that p moved.
    pub(crate) moved: [f64; L],
    /// The same, of each node that part whose edges lead to nodes before it.
    pub(crate) back: [f64; L],
    /// Sum of strength · y over the rows.
    pub(crate) mass: [f64; L],
}

impl<const L: usize> Swept<L> {
    pub(crate) fn nothing() -> Self {
        Self {
            moved: [0.0; L],
            back: [0.0; L],
            mass: [0.0; L],
        }
    }
}

/// What a sweep knows of some rows.
pub(crate) struct Rows<'a, T, const L: usize> {
    pub(crate) sums: &'a [[f64; L]],
    pub(crate) strength: &'a [T],
    pub(crate) inverse: &'a [T],
    pub(crate) back: &'a [u8],
}

impl<T: Real, const L: usize> Rows<'_, T, L> {
    #[inline(always)]
    pub(crate) fn move_all<const CLOSE: bool>(
        &self,
        mine: &mut [[T; L]],
        omega: &[f64; L],
        shift: impl Fn(usize) -> [f64; L],
        tally: &mut Tally<L>,
    ) {
        if L > 1 {
            let scales = self.strength.iter().zip(self.inverse).zip(self.back);
            let rows = self.sums.iter().zip(mine).zip(scales).enumerate();
            for (at, ((sums, mine), ((&strength, &inverse), &back))) in rows {
                let scales = (strength, inverse, back);
                let (shift, strand) = (shift(at), at % STRANDS);
                move_row::<_, L, CLOSE>(sums, scales, (omega, &shift), mine, (tally, strand));
            }
            return;
        }
        let (sums, last_sums) = self.sums.as_chunks();
        let (mine, last_mine) = mine.as_chunks_mut();
        let (strength, last_strength) = self.strength.as_chunks();
        let (inverse, last_inverse) = self.inverse.as_chunks();
        let (back, last_back) = self.back.as_chunks();
        let mut first = 0;
        let rows = sums.iter().zip(mine).zip(strength).zip(inverse).zip(back);
        for ((((sums, mine), strength), inverse), back) in rows {
            let shift = |at: usize| shift(first + at);
            move_rows::<_, L, CLOSE>(sums, mine, (strength, inverse, back), omega, shift, tally);
            first += STRANDS;
        }
        if !last_mine.is_empty() {
            // Rows of no strength count nothing.
            let mut rows = ([[0.0; L]; STRANDS], [[T::default(); L]; STRANDS]);
            let mut scales = (
                [T::default(); STRANDS],
                [T::default(); STRANDS],
                [0; STRANDS],
            );
            let count = last_mine.len();
            rows.0[..count].copy_from_slice(last_sums);
            rows.1[..count].copy_from_slice(last_mine);
            scales.0[..count].copy_from_slice(last_strength);
            scales.1[..count].copy_from_slice(last_inverse);
            scales.2[..count].copy_from_slice(last_back);
            let scales = (&scales.0, &scales.1, &scales.2);
            let shift = |at: usize| shift(first + at.min(count - 1));
            move_rows::<_, L, CLOSE>(&rows.0, &mut rows.1, scales, omega, shift, tally);
            last_mine.copy_from_slice(&rows.1[..count]);
        }
    }
}

#[inline(always)]
fn add<const L: usize>(to: &mut [f64; L], more: [f64; L]) {
    (0..L).for_each(|lane| to[lane] += more[lane]);
}

/// Moves one row, of several lanes.
#[inline(always)]
pub(crate) fn move_row<T: Real, const L: usize, const CLOSE: bool>(
    sums: &[f64; L],
    (strength, inverse, back): (T, T, u8),
    (omega, shift): (&[f64; L], &[f64; L]),
    mine: &mut [T; L],
    (tally, strand): (&mut Tally<L>, usize),
) {
    let (strength, inverse) = (strength.wide(), inverse.wide());
    let old = mine.map(Real::wide);
    let new: [T; L] = std::array::from_fn(|lane| {
        let target = sums[lane] * inverse - shift[lane];
        T::of(old[lane] + omega[lane] * (target - old[lane]))
    });
    *mine = new;
    let way: [f64; L] = std::array::from_fn(|lane| strength * (new[lane].wide() - old[lane]).abs());
    let mass: [f64; L] = std::array::from_fn(|lane| strength * new[lane].wide());
    add(&mut tally.moved[strand], way);
    add(&mut tally.mass[strand], mass);
    if CLOSE {
        add(
            &mut tally.back[strand],
            way.map(|way| f64::from(back) * way),
        );
    }
}

/// Moves as many rows as there are strands.
#[inline(always)]
fn move_rows<T: Real, const L: usize, const CLOSE: bool>(
    sums: &[[f64; L]; STRANDS],
    mine: &mut [[T; L]; STRANDS],
    (strength, inverse, back): (&[T; STRANDS], &[T; STRANDS], &[u8; STRANDS]),
    omega: &[f64; L],
    shift: impl Fn(usize) -> [f64; L],
    tally: &mut Tally<L>,
) {
    for at in 0..STRANDS {
        let (strength, inverse) = (strength[at].wide(), inverse[at].wide());
        let shift = shift(at);
        for lane in 0..L {
            let old = mine[at][lane].wide();
            let target = sums[at][lane] * inverse - shift[lane];
            let new = T::of(old + omega[lane] * (target - old));
            mine[at][lane] = new;
            let way = strength * (new.wide() - old).abs();
            tally.moved[at][lane] += way;
            if CLOSE {
                tally.back[at][lane] += f64::from(back[at]) * way;
            }
            tally.mass[at][lane] += strength * new.wide();
        }
    }
}

/// What rows came to so far, in as many strands as there are rows side by side.
pub(crate) struct Tally<const L: usize> {
    moved: [[f64; L]; STRANDS],
    back: [[f64; L]; STRANDS],
    mass: [[f64; L]; STRANDS],
}

impl<const L: usize> Default for Tally<L> {
    fn default() -> Self {
        Self {
            moved: [[0.0; L]; STRANDS],
            back: [[0.0; L]; STRANDS],
            mass: [[0.0; L]; STRANDS],
        }
    }
}

impl<const L: usize> Tally<L> {
    pub(crate) fn swept(&self) -> Swept<L> {
        let sum = |strands: [[f64; L]; STRANDS]| strand_sum(&strands);
        Swept {
            moved: sum(self.moved),
            back: sum(self.back).map(|sum| sum / f64::from(u8::MAX)),
            mass: sum(self.mass),
        }
    }
}
