//! Terms that are truncated power series: polynomial and additive kernels.
//!
//! Such a term is Σ_q w_q [s^q] ∏ⱼ Fⱼ(s), where [s^q] takes the coefficient of s^q. A column's
//! factor Fⱼ is a function of a number gⱼ(xⱼ, yⱼ), its argument:
//!
//! - (γ x·y + c₀)^p has Fⱼ = exp(s gⱼ) with gⱼ = γ xⱼ yⱼ, as ∏ⱼ exp(s gⱼ) = exp(s γ x·y), and
//!   w_q = p!/(p−q)! c₀^{p−q}; other polynomials in the dot product have other weights;
//! - sums over all sets of q columns, Σ ∏ gⱼ (Duvenaud et al. 2011), have Fⱼ = 1 + s gⱼ, the
//!   generating function of elementary symmetric polynomials.
//!
//! The term's other factors multiply every coefficient. Fⱼ is 1 if player j has no column in the
//! series.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::game::block::PlayerPart;
use crate::kernel::family::{Factor, Profile};
use crate::kernel::joint::{Entries, Joint};
use crate::kernel::players::Players;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{Lanes, each_lane, map_lanes, multiply_lanes, zip_lanes};

/// The highest power of s of a series.
const MAX_ORDERS: usize = 128;

/// The dependence of a column's factor on its argument g.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// exp(s g).
    Exponential,
    /// 1 + s g.
    Linear,
}

/// A truncated power series Σ_q w_q [s^q] ∏ⱼ Fⱼ(s). The argument of a column is the product of its
/// entries in `dots` and `factors`.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The weights w of s⁰, s¹, ….
    pub weights: Vec<f64>,
    /// The dependence of factors on arguments.
    pub form: Form,
    /// Columns, and rates γ of their products γ x y.
    pub dots: Vec<(usize, f64)>,
    /// One-dimensional kernels.
    pub factors: Vec<Factor>,
}

impl Series {
    /// The columns that have arguments; some may occur several times.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> {
        let factor_columns = self.factors.iter().map(|factor| factor.column);
        self.dots.iter().map(|(column, _)| *column).chain(factor_columns)
    }

    /// The highest power of s.
    pub(crate) fn orders(&self) -> usize {
        self.weights.len().saturating_sub(1)
    }

    fn check(&self) -> Result<(), Error> {
        let error =
            |argument, requirement, got: String| Err(Error::Domain { argument, requirement, got });
        let is_finite = self.weights.iter().all(|weight| weight.is_finite());
        if self.weights.is_empty() || self.weights.len() > MAX_ORDERS + 1 || !is_finite {
            let requirement = "1 to 129 finite numbers";
            return error("a series' weights", requirement, format!("{:?}", self.weights));
        }
        match self.dots.iter().find(|(_, rate)| !rate.is_finite()) {
            Some((_, rate)) => error("a rate", "finite", rate.to_string()),
            None => Ok(()),
        }
    }
}

/// A column's argument g.
#[derive(Clone, Debug, Default)]
struct Argument {
    column: usize,
    /// γ of γ x y, if the argument contains this product.
    rate: Option<f64>,
    /// The product of one-dimensional kernels, if the argument contains kernels.
    profile: Option<Profile>,
}

impl Argument {
    /// g(x, y).
    #[inline(always)]
    fn at<A: Arithmetic, const W: usize>(&self, x: &[f64; W], y: &[f64; W]) -> [f64; W] {
        // A closure for the kernel, called twice, would be compiled as a function of its own, without
        // the instructions of this one.
        match (self.rate, &self.profile) {
            (Some(rate), None) => zip_lanes(x, y, |x, y| (rate * x) * y),
            (Some(rate), Some(profile)) => multiply_lanes(
                &zip_lanes(x, y, |x, y| (rate * x) * y),
                &profile.factor::<A, W>(x, y).0,
            ),
            (None, Some(profile)) => profile.factor::<A, W>(x, y).0,
            (None, None) => [1.0; W],
        }
    }

