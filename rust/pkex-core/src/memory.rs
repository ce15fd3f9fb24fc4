//! Memory whose amount the input decides: where there is too little of it, the call returns an
//! error instead of ending the process.
//!
//! What grows with rows, columns, outputs or points is reserved here; vectors with a single number
//! for each player or column are not.

use std::fs;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Error;

/// What memory is for, and what to do where it is missing.
pub(crate) type Use = &'static str;

pub(crate) const RESULT: Use = "the result; compute it in parts, of fewer rows or outputs";
pub(crate) const SUMS: Use = "the sums on the way; take fewer outputs at a time, or fewer threads";
pub(crate) const FACTORS: Use = "the factors of a thread; take fewer threads, or fewer columns";
pub(crate) const RECURSION: Use =
    "the rows of the recursion; take the quadrature, or fewer threads";
pub(crate) const INPUT: Use = "a copy of the input; take fewer rows, columns or outputs";
pub(crate) const PAIRS: Use = "the sums over pairs of rows; take fewer rows, groups or players";

/// The product of sizes, or the largest `usize` if it is larger.
pub(crate) fn saturating_product<const N: usize>(sizes: [usize; N]) -> usize {
    if sizes.contains(&0) { 0 } else { sizes.into_iter().fold(1, usize::saturating_mul) }
}

/// The memory that a call has at a time.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    claimed: AtomicUsize,
    available: OnceLock<usize>,
}

impl Memory {
    /// Up to this many bytes the available memory is not looked up.
    const UNCHECKED: usize = 1 << 30;

    /// On a machine that has so many bytes.
    #[cfg(test)]
    pub fn of(available: usize) -> Self {
        Self { available: OnceLock::from(available), ..Self::default() }
    }

    /// Makes room for `length` entries in all.
    ///
    /// Linux grants more than it has, and ends a process that uses it. So what was reserved is
    /// compared with what is available.
    pub fn reserve<T>(&self, vector: &mut Vec<T>, length: usize, of: Use) -> Result<(), Error> {
        let more = length.saturating_sub(vector.capacity());
        if more == 0 {
            return Ok(());
        }
        let bytes = more.saturating_mul(size_of::<T>());
        let beside = self.claimed.fetch_add(bytes, Ordering::Relaxed);
        let missing = Error::Memory { bytes, beside, of };
        let claimed = beside.saturating_add(bytes);
        if claimed > Self::UNCHECKED && claimed > *self.available.get_or_init(available) {
            return Err(missing);
        }
        vector.try_reserve_exact(length.saturating_sub(vector.len())).map_err(|_| missing)
    }

    /// Until the result is dropped, memory is reserved that is freed by then: the workspaces of
    /// threads, which each wave of tasks makes anew.
    pub fn for_a_wave(&self) -> Wave<'_> {
        Wave { memory: self, before: self.claimed.load(Ordering::Relaxed) }
    }

    /// As many copies of `value`.
    pub fn filled<T: Clone>(&self, length: usize, value: T, of: Use) -> Result<Vec<T>, Error> {
        let mut vector = Vec::new();
        self.reserve(&mut vector, length, of)?;
        vector.resize(length, value);
        Ok(vector)
    }
}

/// Returns what was claimed during its life.
#[derive(Debug)]
#[must_use]
pub(crate) struct Wave<'a> {
    memory: &'a Memory,
    before: usize,
}

impl Drop for Wave<'_> {
    fn drop(&mut self) {
        self.memory.claimed.store(self.before, Ordering::Relaxed);
    }
}

/// The bytes that Linux can give to this process; elsewhere no limit is known.
fn available() -> usize {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|info| free_bytes(&info));
    // Of a container; "max" if it has none.
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|bytes| bytes.trim().parse().ok());
    machine.unwrap_or(usize::MAX).min(group.unwrap_or(usize::MAX))
}

/// What `/proc/meminfo` calls available, and free swap.
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
            // Twice as long as before, of which half is there: each asks for a gibibyte.
            for length in [1 << 29, 1 << 30] {
                let outcome = memory.reserve(vector, length, RESULT);
                assert!(outcome.is_ok(), "{number}: {outcome:?}");
            }
        }
        let refused = memory.reserve(&mut Vec::<u8>::new(), 1, RESULT);
        assert_eq!(refused, Err(Error::Memory { bytes: 1, beside: 3 << 30, of: RESULT }));
        let refused = Memory::default().reserve(&mut Vec::<f64>::new(), usize::MAX, RESULT);
        assert_eq!(refused, Err(Error::Memory { bytes: usize::MAX, beside: 0, of: RESULT }));
    }

    #[test]
    fn free_memory_is_what_is_available_and_free_swap() {
        let info = "MemTotal:  9 kB\nMemFree: 1 kB\nMemAvailable:    5 kB\nSwapFree:  2 kB\n";
        assert_eq!(free_bytes(info), Some(7 * 1024));
        assert_eq!(free_bytes("MemFree: 1 kB"), None);
    }
}
