//! Matches by a lazy automaton that counts the bytes it reads.
//!
//! `regex_automata::meta` does not say how far it looked for a match: `a*b|a` reads all that is
//! left of a run of `a` for each `a`. Here the automaton is stepped byte by byte instead.

use std::sync::Arc;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::hybrid::regex::{Builder, Cache as Caches, Regex};
use regex_automata::nfa::thompson;
use regex_automata::util::pool::Pool;
use regex_automata::{Anchored, Input, meta};

use super::budget::{Budget, Stop};

/// Bytes that the states of one automaton may take before they are built anew.
pub(super) const CACHE_BYTES: usize = 4 << 20;

/// Bytes read between two looks at the budget.
const BLOCK: usize = 1 << 12;

type NewCaches =
    Box<dyn Fn() -> Caches + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

/// A compiled pattern, or several, of which the first that matches leftmost counts.
pub struct Scanner {
    /// `None` for what only `whole` can run.
    automata: Option<(Arc<Regex>, Pool<Caches, NewCaches>)>,
    /// For words' borders among characters that are not ASCII; its reading is not counted.
    whole: Box<meta::Regex>,
}

impl std::fmt::Debug for Scanner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Scanner").field("whole", &self.whole).finish_non_exhaustive()
    }
}

/// Start, end and number of the pattern.
pub type Match = (usize, usize, usize);

/// What the automaton says of one direction: an offset and the number of the pattern.
enum Found {
    Match(usize, usize),
    Nothing,
    /// The automaton cannot go on over this text.
    Unknown,
}

impl Scanner {
    /// Compile `expressions`; `None` where they take more than `size_limit`, or do not parse.
    #[must_use]
    pub fn compile(expressions: &[&str], size_limit: usize) -> Option<Self> {
        let config =
            meta::Config::new().nfa_size_limit(Some(size_limit)).hybrid_cache_capacity(CACHE_BYTES);
        let whole = Box::new(meta::Builder::new().configure(config).build_many(expressions).ok()?);
        let config = DFA::config()
            .cache_capacity(CACHE_BYTES)
            .skip_cache_capacity_check(true)
            .unicode_word_boundary(true);
        let regex = Builder::new()
            .dfa(config)
            .thompson(thompson::Config::new().nfa_size_limit(Some(size_limit)))
            .build_many(expressions)
            .ok();
        let automata = regex.map(|regex| {
            let regex = Arc::new(regex);
            let like = Arc::clone(&regex);
            let new: NewCaches = Box::new(move || like.create_cache());
            (regex, Pool::new(new))
        });
        Some(Self { automata, whole })
    }

    /// The leftmost match at `from` or later, which may be empty.
    ///
    /// # Errors
    ///
    /// Why it was given up.
    pub fn find(
        &self,
        text: &str,
        from: usize,
        budget: &Budget<'_>,
    ) -> Result<Option<Match>, Stop> {
        if let Some((regex, pool)) = &self.automata {
            let mut caches = pool.get();
            let (forward, reverse) = caches.as_parts_mut();
            // Most patterns match where the last match ended: then nothing is looked for.
            let here = Input::new(text).range(from..).anchored(Anchored::Yes);
            match run_forward(regex.forward(), forward, &here, budget)? {
                Found::Match(end, pattern) => return Ok(Some((from, end, pattern))),
                Found::Nothing => {
                    let later = here.anchored(Anchored::No);
                    match run_forward(regex.forward(), forward, &later, budget)? {
                        Found::Nothing => return Ok(None),
                        Found::Match(end, pattern) => {
                            let back = Input::new(text).range(from..end).anchored(Anchored::Yes);
                            budget.take((end - from) as u64)?;
                            if let Ok(Some(start)) = regex.reverse().try_search_rev(reverse, &back)
                            {
                                return Ok(Some((start.offset(), end, pattern)));
                            }
                        }
                        Found::Unknown => {}
                    }
                }
                Found::Unknown => {}
            }
        }
        let found = self.whole.search(&Input::new(text).range(from..));
        let read = found.as_ref().map_or(text.len(), |found| found.end()) - from;
        budget.take(read as u64 + 1)?;
        Ok(found.map(|found| (found.start(), found.end(), found.pattern().as_usize())))
    }
}

/// The end of the leftmost match of `input`, which goes on to the end of its text.
fn run_forward(
    dfa: &DFA,
    cache: &mut Cache,
    input: &Input<'_>,
    budget: &Budget<'_>,
) -> Result<Found, Stop> {
    let Ok(mut state) = dfa.start_state_forward(cache, input) else { return Ok(Found::Unknown) };
    let mut found = Found::Nothing;
    let mut start = input.start();
    let text = input.haystack();
    // A state says of the byte before it, so that a match is known one byte late.
    while start < text.len() {
        let end = text.len().min(start + BLOCK);
        for (at, &byte) in (start..end).zip(text.get(start..end).unwrap_or_default()) {
            let Ok(next) = dfa.next_state(cache, state, byte) else { return Ok(Found::Unknown) };
            state = next;
            if state.is_tagged() {
                if state.is_match() {
                    found = Found::Match(at, dfa.match_pattern(cache, state, 0).as_usize());
                } else if state.is_dead() {
                    budget.take((at - start + 1) as u64)?;
                    return Ok(found);
                } else if state.is_quit() {
                    return Ok(Found::Unknown);
                }
            }
        }
        budget.take((end - start) as u64)?;
        start = end;
    }
    let Ok(state) = dfa.next_eoi_state(cache, state) else { return Ok(Found::Unknown) };
    if state.is_match() {
        found = Found::Match(text.len(), dfa.match_pattern(cache, state, 0).as_usize());
    }
    budget.take(1)?;
    Ok(found)
}
