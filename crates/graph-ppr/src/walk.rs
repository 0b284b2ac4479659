//! A graph prepared for walking: reordered, transposed, split into blocks.

use std::ops::Range;
use std::sync::OnceLock;

use crate::error::PprError;
use crate::graph::{Dangling, Graph};
use crate::layout::{Components, Layout};
use crate::octets::{Octets, Run};
use crate::order::{Order, old_of_new};
use crate::real::Real;

/// Work units of a block of rows: one an entry and [`ROW_COST`] a row. A function of the matrix
/// alone, since sums over blocks are added in their order.
const BLOCK_COST: usize = 32_768;
const ROW_COST: usize = 4;

/// The matrix that a random walk multiplies by, made once for a graph and used for any number of
/// restart vectors and any α.
///
/// Memory: 4 bytes an entry where the weights that leave each node are equal (they need not be
/// stored), else 4 more where all weights are exact in `f32` (counts are) or `T` is `f32`, else 8
/// more; up to twice that for rows of fewer than 32 entries, of which eight at a time are also kept
/// side by side; and per node 16 bytes with `f64`, 8 with `f32`, 8 of the two numberings, 8 of row
/// starts, 1 of edges that lead back.
/// Making it takes O(entries + n log n).
///
/// ```
/// use cornu_graph_ppr::{Dangling, GraphBuilder, Restart, SolveOptions, Walk, solve};
/// let mut builder = GraphBuilder::undirected(3)?;
/// builder.add(0, 1, 1.0)?.add(1, 2, 1.0)?;
/// let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart)?;
/// let found = solve(&walk, &Restart::new(3, [(0, 1.0)])?, &SolveOptions::new(0.85))?;
/// assert!(found.converged && (found.scores[1] - 0.459459).abs() < 1e-6);
/// # Ok::<(), cornu_graph_ppr::PprError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Walk<T> {
    undirected: bool,
    dangling: Dangling,
    old_of_new: Vec<u32>,
    new_of_old: Vec<u32>,
    /// Row v: the nodes that lead to v.
    pub(crate) incoming: Matrix,
    /// Row u: the nodes that u leads to; only for directed graphs, and only once it is asked for.
    outgoing: OnceLock<Matrix>,
    /// Sum of the weights that leave a node; the mean weight for a dangling one.
    pub(crate) strength: Vec<T>,
    pub(crate) inverse: Vec<T>,
    /// Of undirected graphs the share of a row's weights that leads to rows before it, its own left
    /// out: in parts of 255, not less than it is.
    pub(crate) back: Vec<u8>,
    /// The dangling nodes under [`Dangling::Restart`].
    pub(crate) loose: Vec<u32>,
    pub(crate) octets: Octets,
    pub(crate) blocks: Vec<Block>,
    /// What the blocks consist of, block by block.
    runs: Vec<Run>,
    /// The blocks of each colour, whose nodes share no edge. A directed graph has one colour, which
    /// means nothing.
    pub(crate) colours: Vec<Range<usize>>,
    pub(crate) components: Components,
    /// Of undirected graphs the first row of the nodes without edges: there is none before.
    pub(crate) alone: usize,
    /// Sum of the strengths of each component; 0 for a node without edges.
    pub(crate) volumes: Vec<f64>,
    /// Of undirected graphs the nodes with self-loops: row, and their share of the row's weights.
    pub(crate) loops: Vec<(u32, f64)>,
    /// The mean weight of an edge, in `f32`, so that it is exact in any kind of matrix.
    unit: f64,
}

/// Rows that are worked on together: of one colour, and all or none of the largest component.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) rows: Range<usize>,
    pub(crate) largest: bool,
    runs: Range<usize>,
}

/// CSR over the walk's own numbers, without the weights where they are all 1. Columns are below
/// the number of rows.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pub(crate) starts: Vec<usize>,
    pub(crate) columns: Vec<u32>,
    pub(crate) weights: Weights,
}

