//! The probabilities of k classes, coupled from those of pairs of classes as libsvm does it.
//!
//! Platt's sigmoid of a decision value f is the probability r_ij = 1/(1 + exp(A f + B)) of class i
//! among the classes i and j. The probabilities p of all classes minimize
//!
//!   Σ_{i≠j} (r_ji p_i − r_ij p_j)² = 2 pᵀ Q p,  Q_ii = Σ_{j≠i} r_ji²,  Q_ij = −r_ij r_ji
//!
//! (Wu, Lin and Weng 2004, algorithm 2). libsvm's `multiclass_probability` improves one p_t after
//! the other, and stops when no gradient (Q p)_t − pᵀ Q p is above 0.005 / k in size. Its result
//! therefore depends on its steps, which are taken here: also for two classes, where it is only
//! near r.

use crate::error::Error;
use crate::matrix::Matrix;
use crate::memory::{Memory, RESULT, saturating_product};
use crate::settings::{Context, Settings};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::exp::exp_and_expm1;
use crate::simd::lanes::{
    LANES, Lanes, each_lane, map_lanes, multiply_add_lanes, multiply_lanes, zip_lanes,
};
use crate::simd::level::Body;
use crate::simd::numbers::{larger, smaller};
use crate::threads::{self, Monitor, Parallelism};

/// libsvm's lower bound of the probabilities of pairs.
const MIN_PROBABILITY: f64 = 1e-7;
/// k times the largest gradient with which libsvm stops.
const TOLERANCE: f64 = 0.005;
/// The maximum number of steps of libsvm, unless there are more classes.
const MAX_STEPS: usize = 100;
/// Rows in a task.
const TASK: usize = 64 * LANES;
/// The cost of a row for each two classes, in steps of one node, player and lane.
const COST: usize = 16;

/// Platt's sigmoids of the pairs (0, 1), (0, 2), …, (k − 2, k − 1) of classes.
#[derive(Clone, Copy, Debug)]
pub struct PairSigmoids<'a> {
    /// A of each pair.
    pub slopes: &'a [f64],
    /// B of each pair.
    pub offsets: &'a [f64],
}

impl PairSigmoids<'_> {
    /// The number of classes.
    ///
    /// # Errors
    /// If the number of slopes or offsets is not that of the pairs of two or more classes.
    pub fn classes(&self) -> Result<usize, Error> {
        let pairs = self.slopes.len();
        let classes = (2..=pairs + 1).find(|classes| classes * (classes - 1) / 2 == pairs);
        classes.filter(|_| self.offsets.len() == pairs).ok_or_else(|| Error::Shape {
            argument: "slopes and offsets",
            expected: "a number for each pair of classes".to_owned(),
            got: format!("{pairs} slopes and {} offsets", self.offsets.len()),
        })
    }

    /// Computes the probabilities of all classes, row by row, from decision values of pairs.
    ///
    /// # Errors
    /// If there is not a decision value of each pair, or as in [`PairSigmoids::classes`]; if there
    /// is too little memory, or the monitor stops the call.
    pub fn couple(
        &self,
        values: Matrix<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let (classes, pairs) = (self.classes()?, values.columns());
        if pairs != self.slopes.len() {
            return Err(Error::Shape {
                argument: "values",
                expected: format!("{} columns", self.slopes.len()),
                got: format!("{pairs} columns"),
            });
        }
        let length = saturating_product([values.rows(), classes]);
        let mut probabilities = Memory::default().filled(length, 0.0, RESULT)?;
        let tasks =
            probabilities.chunks_mut(TASK * classes).zip(values.data().chunks(TASK * pairs));
        threads::for_each(
            tasks,
            Parallelism::of(saturating_product([length, classes, COST]), settings.threads),
            || Ok(Workspace::new(classes)),
            |workspace, (probabilities, values), stop| {
                let context = Context { settings, stop };
                let blocks = probabilities.chunks_mut(LANES * classes);
                for (block_probabilities, rows) in blocks.zip(values.chunks(LANES * pairs)) {
                    workspace.couple(*self, rows, context, block_probabilities);
                }
            },
            monitor,
        )?;
        Ok(probabilities)
    }
}

/// The workspace of a thread.
#[derive(Debug)]
struct Workspace {
    /// Decision values of a block of rows.
    pair_values: Vec<Lanes>,
    /// Probabilities of a block of rows.
    class_probabilities: Vec<Lanes>,
    /// The arrays of an [`Iteration`] with more classes than fit in registers.
    numbers: Vec<f64>,
}

