//! Adds the pairs of some rows and a block to all running sums.

use std::marker::PhantomData;
use std::ops::Range;

use crate::sample::layout::{Layout, MAX_ROWS_TOGETHER};
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
        let takes_halves = self.packed.own.is_some();
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
        let pairs: [ValuesOfRow<'_>; ROWS] =
            std::array::from_fn(|row| ValuesOfRow::new(packed, at, &pairs[start + row]));
        let mut rows = rows[start * layout.in_row..].chunks_exact_mut(layout.in_row);
        let mut rows: [RowSums<'_>; ROWS] =
            std::array::from_fn(|_| RowSums::new(layout, rows.next().unwrap_or_default()));
        let columns = &mut columns[at.index * layout.in_column..][..layout.in_column];
        let mut columns = Columns::new::<K>(layout, columns, squares, univariate);
        for player in 0..layout.players {
            for part in 0..LANES / W {
                let mut sums = columns.load::<W>(player, part);
                for row in 0..ROWS {
                    let (pairs, row) = (&pairs[row], &mut rows[row]);
                    let values = pairs.at::<A, K, W, ROWS>(player, part);
                    let weight = if K::WEIGHTED { *pairs.of.weight.part(part) } else { [1.0; W] };
                    row.add::<A, K, W>((player, part), &values[0], &weight);
                    sums.add::<A, K>(&values, &weight);
                    if exchanges {
                        let octet = octet.values_of(pairs.of.row);
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
    weighted: &'a mut [Lanes],
    /// Empty without a target.
    plain: &'a mut [Lanes],
}

impl<'a> RowSums<'a> {
    #[inline(always)]
    fn new(layout: &Layout, sums: &'a mut [Lanes]) -> Self {
        let (weighted, plain) = sums.split_at_mut(layout.row_plain.start);
        Self { weighted: &mut weighted[..layout.players], plain }
    }

    #[inline(always)]
    fn add<A: Arithmetic, K: Kind, const W: usize>(
        &mut self,
        (player, part): (usize, usize),
        gamma: &[f64; W],
        weight: &[f64; W],
    ) {
        let weighted = self.weighted[player].part_mut(part);
        *weighted = multiply_add_lanes::<A, W>(weighted, gamma, weight);
        if K::TARGET {
            let plain = self.plain[player].part_mut(part);
            *plain = zip_lanes(plain, gamma, |sum, gamma| sum + gamma);
        }
    }
}

/// The sums of the columns of a block and of all pairs, for each player.
struct Columns<'a> {
    weighted: &'a mut [Lanes],
    /// Sums of γ with a target, of γ² without.
    plain: &'a mut [Lanes],
    /// The univariate values of all pairs.
    univariate: &'a mut [Lanes],
    /// The univariate values of groups; empty if they are not summed, or if octets exchange
    /// targets, whose sums are those of `octets`.
    of_groups: &'a mut [Lanes],
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
        let (columns, plain) = columns.split_at_mut(layout.column_plain.start);
        let (weighted, of_groups) = columns[layout.column_weighted.start..].split_at_mut(players);
        Self {
            weighted,
            plain: &mut (if K::TARGET { plain } else { squares })[..players],
            univariate: &mut univariate[..players],
            of_groups,
        }
    }

    #[inline(always)]
    fn load<const W: usize>(&self, player: usize, part: usize) -> ColumnSums<W> {
        ColumnSums {
            weighted: *self.weighted[player].part(part),
            plain: *self.plain[player].part(part),
            univariate: *self.univariate[player].part(part),
            of_groups: self.of_groups.get(player).map(|sums| *sums.part(part)),
        }
    }

    #[inline(always)]
    fn store<const W: usize>(&mut self, player: usize, part: usize, sums: &ColumnSums<W>) {
        *self.weighted[player].part_mut(part) = sums.weighted;
        *self.plain[player].part_mut(part) = sums.plain;
        *self.univariate[player].part_mut(part) = sums.univariate;
        if let Some(of_groups) = &sums.of_groups {
            *self.of_groups[player].part_mut(part) = *of_groups;
        }
    }
}

/// The sums of one player in [`Columns`].
struct ColumnSums<const W: usize> {
    weighted: [f64; W],
    plain: [f64; W],
    univariate: [f64; W],
    of_groups: Option<[f64; W]>,
}

impl<const W: usize> ColumnSums<W> {
    #[inline(always)]
    fn add<A: Arithmetic, K: Kind>(&mut self, [gamma, alone]: &[[f64; W]; 2], weight: &[f64; W]) {
        self.weighted = multiply_add_lanes::<A, W>(&self.weighted, gamma, weight);
        self.univariate = multiply_add_lanes::<A, W>(&self.univariate, alone, weight);
        if let Some(of_groups) = &mut self.of_groups {
            *of_groups = multiply_add_lanes::<A, W>(of_groups, alone, weight);
        }
        self.plain = if K::TARGET {
            zip_lanes(&self.plain, gamma, |sum, gamma| sum + gamma)
        } else {
            multiply_add_lanes::<A, W>(&self.plain, gamma, gamma)
        };
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
    fn at<A: Arithmetic, K: Kind, const W: usize, const ROWS: usize>(
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
        if K::HALVES {
            own.take_halves::<A, W>((player, part), &mut values[0]);
            own.take_halves::<A, W>((omega.len() + player, part), &mut values[1]);
        }
        if K::WEIGHTED
            && let Some(mask) = &of.mask
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
