//! The variance of conditional means, for functions that are sums of products: global sensitivity.
//!
//! For f(x) = Σ_e w_e ∏ⱼ φ_ej(xⱼ) and independent inputs X, v(S) = Var(E[f(X) | X_S]) is, except
//! for the constant (E f)², the sum of product games over products of evaluations e and e′, with
//!
//!   aⱼ = E[φ_ej φ_e′j],  bⱼ = E φ_ej · E φ_e′j,  cⱼ = aⱼ − bⱼ = Cov(φ_ej, φ_e′j),  weight w_e w_e′.
//!
//! Covariances are computed as products of *deviations*: vectors g_ej with g_ej · g_e′j = cⱼ, such
//! as the square roots of a quadrature rule's weights times φ_ej − E φ_ej at its nodes. So c does
//! not cancel. They are products of matrices: of the deviations of a few evaluations, and those of
//! sixteen others.

use crate::error::Error;
use crate::game::block::{AbsentFactor, Block};
use crate::game::coalitions::{Coalitions, binomial};
use crate::game::quantity::{MeasureNodes, Quantity};
use crate::game::spread::Spread;
use crate::kernel::players::Players;
use crate::kernel::product::multiplied_contrast;
use crate::matrix::Matrix;
use crate::memory::{FACTORS, INPUT, Memory, RESULT, saturating_product};
use crate::quadrature::measure::Measure;
use crate::settings::{Context, Settings};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::simd::level::Body;
use crate::threads::Monitor;
use crate::walk::computation::{Computation, InParts, MOST_COALITIONS, Values};
use crate::walk::source::{Size, Source};
use crate::walk::triangle::{EvaluationPlace, Partners, Triangle};

/// Evaluations whose covariances with the same others are computed together, with two registers
/// each.
const TOGETHER: usize = 4;

/// Covariances of a few evaluations with the same sixteen others.
#[derive(Debug, Default)]
pub(crate) struct Covariances {
    /// The number of the first of the evaluations, and the evaluation block of the others.
    of: Option<(usize, usize)>,
    /// Evaluation by evaluation, column by column.
    values: Vec<Lanes>,
}

/// The games of a sum of products, over products of two of its evaluations.
#[derive(Debug)]
pub struct VarianceGames<'a> {
    means: Matrix<'a>,
    deviations: Matrix<'a>,
    pub(crate) weights: Matrix<'a>,
    /// The start of each column's deviations, then the end of all.
    starts: &'a [usize],
    pub(crate) columns_of_player: Vec<Vec<usize>>,
    players: Vec<usize>,
    pub(crate) triangle: Triangle,
    /// The means of sixteen evaluations as lanes, block by block, column by column.
    packed_means: Vec<Lanes>,
    packed_deviations: Vec<Lanes>,
}

impl<'a> VarianceGames<'a> {
    /// The games of E φ (`means`, evaluations × columns), deviations (evaluations × deviations of
    /// all columns; column j has those from number `starts[j]` up to `starts[j + 1]`) and `weights`
    /// (evaluations × outputs).
    ///
    /// # Errors
    /// If the shapes do not fit, or there is too little memory.
    pub fn new(
        means: Matrix<'a>,
        (deviations, starts): (Matrix<'a>, &'a [usize]),
        weights: Matrix<'a>,
        players: &Players,
    ) -> Result<Self, Error> {
        check_shapes(means, (deviations, starts), weights, players)?;
        let count = means.rows();
        let lanes = (0..count.div_ceil(LANES)).map(|block| LANES.min(count - block * LANES));
        let mut columns_of_player = vec![Vec::new(); players.count()];
        for (column, player) in (0..means.columns()).filter_map(|c| Some((c, players.of(c)?))) {
            columns_of_player[player].push(column);
        }
        Ok(Self {
            means,
            deviations,
            weights,
            starts,
            players: (0..players.count()).collect(),
            columns_of_player,
            triangle: Triangle::new(lanes)?,
            packed_means: packed(means)?,
            packed_deviations: packed(deviations)?,
        })
    }

    /// c_T ∫ ∏_{l∉T} Fₗ dμ of every coalition T of `size` ≥ 1 players, in lexicographic order,
    /// output by output: the Shapley values for one player and the uniform density, v({j}) − v(∅)
    /// at the point 0, v(D) − v(D∖j) at the point 1.
    ///
    /// # Errors
    /// If a value overflows, there is too little memory, or the monitor stops the call.
    pub fn interactions(
        &self,
        (size, measure): (usize, &Measure),
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let nodes = MeasureNodes::new(measure, self.players.len(), size);
        let nodes = nodes.nodes();
        if size == 1 {
            return Values(Quantity::Values(nodes), monitor).of(self, settings);
        }
        let count = binomial(self.players.len(), size).unwrap_or(usize::MAX);
        let width = saturating_product([count, self.weights.columns()]);
        let result = Memory::default().filled(width, 0.0, RESULT)?;
        let parts = Coalitions::parts(self.players.len(), size, MOST_COALITIONS);
        let parts = parts.unwrap_or_default();
        InParts { result, width, parts, nodes, monitor }.of(self, settings)
    }
}