impl Workspace {
    fn new(classes: usize) -> Self {
        Self {
            pair_values: vec![Lanes::ZERO; classes * (classes - 1) / 2],
            class_probabilities: vec![Lanes::ZERO; classes],
            numbers: vec![0.0; classes * (classes + 3) * LANES],
        }
    }

    /// Computes the probabilities of a block of rows. Lanes without a row keep those of before.
    fn couple(
        &mut self,
        sigmoids: PairSigmoids<'_>,
        rows: &[f64],
        context: Context<'_>,
        probabilities: &mut [f64],
    ) {
        let Self { pair_values, class_probabilities, numbers } = self;
        for (lane, row) in rows.chunks_exact(pair_values.len()).enumerate() {
            for (pair, lanes) in pair_values.iter_mut().enumerate() {
                lanes.0[lane] = row[pair];
            }
        }
        context.run(Couple { sigmoids, pair_values, class_probabilities, numbers });
        for (lane, row) in probabilities.chunks_exact_mut(class_probabilities.len()).enumerate() {
            for (class, lanes) in class_probabilities.iter().enumerate() {
                row[class] = lanes.0[lane];
            }
        }
    }
}

/// Couples a block of rows.
struct Couple<'a> {
    sigmoids: PairSigmoids<'a>,
    pair_values: &'a [Lanes],
    class_probabilities: &'a mut [Lanes],
    numbers: &'a mut [f64],
}

impl Body for Couple<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { sigmoids, pair_values, class_probabilities, numbers } = self;
        for part in 0..LANES / W {
            match class_probabilities.len() {
                2 => couple_in_registers::<A, W, 2, 4>(
                    sigmoids,
                    pair_values,
                    class_probabilities,
                    part,
                ),
                3 => couple_in_registers::<A, W, 3, 9>(
                    sigmoids,
                    pair_values,
                    class_probabilities,
                    part,
                ),
                4 => couple_in_registers::<A, W, 4, 16>(
                    sigmoids,
                    pair_values,
                    class_probabilities,
                    part,
                ),
                5 => couple_in_registers::<A, W, 5, 25>(
                    sigmoids,
                    pair_values,
                    class_probabilities,
                    part,
                ),
                classes => {
                    let numbers = &mut numbers[..classes * (classes + 3) * W];
                    numbers.fill(0.0);
                    let (q, tail) = numbers.as_chunks_mut().0.split_at_mut(classes * classes);
                    let (inverse, tail) = tail.split_at_mut(classes);
                    let (p, products) = tail.split_at_mut(classes);
                    let iteration = Iteration::<W> { q, inverse, p, products };
                    iteration.couple::<A>(
                        classes,
                        sigmoids,
                        pair_values,
                        class_probabilities,
                        part,
                    );
                }
            }
        }
    }
}

/// Couples W rows of K classes. The compiler knows this number, and its square, so it unrolls the
/// loops.
#[inline(always)]
fn couple_in_registers<A: Arithmetic, const W: usize, const K: usize, const SQUARE: usize>(
    sigmoids: PairSigmoids<'_>,
    pair_values: &[Lanes],
    class_probabilities: &mut [Lanes],
    part: usize,
) {
    let (mut q, mut inverse) = ([[0.0; W]; SQUARE], [[0.0; W]; K]);
    let (mut p, mut products) = ([[0.0; W]; K], [[0.0; W]; K]);
    let iteration =
        Iteration::<W> { q: &mut q, inverse: &mut inverse, p: &mut p, products: &mut products };
    iteration.couple::<A>(K, sigmoids, pair_values, class_probabilities, part);
}

/// The numbers of W rows, one for each class, and Q, row by row. All are 0 at first.
struct Iteration<'a, const W: usize> {
    q: &'a mut [[f64; W]],
    /// 1/Q_tt.
    inverse: &'a mut [[f64; W]],
    p: &'a mut [[f64; W]],
    /// Q p.
    products: &'a mut [[f64; W]],
}

