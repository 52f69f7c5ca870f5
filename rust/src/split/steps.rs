//! Pre-tokenizers as data: steps that cut pieces into smaller ones, drop some, or add a prefix.
//!
//! Source: tokenizers 0.23.3, `pre_tokenizers/` and `NormalizedString::split`.

use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

use super::Parts;
use super::budget::Budget;
use super::engine::Engine;
use super::scripts::Scripts;
use super::stand_in::StandIn;
use crate::error::{Error, Kind, Result};
use crate::normalize::alignment::{Normalized, Rewriter};
use crate::normalize::characters::CharacterSet;
use crate::normalize::replace::character_length;
use crate::parallel::Control;

/// What becomes of the matches of a cut; what lies between them is always a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behavior {
    /// Each match is a piece.
    Isolated,
    /// Matches go.
    Removed,
    /// A match is the end of the piece before it; the next match in a row starts a piece.
    MergedWithPrevious,
    /// A match is the start of the piece after it.
    MergedWithNext,
    /// Matches that touch are one piece.
    Contiguous,
}

/// When `Metaspace` adds its mark before a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrependScheme {
    /// Before every piece that does not start with it.
    Always,
    /// Only before a piece that starts where the text as given starts.
    First,
    /// Never.
    Never,
}

/// One pre-tokenizer as data; each is described in `subword.pretokens`.
#[derive(Debug, Clone)]
pub enum Step {
    /// Cut at the matches of a pattern.
    Split {
        /// A string, or a regular expression.
        pattern: String,
        /// Whether it is one.
        regex: bool,
        /// What becomes of matches.
        behavior: Behavior,
        /// Matches are what lies between, and the reverse.
        invert: bool,
    },
    /// `\w+|[^\w\s]+`; the rest goes.
    Whitespace,
    /// Whitespace goes.
    WhitespaceSplit,
    /// Whitespace goes, each punctuation character is a piece.
    Bert,
    /// Cut at punctuation.
    Punctuation(Behavior),
    /// Cut digits from the rest: each by itself, or runs.
    Digits {
        /// Each by itself.
        individual: bool,
    },
    /// Spaces become a mark, and pieces start with it.
    Metaspace {
        /// The mark.
        replacement: char,
        /// When to add one.
        prepend_scheme: PrependScheme,
        /// Whether to cut before each mark.
        split: bool,
    },
    /// Cut where the script changes.
    UnicodeScripts,
    /// Cut at a character, which goes.
    CharDelimiter(char),
    /// GPT-2's pattern, leading space and printable characters.
    ByteLevel {
        /// Add a space before each piece that has none.
        add_prefix_space: bool,
        /// Cut by GPT-2's pattern.
        use_regex: bool,
        /// Write each byte as its printable character.
        printable: bool,
    },
}

/// The pieces of a text.
#[derive(Debug, Clone, Default)]
pub struct Pieces {
    /// The text that `spans` point into, when it is not the one given: a step added to it.
    pub text: Normalized,
    /// Whether it is not.
    pub changed: bool,
    /// Start and end of each piece, in order; none is empty.
    pub spans: Vec<(usize, usize)>,
}

impl Pieces {
    /// The span, in the text given to `split`, that bytes `start..end` of the pieces came from.
    #[must_use]
    pub fn original_span(&self, start: usize, end: usize) -> (usize, usize) {
        if self.changed { self.text.original_span(start, end) } else { (start, end) }
    }
}

/// Compiled steps.
#[derive(Debug, Clone)]
pub struct Steps {
    steps: Vec<Compiled>,
    parts: Option<Parts>,
}

#[derive(Debug, Clone)]
enum Compiled {
    Cut { finder: Finder, behavior: Behavior, invert: bool },
    Scripts(Scripts),
    Metaspace { mark: String, scheme: PrependScheme },
    PrefixSpace,
    Printable,
}

