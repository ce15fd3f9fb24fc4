//! Kernel expansions f(x) = Σᵢ αᵢ k(x, xᵢ), and computations on their games.
//!
//! Each term of the kernel at each point is one evaluation of the engine, or one for each
//! background row. In a quadratic form, each product of two of these is an evaluation.

use std::sync::Arc;

use crate::absent::background::{Background, ValueFunction};
use crate::absent::background_means::{BackgroundMeans, LastMeans, MeansOfPoints};
use crate::absent::games::Games;
use crate::absent::interventional::Interventional;
use crate::absent::marginal::Marginal;
use crate::absent::marginal_products::MarginalProducts;
use crate::absent::neutral::Neutral;
use crate::absent::squares::MarginalSquares;
use crate::error::Error;
use crate::evaluations::packed_expansion::PackedExpansion;
use crate::evaluations::points::Points;
use crate::evaluations::products::Products;
use crate::evaluations::quadratic_form::{PairWeights, QuadraticForm};
use crate::game::coalitions::{Coalitions, binomial};
use crate::game::quantity::{MeasureNodes, Nodes, Quantity};
use crate::kernel::players::Players;
use crate::kernel::term::Term;
use crate::matrix::Matrix;
use crate::memory::{INPUT, Memory, RESULT, saturating_product};
use crate::quadrature::measure::Measure;
use crate::quadrature::table::NodeTable;
use crate::settings::{Method, Settings};
use crate::threads::Monitor;
use crate::walk::computation::{Computation, InParts, MAX_COALITIONS, Values};

/// A kernel expansion, or a quadratic form of kernel values, packed for the engine.
#[derive(Debug)]
pub struct Expansion {
    pub(crate) packed: PackedExpansion,
    /// The weights of a quadratic form; `None` for a sum over points.
    form: Option<QuadraticForm>,
    means: LastMeans,
    means_of_points: MeansOfPoints,
}

impl Expansion {
    /// Packs `points` (n × columns), `coefficients` (n × outputs) and the kernel's terms.
    ///
    /// # Errors
    /// If the numbers of points or of columns differ, a term's factors are not valid, or there is
    /// too little memory.
    pub fn new(
        points: Matrix<'_>,
        coefficients: Matrix<'_>,
        terms: &[Term],
        players: Players,
    ) -> Result<Self, Error> {
        Ok(Self {
            packed: PackedExpansion::new(points, coefficients, terms, players)?,
            form: None,
            means: LastMeans::default(),
            means_of_points: MeansOfPoints::default(),
        })
    }

    /// Packs f(x) = Σ C_pq k(x, x_p) k(x, x_q) with `points` (n × columns) and symmetric `weights`
    /// C (n × n).
    ///
    /// # Errors
    /// The errors of [`Expansion::new`]; also if a term is a power series.
    pub fn quadratic(
        points: Matrix<'_>,
        weights: Matrix<'_>,
        terms: &[Term],
        players: Players,
    ) -> Result<Self, Error> {
        let ones = Memory::default().filled(points.rows(), 1.0, INPUT)?;
        let ones = Matrix::of_shape(&ones, [points.rows(), 1]);
        let weights = PairWeights::of_matrix(points.rows(), weights)?;
        Self::new(points, ones, terms, players)?.with_form(weights)
    }

    /// Packs the squares (Σ c_p k(x, x_p))² of expansions with `coefficients` (n × outputs). The
    /// value of a coalition is the square of its value in the game of the expansion, which is not
    /// defined for a background whose rows are drawn as they are.
    ///
    /// # Errors
    /// The errors of [`Expansion::new`]; also if a term is a power series.
    pub fn squares(
        points: Matrix<'_>,
        coefficients: Matrix<'_>,
        terms: &[Term],
        players: Players,
    ) -> Result<Self, Error> {
        let weights = PairWeights::of_squares(coefficients)?;
        Self::new(points, coefficients, terms, players)?.with_form(weights)
    }

    /// Returns the quadratic form of the points.
    fn with_form(mut self, weights: PairWeights) -> Result<Self, Error> {
        let form = QuadraticForm::new(&self.packed, weights)?;
        self.packed.nodes = NodeTable::new(form.max_players());
        self.form = Some(form);
        Ok(self)
    }

    /// The players, to which the values belong.
    #[must_use]
    pub fn players(&self) -> &Players {
        &self.packed.kernel.players
    }

