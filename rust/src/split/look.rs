//! Matches with look-around and back-references, each look at the text a step of a budget.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::budget::{Budget, Stop};

/// A text that counts how often it is looked at, and ends the search past the budget.
struct Watched<'a> {
    text: &'a str,
    budget: &'a Budget<'a>,
    stop: Cell<Option<Stop>>,
}

/// Why a search gave no result.
pub enum Failure {
    /// It was given up.
    Stopped(Stop),
    /// The engine's own limit on one match.
    Engine(String),
}

/// The leftmost match at `from` or later, which may be empty.
///
/// The engine has no limit but that of one match's backtracking. It reads the text through a trait
/// that cannot fail, so that unwinding, caught here and without a message, is the way out.
///
/// # Errors
///
/// Why there is no result.
pub fn find(
    regex: &fancy_regex::Regex,
    text: &str,
    from: usize,
    budget: &Budget<'_>,
) -> Result<Option<(usize, usize)>, Failure> {
    let watched = Watched { text, budget, stop: Cell::new(None) };
    let search = || regex.find_from_pos(&watched, from);
    match catch_unwind(AssertUnwindSafe(search)) {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => Err(Failure::Engine(error.to_string())),
        Err(_) => Err(match watched.stop.get() {
            Some(stop) => Failure::Stopped(stop),
            None => Failure::Engine("the engine failed".into()),
        }),
    }
}

impl fancy_regex::Input for Watched<'_> {
    type Match<'t>
        = (usize, usize)
    where
        Self: 't;

    fn len(&self) -> usize {
        self.text.len()
    }

    fn as_bytes(&self) -> &[u8] {
        if let Err(stop) = self.budget.take(1) {
            self.stop.set(Some(stop));
            resume_unwind(Box::new(()));
        }
        self.text.as_bytes()
    }

    fn is_char_boundary(&self, at: usize) -> bool {
        self.text.is_char_boundary(at)
    }

    fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    fn prev_codepoint_ix(&self, at: usize) -> usize {
        let before = self.text.get(..at).and_then(|before| before.chars().next_back());
        at - before.map_or(1, char::len_utf8).min(at)
    }

    fn make_match(&self, start: usize, end: usize) -> (usize, usize) {
        (start, end)
    }

    fn advance_position(&self, at: usize) -> usize {
        let next = self.text.get(at..).and_then(|rest| rest.chars().next());
        at + next.map_or(1, char::len_utf8)
    }
}
