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
//! sixteen partners. They are computed once for all values of players, which are items of one walk.

use std::ops::Range;

use crate::error::Error;
use crate::game::block::{AbsentFactor, Block};
use crate::game::coalitions::{Coalitions, binomial};
use crate::game::quantity::{MeasureNodes, Quantity};
use crate::game::spread::Spread;
use crate::kernel::players::Players;
use crate::kernel::product::multiply_contrasts;
use crate::matrix::Matrix;
use crate::memory::{INPUT, Memory, RESULT, saturating_product};
use crate::quadrature::measure::{Density, Measure};
use crate::settings::{Context, Settings};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, map_lanes, zip_lanes};
use crate::simd::level::Body;
use crate::threads::Monitor;
use crate::variance::covariances::{Covariances, MultiplyDeviations, Tiles};
use crate::walk::computation::{Computation, InParts, MAX_COALITIONS};
use crate::walk::items;
use crate::walk::source::{Costs, Runs, Size, Source};
use crate::walk::triangle::{EvaluationPlace, Partners};
use crate::walk::weights::Weights;

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
    pub(crate) tiles: Tiles,
    /// The means of sixteen evaluations as lanes, block by block, column by column.
    packed_means: Vec<Lanes>,
    packed_deviations: Vec<Lanes>,
    packed_weights: Weights,
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
            tiles: Tiles::new(means.rows(), means.columns()),
            packed_means: pack(means)?,
            packed_deviations: pack(deviations)?,
            packed_weights: Weights::new(weights)?,
        })
    }

    /// Computes the Shapley values, then v({j}) − v(∅) and v(D) − v(D∖j), player by player and
    /// output by output. With `with_interactions`, v({i, j}) − v({i}) − v({j}) + v(∅) follow,
    /// coalition by coalition of two.
    ///
    /// # Errors
    /// If a value overflows, there is too little memory, or the monitor stops the call.
    pub fn values(
        &self,
        with_interactions: bool,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let uniform = Measure::Density(Density::UNIFORM);
        let nodes = [uniform, Measure::Point(0.0), Measure::Point(1.0)]
            .map(|measure| MeasureNodes::new(&measure, self.players.len(), 1));
        let quantities = nodes.each_ref().map(|nodes| Quantity::Values(nodes.nodes()));
        let walks = if with_interactions { 2 } else { 1 };
        let first = &mut |done, total| monitor(done, walks * total);
        let games = GamesOfItems { games: self, quantities: &quantities };
        let mut values = items::run(&games, quantities[0], settings, first).map_err(|error| {
            // The items are quantities, not rows.
            if let Error::Overflow { .. } = error { Error::Overflow { row: 0 } } else { error }
        })?;
        if with_interactions {
            let second = &mut |done, total| monitor(total + done, walks * total);
            values.extend(self.interactions_of_two(settings, second)?);
        }
        Ok(values)
    }

    /// v({i, j}) − v({i}) − v({j}) + v(∅), coalition by coalition of two.
    fn interactions_of_two(
        &self,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let players = self.players.len();
        let nodes = MeasureNodes::new(&Measure::Point(0.0), players, 2);
        let count = binomial(players, 2).unwrap_or(usize::MAX);
        let width = saturating_product([count, self.weights.columns()]);
        let result = Memory::default().filled(width, 0.0, RESULT)?;
        let parts = Coalitions::parts(players, 2, MAX_COALITIONS).unwrap_or_default();
        let games = GamesOfItems { games: self, quantities: &[] };
        InParts { result, width, parts, nodes: nodes.nodes(), monitor }.of(&games, settings)
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
fn pack(matrix: Matrix<'_>) -> Result<Vec<Lanes>, Error> {
    let blocks = matrix.rows().div_ceil(LANES);
    let mut lanes = Vec::new();
    let length = saturating_product([blocks, matrix.columns()]);
    Memory::default().reserve(&mut lanes, length, INPUT)?;
    lanes.extend((0..blocks).flat_map(|block| matrix.block_by_column(block)));
    Ok(lanes)
}

/// The games with an item for each of some quantities, or with one item for the quantity of the call.
struct GamesOfItems<'a> {
    games: &'a VarianceGames<'a>,
    quantities: &'a [Quantity<'a>],
}

