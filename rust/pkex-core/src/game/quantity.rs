//! What is computed of each game of a block.

use crate::error::Error;
use crate::game::block::{AbsentFactor, Block, Higher};
use crate::game::coalitions::Coalitions;
use crate::game::coalitions_of_two::{self, TwosAtNodes};
use crate::game::interactions::{self, CoalitionProducts};
use crate::game::recursion::{self, RecursionRows};
use crate::game::scaling::Scaling;
use crate::game::series::{self, Polynomials};
use crate::game::spread::Spread;
use crate::game::sweep;
use crate::game::two_players::PerTwo;
use crate::memory::{Memory, saturating_product};
use crate::quadrature::free_end::FreeEnd;
use crate::quadrature::rule::Rule;
use crate::quadrature::table::NodeTable;
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::Lanes;
use crate::simd::level::Body;

/// What is computed of each game.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Quantity<'a> {
    /// A value of each player by quadrature: Shapley's, or another measure's.
    Values(Nodes<'a>),
    /// Shapley values by the recursion; those of power series by these nodes.
    ShapleyByRecursion(Nodes<'a>),
    /// A coefficient of each of some coalitions by quadrature.
    Interactions(&'a Coalitions, Nodes<'a>),
    /// The worth of the grand coalition, as if it were one player's value.
    GrandCoalition,
    /// The worth of the empty coalition, likewise.
    EmptyCoalition,
}

/// The nodes of a quadrature.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Nodes<'a> {
    /// As many as full double precision takes.
    Table(&'a NodeTable),
    /// Always the same.
    Rule(&'a Rule),
}

impl<'a> Nodes<'a> {
    fn rule(self, spread: &Spread) -> &'a Rule {
        match self {
            Self::Table(table) => table.rule(spread.lambda, spread.mixed_signs),
            Self::Rule(rule) => rule,
        }
    }

    /// The rule for games with b = 1 and a ≥ 0, if that is another one.
    fn rule_of_unit(self, spread: &Spread) -> Option<&'a FreeEnd> {
        match self {
            Self::Table(table) => table.rule_of_unit(spread.lambda, spread.mixed_signs),
            Self::Rule(_) => None,
        }
    }

    /// The rule for power series of so many orders, whose coalitions have so many members.
    fn rule_of_series(self, spread: &Spread, series: &Higher, members: usize) -> &'a Rule {
        match self {
            Self::Table(table) => {
                let lambda = (!series.is_pure).then_some(spread.lambda);
                table.rule_of_series(lambda, (series.orders() + 1).saturating_sub(members))
            }
            Self::Rule(rule) => rule,
        }
    }

    /// A rough number of nodes.
    fn steps(self, players: usize) -> usize {
        match self {
            Self::Table(_) => 12 + players.isqrt(),
            Self::Rule(_) => 4,
        }
    }
}

impl Quantity<'_> {
    /// Numbers that result, for games of `players` players.
    pub fn count(self, players: usize) -> usize {
        match self {
            Self::GrandCoalition | Self::EmptyCoalition => 1,
            Self::Interactions(coalitions, _) => coalitions.count(),
            _ => players,
        }
    }

    /// Whether the factors of present players are needed where those of absent ones are 1, or are
    /// made so by division.
    pub fn needs_present(self) -> bool {
        match self {
            Self::Values(nodes) => nodes.rule_of_unit(&Spread::NONE).is_none(),
            Self::Interactions(coalitions, nodes) if coalitions.size() == 2 => {
                nodes.rule_of_unit(&Spread::NONE).is_none()
            }
            _ => true,
        }
    }

    /// Rough cost of a game, in steps of one node and player.
    pub fn cost(self, players: usize) -> usize {
        match self {
            Self::Values(nodes) => saturating_product([players, nodes.steps(players)]),
            Self::Interactions(coalitions, nodes) => saturating_product([
                players.saturating_add(coalitions.count()),
                nodes.steps(players),
            ]),
            Self::ShapleyByRecursion(_) => saturating_product([2, players, players]),
            Self::GrandCoalition | Self::EmptyCoalition => saturating_product([4, players]),
        }
    }

    /// Which of the result's numbers a block's are, if it has only some (ascending) of the players.
    pub fn places(self, players: &[usize], scratch: &mut Scratch, places: &mut Vec<usize>) {
        places.clear();
        match self {
            Self::Interactions(coalitions, _) => {
                coalitions.places(players, scratch.products.cursor(), places);
            }
            Self::GrandCoalition | Self::EmptyCoalition => places.push(0),
            _ => places.extend_from_slice(players),
        }
    }
}

