//! The factors of a block of points, and the products of all their other columns at the nodes.

use crate::game::block::{AbsentFactor, Block};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::exp::exp_and_expm1;
use crate::simd::lanes::{LANES, Lanes, map_lanes, zip_lanes};
use crate::simd::level::Body;
use crate::simd::numbers::smaller;
use crate::sparse::cell::{AbsentFactors, Cell, CellWorkspace};

/// The logarithms at the nodes of a tile's products of zero entries, or their slopes.
pub(crate) struct TileZeroLogs<'a> {
    pub total: &'a [Lanes],
    pub points: &'a [Lanes],
}

/// Fills the factors of a block, and the products of its other columns at the nodes.
pub(crate) struct Fill<'a> {
    pub cell: &'a Cell<'a>,
    /// The number of the block.
    pub number: usize,
    /// The registers that hold a number of each node.
    pub registers: usize,
    pub zero_logs: Option<&'a TileZeroLogs<'a>>,
    pub workspace: &'a mut CellWorkspace,
}

impl Body for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { cell, number, registers, zero_logs, workspace } = self;
        start_lanes::<W>(cell, (number, registers), zero_logs, workspace);
        fill_entries(cell, number, &mut workspace.block);
        fill_comparisons::<W>(cell, (number, registers), workspace);
        let CellWorkspace { block_products, lane_logs, block, .. } = workspace;
        if block.difference.len() % 2 == 1 {
            block.add_player();
        }
        for (node, products) in block_products.iter_mut().enumerate() {
            let logs = lane_logs[node / LANES..].iter().step_by(registers);
            for (product, logs) in products.0.iter_mut().zip(logs) {
                *product = logs.0[node % LANES];
            }
            for part in 0..LANES / W {
                let logs: &mut [f64; W] = products.part_mut(part);
                (*logs, _) = exp_and_expm1::<A, W>(&map_lanes(logs, |log| smaller(log, 0.0)));
            }
        }
    }
}

/// Sets the logarithms of each lane's products to those of a point none of whose entries are
/// compared.
#[inline(always)]
fn start_lanes<const W: usize>(
    cell: &Cell<'_>,
    (number, registers): (usize, usize),
    zero_logs: Option<&TileZeroLogs<'_>>,
    workspace: &mut CellWorkspace,
) {
    let CellWorkspace { lane_logs, total, outside, .. } = workspace;
    let zeros = vec![Lanes::ZERO; if outside.is_some() { registers } else { 0 }];
    let start: &[Lanes] = match (&outside, zero_logs) {
        (None, _) => total,
        (Some(_), Some(zero_logs)) => zero_logs.total,
        (Some(_), None) => &zeros,
    };
    lane_logs.clear();
    for lane in 0..LANES {
        let point = number * LANES + lane;
        lane_logs.extend_from_slice(start);
        let sums = &mut lane_logs[lane * registers..];
        if point >= cell.tile.count() {
            continue;
        }
        if let Some(zero_logs) = zero_logs {
            for (sum, log) in sums.iter_mut().zip(&zero_logs.points[point * registers..]) {
                sum.subtract::<W>(log);
            }
        }
        if matches!(cell.absent, AbsentFactors::Interventional) {
            let log_weight = match outside {
                Some(logs) => logs[point],
                None => cell.zero.log_sums[point].value(),
            };
            let log_weight = Lanes([-log_weight; LANES]);
            for sum in sums {
                sum.subtract::<W>(&log_weight);
            }
        }
    }
}

/// Fills the factors of the points' own entries where x is zero.
#[inline(always)]
fn fill_entries(cell: &Cell<'_>, number: usize, block: &mut Block) {
    let Some(factors) = cell.entry_factors() else {
        block.begin(0, AbsentFactor::Each);
        return;
    };
    let slots = cell.tile.slots(number);
    let is_unit = factors.absent.is_empty();
    block.begin(slots.len(), if is_unit { AbsentFactor::One } else { AbsentFactor::Each });
    block.difference.copy_from_slice(&factors.difference[slots.clone()]);
    if !is_unit {
        block.present.copy_from_slice(&factors.present[slots.clone()]);
        block.absent.copy_from_slice(&factors.absent[slots]);
    }
}

