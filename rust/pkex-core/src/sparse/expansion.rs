//! Kernel expansions f(x) = Σᵢ αᵢ k(x, xᵢ) with sparse points, and their Shapley values at sparse
//! rows.

use std::sync::{Arc, Mutex, OnceLock};

use crate::error::Error;
use crate::kernel::term::Term;
use crate::matrix::Matrix;
use crate::memory::{INPUT, Memory, RESULT, SUMS, saturating_product};
use crate::settings::{Context, Settings};
use crate::simd::sum::{Sum, Summation};
use crate::sparse::cell::{AbsentFactors, Cell, CellWorkspace, ItemColumn};
use crate::sparse::entry_factors::{EntryFactors, ZeroFactors};
use crate::sparse::marginal::MarginalTerm;
use crate::sparse::means::SparseBackground;
use crate::sparse::profiles::{Profiles, log};
use crate::sparse::rows::{SparseMatrix, SparseRow};
use crate::sparse::selected_pairs::{PairWorkspace, pairs_with_others};
use crate::sparse::tiles::Tile;
use crate::threads::{Monitor, Parallelism, Stop};
use crate::walk::waves::{Units, Waves};

/// The value function of sparse rows, with background rows and their weights of sum 1.
#[derive(Clone, Copy, Debug)]
pub enum SparseGame<'a> {
    /// Absent features have factor 1.
    Neutral,
    /// Absent features are those of background rows.
    Interventional(SparseMatrix<'a>, &'a [f64]),
    /// Each absent feature is drawn from the background independently.
    Marginal(SparseMatrix<'a>, &'a [f64]),
    /// The same, from the points.
    MarginalOfPoints,
}

/// A product kernel, packed.
#[derive(Debug)]
struct PackedTerm {
    coefficient: f64,
    profiles: Profiles,
    zeros: Vec<ZeroFactors>,
    neutral: Vec<EntryFactors>,
}

/// The absent factors of a marginal game, term by term.
#[derive(Debug)]
struct Marginal {
    background: SparseBackground,
    terms: Vec<MarginalTerm>,
}

/// A kernel expansion with sparse points.
#[derive(Debug)]
pub struct SparseExpansion {
    columns: usize,
    outputs: usize,
    /// The points, as a matrix owns them.
    points: (Vec<usize>, Vec<usize>, Vec<f64>),
    tiles: Vec<Tile>,
    /// The weights of the points of each tile, output by output.
    weights: Vec<Vec<f64>>,
    terms: Vec<PackedTerm>,
    marginal_of_points: OnceLock<Arc<Marginal>>,
    last_marginal: Mutex<Option<Arc<Marginal>>>,
}

impl SparseExpansion {
    /// Packs `points` (n × columns), `coefficients` (n × outputs) and the kernel's terms, which are
    /// products of positive stationary kernels of single columns.
    ///
    /// # Errors
    /// If the numbers of points differ, or a term is not such a product.
    pub fn new(
        points: SparseMatrix<'_>,
        coefficients: Matrix<'_>,
        terms: &[Term],
        settings: &Settings,
    ) -> Result<Self, Error> {
        if coefficients.rows() != points.rows() {
            return Err(Error::Shape {
                argument: "coefficients",
                expected: format!("{} rows, one for each point", points.rows()),
                got: format!("{} rows", coefficients.rows()),
            });
        }
        // Several arrays have a number for each column: they are made only if there is memory.
        let columns = points.columns().saturating_add(1);
        Memory::default().reserve(&mut Vec::<[usize; 8]>::new(), columns, INPUT)?;
        let tiles = Tile::all(points);
        let of_tile = |tile: &Tile| {
            tile.rows.iter().flat_map(|&row| coefficients.row(row)).copied().collect()
        };
        let weights = tiles.iter().map(of_tile).collect();
        let stop = Stop::new(false);
        let context = Context { settings, stop: &stop };
        let pack = |term: &Term| {
            let profiles = Profiles::new(term, points.columns())?;
            let zeros = tiles.iter().map(|tile| ZeroFactors::new(&profiles, tile, context));
            let zeros: Vec<_> = zeros.collect();
            let neutral = tiles.iter().zip(&zeros);
            let neutral = neutral.map(|(tile, zero)| EntryFactors::neutral(tile, zero)).collect();
            Ok(PackedTerm { coefficient: term.coefficient, profiles, zeros, neutral })
        };
        Ok(Self {
            columns: points.columns(),
            outputs: coefficients.columns(),
            points: points.to_owned_parts(),
            terms: terms.iter().map(pack).collect::<Result<_, Error>>()?,
            tiles,
            weights,
            marginal_of_points: OnceLock::new(),
            last_marginal: Mutex::default(),
        })
    }

