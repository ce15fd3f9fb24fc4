//! Computations whose instructions are counted: the bodies that take most of the time of users'
//! calls.

use std::hint::black_box;
use std::ops::ControlFlow;

use pkex_core::{
    Background, Classes, Coalitions, Density, Error, Expansion, Factor, Family, Matrix, Measure,
    Method, PairProblem, PairSigmoids, Players, Settings, TargetWeights, Term, ValueFunction,
    VarianceGames, Weighting,
};

/// A computation of any size; it returns the number of factors (players × evaluations) it has.
#[derive(Clone, Copy)]
pub struct Case {
    /// Its name in the list of counts.
    pub name: &'static str,
    /// Two sizes: the difference of their counts excludes work that is done once.
    pub sizes: [usize; 2],
    run: fn(usize, &Settings) -> f64,
}

impl Case {
    /// Computes it at a size, and returns the number of factors.
    #[must_use]
    pub fn run(&self, size: usize, settings: &Settings) -> f64 {
        (self.run)(size, settings)
    }
}

/// Rows that are explained.
const ROWS: [usize; 2] = [2, 6];
/// Rows of a sample.
const SAMPLE: [usize; 2] = [128, 256];

/// All computations.
pub const CASES: [Case; 18] = [
    Case { name: "neutral, 20 features", sizes: ROWS, run: |n, s| neutral(20, 1, n, s) },
    Case { name: "neutral, 100 features", sizes: ROWS, run: |n, s| neutral(100, 1, n, s) },
    Case { name: "neutral, 500 features", sizes: ROWS, run: |n, s| neutral(500, 1, n, s) },
    Case { name: "neutral, 20 features, 6 outputs", sizes: ROWS, run: |n, s| neutral(20, 6, n, s) },
    Case { name: "marginal, 20 features", sizes: ROWS, run: |n, s| marginal(20, n, s) },
    Case { name: "marginal, 100 features", sizes: ROWS, run: |n, s| marginal(100, n, s) },
    Case { name: "interventional, 20 features", sizes: ROWS, run: |n, s| interventional(20, n, s) },
    Case {
        name: "interventional, 100 features",
        sizes: ROWS,
        run: |n, s| interventional(100, n, s),
    },
    Case { name: "interventional, entries that are shared", sizes: ROWS, run: indicators },
    Case { name: "Matérn 5/2, neutral, 20 features", sizes: ROWS, run: matern },
    Case { name: "coalitions of two, marginal, 40 features", sizes: ROWS, run: pair_interactions },
    Case { name: "all coalitions of 12 features", sizes: ROWS, run: all_coalitions },
    Case { name: "coalitions along orders of 40 features", sizes: ROWS, run: along_orders },
    Case { name: "coupling of three classes", sizes: SAMPLE, run: coupling },
    Case { name: "MMD, marginal, 20 features", sizes: SAMPLE, run: |n, s| mmd(true, n, s) },
    Case { name: "MMD, neutral, 20 features", sizes: SAMPLE, run: |n, s| mmd(false, n, s) },
    Case { name: "HSIC, marginal, 20 features", sizes: SAMPLE, run: hsic },
    Case { name: "variance of 20 inputs", sizes: SAMPLE, run: variance },
];

/// Expansion points of an explanation.
const POINTS: usize = 256;

fn neutral(features: usize, outputs: usize, rows: usize, settings: &Settings) -> f64 {
    explain(&Model { features, outputs, ..MODEL }, rows, ValueFunction::Neutral, settings)
}

fn marginal(features: usize, rows: usize, settings: &Settings) -> f64 {
    explain(&Model { features, ..MODEL }, rows, ValueFunction::MarginalOfPoints, settings)
}

fn matern(rows: usize, settings: &Settings) -> f64 {
    let model = Model { family: Family::Matern52, ..MODEL };
    explain(&model, rows, ValueFunction::Neutral, settings)
}

fn interventional(features: usize, rows: usize, settings: &Settings) -> f64 {
    against_background(&Model { features, ..MODEL }, rows, settings)
}

/// Indicators that are mostly 0: rows and background share most of their entries.
fn indicators(rows: usize, settings: &Settings) -> f64 {
    let entries = |number: f64| f64::from(number > 0.8);
    against_background(&Model { features: 100, entries, ..MODEL }, rows, settings)
}

