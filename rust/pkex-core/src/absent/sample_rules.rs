//! Gauss rules for the means of products of two Gaussian kernels over background rows, column by
//! column.
//!
//! A product of two Gaussians is one of rate c = √(a² + b²), times a number up to 1. On the ellipse
//! around an interval of width 2 T/c with the semiaxes (ρ ± 1/ρ) T/(2c), it is at most
//! M = exp(T² (ρ − 1/ρ)²/4). So a polynomial of degree 2m − 1 is within 2 M ρ^(1−2m)/(ρ − 1) of it on
//! the interval (Trefethen 2013, theorem 8.2). A rule of m nodes has that polynomial's mean, hence an
//! error of at most twice this.

use crate::absent::background::Background;
use crate::error::Error;
use crate::evaluations::packed_expansion::PackedExpansion;
use crate::evaluations::quadratic_form::QuadraticForm;
use crate::kernel::term::PackedTerm;
use crate::memory::{INPUT, Memory};
use crate::quadrature::sample_rule::{Node, add_gauss_rule, distinct};
use crate::threads::Monitor;

/// The nodes of an interval for T up to ½, 1, 2 and 4: the error bound is below 10⁻¹⁷. For larger T,
/// the column is cut into intervals with T = 4.
const NODES: [usize; 4] = [10, 14, 20, 32];
/// The last level has all entries as nodes.
const MAX_LEVELS: usize = 40;

/// The rules of all columns.
pub(crate) struct SampleRules {
    columns: Vec<ColumnRules>,
}

/// The rules of a column by level: level l is for T up to 2^(l−1), empty if it is not needed.
struct ColumnRules {
    radius: f64,
    levels: Vec<Vec<Node>>,
}

impl SampleRules {
    /// The rules for the products of a form; `None` unless all factors are Gaussians of one
    /// column, and weights are not negative.
    pub fn new(
        (expansion, form): (&PackedExpansion, &QuadraticForm),
        background: Background<'_>,
        monitor: Monitor<'_>,
    ) -> Result<Option<Self>, Error> {
        let terms = &expansion.kernel.terms;
        let is_gaussian = |term: &PackedTerm| term.gaussians.len() == term.players.len();
        let are_positive = background.weights.iter().all(|&weight| weight >= 0.0);
        if !are_positive || !terms.iter().all(is_gaussian) {
            return Ok(None);
        }
        let mut is_needed = vec![[false; MAX_LEVELS]; expansion.columns()];
        let mut rules = Self::of_columns(background);
        for [first, second] in form.pairs_of_terms() {
            let union = form.union_of([first, second]);
            for player in 0..union.players.len() {
                let places = union.places[player];
                let Some(gaussians) = Gaussians::of([&terms[first], &terms[second]], places) else {
                    return Ok(None);
                };
                is_needed[gaussians.column][rules.level(gaussians)] = true;
            }
        }
        for (column, is_needed) in is_needed.iter().enumerate() {
            // Nothing of the computation that needs the rules is done yet.
            if monitor(0, 1).is_break() {
                return Err(Error::Interrupted);
            }
            rules.columns[column].fill(entries(background, column)?, is_needed)?;
        }
        Ok(Some(rules))
    }

    /// The columns' ranges, without rules.
    fn of_columns(background: Background<'_>) -> Self {
        let Background { rows, weights } = background;
        let column_rules = |column: usize| {
            let numbers = (0..rows.rows()).filter(|&row| weights[row] != 0.0);
            let (low, high) = numbers
                .map(|row| rows.row(row)[column])
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| {
                    (low.min(number), high.max(number))
                });
            ColumnRules { radius: high / 2.0 - low / 2.0, levels: Vec::new() }
        };
        Self { columns: (0..rows.columns()).map(column_rules).collect() }
    }

    /// The level of the rule for a product.
    pub fn level(&self, gaussians: Gaussians) -> usize {
        let [one, other] = gaussians.rates;
        let reach = (one * one + other * other).sqrt() * self.columns[gaussians.column].radius;
        let mut max_reach = 0.5;
        let fits = |_: &usize| {
            let fits = reach <= max_reach;
            max_reach *= 2.0;
            fits
        };
        (0..MAX_LEVELS - 1).find(fits).unwrap_or(MAX_LEVELS - 1)
    }

    /// The nodes of a column at a level.
    pub fn nodes(&self, column: usize, level: usize) -> &[Node] {
        &self.columns[column].levels[level]
    }

    /// The nodes for the factors of two terms at a player's places among theirs.
    pub fn nodes_of(&self, terms: [&PackedTerm; 2], places: [Option<usize>; 2]) -> Option<&[Node]> {
        Gaussians::of(terms, places)
            .map(|gaussians| self.nodes(gaussians.column, self.level(gaussians)))
    }

    /// The largest number of nodes of a rule.
    pub fn max_nodes(&self) -> usize {
        self.columns.iter().flat_map(|column| &column.levels).map(Vec::len).max().unwrap_or(0)
    }
}

impl ColumnRules {
    /// Computes the needed rules, each from the next finer one, which has the same means of products
    /// of lower levels.
    fn fill(&mut self, entries: Vec<Node>, is_needed: &[bool; MAX_LEVELS]) -> Result<(), Error> {
        self.levels.resize_with(MAX_LEVELS, Vec::new);
        let mut sample = entries;
        for level in (0..MAX_LEVELS).rev().filter(|&level| is_needed[level]) {
            let (mut rule, mut rest) = (Vec::new(), &sample[..]);
            let halvings = level.saturating_sub(NODES.len() - 1);
            let width = 2.0 * self.radius / libm::exp2(halvings as f64);
            while let Some(first) = rest.first() {
                let distance = |entry: &Node| entry.from(first.center) - first.offset;
                let is_near = |entry: &Node| halvings == 0 || distance(entry) <= width;
                let count = if level == MAX_LEVELS - 1 { 1 } else { rest.partition_point(is_near) };
                let (near, tail) = rest.split_at(count.max(1));
                add_gauss_rule(near, NODES[level.min(NODES.len() - 1)], &mut rule)?;
                rest = tail;
            }
            sample.clone_from(&rule);
            self.levels[level] = rule;
        }
        Ok(())
    }
}

/// The distinct entries of a background's column.
fn entries(background: Background<'_>, column: usize) -> Result<Vec<Node>, Error> {
    let mut entries = Vec::new();
    Memory::default().reserve(&mut entries, background.weights.len(), INPUT)?;
    let node = |(row, &weight): (usize, &f64)| Node {
        center: background.rows.row(row)[column],
        offset: 0.0,
        weight,
    };
    entries.extend(background.weights.iter().enumerate().map(node));
    Ok(distinct(entries))
}

/// Two Gaussian kernels of a column; one with rate 0 is 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gaussians {
    pub column: usize,
    pub rates: [f64; 2],
}

impl Gaussians {
    /// The factors of two terms at a player's places among theirs; `None` if they compare different
    /// columns.
    pub fn of(terms: [&PackedTerm; 2], places: [Option<usize>; 2]) -> Option<Self> {
        let [one, other] = [0, 1].map(|i| places[i].map(|place| terms[i].gaussians[place]));
        match (one, other) {
            (Some((column, rate)), Some((second_column, second_rate))) => {
                (column == second_column).then_some(Self { column, rates: [rate, second_rate] })
            }
            (Some((column, rate)), None) => Some(Self { column, rates: [rate, 0.0] }),
            (None, Some((column, rate))) => Some(Self { column, rates: [0.0, rate] }),
            (None, None) => None,
        }
    }
}