fn check_shapes(
    means: Matrix<'_>,
    (deviations, starts): (Matrix<'_>, &[usize]),
    weights: Matrix<'_>,
    players: &Players,
) -> Result<(), Error> {
    for (argument, rows) in [("deviations", deviations.rows()), ("weights", weights.rows())] {
        if rows != means.rows() {
            return Err(Error::Shape {
                argument,
                expected: format!("{} rows, one for each evaluation", means.rows()),
                got: format!("{rows} rows"),
            });
        }
    }
    let is_of_columns = starts.len() == means.columns() + 1
        && players.column_count() == means.columns()
        && starts.is_sorted()
        && starts.last() == Some(&deviations.columns());
    if is_of_columns {
        return Ok(());
    }
    Err(Error::Shape {
        argument: "starts",
        expected: format!(
            "the numbers of the first deviations of {} columns, then {}",
            means.columns(),
            deviations.columns()
        ),
        got: format!("{starts:?}, with players of {} columns", players.column_count()),
    })
}

/// Sixteen rows at a time as lanes, column by column.
fn packed(matrix: Matrix<'_>) -> Result<Vec<Lanes>, Error> {
    let blocks = matrix.rows().div_ceil(LANES);
    let mut lanes = Vec::new();
    let length = saturating_product([blocks, matrix.columns()]);
    Memory::default().reserve(&mut lanes, length, INPUT)?;
    lanes.extend((0..blocks).flat_map(|block| matrix.block_by_column(block)));
    Ok(lanes)
}

impl Source for VarianceGames<'_> {
    type Cache = Covariances;

    fn size(&self) -> Size {
        Size {
            items: 1,
            players: self.players.len(),
            outputs: self.weights.columns(),
            blocks: self.triangle.blocks(),
            orders: 0,
        }
    }

    fn reserve(
        &self,
        _blocks: usize,
        cache: &mut Covariances,
        memory: &Memory,
    ) -> Result<(), Error> {
        cache.values = memory.filled(TOGETHER * self.means.columns(), Lanes::ZERO, FACTORS)?;
        Ok(())
    }

    fn fill(
        &self,
        _item: usize,
        index: usize,
        block: &mut Block,
        cache: &mut Covariances,
        context: Context<'_>,
    ) -> Spread {
        let partners = self.triangle.locate(index);
        let place = number(partners.one) % TOGETHER;
        let first = number(partners.one) - place;
        let Covariances { of, values } = cache;
        if *of != Some((first, partners.others)) {
            let others = partners.others;
            context.run_in_registers(MultiplyDeviations { games: self, first, others, values });
            *of = Some((first, others));
        }
        let covariances = &values[place * self.means.columns()..][..self.means.columns()];
        context.run(FillProducts { games: self, partners, covariances, block })
    }

    fn block_players(&self, _index: usize) -> &[usize] {
        &self.players
    }

    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let partners = self.triangle.locate(index);
        (0..self.weights.columns()).map(move |output| {
            let (own, others) = self.weights_of_products(partners, output);
            (output, Lanes(each_lane(|lane| own * others.0[lane])))
        })
    }
}

/// A column of one evaluation and of sixteen others.
pub(crate) struct ColumnOfProducts<'a, const W: usize> {
    /// The deviations of the one evaluation.
    pub own: &'a [f64],
    /// The deviations of the others.
    pub others: &'a [Lanes],
    /// The mean of the one evaluation.
    pub mean: f64,
    /// The means of some of the others.
    pub means: &'a [f64; W],
}