/// How matches are found.
#[derive(Debug, Clone)]
enum Finder {
    Literal(Vec<u8>),
    Regex(Regex),
    /// A pattern of the caller's.
    Engine(Arc<Engine>),
    Gpt2(Regex),
    /// Every member by itself.
    Characters(CharacterSet),
}

/// GPT-2's pattern without its look-ahead, which `find` makes good. Source: openai/gpt-2,
/// src/encoder.py.
const GPT2: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+";

/// ASCII's four ranges, and every Unicode punctuation. Source: google-research/bert,
/// tokenization.py, `_is_punctuation`.
const PUNCTUATION: &str = r"[!-/:-@\[-`{-~\p{P}]";

/// Compile a regular expression for bytes that need not be UTF-8.
///
/// # Errors
///
/// `Pattern` when it does not compile.
pub fn compile_regex(pattern: &str) -> Result<Regex> {
    Regex::builder()
        .syntax(syntax::Config::new().utf8(false))
        .configure(Regex::config().utf8_empty(false))
        .build(pattern)
        .map_err(|error| {
            let detail = error.syntax_error().map_or(error.to_string(), ToString::to_string);
            Error::new(Kind::Pattern, format!("pattern {pattern:?} does not compile: {detail}"))
        })
}

impl Steps {
    /// Compile the steps, which are applied in turn.
    ///
    /// # Errors
    ///
    /// `Pattern` for a pattern that is empty or does not compile.
    pub fn compile(steps: &[Step]) -> Result<Self> {
        let mut compiled = Vec::new();
        for step in steps {
            compile_step(step, &mut compiled)?;
        }
        Ok(Self { steps: compiled, parts: Parts::of(steps) })
    }

    /// The parts of a text that become the same pieces wherever they stand, if there are any.
    #[must_use]
    pub fn parts(&self) -> Option<Parts> {
        self.parts
    }

    /// Cut `text` into pieces; without steps it is one piece, and an empty text has none.
    ///
    /// `at_start` says that `text` starts where the text as given does, for
    /// `PrependScheme::First`.
    ///
    /// # Errors
    ///
    /// `Memory`, `Interrupted`.
    pub fn split(
        &self,
        text: &[u8],
        at_start: bool,
        out: &mut Pieces,
        control: &Control,
    ) -> Result<()> {
        out.changed = false;
        out.spans.clear();
        if !text.is_empty() {
            out.spans.push((0, text.len()));
        }
        let mut scratch = Vec::new();
        for step in &self.steps {
            control.check()?;
            if let Compiled::Metaspace { .. } | Compiled::PrefixSpace | Compiled::Printable = step {
                step.rewrite(text, at_start, out, control)?;
                continue;
            }
            let current: &[u8] = if out.changed { &out.text.bytes } else { text };
            let before = std::mem::take(&mut out.spans);
            let budget = Budget::new(current.len(), 1, control);
            for &(start, end) in &before {
                step.cut(current, start..end, &budget, &mut scratch, &mut out.spans)?;
            }
        }
        Ok(())
    }
}

