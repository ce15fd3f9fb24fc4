//! The one-dimensional kernels of a term's columns, and their values at sparse entries.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::error::Error;
use crate::kernel::family::{Family, Profile};
use crate::kernel::joint::{Entries, Joint};
use crate::kernel::term::Term;
use crate::quadrature::rule::{Node, Rule};
use crate::simd::arithmetic::{Arithmetic, Separate};
use crate::simd::lanes::each_lane;
use crate::simd::level::Body;
use crate::simd::numbers::larger;

/// The families of stationary kernels that are positive, and 1 where both entries are zero.
const FAMILIES: [&str; 6] = ["rbf", "laplacian", "cauchy", "matern32", "matern52", "periodic"];

/// The kernel of each column of a term.
#[derive(Debug)]
pub(crate) struct Profiles {
    distinct: Vec<Profile>,
    /// The number of each column's kernel; empty if all columns have the same.
    numbers: Vec<usize>,
}

impl Profiles {
    /// The kernels of a term's columns.
    pub fn new(term: &Term, columns: usize) -> Result<Self, Error> {
        let mut parts = vec![Vec::new(); columns];
        for factor in &term.factors {
            let error = |subject| Err(Error::Unsupported(format!("{subject} of sparse rows")));
            if !FAMILIES.contains(&factor.family.name()) {
                return error(format!("kernels of the family {:?}", factor.family.name()));
            }
            match parts.get_mut(factor.column) {
                Some(parts) => parts.push((factor.family, factor.parameter)),
                None => return error(format!("column {} of {columns} columns", factor.column)),
            }
        }
        if term.series.is_some() {
            return Err(Error::Unsupported("power series of sparse rows".to_owned()));
        }
        let mut profiles = Self { distinct: Vec::new(), numbers: Vec::new() };
        let mut numbers = BTreeMap::new();
        for parts in parts {
            let number = match numbers.entry(key(&parts)) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(new) => {
                    let mut profile = Profile::default();
                    for (family, parameter) in parts {
                        profile.include(family, parameter)?;
                    }
                    profiles.distinct.push(profile);
                    *new.insert(profiles.distinct.len() - 1)
                }
            };
            profiles.numbers.push(number);
        }
        if profiles.distinct.len() == 1 {
            profiles.numbers = Vec::new();
        }
        Ok(profiles)
    }

    /// The kernel of a column.
    pub fn of(&self, column: usize) -> &Profile {
        &self.distinct[self.numbers.get(column).copied().unwrap_or(0)]
    }

    /// k(x, y) and k(x, y) − 1 of a column.
    pub fn factor(&self, column: usize, x: f64, y: f64) -> (f64, f64) {
        let ([factor], [less_one]) = self.of(column).factor::<Separate, 1>(&[x], &[y]);
        (factor, less_one)
    }
}

/// Numbers that are equal for equal products of kernels.
fn key(parts: &[(Family, f64)]) -> Vec<(&'static str, u64, u64)> {
    let of_part = |&(family, parameter): &(Family, f64)| {
        let second = match family {
            Family::Periodic { period } => period.to_bits(),
            _ => 0,
        };
        (family.name(), parameter.to_bits(), second)
    };
    parts.iter().map(of_part).collect()
}

/// Computes k(x, y) and k(x, y) − 1 for each y.
pub(crate) struct ComputeFactors<'a> {
    pub profile: &'a Profile,
    pub x: f64,
    pub values: &'a [f64],
    pub factors: &'a mut [f64],
    pub less_one: &'a mut [f64],
}

impl Body for ComputeFactors<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { profile, x, values, factors, less_one } = self;
        let results = factors.chunks_mut(W).zip(less_one.chunks_mut(W));
        for (values, (factors, less_one)) in values.chunks(W).zip(results) {
            let (a, c) = profile.factor::<A, W>(&[x; W], &pad(values));
            factors.copy_from_slice(&a[..values.len()]);
            less_one.copy_from_slice(&c[..values.len()]);
        }
    }
}

/// Computes k(x, y) − k(z, y) for each y, without cancellation.
pub(crate) struct ComputeContrasts<'a> {
    pub profile: &'a Profile,
    pub x: f64,
    pub z: f64,
    pub values: &'a [f64],
    pub contrasts: &'a mut [f64],
}

impl Body for ComputeContrasts<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { profile, x, z, values, contrasts } = self;
        for (values, contrasts) in values.chunks(W).zip(contrasts.chunks_mut(W)) {
            let mut joint = Joint::ONE;
            let entries = Entries { x: [x; W], z: [z; W], y: pad(values) };
            profile.join::<A, W>(&mut joint, &entries);
            contrasts.copy_from_slice(&joint.difference::<A>().values()[..values.len()]);
        }
    }
}

/// At least one and at most `W` numbers, the last of which is repeated.
#[inline(always)]
fn pad<const W: usize>(values: &[f64]) -> [f64; W] {
    each_lane(|i| values[i.min(values.len() - 1)])
}

/// The factor of a player in a game: a, b, a − 1, b − 1 and c = a − b.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    pub present: f64,
    pub absent: f64,
    pub present_less_one: f64,
    pub absent_less_one: f64,
    pub difference: f64,
}

/// What is added up over columns at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Logarithm {
    /// ln F(t).
    Value,
    /// (ln F)′(t) = c / F(t).
    Slope,
}

impl Factor {
    /// The factor of a column without entries.
    pub const ONE: Self = Self {
        present: 1.0,
        absent: 1.0,
        present_less_one: 0.0,
        absent_less_one: 0.0,
        difference: 0.0,
    };

    /// |c|/M.
    pub fn share(&self) -> f64 {
        let size = self.present.max(self.absent);
        if size > 0.0 { self.difference.abs() / size } else { 0.0 }
    }

    /// ln F(t) at the nodes of a rule, or its slope.
    pub fn logs_at(&self, (rule, logarithm): (&Rule, Logarithm), logs: &mut [f64]) {
        let (near, far) = logs.split_at_mut(rule.from_absent.len());
        let at = |node: &Node, end: f64, end_less_one: f64| {
            let step = node.step * self.difference;
            match logarithm {
                Logarithm::Value => log(end + step, end_less_one + step),
                Logarithm::Slope => self.difference / (end + step).max(MIN_FACTOR),
            }
        };
        for (log, node) in near.iter_mut().zip(&rule.from_absent) {
            *log = at(node, self.absent, self.absent_less_one);
        }
        for (log, node) in far.iter_mut().zip(&rule.from_present) {
            *log = at(node, self.present, self.present_less_one);
        }
    }
}

/// c = a − b without cancellation, from a, b, a − 1 and b − 1.
#[inline(always)]
pub(crate) fn difference((a, b): (f64, f64), (a_less_one, b_less_one): (f64, f64)) -> f64 {
    // a − 1 and b − 1 have few digits of small factors, and a and b few of the distance from 1.
    if larger(a, b) < 0.5 { a - b } else { a_less_one - b_less_one }
}

/// The minimum factor whose logarithm or reciprocal is taken: smaller ones are negligible.
pub(crate) const MIN_FACTOR: f64 = 1e-290;

/// ln of a factor, from its value and its value less one.
pub(crate) fn log(factor: f64, less_one: f64) -> f64 {
    if less_one > -0.5 { libm::log1p(less_one) } else { libm::log(factor.max(MIN_FACTOR)) }
}
