//! Split by a regular expression: linear where it can be, with a step limit where it cannot.

use regex_automata::meta;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

use super::linear::{Alternative, alternatives, has_possessive, inverted_repeat};
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
    Linear { regex: Box<meta::Regex>, drop_last: Vec<bool> },
    /// Look-around or back-references: bounded by `STEP_LIMIT`.
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
    /// `Pattern` when a match passes the step limit.
    pub fn find(&self, text: &str, mut from: usize) -> Result<Option<(usize, usize)>> {
        loop {
            let found = match &self.kind {
                Compiled::Linear { regex, drop_last } => {
                    let input = Input::new(text).range(from..).anchored(Anchored::No);
                    regex.search(&input).map(|found| {
                        let dropped = drop_last.get(found.pattern().as_usize()) == Some(&true);
                        let last = text.get(..found.end()).and_then(|t| t.chars().next_back());
                        let n_dropped = if dropped { last.map_or(0, char::len_utf8) } else { 0 };
                        (found.start(), found.end() - n_dropped)
                    })
                }
                Compiled::Backtracking(regex) => regex
                    .find_from_pos(text, from)
                    .map_err(|error| self.past_limit(from, &error.to_string()))?
                    .map(|found| (found.start(), found.end())),
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

    fn past_limit(&self, from: usize, detail: &str) -> Error {
        let pattern: String = self.pattern.chars().take(40).collect();
        Error::new(
            Kind::Pattern,
            format!(
                "pattern {pattern:?} took more than {STEP_LIMIT} steps on the text from byte {from} ({detail}); \
                 write it without look-around or nested repeats, or cut the text into shorter documents"
            ),
        )
    }
}

fn linear(parts: &[Alternative]) -> Option<Compiled> {
    let expressions: Vec<&str> = parts.iter().map(|part| part.expression.as_str()).collect();
    let config =
        meta::Config::new().nfa_size_limit(Some(SIZE_LIMIT)).hybrid_cache_capacity(4 << 20);
    let regex = meta::Builder::new()
        .configure(config)
        .syntax(syntax::Config::new())
        .build_many(&expressions)
        .ok()?;
    let drop_last = parts.iter().map(|part| part.drop_last).collect();
    Some(Compiled::Linear { regex: Box::new(regex), drop_last })
}

fn refuse(pattern: &str, detail: &str) -> Error {
    let cut: String = pattern.chars().take(40).collect();
    let detail = detail.split_whitespace().collect::<Vec<_>>().join(" ");
    Error::new(Kind::Pattern, format!("pattern {cut:?} does not compile: {detail}"))
}