impl Source for GamesOfItems<'_> {
    type Cache = Covariances;

    fn size(&self) -> Size {
        Size {
            items: self.quantities.len().max(1),
            players: self.games.players.len(),
            outputs: self.games.weights.columns(),
            blocks: self.games.tiles.blocks(),
            orders: 0,
        }
    }

    fn runs(&self) -> Runs {
        Runs::none_in_groups(self.games.tiles.blocks_per_tile())
    }

    fn quantity<'q>(&'q self, item: usize, call_quantity: Quantity<'q>) -> Quantity<'q> {
        self.quantities.get(item).copied().unwrap_or(call_quantity)
    }

    fn costs(&self) -> Costs {
        let columns_of_player =
            self.games.means.columns().div_ceil(self.games.players.len().max(1)).max(1);
        Costs {
            preparation: 1,
            prepared_bytes: saturating_product([columns_of_player, size_of::<Lanes>()]),
            block_bytes: 0,
        }
    }

    fn reserve(
        &self,
        blocks: usize,
        cache: &mut Covariances,
        memory: &Memory,
    ) -> Result<(), Error> {
        cache.reserve(self.games.tiles, blocks, self.games.means.columns(), memory)
    }

    fn prepare(&self, blocks: Range<usize>, context: Context<'_>, covariances: &mut Covariances) {
        let VarianceGames { tiles, deviations, packed_deviations, starts, .. } = self.games;
        context.run_in_registers(MultiplyDeviations {
            tiles: *tiles,
            deviations: *deviations,
            packed: packed_deviations,
            starts,
            blocks,
            covariances,
        });
    }

    fn fill(
        &self,
        _item: usize,
        index: usize,
        block: &mut Block,
        cache: &mut Covariances,
        context: Context<'_>,
    ) -> Spread {
        let covariances = cache.block(index, self.games.means.columns());
        let partners = self.games.tiles.locate(index);
        context.run(FillProducts { games: self.games, partners, covariances, block })
    }

    fn block_players(&self, _index: usize) -> &[usize] {
        &self.games.players
    }

    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let partners = self.games.tiles.locate(index);
        let weights = self.games.weights_of_products(partners);
        weights.map(|(output, weight, partner_weights)| {
            (output, Lanes(map_lanes(&partner_weights.0, |w| weight * w)))
        })
    }
}

/// A column of one evaluation and of sixteen partners.
pub(crate) struct ColumnOfProducts<'a, const W: usize> {
    /// The deviations of the one evaluation.
    pub deviations: &'a [f64],
    /// The deviations of the partners.
    pub partner_deviations: &'a [Lanes],
    /// The mean of the one evaluation.
    pub mean: f64,
    /// The means of some of the partners.
    pub partner_means: &'a [f64; W],
}

impl VarianceGames<'_> {
    /// The deviations of a column in all lanes, and the means in some.
    #[inline(always)]
    pub(crate) fn column_of_products<const W: usize>(
        &self,
        partners: Partners,
        column: usize,
        part: usize,
    ) -> ColumnOfProducts<'_, W> {
        let one = number(partners.one);
        let range = self.starts[column]..self.starts[column + 1];
        let deviations = &self.deviations.row(one)[range.clone()];
        let partner_deviations =
            &self.packed_deviations[partners.block * self.deviations.columns()..][range];
        let partner_means = &self.packed_means[partners.block * self.means.columns() + column];
        let mean = self.means.row(one)[column];
        ColumnOfProducts {
            deviations,
            partner_deviations,
            mean,
            partner_means: partner_means.part(part),
        }
    }

    /// By output: the weight of the one evaluation, and the weights of the partners times how often
    /// each product counts.
    #[inline(always)]
    pub(crate) fn weights_of_products(
        &self,
        partners: Partners,
    ) -> impl Iterator<Item = (usize, f64, Lanes)> {
        let (weights, times) = (self.weights.row(number(partners.one)), partners.times());
        self.packed_weights.of_block(partners.block).map(move |(output, partner_weights)| {
            (
                output,
                weights[output],
                Lanes(zip_lanes(&times.0, &partner_weights.0, |times, w| times * w)),
            )
        })
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
                    let column_factors = games.factors::<W>(partners, column, part, c);
                    factors = match place {
                        0 => column_factors,
                        _ => multiply_contrasts::<A, W>(
                            factors.each_ref(),
                            column_factors.each_ref(),
                        ),
                    };
                }
                *block.present[player].part_mut(part) = factors[0];
                *block.absent[player].part_mut(part) = factors[1];
                *block.difference[player].part_mut(part) = factors[2];
            }
        }
        block.spread::<A, W>()
    }
}

impl VarianceGames<'_> {
    /// a, b and c of a column, for one evaluation and some of sixteen partners, given c.
    #[inline(always)]
    fn factors<const W: usize>(
        &self,
        partners: Partners,
        column: usize,
        part: usize,
        c: &[f64; W],
    ) -> [[f64; W]; 3] {
        let ColumnOfProducts { mean, partner_means, .. } =
            self.column_of_products::<W>(partners, column, part);
        let b = each_lane(|i| mean * partner_means[i]);
        [each_lane(|i| b[i] + c[i]), b, *c]
    }
}
