//! Interventional games: v(S) is the mean over background rows z of f with the features outside S
//! set to z's.
//!
//! Each triple of a point, a term and a background row is an evaluation with a = k(x, point) and
//! b = k(z, point). The absent factors of a tile are computed once and serve all explained rows
//! that a thread walks in it; the present ones serve all background rows. A row that is explained
//! alone costs a third more than one of many (300 points, 50 background rows, 12 features), since
//! nothing is kept between calls: a table of all absent factors would take 16 bytes for each
//! player of each evaluation, and longer to read from memory than the exponentials take.

use std::ops::Range;

use crate::error::Error;
use crate::expansion::absent::{AbsentFactors, Background, Contrast, FactorsOf, fill_from};
use crate::expansion::explain::Expansion;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::joint::Entries;
use crate::kernel::term::CompiledTerm;
use crate::matrix::Matrix;
use crate::memory::{Memory, product};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{Lanes, map};
use crate::simd::level::Level;
use crate::threads::Stop;
use crate::walk::source::Source;

/// The interventional games between some rows and an expansion's points.
pub(crate) struct InterventionalGames<'a> {
    pub expansion: &'a Expansion,
    pub rows: Matrix<'a>,
    pub background: Background<'a>,
}

impl InterventionalGames<'_> {
    /// The block of points and the background row of an evaluation block.
    fn locate(&self, index: usize) -> (usize, usize) {
        (index / self.background.rows.rows(), index % self.background.rows.rows())
    }
}

/// The absent factors of a tile, and the present ones of a row and a block of points.
#[derive(Debug, Default)]
pub(crate) struct Factors {
    first: usize,
    absent: Vec<AbsentFactors>,
    of: Option<(usize, usize)>,
    present: Block,
}

impl Source for InterventionalGames<'_> {
    type Cache = Factors;

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
        product([self.expansion.evaluation_blocks(), self.background.rows.rows()])
    }

    fn preparation(&self) -> usize {
        1
    }

    fn prepared_bytes(&self) -> usize {
        AbsentFactors::BYTES
    }

    fn reserve(&self, blocks: usize, cache: &mut Factors, memory: &Memory) -> Result<(), Error> {
        cache.present.reserve(self.players(), 0, memory)?;
        AbsentFactors::reserve_all(&mut cache.absent, (blocks, self.players()), memory)
    }

    fn prepare(&self, blocks: Range<usize>, level: Level, _stop: &Stop, cache: &mut Factors) {
        cache.first = blocks.start;
        cache.of = None;
        let block = &mut cache.present;
        for (index, absent) in blocks.zip(&mut cache.absent) {
            let (outer, z) = self.locate(index);
            let (term, points) = self.expansion.term_and_points(outer);
            level.run(FactorsOf { term, row: self.background.rows.row(z), points, block });
            absent.factor.clone_from(&block.present);
            absent.less_one.clone_from(&block.difference);
        }
    }

    #[inline(always)]
    fn fill<A: Arithmetic, const W: usize>(
        &self,
        item: usize,
        index: usize,
        block: &mut Block,
        cache: &mut Factors,
    ) -> Spread {
        let (outer, z) = self.locate(index);
        let (term, points) = self.expansion.term_and_points(outer);
        let (x, z) = (self.rows.row(item), self.background.rows.row(z));
        let Factors { first, absent, of, present } = cache;
        if *of != Some((item, outer)) {
            term.fill::<A, W>(x, points, present);
            *of = Some((item, outer));
        }
        let contrast = BetweenRows { term, x, z, points };
        fill_from::<A, _, W>(present, &absent[index - *first], block, &contrast)
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

/// k(x, point) − k(z, point).
struct BetweenRows<'a> {
    term: &'a CompiledTerm,
    x: &'a [f64],
    z: &'a [f64],
    points: &'a [Lanes],
}

impl Contrast for BetweenRows<'_> {
    const LOSS: f64 = 1.0 / 8192.0;

    #[inline(always)]
    fn contrast<A: Arithmetic, const W: usize>(
        &self,
        player: usize,
        part: usize,
        _kept: &[f64; W],
    ) -> [f64; W] {
        let Self { term, x, z, points } = self;
        if term.columns_of(player).all(|column| x[column] - z[column] == 0.0) {
            return [0.0; W];
        }
        let entries = |column: usize| Entries {
            x: [x[column]; W],
            z: [z[column]; W],
            y: *points[column].part(part),
        };
        term.contrast::<A, W>(player, entries).values()
    }
}
