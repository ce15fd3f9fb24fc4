//! Adds the pairs of some rows and a block to all running sums.

use std::ops::Range;

use crate::sample::layout::MOST_ROWS_TOGETHER;
use crate::sample::packed::PackedPairs;
use crate::sample::self_pairs::SelfPairsOfBlock;
use crate::sample::weights::PackedWeights;
use crate::sample::workspace::{PairWorkspace, RowPairs};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, map_lanes, multiply_add_lanes, multiply_lanes, zip_lanes};
use crate::simd::level::Body;
use crate::walk::chunks::ChunkBlock;

/// Adds the pairs of the first `count` rows of the workspace with a block.
pub(crate) struct Accumulate<'a> {
    pub packed: &'a PackedPairs<'a>,
    pub at: ChunkBlock<'a>,
    pub count: usize,
    pub workspace: &'a mut PairWorkspace,
}

impl Body for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(mut self) {
        let rows = 0..self.count;
        match self.packed.weights {
            PackedWeights::Target(_) => self.add::<A, W, true, true>(rows),
            PackedWeights::One if self.of(&rows).iter().all(|pairs| pairs.mask.is_none()) => {
                self.add::<A, W, false, false>(rows);
            }
            _ => self.add::<A, W, true, false>(rows),
        }
    }
}

impl Accumulate<'_> {
    fn of(&self, rows: &Range<usize>) -> &[RowPairs] {
        &self.workspace.pairs[rows.clone()]
    }

    /// Adds some rows, several at once if all of their values are in their blocks. Unless
    /// `WEIGHTED`, all lanes hold a pair, and all weights are 1. With a `TARGET`, there are plain
    /// sums of rows and columns, and no squares.
    #[inline(always)]
    fn add<A: Arithmetic, const W: usize, const WEIGHTED: bool, const TARGET: bool>(
        &mut self,
        rows: Range<usize>,
    ) {
        let takes_halves = self.packed.own.is_some();
        let mut start = rows.start;
        while start < rows.end {
            let end = start + MOST_ROWS_TOGETHER;
            if end > rows.end || !self.of(&(start..end)).iter().all(|pairs| pairs.is_in_block) {
                self.add_rows::<A, W, WEIGHTED, TARGET, true, 1>(start);
                start += 1;
                continue;
            }
            if takes_halves {
                self.add_rows::<A, W, WEIGHTED, TARGET, true, MOST_ROWS_TOGETHER>(start);
            } else {
                self.add_rows::<A, W, WEIGHTED, TARGET, false, MOST_ROWS_TOGETHER>(start);
            }
            start = end;
        }
    }

    /// Adds `ROWS` rows. If they are more than one, their values are in their blocks, and halves
    /// are subtracted only with `HALVES`. The sums of a column stay in registers.
    #[inline(always)]
    fn add_rows<
        A: Arithmetic,
        const W: usize,
        const WEIGHTED: bool,
        const TARGET: bool,
        const HALVES: bool,
        const ROWS: usize,
    >(
        &mut self,
        start: usize,
    ) {
        let Self { packed, at, ref mut workspace, .. } = *self;
        let PairWorkspace { pairs, octet, rows, columns, univariate, squares, .. } = workspace;
        let layout = &packed.layout;
        let players = layout.players;
        let pairs: [ValuesOfRow<'_>; ROWS] =
            std::array::from_fn(|row| ValuesOfRow::new(packed, at, &pairs[start + row]));
        let mut rows = rows[start * layout.in_row..].chunks_exact_mut(layout.in_row);
        let mut rows: [[&mut [Lanes]; 2]; ROWS] = std::array::from_fn(|_| {
            let (weighted, plain) = rows.next().unwrap_or_default().split_at_mut(players);
            [&mut weighted[..players], plain]
        });
        let exchanges = TARGET && packed.weights.exchanges();
        let columns = &mut columns[at.index * layout.in_column..][..layout.in_column];
        let (columns, columns_plain) = columns.split_at_mut(layout.column_plain.start);
        let plain = if TARGET { columns_plain } else { squares };
        let (plain, univariate) = (&mut plain[..players], &mut univariate[..players]);
        for player in 0..players {
            let column = layout.column_weighted.start + player;
            let column_univariate = (!exchanges && !layout.univariate.is_empty())
                .then_some(layout.univariate.start + player);
            for part in 0..LANES / W {
                let mut of_column: [f64; W] = *columns[column].part(part);
                let mut of_plain: [f64; W] = *plain[player].part(part);
                let mut of_all: [f64; W] = *univariate[player].part(part);
                let mut of_group: [f64; W] =
                    column_univariate.map_or([0.0; W], |column| *columns[column].part(part));
                for row in 0..ROWS {
                    let (pairs, [weighted, plain]) = (&pairs[row], &mut rows[row]);
                    let [gamma, alone] = pairs.at::<A, W, WEIGHTED, HALVES, ROWS>(player, part);
                    let weight = if WEIGHTED { *pairs.of.weight.part(part) } else { [1.0; W] };
                    let of_row = weighted[player].part_mut(part);
                    *of_row = multiply_add_lanes::<A, W>(of_row, &gamma, &weight);
                    of_column = multiply_add_lanes::<A, W>(&of_column, &gamma, &weight);
                    of_all = multiply_add_lanes::<A, W>(&of_all, &alone, &weight);
                    if column_univariate.is_some() {
                        of_group = multiply_add_lanes::<A, W>(&of_group, &alone, &weight);
                    }
                    if TARGET {
                        let of_row = plain[player].part_mut(part);
                        *of_row = zip_lanes(of_row, &gamma, |sum, gamma| sum + gamma);
                        of_plain = zip_lanes(&of_plain, &gamma, |sum, gamma| sum + gamma);
                    } else {
                        of_plain = multiply_add_lanes::<A, W>(&of_plain, &gamma, &gamma);
                    }
                    if exchanges {
                        let octet = octet.values_of(pairs.of.row);
                        *octet[player].part_mut(part) = gamma;
                        if !layout.univariate.is_empty() {
                            *octet[layout.univariate.start + player].part_mut(part) = alone;
                        }
                    }
                }
                *columns[column].part_mut(part) = of_column;
                *plain[player].part_mut(part) = of_plain;
                *univariate[player].part_mut(part) = of_all;
                if let Some(column) = column_univariate {
                    *columns[column].part_mut(part) = of_group;
                }
            }
        }
    }
}