    /// g(x, y) − g(z, y), without cancellation.
    #[inline(always)]
    fn change<A: Arithmetic, const W: usize>(&self, at: &Entries<W>) -> [f64; W] {
        let Entries { x, z, y } = at;
        let Some(profile) = &self.profile else {
            return match self.rate {
                Some(rate) => each_lane(|i| (rate * (x[i] - z[i])) * y[i]),
                None => [0.0; W],
            };
        };
        let mut joint = Joint::ONE;
        profile.join::<A, W>(&mut joint, at);
        let change = joint.difference::<A>().values();
        match self.rate {
            Some(rate) => {
                // x k − z k′ = (x − z) k + z (k − k′).
                let (kernel, _) = profile.factor::<A, W>(x, y);
                each_lane(|i| (rate * y[i]) * ((x[i] - z[i]) * kernel[i] + z[i] * change[i]))
            }
            None => change,
        }
    }

    /// g(x, y), g(z, y) and their difference.
    #[inline(always)]
    fn contrast<A: Arithmetic, const W: usize>(&self, at: &Entries<W>) -> [[f64; W]; 3] {
        let at_x = self.at::<A, W>(&at.x, &at.y);
        [at_x, self.at::<A, W>(&at.z, &at.y), self.change::<A, W>(at)]
    }
}

/// A packed series: the arguments of its players.
#[derive(Clone, Debug)]
pub(crate) struct PackedSeries {
    pub weights: Vec<f64>,
    form: Form,
    /// The arguments, player by player, and the end of each player's.
    arguments: Vec<Argument>,
    ends: Vec<usize>,
}

impl PackedSeries {
    /// Sorts the arguments by the players of a term (ascending), which include all players of the
    /// series.
    pub fn new(series: &Series, term_players: &[usize], players: &Players) -> Result<Self, Error> {
        series.check()?;
        let mut arguments: BTreeMap<(Option<usize>, usize), Argument> = BTreeMap::new();
        let mut insert = |column: usize| {
            let argument = arguments.entry((players.of(column), column)).or_default();
            argument.column = column;
        };
        series.columns().for_each(&mut insert);
        let place = |column: usize| (players.of(column), column);
        for &(column, rate) in &series.dots {
            if let Some(argument) = arguments.get_mut(&place(column)) {
                argument.rate = Some(argument.rate.unwrap_or(1.0) * rate);
            }
        }
        for factor in &series.factors {
            if let Some(argument) = arguments.get_mut(&place(factor.column)) {
                let profile = argument.profile.get_or_insert_default();
                profile.include(factor.family, factor.parameter)?;
            }
        }
        let up_to = |player: usize| arguments.range(..(Some(player + 1), 0)).count();
        Ok(Self {
            weights: series.weights.clone(),
            form: series.form,
            ends: term_players.iter().map(|&player| up_to(player)).collect(),
            arguments: arguments.into_values().collect(),
        })
    }

    /// The highest power of s.
    pub fn orders(&self) -> usize {
        self.weights.len() - 1
    }

    /// Computes the coefficients of s, s², … of a player, times `number`, into `higher`.
    #[inline(always)]
    pub fn expand<A: Arithmetic, const W: usize>(
        &self,
        PlayerPart { player, part }: PlayerPart,
        number: &[f64; W],
        entries: impl Fn(usize) -> ([f64; W], [f64; W]),
        higher: &mut [Lanes],
    ) {
        let arguments = self.arguments_of(player);
        match self.form {
            Form::Exponential => {
                let mut sum = [0.0; W];
                for argument in arguments {
                    let (x, y) = entries(argument.column);
                    sum = zip_lanes(&sum, &argument.at::<A, W>(&x, &y), |sum, g| sum + g);
                }
                let mut value = *number;
                for (q, coefficient) in (1_u32..).zip(higher) {
                    let share = 1.0 / f64::from(q);
                    value = zip_lanes(&value, &sum, |value, g| value * g * share);
                    *coefficient.part_mut(part) = value;
                }
            }
            Form::Linear => {
                for coefficient in &mut *higher {
                    *coefficient.part_mut(part) = [0.0; W];
                }
                for argument in arguments {
                    let (x, y) = entries(argument.column);
                    include::<A, W>(&argument.at::<A, W>(&x, &y), number, part, higher);
                }
            }
        }
    }

