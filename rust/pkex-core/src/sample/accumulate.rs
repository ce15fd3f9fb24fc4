//! Adds the pairs of some rows and a block to all running sums.

use std::marker::PhantomData;
use std::ops::Range;

use crate::sample::layout::{Layout, MAX_ROWS_TOGETHER};
use crate::sample::packed_pairs::PackedPairs;
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

/// Which sums the pairs of a row and a block are added to, and how.
trait Kind {
    /// Whether pairs have weights, or some lanes hold no pair; otherwise all weights are 1.
    const WEIGHTED: bool;
    /// Whether weights depend on a target: there are plain sums of rows and columns, and no squares.
    const TARGET: bool;
    /// Whether halves of the pairs of rows with themselves are subtracted.
    const HALVES: bool = false;
}

struct Unweighted;

impl Kind for Unweighted {
    const WEIGHTED: bool = false;
    const TARGET: bool = false;
}

struct Weighted;

impl Kind for Weighted {
    const WEIGHTED: bool = true;
    const TARGET: bool = false;
}

struct ByTarget;

impl Kind for ByTarget {
    const WEIGHTED: bool = true;
    const TARGET: bool = true;
}

/// Another kind, with halves.
struct WithHalves<K>(PhantomData<K>);

impl<K: Kind> Kind for WithHalves<K> {
    const WEIGHTED: bool = K::WEIGHTED;
    const TARGET: bool = K::TARGET;
    const HALVES: bool = true;
}

impl Body for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(mut self) {
        let rows = 0..self.count;
        match self.packed.weights {
            PackedWeights::Target(_) => self.add::<A, ByTarget, W>(rows),
            PackedWeights::One if self.of(&rows).iter().all(|pairs| pairs.mask.is_none()) => {
                self.add::<A, Unweighted, W>(rows);
            }
            _ => self.add::<A, Weighted, W>(rows),
        }
    }
}

impl Accumulate<'_> {
    fn of(&self, rows: &Range<usize>) -> &[RowPairs] {
        &self.workspace.pairs[rows.clone()]
    }

    /// Adds some rows, several at once if all of their values are in their blocks.
    #[inline(always)]
    fn add<A: Arithmetic, K: Kind, const W: usize>(&mut self, rows: Range<usize>) {
        let takes_halves = self.packed.self_pairs.is_some();
        let mut start = rows.start;
        while start < rows.end {
            let end = start + MAX_ROWS_TOGETHER;
            if end > rows.end || !self.of(&(start..end)).iter().all(|pairs| pairs.is_in_block) {
                self.add_rows::<A, WithHalves<K>, W, 1>(start);
                start += 1;
                continue;
            }
            if takes_halves {
                self.add_rows::<A, WithHalves<K>, W, MAX_ROWS_TOGETHER>(start);
            } else {
                self.add_rows::<A, K, W, MAX_ROWS_TOGETHER>(start);
            }
            start = end;
        }
    }

    /// Adds `ROWS` rows. If they are more than one, their values are in their blocks. The sums of a
    /// column stay in registers.
    #[inline(always)]
    fn add_rows<A: Arithmetic, K: Kind, const W: usize, const ROWS: usize>(
        &mut self,
        start: usize,
    ) {
        let Self { packed, at, ref mut workspace, .. } = *self;
        let PairWorkspace { pairs, octet, rows, columns, univariate, squares, .. } = workspace;
        let layout = &packed.layout;
        let exchanges = K::TARGET && packed.weights.exchanges();
        let values_of_rows: [ValuesOfRow<'_>; ROWS] =
            std::array::from_fn(|row| ValuesOfRow::new(packed, at, &pairs[start + row]));
        let mut rows = rows[start * layout.row_width..].chunks_exact_mut(layout.row_width);
        let mut rows: [RowSums<'_>; ROWS] =
            std::array::from_fn(|_| RowSums::new(layout, rows.next().unwrap_or_default()));
        let columns = &mut columns[at.index * layout.column_width..][..layout.column_width];
        let mut columns = Columns::new::<K>(layout, columns, squares, univariate);
        for player in 0..layout.players {
            for part in 0..LANES / W {
                let mut sums = columns.load::<W>(player, part);
                for row in 0..ROWS {
                    let (values_of_row, row) = (&values_of_rows[row], &mut rows[row]);
                    let values = values_of_row.at::<A, K, W, ROWS>(player, part);
                    let weight =
                        if K::WEIGHTED { *values_of_row.pairs.weight.part(part) } else { [1.0; W] };
                    row.add::<A, K, W>((player, part), &values[0], &weight);
                    sums.add::<A, K>(&values, &weight);
                    if exchanges {
                        let octet = octet.values_of(values_of_row.pairs.row);
                        *octet[player].part_mut(part) = values[0];
                        if let Some(univariate) = octet.get_mut(layout.univariate.start + player) {
                            *univariate.part_mut(part) = values[1];
                        }
                    }
                }
                columns.store(player, part, &sums);
            }
        }
    }
}

/// The sums of a row, for each player.
struct RowSums<'a> {
    weighted_sums: &'a mut [Lanes],
    /// Empty without a target.
    plain_sums: &'a mut [Lanes],
}

