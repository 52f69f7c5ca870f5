//! Learn a WordPiece vocabulary, or the merges of character-level BPE, from pre-token counts.
//!
//! Words are sequences of characters (code points). Each step merges the best pair of adjacent
//! symbols everywhere, left to right and not overlapping, until the vocabulary is full, the
//! merges asked for are made, or no pair is frequent enough. Work is done per occurrence of the
//! pair merged and per changed score, never for all pairs (`words`, `ranking`).
//!
//! Source: Schuster and Nakajima 2012, "Japanese and Korean Voice Search", section 3, with the
//! likelihood gain written as in the Hugging Face course, chapter 6.6; Sennrich, Haddow and Birch
//! 2016, "Neural Machine Translation of Rare Words with Subword Units", algorithm 1, for
//! frequency and for the end-of-word suffix (subword-nmt 0.2 format: on the last character).

use crate::error::{Error, Kind, Result};
use crate::parallel::Control;

use super::alphabet::{self, Limits};
use super::pairs::Pairs;
use super::ranking::{Best, Context, Ranking, Tuning};
use super::spelling::{order_of, spell, start_vocabulary};
use super::symbols::Symbols;
use super::words::{Changes, Words};

/// What makes a pair good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// `n(ab) / (n(a) n(b))`: how much likelier the pair is than its parts side by side.
    Likelihood,
    /// `n(ab)`: BPE, and what Hugging Face's `WordPieceTrainer` does.
    Frequency,
}

/// Which of the pairs with the same score is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// The greatest `(left, right)`, compared as the bytes of the tokens, prefix and suffix
    /// included (subword-nmt compares its strings so).
    Greatest,
    /// The pair that stands first as the words are now: in the word seen first, then leftmost.
    First,
    /// The smallest `(left id, right id)`. Hugging Face's trainer does this too, but numbers
    /// "##x" characters in hash order; here ids follow code points, so the result is one.
    SmallestId,
}

impl Score {
    /// A score by its public name.
    ///
    /// # Errors
    ///
    /// `Argument` for another name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "likelihood" => Ok(Self::Likelihood),
            "frequency" => Ok(Self::Frequency),
            _ => Err(unknown_name("score", name, "\"likelihood\" or \"frequency\"")),
        }
    }
}

impl Ties {
    /// A rule by its public name; `hf` and `smallest_id` are the same over these ids.
    ///
    /// # Errors
    ///
    /// `Argument` for another name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "greatest" => Ok(Self::Greatest),
            "first" => Ok(Self::First),
            "hf" | "smallest_id" => Ok(Self::SmallestId),
            _ => {
                let expected = "\"greatest\", \"first\", \"hf\" or \"smallest_id\"";
                Err(unknown_name("ties", name, expected))
            }
        }
    }
}

fn unknown_name(argument: &str, name: &str, expected: &str) -> Error {
    let name: String = name.chars().take(40).collect();
    Error::new(Kind::Argument, format!("{argument} is {name:?}; give {expected}"))
}

/// What to learn.
#[derive(Debug, Clone)]
pub struct Options {
    /// Tokens wanted, special tokens and alphabet included.
    pub vocab_size: usize,
    /// Merges wanted at most; those that make a token which exists already count here alone.
    pub max_merges: Option<usize>,
    /// What makes a pair good.
    pub score: Score,
    /// Which of equal pairs.
    pub ties: Ties,
    /// Pairs with fewer occurrences are never merged; 0 means 1.
    pub min_frequency: u64,
    /// Put before every character that does not begin a word; "##" as in BERT, or empty.
    pub continuing_prefix: String,
    /// Put after every character that ends a word; "</w>" as in subword-nmt, or empty.
    pub end_of_word_suffix: String,
    /// Tokens with the first ids, in this order; no merge makes one.
    pub special_tokens: Vec<String>,
    /// Which characters there are.
    pub alphabet: Limits,
    /// Give every character of the alphabet every form it can have, seen or not (as BERT's own
    /// vocabularies do); otherwise only extra characters get those.
    pub all_forms: bool,
}

/// A merge as it was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// Id of the left token.
    pub left: u32,
    /// Id of the right token.
    pub right: u32,
    /// Id of the token that it makes, which may be an older one with the same spelling.
    pub merged: u32,
    /// Occurrences of the pair: the numerator of its score.
    pub pair_count: u64,
    /// Occurrences of the left token; 1 by frequency.
    pub left_count: u64,
    /// Occurrences of the right token; 1 by frequency.
    pub right_count: u64,
}

/// A vocabulary, and how it came about.
#[derive(Debug)]
pub struct Learned {
    /// Tokens in the order of their ids: special tokens; the alphabet (characters that begin a
    /// word, then those with the suffix, then those with the prefix, then those with both, each
    /// by code point); merges as made.
    pub tokens: Vec<Vec<u8>>,
    /// Tokens before the first merge.
    pub n_initial: usize,
    /// Merges as made.
    pub merges: Vec<Merge>,
    /// Characters kept, by code point.
    pub alphabet: Vec<char>,
    /// Characters left out with their occurrences, by code point. A word breaks at such a
    /// character: its neighbours do not meet.
    pub dropped: Vec<(char, u64)>,
    /// Occurrences of bytes that are no part of UTF-8; each was read as U+FFFD.
    pub n_invalid_bytes: u64,
}

