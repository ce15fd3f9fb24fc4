//! Runs tasks on several threads, while the calling thread can notice an interrupt.
//!
//! A call takes an idle pool of the right size from the store of its process, or builds a pool, and
//! returns it to the store afterwards. So calls from several threads never wait for one another. A
//! forked child, in which the parent's threads do not exist, starts with an empty store. No call
//! waits for the store: if it is locked, the call builds a pool of its own.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, mpsc};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Error;

/// Called on the calling thread about twenty times a second, with the number of finished tasks and
/// of all; stops the computation by returning `Break`.
pub type Monitor<'a> = &'a mut dyn FnMut(usize, usize) -> ControlFlow<()>;

/// Set when a computation is to stop; a long task checks it.
pub type Stop = AtomicBool;

/// Where tasks run.
#[derive(Clone, Copy, Debug)]
pub enum Parallelism<'a> {
    /// The calling thread, which cannot notice an interrupt: for short work.
    Inline,
    /// The calling thread, which is a worker of another computation, until that is to stop.
    Within(&'a Stop),
    /// This number of threads, including the calling one: also for short work.
    Shared(usize),
    /// This number of threads in addition to the calling one.
    Threads(usize),
}

impl Parallelism<'_> {
    /// Below this cost (about 100 µs), waking a thread takes longer than the work it would do.
    const INLINE_COST: usize = 1 << 19;
    /// Up to this cost (about 7 ms), an interrupt can wait until the work is done.
    const SHORT_COST: usize = 1 << 25;

    /// The threads for work of that cost, in steps of one node, player and lane (about 0.2 ns).
    pub fn of(cost: usize, threads: usize) -> Self {
        match threads {
            _ if cost > Self::SHORT_COST => Self::Threads(threads.max(1)),
            2.. if cost > Self::INLINE_COST => Self::Shared(threads),
            _ => Self::Inline,
        }
    }
}

pub const POLL_INTERVAL: Duration = Duration::from_millis(50);
const MAX_IDLE_POOLS: usize = 4;

/// Runs `work` on every task. Each thread first creates a workspace.
pub fn for_each<T: Send, W>(
    tasks: impl ExactSizeIterator<Item = T> + Send,
    parallelism: Parallelism<'_>,
    workspace: impl Fn() -> Result<W, Error> + Sync,
    work: impl Fn(&mut W, T, &Stop) + Sync,
    monitor: Monitor<'_>,
) -> Result<(), Error> {
    match parallelism {
        Parallelism::Inline => for_each_here(tasks, workspace()?, work, &Stop::new(false)),
        Parallelism::Within(stop) => for_each_here(tasks, workspace()?, work, stop),
        Parallelism::Shared(threads) | Parallelism::Threads(threads) => {
            let pool = take_pool(threads)?;
            let joins = matches!(parallelism, Parallelism::Shared(_));
            let outcome = for_each_in(&pool, joins, tasks, workspace, work, monitor);
            return_pool(pool);
            outcome
        }
    }
}

fn for_each_here<T, W>(
    tasks: impl Iterator<Item = T>,
    mut workspace: W,
    work: impl Fn(&mut W, T, &Stop),
    stop: &Stop,
) -> Result<(), Error> {
    for task in tasks {
        work(&mut workspace, task, stop);
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
    }
    Ok(())
}

/// Runs `work` on the threads of a pool. If the calling thread `joins` them, one thread fewer is
/// used.
fn for_each_in<T: Send, W>(
    pool: &ThreadPool,
    joins: bool,
    tasks: impl ExactSizeIterator<Item = T> + Send,
    workspace: impl Fn() -> Result<W, Error> + Sync,
    work: impl Fn(&mut W, T, &Stop) + Sync,
    monitor: Monitor<'_>,
) -> Result<(), Error> {
    let total = tasks.len();
    let queue = Mutex::new(tasks);
    let next = || queue.lock().ok().and_then(|mut queue| queue.next());
    let done_count = AtomicUsize::new(0);
    let stop = Stop::new(false);
    let first_error = OnceLock::new();
    let take_tasks = || match workspace() {
        Ok(mut workspace) => {
            while !stop.load(Ordering::Relaxed)
                && let Some(task) = next()
            {
                work(&mut workspace, task, &stop);
                done_count.fetch_add(1, Ordering::Relaxed);
            }
        }
        Err(error) => {
            stop.store(true, Ordering::Relaxed);
            // If there are several errors, one of them is returned.
            let _ = first_error.set(error);
        }
    };
    pool.in_place_scope(|scope| {
        let (alive, all_done) = mpsc::channel::<()>();
        for _ in usize::from(joins)..pool.current_num_threads().min(total) {
            let (alive, take_tasks) = (alive.clone(), &take_tasks);
            scope.spawn(move |_| {
                // Dropped when the task ends, or panics: that disconnects the channel.
                let _alive = alive;
                take_tasks();
            });
        }
        drop(alive);
        if joins {
            take_tasks();
        }
        while all_done.recv_timeout(POLL_INTERVAL) == Err(mpsc::RecvTimeoutError::Timeout) {
            if monitor(done_count.load(Ordering::Relaxed), total).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
        }
    });
    match first_error.into_inner() {
        Some(error) => Err(error),
        None if stop.into_inner() => Err(Error::Interrupted),
        None => Ok(()),
    }
}

/// The idle pools of one process.
struct Store {
    process: u32,
    idle: Vec<ThreadPool>,
}

static STORE: Mutex<Store> = Mutex::new(Store { process: 0, idle: Vec::new() });

/// Calls `action` with the store of this process, unless another thread has locked it.
fn with_store<R>(action: impl FnOnce(&mut Store) -> R) -> Option<R> {
    let mut store = STORE.try_lock().ok()?;
    let process = std::process::id();
    if store.process != process {
        // The threads of these pools live in the parent: joining them would wait for ever.
        std::mem::forget(std::mem::take(&mut store.idle));
        store.process = process;
    }
    Some(action(&mut store))
}

fn take_pool(threads: usize) -> Result<ThreadPool, Error> {
    let idle = with_store(|store| {
        let fits = |pool: &ThreadPool| pool.current_num_threads() == threads;
        store.idle.iter().position(fits).map(|index| store.idle.swap_remove(index))
    });
    if let Some(pool) = idle.flatten() {
        return Ok(pool);
    }
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.thread_name(|index| format!("pkex-{index}")).build().map_err(|error| {
        Error::Unsupported(format!("cannot start {threads} threads ({error}). Use fewer threads."))
    })
}

fn return_pool(pool: ThreadPool) {
    with_store(|store| {
        if store.idle.len() == MAX_IDLE_POOLS {
            store.idle.remove(0);
        }
        store.idle.push(pool);
    });
}
