//! Text to pre-tokens: pieces that join to the text, cut where a pattern's matches start or end.

mod algebra;
pub mod classes;
mod engine;
mod gpt2;
mod linear;
mod masks;
mod stand_in;

pub use engine::{Engine, STEP_LIMIT};
use stand_in::StandIn;

use crate::error::Result;

/// Receives the ends of consecutive pre-tokens, in order, some at a time.
pub type Sink<'a> = &'a mut dyn FnMut(&[usize]) -> Result<()>;

/// A compiled split: patterns applied in turn, each to the pieces of the one before.
#[derive(Debug)]
pub struct Splitter {
    plan: Plan,
}

#[derive(Debug)]
enum Plan {
    /// One pre-token a text.
    Whole,
    /// The gpt2 pattern, by class masks.
    Gpt2,
    /// Any patterns, by the engine.
    Engines(Vec<Engine>),
}

/// Spellings of the gpt2 pattern: openai/gpt-2, tiktoken 0.14.0, openai/whisper.
const GPT2: [&str; 3] = [
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
];

impl Splitter {
    /// Compile patterns; those that have masks are recognized by their spelling.
    ///
    /// # Errors
    ///
    /// `Pattern` for one that does not compile.
    pub fn compile(patterns: &[String]) -> Result<Self> {
        let plan = match patterns {
            [] => Plan::Whole,
            [pattern] if GPT2.contains(&pattern.as_str()) => Plan::Gpt2,
            _ => return Self::by_engine(patterns),
        };
        Ok(Self { plan })
    }

    /// Compile patterns for the regex engine, masks or not: the oracle of the masks.
    ///
    /// # Errors
    ///
    /// `Pattern` for one that does not compile.
    pub fn by_engine(patterns: &[String]) -> Result<Self> {
        let engines = patterns.iter().map(|p| Engine::compile(p)).collect::<Result<Vec<_>>>()?;
        Ok(Self { plan: Plan::Engines(engines) })
    }

    /// Give the ends of the pre-tokens of `text` to `sink`; an empty text has none.
    ///
    /// # Errors
    ///
    /// `Pattern` when a match passes its step limit; those of `sink`.
    pub fn split(&self, text: &[u8], sink: Sink<'_>) -> Result<()> {
        match &self.plan {
            _ if text.is_empty() => Ok(()),
            Plan::Whole => sink(&[text.len()]),
            Plan::Gpt2 => algebra::split_by::<gpt2::Gpt2>(text, sink),
            Plan::Engines(engines) => split_by_engines(engines, text, sink),
        }
    }

    /// Whether a text may be cut before whitespace that follows a letter or digit, with the
    /// pre-tokens of the parts being those of the whole.
    #[must_use]
    pub fn cuts_before_space(&self) -> bool {
        matches!(self.plan, Plan::Gpt2)
    }
}

fn split_by_engines(engines: &[Engine], text: &[u8], sink: Sink<'_>) -> Result<()> {
    match std::str::from_utf8(text) {
        Ok(valid) => split_pieces(engines, valid, 0, &mut |end| sink(&[end])),
        Err(_) => {
            let stand_in = StandIn::new(text)?;
            let mut origin = stand_in.origins();
            split_pieces(engines, &stand_in.text, 0, &mut |end| sink(&[origin.of(end)]))
        }
    }
}

/// Split `text`, which begins at `base`, by the first engine, its pieces by the next ones.
fn split_pieces(
    engines: &[Engine],
    text: &str,
    base: usize,
    emit: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<()> {
    let Some((engine, rest)) = engines.split_first() else {
        return if text.is_empty() { Ok(()) } else { emit(base + text.len()) };
    };
    let mut piece = |start: usize, end: usize| {
        let inner = text.get(start..end).unwrap_or_default();
        split_pieces(rest, inner, base + start, emit)
    };
    let mut at = 0;
    while let Some((start, end)) = engine.find(text, at)? {
        piece(at, start)?;
        piece(start, end)?;
        at = end;
    }
    piece(at, text.len())
}
