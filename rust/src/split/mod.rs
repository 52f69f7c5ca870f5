//! Text to pre-tokens: pieces that join to the text, cut where a pattern's matches start or end.

mod algebra;
mod budget;
mod cl100k;
pub mod classes;
mod deepseek;
mod engine;
mod gpt2;
mod independent;
mod linear;
mod look;
mod masks;
mod o200k;
mod runs;
mod scan;
pub mod scripts;
mod stand_in;
pub mod steps;

use budget::Budget;
pub use budget::STEPS_PER_BYTE;
use classes::{ClassTable, bit};
pub use engine::{Engine, STEP_LIMIT};
pub use independent::Parts;
use independent::{Bert, Marked, Spaced};
use stand_in::StandIn;

use crate::error::Result;
use crate::parallel::Control;

/// Receives the ends of consecutive pre-tokens, in order, some at a time.
pub type Sink<'a> = &'a mut dyn FnMut(&[usize]) -> Result<()>;

/// A compiled split: patterns applied in turn, each to the pieces of the one before.
#[derive(Debug)]
pub struct Splitter {
    plan: Plan,
    is_local: bool,
    /// Whether whitespace alone ends pre-tokens.
    is_spaced: bool,
}

#[derive(Debug)]
enum Plan {
    /// One pre-token a text.
    Whole,
    /// A named pattern, by class masks.
    Masks(Named),
    /// Any patterns, by the engine.
    Engines(Vec<Engine>),
}

/// The patterns that have masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Gpt2,
    Gpt2Marks,
    Cl100k,
    Llama3,
    Qwen2,
    O200k,
    DeepSeek,
    Parts(Parts),
}

impl Named {
    fn of(patterns: &[String]) -> Option<Self> {
        let [pattern] = patterns else {
            return is_deepseek(patterns).then_some(Self::DeepSeek);
        };
        let pattern = pattern.as_str();
        match LOCAL.iter().position(|local| *local == pattern) {
            Some(0 | 1) => Some(Self::Cl100k),
            Some(2) => Some(Self::O200k),
            Some(3) => Some(Self::Llama3),
            Some(4) => Some(Self::Qwen2),
            Some(7) => Some(Self::Gpt2Marks),
            _ => GPT2.contains(&pattern).then_some(Self::Gpt2),
        }
    }
}

/// Spellings of the gpt2 pattern: openai/gpt-2, tiktoken 0.14.0, openai/whisper.
const GPT2: [&str; 3] = [
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
];

/// Patterns whose pre-tokens depend, past their end, on a few bytes or a run of whitespace only:
/// those of `subword.patterns`, and tiktoken's spelling of cl100k.
const LOCAL: [&str; 8] = [
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"\S+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"'(?:[sdmt]|ll|ve|re)| ?[\p{L}\p{M}]+| ?\p{N}+| ?[^\s\p{L}\p{M}\p{N}]+|\s+(?!\S)|\s+",
];

/// DeepSeek-V3's tokenizer.json: three splits in turn.
const DEEPSEEK: [&str; 3] = [
    r"\p{N}{1,3}",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##,
];

/// Whether the patterns are DeepSeek's; its file has the newlines themselves in the classes.
fn is_deepseek(patterns: &[String]) -> bool {
    let spelled = |pattern: &String| pattern.replace('\r', r"\r").replace('\n', r"\n");
    patterns.iter().map(spelled).eq(DEEPSEEK)
}

impl Splitter {
    /// Compile patterns; those that have masks are recognized by their spelling.
    ///
    /// # Errors
    ///
    /// `Pattern` for one that does not compile.
    pub fn compile(patterns: &[String]) -> Result<Self> {
        if patterns.is_empty() {
            return Ok(Self { plan: Plan::Whole, is_local: false, is_spaced: false });
        }
        match Named::of(patterns) {
            Some(named) => Ok(Self { plan: Plan::Masks(named), is_local: true, is_spaced: false }),
            None => Self::by_engine(patterns),
        }
    }

    /// What cuts texts before they are normalized.
    #[must_use]
    pub fn independent(parts: Parts) -> Self {
        Self { plan: Plan::Masks(Named::Parts(parts)), is_local: true, is_spaced: false }
    }

    /// Whether a part that does not begin with whitespace is not to be remembered.
    #[must_use]
    pub fn leaves_pieces(&self) -> bool {
        matches!(self.plan, Plan::Masks(Named::Parts(parts)) if parts.leave_pieces())
    }

