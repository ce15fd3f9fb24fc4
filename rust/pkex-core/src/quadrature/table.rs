//! The number of nodes for full double precision: rules, and limits of Λ up to which each is used.
//!
//! The integrand ∏ₗ Fₗ(t), Fₗ = bₗ + t cₗ, of d − 1 linear factors is integrated exactly by ⌈d/2⌉
//! nodes. With Mₗ = max(|aₗ|, |bₗ|) and Λ = Σₗ |cₗ|/Mₗ, the error of far fewer nodes is below
//! rounding errors: see [`bound`]. Where every b is 1, rules with a free end ([`FreeEnd`]) need one
//! node less. A table is made once per number of players ([`NodeTable::new`]).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::quadrature::bound::{self, largest_lambda};
use crate::quadrature::free_end::FreeEnd;
use crate::quadrature::measure::Density;
use crate::quadrature::rule::Rule;

/// Half an ulp of 1.
const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// Maximum nodes of rules with a free end: beyond, one node less saves little.
const MAX_FREE_END_NODES: usize = 12;

/// The largest Λ up to which a rule reaches full double precision.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The limit for differences c of one sign; errors are relative to ∏M (and so to Ω ≥ ∏M/(Λ+1)).
    one_sign: f64,
    /// The limit for differences of mixed signs; errors are relative to Ω of factors that are not
    /// negative.
    mixed_signs: f64,
}

impl Limits {
    /// The limits of a rule with this error relative to ∏M, a function of Λ.
    fn new(error: impl Fn(f64) -> f64) -> Self {
        let limit = |scale: f64, share: fn(f64) -> f64| {
            largest_lambda(|lambda| error(scale * lambda), |lambda| UNIT_ROUNDOFF * share(lambda))
        };
        Self {
            one_sign: limit(1.0, |_| 1.0),
            mixed_signs: limit(2.0, |lambda| 1.0 / (1.0 + lambda)).max(limit(1.0, min_share)),
        }
    }

    fn of(self, mixed_signs: bool) -> f64 {
        if mixed_signs { self.mixed_signs } else { self.one_sign }
    }
}

/// A rule, and its limits.
#[derive(Debug)]
struct Entry {
    rule: Arc<Rule>,
    limits: Limits,
}

impl Entry {
    /// The Gauss–Legendre rule of `count` nodes, with limits for a product of a number of factors.
    fn new(count: usize, factors: usize) -> Self {
        static RULES: SizeCache<Rule> = SizeCache::new();
        Self {
            rule: RULES.get(count, || Rule::gauss_legendre(count)),
            limits: Limits::new(bound::gauss_legendre(count, factors)),
        }
    }
}

/// A lower bound of B(Λ/2 + 1, Λ/2 + 1), the least Ω/∏M of factors that are not negative.
///
/// With δ = |c|/M, factors that fall are M (1 − t δ) ≥ M (1 − t)^δ, and factors that rise M t^δ or
/// more. ∫ (1 − t)^x t^{Λ−x} dt is smallest at x = Λ/2. There it is more than 4^{−Λ/2}/(Λ + 1),
/// because binomial coefficients are at most 4^{Λ/2}.
fn min_share(lambda: f64) -> f64 {
    libm::exp(-lambda * std::f64::consts::LN_2) / (lambda + 1.0)
}

/// Values that take long to compute: computed once per process and kept by size.
struct SizeCache<T>(Mutex<BTreeMap<usize, Arc<T>>>);

impl<T> SizeCache<T> {
    const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    fn get(&self, size: usize, make: impl FnOnce() -> T) -> Arc<T> {
        // Without waiting: the thread that holds the lock may not exist in a forked process.
        let Ok(mut values) = self.0.try_lock() else { return Arc::new(make()) };
        Arc::clone(values.entry(size).or_insert_with(|| Arc::new(make())))
    }
}

/// The rules that games of a number of players need, from the shortest to the exact one.
#[derive(Clone, Debug)]
pub struct NodeTable(Arc<Rules>);

#[derive(Debug)]
struct Rules {
    entries: Vec<Entry>,
    /// Rules for games with every b = 1; empty for other densities. If an a is negative, errors are
    /// relative to ∏M, not to Ω.
    unit_rules: Vec<(Limits, FreeEnd)>,
}

impl Rules {
    /// The Gauss–Legendre rules for games of at most `players` players (Λ ≤ 2·`players`, because
    /// |c| ≤ 2M), with limits for products of a number of factors.
    fn gauss_legendre(players: usize, factors: usize) -> Vec<Entry> {
        Self::up_to(2.0 * players as f64, players.div_ceil(2).max(1), factors)
    }

    /// The Gauss–Legendre rules for games up to a Λ, which a number of nodes integrates exactly.
    fn up_to(lambda: f64, exact: usize, factors: usize) -> Vec<Entry> {
        let is_last =
            |entry: &Entry| entry.rule.count() == exact || entry.limits.mixed_signs >= lambda;
        let mut entries: Vec<Entry> = Vec::new();
        let mut count = 1;
        while !entries.last().is_some_and(is_last) {
            entries.push(Entry::new(count.min(exact), factors));
            // Every size up to 32, then steps of an eighth: few rules, which are at most that much
            // longer.
            count += if count < 32 { 1 } else { 1 << (count.ilog2() - 3) };
        }
        entries
    }