/// Room for the computation, kept between blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    prefixes: PerTwo,
    rows: RecursionRows,
    products: CoalitionProducts,
    twos: TwosAtNodes,
    polynomials: Polynomials,
}

impl Scratch {
    /// Makes room for games of that many players.
    pub fn reserve(
        &mut self,
        quantity: Quantity<'_>,
        players: usize,
        memory: &Memory,
    ) -> Result<(), Error> {
        match quantity {
            Quantity::Values(_) => self.prefixes.reserve(players, memory),
            Quantity::ShapleyByRecursion(_) => self.rows.reserve(players, memory),
            Quantity::Interactions(coalitions, _) => {
                if !quantity.needs_present() {
                    self.twos.reserve(players, memory)?;
                }
                self.products.reserve(players, coalitions, memory)
            }
            Quantity::GrandCoalition | Quantity::EmptyCoalition => Ok(()),
        }
    }

    /// Makes room for power series of so many orders.
    pub fn reserve_series(
        &mut self,
        quantity: Quantity<'_>,
        (players, orders): (usize, usize),
        memory: &Memory,
    ) -> Result<(), Error> {
        let members = match quantity {
            Quantity::Interactions(coalitions, _) => coalitions.size(),
            _ => 1,
        };
        self.polynomials.reserve((players, orders), members, memory)
    }
}

impl Quantity<'_> {
    /// Ω of each game of a block with these players (ascending), player by player or coalition by
    /// coalition, from factors of that spread; then `difference` holds the c, or their products,
    /// that it is to be multiplied by.
    pub fn evaluate(
        self,
        spread: &Spread,
        (block, players): (&mut Block, &[usize]),
        scratch: &mut Scratch,
        context: Context<'_>,
    ) {
        if block.series.is_there() {
            self.evaluate_series(spread, (block, players), scratch, context);
            return;
        }
        let scaling = Scaling::apply(block, spread);
        let Scratch { prefixes, rows, products, twos, .. } = scratch;
        match self {
            Self::GrandCoalition => context.run(WholeCoalition { block, is_present: true }),
            Self::EmptyCoalition => context.run(WholeCoalition { block, is_present: false }),
            Self::ShapleyByRecursion(_) => {
                context.run(ByRecursion { block, rows, context });
            }
            Self::Values(nodes) => match nodes.rule_of_unit(spread) {
                Some(rule) if block.absent_factor() == AbsentFactor::One => {
                    context.run_in_registers(FromOneEnd { rule, block, prefixes });
                }
                _ => {
                    block.absent.resize(block.present.len(), Lanes::ONE);
                    let rule = nodes.rule(spread);
                    context.run_in_registers(FromBothEnds { rule, block, prefixes });
                }
            },
            Self::Interactions(coalitions, nodes) => {
                let coalitions = &coalitions.among(players);
                match nodes.rule_of_unit(spread) {
                    Some(rule)
                        if coalitions.size() == 2 && block.absent_factor() == AbsentFactor::One =>
                    {
                        context.run_in_registers(OfTwo { rule, coalitions, block, twos });
                        context.run(MultiplyDifferences { coalitions, block, products });
                    }
                    _ => {
                        let rule = nodes.rule(spread);
                        context.run(OfCoalitions { rule, coalitions, block, products });
                    }
                }
            }
        }
        if let Some(scaling) = scaling {
            scaling.undo(block);
        }
    }
}

