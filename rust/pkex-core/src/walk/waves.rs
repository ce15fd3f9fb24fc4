//! Waves: tasks of one wave are computed side by side, and their sums collected before the next
//! one.
//!
//! Only the sums of one wave are in memory. What a task holds, and the order of collecting, do not
//! depend on the length of a wave or the number of threads; so a result's bits do not, either.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::error::Error;
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

    /// Computes a wave of so many units, at most `per_task` of them in each task.
    pub fn compute<T: Send, W>(
        &mut self,
        (units, per_task): (usize, usize),
        parallelism: Parallelism<'_>,
        tasks: impl ExactSizeIterator<Item = T> + Send,
        workspace: impl Fn() -> Result<W, Error> + Sync,
        work: impl Fn(&mut W, T, &Stop) + Sync,
    ) -> Result<(), Error> {
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
