//! The quantities that are computed of each game of a block.

use crate::error::Error;
use crate::game::block::{AbsentFactor, Block, FactorCount, HigherOrders, MultiplyAll};
use crate::game::coalitions::Coalitions;
use crate::game::coalitions_of_two::{EvaluatePairs, TwoProducts};
use crate::game::interactions::{CoalitionProducts, EvaluateCoalitions, MultiplyDifferences};
use crate::game::recursion::{ByRecursion, RecursionRows};
use crate::game::scaling::Scaling;
use crate::game::series::{EvaluateSeries, Polynomials};
use crate::game::spread::Spread;
use crate::game::sweep::{FromBothEnds, FromOneEnd, NoOtherPlayers};
use crate::game::two_players::PerTwo;
use crate::memory::{Memory, saturating_product};
use crate::quadrature::free_end::FreeEnd;
use crate::quadrature::measure::Measure;
use crate::quadrature::rule::Rule;
use crate::quadrature::table::NodeTable;
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::Lanes;
use crate::simd::level::Body;

/// A quantity of a game.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Quantity<'a> {
    /// A value of each player by quadrature: the Shapley value, or that of another measure.
    Values(Nodes<'a>),
    /// Shapley values by the recursion. Shapley values of power series use these nodes.
    ShapleyByRecursion(Nodes<'a>),
    /// A coefficient of each of some coalitions by quadrature.
    Interactions(&'a Coalitions, Nodes<'a>),
    /// The value of the grand coalition, as the value of a single player.
    GrandCoalition,
    /// The value of the empty coalition, as the value of a single player.
    EmptyCoalition,
}

/// The nodes of a quadrature.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Nodes<'a> {
    /// As many nodes as full double precision needs.
    Table(&'a NodeTable),
    /// The same rule for all games.
    Rule(&'a Rule),
}

/// The nodes for a measure.
pub(crate) enum MeasureNodes {
    /// As many nodes as full double precision needs.
    Table(NodeTable),
    /// The node of a point measure.
    Rule(Rule),
}

impl MeasureNodes {
    /// The nodes for coalitions of `size` of the players of a game.
    pub fn new(measure: &Measure, players: usize, size: usize) -> Self {
        match measure {
            Measure::Point(t) => Self::Rule(Rule::point(*t)),
            // The number of factors is that of the Shapley values for this number of players.
            Measure::Density(density) => {
                Self::Table(NodeTable::with_density((players + 1).saturating_sub(size), density))
            }
        }
    }

    /// The nodes, borrowed.
    pub fn nodes(&self) -> Nodes<'_> {
        match self {
            Self::Table(table) => Nodes::Table(table),
            Self::Rule(rule) => Nodes::Rule(rule),
        }
    }
}

impl<'a> Nodes<'a> {
    fn rule(self, spread: &Spread) -> &'a Rule {
        match self {
            Self::Table(table) => table.rule(spread.lambda, spread.mixed_signs),
            Self::Rule(rule) => rule,
        }
    }

    /// The rule for games with b = 1 and a ≥ 0, if there is a special one.
    fn rule_of_unit(self, spread: &Spread) -> Option<&'a FreeEnd> {
        match self {
            Self::Table(table) => table.rule_of_unit(spread.lambda, spread.mixed_signs),
            Self::Rule(_) => None,
        }
    }

    /// The rule for power series and coalitions of a number of members.
    fn rule_of_series(self, spread: &Spread, series: &HigherOrders, members: usize) -> &'a Rule {
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
    /// The number of results, for games of `players` players.
    pub fn count(self, players: usize) -> usize {
        match self {
            Self::GrandCoalition | Self::EmptyCoalition => 1,
            Self::Interactions(coalitions, _) => coalitions.count(),
            _ => players,
        }
    }

    /// Whether present factors are needed where absent ones are 1, or become 1 by division.
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

    /// An upper bound of the sizes of a block's values after evaluation, for factors in [0, 1]: of
    /// the products of the larger of each player's factors; or of the values, if they are such
    /// products themselves.
    pub fn bound(self, spread: &Spread, block: &Block) -> f64 {
        match self {
            Self::GrandCoalition | Self::EmptyCoalition => block.omega[0].largest(),
            _ => spread.size_bound,
        }
    }

    /// Computes the places, among the numbers of the result, of the numbers of a block that has
    /// only some (ascending) of the players.
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