fn compile_step(step: &Step, out: &mut Vec<Compiled>) -> Result<()> {
    let mut characters = |expression: &str, behavior| -> Result<()> {
        let finder = Finder::Characters(CharacterSet::new(expression)?);
        out.push(Compiled::Cut { finder, behavior, invert: false });
        Ok(())
    };
    match step {
        Step::Split { pattern, regex, behavior, invert } => {
            if pattern.is_empty() {
                return Err(Error::new(
                    Kind::Pattern,
                    "a Split pre-tokenizer has an empty pattern; give it something to look for",
                ));
            }
            let finder = if *regex {
                Finder::Engine(Arc::new(Engine::compile(pattern)?))
            } else {
                Finder::Literal(pattern.clone().into_bytes())
            };
            out.push(Compiled::Cut { finder, behavior: *behavior, invert: *invert });
        }
        Step::Whitespace => {
            let finder = Finder::Regex(compile_regex(r"\w+|[^\w\s]+")?);
            out.push(Compiled::Cut { finder, behavior: Behavior::Removed, invert: true });
        }
        Step::WhitespaceSplit => characters(r"\s", Behavior::Removed)?,
        Step::Bert => {
            characters(r"\s", Behavior::Removed)?;
            characters(PUNCTUATION, Behavior::Isolated)?;
        }
        Step::Punctuation(behavior) => characters(PUNCTUATION, *behavior)?,
        Step::Digits { individual: true } => characters(r"\p{N}", Behavior::Isolated)?,
        Step::Digits { individual: false } => characters(r"\p{N}", Behavior::Contiguous)?,
        Step::Metaspace { replacement, prepend_scheme, split } => {
            let mark = replacement.to_string();
            out.push(Compiled::Metaspace { mark: mark.clone(), scheme: *prepend_scheme });
            if *split {
                let finder = Finder::Literal(mark.into_bytes());
                let behavior = Behavior::MergedWithNext;
                out.push(Compiled::Cut { finder, behavior, invert: false });
            }
        }
        Step::UnicodeScripts => out.push(Compiled::Scripts(Scripts::new()?)),
        Step::CharDelimiter(delimiter) => {
            let finder = Finder::Literal(delimiter.to_string().into_bytes());
            out.push(Compiled::Cut { finder, behavior: Behavior::Removed, invert: false });
        }
        Step::ByteLevel { add_prefix_space, use_regex, printable } => {
            if *add_prefix_space {
                out.push(Compiled::PrefixSpace);
            }
            if *use_regex {
                let finder = Finder::Gpt2(compile_regex(GPT2)?);
                let behavior = Behavior::Isolated;
                out.push(Compiled::Cut { finder, behavior, invert: false });
            }
            if *printable {
                out.push(Compiled::Printable);
            }
        }
    }
    Ok(())
}

/// Stretches, and characters, between two looks at the stop flag.
const MATCHES_A_CHECK: usize = 1 << 12;
const CHARACTERS_A_CHECK: usize = 1 << 16;

/// A stretch of a piece, and whether it is a match.
type Stretch = (Range<usize>, bool);

impl Compiled {
    /// Cut one piece.
    fn cut(
        &self,
        text: &[u8],
        piece: Range<usize>,
        budget: &Budget<'_>,
        scratch: &mut Vec<Stretch>,
        spans: &mut Vec<(usize, usize)>,
    ) -> Result<()> {
        match self {
            Self::Cut { finder, behavior, invert } => {
                scratch.clear();
                finder.stretches(text, piece, *invert, budget, scratch)?;
                apply_behavior(*behavior, scratch);
                spans.try_reserve(scratch.len())?;
                spans.extend(scratch.iter().map(|(range, _)| (range.start, range.end)));
            }
            Self::Scripts(scripts) => cut_scripts(scripts, text, piece, spans, budget.control())?,
            Self::Metaspace { .. } | Self::PrefixSpace | Self::Printable => {
                spans.push((piece.start, piece.end))
            }
        }
        Ok(())
    }

    /// Write every piece anew, with a prefix where it lacks one.
    fn rewrite(
        &self,
        text: &[u8],
        at_start: bool,
        out: &mut Pieces,
        control: &Control,
    ) -> Result<()> {
        let mut next = Normalized::default();
        let before = out.changed.then_some(&out.text);
        let source = before.map_or(text, |before| before.bytes.as_slice());
        let mut rewriter = Rewriter::new(source, before, &mut next, control)?;
        for span in &mut out.spans {
            let range = span.0..span.1;
            let first = before.map_or(span.0, |before| before.original_span(span.0, span.1).0);
            let start = rewriter.n_written();
            match self {
                Self::Metaspace { mark, scheme } => {
                    let wanted = match scheme {
                        PrependScheme::Always => true,
                        PrependScheme::First => at_start && first == 0,
                        PrependScheme::Never => false,
                    };
                    metaspace(mark, wanted, range, &mut rewriter)?;
                }
                Self::Printable => printable(range, &mut rewriter)?,
                _ => prefix_space(range, &mut rewriter)?,
            }
            *span = (start, rewriter.n_written());
        }
        out.text = next;
        out.changed = true;
        Ok(())
    }
}