impl<'a> RowSums<'a> {
    #[inline(always)]
    fn new(layout: &Layout, sums: &'a mut [Lanes]) -> Self {
        let (weighted_sums, plain_sums) = sums.split_at_mut(layout.row_plain.start);
        Self { weighted_sums: &mut weighted_sums[..layout.players], plain_sums }
    }

    #[inline(always)]
    fn add<A: Arithmetic, K: Kind, const W: usize>(
        &mut self,
        (player, part): (usize, usize),
        gamma: &[f64; W],
        weight: &[f64; W],
    ) {
        let weighted_sums = self.weighted_sums[player].part_mut(part);
        *weighted_sums = multiply_add_lanes::<A, W>(weighted_sums, gamma, weight);
        if K::TARGET {
            let plain_sums = self.plain_sums[player].part_mut(part);
            *plain_sums = zip_lanes(plain_sums, gamma, |sum, gamma| sum + gamma);
        }
    }
}

/// The sums of the columns of a block and of all pairs, for each player.
struct Columns<'a> {
    weighted_sums: &'a mut [Lanes],
    /// Sums of γ with a target, of γ² without.
    plain_sums: &'a mut [Lanes],
    /// The univariate values of all pairs.
    univariate: &'a mut [Lanes],
    /// The univariate values of groups; empty if they are not summed, or if octets exchange
    /// targets, whose sums are those of `octets`.
    group_univariate: &'a mut [Lanes],
}

impl<'a> Columns<'a> {
    #[inline(always)]
    fn new<K: Kind>(
        layout: &Layout,
        columns: &'a mut [Lanes],
        squares: &'a mut [Lanes],
        univariate: &'a mut [Lanes],
    ) -> Self {
        let players = layout.players;
        let (columns, plain_sums) = columns.split_at_mut(layout.column_plain.start);
        let (weighted_sums, group_univariate) =
            columns[layout.column_weighted.start..].split_at_mut(players);
        Self {
            weighted_sums,
            plain_sums: &mut (if K::TARGET { plain_sums } else { squares })[..players],
            univariate: &mut univariate[..players],
            group_univariate,
        }
    }

    #[inline(always)]
    fn load<const W: usize>(&self, player: usize, part: usize) -> ColumnSums<W> {
        ColumnSums {
            weighted_sums: *self.weighted_sums[player].part(part),
            plain_sums: *self.plain_sums[player].part(part),
            univariate: *self.univariate[player].part(part),
            group_univariate: self.group_univariate.get(player).map(|sums| *sums.part(part)),
        }
    }

