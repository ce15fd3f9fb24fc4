//! The factors of a block of points, and the products of all their other columns at the nodes.

use crate::game::block::{AbsentFactor, Block};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::exp::exp_and_expm1;
use crate::simd::lanes::{LANES, Lanes, map_lanes, zip_lanes};
use crate::simd::level::Body;
use crate::simd::numbers::smaller;
use crate::sparse::cell::{AbsentFactors, Cell, CellWorkspace};

/// The logarithms at the nodes of a tile's products of zero entries, or their slopes.
pub(crate) struct RestOfTile<'a> {
    pub total: &'a [Lanes],
    pub of_points: &'a [Lanes],
}

/// Fills the factors of a block, and the products of its other columns at the nodes.
pub(crate) struct Fill<'a> {
    pub cell: &'a Cell<'a>,
    /// The number of the block.
    pub number: usize,
    /// The registers that hold a number of each node.
    pub registers: usize,
    pub rest: Option<&'a RestOfTile<'a>>,
    pub workspace: &'a mut CellWorkspace,
}

impl Body for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { cell, number, registers, rest, workspace } = self;
        start_lanes::<W>(cell, (number, registers), rest, workspace);
        fill_own(cell, number, &mut workspace.block);
        fill_compared::<W>(cell, (number, registers), workspace);
        let CellWorkspace { others, of_lanes, block, .. } = workspace;
        if block.difference.len() % 2 == 1 {
            block.add_player();
        }
        for (node, others) in others.iter_mut().enumerate() {
            let logs = of_lanes[node / LANES..].iter().step_by(registers);
            for (other, logs) in others.0.iter_mut().zip(logs) {
                *other = logs.0[node % LANES];
            }
            for part in 0..LANES / W {
                let logs: &mut [f64; W] = others.part_mut(part);
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
    rest: Option<&RestOfTile<'_>>,
    workspace: &mut CellWorkspace,
) {
    let CellWorkspace { of_lanes, total, outside, .. } = workspace;
    let zeros = vec![Lanes::ZERO; if outside.is_some() { registers } else { 0 }];
    let start: &[Lanes] = match (&outside, rest) {
        (None, _) => total,
        (Some(_), Some(rest)) => rest.total,
        (Some(_), None) => &zeros,
    };
    of_lanes.clear();
    for lane in 0..LANES {
        let point = number * LANES + lane;
        of_lanes.extend_from_slice(start);
        let own = &mut of_lanes[lane * registers..];
        if point >= cell.tile.count() {
            continue;
        }
        if let Some(rest) = rest {
            for (own, log) in own.iter_mut().zip(&rest.of_points[point * registers..]) {
                own.subtract::<W>(log);
            }
        }
        if matches!(cell.absent, AbsentFactors::Interventional) {
            let log_weight = match outside {
                Some(logs) => logs[point],
                None => cell.zero.log_sums[point].value(),
            };
            let log_weight = Lanes([-log_weight; LANES]);
            for own in own {
                own.subtract::<W>(&log_weight);
            }
        }
    }
}

/// Fills the factors of the points' own entries where x is zero.
#[inline(always)]
fn fill_own(cell: &Cell<'_>, number: usize, block: &mut Block) {
    let Some(own) = cell.own() else {
        block.begin(0, AbsentFactor::Each);
        return;
    };
    let slots = cell.tile.slots(number);
    let is_unit = own.absent.is_empty();
    block.begin(slots.len(), if is_unit { AbsentFactor::One } else { AbsentFactor::Each });
    block.difference.copy_from_slice(&own.difference[slots.clone()]);
    if !is_unit {
        block.present.copy_from_slice(&own.present[slots.clone()]);
        block.absent.copy_from_slice(&own.absent[slots]);
    }
}

/// Fills the factors of the compared entries, in the slots of these entries or, if there are none,
/// in the first free ones.
#[inline(always)]
fn fill_compared<const W: usize>(
    cell: &Cell<'_>,
    (number, registers): (usize, usize),
    workspace: &mut CellWorkspace,
) {
    let CellWorkspace { compared, logs, of_lanes, values, places, block, .. } = workspace;
    let CellWorkspace { present, absent, difference, outside, .. } = workspace;
    let (tile, has_own) = (cell.tile, cell.own().is_some());
    let (first_slot, first_value) = (tile.slots(number).start, values.len());
    let (first_point, end) = (number * LANES, (number + 1) * LANES);
    let has_absent = !matches!(cell.absent, AbsentFactors::Neutral(_));
    let (mut used, mut log_weights) = ([0; LANES], [0.0; LANES]);
    for (compared, logs) in compared.iter_mut().zip(logs.chunks_exact(registers)) {
        let mut has_entry = [false; LANES];
        while compared.next < compared.entries.end && tile.points[compared.next] < end {
            let entry = compared.next;
            compared.next += 1;
            let at = compared.first + entry - compared.entries.start;
            let lane = tile.points[entry] - first_point;
            has_entry[lane] = true;
            if outside.is_none() {
                let own = &mut of_lanes[lane * registers..][..registers];
                for register in 0..registers {
                    own[register].subtract::<W>(&logs[register]);
                }
            }
            let slot = if has_own {
                tile.places[entry] / LANES - first_slot
            } else {
                log_weights[lane] += cell.zero.logs[entry];
                used[lane] += 1;
                used[lane] - 1
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
            add_to_others(logs, &has_entry, of_lanes);
        }
    }
    if !has_own && outside.is_none() {
        for (place, own) in of_lanes.iter_mut().enumerate() {
            own.subtract::<W>(&Lanes([log_weights[place / registers]; LANES]));
        }
    }
}

/// Adds the logarithms of a column to those of the lanes whose points have no entry in it.
#[inline(always)]
fn add_to_others(logs: &[Lanes], has_entry: &[bool; LANES], of_lanes: &mut [Lanes]) {
    for (own, _) in
        of_lanes.chunks_exact_mut(logs.len()).zip(has_entry).filter(|(_, has_entry)| !**has_entry)
    {
        for (own, log) in own.iter_mut().zip(logs) {
            *own = Lanes(zip_lanes(&own.0, &log.0, |own, log| own + log));
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
        let CellWorkspace { block, others, values, products, .. } = workspace;
        let of_block = &mut products[number * LANES * registers..][..LANES * registers];
        for (node, others) in others.iter().enumerate() {
            let products = of_block[node / LANES..].iter_mut().step_by(registers);
            for (products, other) in products.zip(&others.0) {
                products.0[node % LANES] = *other;
            }
        }
        for (omega, c) in block.omega.iter().zip(&block.difference) {
            values.push(omega.times::<W>(c));
        }
    }
}