fn metaspace(
    mark: &str,
    wanted: bool,
    piece: Range<usize>,
    rewriter: &mut Rewriter<'_>,
) -> Result<()> {
    let bytes = rewriter.source().get(piece.clone()).unwrap_or_default();
    if wanted && !bytes.starts_with(b" ") && !bytes.starts_with(mark.as_bytes()) {
        rewriter.write(mark.as_bytes(), piece.start..piece.start + character_length(bytes))?;
    }
    let mut done = piece.start;
    for space in memchr::memchr_iter(b' ', bytes).map(|at| piece.start + at) {
        rewriter.copy(done..space)?;
        rewriter.write(mark.as_bytes(), space..space + 1)?;
        done = space + 1;
    }
    rewriter.copy(done..piece.end)
}

fn prefix_space(piece: Range<usize>, rewriter: &mut Rewriter<'_>) -> Result<()> {
    let bytes = rewriter.source().get(piece.clone()).unwrap_or_default();
    if !bytes.starts_with(b" ") {
        rewriter.write(b" ", piece.start..piece.start + character_length(bytes))?;
    }
    rewriter.copy(piece)
}

/// Source: openai/gpt-2, src/encoder.py, `bytes_to_unicode`.
fn printable(piece: Range<usize>, rewriter: &mut Rewriter<'_>) -> Result<()> {
    let bytes = rewriter.source().get(piece.clone()).unwrap_or_default();
    let mut done = piece.start;
    for (at, &byte) in bytes.iter().enumerate().filter(|(_, byte)| !byte.is_ascii_graphic()) {
        let at = piece.start + at;
        rewriter.copy(done..at)?;
        let mut utf8 = [0; 4];
        let written = printable_character(byte).encode_utf8(&mut utf8);
        rewriter.write(written.as_bytes(), at..at + 1)?;
        done = at + 1;
    }
    rewriter.copy(done..piece.end)
}

/// Printable Latin-1 stands for itself; the 68 other bytes take the characters from U+0100 on.
fn printable_character(byte: u8) -> char {
    let code = u32::from(byte);
    let code = match byte {
        0..=0x20 => 0x100 + code,
        0x7F..=0xA0 => 0x121 + code - 0x7F,
        0xAD => 0x143,
        _ => code,
    };
    char::from_u32(code).unwrap_or('\u{FFFD}')
}

impl Finder {
    /// Matches and what lies between them, in order, covering the piece.
    fn stretches(
        &self,
        text: &[u8],
        piece: Range<usize>,
        invert: bool,
        budget: &Budget<'_>,
        out: &mut Vec<Stretch>,
    ) -> Result<()> {
        let control = budget.control();
        let bytes = text.get(piece.clone()).unwrap_or_default();
        let mut done = 0;
        let mut push = |found: Range<usize>| -> Result<()> {
            if found.is_empty() {
                return Ok(());
            }
            if out.len() % MATCHES_A_CHECK < 2 {
                control.check()?;
            }
            out.try_reserve(3)?;
            if done < found.start {
                out.push((piece.start + done..piece.start + found.start, invert));
            }
            done = found.end;
            out.push((piece.start + found.start..piece.start + found.end, !invert));
            Ok(())
        };
        match self {
            Self::Literal(literal) => {
                for start in memmem::find_iter(bytes, literal) {
                    push(start..start + literal.len())?;
                }
            }
            Self::Regex(regex) => {
                for found in regex.find_iter(bytes) {
                    push(found.range())?;
                }
            }
            Self::Engine(engine) => {
                let stand_in;
                let (text, mut origins) = match std::str::from_utf8(bytes) {
                    Ok(text) => (text, None),
                    Err(_) => {
                        stand_in = StandIn::new(bytes)?;
                        (stand_in.text.as_str(), Some(stand_in.origins()))
                    }
                };
                let mut of = |at| origins.as_mut().map_or(at, |origins| origins.of(at));
                let mut at = 0;
                while let Some((start, end)) = engine.find(text, at, budget)? {
                    let start = of(start);
                    push(start..of(end))?;
                    at = end;
                }
            }
            Self::Gpt2(regex) => find_gpt2(regex, bytes, push)?,
            Self::Characters(set) => {
                let mut base = 0;
                for chunk in bytes.utf8_chunks() {
                    for (nth, (at, character)) in chunk.valid().char_indices().enumerate() {
                        if nth.is_multiple_of(CHARACTERS_A_CHECK) {
                            control.check()?;
                        }
                        if set.contains(character) {
                            push(base + at..base + at + character.len_utf8())?;
                        }
                    }
                    base += chunk.valid().len() + chunk.invalid().len();
                }
            }
        }
        if done < bytes.len() {
            out.push((piece.start + done..piece.end, invert));
        }
        Ok(())
    }
}