#[derive(Clone, Debug)]
pub(crate) enum Weights {
    Ones,
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl<T: Real> Walk<T> {
    /// Prepares a graph, in the default [`Order`].
    ///
    /// # Errors
    /// [`PprError::WeightRange`] for `f32`, where the largest weight is more than 1e24 times the
    /// smallest; never for `f64`.
    pub fn new(graph: &Graph, dangling: Dangling) -> Result<Self, PprError> {
        Self::with_order(graph, dangling, Order::default())
    }

    /// Prepares a graph, with its nodes in the given order.
    ///
    /// # Errors
    /// As [`Walk::new`].
    pub fn with_order(graph: &Graph, dangling: Dangling, order: Order) -> Result<Self, PprError> {
        let scale = scale::<T>(graph)?;
        let wished = old_of_new(graph, order);
        let layout = match graph.is_undirected() {
            true => Layout::new(graph, &wished),
            false => Layout::plain(wished),
        };
        let Layout {
            old_of_new,
            components,
            ..
        } = layout;
        let nodes = old_of_new.len();
        let mut new_of_old = vec![0_u32; nodes];
        for (new, &old) in old_of_new.iter().enumerate() {
            new_of_old[old as usize] = new as u32;
        }
        // Where all that leaves a node weighs the same, P does not depend on how much.
        let adjacency = graph.adjacency();
        let mut rows = adjacency.outer_iterator();
        let ones = rows.all(|row| row.data().windows(2).all(|pair| pair[0] == pair[1]));
        let total = match ones {
            true => adjacency.nnz() as f64,
            false => adjacency.data().iter().sum::<f64>() * scale,
        };
        let unit = match adjacency.nnz() {
            0 => 1.0,
            // Within the range of `f32`, whatever the weights are.
            entries => {
                f64::from(((total / entries as f64) as f32).clamp(f32::MIN_POSITIVE, f32::MAX))
            }
        };
        let (mut strength, mut loose) = (Vec::with_capacity(nodes), Vec::new());
        let mut columns_of = vec![0_usize; nodes + 1];
        for (new, &old) in old_of_new.iter().enumerate() {
            let (to, weights) = graph.row(old);
            for &to in to {
                columns_of[new_of_old[to as usize] as usize + 1] += 1;
            }
            match (to.is_empty(), dangling) {
                (false, _) => {}
                (true, Dangling::SelfLoop) => columns_of[new + 1] += 1,
                (true, Dangling::Restart) => loose.push(new as u32),
            }
            strength.push(match (to.is_empty(), ones) {
                (true, _) => unit,
                (false, true) => to.len() as f64,
                (false, false) => weights.iter().sum::<f64>() * scale,
            });
        }
        for row in 0..nodes {
            columns_of[row + 1] += columns_of[row];
        }
        // Rows are visited in ascending order, so each column's entries come out ascending.
        let entries = columns_of[nodes];
        let (mut next, mut columns) = (columns_of.clone(), vec![0_u32; entries]);
        let mut values = vec![0.0_f64; if ones { 0 } else { entries }];
        for (new, &old) in old_of_new.iter().enumerate() {
            let (to, weights) = graph.row(old);
            let mut put = |column: u32, weight: f64| {
                let at = &mut next[column as usize];
                columns[*at] = new as u32;
                if let Some(value) = values.get_mut(*at) {
                    *value = weight;
                }
                *at += 1;
            };
            for (&to, &weight) in to.iter().zip(weights) {
                put(new_of_old[to as usize], weight * scale);
            }
            if to.is_empty() && dangling == Dangling::SelfLoop {
                put(new as u32, unit);
            }
        }
        let single = size_of::<T>() == 4 || values.iter().all(|&w| f64::from(w as f32) == w);
        let weights = match (ones, single) {
            (true, _) => Weights::Ones,
            (false, true) => Weights::Single(values.iter().map(|&weight| weight as f32).collect()),
            (false, false) => Weights::Double(values),
        };
        let incoming = Matrix {
            starts: columns_of,
            columns,
            weights,
        };
        let alone = layout.alone.start;
        let (mut blocks, colours) = blocks(&incoming.starts, &layout.colours, layout.alone);
        let (mut octets, mut runs) = (Octets::default(), Vec::new());
        for block in &mut blocks {
            let first = runs.len();
            octets.add(&incoming, block.rows.clone(), &mut runs);
            block.runs = first..runs.len();
        }
        let inverse = strength.iter().map(|sum: &f64| T::of(1.0 / sum)).collect();
        let strength: Vec<T> = strength.iter().map(|&sum| T::of(sum)).collect();
        let mut volumes = vec![0.0; components.len()];
        for (row, strength) in strength.iter().enumerate() {
            volumes[components.of_row(row)] += strength.wide();
        }
        for row in alone..nodes {
            volumes[components.of_row(row)] = 0.0;
        }
        Ok(Self {
            undirected: graph.is_undirected(),
            dangling,
            octets,
            blocks,
            runs,
            colours,
            alone,
            back: back(&incoming, &strength, graph.is_undirected()),
            loops: loops(&incoming, &strength, graph.is_undirected()),
            volumes,
            components,
            inverse,
            strength,
            old_of_new,
            new_of_old,
            incoming,
            outgoing: OnceLock::new(),
            loose,
            unit,
        })
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.old_of_new.len()
    }

    /// Number of stored entries: those of the graph, and one for each dangling node under
    /// [`Dangling::SelfLoop`].
    #[must_use]
    pub fn entries(&self) -> usize {
        self.incoming.columns.len()
    }

    /// Whether edges are walked in both directions.
    #[must_use]
    pub fn is_undirected(&self) -> bool {
        self.undirected
    }

    /// Where a walker goes from a node that nothing leaves.
    #[must_use]
    pub fn dangling(&self) -> Dangling {
        self.dangling
    }

    /// Whether the matrix is kept without weights, because those that leave each node are equal.
    #[must_use]
    pub fn is_value_free(&self) -> bool {
        matches!(self.incoming.weights, Weights::Ones)
    }

    /// Bytes that the matrix and its vectors take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let matrix = |matrix: &Matrix| {
            let weights = match &matrix.weights {
                Weights::Ones => 0,
                Weights::Single(weights) => size_of_val(&weights[..]),
                Weights::Double(weights) => size_of_val(&weights[..]),
            };
            weights + size_of_val(&matrix.starts[..]) + size_of_val(&matrix.columns[..])
        };
        matrix(&self.incoming)
            + self.outgoing.get().map_or(0, matrix)
            + size_of_val(&self.strength[..]) * 2
            + size_of_val(&self.old_of_new[..]) * 2
            + self.components.bytes()
            + self.octets.bytes()
            + size_of_val(&self.back[..])
            + size_of_val(&self.runs[..])
            + size_of_val(&self.volumes[..])
            + size_of_val(&self.loops[..])
    }

    /// How many entries a row has.
    #[inline(always)]
    pub(crate) fn length(&self, row: usize) -> usize {
        self.incoming.starts[row + 1] - self.incoming.starts[row]
    }

    /// The rows of a block, in pieces that one call sums.
    pub(crate) fn runs(&self, block: &Block) -> &[Run] {
        &self.runs[block.runs.clone()]
    }

    /// The self-loops of some rows.
    pub(crate) fn loops_of(&self, rows: &Range<usize>) -> &[(u32, f64)] {
        let before = |row: usize| self.loops.partition_point(|own| (own.0 as usize) < row);
        &self.loops[before(rows.start)..before(rows.end)]
    }

    /// Row u: the nodes that u leads to.
    pub(crate) fn outgoing(&self) -> &Matrix {
        match self.undirected {
            true => &self.incoming,
            false => self.outgoing.get_or_init(|| transpose(&self.incoming)),
        }
    }

    /// The mean weight of an edge: the unit of strength.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    pub(crate) fn inside(&self, node: u32) -> u32 {
        self.new_of_old.get(node as usize).copied().unwrap_or(0)
    }

    pub(crate) fn outside(&self, node: u32) -> u32 {
        self.old_of_new.get(node as usize).copied().unwrap_or(0)
    }

    /// Whether each row's strength is the number of its entries.
    #[inline(always)]
    pub(crate) fn lengths_are_strengths(&self) -> bool {
        self.undirected && self.is_value_free()
    }

    /// The strength of a row of so many entries, read only where their number does not tell it.
    #[inline(always)]
    pub(crate) fn strength_of(&self, row: usize, length: usize) -> f64 {
        match self.lengths_are_strengths() && length > 0 {
            true => length as f64,
            false => self.strength[row].wide(),
        }
    }

    /// The row of each node, in the graph's order.
    pub(crate) fn rows_of_nodes(&self) -> &[u32] {
        &self.new_of_old
    }

    /// A value for each row, as a vector in the graph's order.
    pub(crate) fn outwards(&self, mut value: impl FnMut(usize) -> T) -> Vec<T> {
        let mut out = vec![T::default(); self.nodes()];
        for (row, &old) in self.old_of_new.iter().enumerate() {
            out[old as usize] = value(row);
        }
        out
    }
}