    /// Number of columns, which are the players.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Computes Shapley values: row by row of `x`, column by column, output by output.
    ///
    /// # Errors
    /// If the number of columns of `x` or of the background is wrong, a value overflows, there is
    /// too little memory, or the monitor stops the call.
    pub fn explain(
        &self,
        x: SparseMatrix<'_>,
        game: SparseGame<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        self.check_columns("X", x)?;
        // Nothing of the values themselves is done yet.
        let marginal = self.prepare_marginal(game, settings, &mut |_, total| monitor(0, total))?;
        let width = saturating_product([self.columns, self.outputs]);
        let work = |workspace: &mut (CellWorkspace, Vec<Sum>),
                    row,
                    context: Context<'_>,
                    values: &mut [f64]| {
            let (cells, sums) = workspace;
            sums.fill(Sum::default());
            self.for_each_cell(
                x.row(row),
                &[],
                (game, marginal.as_deref()),
                context,
                |cell, item| {
                    cell.add_values(item, cells, context, sums);
                },
            );
            write(values, sums);
        };
        let workspace = |memory: &Memory| {
            Ok((CellWorkspace::default(), memory.filled(width, Sum::default(), SUMS)?))
        };
        self.for_each_row(x.rows(), width, settings, monitor, workspace, work)
    }

    /// Computes the Shapley interaction indices of the pairs of selected columns and one more
    /// player, whose pair with a column is the sum of its pairs with all others: row by row of `x`,
    /// pair by pair in lexicographic order, in which the others are the last player, output by
    /// output.
    ///
    /// # Errors
    /// As [`SparseExpansion::explain`], or if a selected column does not exist or occurs twice.
    pub fn selected_pairs(
        &self,
        x: SparseMatrix<'_>,
        selected: &[usize],
        game: SparseGame<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        self.check_columns("X", x)?;
        let mut ascending = selected.to_vec();
        ascending.sort_unstable();
        ascending.dedup();
        if ascending.len() < selected.len() || ascending.last() >= Some(&self.columns) {
            return Err(Error::Shape {
                argument: "selected",
                expected: format!("different numbers below {}", self.columns),
                got: format!("{selected:?}"),
            });
        }
        let marginal = self.prepare_marginal(game, settings, &mut |_, total| monitor(0, total))?;
        let width = saturating_product([pairs_with_others(selected.len()), self.outputs]);
        let work = |workspace: &mut (PairWorkspace, Vec<Sum>),
                    row,
                    context: Context<'_>,
                    values: &mut [f64]| {
            let (pairs, sums) = workspace;
            sums.fill(Sum::default());
            let game = (game, marginal.as_deref());
            self.for_each_cell(x.row(row), &ascending, game, context, |cell, item| {
                cell.add_pairs(item, selected, pairs, context, sums);
            });
            write(values, sums);
        };
        let workspace = |memory: &Memory| {
            Ok((PairWorkspace::default(), memory.filled(width, Sum::default(), SUMS)?))
        };
        self.for_each_row(x.rows(), width, settings, monitor, workspace, work)
    }

