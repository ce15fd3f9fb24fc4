//! The difference of two products of factors, k(x, y) − k(z, y) over the columns of a player,
//! without cancellation.
//!
//! Some columns may rise and others fall, so that the products nearly agree though no column does.
//! Exponentials have a joint exponent. Its change is a sum of differences of squares or of
//! distances, added to twice the working precision, and a − b = ± max(a, b) (1 − exp(−|change|)).
//! Cauchy factors have a joint denominator, whose change is computed similarly. Other factors
//! (categories, Matérn kernels) have differences of their own. The difference of a product of these
//! is (a − b) a′ + b (a′ − b′). If the two terms have opposite signs, the smaller one of a′ and b′
//! and of a and b is used, so that the error is small compared with the products.

use crate::matrix::Matrix;
use crate::quadrature::sample_rule::Node;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::double::Double;
use crate::simd::exp::{NEAR, exp_and_expm1, reduced_tail};
use crate::simd::lanes::{Lanes, each_lane, map_lanes, zip_lanes};

/// The entries of x, z and y in a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entries<const W: usize> {
    pub x: [f64; W],
    pub z: [f64; W],
    pub y: [f64; W],
}

/// The rows that are compared: x and z with a block of points, or x and sixteen rows or nodes z with
/// one point.
#[derive(Clone, Copy)]
pub(crate) enum ContrastOperands<'a> {
    /// A block of points, column by column.
    Points { x: &'a [f64], z: &'a [f64], points: &'a [Lanes] },
    /// The rows from number `first` on, repeating the last one, and the point in a lane.
    Rows { x: &'a [f64], z: (Matrix<'a>, usize), point: (&'a [Lanes], usize) },
    /// The same for nodes of a single column.
    Nodes { x: &'a [f64], z: (&'a [Node], usize), point: (&'a [Lanes], usize) },
}

impl ContrastOperands<'_> {
    /// The entries of a column, in a part of the lanes.
    #[inline(always)]
    pub fn entries<const W: usize>(&self, column: usize, part: usize) -> Entries<W> {
        match *self {
            Self::Points { x, z, points } => {
                Entries { x: [x[column]; W], z: [z[column]; W], y: *points[column].part(part) }
            }
            Self::Rows { x, z: (rows, first), point: (points, lane) } => {
                let z = |i: usize| rows.row((first + part * W + i).min(rows.rows() - 1))[column];
                Entries { x: [x[column]; W], z: each_lane(z), y: [points[column].0[lane]; W] }
            }
            Self::Nodes { x, z: (nodes, first), point: (points, lane) } => {
                let node = |i: usize| &nodes[(first + part * W + i).min(nodes.len() - 1)];
                // Distances from the centers, so that offsets keep their digits.
                let from_center = |entry: f64| each_lane(|i| entry - node(i).center);
                let y = points[column].0[lane];
                let z = each_lane(|i| node(i).offset);
                Entries { x: from_center(x[column]), z, y: from_center(y) }
            }
        }
    }
}

/// A factor at x and at z, and their difference.
#[derive(Clone, Copy, Debug)]
struct FactorPair<const W: usize> {
    a: [f64; W],
    b: [f64; W],
    c: Double<W>,
}

impl<const W: usize> FactorPair<W> {
    const ONE: Self = Self { a: [1.0; W], b: [1.0; W], c: Double::of(0.0, 0.0) };

    /// The factors' products, and their difference.
    #[inline(always)]
    fn times(&self, other: &Self) -> Self {
        let c = Double::from_lanes(|i| {
            let (c, other_c) = (self.c.high[i], other.c.high[i]);
            let minimum = |pair: &Self| if pair.a[i] < pair.b[i] { pair.a[i] } else { pair.b[i] };
            let are_opposite = c * other_c < 0.0;
            let with = if are_opposite { minimum(other) } else { other.a[i] };
            let without = if are_opposite { minimum(self) } else { self.b[i] };
            let low = self.c.low[i] * with + without * other.c.low[i];
            (c * with + without * other_c, low)
        });
        Self {
            a: zip_lanes(&self.a, &other.a, |a, b| a * b),
            b: zip_lanes(&self.b, &other.b, |a, b| a * b),
            c,
        }
    }
}

/// Distances in a column: x − y, z − y, x − z and (x − y) + (z − y).
pub(crate) struct Distances<const W: usize> {
    pub from_x: Double<W>,
    pub from_z: Double<W>,
    pub step: Double<W>,
    pub sum: Double<W>,
}

impl<const W: usize> Distances<W> {
    #[inline(always)]
    pub fn new(at: &Entries<W>) -> Self {
        let from_x = Double::difference(&at.x, &at.y);
        let from_z = Double::difference(&at.z, &at.y);
        let step = Double::difference(&at.x, &at.z);
        Self { from_x, from_z, step, sum: from_x.plus(&from_z) }
    }

    /// ((x − y)² − (z − y)²)/ℓ² = (x − z)/ℓ · ((x − y) + (z − y))/ℓ, from 1/ℓ.
    #[inline(always)]
    pub fn change_of_squares<A: Arithmetic>(&self, inverse: &Double<W>) -> Double<W> {
        self.step.times::<A>(inverse).times::<A>(&self.sum.times::<A>(inverse))
    }
}

/// The product of some factors at x and at z.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joint<const W: usize> {
    /// The exponents at x and at z, and the first minus the second.
    exponents: ([f64; W], [f64; W]),
    exponent_change: Double<W>,
    /// The denominators at x and at z, and the second minus the first.
    denominators: (Double<W>, Double<W>),
    denominator_change: Double<W>,
    factors: FactorPair<W>,
    /// Whether there are exponents, denominators and other factors.
    has: [bool; 3],
}