impl Quantity<'_> {
    /// The same of factors that are power series; then `difference` holds 1.
    ///
    /// There is no recursion: without other factors a few nodes are exact.
    fn evaluate_series(
        self,
        spread: &Spread,
        (block, players): (&mut Block, &[usize]),
        scratch: &mut Scratch,
        context: Context<'_>,
    ) {
        let Scratch { polynomials, .. } = scratch;
        let each = Coalitions::all(players.len(), 1);
        let (rule, coalitions) = match self {
            Self::GrandCoalition => (&Rule::point(1.0), Coalitions::all(players.len(), 0)),
            Self::EmptyCoalition => (&Rule::point(0.0), Coalitions::all(players.len(), 0)),
            Self::Values(nodes) | Self::ShapleyByRecursion(nodes) => {
                (nodes.rule_of_series(spread, &block.series, 1), each)
            }
            Self::Interactions(coalitions, nodes) => {
                let rule = nodes.rule_of_series(spread, &block.series, coalitions.size());
                (rule, coalitions.among(players))
            }
        };
        context.run(OfSeries { rule, coalitions: &coalitions, block, polynomials });
    }
}

// Each is compiled by itself: in one large function the compiler unrolls and keeps in registers
// less than it could.

struct WholeCoalition<'a> {
    block: &'a mut Block,
    is_present: bool,
}

impl Body for WholeCoalition<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        self.block.multiply_all::<W>(self.is_present);
    }
}

struct ByRecursion<'a> {
    block: &'a mut Block,
    rows: &'a mut RecursionRows,
    context: Context<'a>,
}

impl Body for ByRecursion<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        recursion::omega::<A>(self.block, self.rows, self.context);
    }
}

struct FromOneEnd<'a> {
    rule: &'a FreeEnd,
    block: &'a mut Block,
    prefixes: &'a mut PerTwo,
}

impl Body for FromOneEnd<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        sweep::omega_from_one_end::<A, W>(self.rule, self.block, self.prefixes);
    }
}

struct FromBothEnds<'a> {
    rule: &'a Rule,
    block: &'a mut Block,
    prefixes: &'a mut PerTwo,
}

impl Body for FromBothEnds<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        sweep::omega_from_both_ends::<A, W>(self.rule, self.block, self.prefixes);
    }
}

struct OfCoalitions<'a> {
    rule: &'a Rule,
    coalitions: &'a Coalitions,
    block: &'a mut Block,
    products: &'a mut CoalitionProducts,
}

impl Body for OfCoalitions<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        interactions::omega::<A, W>(self.rule, self.coalitions, self.block, self.products);
    }
}

struct OfTwo<'a> {
    rule: &'a FreeEnd,
    coalitions: &'a Coalitions,
    block: &'a mut Block,
    twos: &'a mut TwosAtNodes,
}

impl Body for OfTwo<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        coalitions_of_two::omega::<A, W>(self.rule, self.coalitions, self.block, self.twos);
    }
}

struct MultiplyDifferences<'a> {
    coalitions: &'a Coalitions,
    block: &'a mut Block,
    products: &'a mut CoalitionProducts,
}

impl Body for MultiplyDifferences<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        interactions::multiply_differences::<W>(self.coalitions, self.block, self.products);
    }
}

struct OfSeries<'a> {
    rule: &'a Rule,
    coalitions: &'a Coalitions,
    block: &'a mut Block,
    polynomials: &'a mut Polynomials,
}

impl Body for OfSeries<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        series::coefficients::<A, W>(self.rule, self.coalitions, self.block, self.polynomials);
    }
}

/// Adds a multiple of the values of a block, in their places among others.
pub(crate) struct AddValues<'a> {
    pub scale: Lanes,
    pub block: &'a Block,
    pub places: &'a [usize],
    pub values: &'a mut [Lanes],
}

impl Body for AddValues<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { scale, block, places, values } = self;
        let factors = block.omega.iter().zip(&block.difference);
        for ((omega, difference), &place) in factors.zip(places) {
            values[place].add_product::<A, W>(&scale, &omega.times::<W>(difference));
        }
    }
}
