//! Interventional games: v(S) is the mean over background rows z of f with the features outside S
//! set to z's.
//!
//! Each triple of a point, a term and a background row is an evaluation with a = k(x, point) and b
//! = k(z, point). The absent factors of a tile are computed once for all explained rows that a
//! thread computes in it, and the present ones once for all background rows. A row that is
//! explained in a separate call costs a third more than one of many (300 points, 50 background
//! rows, 12 features), because nothing is kept between calls: a table of all absent factors would
//! take 16 bytes for each player of each evaluation, and reading it from memory would take longer
//! than the exponentials.
//!
//! In a quadratic form, the factors of a row, a background row and all points are computed once for
//! many products.

use std::ops::Range;

use crate::absent::background::Background;
use crate::absent::blocks::fill_from_block;
use crate::absent::contrast::Contrast;
use crate::absent::factors::AbsentFactors;
use crate::absent::games::{Absent, Alternatives};
use crate::error::Error;
use crate::evaluations::kind::Evaluations;
use crate::evaluations::packed_expansion::RowPlace;
use crate::evaluations::points::Points;
use crate::evaluations::products::{MultiplyBoth, Products};
use crate::evaluations::single_factors::{RowAlternative, SingleFactors};
use crate::game::block::{Block, FactorCount};
use crate::game::spread::Spread;
use crate::kernel::joint::ContrastOperands;
use crate::kernel::linked_terms::FactorCache;
use crate::kernel::term::{ContrastOfPlayer, ContrastOfSeries, FillTerm, PackedTerm};
use crate::memory::Memory;
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes, zip_lanes};

/// The values of each background row in turn, as the alternatives for absent players.
pub(crate) struct Interventional<'a> {
    pub background: Background<'a>,
}

impl Alternatives for Interventional<'_> {
    fn alternatives(&self) -> usize {
        self.background.rows.rows()
    }

    fn share(&self, z: usize) -> f64 {
        self.background.weights[z]
    }
}

/// The absent factors of a tile, and the present ones of a row and a block of points.
#[derive(Debug, Default)]
pub(crate) struct TileFactors {
    first: usize,
    absent: Vec<AbsentFactors>,
    /// The row and the block of evaluations of the present factors.
    key: Option<(usize, usize)>,
    present: Block,
}

impl<'a> Absent<Points<'a>> for Interventional<'_> {
    type Cache = TileFactors;

    fn preparation(&self) -> usize {
        1
    }

    fn reserve(
        &self,
        &Points(expansion): &Points<'a>,
        blocks: usize,
        cache: &mut TileFactors,
        memory: &Memory,
    ) -> Result<(), Error> {
        let counts = expansion.factor_count();
        cache.present.reserve(counts.players, 0, memory)?;
        cache.present.reserve_series(counts, memory)?;
        AbsentFactors::reserve_all(&mut cache.absent, blocks, counts, memory)
    }

    fn prepare(
        &self,
        evaluations: &Points<'a>,
        blocks: Range<usize>,
        context: Context<'_>,
        cache: &mut TileFactors,
    ) {
        cache.first = blocks.start;
        cache.key = None;
        let block = &mut cache.present;
        for (index, absent) in blocks.zip(&mut cache.absent) {
            let at = evaluations.locate(index, self.alternatives());
            let (term, points) = evaluations.0.term_and_points(at.block);
            let row = self.background.rows.row(at.alternative);
            context.run(FillTerm { term, row, points, block });
            absent.copy_present(block);
            absent.set_divisor(context.settings.level);
        }
    }

    fn fill(
        &self,
        evaluations: &Points<'a>,
        at: RowPlace<'_>,
        block: &mut Block,
        (factor_cache, cache): (&mut FactorCache, &mut TileFactors),
        context: Context<'_>,
    ) -> Spread {
        let (term, points) = evaluations.0.term_and_points(at.block);
        let (x, z) = (at.x, self.background.rows.row(at.alternative));
        let TileFactors { first, absent, key, present } = cache;
        if *key != Some((at.item, at.block)) {
            evaluations.fill(at, present, factor_cache, context);
            *key = Some((at.item, at.block));
        }
        let contrast = BetweenRows { term, x, z, points };
        fill_from_block(present, &absent[at.index - *first], block, &contrast, context)
    }
}

/// The factors of a row and of a background row with a block of points.
#[derive(Debug, Default)]
pub(crate) struct BothFactors {
    present: Block,
    absent: AbsentFactors,
}

impl<'a> Absent<Products<'a>> for Interventional<'_> {
    type Cache = BothFactors;

    fn reserve(
        &self,
        products: &Products<'a>,
        _blocks: usize,
        cache: &mut BothFactors,
        memory: &Memory,
    ) -> Result<(), Error> {
        let players = products.expansion.players();
        cache.present.reserve(players, 0, memory)?;
        cache.absent.reserve(FactorCount::numbers(players), memory)
    }

    fn fill(
        &self,
        products: &Products<'a>,
        at: RowPlace<'_>,
        block: &mut Block,
        (singles, cache): (&mut SingleFactors, &mut BothFactors),
        context: Context<'_>,
    ) -> Spread {
        let BothFactors { present, absent } = cache;
        let (x, z) = (at.x, self.background.rows.row(at.alternative));
        let product_block = products.of_block(at.block);
        let row = RowAlternative { item: at.item, alternative: at.alternative };
        for number in singles.missing(row, product_block.partners).into_iter().flatten() {
            let (term, points) = products.expansion.term_and_points(number);
            context.run(FillTerm { term, row: z, points, block: present });
            absent.copy_present(present);
            context.run(FillTerm { term, row: x, points, block: present });
            let contrast = BetweenRows { term, x, z, points };
            fill_from_block(present, absent, singles.block_mut(number), &contrast, context);
        }
        let singles = singles.of_partners(product_block.partners);
        context.run(MultiplyBoth { singles, product_block, block })
    }
}

/// The contrast k(x, point) − k(z, point).
struct BetweenRows<'a> {
    pub term: &'a PackedTerm,
    pub x: &'a [f64],
    pub z: &'a [f64],
    pub points: &'a [Lanes],
}

impl Contrast for BetweenRows<'_> {
    fn loss(&self) -> f64 {
        1.0 / 8192.0
    }

    fn of_player(&self, player: usize, _mask: &[bool; LANES], context: Context<'_>) -> Lanes {
        let &Self { term, x, z, points } = self;
        if term.columns_of(player).all(|column| x[column] - z[column] == 0.0) {
            return Lanes::ZERO;
        }
        let operands = ContrastOperands::Points { x, z, points };
        let [high, low] = context.run(ContrastOfPlayer { term, player, operands });
        Lanes(zip_lanes(&high.0, &low.0, |high, low| high + low))
    }

    fn of_series(
        &self,
        player: usize,
        _mask: &[bool; LANES],
        higher: &mut [Lanes],
        context: Context<'_>,
    ) {
        let &Self { term, x, z, points } = self;
        let operands = ContrastOperands::Points { x, z, points };
        context.run(ContrastOfSeries { term, player, operands, higher });
    }
}
