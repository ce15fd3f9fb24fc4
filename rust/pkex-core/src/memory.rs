//! Memory whose amount depends on the input: where it is missing, the call returns an error instead
//! of ending the process.
//!
//! Arrays that grow with rows, columns, outputs or points are reserved here; vectors with one
//! number for each player or column are not.

use std::fs;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Error;

/// The purpose of memory, and a way to need less of it.
pub(crate) type Use = &'static str;

pub(crate) const RESULT: Use = "the result; pass fewer rows or outputs at a time";
pub(crate) const SUMS: Use =
    "intermediate sums; pass fewer outputs at a time, or use fewer threads";
pub(crate) const FACTORS: Use = "the factors of a thread; use fewer threads, or pass fewer columns";
pub(crate) const RECURSION: Use = "the rows of the recursion; use the quadrature, or fewer threads";
pub(crate) const INPUT: Use = "a copy of the input; pass fewer rows, columns or outputs";
pub(crate) const PAIRS: Use = "the sums over pairs of rows; pass fewer rows, groups or players";

/// The product of sizes, or the largest `usize` if it is larger.
pub(crate) fn saturating_product<const N: usize>(sizes: [usize; N]) -> usize {
    if sizes.contains(&0) { 0 } else { sizes.into_iter().fold(1, usize::saturating_mul) }
}

/// The memory that a call has reserved.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    reserved_bytes: AtomicUsize,
    available: OnceLock<usize>,
}

impl Memory {
    /// Below this number of bytes, the available memory is not looked up.
    const UNCHECKED: usize = 1 << 30;

    /// The memory of a machine that has this number of bytes.
    #[cfg(test)]
    pub fn of(available: usize) -> Self {
        Self { available: OnceLock::from(available), ..Self::default() }
    }

    /// Reserves memory for `length` entries in total.
    ///
    /// Linux grants more memory than it has, and ends a process that uses it. So the reserved
    /// memory is compared with the available memory.
    pub fn reserve<T>(&self, vector: &mut Vec<T>, length: usize, of: Use) -> Result<(), Error> {
        let growth = length.saturating_sub(vector.capacity());
        if growth == 0 {
            return Ok(());
        }
        let bytes = growth.saturating_mul(size_of::<T>());
        let beside = self.reserved_bytes.fetch_add(bytes, Ordering::Relaxed);
        let error = Error::Memory { bytes, beside, of };
        let total_bytes = beside.saturating_add(bytes);
        if total_bytes > Self::UNCHECKED && total_bytes > *self.available.get_or_init(available) {
            return Err(error);
        }
        vector.try_reserve_exact(length.saturating_sub(vector.len())).map_err(|_| error)
    }

    /// Memory reserved before the result is dropped is counted as freed then: the workspaces of
    /// threads, which each wave of tasks creates.
    pub fn begin_wave(&self) -> Wave<'_> {
        Wave { memory: self, before: self.reserved_bytes.load(Ordering::Relaxed) }
    }

    /// A vector of `length` copies of `value`.
    pub fn filled<T: Clone>(&self, length: usize, value: T, of: Use) -> Result<Vec<T>, Error> {
        let mut vector = Vec::new();
        self.reserve(&mut vector, length, of)?;
        vector.resize(length, value);
        Ok(vector)
    }
}

/// Subtracts the memory that was claimed during its life when it is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Wave<'a> {
    memory: &'a Memory,
    before: usize,
}

impl Drop for Wave<'_> {
    fn drop(&mut self) {
        self.memory.reserved_bytes.store(self.before, Ordering::Relaxed);
    }
}

/// The bytes that Linux can give to this process; on other systems no limit is known.
fn available() -> usize {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|info| free_bytes(&info));
    // The limit of a container, or "max" if it has none.
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|bytes| bytes.trim().parse().ok());
    machine.unwrap_or(usize::MAX).min(group.unwrap_or(usize::MAX))
}

/// The sum of the available memory and the free swap in `/proc/meminfo`.
fn free_bytes(info: &str) -> Option<usize> {
    let bytes = |name: &str| {
        let rest = info.lines().find_map(|line| line.strip_prefix(name))?;
        Some(rest.split_whitespace().next()?.parse::<usize>().ok()?.saturating_mul(1024))
    };
    Some(bytes("MemAvailable:")?.saturating_add(bytes("SwapFree:").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_all_numbers_are_the_largest_one() {
        assert_eq!(saturating_product([usize::MAX, 2, 3]), usize::MAX);
        assert_eq!(saturating_product([usize::MAX, usize::MAX, 0]), 0);
        assert_eq!(saturating_product([3, 4]), 12);
    }

    #[test]
    fn what_is_more_than_the_machine_has_is_refused() {
        let memory = Memory::of(3 << 30);
        let mut vectors = [const { Vec::<u8>::new() }; 3];
        for (number, vector) in vectors.iter_mut().enumerate() {
            // Twice the previous length, half of which is reserved: each request is for a gibibyte.
            for length in [1 << 29, 1 << 30] {
                let outcome = memory.reserve(vector, length, RESULT);
                assert!(outcome.is_ok(), "{number}: {outcome:?}");
            }
        }
        let result = memory.reserve(&mut Vec::<u8>::new(), 1, RESULT);
        assert_eq!(result, Err(Error::Memory { bytes: 1, beside: 3 << 30, of: RESULT }));
        let result = Memory::default().reserve(&mut Vec::<f64>::new(), usize::MAX, RESULT);
        assert_eq!(result, Err(Error::Memory { bytes: usize::MAX, beside: 0, of: RESULT }));
    }

    #[test]
    fn free_memory_is_what_is_available_and_free_swap() {
        let info = "MemTotal:  9 kB\nMemFree: 1 kB\nMemAvailable:    5 kB\nSwapFree:  2 kB\n";
        assert_eq!(free_bytes(info), Some(7 * 1024));
        assert_eq!(free_bytes("MemFree: 1 kB"), None);
    }
}
