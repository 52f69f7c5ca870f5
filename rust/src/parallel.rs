//! What a long call shares with its caller: a stop flag and a progress count.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::error::{Error, Kind, Result};
use crate::memory::has_room_for_thread;

/// Shared by the calling thread, which watches for signals, and the threads that work.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    done: AtomicU64,
}

impl Control {
    /// Ask the workers to stop at their next check.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Give the interruption as an error when a stop was asked for.
    ///
    /// # Errors
    ///
    /// `Interrupted` after `stop`.
    pub fn check(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::interrupted()) } else { Ok(()) }
    }

    /// Report `n` more units (bytes, merges: what the call counts) as done.
    pub fn advance(&self, n: u64) {
        self.done.fetch_add(n, Ordering::Relaxed);
    }

    /// Units done so far.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

/// The number of threads to use: the one asked for, or one a core.
///
/// # Errors
///
/// `Argument` for 0.
pub fn n_threads(wanted: Option<usize>) -> Result<usize> {
    match wanted {
        Some(0) => Err(Error::new(
            Kind::Argument,
            "n_threads is 0; give at least 1, or None for one a core",
        )),
        Some(n) => Ok(n),
        None => Ok(std::thread::available_parallelism().map_or(1, std::num::NonZero::get)),
    }
}

/// Items that are sorted without a look at the stop flag.
const SORTED_AT_ONCE: usize = 1 << 17;

/// Sort, such that the caller can stop it.
///
/// # Errors
///
/// `Interrupted`.
pub fn sort<T: Ord>(items: &mut [T], control: &Control) -> Result<()> {
    sort_by(items, &|a, b| a.cmp(b), control)
}

/// As `sort`, in an order of its own; equal items come in any order.
///
/// # Errors
///
/// `Interrupted`.
pub fn sort_by<T>(
    items: &mut [T],
    order: &impl Fn(&T, &T) -> std::cmp::Ordering,
    control: &Control,
) -> Result<()> {
    control.check()?;
    if items.len() <= SORTED_AT_ONCE {
        items.sort_unstable_by(order);
        return Ok(());
    }
    let (lower, _, upper) = items.select_nth_unstable_by(items.len() / 2, order);
    sort_by(lower, order, control)?;
    sort_by(upper, order, control)
}

/// Do the items of `0..n_items` on threads of their own, each with one of `states`.
///
/// Items are handed out in order, one at a time; `work` gives its state and the item.
/// With one state everything runs on the calling thread.
///
/// # Errors
///
/// The error of the lowest item that failed, or `Memory` when no thread could be had.
pub fn for_each<S: Send>(
    states: &mut [S],
    n_items: usize,
    work: impl Fn(&mut S, usize) -> Result<()> + Sync,
) -> Result<()> {
    if let [state] = states {
        return (0..n_items).try_for_each(|item| work(state, item));
    }
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let run = |state: &mut S| loop {
        let item = next.fetch_add(1, Ordering::Relaxed);
        if item >= n_items {
            return;
        }
        if let Err(error) = work(state, item) {
            next.store(n_items, Ordering::Relaxed);
            let mut failed = failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if failed.as_ref().is_none_or(|(earlier, _)| item < *earlier) {
                *failed = Some((item, error));
            }
        }
    };
    std::thread::scope(|scope| {
        let Some((own, others)) = states.split_first_mut() else { return };
        for state in others.iter_mut().take(n_items.saturating_sub(1)) {
            // A thread that cannot be had leaves its share to the others.
            if !has_room_for_thread()
                || std::thread::Builder::new().spawn_scoped(scope, || run(state)).is_err()
            {
                break;
            }
        }
        run(own);
    });
    match failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}