fn against_background(model: &Model, rows: usize, settings: &Settings) -> f64 {
    const BACKGROUND: usize = 16;
    let features = model.features;
    let entries = model.numbers(3, BACKGROUND * features);
    let background = Background {
        rows: Matrix::of_shape(&entries, [BACKGROUND, features]),
        weights: &[1.0 / BACKGROUND as f64; BACKGROUND],
    };
    // A point and a background row are an evaluation.
    let model = Model { points: 64, ..*model };
    let games = explain(&model, rows, ValueFunction::Interventional(background), settings);
    games * BACKGROUND as f64
}

/// The factors are the products of coalitions and points.
fn all_coalitions(rows: usize, settings: &Settings) -> f64 {
    let model = Model { features: 12, ..MODEL };
    let (expansion, x) = (model.expansion(), model.numbers(4, rows * model.features));
    let x = Matrix::of_shape(&x, [rows, model.features]);
    let coalitions = Coalitions::Range(0..1 << model.features);
    let values = expect(expansion.coalition_values(
        x,
        ValueFunction::Neutral,
        &coalitions,
        settings,
        &mut go_on,
    ));
    (black_box(values).len() * model.points) as f64
}

/// The factors are the products of coalitions and points.
fn along_orders(rows: usize, settings: &Settings) -> f64 {
    const ORDERS: usize = 20;
    let model = Model { features: 40, ..MODEL };
    let (expansion, x) = (model.expansion(), model.numbers(4, rows * model.features));
    let x = Matrix::of_shape(&x, [rows, model.features]);
    let order = |number: usize| (0..model.features).map(move |place| (7 * place + number) % 40);
    let orders: Vec<usize> = (0..ORDERS).flat_map(order).collect();
    let (game, coalitions) = (ValueFunction::Neutral, Coalitions::Orders(&orders));
    let values = expect(expansion.coalition_values(x, game, &coalitions, settings, &mut go_on));
    (black_box(values).len() * model.points) as f64
}

/// The factors are the probabilities of pairs of classes.
fn coupling(rows: usize, settings: &Settings) -> f64 {
    let values = numbers(5, rows * 3);
    let sigmoids = PairSigmoids { slopes: &[-2.0; 3], offsets: &[0.25; 3] };
    let values = Matrix::of_shape(&values, [rows, 3]);
    black_box(expect(sigmoids.couple(values, settings, &mut go_on)));
    (rows * 3) as f64
}

struct Model {
    features: usize,
    points: usize,
    outputs: usize,
    family: Family,
    /// Makes entries of numbers from −1 to 1.
    entries: fn(f64) -> f64,
}

const MODEL: Model = Model {
    features: 20,
    points: POINTS,
    outputs: 1,
    family: Family::Rbf,
    entries: |number| number,
};

impl Model {
    fn numbers(&self, seed: u64, count: usize) -> Vec<f64> {
        numbers(seed, count).into_iter().map(self.entries).collect()
    }

    fn expansion(&self) -> Expansion {
        let &Self { features, points, outputs, family, .. } = self;
        let data = self.numbers(1, points * features);
        let coefficients = numbers(2, points * outputs);
        expect(Expansion::new(
            Matrix::of_shape(&data, [points, features]),
            Matrix::of_shape(&coefficients, [points, outputs]),
            &[kernel(features, family)],
            Players::columns(features),
        ))
    }
}

/// Explains rows, and returns rows × points × features.
fn explain(
    model: &Model,
    rows: usize,
    value_function: ValueFunction<'_>,
    settings: &Settings,
) -> f64 {
    let (expansion, x) = (model.expansion(), model.numbers(4, rows * model.features));
    let x = Matrix::of_shape(&x, [rows, model.features]);
    let method = Method::Quadrature;
    black_box(expect(expansion.explain(x, value_function, method, settings, &mut go_on)));
    (rows * model.points * model.features) as f64
}