impl<const W: usize> Iteration<'_, W> {
    /// Computes the probabilities of the `part`-th W rows of a block.
    #[inline(always)]
    fn couple<A: Arithmetic>(
        mut self,
        k: usize,
        sigmoids: PairSigmoids<'_>,
        pair_values: &[Lanes],
        class_probabilities: &mut [Lanes],
        part: usize,
    ) {
        self.fill::<A>(k, sigmoids, pair_values, part);
        let limit = TOLERANCE / k as f64;
        for _ in 0..MAX_STEPS.max(k) {
            let (form, gradients) = self.gradients::<A>(k);
            // The bits of 0 are 0: no lane has a branch of its own.
            let steps = map_lanes(&gradients, |largest| if largest < limit { 0.0 } else { 1.0 });
            if steps.iter().fold(0, |bits, step| bits | step.to_bits()) == 0 {
                break;
            }
            self.improve::<A>(k, form, &steps);
        }
        for (class, probability) in class_probabilities.iter_mut().enumerate() {
            *probability.part_mut(part) = self.p[class];
        }
    }

    /// Fills Q with the probabilities of pairs, and p with equal probabilities.
    #[inline(always)]
    fn fill<A: Arithmetic>(
        &mut self,
        k: usize,
        sigmoids: PairSigmoids<'_>,
        pair_values: &[Lanes],
        part: usize,
    ) {
        let q = &mut *self.q;
        let mut pair = 0;
        for i in 0..k {
            for j in i + 1..k {
                let (slope, offset) = (sigmoids.slopes[pair], sigmoids.offsets[pair]);
                let r = sigmoid::<A, W>(slope, offset, pair_values[pair].part(part));
                let complement: [f64; W] = map_lanes(&r, |r| 1.0 - r);
                q[i * k + i] = multiply_add_lanes::<A, W>(&q[i * k + i], &complement, &complement);
                q[j * k + j] = multiply_add_lanes::<A, W>(&q[j * k + j], &r, &r);
                q[i * k + j] = zip_lanes(&r, &complement, |r, complement| -r * complement);
                q[j * k + i] = q[i * k + j];
                pair += 1;
            }
        }
        for t in 0..k {
            self.inverse[t] = map_lanes(&q[t * k + t], f64::recip);
            self.p[t] = [1.0 / k as f64; W];
        }
    }

    /// Computes Q p, and returns pᵀ Q p and the sizes of the largest gradients.
    #[inline(always)]
    fn gradients<A: Arithmetic>(&mut self, k: usize) -> ([f64; W], [f64; W]) {
        let mut form = [0.0; W];
        for t in 0..k {
            let mut product = [0.0; W];
            for j in 0..k {
                product = multiply_add_lanes::<A, W>(&product, &self.q[t * k + j], &self.p[j]);
            }
            self.products[t] = product;
            form = multiply_add_lanes::<A, W>(&form, &product, &self.p[t]);
        }
        let mut largest = [0.0; W];
        for t in 0..k {
            let product = &self.products[t];
            largest = each_lane(|i| larger(largest[i], (product[i] - form[i]).abs()));
        }
        (form, largest)
    }

    /// Improves the probability of each class in turn. `steps` is 1, or 0 where the iteration has
    /// ended.
    #[inline(always)]
    fn improve<A: Arithmetic>(&mut self, k: usize, mut form: [f64; W], steps: &[f64; W]) {
        let Self { q, inverse, p, products } = self;
        for t in 0..k {
            let change: [f64; W] =
                each_lane(|i| steps[i] * ((form[i] - products[t][i]) * inverse[t][i]));
            let shrink: [f64; W] = map_lanes(&change, |change| (1.0 + change).recip());
            form = each_lane(|i| {
                let slope = A::mul_add(change[i], q[t * k + t][i], 2.0 * products[t][i]);
                A::mul_add(change[i], slope, form[i]) * (shrink[i] * shrink[i])
            });
            p[t] = zip_lanes(&p[t], &change, |p, change| p + change);
            for j in 0..k {
                let product = multiply_add_lanes::<A, W>(&products[j], &change, &q[t * k + j]);
                products[j] = multiply_lanes(&product, &shrink);
                p[j] = multiply_lanes(&p[j], &shrink);
            }
        }
    }
}

/// 1/(1 + exp(A f + B)), within libsvm's bounds.
#[inline(always)]
fn sigmoid<A: Arithmetic, const W: usize>(slope: f64, offset: f64, f: &[f64; W]) -> [f64; W] {
    let exponents: [f64; W] = map_lanes(f, |f| A::mul_add(slope, f, offset));
    let (exp, _) = exp_and_expm1::<A, W>(&map_lanes(&exponents, |x| -x.abs()));
    each_lane(|lane| {
        let upper = if exponents[lane] > 0.0 { exp[lane] } else { 1.0 };
        larger(MIN_PROBABILITY, smaller(upper / (1.0 + exp[lane]), 1.0 - MIN_PROBABILITY))
    })
}
