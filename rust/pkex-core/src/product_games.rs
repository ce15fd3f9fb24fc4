//! Weighted sums of product games that are arrays of factors.

use crate::error::Error;
use crate::game::block::{AbsentFactor, Block};
use crate::game::quantity::{Nodes, Quantity};
use crate::game::spread::Spread;
use crate::matrix::Matrix;
use crate::memory::{Memory, RESULT, saturating_product};
use crate::quadrature::rule::Rule;
use crate::quadrature::table::NodeTable;
use crate::settings::{Context, Method, Settings};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{Lanes, each_lane};
use crate::simd::level::Body;
use crate::threads::Monitor;
use crate::walk::items;
use crate::walk::source::{Size, Source};
use crate::walk::weights::Weights;

/// An index of players: a measure on t in cⱼ ∫ ∏_{l≠j} Fₗ(t) μ(dt).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Index {
    /// Shapley: the uniform measure on [0, 1].
    #[default]
    Shapley,
    /// Banzhaf: the point measure at ½.
    Banzhaf,
}

/// Product games: row p holds the factors of game p, column j those of player j.
#[derive(Clone, Copy, Debug)]
pub struct ProductGames<'a> {
    /// Factors a of present players.
    pub present: Matrix<'a>,
    /// Factors b of absent players; 1 if `None`.
    pub absent: Option<Matrix<'a>>,
    /// c = a − b, if it is known more precisely than by subtraction.
    pub difference: Option<Matrix<'a>>,
    /// The games' weights, a column for each output.
    pub weights: Matrix<'a>,
}

impl ProductGames<'_> {
    /// Computes the index of the weighted sum Σ_p w_p v_p, player by player, output by output.
    ///
    /// # Errors
    /// If the shapes do not fit, the method does not compute the index, a value overflows, there is
    /// too little memory, or the monitor stops the call.
    pub fn values(
        &self,
        index: Index,
        method: Method,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        self.check_shapes()?;
        // Memory is checked before nodes for this number of players are computed, which may take
        // long.
        let width = saturating_product([self.present.columns(), self.weights.columns()]);
        Memory::default().reserve(&mut Vec::<f64>::new(), width, RESULT)?;
        let source = PackedGames {
            games: *self,
            weights: Weights::new(self.weights)?,
            players: (0..self.present.columns()).collect(),
        };
        match (index, method) {
            (Index::Shapley, Method::Quadrature) => {
                let nodes = NodeTable::new(self.present.columns());
                items::run(&source, Quantity::Values(Nodes::Table(&nodes)), settings, monitor)
            }
            (Index::Shapley, Method::Recursion) => {
                // These nodes are not used: none of the games is a power series.
                let nodes = NodeTable::new(1);
                let quantity = Quantity::ShapleyByRecursion(Nodes::Table(&nodes));
                items::run(&source, quantity, settings, monitor)
            }
            (Index::Banzhaf, Method::Quadrature) => {
                let half = Rule::point(0.5);
                items::run(&source, Quantity::Values(Nodes::Rule(&half)), settings, monitor)
            }
            (Index::Banzhaf, Method::Recursion) => Err(Error::Unsupported(
                "the recursion computes Shapley values only. Use the quadrature for Banzhaf values.".to_owned(),
            )),
        }
    }

    fn check_shapes(&self) -> Result<(), Error> {
        let shape = |matrix: Matrix<'_>| (matrix.rows(), matrix.columns());
        let expected = shape(self.present);
        let arguments = [("absent", self.absent), ("difference", self.difference)];
        for (argument, matrix) in arguments {
            if let Some(matrix) = matrix
                && shape(matrix) != expected
            {
                return Err(Error::Shape {
                    argument,
                    expected: format!("shape {expected:?}, as present"),
                    got: format!("shape {:?}", shape(matrix)),
                });
            }
        }
        if self.weights.rows() != expected.0 {
            return Err(Error::Shape {
                argument: "weights",
                expected: format!("{} rows, one for each game", expected.0),
                got: format!("{} rows", self.weights.rows()),
            });
        }
        Ok(())
    }
}

/// The games, as evaluations of a single item.
struct PackedGames<'a> {
    games: ProductGames<'a>,
    weights: Weights,
    players: Vec<usize>,
}

impl Source for PackedGames<'_> {
    type Cache = ();

    fn size(&self) -> Size {
        Size {
            items: 1,
            players: self.players.len(),
            outputs: self.weights.outputs(),
            blocks: self.weights.blocks(),
            orders: 0,
        }
    }

    fn fill(
        &self,
        _item: usize,
        index: usize,
        block: &mut Block,
        (): &mut (),
        context: Context<'_>,
    ) -> Spread {
        context.run(FillGames { games: &self.games, index, block })
    }

    fn block_players(&self, _index: usize) -> &[usize] {
        &self.players
    }

    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        self.weights.of_block(index).map(|(output, weights)| (output, *weights))
    }
}

/// Fills a block of games.
struct FillGames<'a> {
    games: &'a ProductGames<'a>,
    index: usize,
    block: &'a mut Block,
}

impl Body for FillGames<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { games, index, block } = self;
        let &ProductGames { present, absent, difference, .. } = games;
        block.begin(present.columns(), AbsentFactor::Each);
        fill_columns(&mut block.present, present, index);
        match absent {
            Some(absent) => fill_columns(&mut block.absent, absent, index),
            None => block.absent.fill(Lanes::ONE),
        }
        if let Some(difference) = difference {
            fill_columns(&mut block.difference, difference, index);
        } else {
            let factors = block.present.iter().zip(&block.absent);
            for ((a, b), difference) in factors.zip(&mut block.difference) {
                *difference = Lanes(each_lane(|i| a.0[i] - b.0[i]));
            }
        }
        block.spread::<A, W>()
    }
}

fn fill_columns(factors: &mut [Lanes], matrix: Matrix<'_>, block: usize) {
    debug_assert_eq!(factors.len(), matrix.columns());
    for (factor, lanes) in factors.iter_mut().zip(matrix.block_by_column(block)) {
        *factor = lanes;
    }
}