/// A power of two that brings the weights around 1: exact, and of no effect on P.
fn scale<T: Real>(graph: &Graph) -> Result<f64, PprError> {
    let weights = graph.adjacency().data().iter();
    let (least, most) = weights.fold((f64::MAX, 0.0_f64), |(least, most), &weight| {
        (weight.min(least), weight.max(most))
    });
    if size_of::<T>() == 4 && most / least > 1e24 {
        return Err(PprError::WeightRange { least, most });
    }
    let exponent = |weight: f64| (weight.to_bits() >> 52) as i64 - 1023;
    let middle = match most > 0.0 {
        true => (exponent(least) + exponent(most)) / 2,
        false => 0,
    };
    Ok(f64::from_bits(((1023 - middle) as u64) << 52))
}

/// Blocks of all rows, and which of them each colour has; those of `alone` are in none.
fn blocks(
    starts: &[usize],
    colours: &[[Range<usize>; 2]],
    alone: Range<usize>,
) -> (Vec<Block>, Vec<Range<usize>>) {
    let mut blocks = Vec::new();
    let mut add = |part: &Range<usize>, largest: bool| {
        let (mut begin, mut cost) = (part.start, 0);
        for row in part.clone() {
            cost += starts[row + 1] - starts[row] + ROW_COST;
            if cost >= BLOCK_COST || row + 1 == part.end {
                let rows = begin..row + 1;
                let runs = 0..0;
                blocks.push(Block {
                    rows,
                    largest,
                    runs,
                });
                (begin, cost) = (row + 1, 0);
            }
        }
        blocks.len()
    };
    let (mut of_colours, mut first) = (Vec::with_capacity(colours.len()), 0);
    for [largest, others] in colours {
        add(largest, true);
        let end = add(others, false);
        of_colours.push(first..end);
        first = end;
    }
    add(&alone, false);
    (blocks, of_colours)
}