impl VarianceGames<'_> {
    /// The deviations of a column in all lanes, and the means in some.
    #[inline(always)]
    pub(crate) fn of_column<const W: usize>(
        &self,
        partners: Partners,
        column: usize,
        part: usize,
    ) -> ColumnOfProducts<'_, W> {
        let one = number(partners.one);
        let range = self.starts[column]..self.starts[column + 1];
        let own = &self.deviations.row(one)[range.clone()];
        let others = &self.packed_deviations[partners.others * self.deviations.columns()..][range];
        let means = &self.packed_means[partners.others * self.means.columns() + column];
        let mean = self.means.row(one)[column];
        ColumnOfProducts { own, others, mean, means: means.part(part) }
    }

    /// The weight of the one evaluation, and the weights of the others times how often each product
    /// counts.
    #[inline(always)]
    pub(crate) fn weights_of_products(&self, partners: Partners, output: usize) -> (f64, Lanes) {
        let (rows, first) = (self.weights.rows(), partners.others * LANES);
        let times = partners.times();
        let other = |lane: usize| {
            let row = first + lane;
            if row < rows { times.0[lane] * self.weights.row(row)[output] } else { 0.0 }
        };
        (self.weights.row(number(partners.one))[output], Lanes(each_lane(other)))
    }
}

/// The number of an evaluation.
fn number(EvaluationPlace { block, lane }: EvaluationPlace) -> usize {
    block * LANES + lane
}

/// Fills a block with the factors of products.
struct FillProducts<'a> {
    games: &'a VarianceGames<'a>,
    partners: Partners,
    covariances: &'a [Lanes],
    block: &'a mut Block,
}

impl Body for FillProducts<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { games, partners, covariances, block } = self;
        block.begin(games.players.len(), AbsentFactor::Each);
        for (player, columns) in games.columns_of_player.iter().enumerate() {
            for part in 0..LANES / W {
                let mut factors = [[1.0; W], [1.0; W], [0.0; W]];
                for (place, &column) in columns.iter().enumerate() {
                    let c: &[f64; W] = covariances[column].part(part);
                    let own = games.factors::<W>(partners, column, part, c);
                    factors = match place {
                        0 => own,
                        _ => multiplied_contrast::<A, W>(factors.each_ref(), own.each_ref()),
                    };
                }
                *block.present[player].part_mut(part) = factors[0];
                *block.absent[player].part_mut(part) = factors[1];
                *block.difference[player].part_mut(part) = factors[2];
            }
        }
        block.spread::<W>()
    }
}

impl VarianceGames<'_> {
    /// a, b and c of a column, for one evaluation and some of sixteen others, given c.
    #[inline(always)]
    fn factors<const W: usize>(
        &self,
        partners: Partners,
        column: usize,
        part: usize,
        c: &[f64; W],
    ) -> [[f64; W]; 3] {
        let ColumnOfProducts { mean, means, .. } = self.of_column::<W>(partners, column, part);
        let b = each_lane(|i| mean * means[i]);
        [each_lane(|i| b[i] + c[i]), b, *c]
    }
}

/// Computes the covariances of a few evaluations with sixteen others. After the last evaluation,
/// that one is repeated.
struct MultiplyDeviations<'a> {
    games: &'a VarianceGames<'a>,
    first: usize,
    others: usize,
    values: &'a mut [Lanes],
}

impl Body for MultiplyDeviations<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { games, first, others, values } = self;
        let (columns, width) = (games.means.columns(), games.deviations.columns());
        let last = games.means.rows() - 1;
        let rows: [&[f64]; TOGETHER] =
            std::array::from_fn(|place| games.deviations.row((first + place).min(last)));
        let others = &games.packed_deviations[others * width..][..width];
        for column in 0..columns {
            let range = games.starts[column]..games.starts[column + 1];
            let (rows, others) = (rows.map(|row| &row[range.clone()]), &others[range]);
            for part in 0..LANES / (2 * W) {
                let products = products::<A, W>(rows, others, part);
                for (place, products) in products.iter().enumerate() {
                    let value = &mut values[place * columns + column];
                    for (half, products) in products.iter().enumerate() {
                        *value.part_mut(2 * part + half) = *products;
                    }
                }
            }
        }
    }
}

/// The products of the deviations of a few evaluations and those of others in the `part`-th two
/// registers; these sums stay in registers.
#[inline(always)]
fn products<A: Arithmetic, const W: usize>(
    rows: [&[f64]; TOGETHER],
    others: &[Lanes],
    part: usize,
) -> [[[f64; W]; 2]; TOGETHER] {
    let mut sums = [[[0.0; W]; 2]; TOGETHER];
    let rows = rows.map(|row| &row[..others.len()]);
    for (place, other) in others.iter().enumerate() {
        let halves: [&[f64; W]; 2] = [other.part(2 * part), other.part(2 * part + 1)];
        for (half, other) in halves.into_iter().enumerate() {
            for row in 0..TOGETHER {
                let (own, sum) = (rows[row][place], &mut sums[row][half]);
                *sum = each_lane(|i| A::mul_add(own, other[i], sum[i]));
            }
        }
    }
    sums
}