    /// Computes the expansion f(x): row by row of `x`, output by output.
    ///
    /// # Errors
    /// As [`SparseExpansion::explain`].
    pub fn predict(
        &self,
        x: SparseMatrix<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        self.check_columns("X", x)?;
        let work =
            |(logs, sums): &mut (Vec<f64>, Vec<Sum>), row, _: Context<'_>, values: &mut [f64]| {
                sums.fill(Sum::default());
                for term in &self.terms {
                    for (tile, weights) in self.tiles.iter().zip(&self.weights).enumerate() {
                        let weights = (term.coefficient, weights.1.as_slice());
                        self.logs_of_kernel(term, tile, x.row(row), logs);
                        self.add_exponentials(logs, weights, sums);
                    }
                }
                write(values, sums);
            };
        let workspace = |_: &Memory| Ok((Vec::new(), vec![Sum::default(); self.outputs]));
        self.for_each_row(x.rows(), self.outputs, settings, monitor, workspace, work)
    }

    /// Computes the value of the empty coalition in a neutral or marginal game: output by output.
    /// In the interventional game it is the mean of the predictions of the background.
    ///
    /// # Errors
    /// As [`SparseExpansion::explain`].
    pub fn base(
        &self,
        game: SparseGame<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let marginal = self.prepare_marginal(game, settings, monitor)?;
        let mut sums = vec![Sum::default(); self.outputs];
        for (number, term) in self.terms.iter().enumerate() {
            for (tile, weights) in self.weights.iter().enumerate() {
                let logs = match &marginal {
                    Some(marginal) => {
                        marginal.terms[number].logs_of_absent(&self.tiles[tile], tile)
                    }
                    None => vec![0.0; self.tiles[tile].count()],
                };
                self.add_exponentials(&logs, (term.coefficient, weights), &mut sums);
            }
        }
        Ok(sums.into_iter().map(Sum::value).collect())
    }

    /// The absent factors of a marginal game. The monitor is called with the progress of the means
    /// that must be computed for them.
    fn prepare_marginal(
        &self,
        game: SparseGame<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Option<Arc<Marginal>>, Error> {
        match game {
            SparseGame::Neutral => Ok(None),
            SparseGame::Interventional(rows, weights) => {
                self.check_background(rows, weights)?;
                Ok(None)
            }
            SparseGame::Marginal(rows, weights) => {
                self.check_background(rows, weights)?;
                // Without waiting: the thread that holds the lock may not exist in a forked child.
                let last = self.last_marginal.try_lock().ok().and_then(|last| last.clone());
                if let Some(last) = last.filter(|last| last.background.is_of(rows, weights)) {
                    return Ok(Some(last));
                }
                let background = SparseBackground::new(rows, weights);
                let marginal = self.compute_marginal(background, settings, monitor)?;
                if let Ok(mut last) = self.last_marginal.try_lock() {
                    *last = Some(Arc::clone(&marginal));
                }
                Ok(Some(marginal))
            }
            SparseGame::MarginalOfPoints => {
                if let Some(marginal) = self.marginal_of_points.get() {
                    return Ok(Some(Arc::clone(marginal)));
                }
                let (starts, indices, values) = &self.points;
                let points = SparseMatrix::of_parts(self.columns, starts, indices, values);
                let weights = vec![1.0 / points.rows() as f64; points.rows()];
                let background = SparseBackground::new(points, &weights);
                let marginal = self.compute_marginal(background, settings, monitor)?;
                Ok(Some(Arc::clone(self.marginal_of_points.get_or_init(|| marginal))))
            }
        }
    }

    fn compute_marginal(
        &self,
        background: SparseBackground,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Arc<Marginal>, Error> {
        let count = self.terms.len();
        let marginal_term = |(number, term): (usize, &PackedTerm)| {
            let points = (self.tiles.as_slice(), term.zeros.as_slice());
            let (profiles, columns) = (&term.profiles, self.columns);
            let monitor: Monitor<'_> =
                &mut |done, total| monitor(number * total + done, count * total);
            MarginalTerm::new(profiles, points, &background, columns, settings, monitor)
        };
        let terms = self.terms.iter().enumerate().map(marginal_term).collect::<Result<_, _>>()?;
        Ok(Arc::new(Marginal { background, terms }))
    }

    /// Calls a function with the games of a row and each tile, and with the columns of their items:
    /// those with an entry, and others that are always included.
    fn for_each_cell(
        &self,
        x: SparseRow<'_>,
        extra_columns: &[usize],
        (game, marginal): (SparseGame<'_>, Option<&Marginal>),
        context: Context<'_>,
        mut add: impl FnMut(&Cell<'_>, &[ItemColumn]),
    ) {
        let item = |z| include_columns(columns_of(x, z), extra_columns);
        let alternatives = match game {
            SparseGame::Interventional(rows, weights) => {
                let of_row = |row| (item(rows.row(row)), weights[row]);
                (0..rows.rows()).map(of_row).collect()
            }
            _ => vec![(item(SparseRow::EMPTY), 1.0)],
        };
        for (item, weight) in alternatives {
            for (number, term) in self.terms.iter().enumerate() {
                for (tile, weights) in self.weights.iter().enumerate() {
                    if context.is_stopped() {
                        return;
                    }
                    let absent = match (game, marginal) {
                        (SparseGame::Interventional(..), _) => AbsentFactors::Interventional,
                        (_, Some(marginal)) => {
                            AbsentFactors::Marginal(&marginal.terms[number], tile)
                        }
                        (_, None) => AbsentFactors::Neutral(&term.neutral[tile]),
                    };
                    let cell = Cell {
                        tile: &self.tiles[tile],
                        tiles: &self.tiles,
                        profiles: &term.profiles,
                        zero: &term.zeros[tile],
                        absent,
                        weights,
                        scale: term.coefficient * weight,
                    };
                    add(&cell, &item);
                }
            }
        }
    }

    /// ln k(x, y) of the points y of a tile.
    fn logs_of_kernel(
        &self,
        term: &PackedTerm,
        tile: usize,
        x: SparseRow<'_>,
        logs: &mut Vec<f64>,
    ) {
        let (zero, tile) = (&term.zeros[tile], &self.tiles[tile]);
        // Large logarithms cancel where x and y are equal.
        let add = |sum: &mut Sum, log: f64| sum.add(Sum::from(log), Summation::Compensated);
        let (mut sums, mut total) = (zero.log_sums.clone(), Sum::default());
        for (&column, &x) in x.columns.iter().zip(x.values) {
            let kernel = |y: f64| {
                let (factor, less_one) = term.profiles.factor(column, x, y);
                log(factor, less_one)
            };
            let zero_log = kernel(0.0);
            add(&mut total, zero_log);
            for entry in tile.entries(column) {
                let sum = &mut sums[tile.points[entry]];
                for log in [kernel(tile.values[entry]), -zero_log, -zero.logs[entry]] {
                    add(sum, log);
                }
            }
        }
        logs.clear();
        logs.extend(sums.into_iter().map(|mut sum| {
            sum.add(total, Summation::Compensated);
            sum.value()
        }));
    }

    /// Adds weights times exponentials to the sums of outputs.
    fn add_exponentials(&self, logs: &[f64], (scale, weights): (f64, &[f64]), sums: &mut [Sum]) {
        for (log, weights) in logs.iter().zip(weights.chunks(self.outputs.max(1))) {
            let kernel = scale * libm::exp(log.min(0.0));
            for (sum, weight) in sums.iter_mut().zip(weights) {
                sum.add(Sum::from(kernel * weight), Summation::Compensated);
            }
        }
    }

    /// Computes the results of rows, several of them at a time.
    fn for_each_row<W>(
        &self,
        rows: usize,
        width: usize,
        settings: &Settings,
        monitor: Monitor<'_>,
        workspace: impl Fn(&Memory) -> Result<W, Error> + Sync,
        work: impl Fn(&mut W, usize, Context<'_>, &mut [f64]) + Sync,
    ) -> Result<Vec<f64>, Error> {
        let memory = Memory::default();
        let mut result = memory.filled(saturating_product([rows, width]), 0.0, RESULT)?;
        if result.is_empty() {
            return Ok(result);
        }
        let entries: usize = self.tiles.iter().map(|tile| tile.values.len()).sum();
        let cost = saturating_product([rows, entries + width, 12 * self.terms.len()]);
        Waves::new(rows, monitor).compute(
            &memory,
            Units { count: rows, per_task: 1 },
            Parallelism::of(cost, settings.threads),
            result.chunks_mut(width).enumerate(),
            || workspace(&memory),
            |workspace, (row, values), stop| {
                work(workspace, row, Context { settings, stop }, values);
            },
        )?;
        match result.chunks(width).position(|row| row.iter().any(|value| !value.is_finite())) {
            Some(row) => Err(Error::Overflow { row }),
            None => Ok(result),
        }
    }

    fn check_columns(&self, argument: &'static str, rows: SparseMatrix<'_>) -> Result<(), Error> {
        if rows.columns() == self.columns {
            return Ok(());
        }
        Err(Error::Shape {
            argument,
            expected: format!("{} columns", self.columns),
            got: format!("{} columns", rows.columns()),
        })
    }

    fn check_background(&self, rows: SparseMatrix<'_>, weights: &[f64]) -> Result<(), Error> {
        self.check_columns("background", rows)?;
        if rows.rows() > 0 && rows.rows() == weights.len() {
            return Ok(());
        }
        Err(Error::Shape {
            argument: "background",
            expected: "at least one row, and a weight for each row".to_owned(),
            got: format!("{} rows, {} weights", rows.rows(), weights.len()),
        })
    }
}

/// Writes the values of sums.
fn write(values: &mut [f64], sums: &[Sum]) {
    for (value, sum) in values.iter_mut().zip(sums) {
        *value = sum.value();
    }
}

/// The columns in which x or z has an entry, ascending.
fn columns_of(x: SparseRow<'_>, z: SparseRow<'_>) -> Vec<ItemColumn> {
    let mut z_entries = z.columns.iter().copied().zip(z.values.iter().copied()).peekable();
    let mut columns = Vec::with_capacity(x.columns.len() + z.columns.len());
    for (&column, &x) in x.columns.iter().zip(x.values) {
        while let Some((column, z)) = z_entries.next_if(|(other, _)| *other < column) {
            columns.push(ItemColumn { column, x: 0.0, z });
        }
        let z = z_entries.next_if(|(other, _)| *other == column).map_or(0.0, |(_, z)| z);
        columns.push(ItemColumn { column, x, z });
    }
    columns.extend(z_entries.map(|(column, z)| ItemColumn { column, x: 0.0, z }));
    columns
}

/// The columns of an item and others, ascending; these have zero entries where it has none.
fn include_columns(mut item: Vec<ItemColumn>, columns: &[usize]) -> Vec<ItemColumn> {
    for &column in columns {
        let place = item.partition_point(|item_column| item_column.column < column);
        if item.get(place).is_none_or(|item_column| item_column.column > column) {
            item.insert(place, ItemColumn { column, x: 0.0, z: 0.0 });
        }
    }
    item
}
