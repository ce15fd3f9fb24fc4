//! The factors of the points' entries in the columns of the explained row.

use std::ops::Range;

use crate::simd::arithmetic::Arithmetic;
use crate::simd::level::Body;
use crate::sparse::cell::{AbsentFactors, Cell, CellWorkspace, Comparison, ItemColumn};
use crate::sparse::profiles::{ComputeContrasts, ComputeFactors, Factor, difference};

/// Computes the factors of the entries in the item's columns.
pub(crate) struct Compare<'a> {
    pub cell: &'a Cell<'a>,
    pub item: &'a [ItemColumn],
    pub workspace: &'a mut CellWorkspace,
}

impl Body for Compare<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { cell, item, workspace } = self;
        workspace.begin(cell);
        for item_column in item {
            let reference = cell.reference::<A, W>(item_column);
            let entries = cell.tile.entries(item_column.column);
            let first = workspace.extend(entries.len());
            cell.compare::<A, W>(item_column, &entries, first, workspace);
            cell.replace_shares(item_column.column, &reference, &entries, first, workspace);
            let column = item_column.column;
            let next = entries.start;
            workspace.comparisons.push(Comparison { column, reference, entries, first, next });
        }
    }
}

impl CellWorkspace {
    /// Removes the columns and entries of the last item.
    fn begin(&mut self, cell: &Cell<'_>) {
        self.comparisons.clear();
        for numbers in [
            &mut self.present,
            &mut self.absent,
            &mut self.difference,
            &mut self.less_one,
            &mut self.lambda,
        ] {
            numbers.clear();
        }
        match cell.entry_factors() {
            Some(factors) => self.lambda.extend_from_slice(&factors.lambda),
            None => self.lambda.resize(cell.tile.count(), 0.0),
        }
    }

    /// Adds room for a number of entries, and returns the place of the first of them.
    fn extend(&mut self, count: usize) -> usize {
        let first = self.present.len();
        for numbers in
            [&mut self.present, &mut self.absent, &mut self.difference, &mut self.less_one]
        {
            numbers.resize(first + count, 0.0);
        }
        first
    }
}

impl Cell<'_> {
    /// The factor of an empty point in a column of the item.
    #[inline(always)]
    fn reference<A: Arithmetic, const W: usize>(&self, item_column: &ItemColumn) -> Factor {
        let profile = self.profiles.of(item_column.column);
        let zero = [0.0; W];
        let (a, c) = profile.factor::<A, W>(&[item_column.x; W], &zero);
        let (present, present_less_one) = (a[0], c[0]);
        let (absent, absent_less_one, difference) = match self.absent {
            AbsentFactors::Neutral(_) => (1.0, 0.0, present_less_one),
            AbsentFactors::Marginal(term, _) => {
                let zero_factor = term.columns.of_zero(item_column.column);
                let (b, b_less_one) = (zero_factor.absent, zero_factor.absent_less_one);
                let c = difference((present, b), (present_less_one, b_less_one));
                (b, b_less_one, c)
            }
            AbsentFactors::Interventional => {
                let (b, b_less_one) = profile.factor::<A, W>(&[item_column.z; W], &zero);
                let (x, z, mut contrast) = (item_column.x, item_column.z, [0.0]);
                ComputeContrasts { profile, x, z, values: &[0.0], contrasts: &mut contrast }
                    .run::<A, W>();
                (b[0], b_less_one[0], contrast[0])
            }
        };
        Factor { present, absent, present_less_one, absent_less_one, difference }
    }

    /// Computes a, b and c of the entries in a column of the item.
    #[inline(always)]
    fn compare<A: Arithmetic, const W: usize>(
        &self,
        item_column: &ItemColumn,
        entries: &Range<usize>,
        first: usize,
        workspace: &mut CellWorkspace,
    ) {
        let profile = self.profiles.of(item_column.column);
        let (ItemColumn { x, z, .. }, at) = (*item_column, first..first + entries.len());
        let values = &self.tile.values[entries.clone()];
        let factors = &mut workspace.present[at.clone()];
        let less_one = &mut workspace.less_one[at.clone()];
        ComputeFactors { profile, x, values, factors: &mut *factors, less_one: &mut *less_one }
            .run::<A, W>();
        let absent = &mut workspace.absent[at.clone()];
        let contrasts = &mut workspace.difference[at];
        match self.absent {
            AbsentFactors::Neutral(_) => {
                absent.fill(1.0);
                contrasts.copy_from_slice(less_one);
            }
            AbsentFactors::Marginal(term, tile) => {
                let means = &term.entries[tile];
                absent.copy_from_slice(&means.factors[entries.clone()]);
                let means = &means.less_one[entries.clone()];
                let numbers = factors.iter().zip(&*absent).zip(less_one.iter().zip(means));
                for (c, ((a, b), (a_less_one, b_less_one))) in contrasts.iter_mut().zip(numbers) {
                    *c = difference((*a, *b), (*a_less_one, *b_less_one));
                }
            }
            AbsentFactors::Interventional => {
                ComputeFactors { profile, x: z, values, factors: absent, less_one }.run::<A, W>();
                ComputeContrasts { profile, x, z, values, contrasts }.run::<A, W>();
            }
        }
    }

    /// Replaces the shares of |c| in Λ by those of the compared entries.
    fn replace_shares(
        &self,
        column: usize,
        reference: &Factor,
        entries: &Range<usize>,
        first: usize,
        workspace: &mut CellWorkspace,
    ) {
        let CellWorkspace { present, absent, difference, lambda, .. } = workspace;
        let factors = self.entry_factors();
        let reference_share = reference.share() - self.zero_factor(column).share();
        for (number, entry) in entries.clone().enumerate() {
            let at = first + number;
            let size = present[at].max(absent[at]);
            let share = if size > 0.0 { difference[at].abs() / size } else { 0.0 };
            let entry_share = factors.map_or(0.0, |factors| factors.shares[entry]);
            lambda[self.tile.points[entry]] += share - entry_share - reference_share;
        }
    }
}