    /// Computes the differences of the coefficients of s, s², … at x and at z, without
    /// cancellation, into `higher`, and the coefficients at z into `at_z`. Other factors of the
    /// player are 1.
    #[inline(always)]
    pub fn contrast<A: Arithmetic, const W: usize>(
        &self,
        PlayerPart { player, part }: PlayerPart,
        entries: impl Fn(usize) -> Entries<W>,
        higher: &mut [Lanes],
        at_z: &mut [Lanes],
    ) {
        for coefficients in [&mut *higher, &mut *at_z] {
            for coefficient in coefficients {
                *coefficient.part_mut(part) = [0.0; W];
            }
        }
        let arguments = self.arguments_of(player);
        match self.form {
            Form::Exponential => {
                let mut sums = ([0.0; W], [0.0; W], [0.0; W]);
                for argument in arguments {
                    let [x, z, change] = argument.contrast::<A, W>(&entries(argument.column));
                    sums.0 = zip_lanes(&sums.0, &x, |sum, g| sum + g);
                    sums.1 = zip_lanes(&sums.1, &z, |sum, g| sum + g);
                    sums.2 = zip_lanes(&sums.2, &change, |sum, g| sum + g);
                }
                contrast_of_powers(&sums, part, higher, at_z);
            }
            Form::Linear => {
                for argument in arguments {
                    let [x, z, change] = argument.contrast::<A, W>(&entries(argument.column));
                    // (1 + s g) P − (1 + s g′) P′ = (1 + s g)(P − P′) + s (g − g′) P′.
                    for q in (0..higher.len()).rev() {
                        let before: [f64; W] =
                            if q > 0 { *at_z[q - 1].part(part) } else { [1.0; W] };
                        let lower: [f64; W] =
                            if q > 0 { *higher[q - 1].part(part) } else { [0.0; W] };
                        let sum: &mut [f64; W] = higher[q].part_mut(part);
                        *sum = each_lane(|i| sum[i] + x[i] * lower[i] + change[i] * before[i]);
                    }
                    include::<A, W>(&z, &[1.0; W], part, at_z);
                }
            }
        }
    }

    fn arguments_of(&self, player: usize) -> &[Argument] {
        let start = if player == 0 { 0 } else { self.ends[player - 1] };
        &self.arguments[start..self.ends[player]]
    }
}

/// Multiplies a polynomial, whose zeroth coefficient is `number`, by 1 + s g.
#[inline(always)]
fn include<A: Arithmetic, const W: usize>(
    g: &[f64; W],
    number: &[f64; W],
    part: usize,
    higher: &mut [Lanes],
) {
    for q in (0..higher.len()).rev() {
        let before: [f64; W] = if q > 0 { *higher[q - 1].part(part) } else { *number };
        let coefficient: &mut [f64; W] = higher[q].part_mut(part);
        *coefficient = each_lane(|i| A::mul_add(g[i], before[i], coefficient[i]));
    }
}

/// m^q/q! − n^q/q! and n^q/q! of m, n and m − n, by the recursion
/// q (m^q − n^q)/q! = m (m^{q−1} − n^{q−1})/(q−1)! + (m − n) n^{q−1}/(q−1)!.
#[inline(always)]
fn contrast_of_powers<const W: usize>(
    (m, n, change): &([f64; W], [f64; W], [f64; W]),
    part: usize,
    higher: &mut [Lanes],
    at_z: &mut [Lanes],
) {
    let (mut difference, mut power) = ([0.0; W], [1.0; W]);
    for (q, (higher, at_z)) in (1_u32..).zip(higher.iter_mut().zip(at_z)) {
        let share = 1.0 / f64::from(q);
        difference = each_lane(|i| (m[i] * difference[i] + change[i] * power[i]) * share);
        power = map_lanes(&multiply_lanes(&power, n), |product| product * share);
        *higher.part_mut(part) = difference;
        *at_z.part_mut(part) = power;
    }
}
