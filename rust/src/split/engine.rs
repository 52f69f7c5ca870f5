//! Split by a regular expression: linear where it can be, with a step limit where it cannot.

use super::budget::{Budget, STEPS_PER_BYTE, Stop};
use super::linear::{Alternative, alternatives, has_possessive, inverted_repeat, repeated_name};
use super::look::{self, Failure};
use super::scan::Scanner;
use crate::error::{Error, Kind, Result};

/// Steps that one match of a pattern with look-around may take.
pub const STEP_LIMIT: usize = 1_000_000;

/// Bytes that a compiled pattern may take: a pattern comes from a stranger's file.
const SIZE_LIMIT: usize = 32 << 20;

/// A compiled pattern.
#[derive(Debug)]
pub struct Engine {
    pattern: String,
    kind: Compiled,
}

#[derive(Debug)]
enum Compiled {
    /// Time linear in the text. `drop_last[i]`: alternative `i` gives its last character back.
    Linear { scanner: Box<Scanner>, drop_last: Vec<bool> },
    /// Look-around or back-references: each match bounded by `STEP_LIMIT` too.
    Backtracking(Box<fancy_regex::Regex>),
}

impl Engine {
    /// Compile `pattern`.
    ///
    /// # Errors
    ///
    /// `Pattern` for one that no engine compiles, with the place of the fault.
    pub fn compile(pattern: &str) -> Result<Self> {
        // fancy-regex 0.20 would read its least count for both.
        if let Some(repeat) = inverted_repeat(pattern) {
            let detail = format!("the repeat {repeat} ends below where it begins");
            return Err(refuse(pattern, &detail));
        }
        // fancy-regex 0.20 would take the last of them for the group's name.
        if let Some(name) = repeated_name(pattern) {
            let detail = format!("two groups are named {name:?}; give each a name of its own");
            return Err(refuse(pattern, &detail));
        }
        let rewritten = alternatives(pattern).and_then(|parts| linear(&parts));
        let whole = || {
            let part = Alternative { expression: pattern.into(), drop_last: false };
            if has_possessive(pattern) { None } else { linear(&[part]) }
        };
        let kind = match rewritten.or_else(whole) {
            Some(kind) => kind,
            None => Compiled::Backtracking(Box::new(
                fancy_regex::RegexBuilder::new(pattern)
                    .backtrack_limit(STEP_LIMIT)
                    .delegate_size_limit(SIZE_LIMIT)
                    .build()
                    .map_err(|error| refuse(pattern, &error.to_string()))?,
            )),
        };
        Ok(Self { pattern: pattern.into(), kind })
    }

    /// Whether matching is linear in the text, so that `settled` can tell finished matches.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        matches!(self.kind, Compiled::Linear { .. })
    }

    /// The leftmost match in `text` that starts at `from` or later, empty ones passed over.
    ///
    /// # Errors
    ///
    /// `Pattern` when a match passes the step limit, or all of them the budget; `Interrupted`.
    pub fn find(
        &self,
        text: &str,
        mut from: usize,
        budget: &Budget<'_>,
    ) -> Result<Option<(usize, usize)>> {
        loop {
            let found = match &self.kind {
                Compiled::Linear { scanner, drop_last } => {
                    let found = scanner.find(text, from, budget);
                    let found = found.map_err(|stop| self.stopped(stop, from, budget))?;
                    found.map(|(start, end, alternative)| {
                        let dropped = drop_last.get(alternative) == Some(&true);
                        let last = text.get(..end).and_then(|t| t.chars().next_back());
                        let n_dropped = if dropped { last.map_or(0, char::len_utf8) } else { 0 };
                        (start, end - n_dropped)
                    })
                }
                Compiled::Backtracking(regex) => {
                    let found = look::find(regex, text, from, budget);
                    found.map_err(|failure| match failure {
                        Failure::Stopped(stop) => self.stopped(stop, from, budget),
                        Failure::Engine(detail) => {
                            self.past_limit(from, &format!("{STEP_LIMIT} steps back ({detail})"))
                        }
                    })?
                }
            };
            match found {
                Some((start, end)) if start == end => {
                    let Some(skipped) = text.get(end..).and_then(|t| t.chars().next()) else {
                        return Ok(None);
                    };
                    from = end + skipped.len_utf8();
                }
                other => return Ok(other),
            }
        }
    }

    fn stopped(&self, stop: Stop, from: usize, budget: &Budget<'_>) -> Error {
        stop.into_error(|| {
            let limit = budget.limit();
            self.past_limit(from, &format!("{limit} steps, {STEPS_PER_BYTE} a byte of the text,"))
        })
    }

    fn past_limit(&self, from: usize, limit: &str) -> Error {
        let pattern: String = self.pattern.chars().take(40).collect();
        Error::new(
            Kind::Pattern,
            format!(
                "pattern {pattern:?} took more than {limit} up to a match at byte {from}; write it so \
                 that a match does not look far ahead, without look-around or nested repeats, or cut \
                 the text into shorter documents"
            ),
        )
    }
}

fn linear(parts: &[Alternative]) -> Option<Compiled> {
    let expressions: Vec<&str> = parts.iter().map(|part| part.expression.as_str()).collect();
    let scanner = Box::new(Scanner::compile(&expressions, SIZE_LIMIT)?);
    let drop_last = parts.iter().map(|part| part.drop_last).collect();
    Some(Compiled::Linear { scanner, drop_last })
}

fn refuse(pattern: &str, detail: &str) -> Error {
    let cut: String = pattern.chars().take(40).collect();
    let detail = detail.split_whitespace().collect::<Vec<_>>().join(" ");
    Error::new(Kind::Pattern, format!("pattern {cut:?} does not compile: {detail}"))
}
