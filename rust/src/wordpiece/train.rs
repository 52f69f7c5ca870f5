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

use hashbrown::HashSet;

use crate::error::{Error, Kind, Result};
use crate::parallel::Control;

use super::alphabet::{self, Alphabet, CHECK_EVERY, Limits};
use super::pairs::Pairs;
use super::ranking::{Best, Context, Ranking, Tuning};
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

fn learn(
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

/// Pre-tokens in the order in which they were seen; equal places by bytes.
fn order_of<'a>(
    pretoken_counts: &[(&'a [u8], u64)],
    first_seen: Option<&[u64]>,
) -> Result<Vec<(u64, &'a [u8], u64)>> {
    let listed = pretoken_counts.iter().zip(0..);
    let mut order: Vec<(u64, &[u8], u64)> = match first_seen {
        None => listed.map(|(&(pretoken, count), place)| (place, pretoken, count)).collect(),
        Some(places) if places.len() != pretoken_counts.len() => {
            return Err(Error::new(
                Kind::Counts,
                format!(
                    "first_seen has {} places for {} pre-tokens; give one for each",
                    places.len(),
                    pretoken_counts.len()
                ),
            ));
        }
        Some(places) => pretoken_counts
            .iter()
            .zip(places)
            .map(|(&(pretoken, count), &place)| (place, pretoken, count))
            .collect(),
    };
    order.retain(|&(_, _, count)| count > 0);
    order.sort_unstable();
    Ok(order)
}

/// A character with what marks its place in a word.
fn form(character: char, begins: bool, ends: bool, options: &Options, out: &mut Vec<u8>) {
    out.clear();
    if !begins {
        out.extend_from_slice(options.continuing_prefix.as_bytes());
    }
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    if ends {
        out.extend_from_slice(options.end_of_word_suffix.as_bytes());
    }
}

/// Special tokens and alphabet.
fn start_vocabulary(
    pretoken_counts: &[(&[u8], u64)],
    alphabet: &Alphabet,
    options: &Options,
    control: &Control,
) -> Result<Symbols> {
    let mut symbols = Symbols::default();
    for token in &options.special_tokens {
        if token.is_empty() || symbols.id(token.as_bytes()).is_some() {
            let what = if token.is_empty() { "is empty" } else { "stands twice" };
            return Err(Error::new(
                Kind::SpecialToken,
                format!("the special token {token:?} {what}; give each once"),
            ));
        }
        symbols.intern(token.as_bytes())?;
    }
    let mut seen: Vec<(bool, bool, char)> = Vec::new();
    {
        let mut forms: HashSet<(bool, bool, char)> = HashSet::new();
        let counted = pretoken_counts.iter().filter(|&&(_, count)| count > 0);
        for (&(pretoken, _), visit) in counted.zip(0_usize..) {
            if visit.is_multiple_of(CHECK_EVERY) {
                control.check()?;
            }
            for_each_form(pretoken, |continues, ends, character| {
                if alphabet.kept.binary_search(&character).is_ok() {
                    forms.insert((continues, ends, character));
                }
            });
        }
        seen.extend(forms);
    }
    let always = if options.all_forms { &alphabet.kept } else { &options.alphabet.extra_alphabet };
    for &character in always {
        seen.extend(
            [(false, false), (false, true), (true, false), (true, true)]
                .map(|(continues, ends)| (continues, ends, character)),
        );
    }
    seen.sort_unstable();
    let n_special = symbols.len();
    let mut token = Vec::new();
    for (continues, ends, character) in seen {
        form(character, !continues, ends, options, &mut token);
        if symbols.id(&token).is_some_and(|id| (id as usize) < n_special) {
            return Err(Error::new(
                Kind::SpecialToken,
                format!(
                    "the special token {:?} is also a character of the alphabet; give it another \
                     spelling, or leave the character out",
                    String::from_utf8_lossy(&token)
                ),
            ));
        }
        symbols.intern(&token)?;
    }
    if symbols.len() > options.vocab_size {
        return Err(Error::new(
            Kind::VocabSize,
            format!(
                "vocab_size is {}, but {n_special} special tokens and {} characters need {}; \
                 raise it, or lower limit_alphabet or character_coverage",
                options.vocab_size,
                symbols.len() - n_special,
                symbols.len()
            ),
        ));
    }
    Ok(symbols)
}

/// Call `visit` with (is inside the word, is its last, character) for each character.
fn for_each_form(pretoken: &[u8], mut visit: impl FnMut(bool, bool, char)) {
    let mut characters = alphabet::characters(pretoken).peekable();
    let mut continues = false;
    while let Some(character) = characters.next() {
        visit(continues, characters.peek().is_none(), character);
        continues = true;
    }
}

/// Pre-tokens as symbols; by likelihood also the occurrences of each symbol.
fn spell<'a>(
    pretoken_counts: impl Iterator<Item = (&'a [u8], u64)>,
    symbols: &Symbols,
    options: &Options,
    control: &Control,
) -> Result<(Words, Option<Vec<u64>>)> {
    let mut words = Words::default();
    let mut counts = (options.score == Score::Likelihood).then(|| vec![0_u64; symbols.len()]);
    let (mut run, mut token): (Vec<u32>, Vec<u8>) = (Vec::new(), Vec::new());
    let mut spelled: Vec<Option<u32>> = Vec::new();
    for ((pretoken, count), visit) in pretoken_counts.zip(0_usize..) {
        if visit.is_multiple_of(CHECK_EVERY) {
            control.check()?;
        }
        spelled.clear();
        for_each_form(pretoken, |continues, ends, character| {
            form(character, !continues, ends, options, &mut token);
            spelled.push(symbols.id(&token));
        });
        spelled.push(None);
        for &symbol in &spelled {
            if let Some(symbol) = symbol {
                run.push(symbol);
                if let Some(total) =
                    counts.as_mut().and_then(|counts| counts.get_mut(symbol as usize))
                {
                    *total = total.checked_add(count).ok_or_else(|| {
                        Error::new(
                            Kind::CountOverflow,
                            format!(
                                "the occurrences of {:?} pass 64 bits; scale the counts down",
                                String::from_utf8_lossy(symbols.token(symbol))
                            ),
                        )
                    })?;
                }
            } else {
                if run.len() > 1 {
                    words.push(&run, count)?;
                }
                run.clear();
            }
        }
    }
    Ok((words, counts))
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn options(score: Score, ties: Ties) -> Options {
        Options {
            vocab_size: usize::MAX,
            max_merges: None,
            score,
            ties,
            min_frequency: 1,
            continuing_prefix: "##".into(),
            end_of_word_suffix: String::new(),
            special_tokens: vec!["[UNK]".into()],
            alphabet: Limits {
                limit_alphabet: None,
                character_coverage: 1.0,
                extra_alphabet: Vec::new(),
            },
            all_forms: false,
        }
    }

    /// A few words over a small alphabet, so that scores are often equal and pairs come back.
    fn random_words(seed: u64, n_words: usize, n_letters: u64) -> Vec<(Vec<u8>, u64)> {
        let mut state = seed;
        let mut next = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        (0..n_words)
            .map(|_| {
                let length = 1 + next(12);
                let word = (0..length).map(|_| b'a' + next(n_letters).min(next(n_letters)) as u8);
                let word = word.collect();
                (word, 1 + next(5) * next(5) * next(40))
            })
            .collect()
    }

    /// Every pair counted and scored again for every merge; spellings are the symbols.
    fn scan(
        words: &[(Vec<u8>, u64)],
        score: Score,
        ties: Ties,
        n_merges: usize,
    ) -> Vec<(String, String)> {
        let mut spelled: Vec<(Vec<String>, u64)> = words
            .iter()
            .map(|(word, count)| {
                let characters = word.iter().enumerate().map(|(at, &byte)| {
                    format!("{}{}", if at > 0 { "##" } else { "" }, char::from(byte))
                });
                (characters.collect(), *count)
            })
            .collect();
        let mut merges = Vec::new();
        while merges.len() < n_merges {
            let mut singles: BTreeMap<&str, u128> = BTreeMap::new();
            let mut pairs: BTreeMap<(&str, &str), (u128, usize)> = BTreeMap::new();
            for (symbols, count) in &spelled {
                for symbol in symbols {
                    *singles.entry(symbol).or_default() += u128::from(*count);
                }
                for pair in symbols.windows(2) {
                    let place = pairs.len();
                    let entry = pairs.entry((&pair[0], &pair[1])).or_insert((0, place));
                    entry.0 += u128::from(*count);
                }
            }
            let denominator = |pair: (&str, &str)| match score {
                Score::Likelihood => singles[pair.0] * singles[pair.1],
                Score::Frequency => 1,
            };
            let best = pairs.iter().max_by(|(one, of_one), (two, of_two)| {
                (of_one.0 * denominator(**two)).cmp(&(of_two.0 * denominator(**one))).then_with(
                    || {
                        if ties == Ties::First { of_two.1.cmp(&of_one.1) } else { one.cmp(two) }
                    },
                )
            });
            let Some((&(left, right), _)) = best else { break };
            let (left, right) = (left.to_owned(), right.to_owned());
            let merged = format!("{left}{}", &right[2..]);
            for (symbols, _) in &mut spelled {
                let mut at = 0;
                while at + 1 < symbols.len() {
                    if symbols[at] == left && symbols[at + 1] == right {
                        symbols[at].clone_from(&merged);
                        symbols.remove(at + 1);
                    }
                    at += 1;
                }
            }
            merges.push((left, right));
        }
        merges
    }

    fn learned(
        words: &[(Vec<u8>, u64)],
        score: Score,
        ties: Ties,
        tuning: Tuning,
        n_merges: usize,
    ) -> Vec<(String, String)> {
        let counts: Vec<(&[u8], u64)> =
            words.iter().map(|(word, n)| (word.as_slice(), *n)).collect();
        let options = Options { max_merges: Some(n_merges), ..options(score, ties) };
        let learned = learn(&counts, None, &options, tuning, &Control::default()).expect("learns");
        let text = |id: u32| String::from_utf8_lossy(&learned.tokens[id as usize]).into_owned();
        learned.merges.iter().map(|merge| (text(merge.left), text(merge.right))).collect()
    }

    #[test]
    fn every_rounding_gives_the_merges_of_a_full_scan() {
        let tunings = [(64, 8), (0, 1), (0, 2), (1, 3), (4, 1)];
        for seed in 0..40 {
            let words = random_words(seed, 60, 2 + seed % 9);
            for (score, ties) in [
                (Score::Likelihood, Ties::Greatest),
                (Score::Likelihood, Ties::First),
                (Score::Frequency, Ties::Greatest),
                (Score::Frequency, Ties::First),
            ] {
                let expected = scan(&words, score, ties, 90);
                for (exact_degree, level_bits) in tunings {
                    let tuning = Tuning { exact_degree, level_bits };
                    assert_eq!(
                        learned(&words, score, ties, tuning, 90),
                        expected,
                        "seed {seed}, {score:?}, {ties:?}, {tuning:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn many_symbols_with_many_pairs_are_ranked_exactly() {
        let words = random_words(7, 1200, 26);
        let expected = scan(&words, Score::Likelihood, Ties::Greatest, 250);
        for (exact_degree, level_bits) in [(64, 8), (8, 2), (0, 1)] {
            let tuning = Tuning { exact_degree, level_bits };
            let merges = learned(&words, Score::Likelihood, Ties::Greatest, tuning, 250);
            assert_eq!(merges, expected, "{tuning:?}");
        }
    }

    #[test]
    fn a_stop_is_heeded() {
        let control = Control::default();
        control.stop();
        let options = options(Score::Likelihood, Ties::Greatest);
        let error = learn_vocabulary(&[(b"ab", 1)], None, &options, &control).expect_err("stopped");
        assert_eq!(error.kind, Kind::Interrupted);
    }
}