impl<const W: usize> Joint<W> {
    /// The product of no factors.
    pub const ONE: Self = Self {
        exponents: ([0.0; W], [0.0; W]),
        exponent_change: Double::of(0.0, 0.0),
        denominators: (Double::of(1.0, 0.0), Double::of(1.0, 0.0)),
        denominator_change: Double::of(0.0, 0.0),
        factors: FactorPair::ONE,
        has: [false; 3],
    };

    /// Multiplies by exp(−E), from E at x and at z and the first minus the second.
    #[inline(always)]
    pub fn include_exponents(&mut self, (at_x, at_z): (&[f64; W], &[f64; W]), change: &Double<W>) {
        self.has[0] = true;
        self.exponents.0 = zip_lanes(&self.exponents.0, at_x, |sum, exponent| sum + exponent);
        self.exponents.1 = zip_lanes(&self.exponents.1, at_z, |sum, exponent| sum + exponent);
        self.exponent_change = self.exponent_change.plus(change);
    }

    /// Multiplies by 1/D, from D at x and at z and the second minus the first.
    #[inline(always)]
    pub fn include_denominators<A: Arithmetic>(
        &mut self,
        (at_x, at_z): (&Double<W>, &Double<W>),
        change: &Double<W>,
    ) {
        self.has[1] = true;
        // n n′ − m m′ = (n − m) n′ + m (n′ − m′).
        let change = self.denominators.0.times::<A>(change);
        self.denominator_change = self.denominator_change.times::<A>(at_z).plus(&change);
        self.denominators.0 = self.denominators.0.times::<A>(at_x);
        self.denominators.1 = self.denominators.1.times::<A>(at_z);
    }

    /// Multiplies by a factor, from its values at x and at z and their difference.
    #[inline(always)]
    pub fn include_factors(&mut self, a: [f64; W], b: [f64; W], c: [f64; W]) {
        self.has[2] = true;
        self.factors =
            self.factors.times(&FactorPair { a, b, c: Double { high: c, low: [0.0; W] } });
    }

    /// The difference of the products. For one family, small differences for several z contain the
    /// product at x as a common factor with more digits, so that they may cancel in a sum.
    #[inline(always)]
    pub fn difference<A: Arithmetic>(&self) -> Double<W> {
        let mut product = FactorPair::ONE;
        if self.has[0] {
            product = self.exponential::<A>();
        }
        if self.has[1] {
            product = product.times(&self.cauchy::<A>());
        }
        if self.has[2] {
            product = product.times(&self.factors);
        }
        product.c
    }

    #[inline(always)]
    fn exponential<A: Arithmetic>(&self) -> FactorPair<W> {
        let change = self.exponent_change.high;
        let (a, _) = exp_and_expm1::<A, W>(&map_lanes(&self.exponents.0, |exponent| -exponent));
        let (b, _) = exp_and_expm1::<A, W>(&map_lanes(&self.exponents.1, |exponent| -exponent));
        let (_, less_one) = exp_and_expm1::<A, W>(&map_lanes(&change, |change| -change.abs()));
        let c = Double::from_lanes(|i| {
            if change[i].abs() < NEAR {
                // −a (e^change − 1).
                let (c, error) = A::two_product(-a[i], change[i]);
                let tail = reduced_tail::<A>(change[i], -self.exponent_change.low[i]);
                (c, A::mul_add(a[i], tail, error))
            } else if change[i] > 0.0 {
                (b[i] * less_one[i], 0.0)
            } else {
                (-(a[i] * less_one[i]), 0.0)
            }
        });
        where_finite(&change, FactorPair { a, b, c })
    }

    /// 1/m, 1/n and 1/m − 1/n = (n − m)/n/m of the denominators m and n.
    #[inline(always)]
    fn cauchy<A: Arithmetic>(&self) -> FactorPair<W> {
        let inverse = |numbers: &Double<W>| map_lanes(&numbers.high, |number| 1.0 / number);
        let (a, b) = (inverse(&self.denominators.0), inverse(&self.denominators.1));
        let change = self.denominator_change.quotient::<A>(&self.denominators.1);
        let inverse_at_x = Double { high: a, low: [0.0; W] };
        where_finite(&change.high, FactorPair { a, b, c: change.times::<A>(&inverse_at_x) })
    }
}

/// c if its change is finite, else a − b: if exponents or squares differ by more than the range, at
/// least one factor is 0 and nothing cancels.
#[inline(always)]
fn where_finite<const W: usize>(change: &[f64; W], pair: FactorPair<W>) -> FactorPair<W> {
    let FactorPair { a, b, c } = pair;
    let c = Double::from_lanes(|i| {
        if change[i].is_finite() { (c.high[i], c.low[i]) } else { (a[i] - b[i], 0.0) }
    });
    FactorPair { c, ..pair }
}