/// Fills the factors of the compared entries, in the slots of these entries or, if there are none,
/// in the first free ones.
#[inline(always)]
fn fill_comparisons<const W: usize>(
    cell: &Cell<'_>,
    (number, registers): (usize, usize),
    workspace: &mut CellWorkspace,
) {
    let CellWorkspace { comparisons, logs, lane_logs, values, places, block, .. } = workspace;
    let CellWorkspace { present, absent, difference, outside, .. } = workspace;
    let (tile, has_entry_factors) = (cell.tile, cell.entry_factors().is_some());
    let (first_slot, first_value) = (tile.slots(number).start, values.len());
    let (first_point, end) = (number * LANES, (number + 1) * LANES);
    let has_absent = !matches!(cell.absent, AbsentFactors::Neutral(_));
    let (mut counts, mut log_weights) = ([0; LANES], [0.0; LANES]);
    for (comparison, logs) in comparisons.iter_mut().zip(logs.chunks_exact(registers)) {
        let mut has_entry = [false; LANES];
        while comparison.next < comparison.entries.end && tile.points[comparison.next] < end {
            let entry = comparison.next;
            comparison.next += 1;
            let at = comparison.first + entry - comparison.entries.start;
            let lane = tile.points[entry] - first_point;
            has_entry[lane] = true;
            if outside.is_none() {
                let sums = &mut lane_logs[lane * registers..][..registers];
                for register in 0..registers {
                    sums[register].subtract::<W>(&logs[register]);
                }
            }
            let slot = if has_entry_factors {
                tile.places[entry] / LANES - first_slot
            } else {
                log_weights[lane] += cell.zero.logs[entry];
                counts[lane] += 1;
                counts[lane] - 1
            };
            if slot == block.difference.len() {
                block.add_player();
            }
            block.difference[slot].0[lane] = difference[at];
            if has_absent {
                block.present[slot].0[lane] = present[at];
                block.absent[slot].0[lane] = absent[at];
            }
            places[at] = (first_value + slot) * LANES + lane;
        }
        if outside.is_some() {
            add_to_empty_lanes(logs, &has_entry, lane_logs);
        }
    }
    if !has_entry_factors && outside.is_none() {
        for (place, sum) in lane_logs.iter_mut().enumerate() {
            sum.subtract::<W>(&Lanes([log_weights[place / registers]; LANES]));
        }
    }
}

/// Adds the logarithms of a column to those of the lanes whose points have no entry in it.
#[inline(always)]
fn add_to_empty_lanes(logs: &[Lanes], has_entry: &[bool; LANES], lane_logs: &mut [Lanes]) {
    for (sums, _) in
        lane_logs.chunks_exact_mut(logs.len()).zip(has_entry).filter(|(_, has_entry)| !**has_entry)
    {
        for (sum, log) in sums.iter_mut().zip(logs) {
            *sum = Lanes(zip_lanes(&sum.0, &log.0, |sum, log| sum + log));
        }
    }
}

/// Keeps c Ω of a block's slots, and the products of its points.
pub(crate) struct Keep<'a> {
    pub number: usize,
    pub registers: usize,
    pub workspace: &'a mut CellWorkspace,
}

impl Body for Keep<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { number, registers, workspace } = self;
        let CellWorkspace { block, block_products, values, products, .. } = workspace;
        let point_products = &mut products[number * LANES * registers..][..LANES * registers];
        for (node, lanes) in block_products.iter().enumerate() {
            let products = point_products[node / LANES..].iter_mut().step_by(registers);
            for (register, product) in products.zip(&lanes.0) {
                register.0[node % LANES] = *product;
            }
        }
        for (omega, c) in block.omega.iter().zip(&block.difference) {
            values.push(omega.times::<W>(c));
        }
    }
}
