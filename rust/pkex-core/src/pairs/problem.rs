//! Sums over all pairs of rows of a sample: what MMD and HSIC and their attributions are made of.
//!
//! Every pair of rows a, b is a product game with the value γⱼ = cⱼ Ωⱼ for player j, summed over
//! the terms of the kernel. Each unordered pair is computed once, in tiles whose plain sums (of some
//! hundred numbers) are added up in tile order. A row's pair with itself is left out. Memory: the
//! results, and the sums of a wave of tiles.

use crate::error::Error;
use crate::kernel::players::Players;
use crate::kernel::term::Term;
use crate::matrix::Matrix;
use crate::memory::{Memory, PAIRS, product};
use crate::pairs::octets::{self, OCTET};
use crate::pairs::tiles::{PackedPairs, TileSums};
use crate::pairs::weights::{Classes, Weighting};
use crate::settings::{Context, Settings};
use crate::simd::sum::{Sum, Summation};
use crate::threads::Monitor;
use crate::walk::pairs::Tile;

/// A sample whose pairs are to be summed.
#[derive(Clone, Copy, Debug)]
pub struct PairProblem<'a> {
    /// The rows.
    pub rows: Matrix<'a>,
    /// The kernel.
    pub terms: &'a [Term],
    /// Whom the columns belong to.
    pub players: &'a Players,
    /// The factors of absent players, in [0, 1], a row for each term; 1 if not given.
    pub absent: Option<Matrix<'a>>,
    /// The group of each row, numbered from 0 and never decreasing.
    pub groups: &'a [usize],
    /// What pairs weigh.
    pub weighting: Weighting<'a>,
    /// Whether sums over groups are kept of what players are worth alone, too.
    pub alone_in_groups: bool,
}

/// Sums over unordered pairs, each an array whose last axis is players.
#[derive(Clone, Debug, PartialEq)]
pub struct PairSums {
    /// For each row, over all other rows: two sums of γ (see [`Weighting`]).
    pub rows: Vec<f64>,
    /// Σ w γ for each pair of groups I ≤ J, row by row of the triangle, and each exchange of targets
    /// in I and in J, number 8p + q; followed by Σ w v({j}), if that is asked for.
    pub groups: Vec<f64>,
    /// Σ w v({j}), what players are worth alone; for classes apart for the pairs of classes 00, 01,
    /// 11.
    pub alone: Vec<f64>,
    /// Σ γ² for the pairs of classes, whatever they weigh; empty with a target.
    pub squares: Vec<f64>,
}

impl PairProblem<'_> {
    /// Computes the sums.
    ///
    /// # Errors
    /// If shapes do not fit, groups are not as described, a sum overflows, or the monitor stops.
    pub fn sums(&self, settings: &Settings, monitor: Monitor<'_>) -> Result<PairSums, Error> {
        self.check_shapes()?;
        let chunks = self.chunks();
        let packed = PackedPairs::new(self, &chunks)?;
        let memory = Memory::default();
        let mut totals = Totals::new(&packed, &memory)?;
        packed.walk(&chunks, settings.threads)?.run(
            (|tile| packed.bytes(tile), |tile, sums: &mut _| packed.reserve(tile, sums, &memory)),
            || packed.workspace(&chunks, &memory),
            |workspace, tile, sums, stop| {
                packed.add_up(tile, Context { settings, stop }, workspace, sums);
            },
            |tile, sums| totals.add(&packed, tile, sums, settings.summation),
            monitor,
        )?;
        totals.finish(&packed)
    }

    fn check_shapes(&self) -> Result<(), Error> {
        let rows = self.rows.rows();
        let shape = |argument, expected: String, got: usize| Error::Shape {
            argument,
            expected,
            got: got.to_string(),
        };
        if self.rows.columns() != self.players.column_count() {
            let expected = format!("{} columns", self.players.column_count());
            return Err(shape("rows", expected, self.rows.columns()));
        }
        if self.groups.len() != rows {
            return Err(shape("groups", format!("{rows} entries"), self.groups.len()));
        }
        if let Some(absent) = self.absent
            && (absent.rows(), absent.columns()) != (self.terms.len(), self.players.count())
        {
            let expected = format!("{} × {} factors", self.terms.len(), self.players.count());
            return Err(shape("absent", expected, absent.rows()));
        }
        let absent = self.absent.into_iter();
        let mut factors = absent.flat_map(|m| (0..m.rows()).flat_map(move |row| m.row(row)));
        if let Some(factor) = factors.find(|factor| !(0.0..=1.0).contains(*factor)) {
            return Err(Error::Domain {
                argument: "absent",
                requirement: "factors in [0, 1]",
                got: factor.to_string(),
            });
        }
        let exchanges = matches!(self.weighting, Weighting::Target(target) if target.exchanges);
        if exchanges && self.groups.chunks(OCTET).any(|octet| octet[0] != octet[octet.len() - 1]) {
            return Err(Error::Domain {
                argument: "groups",
                requirement: "of whole octets",
                got: "others".to_owned(),
            });
        }
        let steps = self.groups.windows(2).map(|pair| pair[1].checked_sub(pair[0]));
        let straddled = match self.weighting {
            Weighting::Classes(Classes { first, .. }) if first > rows => {
                return Err(shape("first", format!("at most {rows}"), first));
            }
            Weighting::Classes(Classes { first, .. }) if first > 0 && first < rows => {
                self.groups[first - 1] == self.groups[first]
            }
            _ => false,
        };
        let is_dense = self.groups.first().is_none_or(|&first| first == 0)
            && steps.into_iter().all(|step| matches!(step, Some(0 | 1)));
        if straddled || !is_dense {
            return Err(Error::Domain {
                argument: "groups",
                requirement: "0, 1, … without gaps or descents, and of one class each",
                got: "others".to_owned(),
            });
        }
        Ok(())
    }
}

