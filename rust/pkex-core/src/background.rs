//! Games against background rows: what features are worth while they are absent.
//!
//! Interventional: v(S) is the mean over background rows z of f with the features outside S set to
//! z's. Each triple of a point, a term and a background row is an evaluation with a = k(x, point)
//! and b = k(z, point). Marginal: the features outside S are drawn independently, so that b is the
//! mean of k(z, point), and each pair of a point and a term is one evaluation.

use crate::arithmetic::Arithmetic;
use crate::block::{Block, Spread};
use crate::driver::Source;
use crate::expansion::Expansion;
use crate::kernel::CompiledTerm;
use crate::lanes::{LANES, Lanes, each, map, zip};
use crate::matrix::Matrix;
use crate::simd::{Body, Level};

/// Background rows and their weights, which add up to 1.
#[derive(Clone, Copy, Debug)]
pub struct Background<'a> {
    /// The rows.
    pub rows: Matrix<'a>,
    /// Their weights.
    pub weights: &'a [f64],
}

/// What the features outside a coalition are replaced by.
#[derive(Clone, Copy, Debug)]
pub enum ValueFunction<'a> {
    /// Nothing: their factors are 1.
    Neutral,
    /// The values of a background row; the worth is the mean over the rows.
    Interventional(Background<'a>),
    /// As interventional, but each from a background row of its own, independently.
    Marginal(Background<'a>),
}

impl<'a> ValueFunction<'a> {
    /// The background, if it needs one.
    pub(crate) fn background(self) -> Option<Background<'a>> {
        match self {
            Self::Neutral => None,
            Self::Interventional(background) | Self::Marginal(background) => Some(background),
        }
    }
}

/// Factors b, and b − 1, of a block of points.
#[derive(Clone, Debug, Default)]
struct AbsentFactors {
    factor: Vec<Lanes>,
    less_one: Vec<Lanes>,
}

/// Computes the factors of a row and a block of points.
struct FactorsOf<'a> {
    term: &'a CompiledTerm,
    row: &'a [f64],
    points: &'a [Lanes],
    block: &'a mut Block,
}

impl Body for FactorsOf<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        self.term.fill::<A, W>(self.row, self.points, self.block);
    }
}

/// The interventional games between some rows and an expansion's points.
pub(crate) struct InterventionalGames<'a> {
    expansion: &'a Expansion,
    rows: Matrix<'a>,
    background: Background<'a>,
    /// Absent factors, by evaluation block, where there is room for them all.
    table: Vec<AbsentFactors>,
}

impl<'a> InterventionalGames<'a> {
    /// Absent factors are kept for all blocks up to this many bytes; beyond, made for each row.
    const TABLE_BYTES: usize = 64 << 20;

    pub fn new(
        expansion: &'a Expansion,
        rows: Matrix<'a>,
        background: Background<'a>,
        level: Level,
    ) -> Self {
        let blocks = expansion.evaluation_blocks() * background.rows.rows();
        let bytes = blocks * expansion.players().count() * 2 * size_of::<Lanes>();
        let mut games = Self { expansion, rows, background, table: Vec::new() };
        if bytes <= Self::TABLE_BYTES && rows.rows() > 1 {
            let mut block = Block::default();
            let absent = |index| games.absent_factors(index, level, &mut block);
            games.table = (0..blocks).map(absent).collect();
        }
        games
    }

    /// The block of points and the background row of an evaluation block.
    fn locate(&self, index: usize) -> (usize, usize) {
        (index / self.background.rows.rows(), index % self.background.rows.rows())
    }

    fn absent_factors(&self, index: usize, level: Level, block: &mut Block) -> AbsentFactors {
        let (outer, z) = self.locate(index);
        let (term, points) = self.expansion.term_and_points(outer);
        level.run(FactorsOf { term, row: self.background.rows.row(z), points, block });
        AbsentFactors { factor: block.present.clone(), less_one: block.difference.clone() }
    }
}

/// The present factors of a row and a block of points, for all background rows in turn.
#[derive(Debug, Default)]
pub(crate) struct PresentFactors {
    of: Option<(usize, usize)>,
    own: Block,
    other: Block,
}