    fn new(players: usize) -> Self {
        let factors = players.saturating_sub(1);
        let entries = Self::gauss_legendre(players, factors);
        let mut unit_rules: Vec<(Limits, FreeEnd)> =
            (1..=MAX_FREE_END_NODES.min(players / 2).max(1))
                .map(|count| (Limits::new(bound::free_end(count, factors)), FreeEnd::new(count)))
                .collect();
        for Entry { rule, limits } in &entries {
            let serves_more = |(last, _): &(Limits, FreeEnd)| {
                limits.one_sign > last.one_sign && limits.mixed_signs > last.mixed_signs
            };
            if unit_rules.last().is_none_or(serves_more) {
                unit_rules.push((*limits, FreeEnd::from(&**rule)));
            }
        }
        Self { entries, unit_rules }
    }
}

impl NodeTable {
    /// The rules for games of at most `players` players.
    #[must_use]
    pub fn new(players: usize) -> Self {
        static TABLES: SizeCache<Rules> = SizeCache::new();
        Self(TABLES.get(players, || Rules::new(players)))
    }

    /// The rules for games of any number of players, up to a Λ.
    pub(crate) fn up_to(lambda: usize) -> Self {
        static TABLES: SizeCache<Rules> = SizeCache::new();
        let rules = || {
            let entries = Rules::up_to(lambda as f64, usize::MAX, usize::MAX);
            Rules { entries, unit_rules: Vec::new() }
        };
        Self(TABLES.get(lambda, rules))
    }

    /// The rules for the integral of games of at most `players` players over a density of degree g.
    ///
    /// On an ellipse e^s the density grows by at most e^{gs} (Bernstein), for which ⌈g/2⌉ more
    /// nodes compensate. The integral may be small compared with the game: limits are those of
    /// mixed signs.
    #[must_use]
    pub fn with_density(players: usize, density: &Density) -> Self {
        if *density == Density::UNIFORM {
            return Self::new(players);
        }
        let with_density = |entry: Entry| {
            let count = entry.rule.count() + density.total_degree().div_ceil(2);
            let mut rule = Rule::gauss_legendre(count);
            for node in rule.from_absent.iter_mut().chain(&mut rule.from_present) {
                node.weight *= density.at(node);
            }
            let limits = Limits { one_sign: entry.limits.mixed_signs, ..entry.limits };
            Entry { rule: Arc::new(rule), limits }
        };
        let entries = Rules::gauss_legendre(players, usize::MAX).into_iter().map(with_density);
        Self(Arc::new(Rules { entries: entries.collect(), unit_rules: Vec::new() }))
    }

    /// The shortest rule that reaches full double precision at Λ = `lambda`.
    #[must_use]
    pub fn rule(&self, lambda: f64, mixed_signs: bool) -> &Rule {
        let too_short = |entry: &Entry| lambda > entry.limits.of(mixed_signs);
        let entries = &self.0.entries;
        let index = entries.partition_point(too_short);
        &entries[index.min(entries.len() - 1)].rule
    }

    /// The shortest rule that reaches full double precision for games with b = 1; `None` for the
    /// table of a density.
    #[must_use]
    pub fn rule_of_unit(&self, lambda: f64, mixed_signs: bool) -> Option<&FreeEnd> {
        let unit_rules = &self.0.unit_rules;
        let index = unit_rules.partition_point(|(limits, _)| lambda > limits.of(mixed_signs));
        unit_rules.get(index).or(unit_rules.last()).map(|(_, rule)| rule)
    }

    /// The shortest rule for games whose factors are power series: for a polynomial of t below
    /// `degree`; or, from the Λ of the coefficients of s⁰, for products of such a polynomial with
    /// these factors.
    ///
    /// A coefficient of s^p is a sum of products, each with at most p factors of higher orders. Let
    /// h be their part of a product, a polynomial of degree p in t that is at most their ∏M. Let g
    /// be the other factors, whose Λ is not larger. m + ⌈p/2⌉ nodes integrate h times any
    /// polynomial of degree 2m − 1 exactly. So their error is at most 2 ∏M times the distance of g
    /// to these polynomials, which is within a small factor of the bound of m nodes for g
    /// ([`bound`]). The last rule, if it is not exact, is valid up to 2Λ and more.
    #[must_use]
    pub fn rule_of_series(&self, lambda: Option<f64>, degree: usize) -> &Rule {
        // Rules for a density have more nodes than their order.
        let entries = &self.0.entries;
        let density_nodes = entries[0].rule.count() - 1;
        let zeroth_nodes =
            lambda.map_or(0, |lambda| self.rule(lambda, true).count() - density_nodes);
        let count = zeroth_nodes + density_nodes + degree.div_ceil(2);
        let index = entries.partition_point(|entry| entry.rule.count() < count);
        &entries[index.min(entries.len() - 1)].rule
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
        for (lambda, expected) in [(1.0, 7), (4.0, 10), (16.0, 19), (64.0, 40)] {
            assert_eq!(table.rule(lambda, true).count(), expected, "mixed, Λ = {lambda}");
        }
        // Beyond 32 nodes, sizes grow in steps of an eighth.
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
                table.0.entries.last().unwrap().rule.count()
            );
        }
        assert_eq!(NodeTable::new(8).rule(8.0, true).count(), 4);
    }
}