    /// Whether a text is one pre-token.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        matches!(self.plan, Plan::Whole)
    }

    /// Compile patterns for the regex engine, masks or not: the oracle of the masks.
    ///
    /// # Errors
    ///
    /// `Pattern` for one that does not compile.
    pub fn by_engine(patterns: &[String]) -> Result<Self> {
        let engines = patterns.iter().map(|p| Engine::compile(p)).collect::<Result<Vec<_>>>()?;
        let is_local = match patterns {
            [pattern] => GPT2.contains(&pattern.as_str()) || LOCAL.contains(&pattern.as_str()),
            _ => is_deepseek(patterns),
        };
        let is_spaced = patterns == [r"\S+"];
        Ok(Self { plan: Plan::Engines(engines), is_local, is_spaced })
    }

    /// Give the ends of the pre-tokens of `text` to `sink`; an empty text has none.
    ///
    /// # Errors
    ///
    /// `Pattern` when a match passes its step limit, or all of them theirs; `Interrupted`, which
    /// only the regex engine looks for by itself; those of `sink`.
    pub fn split(&self, text: &[u8], control: &Control, sink: Sink<'_>) -> Result<()> {
        if matches!(self.plan, Plan::Masks(_)) {
            ClassTable::ready_for(text)?;
        }
        match &self.plan {
            _ if text.is_empty() => Ok(()),
            Plan::Whole => sink(&[text.len()]),
            Plan::Masks(Named::Gpt2) => algebra::split_by::<gpt2::Gpt2<false>>(text, sink),
            Plan::Masks(Named::Gpt2Marks) => algebra::split_by::<gpt2::Gpt2<true>>(text, sink),
            Plan::Masks(Named::Cl100k) => algebra::split_by::<cl100k::Cl100k>(text, sink),
            Plan::Masks(Named::Llama3) => algebra::split_by::<cl100k::Llama3>(text, sink),
            Plan::Masks(Named::Qwen2) => algebra::split_by::<cl100k::Qwen2>(text, sink),
            Plan::Masks(Named::O200k) => algebra::split_by::<o200k::O200k>(text, sink),
            Plan::Masks(Named::DeepSeek) => algebra::split_by::<deepseek::DeepSeek>(text, sink),
            Plan::Masks(Named::Parts(Parts::Bert { ideographs: false })) => {
                algebra::split_by::<Bert<false>>(text, sink)
            }
            Plan::Masks(Named::Parts(Parts::Bert { ideographs: true })) => {
                algebra::split_by::<Bert<true>>(text, sink)
            }
            Plan::Masks(Named::Parts(Parts::Spaced)) => algebra::split_by::<Spaced>(text, sink),
            Plan::Masks(Named::Parts(Parts::Marked)) => algebra::split_by::<Marked>(text, sink),
            Plan::Engines(engines) => split_by_engines(engines, text, control, sink),
        }
    }

    /// The end of the pre-tokens at the front of `text` that no text behind it can change.
    ///
    /// For patterns not known to look only a few bytes ahead that is 0: more text may change
    /// every pre-token.
    ///
    /// # Errors
    ///
    /// `Pattern`, `Interrupted`.
    pub fn settled(&self, text: &[u8], control: &Control) -> Result<usize> {
        let settled_before = if self.is_local { open_run(text) } else { 0 };
        let Some(horizon) = settled_before.checked_sub(LOOK_AHEAD) else { return Ok(0) };
        let mut settled = 0;
        self.split(text, control, &mut |ends| {
            control.check()?;
            settled =
                ends.iter().copied().take_while(|&end| end <= horizon).last().unwrap_or(settled);
            Ok(())
        })?;
        Ok(settled)
    }

    /// A place at or before `near` where `text` may be cut so that the pre-tokens of the parts
    /// are those of the whole: before whitespace that follows a letter or digit, and, where
    /// more than whitespace ends words, before a Chinese comma or full stop that follows an
    /// ideograph.
    #[must_use]
    pub fn safe_cut(&self, text: &[u8], near: usize) -> Option<usize> {
        match &self.plan {
            // What cuts texts as given leaves it open what their letters become.
            Plan::Masks(Named::Parts(_)) => self.normalized_cut(text, near),
            _ => self.cut_behind(text, near, ends_word),
        }
    }

    /// As `safe_cut`, of a text that is yet to be normalized: the letter or digit is an ASCII one,
    /// since of others a mark may be left before the whitespace.
    #[must_use]
    pub fn normalized_cut(&self, text: &[u8], near: usize) -> Option<usize> {
        self.cut_behind(text, near, |front| front.last().is_some_and(u8::is_ascii_alphanumeric))
    }

    fn cut_behind(&self, text: &[u8], near: usize, ends: fn(&[u8]) -> bool) -> Option<usize> {
        if !self.is_local {
            return None;
        }
        let before = text.get(..near.saturating_add(1).min(text.len()))?;
        let cuts: &[u8] = match &self.plan {
            Plan::Masks(Named::Parts(Parts::Marked)) => b" ",
            _ => b" \n\t",
        };
        let at_stops = !matches!(&self.plan, Plan::Masks(Named::Parts(_))) && !self.is_spaced;
        let may_cut = |at: usize, byte: u8| match byte {
            0xE3 | 0xEF => at_stops && is_stop(text, at) && follows_ideograph(text, at),
            _ => cuts.contains(&byte) && before.get(..at).is_some_and(ends),
        };
        let places = before.iter().enumerate().skip(1).rev();
        places.map(|(at, &byte)| (at, byte)).find(|&(at, byte)| may_cut(at, byte)).map(|(at, _)| at)
    }
}

/// Whether `text[at..]` begins with what texts are cut before: whitespace, or `、`, `。` or `，`.
#[must_use]
pub fn begins_cut(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(u8::is_ascii_whitespace) || is_stop(text, at)
}