/// By row of an undirected matrix, [`Walk::back`]. O(entries).
fn back<T: Real>(matrix: &Matrix, strength: &[T], undirected: bool) -> Vec<u8> {
    let rows = if undirected { strength.len() } else { 0 };
    let share = |row: usize| {
        let range = matrix.starts[row]..matrix.starts[row + 1];
        let before =
            matrix.columns[range.clone()].partition_point(|&column| (column as usize) < row);
        let before = range.start..range.start + before;
        let weight = match &matrix.weights {
            Weights::Ones => before.len() as f64,
            Weights::Single(weights) => weights[before].iter().map(|&w| f64::from(w)).sum(),
            Weights::Double(weights) => weights[before].iter().sum(),
        };
        // Rounding is far below the smallest part; a cast saturates.
        let parts = weight / strength[row].wide() * f64::from(u8::MAX);
        (parts * (1.0 + 1e-6)).ceil() as u8
    };
    (0..rows).map(share).collect()
}

/// The rows of an undirected matrix that have themselves as a column. O(rows · log of their length).
fn loops<T: Real>(matrix: &Matrix, strength: &[T], undirected: bool) -> Vec<(u32, f64)> {
    let rows = if undirected { strength.len() } else { 0 };
    let share = |row: usize| {
        let range = matrix.starts[row]..matrix.starts[row + 1];
        let at = matrix.columns[range.clone()]
            .binary_search(&(row as u32))
            .ok()?;
        let weight = match &matrix.weights {
            Weights::Ones => 1.0,
            Weights::Single(weights) => f64::from(weights[range.start + at]),
            Weights::Double(weights) => weights[range.start + at],
        };
        Some((row as u32, weight / strength[row].wide()))
    };
    (0..rows).filter_map(share).collect()
}

fn transpose(matrix: &Matrix) -> Matrix {
    let nodes = matrix.starts.len() - 1;
    let mut starts = vec![0_usize; nodes + 1];
    for &column in &matrix.columns {
        starts[column as usize + 1] += 1;
    }
    for row in 0..nodes {
        starts[row + 1] += starts[row];
    }
    let mut next = starts.clone();
    let mut from = vec![0_usize; matrix.columns.len()];
    let mut columns = vec![0_u32; matrix.columns.len()];
    for row in 0..nodes {
        for at in matrix.starts[row]..matrix.starts[row + 1] {
            let place = &mut next[matrix.columns[at] as usize];
            (from[*place], columns[*place]) = (at, row as u32);
            *place += 1;
        }
    }
    let weights = match &matrix.weights {
        Weights::Ones => Weights::Ones,
        Weights::Single(w) => Weights::Single(from.iter().map(|&at| w[at]).collect()),
        Weights::Double(w) => Weights::Double(from.iter().map(|&at| w[at]).collect()),
    };
    Matrix {
        starts,
        columns,
        weights,
    }
}