/// γ and the univariate values in the pairs of a row and a block.
struct ValuesOfRow<'a> {
    of: &'a RowPairs,
    omega: &'a [Lanes],
    difference: &'a [Lanes],
    own: SelfPairsOfBlock<'a>,
    /// The factors of c Ω and of c, if values are in the block.
    coefficient: f64,
    univariate: &'a [f64],
}

impl<'a> ValuesOfRow<'a> {
    #[inline(always)]
    fn new(packed: &'a PackedPairs<'_>, at: ChunkBlock<'a>, of: &'a RowPairs) -> Self {
        let players = packed.layout.players;
        let own = SelfPairsOfBlock { own: packed.own.as_ref(), at, row: of.row };
        match packed.absent.first() {
            Some(absent) if of.is_in_block => Self {
                of,
                omega: &of.block.omega[..players],
                difference: &of.block.difference[..players],
                own,
                coefficient: absent.coefficient,
                univariate: &absent.univariate[..players],
            },
            _ => Self {
                of,
                omega: &of.values[..players],
                difference: &of.values[players..][..players],
                own,
                coefficient: 1.0,
                univariate: &[],
            },
        }
    }

    /// The values of a player in some lanes, 0 in lanes that hold no pair: values of a row with
    /// itself may be infinite.
    #[inline(always)]
    fn at<
        A: Arithmetic,
        const W: usize,
        const WEIGHTED: bool,
        const HALVES: bool,
        const ROWS: usize,
    >(
        &self,
        player: usize,
        part: usize,
    ) -> [[f64; W]; 2] {
        let Self { of, omega, difference, own, coefficient, univariate } = *self;
        let mut values: [[f64; W]; 2] = [*omega[player].part(part), *difference[player].part(part)];
        if ROWS > 1 || of.is_in_block {
            let [omega, c] = &values;
            let gamma = multiply_lanes(omega, c);
            values = [
                map_lanes(&gamma, |gamma| gamma * coefficient),
                map_lanes(c, |c| univariate[player] * c),
            ];
        }
        if HALVES {
            own.take_halves::<A, W>((player, part), &mut values[0]);
            own.take_halves::<A, W>((omega.len() + player, part), &mut values[1]);
        }
        if WEIGHTED && let Some(mask) = &of.mask {
            for values in &mut values {
                *values = zip_lanes(values, mask.part(part), or_zero);
            }
        }
        values
    }
}

/// The value if the mask is 1; 0 if the mask is 0, also for NaN. In bits: a choice would be compiled
/// to a branch for each lane.
#[inline(always)]
fn or_zero(value: f64, mask: f64) -> f64 {
    let keeps = u64::from(mask == 0.0).wrapping_sub(1);
    f64::from_bits(value.to_bits() & keeps)
}
