//! The places of the sums of a pair problem.

use std::ops::Range;

use crate::sample::octets::OCTET;

/// Maximum rows that are summed together, if they do not exchange targets: more would save little.
pub(crate) const MAX_ROWS_TOGETHER: usize = 4;

/// The places of the sums of a pair, of a row and of a column in a tile.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub players: usize,
    /// Maximum rows whose pairs with a block are summed together, so that sums of columns are read
    /// once for all of them: an octet, if octets exchange targets.
    pub rows_together: usize,
    /// Rows that exchange targets with each other: an octet, or 1.
    pub exchange_size: usize,
    /// Values of a pair that are summed over groups: γ, and univariate values.
    pub values: usize,
    pub univariate: Range<usize>,
    /// Sums of a row in a tile: a weighted sum for each player; with a target, plain sums follow.
    pub row_width: usize,
    pub row_plain: Range<usize>,
    /// Sums of a column in a tile: over groups, for each of the rows that exchange targets; then the
    /// weighted sums of the column's row, unless the sums of γ over groups are these; and the
    /// plain ones.
    pub column_width: usize,
    pub column_groups: Range<usize>,
    pub column_weighted: Range<usize>,
    pub column_plain: Range<usize>,
    /// Sums of a pair of groups.
    pub group_width: usize,
}

impl Layout {
    /// The layout with or without a target, which octets may exchange.
    pub fn new(
        players: usize,
        (is_target, exchanges): (bool, bool),
        univariate_in_groups: bool,
    ) -> Self {
        let after = |end: usize, is_there: bool| end..end + if is_there { players } else { 0 };
        let (rows_together, exchange_size) = if exchanges {
            (OCTET, OCTET)
        } else {
            // Their factors stay in the second-level cache.
            ((256 / players.max(1)).clamp(1, MAX_ROWS_TOGETHER), 1)
        };
        let univariate = after(players, univariate_in_groups);
        let values = univariate.end;
        let row_plain = after(players, is_target);
        let column_groups = 0..exchange_size * values;
        let after_groups = after(column_groups.end, exchanges);
        let column_plain = after(after_groups.end, is_target);
        Self {
            players,
            rows_together,
            exchange_size,
            values,
            univariate,
            row_width: row_plain.end,
            row_plain,
            column_width: column_plain.end,
            column_groups,
            column_weighted: if exchanges { after_groups } else { 0..players },
            column_plain,
            group_width: exchange_size.pow(2) * values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_every_sum_once() {
        let players = 3;
        for (weights, univariate, length) in [
            ((false, false), false, 3),
            ((false, false), true, 6),
            ((true, false), true, 9),
            ((true, true), false, OCTET * 3 + 6),
            ((true, true), true, OCTET * 6 + 6),
        ] {
            let layout = Layout::new(players, weights, univariate);
            assert_eq!(layout.column_width, length);
            assert_eq!(layout.column_weighted.len(), layout.row_plain.start);
            assert_eq!(layout.column_plain.len(), layout.row_plain.len());
            assert_eq!(layout.column_plain.end, layout.column_width);
            assert_eq!(layout.group_width, layout.exchange_size * layout.column_groups.len());
        }
    }
}