/// Learn from counted pre-tokens.
///
/// Pre-tokens that count zero are ignored; one that is listed twice counts twice.
///
/// `first_seen` gives the place of each pre-token in the corpus for `Ties::First`; without it the
/// order of the list is that in which they were seen.
///
/// # Errors
///
/// `CountOverflow` when the occurrences of a pair (by likelihood also: of a character) pass 64
/// bits; `VocabSize` when special tokens and alphabet exceed `vocab_size`; `SpecialToken` for an
/// empty or repeated special token or one that is a character; `Argument`; `Memory`;
/// `Interrupted`.
pub fn learn_vocabulary(
    pretoken_counts: &[(&[u8], u64)],
    first_seen: Option<&[u64]>,
    options: &Options,
    control: &Control,
) -> Result<Learned> {
    learn(pretoken_counts, first_seen, options, Tuning::default(), control)
}

pub(super) fn learn(
    pretoken_counts: &[(&[u8], u64)],
    first_seen: Option<&[u64]>,
    options: &Options,
    tuning: Tuning,
    control: &Control,
) -> Result<Learned> {
    let alphabet = alphabet::choose(pretoken_counts, &options.alphabet, control)?;
    control.check()?;
    let order = order_of(pretoken_counts, first_seen)?;
    let mut symbols = start_vocabulary(pretoken_counts, &alphabet, options, control)?;
    let n_initial = symbols.len();
    let (mut words, symbol_counts) = spell(
        order.iter().map(|&(_, pretoken, count)| (pretoken, count)),
        &symbols,
        &alphabet,
        options,
        control,
    )?;
    control.check()?;
    let mut pairs = Pairs::count(&words, control)?;
    let merges =
        merge(&mut symbols, &mut words, &mut pairs, symbol_counts, options, tuning, control)?;
    Ok(Learned {
        tokens: symbols.into_tokens(),
        n_initial,
        merges,
        alphabet: alphabet.kept,
        dropped: alphabet.dropped,
        n_invalid_bytes: alphabet.n_invalid_bytes,
    })
}

/// Merge the best pair until there is enough.
fn merge(
    symbols: &mut Symbols,
    words: &mut Words,
    pairs: &mut Pairs,
    symbol_counts: Option<Vec<u64>>,
    options: &Options,
    tuning: Tuning,
    control: &Control,
) -> Result<Vec<Merge>> {
    let n_special = options.special_tokens.len();
    let max_merges = options.max_merges.unwrap_or(usize::MAX);
    let mut merges: Vec<Merge> = Vec::new();
    let (mut before, mut after) = (Changes::default(), Changes::default());
    let mut token = Vec::new();
    let mut context = Context { pairs, symbols, words };
    let mut ranking =
        Ranking::new(symbol_counts, options.min_frequency, options.ties, tuning, &mut context);
    while symbols.len() < options.vocab_size && merges.len() < max_merges {
        control.check()?;
        let Some(best) = ranking.take_best(&mut Context { pairs, symbols, words }) else { break };
        let Some(&pair) = pairs.get(best.pair) else { break };
        let right = symbols.token(pair.right);
        token.clear();
        token.extend_from_slice(symbols.token(pair.left));
        token.extend_from_slice(
            right.strip_prefix(options.continuing_prefix.as_bytes()).unwrap_or(right),
        );
        if symbols.id(&token).is_some_and(|id| (id as usize) < n_special) {
            if let Some(pair) = pairs.get_mut(best.pair) {
                pair.is_refused = true;
            }
            continue;
        }
        let merged = symbols.intern(&token)?;
        merges.push(record(&best, pair.left, pair.right, merged));
        let ids = (pair.left, pair.right, merged);
        let positions = pairs.positions(best.pair);
        let n_merged = words.merge(ids, &positions, &mut before, &mut after, control)?;
        let changed = update_pairs(pairs, ids, n_merged, &before, &after)?;
        let context = &mut Context { pairs, symbols, words };
        update_symbol_counts(&mut ranking, ids, n_merged, context);
        for number in changed {
            ranking.push(number, context);
        }
        control.advance(1);
    }
    Ok(merges)
}

fn record(best: &Best, left: u32, right: u32, merged: u32) -> Merge {
    Merge {
        left,
        right,
        merged,
        pair_count: best.count,
        left_count: best.left_count,
        right_count: best.right_count,
    }
}

/// Bring the counts of pairs up to date; gives those that are new or more frequent.
fn update_pairs(
    pairs: &mut Pairs,
    (left, right, merged): (u32, u32, u32),
    n_merged: u64,
    before: &Changes,
    after: &Changes,
) -> Result<Vec<u32>> {
    let mut changed = Vec::with_capacity(before.changes.len() + after.changes.len());
    // Gains first: a pair that loses and gains must not vanish in between.
    for change in before.changes.iter().filter(|change| change.gained > 0) {
        let at = before.positions_of(change);
        changed.push(pairs.gain((change.symbol, merged), change.gained, at)?);
    }
    for change in after.changes.iter().filter(|change| change.gained > 0) {
        let at = after.positions_of(change);
        changed.push(pairs.gain((merged, change.symbol), change.gained, at)?);
    }
    for change in before.changes.iter().filter(|change| change.lost > 0) {
        pairs.lose((change.symbol, left), change.lost);
    }
    for change in after.changes.iter().filter(|change| change.lost > 0) {
        pairs.lose((right, change.symbol), change.lost);
    }
    pairs.lose((left, right), n_merged);
    Ok(changed)
}

fn update_symbol_counts(
    ranking: &mut Ranking,
    (left, right, merged): (u32, u32, u32),
    n_merged: u64,
    context: &mut Context<'_>,
) {
    for (symbol, is_gain) in [(merged, true), (left, false), (right, false)] {
        let count = ranking.symbol_count(symbol);
        let count =
            if is_gain { count.wrapping_add(n_merged) } else { count.wrapping_sub(n_merged) };
        ranking.set_symbol_count(symbol, count, context);
    }
}
