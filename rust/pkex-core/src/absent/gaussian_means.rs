//! The mean factors over an expansion's points, for terms whose factors are Gaussians of one column
//! each: column by column, in a time proportional to the number of points.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::absent::factors::AbsentFactors;
use crate::absent::point_means::{KINDS, pack_means};
use crate::error::Error;
use crate::kernel::gauss_transform::{EvaluateSums, GaussTransform};
use crate::kernel::term::PackedTerm;
use crate::matrix::Matrix;
use crate::memory::{FACTORS, INPUT, Memory, saturating_product};
use crate::settings::Settings;
use crate::simd::lanes::{LANES, Lanes};
use crate::threads::{self, Monitor, Parallelism};

/// Fewer points are computed faster pair by pair.
const MIN_POINTS: usize = 128;

/// Rough cost of both sums at a point, in steps of one node, player and lane.
const COST_OF_SUMS: usize = 400;

/// The columns of points, each sorted when a term first needs it.
pub(crate) struct SortedColumns<'a> {
    points: Matrix<'a>,
    columns: BTreeMap<usize, SortedColumn>,
}

/// The ascending entries of a column, and the row of each.
struct SortedColumn {
    entries: Vec<f64>,
    rows: Vec<usize>,
}

impl<'a> SortedColumns<'a> {
    /// No column of the points is sorted yet.
    pub fn of(points: Matrix<'a>) -> Self {
        Self { points, columns: BTreeMap::new() }
    }

    /// The mean factors of a term over all points, block by block; `None` if they are computed pair
    /// by pair.
    pub fn means(
        &mut self,
        term: &PackedTerm,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Option<Vec<AbsentFactors>>, Error> {
        let Self { points, columns } = self;
        let (count, players) = (points.rows(), term.gaussians.len());
        if players == 0 || count < MIN_POINTS {
            return Ok(None);
        }
        for &(column, _) in &term.gaussians {
            if let Entry::Vacant(place) = columns.entry(column) {
                place.insert(SortedColumn::new(*points, column)?);
            }
        }
        let memory = Memory::default();
        let mut sums =
            memory.filled(saturating_product([count, players]), [0.0; KINDS], FACTORS)?;
        let mut outcomes = memory.filled(players, Ok(()), FACTORS)?;
        let cost = saturating_product([COST_OF_SUMS, count, players]);
        threads::for_each(
            term.gaussians.iter().zip(sums.chunks_mut(count)).zip(&mut outcomes),
            Parallelism::of(cost, settings.threads),
            || Ok(()),
            |(), ((&(column, rate), sums), outcome), _| {
                *outcome = columns[&column].add_up(rate, settings, sums);
            },
            monitor,
        )?;
        outcomes.into_iter().collect::<Result<(), _>>()?;
        pack_means([count, players], settings, |row, player| sums[player * count + row]).map(Some)
    }
}

impl SortedColumn {
    fn new(points: Matrix<'_>, column: usize) -> Result<Self, Error> {
        let memory = Memory::default();
        let (mut entries, mut rows) = (Vec::new(), Vec::new());
        memory.reserve(&mut entries, points.rows(), INPUT)?;
        memory.reserve(&mut rows, points.rows(), INPUT)?;
        let entry = |row: usize| points.row(row)[column];
        rows.extend(0..points.rows());
        rows.sort_unstable_by(|&one, &other| {
            entry(one).total_cmp(&entry(other)).then(one.cmp(&other))
        });
        entries.extend(rows.iter().map(|&row| entry(row)));
        Ok(Self { entries, rows })
    }

    /// Computes the sums of a Gaussian kernel and of the kernel minus 1 over all entries, row by
    /// row.
    fn add_up(
        &self,
        rate: f64,
        settings: &Settings,
        sums: &mut [[f64; KINDS]],
    ) -> Result<(), Error> {
        let Self { entries, rows } = self;
        let transform = &GaussTransform::new(entries, rate)?;
        for (entries, rows) in entries.chunks(LANES).zip(rows.chunks(LANES)) {
            // The last entry fills unused lanes.
            let x = &Lanes(std::array::from_fn(|lane| entries[lane.min(entries.len() - 1)]));
            let values = settings.level.run(EvaluateSums { transform, x });
            for (lane, &row) in rows.iter().enumerate() {
                sums[row] = values.map(|sum| sum.0[lane]);
            }
        }
        Ok(())
    }
}
