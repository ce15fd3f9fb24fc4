//! Digests of the bits of many results, which are equal on every machine.
//!
//! Levels with fused multiply-add share one digest of a call. The portable level rounds products
//! before it adds, and has another digest, which is equal on every machine as well. `golden.txt`
//! has both; `make golden` renews it after an intended change of bits.
//!
//! The data are integers of a generator, scaled and shifted: IEEE arithmetic without a function
//! that differs between machines.

use std::fmt::Write;
use std::fs;
use std::ops::ControlFlow;

use pkex_core::{
    Background, Classes, Coalitions, Density, Expansion, Factor, Family, Form, GaussMean, Index,
    Level, Matrix, Measure, Method, PairProblem, PairSigmoids, PairSums, Players, ProductGames,
    Series, Settings, Summation, TargetWeights, Term, ValueFunction, VarianceGames, Weighting,
    mean_factors, permuted_sums, self_pairs,
};

use crate::random::Random;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engine/golden.txt");
const RENEW: &str = "PKEX_RENEW_GOLDEN";

const COLUMNS: usize = 24;
const POINTS: usize = 100;
const ROWS: usize = 3;

/// The results of calls, by name.
type Results = Vec<(String, Vec<f64>)>;

fn go_on(_done: usize, _total: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A term with a factor on each column, of the families in turn.
fn term(coefficient: f64, families: &[Family]) -> Term {
    let factor = |(column, &family)| {
        let parameter = match family {
            Family::Categorical => 0.75,
            Family::Chi2 | Family::Overlap => 0.05,
            _ => 0.5 + column as f64 / 4.0,
        };
        Factor { family, column, parameter }
    };
    let factors = (0..COLUMNS).zip(families.iter().cycle()).map(factor).collect();
    Term { coefficient, factors, series: None }
}

/// A term with a factor on every second column, times a power series on every third.
fn power_series(weights: &[f64], form: Form) -> Term {
    let rbf = |column| Factor { family: Family::Rbf, column, parameter: 2.0 };
    let series = Series {
        weights: weights.to_vec(),
        form,
        dots: (0..COLUMNS).step_by(6).map(|column| (column, 0.125)).collect(),
        factors: (3..COLUMNS).step_by(6).map(rbf).collect(),
    };
    let factors = (0..COLUMNS).step_by(2).map(rbf).collect();
    Term { coefficient: 0.5, factors, series: Some(series) }
}

/// Gaussian factors near 1, so that games can be divided by absent factors; and terms of narrower
/// Gaussians, whose factors are computed from these, and some of whose games cannot be divided.
fn wide() -> Vec<Term> {
    let term = |halvings: i32| {
        let scale = 2.0_f64.powi(-halvings).sqrt();
        let parameter = |column: usize| scale * (8.0 + column as f64);
        let rbf = |column| Factor { family: Family::Rbf, column, parameter: parameter(column) };
        let factors = (0..COLUMNS).map(rbf).collect();
        Term { coefficient: 1.5, factors, series: None }
    };
    (0..5).map(term).collect()
}

fn kernels() -> [(&'static str, Vec<Term>); 5] {
    let periodic = Family::Periodic { period: 0.625 };
    let others = [Family::Chi2, Family::Cauchy, Family::Categorical, Family::Overlap];
    [
        ("Gaussian", vec![term(0.5, &[Family::Rbf]), term(2.0, &[Family::Laplacian, Family::Rbf])]),
        ("wide Gaussians", wide()),
        ("Matérn", vec![term(1.0, &[Family::Matern32, Family::Matern52])]),
        ("periodic", vec![term(1.0, &[periodic, Family::Rbf]), term(0.3, &others)]),
        (
            "series",
            vec![
                power_series(&[0.5, 1.0, 0.25, 2.0], Form::Exponential),
                power_series(&[0.0, 1.0, 0.25, 0.5, 0.1], Form::Linear),
            ],
        ),
    ]
}

/// Rows of entries from 0 to 4; in every fourth column they are whole numbers.
fn data(seed: u64, rows: usize) -> Vec<f64> {
    let mut entries = Random::new(seed).numbers(rows * COLUMNS, 0.0, 4.0);
    entries.iter_mut().step_by(4).for_each(|entry| *entry = entry.floor());
    entries
}

fn expansion(terms: &[Term], players: Players) -> Expansion {
    let (points, coefficients) = (data(1, POINTS), Random::new(2).numbers(POINTS * 2, -1.0, 1.0));
    Expansion::new(
        Matrix::of_shape(&points, [POINTS, COLUMNS]),
        Matrix::of_shape(&coefficients, [POINTS, 2]),
        terms,
        players,
    )
    .unwrap()
}

/// Every kernel in three games by both methods.
fn explanations(settings: &Settings) -> Results {
    let rows = data(3, ROWS);
    // Some entries equal those of the rows, some nearly, so that bits cancel.
    let near = |(place, entry)| entry + [0.0, f64::EPSILON * 1024.0, 0.5][place % 3];
    let background: Vec<f64> = rows.iter().enumerate().map(near).collect();
    let rows = Matrix::of_shape(&rows, [ROWS, COLUMNS]);
    let background = Background {
        rows: Matrix::of_shape(&background, [ROWS, COLUMNS]),
        weights: &[0.5, 0.375, 0.125],
    };
    let games = [
        ("neutral", ValueFunction::Neutral),
        ("interventional", ValueFunction::Interventional(background)),
        ("marginal", ValueFunction::Marginal(background)),
    ];
    let mut results = Vec::new();
    for (kernel, terms) in kernels() {
        let expansion = expansion(&terms, Players::columns(COLUMNS));
        for (name, game) in games {
            for method in [Method::Quadrature, Method::Recursion] {
                let values = expansion.explain(rows, game, method, settings, &mut go_on);
                results.push((format!("{kernel} {name} {method:?}"), values.unwrap()));
            }
        }
    }
    results
}

/// Groups of players, interactions, and problems that need other rules than few features do.
fn other_explanations(settings: &Settings) -> Results {
    let rows = data(3, ROWS);
    let rows = Matrix::of_shape(&rows, [ROWS, COLUMNS]);
    let groups = Players::new((0..COLUMNS).map(|column| column % 9).collect());
    let [(_, terms), ..] = kernels();
    let grouped = expansion(&terms, groups);
    let of_points = ValueFunction::MarginalOfPoints;
    let plain = Settings { summation: Summation::Plain, ..*settings };
    let measure = Measure::Density(Density { scale: 6.0, powers: (1, 2), degree: 1 });
    let pairs =
        grouped.interactions(rows, ValueFunction::Neutral, (2, &measure), settings, &mut go_on);
    let uniform = Measure::Density(Density::UNIFORM);
    let background = Background { rows, weights: &[0.5, 0.375, 0.125] };
    let of_two = kernels().into_iter().take(2).flat_map(|(kernel, terms)| {
        let expansion = expansion(&terms, Players::columns(COLUMNS));
        let game = ValueFunction::Marginal(background);
        [("neutral", ValueFunction::Neutral), ("marginal", game)].map(|(name, game)| {
            let values = expansion.interactions(rows, game, (2, &uniform), settings, &mut go_on);
            (format!("{kernel} {name} interactions of two"), values.unwrap())
        })
    });
    let values = grouped.explain(rows, of_points, Method::Quadrature, &plain, &mut go_on);
    let all = grouped.coalition_values(
        rows,
        ValueFunction::Interventional(background),
        &Coalitions::Range(0..1 << 9),
        settings,
        &mut go_on,
    );
    let some = grouped.coalition_values(
        rows,
        ValueFunction::Interventional(background),
        &Coalitions::Range(5 << 6..6 << 6),
        settings,
        &mut go_on,
    );
    let members: Vec<bool> = (0..5 * 9).map(|place| place % 4 < 2).collect();
    let listed = grouped.coalition_values(
        rows,
        ValueFunction::Neutral,
        &Coalitions::Listed(&members),
        settings,
        &mut go_on,
    );
    let order = [4, 0, 8, 2, 6, 1, 7, 3, 5];
    let along = grouped.coalition_values(
        rows,
        ValueFunction::Interventional(background),
        &Coalitions::Orders(&order),
        settings,
        &mut go_on,
    );

    let decisions = data(8, 4 * ROWS);
    let sigmoids = PairSigmoids { slopes: &[-1.0; 6], offsets: &[0.125; 6] };
    let decisions = Matrix::of_shape(&decisions, [decisions.len() / 6, 6]);
    let coupled = sigmoids.couple(decisions, settings, &mut go_on);

    // Each row of the data is a player: 300 of them.
    let many = data(4, 300);
    let factor =
        |column| Factor { family: Family::Rbf, column, parameter: 2.0 + column as f64 / 20.0 };
    let gaussian = Term { coefficient: 1.0, factors: (0..300).map(factor).collect(), series: None };
    let points = Matrix::of_shape(&many, [COLUMNS, 300]);
    let coefficients = Matrix::of_shape(&[1.0; COLUMNS], [COLUMNS, 1]);
    let wide = Expansion::new(points, coefficients, &[gaussian], Players::columns(300)).unwrap();
    let row = Matrix::of_shape(&many[..300], [1, 300]);
    let of_many = wide.explain(row, of_points, Method::Quadrature, settings, &mut go_on);
    let few = data(6, 20);
    let coefficients = data(7, 2);
    let squares = Expansion::squares(
        Matrix::of_shape(&few, [20, COLUMNS]),
        Matrix::of_shape(&coefficients[..40], [20, 2]),
        &terms,
        Players::columns(COLUMNS),
    )
    .unwrap();
    let squares = |game| squares.explain(rows, game, Method::Quadrature, settings, &mut go_on);
    let [neutral, marginal] =
        [ValueFunction::Neutral, ValueFunction::Marginal(background)].map(squares);
    let others = [
        ("squares, neutral", neutral.unwrap()),
        ("squares, marginal", marginal.unwrap()),
        ("interactions of groups", pairs.unwrap()),
        ("groups, plain sums", values.unwrap()),
        ("coalitions, all", all.unwrap()),
        ("coalitions, a range", some.unwrap()),
        ("coalitions, listed", listed.unwrap()),
        ("coalitions, along an order", along.unwrap()),
        ("coupled probabilities of four classes", coupled.unwrap()),
        ("300 features", of_many.unwrap()),
    ];
    others.map(|(name, values)| (name.to_owned(), values)).into_iter().chain(of_two).collect()
}

/// Games of any factors, also negative ones and those above 1.
fn product_games(settings: &Settings) -> Results {
    let mut random = Random::new(5);
    let mut factors = || random.numbers(POINTS * COLUMNS, -1.5, 1.5);
    let (present, absent) = (factors(), factors());
    let games = ProductGames {
        present: Matrix::of_shape(&present, [POINTS, COLUMNS]),
        absent: Some(Matrix::of_shape(&absent, [POINTS, COLUMNS])),
        difference: None,
        weights: Matrix::of_shape(&[1.0; POINTS], [POINTS, 1]),
    };
    let values = |index| games.values(index, Method::Quadrature, settings, &mut go_on).unwrap();
    [Index::Shapley, Index::Banzhaf].map(|index| (format!("games {index:?}"), values(index))).into()
}

/// Sums over the pairs of a sample, of two classes and with a target, and their inputs.
fn pairs(settings: &Settings) -> Results {
    let [(_, gaussian), (_, wide), (_, matern), _, (_, series)] = kernels();
    let terms = [gaussian, wide, matern, series].concat();
    let players = Players::columns(COLUMNS);
    let sample = data(6, POINTS);
    let rows = Matrix::of_shape(&sample, [POINTS, COLUMNS]);
    let means = mean_factors(rows, &terms, &players, settings, &mut go_on).unwrap();
    let absent = Some(Matrix::of_shape(&means, [terms.len(), means.len() / terms.len()]));
    let own = self_pairs(rows, &terms, &players, absent, settings).unwrap();

    let weights = Random::new(7).numbers(POINTS, 0.0, 2.0);
    let target = TargetWeights {
        targets: Matrix::of_shape(&sample, [POINTS, COLUMNS]),
        terms: &[term(1.0, &[Family::Rbf])],
        offsets: &weights,
        constant: 0.375,
        exchanges: false,
        takes_halves: [true, true],
    };
    let classes = Classes {
        first: POINTS / 2,
        weights: Some(&weights),
        skips_second: false,
        takes_halves: true,
    };
    let groups: Vec<usize> = (0..POINTS).map(|row| row / 10).collect();
    let sums = |weighting| {
        let (terms, players, groups) = (&terms, &players, &groups);
        let problem = PairProblem {
            rows,
            terms,
            players,
            absent,
            groups,
            weighting,
            univariate_in_groups: true,
        };
        let PairSums { rows, groups, univariate, squares } =
            problem.sums(settings, &mut go_on).unwrap();
        [rows, groups, univariate, squares].concat()
    };
    let of_target = sums(Weighting::Target(target));
    let of_classes = sums(Weighting::Classes(classes));
    [("means", means), ("own", own), ("target", of_target), ("classes", of_classes)]
        .map(|(name, values)| (format!("pairs {name}"), values))
        .into()
}

/// Kernels that are centered on a sample, of numbers and of categories in turn, whose factors are
/// negative and above 1; and the means for centering.
fn centered(settings: &Settings) -> Results {
    // Each player has three columns of categories, two of numbers, and one that is not compared.
    let players = Players::new((0..COLUMNS).map(|column| column / 6).collect());
    let factors = (0..COLUMNS).step_by(6).flat_map(|column| {
        [
            Factor { family: Family::CenteredCategorical, column, parameter: 0.5 },
            Factor {
                family: Family::CenteredRbf { weight: 0.75 },
                column: column + 3,
                parameter: 1.5,
            },
        ]
    });
    let terms = [Term { coefficient: 1.0, factors: factors.collect(), series: None }];
    // Entries of categories are whole numbers; offsets are small.
    let mut sample = data(13, POINTS);
    for (place, entry) in sample.iter_mut().enumerate() {
        match place % COLUMNS % 6 {
            0 => *entry = entry.floor(),
            1 | 4 => *entry = (*entry - 2.0) / 16.0,
            _ => {}
        }
    }
    let rows = Matrix::of_shape(&sample, [POINTS, COLUMNS]);
    let problem = PairProblem {
        rows,
        terms: &terms,
        players: &players,
        absent: None,
        groups: &[0; POINTS],
        weighting: Weighting::Classes(Classes {
            first: 0,
            weights: None,
            skips_second: false,
            takes_halves: true,
        }),
        univariate_in_groups: true,
    };
    let PairSums { rows: of_rows, groups, univariate, squares } =
        problem.sums(settings, &mut go_on).unwrap();
    let coefficients = Random::new(14).numbers(POINTS, -1.0, 1.0);
    let coefficients = Matrix::of_shape(&coefficients, [POINTS, 1]);
    let expansion = Expansion::new(rows, coefficients, &terms, players.clone()).unwrap();
    let some = Matrix::of_shape(&sample[..ROWS * COLUMNS], [ROWS, COLUMNS]);
    let explained =
        |game| expansion.explain(some, game, Method::Quadrature, settings, &mut go_on).unwrap();
    let mean = GaussMean::new(&sample, 0.3).unwrap();
    let numbers: Vec<_> = (0..50).map(|place| f64::from(place) / 8.0 - 1.0).collect();
    [
        ("pairs", [of_rows, groups, univariate, squares].concat()),
        ("neutral", explained(ValueFunction::Neutral)),
        ("marginal", explained(ValueFunction::MarginalOfPoints)),
        ("means", mean.evaluate(&numbers).unwrap()),
    ]
    .map(|(name, values)| (format!("centered {name}"), values))
    .into()
}

fn permutations(settings: &Settings) -> Results {
    let weights = Random::new(8).numbers(COLUMNS * COLUMNS, -1.0, 1.0);
    let triangle = COLUMNS * (COLUMNS + 1) / 2;
    let values = Random::new(9).numbers(triangle * 3, -1.0, 1.0);
    let orders: Vec<usize> =
        (0..40).flat_map(|shift| (0..COLUMNS).map(move |row| (row + shift) % COLUMNS)).collect();
    let sums = permuted_sums(
        Matrix::of_shape(&weights, [COLUMNS, COLUMNS]),
        Matrix::of_shape(&values, [triangle, 3]),
        &orders,
        settings,
        &mut go_on,
    );
    vec![("permutations".to_owned(), sums.unwrap())]
}

fn variances(settings: &Settings) -> Results {
    let [evaluations, columns, outputs] = [40, 6, 2];
    let starts: Vec<usize> = (0..=columns).map(|column| column * (column + 1) / 2).collect();
    let length = starts[columns];
    let means = Random::new(10).numbers(evaluations * columns, -1.0, 1.0);
    let deviations = Random::new(11).numbers(evaluations * length, -1.0, 1.0);
    let weights = Random::new(12).numbers(evaluations * outputs, -1.0, 1.0);
    let games = VarianceGames::new(
        Matrix::of_shape(&means, [evaluations, columns]),
        (Matrix::of_shape(&deviations, [evaluations, length]), &starts),
        Matrix::of_shape(&weights, [evaluations, outputs]),
        &Players::new(vec![0, 1, 2, 1, 3, 4]),
    )
    .unwrap();
    let once = games.values(true, settings, &mut go_on).unwrap();
    let twice = games.in_twice_the_precision(true, settings, &mut go_on).unwrap();
    vec![("variance".to_owned(), once), ("variance twice".to_owned(), twice)]
}

/// Digests by name, of results on a level.
fn digests(level: Level) -> Vec<(String, u64)> {
    let settings = Settings { level, ..Settings::default() };
    [explanations, other_explanations, product_games, pairs, centered, permutations, variances]
        .into_iter()
        .flat_map(|results| results(&settings))
        .map(|(name, values)| (name, digest(&values)))
        .collect()
}

/// The digest of numbers' bits: FNV-1a.
fn digest(values: &[f64]) -> u64 {
    assert!(values.iter().all(|value| value.is_finite()));
    let bytes = values.iter().flat_map(|value| value.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A line for each call: with fused multiply-add, without, and the call's name.
fn table() -> String {
    let fused = Level::best();
    assert!(fused != Level::Portable, "renew where there is a fused multiply-add");
    let mut text = "# fused           portable          call\n".to_owned();
    for ((name, fused), (_, portable)) in digests(fused).into_iter().zip(digests(Level::Portable)) {
        writeln!(text, "{fused:016x}  {portable:016x}  {name}").unwrap();
    }
    text
}

#[test]
fn results_have_the_bits_that_they_have_on_every_machine() {
    if std::env::var_os(RENEW).is_some() {
        fs::write(FILE, table()).unwrap();
    }
    let golden = fs::read_to_string(FILE).unwrap();
    for level in Level::ALL.iter().copied().filter(|level| level.is_available()) {
        let digests = digests(level);
        println!("{}: {} calls", level.name(), digests.len());
        let column = usize::from(level == Level::Portable);
        let expected: Vec<_> = golden
            .lines()
            .skip(1)
            .map(|line| line.splitn(3, "  ").collect::<Vec<_>>())
            .map(|fields| (fields[2].to_owned(), u64::from_str_radix(fields[column], 16).unwrap()))
            .collect();
        let changed: Vec<_> = digests.iter().filter(|call| !expected.contains(call)).collect();
        assert!(
            changed.is_empty() && digests.len() == expected.len(),
            "{}: other bits than in golden.txt, which `make golden` renews: {changed:x?}",
            level.name()
        );
    }
}