impl Source for InterventionalGames<'_> {
    type Cache = PresentFactors;

    fn items(&self) -> usize {
        self.rows.rows()
    }

    fn players(&self) -> usize {
        self.expansion.players().count()
    }

    fn outputs(&self) -> usize {
        self.expansion.outputs()
    }

    fn blocks(&self) -> usize {
        self.expansion.evaluation_blocks() * self.background.rows.rows()
    }

    #[inline(always)]
    #[expect(clippy::needless_range_loop, reason = "players index several arrays")]
    fn fill<A: Arithmetic, const W: usize>(
        &self,
        item: usize,
        index: usize,
        block: &mut Block,
        cache: &mut PresentFactors,
    ) -> Spread {
        let (outer, z) = self.locate(index);
        let (term, points) = self.expansion.term_and_points(outer);
        let rows = (self.rows.row(item), self.background.rows.row(z));
        let PresentFactors { of, own, other } = cache;
        if *of != Some((item, outer)) {
            term.fill::<A, W>(rows.0, points, own);
            *of = Some((item, outer));
        }
        let (factor, less_one) = if let Some(absent) = self.table.get(index) {
            (&absent.factor, &absent.less_one)
        } else {
            term.fill::<A, W>(rows.1, points, other);
            (&other.present, &other.difference)
        };
        block.resize(term.players.len(), false);
        block.present.copy_from_slice(&own.present);
        block.absent.copy_from_slice(factor);
        for player in 0..term.players.len() {
            for part in 0..LANES / W {
                let a: &[f64; W] = own.difference[player].part(part);
                let b: &[f64; W] = less_one[player].part(part);
                let mut c = zip(a, b, |a, b| a - b);
                if cancels(a, b, &c) {
                    c = term.contrast::<A, W>(player, rows, points, part);
                }
                *block.difference[player].part_mut(part) = c;
            }
        }
        block.spread_of_fractions::<W>()
    }

    fn block_players(&self, index: usize) -> &[usize] {
        &self.expansion.term_and_points(self.locate(index).0).0.players
    }

    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let (outer, z) = self.locate(index);
        let share = self.background.weights[z];
        let scaled = move |weights: Lanes| Lanes(map(&weights.0, |weight| weight * share));
        self.expansion.block_weights(outer).map(move |(output, weights)| (output, scaled(weights)))
    }
}

/// Whether c = (a − 1) − (b − 1) has lost twelve or more of its bits in some lane.
#[inline(always)]
fn cancels<const W: usize>(a: &[f64; W], b: &[f64; W], c: &[f64; W]) -> bool {
    const LOSS: f64 = 1.0 / 4096.0;
    let kept: [f64; W] = each(|i| c[i].abs() - LOSS * a[i].abs().max(b[i].abs()));
    !kept.iter().all(|&kept| kept >= 0.0)
}

/// The games between some rows and an expansion's points with independent absent features.
pub(crate) struct MarginalGames<'a> {
    expansion: &'a Expansion,
    rows: Matrix<'a>,
    /// Mean factors of the background, by evaluation block.
    means: Vec<AbsentFactors>,
}

impl<'a> MarginalGames<'a> {
    pub fn new(
        expansion: &'a Expansion,
        rows: Matrix<'a>,
        background: Background<'a>,
        level: Level,
    ) -> Self {
        let mut block = Block::default();
        let mean = |outer: usize| {
            let (term, points) = expansion.term_and_points(outer);
            let zeros = vec![Lanes::ZERO; term.players.len()];
            let mut mean = AbsentFactors { factor: zeros.clone(), less_one: zeros };
            for (z, &weight) in background.weights.iter().enumerate() {
                let row = background.rows.row(z);
                level.run(FactorsOf { term, row, points, block: &mut block });
                let sums = mean.factor.iter_mut().chain(&mut mean.less_one);
                for (sum, value) in sums.zip(block.present.iter().chain(&block.difference)) {
                    *sum = Lanes(zip(&sum.0, &value.0, |sum, value| sum + weight * value));
                }
            }
            mean
        };
        let means = (0..expansion.evaluation_blocks()).map(mean).collect();
        Self { expansion, rows, means }
    }
}

impl Source for MarginalGames<'_> {
    type Cache = ();

    fn items(&self) -> usize {
        self.rows.rows()
    }

    fn players(&self) -> usize {
        self.expansion.players().count()
    }

    fn outputs(&self) -> usize {
        self.expansion.outputs()
    }

    fn blocks(&self) -> usize {
        self.expansion.evaluation_blocks()
    }

    #[inline(always)]
    fn fill<A: Arithmetic, const W: usize>(
        &self,
        item: usize,
        index: usize,
        block: &mut Block,
        (): &mut (),
    ) -> Spread {
        let (term, points) = self.expansion.term_and_points(index);
        term.fill::<A, W>(self.rows.row(item), points, block);
        let AbsentFactors { factor, less_one } = &self.means[index];
        block.absent.clear();
        block.absent.extend_from_slice(factor);
        for (difference, b) in block.difference.iter_mut().zip(less_one) {
            for part in 0..LANES / W {
                let c: &mut [f64; W] = difference.part_mut(part);
                *c = zip(c, b.part(part), |a, b| a - b);
            }
        }
        block.spread_of_fractions::<W>()
    }

    fn block_players(&self, index: usize) -> &[usize] {
        &self.expansion.term_and_points(index).0.players
    }

    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        self.expansion.block_weights(index)
    }
}
