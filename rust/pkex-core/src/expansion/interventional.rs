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
use crate::expansion::absent::{AbsentFactors, Contrast, fill_block_against};
use crate::expansion::background::Background;
use crate::expansion::games::{Absent, Evaluation, locate};
use crate::expansion::packed::PackedExpansion;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::doubling::Rung;
use crate::kernel::joint::Compared;
use crate::kernel::term::{ContrastOfPlayer, ContrastOfSeries, FillTerm, PackedTerm};
use crate::memory::Memory;
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes, zip_lanes};

/// The values of each background row in turn.
pub(crate) struct Interventional<'a> {
    pub background: Background<'a>,
}

/// The absent factors of a tile, and the present ones of a row and a block of points.
#[derive(Debug, Default)]
pub(crate) struct TileFactors {
    first: usize,
    absent: Vec<AbsentFactors>,
    /// The row, and the pair of a term and a block of points, of the present factors.
    of: Option<(usize, usize)>,
    present: Block,
}

impl Absent for Interventional<'_> {
    type Cache = TileFactors;

    fn alternatives(&self) -> usize {
        self.background.rows.rows()
    }

    fn share(&self, z: usize) -> f64 {
        self.background.weights[z]
    }

    fn preparation(&self) -> usize {
        1
    }

    fn reserve(
        &self,
        blocks: usize,
        of_block: (usize, usize),
        cache: &mut TileFactors,
        memory: &Memory,
    ) -> Result<(), Error> {
        cache.present.reserve(of_block.0, 0, memory)?;
        cache.present.reserve_series(of_block, memory)?;
        AbsentFactors::reserve_all(&mut cache.absent, blocks, of_block, memory)
    }

    fn prepare(
        &self,
        expansion: &PackedExpansion,
        blocks: Range<usize>,
        context: Context<'_>,
        cache: &mut TileFactors,
    ) {
        cache.first = blocks.start;
        cache.of = None;
        let block = &mut cache.present;
        for (index, absent) in blocks.zip(&mut cache.absent) {
            let (place, z) = locate(index, self.alternatives());
            let (term, points) = expansion.term_and_points(expansion.at_place(place));
            context.run(FillTerm { term, row: self.background.rows.row(z), points, block });
            absent.factor.clone_from(&block.present);
            absent.less_one.clone_from(&block.difference);
            absent.higher.clear();
            if !block.series.weights.is_empty() {
                absent.higher.extend_from_slice(&block.series.present);
            }
            absent.set_divisor(context.settings.level);
        }
    }

    fn fill(
        &self,
        at: &Evaluation<'_>,
        rung: Option<Rung<'_>>,
        block: &mut Block,
        cache: &mut TileFactors,
        context: Context<'_>,
    ) -> Spread {
        let &Evaluation { x, term, points, .. } = at;
        let z = self.background.rows.row(at.alternative);
        let TileFactors { first, absent, of, present } = cache;
        if *of != Some((at.item, at.pair)) {
            at.fill_own(rung, present, context);
            *of = Some((at.item, at.pair));
        }
        let contrast = BetweenRows { term, x, z, points };
        fill_block_against(present, &absent[at.index - *first], block, &contrast, context)
    }
}

/// k(x, point) − k(z, point).
pub(crate) struct BetweenRows<'a> {
    pub term: &'a PackedTerm,
    pub x: &'a [f64],
    pub z: &'a [f64],
    pub points: &'a [Lanes],
}

impl Contrast for BetweenRows<'_> {
    fn loss(&self) -> f64 {
        1.0 / 8192.0
    }

    fn of_player(&self, player: usize, _found: &Lanes, context: Context<'_>) -> Lanes {
        let &Self { term, x, z, points } = self;
        if term.columns_of(player).all(|column| x[column] - z[column] == 0.0) {
            return Lanes::ZERO;
        }
        let compared = Compared::Points { x, z, points };
        let [high, low] = context.run(ContrastOfPlayer { term, player, compared });
        Lanes(zip_lanes(&high.0, &low.0, |high, low| high + low))
    }

    fn of_series(
        &self,
        player: usize,
        _wanted: &[bool; LANES],
        higher: &mut [Lanes],
        context: Context<'_>,
    ) {
        let &Self { term, x, z, points } = self;
        let compared = Compared::Points { x, z, points };
        context.run(ContrastOfSeries { term, player, compared, higher });
    }
}