/// Interactions of all coalitions of two, of which it returns rows × points × coalitions.
fn pair_interactions(rows: usize, settings: &Settings) -> f64 {
    const FEATURES: usize = 40;
    let model = Model { features: FEATURES, ..MODEL };
    let (expansion, x) = (model.expansion(), model.numbers(4, rows * FEATURES));
    let x = Matrix::of_shape(&x, [rows, FEATURES]);
    let game = ValueFunction::MarginalOfPoints;
    let size_and_measure = (2, &Measure::Density(Density::UNIFORM));
    black_box(expect(expansion.interactions(x, game, size_and_measure, settings, &mut go_on)));
    (rows * model.points * FEATURES * (FEATURES - 1) / 2) as f64
}

fn mmd(is_marginal: bool, rows: usize, settings: &Settings) -> f64 {
    let first = rows / 2;
    let weighting = Weighting::Classes(Classes {
        first,
        weights: None,
        skips_second: false,
        takes_halves: true,
    });
    pairs(rows, is_marginal, weighting, settings)
}

fn hsic(rows: usize, settings: &Settings) -> f64 {
    let (targets, offsets) = (numbers(6, rows), numbers(7, rows));
    let weighting = Weighting::Target(TargetWeights {
        targets: Matrix::of_shape(&targets, [rows, 1]),
        terms: &[kernel(1, Family::Rbf)],
        offsets: &offsets,
        constant: 0.5,
        exchanges: false,
        takes_halves: [true, true],
    });
    pairs(rows, true, weighting, settings)
}

/// Shapley effects, first-order and total indices of a sum of products, and the products of two
/// evaluations × inputs. Inputs have deviations at eight nodes, as Gaussian kernels of inputs with a
/// known distribution have.
fn variance(evaluations: usize, settings: &Settings) -> f64 {
    const INPUTS: usize = 20;
    const NODES: usize = 8;
    let starts: [usize; INPUTS + 1] = std::array::from_fn(|input| NODES * input);
    let means: Vec<f64> =
        numbers(8, evaluations * INPUTS).iter().map(|number| 0.75 + 0.25 * number).collect();
    let deviations: Vec<f64> =
        numbers(9, evaluations * INPUTS * NODES).iter().map(|number| 0.125 * number).collect();
    let weights = numbers(10, evaluations);
    let games = expect(VarianceGames::new(
        Matrix::of_shape(&means, [evaluations, INPUTS]),
        (Matrix::of_shape(&deviations, [evaluations, NODES * INPUTS]), &starts),
        Matrix::of_shape(&weights, [evaluations, 1]),
        &Players::columns(INPUTS),
    ));
    black_box(expect(games.values(false, settings, &mut go_on)));
    (evaluations * (evaluations + 1) / 2 * INPUTS) as f64
}

/// Sums over all pairs of rows, and returns pairs × features.
fn pairs(rows: usize, is_marginal: bool, weighting: Weighting<'_>, settings: &Settings) -> f64 {
    const FEATURES: usize = 20;
    let sample = numbers(5, rows * FEATURES);
    let half = matches!(weighting, Weighting::Classes(_));
    let groups: Vec<usize> = (0..rows).map(|row| usize::from(half && row >= rows / 2)).collect();
    let problem = PairProblem {
        rows: Matrix::of_shape(&sample, [rows, FEATURES]),
        terms: &[kernel(FEATURES, Family::Rbf)],
        players: &Players::columns(FEATURES),
        absent: is_marginal.then(|| Matrix::of_shape(&[0.875; FEATURES], [1, FEATURES])),
        groups: &groups,
        weighting,
        univariate_in_groups: false,
    };
    black_box(expect(problem.sums(settings, &mut go_on)));
    (rows * (rows - 1) / 2 * FEATURES) as f64
}

/// A product of kernels of all features, of the length-scale that scikit-learn's `gamma="scale"` is
/// for entries of variance 1/3.
fn kernel(features: usize, family: Family) -> Term {
    let parameter = (features as f64 / 6.0).sqrt();
    let factors = (0..features).map(|column| Factor { family, column, parameter }).collect();
    Term { coefficient: 1.0, factors, series: None }
}

/// Numbers from −1 to 1, equal in every run.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = 2 * seed + 1;
    std::iter::repeat_with(|| {
        // Knuth's MMIX generator.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    })
    .take(count)
    .collect()
}

fn expect<T>(result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| panic!("the engine takes this problem: {error}"))
}

fn go_on(_done: usize, _total: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