    #[inline(always)]
    fn store<const W: usize>(&mut self, player: usize, part: usize, sums: &ColumnSums<W>) {
        *self.weighted_sums[player].part_mut(part) = sums.weighted_sums;
        *self.plain_sums[player].part_mut(part) = sums.plain_sums;
        *self.univariate[player].part_mut(part) = sums.univariate;
        if let Some(group_univariate) = &sums.group_univariate {
            *self.group_univariate[player].part_mut(part) = *group_univariate;
        }
    }
}

/// The sums of one player in [`Columns`].
struct ColumnSums<const W: usize> {
    weighted_sums: [f64; W],
    plain_sums: [f64; W],
    univariate: [f64; W],
    group_univariate: Option<[f64; W]>,
}

impl<const W: usize> ColumnSums<W> {
    #[inline(always)]
    fn add<A: Arithmetic, K: Kind>(
        &mut self,
        [gamma, univariate]: &[[f64; W]; 2],
        weight: &[f64; W],
    ) {
        self.weighted_sums = multiply_add_lanes::<A, W>(&self.weighted_sums, gamma, weight);
        self.univariate = multiply_add_lanes::<A, W>(&self.univariate, univariate, weight);
        if let Some(group_univariate) = &mut self.group_univariate {
            *group_univariate = multiply_add_lanes::<A, W>(group_univariate, univariate, weight);
        }
        self.plain_sums = if K::TARGET {
            zip_lanes(&self.plain_sums, gamma, |sum, gamma| sum + gamma)
        } else {
            multiply_add_lanes::<A, W>(&self.plain_sums, gamma, gamma)
        };
    }
}

/// γ and the univariate values in the pairs of a row and a block.
struct ValuesOfRow<'a> {
    pairs: &'a RowPairs,
    omega: &'a [Lanes],
    difference: &'a [Lanes],
    self_pairs: SelfPairsOfBlock<'a>,
    /// The factors of c Ω and of c, if values are in the block.
    coefficient: f64,
    univariate: &'a [f64],
}

impl<'a> ValuesOfRow<'a> {
    #[inline(always)]
    fn new(packed: &'a PackedPairs<'_>, at: ChunkBlock<'a>, pairs: &'a RowPairs) -> Self {
        let players = packed.layout.players;
        let self_pairs =
            SelfPairsOfBlock { self_pairs: packed.self_pairs.as_ref(), at, row: pairs.row };
        match packed.absent.first() {
            Some(absent) if pairs.is_in_block => Self {
                pairs,
                omega: &pairs.block.omega[..players],
                difference: &pairs.block.difference[..players],
                self_pairs,
                coefficient: absent.coefficient,
                univariate: &absent.univariate[..players],
            },
            _ => Self {
                pairs,
                omega: &pairs.values[..players],
                difference: &pairs.values[players..][..players],
                self_pairs,
                coefficient: 1.0,
                univariate: &[],
            },
        }
    }

    /// The values of a player in some lanes, 0 in lanes that hold no pair: values of a row with
    /// itself may be infinite.
    #[inline(always)]
    fn at<A: Arithmetic, K: Kind, const W: usize, const ROWS: usize>(
        &self,
        player: usize,
        part: usize,
    ) -> [[f64; W]; 2] {
        let Self { pairs, omega, difference, self_pairs, coefficient, univariate } = *self;
        let mut values: [[f64; W]; 2] = [*omega[player].part(part), *difference[player].part(part)];
        if ROWS > 1 || pairs.is_in_block {
            let [omega, c] = &values;
            let gamma = multiply_lanes(omega, c);
            values = [
                map_lanes(&gamma, |gamma| gamma * coefficient),
                map_lanes(c, |c| univariate[player] * c),
            ];
        }
        if K::HALVES {
            self_pairs.take_halves::<A, W>((player, part), &mut values[0]);
            self_pairs.take_halves::<A, W>((omega.len() + player, part), &mut values[1]);
        }
        if K::WEIGHTED
            && let Some(mask) = &pairs.mask
        {
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
