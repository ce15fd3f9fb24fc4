//! The extension module `pkex._core`: parses arguments, releases the interpreter, converts results.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

mod apart;
mod arguments;
mod call;

use pyo3::prelude::*;

/// The engine of pkex. Arrays are two-dimensional, C-contiguous and finite float64.
#[pymodule]
mod _core {
    use numpy::{
        PyArray1, PyArray2, PyArray3, PyArray4, PyReadonlyArray1, PyReadonlyArray2,
        PyReadonlyArray3,
    };
    use pkex_core::{
        Classes, Matrix, Monitor, OCTET, Players, ProductGames, Settings, TargetWeights, Term,
        Weighting,
    };
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::apart::{sums_of_parts, tile_sums};
    use crate::arguments::{
        self, Array, Game, GameArgument, MeasureArgument, Sample, Sums, TermArgument,
    };
    use crate::call;

    #[pymodule_init]
    fn initialise(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        call::choose_level()
    }

    /// The instruction set in use: "avx512", "avx2", "neon" or "portable".
    #[pyfunction]
    fn simd_level() -> &'static str {
        call::level().name()
    }

    /// The number of threads that this process may run at once, by its affinity and its quota.
    #[pyfunction]
    fn available_threads() -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }

    /// A kernel expansion, packed for the engine; immutable.
    #[pyclass(frozen, module = "pkex._core")]
    struct Expansion(pkex_core::Expansion);

    /// What packs points and their weights for the engine.
    type Pack = for<'a> fn(
        Matrix<'a>,
        Matrix<'a>,
        &[Term],
        Players,
    ) -> Result<pkex_core::Expansion, pkex_core::Error>;

    impl Expansion {
        fn packed(
            points: PyReadonlyArray2<'_, f64>,
            weights: PyReadonlyArray2<'_, f64>,
            terms: Vec<TermArgument<'_>>,
            players: Option<PyReadonlyArray1<'_, i64>>,
            pack: Pack,
        ) -> PyResult<Self> {
            let (points, weights) = (Array::copied(&points)?, Array::copied(&weights)?);
            let terms = arguments::terms(&terms)?;
            let players = match players {
                Some(players) => Players::grouped(arguments::indices("players", &players)?),
                None => Players::columns(points.columns()),
            };
            pack(points.matrix(), weights.matrix(), &terms, players)
                .map(Self)
                .map_err(call::to_python)
        }
    }

    #[pymethods]
    impl Expansion {
        #[new]
        #[pyo3(signature = (points, coefficients, terms, players = None))]
        fn new(
            points: PyReadonlyArray2<'_, f64>,
            coefficients: PyReadonlyArray2<'_, f64>,
            terms: Vec<TermArgument<'_>>,
            players: Option<PyReadonlyArray1<'_, i64>>,
        ) -> PyResult<Self> {
            Self::packed(points, coefficients, terms, players, pkex_core::Expansion::new)
        }

        /// The quadratic form Σ C_pq k(x, x_p) k(x, x_q) of points, with a symmetric matrix C.
        #[staticmethod]
        #[pyo3(signature = (points, weights, terms, players = None))]
        fn quadratic(
            points: PyReadonlyArray2<'_, f64>,
            weights: PyReadonlyArray2<'_, f64>,
            terms: Vec<TermArgument<'_>>,
            players: Option<PyReadonlyArray1<'_, i64>>,
        ) -> PyResult<Self> {
            Self::packed(points, weights, terms, players, pkex_core::Expansion::quadratic)
        }

        /// Shapley values of shape (rows, players, outputs), of the game "neutral" or "marginal of
        /// points"; or of ("interventional" or "marginal", background rows, their weights).
        #[pyo3(signature = (X, *, game, method, summation, n_threads, progress = None))]
        #[expect(non_snake_case, reason = "X is what Python's users call it")]
        #[expect(clippy::too_many_arguments, reason = "the public class's options")]
        fn explain<'py>(
            &self,
            py: Python<'py>,
            X: PyReadonlyArray2<'py, f64>,
            game: GameArgument<'py>,
            method: &str,
            summation: &str,
            n_threads: usize,
            progress: Option<Py<PyAny>>,
        ) -> PyResult<Bound<'py, PyArray3<f64>>> {
            let x = Array::copied(&X)?;
            let game = Game::copied(game)?;
            let method = arguments::method(method)?;
            let settings = settings(summation, n_threads)?;
            let shape = [x.rows(), self.0.players().count(), self.0.outputs()];
            let explain = |monitor: Monitor<'_>| {
                self.0.explain(x.matrix(), game.value_function(), method, &settings, monitor)
            };
            call::array(py, call::run(py, progress, explain)?, shape)
        }

        /// Interactions of coalitions of `size` players, of shape (rows, coalitions, outputs):
        /// against the point or the density that the measure is, as `Measure` has it.
        #[pyo3(signature = (X, *, game, size, measure, summation, n_threads, progress = None))]
        #[expect(non_snake_case, reason = "X is what Python's users call it")]
        #[expect(clippy::too_many_arguments, reason = "the public class's options")]
        fn interactions<'py>(
            &self,
            py: Python<'py>,
            X: PyReadonlyArray2<'py, f64>,
            game: GameArgument<'py>,
            size: usize,
            measure: MeasureArgument,
            summation: &str,
            n_threads: usize,
            progress: Option<Py<PyAny>>,
        ) -> PyResult<Bound<'py, PyArray3<f64>>> {
            let x = Array::copied(&X)?;
            let game = Game::copied(game)?;
            let measure = measure.checked()?;
            let settings = settings(summation, n_threads)?;
            let interactions = |monitor: Monitor<'_>| {
                let game = game.value_function();
                self.0.interactions(x.matrix(), game, (size, &measure), &settings, monitor)
            };
            let values = call::run(py, progress, interactions)?;
            let coalitions = values.len() / (x.rows() * self.0.outputs()).max(1);
            call::array(py, values, [x.rows(), coalitions, self.0.outputs()])
        }

        /// The worth of the empty coalition, of shape (outputs,).
        #[pyo3(signature = (*, game, n_threads, progress = None))]
        fn base<'py>(
            &self,
            py: Python<'py>,
            game: GameArgument<'py>,
            n_threads: usize,
            progress: Option<Py<PyAny>>,
        ) -> PyResult<Bound<'py, PyArray1<f64>>> {
            let game = Game::copied(game)?;
            let settings = settings("compensated", n_threads)?;
            let base =
                |monitor: Monitor<'_>| self.0.base(game.value_function(), &settings, monitor);
            call::array(py, call::run(py, progress, base)?, [self.0.outputs()])
        }

        /// The worths of coalitions, of shape (rows, background rows or 1, outputs, coalitions):
        /// those that are rows of `members`, or all of them, by the number whose bits are players.
        #[pyo3(signature = (X, background, members, *, summation, n_threads, progress = None))]
        #[expect(non_snake_case, reason = "X is what Python's users call it")]
        #[expect(clippy::too_many_arguments, reason = "the game and how it is computed")]
        fn worths<'py>(
            &self,
            py: Python<'py>,
            X: PyReadonlyArray2<'py, f64>,
            background: Option<PyReadonlyArray2<'py, f64>>,
            members: Option<PyReadonlyArray2<'py, bool>>,
            summation: &str,
            n_threads: usize,
            progress: Option<Py<PyAny>>,
        ) -> PyResult<Bound<'py, PyArray4<f64>>> {
            let x = Array::copied(&X)?;
            let background = background.as_ref().map(Array::copied).transpose()?;
            let members =
                members.as_ref().map(|m| PyResult::Ok(m.as_slice()?.to_vec())).transpose()?;
            let settings = settings(summation, n_threads)?;
            let worths = call::run(py, progress, |monitor: Monitor<'_>| {
                let rows = background.as_ref().map(Array::matrix);
                self.0.worths(x.matrix(), rows, members.as_deref(), &settings, monitor)
            })?;
            let alternatives = background.as_ref().map_or(1, Array::rows);
            let [rows, outputs] = [x.rows(), self.0.outputs()];
            let coalitions = worths.len() / (rows * alternatives * outputs).max(1);
            call::array(py, worths, [rows, alternatives, outputs, coalitions])
        }

        /// The expansion's values, of shape (rows, outputs).
        #[pyo3(signature = (X, *, summation, n_threads, progress = None))]
        #[expect(non_snake_case, reason = "X is what Python's users call it")]
        fn predict<'py>(
            &self,
            py: Python<'py>,
            X: PyReadonlyArray2<'py, f64>,
            summation: &str,
            n_threads: usize,
            progress: Option<Py<PyAny>>,
        ) -> PyResult<Bound<'py, PyArray2<f64>>> {
            let x = Array::copied(&X)?;
            let settings = settings(summation, n_threads)?;
            let shape = [x.rows(), self.0.outputs()];
            let predict = |monitor: Monitor<'_>| self.0.predict(x.matrix(), &settings, monitor);
            call::array(py, call::run(py, progress, predict)?, shape)
        }
    }

    /// For coalitions of `smaller` players the sums of `values`, of shape (rows, coalitions,
    /// outputs), over the coalitions of `larger` players that hold them.
    #[pyfunction]
    #[pyo3(signature = (values, n_players, larger, smaller, *, n_threads, progress = None))]
    fn superset_sums<'py>(
        py: Python<'py>,
        values: PyReadonlyArray3<'py, f64>,
        n_players: usize,
        larger: usize,
        smaller: usize,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let shape = values.as_array().dim();
        let values = arguments::copied(values.as_slice()?)?;
        let settings = settings("compensated", n_threads)?;
        let (sizes, table) = ((smaller, larger), (shape.0, shape.2));
        let sums = call::run(py, progress, |monitor: Monitor<'_>| {
            pkex_core::superset_sums(&values, n_players, sizes, table, &settings, monitor)
        })?;
        let coalitions = sums.len() / (shape.0 * shape.2).max(1);
        call::array(py, sums, [shape.0, coalitions, shape.2])
    }

    /// An index of a weighted sum of product games, of shape (players, outputs).
    #[pyfunction]
    #[pyo3(signature = (present, absent, difference, weights, *, index, method, summation, n_threads))]
    #[expect(clippy::too_many_arguments, reason = "the public function's arguments")]
    fn product_game<'py>(
        py: Python<'py>,
        present: PyReadonlyArray2<'py, f64>,
        absent: Option<PyReadonlyArray2<'py, f64>>,
        difference: Option<PyReadonlyArray2<'py, f64>>,
        weights: PyReadonlyArray2<'py, f64>,
        index: &str,
        method: &str,
        summation: &str,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let present = Array::copied(&present)?;
        let absent = absent.map(|absent| Array::copied(&absent)).transpose()?;
        let difference = difference.map(|difference| Array::copied(&difference)).transpose()?;
        let weights = Array::copied(&weights)?;
        let games = ProductGames {
            present: present.matrix(),
            absent: absent.as_ref().map(Array::matrix),
            difference: difference.as_ref().map(Array::matrix),
            weights: weights.matrix(),
        };
        let (index, method) = (arguments::index(index)?, arguments::method(method)?);
        let settings = settings(summation, n_threads)?;
        let values = |monitor: Monitor<'_>| games.values(index, method, &settings, monitor);
        call::array(py, call::run(py, None, values)?, [present.columns(), weights.columns()])
    }

    /// The mean of each player's factor over all pairs of rows, of shape (terms, players); of power
    /// series (terms, players · (1 + orders)): coefficients of s⁰ of all players, of s, and so on.
    #[pyfunction]
    #[pyo3(signature = (points, terms, players, *, n_threads, progress = None))]
    fn mean_factors<'py>(
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
        terms: Vec<TermArgument<'py>>,
        players: PyReadonlyArray1<'py, i64>,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let points = Array::copied(&points)?;
        let terms = arguments::terms(&terms)?;
        let players = Players::grouped(arguments::indices("players", &players)?);
        let settings = settings("compensated", n_threads)?;
        let means = call::run(py, progress, |monitor: Monitor<'_>| {
            pkex_core::mean_factors(points.matrix(), &terms, &players, &settings, monitor)
        })?;
        let shape = [terms.len(), means.len() / terms.len().max(1)];
        call::array(py, means, shape)
    }

    /// What players have in the pair of each row with itself, then what they are worth alone in it,
    /// of shape (rows, 2 · players): of terms that are power series.
    #[pyfunction]
    fn self_pairs<'py>(
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
        terms: Vec<TermArgument<'py>>,
        players: PyReadonlyArray1<'py, i64>,
        absent: Option<PyReadonlyArray2<'py, f64>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let points = Array::copied(&points)?;
        let terms = arguments::terms(&terms)?;
        let players = Players::grouped(arguments::indices("players", &players)?);
        let absent = absent.as_ref().map(Array::copied).transpose()?;
        let settings = settings("compensated", 1)?;
        let values = call::run(py, None, |_| {
            let absent = absent.as_ref().map(Array::matrix);
            pkex_core::self_pairs(points.matrix(), &terms, &players, absent, &settings)
        })?;
        call::array(py, values, [points.rows(), 2 * players.count()])
    }

    /// Sums over the pairs of two pooled samples, the first of `n_first` rows, weighted by products
    /// of rows' weights if there are some: for each row Σwγ over each sample, for each pair of
    /// groups Σwγ (followed by Σw v({j}) if asked for), and for the pairs of samples Σw v({j}) and
    /// Σγ². Pairs within the second sample may be left out.
    #[pyfunction]
    #[pyo3(signature = (points, n_first, terms, players, absent, groups, weights, *, skips_second, alone_in_groups, summation, n_threads, progress = None))]
    #[expect(clippy::too_many_arguments, reason = "the parts of the problem")]
    fn mmd_sums<'py>(
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
        n_first: usize,
        terms: Vec<TermArgument<'py>>,
        players: PyReadonlyArray1<'py, i64>,
        absent: Option<PyReadonlyArray2<'py, f64>>,
        groups: PyReadonlyArray1<'py, i64>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        skips_second: bool,
        alone_in_groups: bool,
        summation: &str,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<MmdSums<'py>> {
        let sample = Sample::new(&points, &terms, &players, absent.as_ref(), &groups)?;
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let weighting = Weighting::Classes(Classes {
            first: n_first,
            weights: weights.as_deref(),
            skips_second,
        });
        let problem = sample.problem(weighting, alone_in_groups);
        let settings = settings(summation, n_threads)?;
        let sums =
            call::run(py, progress, |monitor: Monitor<'_>| problem.sums(&settings, monitor))?;
        let (rows, players) = (sample.rows(), sample.players.count());
        let in_group = if alone_in_groups { 2 * players } else { players };
        Ok((
            call::array(py, sums.rows, [rows, 2, players])?,
            call::array(py, sums.groups, [sample.group_pairs(), in_group])?,
            call::array(py, sums.alone, [3, players])?,
            call::array(py, sums.squares, [3, players])?,
        ))
    }

    type MmdSums<'py> = (
        Bound<'py, PyArray3<f64>>,
        Bound<'py, PyArray2<f64>>,
        Bound<'py, PyArray2<f64>>,
        Bound<'py, PyArray2<f64>>,
    );

    /// Sums over the pairs of a sample weighted by a target's kernel less its value at distance 0
    /// and `offsets` of both rows plus `constant`: for each row Σwγ and Σγ, for each pair of groups
    /// (and the exchanges of targets within octets of both) Σwγ, followed by Σw v({j}) if asked
    /// for, and Σw v({j}) of all.
    #[pyfunction]
    #[pyo3(signature = (points, terms, players, targets, target_terms, offsets, constant, absent, groups, *, exchanges, alone_in_groups, summation, n_threads, progress = None))]
    #[expect(clippy::too_many_arguments, reason = "the parts of the problem")]
    fn hsic_sums<'py>(
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
        terms: Vec<TermArgument<'py>>,
        players: PyReadonlyArray1<'py, i64>,
        targets: PyReadonlyArray2<'py, f64>,
        target_terms: Vec<TermArgument<'py>>,
        offsets: PyReadonlyArray1<'py, f64>,
        constant: f64,
        absent: Option<PyReadonlyArray2<'py, f64>>,
        groups: PyReadonlyArray1<'py, i64>,
        exchanges: bool,
        alone_in_groups: bool,
        summation: &str,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<HsicSums<'py>> {
        let sample = Sample::new(&points, &terms, &players, absent.as_ref(), &groups)?;
        let targets = Array::copied(&targets)?;
        let target_terms = arguments::terms(&target_terms)?;
        let offsets: Vec<f64> = offsets.as_array().to_vec();
        let weighting = Weighting::Target(TargetWeights {
            targets: targets.matrix(),
            terms: &target_terms,
            offsets: &offsets,
            constant,
            exchanges,
        });
        let problem = sample.problem(weighting, alone_in_groups);
        let settings = settings(summation, n_threads)?;
        let sums =
            call::run(py, progress, |monitor: Monitor<'_>| problem.sums(&settings, monitor))?;
        let (rows, players) = (sample.rows(), sample.players.count());
        let weights = if exchanges { OCTET.pow(2) } else { 1 };
        let in_group = if alone_in_groups { 2 * players } else { players };
        Ok((
            call::array(py, sums.rows, [rows, 2, players])?,
            call::array(py, sums.groups, [sample.group_pairs(), weights, in_group])?,
            call::array(py, sums.alone, [players])?,
        ))
    }

    type HsicSums<'py> =
        (Bound<'py, PyArray3<f64>>, Bound<'py, PyArray3<f64>>, Bound<'py, PyArray1<f64>>);

    /// For every coalition of `size` players the interaction in the games of a sum of products, whose
    /// factors have these means and deviations, of shape (coalitions, outputs).
    #[pyfunction]
    #[pyo3(signature = (means, deviations, starts, weights, players, *, size, measure, summation, n_threads, progress = None))]
    #[expect(clippy::too_many_arguments, reason = "the parts of the problem")]
    fn variance_games<'py>(
        py: Python<'py>,
        means: PyReadonlyArray2<'py, f64>,
        deviations: PyReadonlyArray2<'py, f64>,
        starts: PyReadonlyArray1<'py, i64>,
        weights: PyReadonlyArray2<'py, f64>,
        players: PyReadonlyArray1<'py, i64>,
        size: usize,
        measure: MeasureArgument,
        summation: &str,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let sums = Sums::copied(&means, &deviations, &starts, &weights, &players)?;
        let (measure, settings) = (measure.checked()?, settings(summation, n_threads)?);
        let games = sums.games()?;
        let values = call::run(py, progress, |monitor: Monitor<'_>| {
            games.interactions((size, &measure), &settings, monitor)
        })?;
        let coalitions = values.len() / sums.outputs().max(1);
        call::array(py, values, [coalitions, sums.outputs()])
    }

    /// The Shapley values of the same games, then v({j}) − v(∅) and v(D) − v(D∖j), and then, if asked
    /// for, the interactions of pairs of `variance_games` at 0, of shape (numbers, outputs): in
    /// twice the working precision.
    #[pyfunction]
    #[pyo3(signature = (means, deviations, starts, weights, players, *, pairs, n_threads, progress = None))]
    #[expect(clippy::too_many_arguments, reason = "the parts of the problem")]
    fn variance_games_twice<'py>(
        py: Python<'py>,
        means: PyReadonlyArray2<'py, f64>,
        deviations: PyReadonlyArray2<'py, f64>,
        starts: PyReadonlyArray1<'py, i64>,
        weights: PyReadonlyArray2<'py, f64>,
        players: PyReadonlyArray1<'py, i64>,
        pairs: bool,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let sums = Sums::copied(&means, &deviations, &starts, &weights, &players)?;
        let (games, settings) = (sums.games()?, settings("compensated", n_threads)?);
        let values = call::run(py, progress, |monitor: Monitor<'_>| {
            games.in_twice_the_precision(pairs, &settings, monitor)
        })?;
        let numbers = values.len() / sums.outputs().max(1);
        call::array(py, values, [numbers, sums.outputs()])
    }

    /// For each order of the rows, of shape (orders, rows), Σ_{a<b} w(order_a, order_b) γ(a, b), of
    /// shape (orders, values): `values` has a row for each pair a ≤ b, row by row of the triangle.
    #[pyfunction]
    #[pyo3(signature = (weights, values, orders, *, n_threads))]
    fn permuted_sums<'py>(
        py: Python<'py>,
        weights: PyReadonlyArray2<'py, f64>,
        values: PyReadonlyArray2<'py, f64>,
        orders: PyReadonlyArray2<'py, i64>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (weights, values) = (Array::copied(&weights)?, Array::copied(&values)?);
        let shape = [orders.as_array().nrows(), values.columns()];
        let orders = arguments::indices("orders", &orders)?;
        let settings = settings("plain", n_threads)?;
        let sums = call::run(py, None, |monitor: Monitor<'_>| {
            pkex_core::permuted_sums(weights.matrix(), values.matrix(), &orders, &settings, monitor)
        })?;
        call::array(py, sums, shape)
    }

    fn settings(summation: &str, threads: usize) -> PyResult<Settings> {
        Ok(Settings { summation: arguments::summation(summation)?, threads, level: call::level() })
    }
}