/// Memory for the computations, kept between blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    prefixes: PerTwo,
    rows: RecursionRows,
    products: CoalitionProducts,
    twos: TwoProducts,
    polynomials: Polynomials,
}

impl Scratch {
    /// Reserves memory for games of a number of players.
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

    /// Reserves memory for factors that are power series.
    pub fn reserve_series(
        &mut self,
        quantity: Quantity<'_>,
        counts: FactorCount,
        memory: &Memory,
    ) -> Result<(), Error> {
        let members = match quantity {
            Quantity::Interactions(coalitions, _) => coalitions.size(),
            _ => 1,
        };
        self.polynomials.reserve(counts, members, memory)
    }
}

impl Quantity<'_> {
    /// Computes Ω of each game of a block with these players (ascending), player by player or
    /// coalition by coalition, from factors of that spread. `difference` then holds the factor of
    /// each Ω: c, or a product of c.
    pub fn evaluate(
        self,
        spread: &Spread,
        (block, players): (&mut Block, &[usize]),
        scratch: &mut Scratch,
        context: Context<'_>,
    ) {
        if block.series.exists() {
            self.evaluate_series(spread, (block, players), scratch, context);
            return;
        }
        let scaling = Scaling::apply(block, spread);
        let Scratch { prefixes, rows, products, twos, .. } = scratch;
        match self {
            Self::GrandCoalition => context.run(MultiplyAll { block, present: true }),
            Self::EmptyCoalition => context.run(MultiplyAll { block, present: false }),
            Self::ShapleyByRecursion(_) => {
                context.run(ByRecursion { block, rows, context });
            }
            Self::Values(nodes) => match nodes.rule_of_unit(spread) {
                Some(rule) if block.absent_factor() == AbsentFactor::One => {
                    context.run_in_registers(FromOneEnd {
                        rule,
                        block,
                        prefixes,
                        other_players: NoOtherPlayers,
                    });
                }
                _ => {
                    block.absent.resize(block.present.len(), Lanes::ONE);
                    let rule = nodes.rule(spread);
                    context.run_in_registers(FromBothEnds {
                        rule,
                        block,
                        prefixes,
                        other_players: NoOtherPlayers,
                    });
                }
            },
            Self::Interactions(coalitions, nodes) => {
                let coalitions = &coalitions.among(players);
                match nodes.rule_of_unit(spread) {
                    Some(rule)
                        if coalitions.size() == 2 && block.absent_factor() == AbsentFactor::One =>
                    {
                        context.run_in_registers(EvaluatePairs {
                            rule,
                            coalitions,
                            block,
                            products: twos,
                        });
                        context.run(MultiplyDifferences { coalitions, block, products });
                    }
                    _ => {
                        let rule = nodes.rule(spread);
                        context.run(EvaluateCoalitions { rule, coalitions, block, products });
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
    /// Computes coefficients of factors that are power series. `difference` is then 1.
    ///
    /// The recursion is not used: without other factors, a few nodes are exact.
    fn evaluate_series(
        self,
        spread: &Spread,
        (block, players): (&mut Block, &[usize]),
        scratch: &mut Scratch,
        context: Context<'_>,
    ) {
        let Scratch { polynomials, .. } = scratch;
        let singletons = Coalitions::all(players.len(), 1);
        let (rule, coalitions) = match self {
            Self::GrandCoalition => (&Rule::point(1.0), Coalitions::all(players.len(), 0)),
            Self::EmptyCoalition => (&Rule::point(0.0), Coalitions::all(players.len(), 0)),
            Self::Values(nodes) | Self::ShapleyByRecursion(nodes) => {
                (nodes.rule_of_series(spread, &block.series, 1), singletons)
            }
            Self::Interactions(coalitions, nodes) => {
                let rule = nodes.rule_of_series(spread, &block.series, coalitions.size());
                (rule, coalitions.among(players))
            }
        };
        context.run(EvaluateSeries { rule, coalitions: &coalitions, block, polynomials });
    }
}

/// Adds a multiple of the values of a block to other values, in their places.
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
        debug_assert_eq!(block.omega.len(), places.len());
        debug_assert_eq!(block.difference.len(), places.len());
        let factors = block.omega.iter().zip(&block.difference);
        for ((omega, difference), &place) in factors.zip(places) {
            values[place].add_product::<A, W>(&scale, &omega.times::<W>(difference));
        }
    }
}