fn is_stop(text: &[u8], at: usize) -> bool {
    let character = text.get(at..at + 3);
    ["、", "。", "，"].iter().any(|stop| character == Some(stop.as_bytes()))
}

/// Whether `text` ends with a letter or digit.
fn ends_word(text: &[u8]) -> bool {
    let last = |n_bytes: usize| {
        let (code_point, length) = classes::decode_utf8(text.get(text.len() - n_bytes..)?)?;
        (length == n_bytes).then_some(code_point)
    };
    match text.last() {
        Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric(),
        _ => (2..=text.len().min(4)).find_map(last).is_some_and(|code_point| {
            ClassTable::shared().of(code_point) & (bit::LETTER | bit::NUMBER) != 0
        }),
    }
}

/// Whether a character from U+4E00 to U+9FFF stands before `text[at..]`.
fn follows_ideograph(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(3).and_then(|from| classes::decode_utf8(text.get(from..at)?));
    before.is_some_and(|(code, n_bytes)| n_bytes == 3 && (0x4E00..=0x9FFF).contains(&code))
}

/// Bytes behind a pre-token that the patterns of `is_local` look at, runs of whitespace and of
/// letters apart: an apostrophe and two letters after a word.
const LOOK_AHEAD: usize = 16;

/// Where the run of whitespace, or of letters and marks, at the end of `text` begins.
///
/// More text may move the cuts inside of it, and where it begins: o200k takes capitals back from
/// a word when no small letter follows, however many they are. A character that is not complete
/// may be of either kind.
fn open_run(text: &[u8]) -> usize {
    let table = ClassTable::shared();
    let mut end = text.len();
    let is_cut = |n: &usize| {
        let tail = end.checked_sub(*n).and_then(|at| text.get(at..end)).unwrap_or_default();
        std::str::from_utf8(tail).is_err_and(|e| e.valid_up_to() == 0 && e.error_len().is_none())
    };
    end -= (1..=3).find(is_cut).unwrap_or(0);
    let mut run = None;
    loop {
        let last = (1..=4).find_map(|n| {
            let (code_point, length) = classes::decode_utf8(text.get(end.checked_sub(n)?..end)?)?;
            (length == n).then(|| (table.of(code_point), n))
        });
        let Some((class, n_bytes)) = last else { return end };
        let kind = [bit::SPACE, bit::LETTER | bit::MARK].into_iter().find(|kind| class & kind != 0);
        if kind.is_none() || run.is_some_and(|run| Some(run) != kind) {
            return end;
        }
        run = kind;
        end -= n_bytes;
    }
}

/// Bytes of the whitespace at the end of `text`.
#[must_use]
pub fn trailing_spaces(text: &[u8]) -> usize {
    let table = ClassTable::shared();
    let mut kept = text;
    loop {
        let n_bytes = (1..=3).find(|&n| {
            kept.len().checked_sub(n).and_then(|at| classes::decode_utf8(&kept[at..])).is_some_and(
                |(code_point, length)| {
                    length == n && table.of(code_point) & classes::bit::SPACE != 0
                },
            )
        });
        let Some(n_bytes) = n_bytes else { return text.len() - kept.len() };
        kept = &kept[..kept.len() - n_bytes];
    }
}

/// Refuse a long text where the engines, whose own allocations end the process, have no room for
/// the states of the automata of both directions.
fn check_room(text: &[u8]) -> Result<()> {
    const LONG: usize = 1 << 14;
    const ROOM: usize = 2 * scan::CACHE_BYTES;
    let mut room: Vec<u8> = Vec::new();
    if text.len() >= LONG {
        room.try_reserve_exact(ROOM)?;
    }
    std::hint::black_box(&mut room);
    Ok(())
}

fn split_by_engines(
    engines: &[Engine],
    text: &[u8],
    control: &Control,
    sink: Sink<'_>,
) -> Result<()> {
    check_room(text)?;
    let budget = Budget::new(text.len(), engines.len(), control);
    match std::str::from_utf8(text) {
        Ok(valid) => split_pieces(engines, valid, 0, &budget, &mut |end| sink(&[end])),
        Err(_) => {
            let stand_in = StandIn::new(text)?;
            let mut origin = stand_in.origins();
            let mut emit = |end| sink(&[origin.of(end)]);
            split_pieces(engines, &stand_in.text, 0, &budget, &mut emit)
        }
    }
}

/// Split `text`, which begins at `base`, by the first engine, its pieces by the next ones.
fn split_pieces(
    engines: &[Engine],
    text: &str,
    base: usize,
    budget: &Budget<'_>,
    emit: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<()> {
    let Some((engine, rest)) = engines.split_first() else {
        return if text.is_empty() { Ok(()) } else { emit(base + text.len()) };
    };
    let mut piece = |start: usize, end: usize| {
        let inner = text.get(start..end).unwrap_or_default();
        split_pieces(rest, inner, base + start, budget, emit)
    };
    let mut at = 0;
    while let Some((start, end)) = engine.find(text, at, budget)? {
        piece(at, start)?;
        piece(start, end)?;
        at = end;
    }
    piece(at, text.len())
}
