//! The computations on the games of rows: one quantity for all of them, or interactions in parts.

use std::sync::{Mutex, PoisonError};

use crate::error::Error;
use crate::game::coalitions::Coalitions;
use crate::game::quantity::{Nodes, Quantity};
use crate::settings::Settings;
use crate::threads::{self, Monitor, Parallelism};
use crate::walk::items;
use crate::walk::source::Source;

/// A computation on the games of rows, for any value function.
pub(crate) trait Computation {
    /// The monitor, which may stop the computation.
    fn monitor(&mut self) -> Monitor<'_>;
    fn of<S: Source>(self, games: &S, settings: &Settings) -> Result<Vec<f64>, Error>;
}

/// Computes one quantity.
pub(crate) struct Values<'a>(pub Quantity<'a>, pub Monitor<'a>);

impl Computation for Values<'_> {
    fn monitor(&mut self) -> Monitor<'_> {
        self.1
    }

    fn of<S: Source>(self, games: &S, settings: &Settings) -> Result<Vec<f64>, Error> {
        items::run(games, self.0, settings, self.1)
    }
}

/// Coalitions of one pass: half a kilobyte each, which together stay in the second-level cache. At
/// 100 players this is twice as fast as all coalitions of two at once, although every pass fills
/// the factors again.
pub(crate) const MAX_COALITIONS: usize = 1 << 11;

/// Computes the interactions of coalitions in parts. Many parts are shared among the threads; a few
/// parts are computed in turn, each on all threads.
pub(crate) struct InParts<'a> {
    /// The result of all parts.
    pub result: Vec<f64>,
    /// The number of values of a row.
    pub width: usize,
    pub parts: Vec<Coalitions>,
    pub nodes: Nodes<'a>,
    pub monitor: Monitor<'a>,
}

impl Computation for InParts<'_> {
    fn monitor(&mut self) -> Monitor<'_> {
        self.monitor
    }

    fn of<S: Source>(mut self, games: &S, settings: &Settings) -> Result<Vec<f64>, Error> {
        let mut start = 0;
        let starts = self.parts.iter().map(|part| {
            let width = part.count() * games.size().outputs;
            start += width;
            start - width
        });
        let starts: Vec<usize> = starts.collect();
        if self.parts.len() < 2 * settings.threads {
            self.one_by_one(games, &starts, settings)?;
        } else {
            self.side_by_side(games, &starts, settings)?;
        }
        Ok(self.result)
    }
}

impl InParts<'_> {
    /// Computes the parts in turn, each on all threads.
    fn one_by_one<S: Source>(
        &mut self,
        games: &S,
        starts: &[usize],
        settings: &Settings,
    ) -> Result<(), Error> {
        let Self { result, width, parts, nodes, monitor } = self;
        for (number, (part, &start)) in parts.iter().zip(starts).enumerate() {
            let quantity = Quantity::Interactions(part, *nodes);
            let values = items::run(games, quantity, settings, &mut |done, total| {
                monitor(number * total + done, parts.len() * total)
            })?;
            place(result, *width, start, (&values, games.size().items));
            if monitor(number + 1, parts.len()).is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }

    /// Computes many parts, each on one of the threads.
    fn side_by_side<S: Source>(
        &mut self,
        games: &S,
        starts: &[usize],
        settings: &Settings,
    ) -> Result<(), Error> {
        let Self { result, width, parts, nodes, monitor } = self;
        // The values, and the error of the first part that failed.
        let outcome = Mutex::new((result, None));
        threads::for_each(
            parts.iter().zip(starts),
            Parallelism::Threads(settings.threads),
            || Ok(()),
            |(), (part, &start), stop| {
                let quantity = Quantity::Interactions(part, *nodes);
                let values = items::run_within(games, quantity, settings, stop);
                let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                match values {
                    Ok(values) => place(outcome.0, *width, start, (&values, games.size().items)),
                    Err(error) => match &outcome.1 {
                        Some((first, _)) if *first < start => {}
                        _ => outcome.1 = Some((start, error)),
                    },
                }
            },
            *monitor,
        )?;
        match outcome.into_inner().unwrap_or_else(PoisonError::into_inner).1 {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

/// Copies the values of a part, for a number of rows, to their places among the values of all
/// parts.
fn place(result: &mut [f64], width: usize, start: usize, (values, rows): (&[f64], usize)) {
    let part_width = values.len() / rows.max(1);
    for (row, values) in values.chunks(part_width.max(1)).enumerate() {
        result[row * width + start..][..part_width].copy_from_slice(values);
    }
}