/// `\s+(?!\S)|\s+`: a run of whitespace that text follows gives its last character to the text.
fn find_gpt2(
    regex: &Regex,
    bytes: &[u8],
    mut push: impl FnMut(Range<usize>) -> Result<()>,
) -> Result<()> {
    let mut position = 0;
    while let Some(found) =
        regex.find(regex_automata::Input::new(bytes).range(position..bytes.len()))
    {
        let mut end = found.end();
        let run = bytes.get(found.range()).and_then(|run| std::str::from_utf8(run).ok());
        if let Some(run) =
            run.filter(|run| end < bytes.len() && run.chars().all(char::is_whitespace))
            && let Some((last, _)) = run.char_indices().next_back()
            && last > 0
        {
            end = found.start() + last;
        }
        push(found.start()..end)?;
        position = end;
    }
    Ok(())
}

/// Turn stretches into pieces, in place.
fn apply_behavior(behavior: Behavior, stretches: &mut Vec<Stretch>) {
    match behavior {
        Behavior::Isolated => {}
        Behavior::Removed => stretches.retain(|(_, is_match)| !is_match),
        Behavior::Contiguous => stretches.dedup_by(|next, last| {
            let same = next.1 == last.1;
            if same {
                last.0.end = next.0.end;
            }
            same
        }),
        Behavior::MergedWithPrevious => merge(stretches, |last, next| last.end = next.end),
        Behavior::MergedWithNext => {
            stretches.reverse();
            merge(stretches, |last, next| last.start = next.start);
            stretches.reverse();
        }
    }
}

/// Join each match to the stretch before it, unless that is a match too.
fn merge(stretches: &mut Vec<Stretch>, join: impl Fn(&mut Range<usize>, &Range<usize>)) {
    let mut after_match = stretches.first().is_some_and(|(_, is_match)| *is_match);
    stretches.dedup_by(|next, last| {
        let joins = next.1 && !after_match;
        if joins {
            join(&mut last.0, &next.0);
        }
        after_match = next.1;
        joins
    });
}

/// Cut where the script changes. A character of no script goes with what it stands in; before
/// the first that has one it goes, as it does there.
fn cut_scripts(
    scripts: &Scripts,
    text: &[u8],
    piece: Range<usize>,
    spans: &mut Vec<(usize, usize)>,
    control: &Control,
) -> Result<()> {
    let mut last = None;
    let mut start = None;
    let mut base = piece.start;
    for chunk in text.get(piece.clone()).unwrap_or_default().utf8_chunks() {
        for (nth, (at, character)) in chunk.valid().char_indices().enumerate() {
            if nth.is_multiple_of(CHARACTERS_A_CHECK) {
                control.check()?;
            }
            let script = scripts.of(character);
            if script.is_none() || script == last {
                continue;
            }
            if let Some(start) = start.replace(base + at) {
                spans.try_reserve(1)?;
                spans.push((start, base + at));
            }
            last = script;
        }
        base += chunk.valid().len() + chunk.invalid().len();
    }
    spans.extend(start.map(|start| (start, piece.end)));
    Ok(())
}