    /// Number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.packed.outputs()
    }

    /// Whether it is a quadratic form whose marginal game is the mean of the form.
    fn is_mean_of_form(&self) -> bool {
        self.form.as_ref().is_some_and(|form| !form.is_square())
    }

    /// Whether it is a quadratic form.
    pub(crate) fn is_quadratic(&self) -> bool {
        self.form.is_some()
    }

    /// Computes Shapley values: row by row of `x`, player by player, output by output.
    ///
    /// # Errors
    /// If the number of columns of `x` or of the background is wrong, a value overflows, there is
    /// too little memory, or the monitor stops the call.
    pub fn explain(
        &self,
        x: Matrix<'_>,
        value_function: ValueFunction<'_>,
        method: Method,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let nodes = Nodes::Table(&self.packed.nodes);
        let quantity = match method {
            Method::Quadrature => Quantity::Values(nodes),
            Method::Recursion => Quantity::ShapleyByRecursion(nodes),
        };
        self.compute(x, value_function, settings, Values(quantity, monitor))
    }

    /// Computes c_T ∫ ∏_{l∉T} Fₗ dμ of every coalition T of `size` players: row by row of `x`,
    /// coalition by coalition in lexicographic order, output by output.
    ///
    /// # Errors
    /// As [`Expansion::explain`].
    pub fn interactions(
        &self,
        x: Matrix<'_>,
        value_function: ValueFunction<'_>,
        (size, measure): (usize, &Measure),
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let players = self.packed.players();
        let count = binomial(players, size).unwrap_or(usize::MAX);
        let width = saturating_product([count, self.outputs()]);
        let result =
            Memory::default().filled(saturating_product([x.rows(), width]), 0.0, RESULT)?;
        // There may be very many parts. They are created only if there is memory for their results.
        let parts =
            if result.is_empty() { None } else { Coalitions::parts(players, size, MAX_COALITIONS) };
        let parts = parts.unwrap_or_default();
        let max_players = match &self.form {
            None => self.packed.kernel.max_players(),
            Some(form) => form.max_players(),
        };
        let nodes = MeasureNodes::new(measure, max_players, size);
        let computation = InParts { result, width, parts, nodes: nodes.nodes(), monitor };
        self.compute(x, value_function, settings, computation)
    }

    /// Computes the expansion f(x): row by row of `x`, output by output.
    ///
    /// # Errors
    /// As [`Expansion::explain`].
    pub fn predict(
        &self,
        x: Matrix<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let values = Values(Quantity::GrandCoalition, monitor);
        self.compute(x, ValueFunction::Neutral, settings, values)
    }

    /// Computes the value of the empty coalition, which is equal for all rows: output by output.
    /// The monitor is called with the progress of means over the points, if they are needed.
    ///
    /// # Errors
    /// As [`Expansion::explain`].
    pub fn base(
        &self,
        value_function: ValueFunction<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let columns = self.players().column_count();
        let zeros = vec![0.0; columns];
        let any_row = Matrix::of_shape(&zeros, [1, columns]);
        let is_of_points = matches!(value_function, ValueFunction::MarginalOfPoints);
        if is_of_points && self.packed.count > 0 && !self.is_mean_of_form() {
            self.means_of_points.of(&self.packed, settings, monitor)?;
        }
        self.compute(any_row, value_function, settings, Values(Quantity::EmptyCoalition, monitor))
    }

    /// Applies a computation to the games of rows.
    fn compute(
        &self,
        rows: Matrix<'_>,
        value_function: ValueFunction<'_>,
        settings: &Settings,
        mut computation: impl Computation,
    ) -> Result<Vec<f64>, Error> {
        let expansion = &self.packed;
        expansion.check_columns("X", rows)?;
        if let Some(background) = value_function.background() {
            self.check_background(background)?;
        }
        if let Some(form) = &self.form {
            let products = Products { expansion, form };
            if form.is_square() {
                return self.compute_squares(products, rows, value_function, settings, computation);
            }
            return Self::compute_products(products, rows, value_function, settings, computation);
        }
        let evaluations = Points(expansion);
        match value_function {
            ValueFunction::Neutral => {
                computation.of(&Games { evaluations, rows, absent: Neutral }, settings)
            }
            ValueFunction::Interventional(background) => {
                let absent = Interventional { background };
                computation.of(&Games { evaluations, rows, absent }, settings)
            }
            ValueFunction::Marginal(background) => {
                let means =
                    self.means.of(expansion, background, settings, computation.monitor())?;
                let absent = Marginal::new(background, means);
                computation.of(&Games { evaluations, rows, absent }, settings)
            }
            // Without points there are no evaluations, and no means.
            ValueFunction::MarginalOfPoints if expansion.count == 0 => {
                computation.of(&Games { evaluations, rows, absent: Neutral }, settings)
            }
            ValueFunction::MarginalOfPoints => {
                // Nothing of the computation itself is done yet.
                let preparation = &mut |_, total| computation.monitor()(0, total);
                let means = self.means_of_points.of(expansion, settings, preparation)?;
                let absent = Marginal::new(means.background(), Some(Arc::clone(&means)));
                computation.of(&Games { evaluations, rows, absent }, settings)
            }
        }
    }

    /// Applies a computation to the games of rows, for a quadratic form.
    fn compute_products(
        evaluations: Products<'_>,
        rows: Matrix<'_>,
        value_function: ValueFunction<'_>,
        settings: &Settings,
        mut computation: impl Computation,
    ) -> Result<Vec<f64>, Error> {
        let expansion = evaluations.expansion;
        match value_function {
            ValueFunction::Interventional(background) => {
                let absent = Interventional { background };
                computation.of(&Games { evaluations, rows, absent }, settings)
            }
            ValueFunction::Marginal(background) => {
                let absent =
                    MarginalProducts::new(&evaluations, background, computation.monitor())?;
                computation.of(&Games { evaluations, rows, absent }, settings)
            }
            ValueFunction::MarginalOfPoints if expansion.count > 0 => {
                let (points, shape) = expansion.unpacked_points()?;
                let weights = Memory::default().filled(shape[0], 1.0 / shape[0] as f64, INPUT)?;
                let rows_of_points = Matrix::of_shape(&points, shape);
                let background = Background { rows: rows_of_points, weights: &weights };
                let absent =
                    MarginalProducts::new(&evaluations, background, computation.monitor())?;
                computation.of(&Games { evaluations, rows, absent }, settings)
            }
            // Without points there are no evaluations, and no means.
            ValueFunction::Neutral | ValueFunction::MarginalOfPoints => {
                computation.of(&Games { evaluations, rows, absent: Neutral }, settings)
            }
        }
    }

    /// Applies a computation to the games of rows, for the square of a sum over points.
    fn compute_squares(
        &self,
        evaluations: Products<'_>,
        rows: Matrix<'_>,
        value_function: ValueFunction<'_>,
        settings: &Settings,
        mut computation: impl Computation,
    ) -> Result<Vec<f64>, Error> {
        if let ValueFunction::Interventional(_) = value_function {
            let message = "squares of means over whole background rows are not supported";
            return Err(Error::Unsupported(message.to_owned()));
        }
        // Nothing of the computation itself is done yet.
        let preparation = &mut |_, total| computation.monitor()(0, total);
        match self.marginal_means(value_function, settings, preparation)? {
            None => computation.of(&Games { evaluations, rows, absent: Neutral }, settings),
            Some(means) => {
                let absent = MarginalSquares::new(&means);
                computation.of(&Games { evaluations, rows, absent }, settings)
            }
        }
    }

    /// The mean factors of the marginal game; `None` in other games, and without points.
    pub(crate) fn marginal_means(
        &self,
        value_function: ValueFunction<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Option<Arc<BackgroundMeans>>, Error> {
        let expansion = &self.packed;
        match value_function {
            ValueFunction::Marginal(background) => {
                let last_means = self.means.of(expansion, background, settings, &mut *monitor)?;
                if last_means.is_some() {
                    return Ok(last_means);
                }
                let means = BackgroundMeans::new(expansion, background, settings, monitor)?;
                Ok(Some(Arc::new(means)))
            }
            ValueFunction::MarginalOfPoints if expansion.count > 0 => {
                self.means_of_points.of(expansion, settings, monitor).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(crate) fn check_background(&self, background: Background<'_>) -> Result<(), Error> {
        self.packed.check_columns("background", background.rows)?;
        let (rows, weights) = (background.rows.rows(), background.weights.len());
        if rows > 0 && rows == weights {
            return Ok(());
        }
        Err(Error::Shape {
            argument: "background",
            expected: "at least one row, and a weight for each row".to_owned(),
            got: format!("{rows} rows, {weights} weights"),
        })
    }
}