/// Row sums kept for each row.
const ROW_SUMS: usize = 2;

/// The sums over all tiles so far.
struct Totals {
    rows: Vec<Sum>,
    groups: Vec<Sum>,
    alone: Vec<Sum>,
    squares: Vec<Sum>,
}

impl Totals {
    fn new(packed: &PackedPairs<'_>, memory: &Memory) -> Result<Self, Error> {
        let zeros = |length: usize| {
            memory.filled(product([length, packed.players()]), Sum::default(), PAIRS)
        };
        let groups = packed.group_count();
        let group_pairs = product([groups, groups + 1]) / 2;
        let (class_pairs, squares) = if packed.weights.is_target() { (1, 0) } else { (3, 3) };
        Ok(Self {
            rows: zeros(product([packed.problem.rows.rows(), ROW_SUMS]))?,
            groups: memory.filled(
                product([group_pairs, packed.in_group()]),
                Sum::default(),
                PAIRS,
            )?,
            alone: zeros(class_pairs)?,
            squares: zeros(squares)?,
        })
    }

    /// Adds a tile's sums.
    fn add(
        &mut self,
        packed: &PackedPairs<'_>,
        tile: Tile<'_>,
        sums: &TileSums,
        summation: Summation,
    ) {
        let (players, is_target) = (packed.players(), packed.weights.is_target());
        let in_row = packed.row_sums() * players;
        for (side, [chunk, other]) in
            [[tile.first, tile.second], [tile.second, tile.first]].into_iter().enumerate()
        {
            let place = if is_target { 0 } else { other.class * players };
            for (row, values) in chunk.rows.clone().zip(sums.rows[side].chunks(in_row)) {
                let at = row * ROW_SUMS * players + place;
                add_all(&mut self.rows[at..at + in_row], values, summation);
            }
        }
        let (row_groups, column_groups) =
            (packed.groups_of(tile.first), packed.groups_of(tile.second));
        let width = packed.in_group();
        for (number, values) in sums.groups.chunks(width).enumerate() {
            let one = row_groups.start + number / column_groups.len();
            let other = column_groups.start + number % column_groups.len();
            if one <= other {
                let at = triangle_index(one, other, packed.group_count()) * width;
                add_all(&mut self.groups[at..at + width], values, summation);
            }
        }
        // The classes' pairs 00, 01, 11.
        let at = if is_target { 0 } else { (tile.first.class + tile.second.class) * players };
        add_all(&mut self.alone[at..at + players], &sums.alone, summation);
        if !is_target {
            add_all(&mut self.squares[at..at + players], &sums.squares, summation);
        }
    }

    fn finish(self, packed: &PackedPairs<'_>) -> Result<PairSums, Error> {
        // Collected in place, into half of the memory: the other half is given back.
        let values = |sums: Vec<Sum>| {
            let mut values: Vec<f64> = sums.into_iter().map(Sum::value).collect();
            values.shrink_to_fit();
            values
        };
        let mut sums = PairSums {
            rows: values(self.rows),
            groups: values(self.groups),
            alone: values(self.alone),
            squares: values(self.squares),
        };
        if packed.weights.exchanges() {
            for of_groups in sums.groups.chunks_mut(packed.in_group()) {
                octets::transform_back(of_groups, packed.values_in_groups());
            }
        }
        match sums.rows.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(Error::Overflow { row: index / (ROW_SUMS * packed.players()) }),
            None => Ok(sums),
        }
    }
}

/// The place of the pair one ≤ other among the pairs of `count` things, row by row.
pub(crate) fn triangle_index(one: usize, other: usize, count: usize) -> usize {
    one * (2 * count - one + 1) / 2 + (other - one)
}

/// Adds to sums, place by place.
pub(crate) fn add_all(totals: &mut [Sum], values: &[f64], summation: Summation) {
    for (total, &value) in totals.iter_mut().zip(values) {
        total.add(Sum::from(value), summation);
    }
}
