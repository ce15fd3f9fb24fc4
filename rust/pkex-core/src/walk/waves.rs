//! Waves: tasks of one wave are computed side by side, and their sums collected before the next
//! one.
//!
//! Only the sums of one wave are in memory. What a task holds, and the order of collecting, do not
//! depend on the length of a wave or the number of threads; so a result's bits do not, either.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::error::Error;
use crate::memory::Memory;
use crate::threads::{self, Monitor, POLL_INTERVAL, Parallelism, Stop};

/// How far a computation in waves is.
pub(crate) struct Waves<'a> {
    monitor: Monitor<'a>,
    /// Units of work, such as tiles.
    done: usize,
    all: usize,
    /// When the monitor was last asked: waves may be shorter than threads take to ask.
    asked: Instant,
}

impl<'a> Waves<'a> {
    /// Before the first wave of a computation of so many units.
    pub fn new(all: usize, monitor: Monitor<'a>) -> Self {
        Self { monitor, done: 0, all, asked: Instant::now() }
    }

    /// Computes a wave of so many units, at most `per_task` of them in each task. Workspaces are
    /// reserved in `memory`.
    pub fn compute<T: Send, W>(
        &mut self,
        memory: &Memory,
        (units, per_task): (usize, usize),
        parallelism: Parallelism<'_>,
        tasks: impl ExactSizeIterator<Item = T> + Send,
        workspace: impl Fn() -> Result<W, Error> + Sync,
        work: impl Fn(&mut W, T, &Stop) + Sync,
    ) -> Result<(), Error> {
        let _workspaces = memory.for_a_wave();
        threads::for_each(tasks, parallelism, workspace, work, &mut |finished, _| {
            self.ask(units.min(finished * per_task))
        })?;
        self.done += units;
        if self.ask(0).is_break() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Asks the monitor, if it has not just been asked, when so many units of the wave are done.
    fn ask(&mut self, of_wave: usize) -> ControlFlow<()> {
        if self.asked.elapsed() < POLL_INTERVAL {
            return ControlFlow::Continue(());
        }
        self.asked = Instant::now();
        (self.monitor)(self.done + of_wave, self.all)
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
                (1, 1),
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
        // Of what lives longer it is left less.
        let kept = memory.reserve(&mut Vec::<u8>::new(), GIBIBYTE, FACTORS);
        assert_eq!(kept, Ok(()));
        let (bytes, beside) = (2 * GIBIBYTE, GIBIBYTE);
        let refused = wave(&mut waves, bytes);
        assert_eq!(refused, Err(Error::Memory { bytes, beside, of: FACTORS }));
    }
}
