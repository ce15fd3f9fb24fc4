//! How many nodes full double precision takes: rules, and limits of Λ up to which each is used.
//!
//! The integrand ∏ₗ Fₗ(t), Fₗ = bₗ + t cₗ, of d − 1 linear factors is integrated exactly by ⌈d/2⌉
//! nodes. With Mₗ = max(|aₗ|, |bₗ|) and Λ = Σₗ |cₗ|/Mₗ far fewer err by less than rounding does:
//! see [`error_bound`]. Rules and limits are made once per number of players ([`NodeTable::new`]).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::quadrature::bound::{error_bound, largest_lambda};
use crate::quadrature::measure::Density;
use crate::quadrature::rule::Rule;

/// Half an ulp of 1.
const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// A rule and the largest Λ up to which it reaches full double precision.
#[derive(Debug)]
struct Entry {
    rule: Rule,
    /// For differences c of one sign, relative to ∏M (and so to Ω ≥ ∏M/(Λ+1)).
    limit_one_sign: f64,
    /// For differences of mixed signs, with 2Λ and a tolerance smaller by Λ + 1.
    limit_mixed: f64,
}

impl Entry {
    /// The rule of `count` nodes, which `is_exact` if that many integrate any game exactly.
    fn new(count: usize, is_exact: bool) -> Self {
        let bound = error_bound(count);
        let limit = |scale: f64, growth: f64| {
            let error = |lambda: f64| bound(scale * lambda);
            let tolerance = |lambda: f64| UNIT_ROUNDOFF / (1.0 + growth * lambda);
            if is_exact { f64::INFINITY } else { largest_lambda(error, tolerance) }
        };
        Self {
            rule: Rule::gauss_legendre(count),
            limit_one_sign: limit(1.0, 0.0),
            limit_mixed: limit(2.0, 1.0),
        }
    }

    /// The same, made once per process: bisection for the limits costs more than the rule.
    fn shared(count: usize, is_exact: bool) -> Arc<Self> {
        static MADE: Mutex<BTreeMap<(usize, bool), Arc<Entry>>> = Mutex::new(BTreeMap::new());
        let make = || Arc::new(Self::new(count, is_exact));
        // Without waiting: a fork may have taken the thread away that holds the lock.
        match MADE.try_lock() {
            Ok(mut made) => Arc::clone(made.entry((count, is_exact)).or_insert_with(make)),
            Err(_) => make(),
        }
    }
}

/// The rules that games of a number of players need, from the shortest to the exact one.
#[derive(Clone, Debug)]
pub struct NodeTable {
    entries: Vec<Arc<Entry>>,
}

impl NodeTable {
    /// The rules for games of at most `players` players (Λ ≤ 2·`players`, as |c| ≤ 2M).
    #[must_use]
    pub fn new(players: usize) -> Self {
        let exact = players.div_ceil(2).max(1);
        let largest = 2.0 * players as f64;
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        let mut count = 1;
        while entries.last().is_none_or(|entry| entry.limit_mixed < largest) {
            entries.push(Entry::shared(count.min(exact), count >= exact));
            // Every size up to 32, then steps of an eighth: few rules, at most that much longer.
            count += if count < 32 { 1 } else { 1 << (count.ilog2() - 3) };
        }
        Self { entries }
    }

    /// The rules for the integral of games of at most `players` players over a density of degree g.
    ///
    /// On an ellipse e^s the density grows by e^{gs} at most (Bernstein), as much as ⌈g/2⌉ nodes
    /// more make up for. It may leave little of the game's own size: limits are those of mixed
    /// signs.
    #[must_use]
    pub fn weighted(players: usize, density: &Density) -> Self {
        if *density == Density::UNIFORM {
            return Self::new(players);
        }
        let weighted = |entry: &Arc<Entry>| {
            let count = entry.rule.count() + density.total_degree().div_ceil(2);
            let mut rule = Rule::gauss_legendre(count);
            for node in rule.from_absent.iter_mut().chain(&mut rule.from_present) {
                node.weight *= density.at(node);
            }
            Arc::new(Entry {
                rule,
                limit_one_sign: entry.limit_mixed,
                limit_mixed: entry.limit_mixed,
            })
        };
        Self { entries: Self::new(players).entries.iter().map(weighted).collect() }
    }

    /// The shortest rule that reaches full double precision at Λ = `lambda`.
    #[must_use]
    pub fn rule(&self, lambda: f64, mixed_signs: bool) -> &Rule {
        let too_short = |entry: &Arc<Entry>| {
            lambda > if mixed_signs { entry.limit_mixed } else { entry.limit_one_sign }
        };
        let index = self.entries.partition_point(too_short);
        &self.entries[index.min(self.entries.len() - 1)].rule
    }

    /// The shortest rule for games whose factors are power series: for a polynomial of t below
    /// `degree`, or, given the Λ of the coefficients of s⁰, for products of it with their factors.
    ///
    /// A coefficient of s^p is a sum of products in each of which at most p factors are of higher
    /// orders. Let h be their part of a product, a polynomial of degree p in t that is at most
    /// their ∏M, and g the rest, whose Λ is no larger. m + ⌈p/2⌉ nodes integrate h times any
    /// polynomial of degree 2m − 1 exactly, and so err by at most 2 ∏M times the distance of g to
    /// these polynomials, which is within a small factor of the bound of m nodes for g
    /// ([`error_bound`]). The last rule, if it is not exact, serves 2Λ and more.
    #[must_use]
    pub fn rule_of_series(&self, lambda: Option<f64>, degree: usize) -> &Rule {
        // Rules for a density have more nodes than they count for.
        let of_density = self.entries[0].rule.count() - 1;
        let of_zeroth = lambda.map_or(0, |lambda| self.rule(lambda, true).count() - of_density);
        let count = of_zeroth + of_density + degree.div_ceil(2);
        let index = self.entries.partition_point(|entry| entry.rule.count() < count);
        &self.entries[index.min(self.entries.len() - 1)].rule
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_numbers_are_those_of_the_table() {
        let table = NodeTable::new(10_000);
        for (lambda, expected) in
            [(1.0, 7), (2.0, 8), (4.0, 10), (8.0, 12), (16.0, 15), (32.0, 20), (64.0, 27)]
        {
            assert_eq!(table.rule(lambda, false).count(), expected, "Λ = {lambda}");
        }
        for (lambda, expected) in [(1.0, 8), (4.0, 12), (16.0, 21)] {
            assert_eq!(table.rule(lambda, true).count(), expected, "mixed, Λ = {lambda}");
        }
        // Beyond 32 nodes sizes grow in steps of an eighth.
        for (lambda, at_least) in [(128.0, 37), (256.0, 51), (512.0, 71), (1024.0, 100)] {
            let count = table.rule(lambda, false).count();
            assert!((at_least..=at_least + at_least / 8 + 1).contains(&count), "{lambda}: {count}");
        }
    }

    #[test]
    fn node_numbers_are_capped_at_exactness() {
        for players in [1, 2, 3, 7, 20, 101] {
            let table = NodeTable::new(players);
            let exact = players.div_ceil(2);
            assert!(table.rule(players as f64, false).count() <= exact);
            assert_eq!(
                table.rule(f64::INFINITY, true).count(),
                table.entries.last().unwrap().rule.count()
            );
        }
        assert_eq!(NodeTable::new(8).rule(8.0, true).count(), 4);
    }
}
