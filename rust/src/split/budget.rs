//! How much work the matches of one text may take together.

use std::cell::Cell;

use crate::error::Error;
use crate::parallel::Control;

/// Steps that the matches of one text may take for each of its bytes, all together.
///
/// A step is a byte read by the linear engine, or a look at the text by the one for look-around.
/// The patterns of `subword.patterns` take under 3 a byte; 1,000 lets every match read a thousand
/// bytes past its end, and holds the worst text to about a second a megabyte (a few tens with
/// look-around). What is quadratic passes it on texts of a few thousand bytes' repeats.
pub const STEPS_PER_BYTE: u64 = 1_000;

/// Steps that a text has besides those of its bytes, so that short ones need no counting.
const STEPS_AT_LEAST: u64 = 1_000_000;

/// Steps between two looks at the stop flag.
const STEPS_A_CHECK: u64 = 1 << 14;

/// The steps that are left.
#[derive(Debug)]
pub struct Budget<'a> {
    n_left: Cell<u64>,
    n_unchecked: Cell<u64>,
    control: &'a Control,
    limit: u64,
}

/// Why a search ended before its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The steps are used up.
    PastLimit,
    /// The caller asked to stop.
    Interrupted,
}

impl<'a> Budget<'a> {
    /// The steps of `n_patterns` patterns, applied in turn to a text of `n_bytes`.
    #[must_use]
    pub fn new(n_bytes: usize, n_patterns: usize, control: &'a Control) -> Self {
        let n_bytes = (n_bytes as u64).saturating_mul(n_patterns.max(1) as u64);
        let limit = n_bytes.saturating_mul(STEPS_PER_BYTE).saturating_add(STEPS_AT_LEAST);
        Self { n_left: Cell::new(limit), n_unchecked: Cell::new(0), control, limit }
    }

    /// Take `n` steps.
    ///
    /// # Errors
    ///
    /// The reason not to go on.
    #[inline]
    pub fn take(&self, n: u64) -> Result<(), Stop> {
        let Some(n_left) = self.n_left.get().checked_sub(n) else { return Err(Stop::PastLimit) };
        self.n_left.set(n_left);
        let n_unchecked = self.n_unchecked.get() + n;
        if n_unchecked < STEPS_A_CHECK {
            self.n_unchecked.set(n_unchecked);
            return Ok(());
        }
        self.n_unchecked.set(0);
        if self.control.check().is_err() { Err(Stop::Interrupted) } else { Ok(()) }
    }

    /// What says whether to go on.
    #[must_use]
    pub fn control(&self) -> &Control {
        self.control
    }

    /// The steps that there were.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }
}

impl Stop {
    /// The error of this stop; `past_limit` makes that of the limit.
    pub fn into_error(self, past_limit: impl FnOnce() -> Error) -> Error {
        match self {
            Self::PastLimit => past_limit(),
            Self::Interrupted => Error::interrupted(),
        }
    }
}
