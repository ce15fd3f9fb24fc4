//! Sums of coefficients over the coalitions that contain a smaller one.

use crate::error::Error;
use crate::game::coalitions::{Coalitions, Cursor, binomial};
use crate::memory::{Memory, RESULT, SUMS, saturating_product};
use crate::settings::{Context, Settings};
use crate::simd::sum::Sum;
use crate::threads::{self, Monitor, Parallelism};

/// Coalitions of two sizes, and the shape of a table with a value for each of the larger ones.
#[derive(Clone, Copy, Debug)]
pub struct Supersets {
    /// Players of the game.
    pub players: usize,
    /// Players of a smaller coalition.
    pub smaller: usize,
    /// Players of a larger coalition.
    pub larger: usize,
    /// Rows of the table.
    pub rows: usize,
    /// Outputs of the table.
    pub outputs: usize,
}

impl Supersets {
    /// For every row, smaller coalition and output: the sum of `values` over the larger coalitions
    /// that contain the smaller one. `values` has a number for every row, larger coalition and
    /// output; coalitions are in lexicographic order.
    ///
    /// # Errors
    /// If `values` has another length, there is too little memory, or the monitor stops the call.
    pub fn sums(
        &self,
        values: &[f64],
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let Self { players, rows, outputs, .. } = *self;
        let sizes = (self.smaller, self.larger);
        let (smaller, larger) = counts(values, players, sizes, (rows, outputs))?;
        let memory = Memory::default();
        let mut sums = memory.filled(saturating_product([rows, smaller, outputs]), 0.0, RESULT)?;
        if sums.is_empty() || values.is_empty() {
            return Ok(sums);
        }
        let subsets = Subsets::new(players, sizes);
        let tasks = sums.chunks_mut(smaller * outputs).zip(values.chunks(larger * outputs));
        let cost = saturating_product([values.len(), subsets.smaller.len(), LOOKUP_COST]);
        threads::for_each(
            tasks,
            Parallelism::of(cost, settings.threads),
            || {
                let mut totals = Vec::new();
                memory.reserve(&mut totals, smaller * outputs, SUMS)?;
                Ok(totals)
            },
            |totals, (sums, values), stop| {
                let context = Context { settings, stop };
                totals.clear();
                totals.resize(sums.len(), Sum::default());
                subsets.add(
                    values.chunks(outputs),
                    || context.is_stopped(),
                    |place, values| {
                        for (total, &value) in totals[place * outputs..].iter_mut().zip(values) {
                            total.add(Sum::from(value), settings.summation);
                        }
                    },
                );
                for (sum, total) in sums.iter_mut().zip(totals) {
                    *sum = total.value();
                }
            },
            monitor,
        )?;
        Ok(sums)
    }
}

/// The numbers of coalitions of both sizes, if `values` has a number for each of the larger
/// coalitions.
fn counts(
    values: &[f64],
    players: usize,
    sizes: (usize, usize),
    (rows, outputs): (usize, usize),
) -> Result<(usize, usize), Error> {
    let counts = (binomial(players, sizes.0), binomial(players, sizes.1));
    let (Some(smaller), Some(larger), true) = (counts.0, counts.1, sizes.0 < sizes.1) else {
        let (smaller, larger) = sizes;
        return Err(Error::Unsupported(format!(
            "cannot sum over coalitions of {larger} of {players} players that contain {smaller}: \
             `larger` must be above `smaller`, and the number of coalitions below 2^64"
        )));
    };
    if values.len() != saturating_product([rows, larger, outputs]) {
        return Err(Error::Shape {
            argument: "values",
            expected: format!("{rows} × {larger} × {outputs} numbers"),
            got: format!("{} numbers", values.len()),
        });
    }
    Ok((smaller, larger))
}

/// The cost of a lookup, in steps of one node, player and lane.
const LOOKUP_COST: usize = 16;

/// The smaller coalitions within larger ones.
struct Subsets {
    larger: Coalitions,
    /// The members of each smaller coalition, as places among the members of the larger one.
    smaller: Vec<Vec<usize>>,
    /// For the i-th member and a player: the number of coalitions that have the same members before
    /// i, and a later player at i.
    later_counts: Vec<Vec<usize>>,
    last_place: usize,
}

impl Subsets {
    fn new(players: usize, (smaller, larger): (usize, usize)) -> Self {
        let count = |n: usize, k: usize| binomial(n, k).unwrap_or(usize::MAX);
        let later_counts =
            |i: usize| (0..players).map(|p| count(players - 1 - p, smaller - i)).collect();
        Self {
            larger: Coalitions::all(players, larger),
            smaller: members(&Coalitions::all(larger, smaller)),
            later_counts: (0..smaller).map(later_counts).collect(),
            last_place: count(players, smaller) - 1,
        }
    }

    /// Calls `add` with the number of each smaller coalition and the values of a larger one, until
    /// stopped.
    fn add<'a>(
        &self,
        mut values: impl Iterator<Item = &'a [f64]>,
        is_stopped: impl Fn() -> bool,
        mut add: impl FnMut(usize, &[f64]),
    ) {
        for_each_coalition(&self.larger, |larger| {
            let Some(values) = values.next() else { return false };
            for places in &self.smaller {
                let later =
                    places.iter().zip(&self.later_counts).map(|(&i, after)| after[larger[i]]);
                add(self.last_place - later.sum::<usize>(), values);
            }
            !is_stopped()
        });
    }
}

/// Calls `visit` with the members of each coalition in turn, as long as it returns true.
fn for_each_coalition(coalitions: &Coalitions, mut visit: impl FnMut(&[usize]) -> bool) {
    if coalitions.size() == 0 {
        visit(&[]);
        return;
    }
    let mut cursor = Cursor::default();
    let mut has_next = cursor.start(coalitions);
    let mut members = Vec::new();
    while has_next {
        for last in cursor.last(coalitions) {
            members.clear();
            members.extend_from_slice(&cursor.members);
            members.push(last);
            if !visit(&members) {
                return;
            }
        }
        has_next = cursor.advance(coalitions).is_some();
    }
}

/// The members of each coalition.
fn members(coalitions: &Coalitions) -> Vec<Vec<usize>> {
    let mut result = Vec::new();
    for_each_coalition(coalitions, |members| {
        result.push(members.to_vec());
        true
    });
    result
}
