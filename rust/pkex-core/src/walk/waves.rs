//! Waves: the tasks of one wave are computed in parallel, and their sums are collected before the
//! next wave.
//!
//! Only the sums of one wave are in memory. The content of a task and the order of collecting
//! depend neither on the length of a wave nor on the number of threads, and so the bits of a result
//! do not either.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::error::Error;
use crate::memory::Memory;
use crate::threads::{self, Monitor, POLL_INTERVAL, Parallelism, Stop};

/// The units of work, such as tiles, of a wave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    pub count: usize,
    /// Maximum units of a task.
    pub per_task: usize,
}

/// The progress of a computation in waves.
pub(crate) struct Waves<'a> {
    monitor: Monitor<'a>,
    /// Units of work, such as tiles.
    done: usize,
    total: usize,
    /// The time of the last call of the monitor: waves may be shorter than the polling interval.
    last_call: Instant,
}

impl<'a> Waves<'a> {
    /// The progress before the first wave of a computation of `total` units.
    pub fn new(total: usize, monitor: Monitor<'a>) -> Self {
        Self { monitor, done: 0, total, last_call: Instant::now() }
    }

    /// Computes a wave of some units, at most `per_task` of them in each task. Workspaces are
    /// reserved in `memory`.
    pub fn compute<T: Send, W>(
        &mut self,
        memory: &Memory,
        Units { count, per_task }: Units,
        parallelism: Parallelism<'_>,
        tasks: impl ExactSizeIterator<Item = T> + Send,
        workspace: impl Fn() -> Result<W, Error> + Sync,
        work: impl Fn(&mut W, T, &Stop) + Sync,
    ) -> Result<(), Error> {
        let _workspaces = memory.begin_wave();
        threads::for_each(tasks, parallelism, workspace, work, &mut |tasks_done, _| {
            self.call_monitor(count.min(tasks_done * per_task))
        })?;
        self.done += count;
        if self.call_monitor(0).is_break() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Calls the monitor, unless it has just been called, with `units` units of the wave done.
    fn call_monitor(&mut self, units: usize) -> ControlFlow<()> {
        if self.last_call.elapsed() < POLL_INTERVAL {
            return ControlFlow::Continue(());
        }
        self.last_call = Instant::now();
        (self.monitor)(self.done + units, self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::FACTORS;

    #[test]
    fn workspaces_of_each_wave_may_take_all_memory() {
        const GIBIBYTE: usize = 1 << 30;
        let memory = Memory::of(2 * GIBIBYTE);
        let wave = |waves: &mut Waves<'_>, bytes: usize| {
            waves.compute(
                &memory,
                Units { count: 1, per_task: 1 },
                Parallelism::Inline,
                std::iter::once(()),
                || {
                    let mut room = Vec::<u8>::new();
                    memory.reserve(&mut room, bytes, FACTORS)?;
                    Ok(room)
                },
                |_, (), _| (),
            )
        };
        let monitor = &mut |_, _| ControlFlow::Continue(());
        let mut waves = Waves::new(9, monitor);
        for number in 0..8 {
            assert_eq!(wave(&mut waves, 2 * GIBIBYTE), Ok(()), "{number}");
        }
        // Memory that is kept longer reduces the memory that is left.
        let result = memory.reserve(&mut Vec::<u8>::new(), GIBIBYTE, FACTORS);
        assert_eq!(result, Ok(()));
        let (bytes, beside) = (2 * GIBIBYTE, GIBIBYTE);
        let result = wave(&mut waves, bytes);
        assert_eq!(result, Err(Error::Memory { bytes, beside, of: FACTORS }));
    }
}
