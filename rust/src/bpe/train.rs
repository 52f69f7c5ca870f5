//! Learn merges from counted words: work per merge, not per corpus.
//!
//! Words are the bytes of pre-tokens, or what an older tokenizer encodes these to. Distinct pre-tokens lie in one flat array of symbols. A merge (a, b) → c visits only the
//! pre-tokens that held the pair and changes only pairs (x, a), (x, c), (b, y) and (c, y): the
//! changes are collected by x and by y, so that the pair table is touched once a neighbour and
//! not once an occurrence. Source: Sennrich, Haddow and Birch 2016, algorithm 1, in the
//! incremental form of their subword-nmt; the batching by neighbour is this project's.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::queue::{Entry, Queue, Ties, Tokens};
use super::start::{Forbidden, Start};
use crate::error::{Error, Kind, Result};
use crate::key::prefetch;
use crate::parallel::{Control, sort};

/// Left and right symbol: those of the start first, bytes say, then merge `i` makes the `i`th new.
pub type Pair = (u32, u32);

/// What to learn.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Merges wanted.
    pub n_merges: usize,
    /// Rule for equal counts.
    pub ties: Ties,
    /// Stop below this count; at least 1.
    pub min_frequency: u64,
    /// Longest token, in bytes.
    pub max_token_length: Option<usize>,
}

/// A learned merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// What it joins.
    pub pair: Pair,
    /// Occurrences of the pair when it was chosen.
    pub count: u64,
}

/// How far ahead of the visit words are fetched.
const AHEAD: usize = 8;

/// Words, and symbols of one word, between two looks at the stop flag.
const WORDS_A_CHECK: usize = 1 << 12;
pub(super) const SYMBOLS_A_CHECK: usize = 1 << 18;

#[derive(Debug, Clone, Copy)]
struct Word {
    start: usize,
    n_symbols: u32,
    count: u64,
    first_seen: u64,
}

#[derive(Debug, Default)]
struct PairEntry {
    count: u64,
    /// Words that hold the pair, or held it once; in the order of the words.
    words: Vec<u32>,
}

/// What a merge changes at one neighbouring symbol.
#[derive(Debug, Default, Clone)]
struct Change {
    lost: u64,
    gained: u64,
    words: Vec<u32>,
}

/// Learn up to `options.n_merges` merges; fewer when no pair with enough count is left.
///
/// # Errors
///
/// `CountOverflow` when the occurrences of a pair pass 64 bits; `Argument` for a start whose
/// parts do not fit together; `Memory`; `Interrupted`.
pub fn learn_merges(
    start: &impl Start,
    options: &Options,
    control: &Control,
) -> Result<Vec<Merge>> {
    let mut training = Training::new(start, options, control)?;
    let mut merges = Vec::new();
    while merges.len() < options.n_merges {
        control.check()?;
        let Some(merge) = training.next_merge() else { break };
        training.apply(merge.pair, control)?;
        merges.push(merge);
        control.advance(1);
    }
    Ok(merges)
}

struct Training<'a> {
    options: &'a Options,
    tokens: Tokens,
    forbidden: Option<Forbidden>,
    symbols: Vec<u32>,
    words: Vec<Word>,
    pairs: HashMap<u64, PairEntry, FixedState>,
    queue: Queue,
    left: Changes,
    right: Changes,
}

/// Changes by neighbouring symbol, and which symbols have any.
#[derive(Default)]
struct Changes {
    of: Vec<Change>,
    touched: Vec<u32>,
}

impl Changes {
    #[inline(always)]
    fn at(&mut self, symbol: u32) -> &mut Change {
        let change = &mut self.of[symbol as usize];
        if change.lost == 0 && change.gained == 0 {
            self.touched.push(symbol);
        }
        change
    }

    #[inline(always)]
    fn lose(&mut self, symbol: u32, count: u64) {
        self.at(symbol).lost += count;
    }

    #[inline(always)]
    fn gain(&mut self, symbol: u32, count: u64, word: u32) {
        let change = self.at(symbol);
        change.gained += count;
        if change.words.last() != Some(&word) {
            change.words.push(word);
        }
    }
}

impl<'a> Training<'a> {
    fn new(start: &impl Start, options: &'a Options, control: &Control) -> Result<Self> {
        let tokens = start.tokens()?;
        let changes = || Changes { of: vec![Change::default(); tokens.len()], touched: Vec::new() };
        let mut training = Self {
            options,
            forbidden: start.forbidden()?,
            symbols: Vec::new(),
            words: Vec::new(),
            pairs: HashMap::default(),
            queue: Queue::default(),
            left: changes(),
            right: changes(),
            tokens,
        };
        training.lay_out_words(start, control)?;
        training.count_pairs(control)?;
        Ok(training)
    }

    fn lay_out_words(&mut self, start: &impl Start, control: &Control) -> Result<()> {
        // What decides the order, and the row: sorted without a look at the table.
        let mut rows: Vec<(u64, u32)> = Vec::new();
        rows.try_reserve_exact(start.n_words())?;
        for row in 0..start.n_words() {
            let number = u32::try_from(row).map_err(|_| {
                Error::new(
                    Kind::Counts,
                    "more than 2^32 distinct pre-tokens; prune the table first",
                )
            })?;
            if start.n_symbols(row) > 1 {
                // Frequent words side by side: most visits then stay in the cache.
                let place = match self.options.ties {
                    Ties::First => start.first_seen(row),
                    _ => !start.count(row),
                };
                rows.push((place, number));
            }
        }
        sort(&mut rows, control)?;
        let n_symbols = rows.iter().map(|&(_, row)| start.n_symbols(row as usize)).sum();
        self.symbols.try_reserve_exact(n_symbols)?;
        self.words.try_reserve_exact(rows.len())?;
        for (at, (_, row)) in rows.into_iter().enumerate() {
            if at.is_multiple_of(WORDS_A_CHECK) {
                control.check()?;
            }
            let row = row as usize;
            let n_symbols = u32::try_from(start.n_symbols(row)).map_err(|_| {
                Error::new(
                    Kind::Counts,
                    "a pre-token of 4 GiB or more; split the text with a pattern",
                )
            })?;
            self.words.push(Word {
                start: self.symbols.len(),
                n_symbols,
                count: start.count(row),
                first_seen: start.first_seen(row),
            });
            start.append(row, &mut self.symbols, control)?;
        }
        Ok(())
    }

    fn count_pairs(&mut self, control: &Control) -> Result<()> {
        let mut counted = PairCounts::new(self.tokens.len());
        for (index, word) in (0u32..).zip(&self.words) {
            let symbols = &self.symbols[word.start..word.start + word.n_symbols as usize];
            if (index as usize).is_multiple_of(WORDS_A_CHECK) {
                control.check()?;
            }
            for (at, pair) in symbols.windows(2).enumerate() {
                if at % SYMBOLS_A_CHECK == SYMBOLS_A_CHECK - 1 {
                    control.check()?;
                }
                let entry = counted.entry((pair[0], pair[1]));
                entry.count = entry.count.checked_add(word.count).ok_or_else(|| {
                    Error::new(
                        Kind::CountOverflow,
                        format!("the pair {:?} occurs more than 2^64 times", (pair[0], pair[1])),
                    )
                })?;
                if entry.words.last() != Some(&index) {
                    entry.words.push(index);
                }
            }
        }
        counted.drain(|pair, entry| self.insert(pair, entry));
        Ok(())
    }

    /// Enter a new pair, unless it is never merged: it only loses occurrences from here on.
    fn insert(&mut self, pair: Pair, mut entry: PairEntry) {
        let n_bytes = self.tokens.n_bytes(pair.0) + self.tokens.n_bytes(pair.1);
        if self.options.max_token_length.is_some_and(|longest| n_bytes > longest)
            || entry.count < self.options.min_frequency.max(1)
            || self.forbidden.as_mut().is_some_and(|set| set.has(pair, &self.tokens))
        {
            return;
        }
        let tie = self.tie(pair, &mut entry.words);
        self.queue.push(Entry { count: entry.count, tie, pair }, &self.tokens);
        entry.words.shrink_to_fit();
        self.pairs.insert(key(pair), entry);
    }

    fn tie(&self, pair: Pair, words: &mut Vec<u32>) -> u64 {
        match self.options.ties {
            Ties::Greatest => self.tokens.greatest_tie(pair),
            Ties::SmallestId => key(pair),
            Ties::Hf => key((hf_id(pair.0), hf_id(pair.1))),
            Ties::First => self.first_position(pair, words),
        }
    }

    /// Corpus position of the first occurrence; words before it that lost the pair are dropped.
    fn first_position(&self, pair: Pair, words: &mut Vec<u32>) -> u64 {
        let mut n_lost = 0;
        let mut position = u64::MAX;
        for &index in words.iter() {
            let word = &self.words[index as usize];
            let symbols = &self.symbols[word.start..word.start + word.n_symbols as usize];
            if let Some(at) = symbols.windows(2).position(|s| (s[0], s[1]) == pair) {
                let n_bytes: usize = symbols[..at].iter().map(|&s| self.tokens.n_bytes(s)).sum();
                position = word.first_seen.saturating_add(n_bytes as u64);
                break;
            }
            n_lost += 1;
        }
        words.drain(..n_lost);
        position
    }

    /// The pair that is merged next.
    fn next_merge(&mut self) -> Option<Merge> {
        while let Some(entry) = self.queue.pop(&self.tokens) {
            if entry.count < self.options.min_frequency.max(1) {
                return None;
            }
            let Some(mut current) = self.pairs.remove(&key(entry.pair)) else { continue };
            if self.forbidden.as_mut().is_some_and(|set| set.has(entry.pair, &self.tokens)) {
                continue;
            }
            let tie = if self.options.ties == Ties::First && current.count == entry.count {
                self.tie(entry.pair, &mut current.words)
            } else {
                entry.tie
            };
            let is_current = current.count == entry.count && tie == entry.tie;
            let count = current.count;
            self.pairs.insert(key(entry.pair), current);
            if is_current {
                return Some(Merge { pair: entry.pair, count });
            }
            self.queue.push(Entry { count, tie, pair: entry.pair }, &self.tokens);
        }
        None
    }

    /// Replace the pair by a new symbol wherever it stands.
    fn apply(&mut self, pair: Pair, control: &Control) -> Result<()> {
        let Some(entry) = self.pairs.remove(&key(pair)) else { return Ok(()) };
        let joined = u32::try_from(self.tokens.len())
            .map_err(|_| Error::new(Kind::VocabSize, "a vocabulary holds at most 2^32 tokens"))?;
        self.tokens.push_joined(pair);
        if let Some(forbidden) = &mut self.forbidden {
            forbidden.add(self.tokens.get(joined));
        }
        self.left.of.push(Change::default());
        self.right.of.push(Change::default());
        for (at, &index) in entry.words.iter().enumerate() {
            if let Some(&ahead) = entry.words.get(at + 2 * AHEAD) {
                prefetch(&self.words, ahead as usize);
            }
            if let Some(&ahead) = entry.words.get(at + AHEAD) {
                prefetch(&self.symbols, self.words[ahead as usize].start);
            }
            if at % WORDS_A_CHECK == WORDS_A_CHECK - 1 {
                control.check()?;
            }
            self.merge_in_word(index, pair, joined, control)?;
        }
        self.settle(pair, joined);
        Ok(())
    }

    #[inline]
    fn merge_in_word(
        &mut self,
        index: u32,
        (a, b): Pair,
        joined: u32,
        control: &Control,
    ) -> Result<()> {
        let word = &mut self.words[index as usize];
        let count = word.count;
        let symbols = &mut self.symbols[word.start..word.start + word.n_symbols as usize];
        let Some(mut read) = symbols.windows(2).position(|s| s[0] == a && s[1] == b) else {
            return Ok(());
        };
        let n = symbols.len();
        let mut write = read;
        let mut last_end = usize::MAX;
        let mut check_at = read + SYMBOLS_A_CHECK;
        while read < n {
            if read >= check_at {
                // What is half done is given up with the training.
                control.check()?;
                check_at = read + SYMBOLS_A_CHECK;
            }
            if read + 1 < n && symbols[read] == a && symbols[read + 1] == b {
                if last_end == read {
                    // The symbol before is the one just made; (b, a) between was lost to it.
                    self.left.gain(joined, count, index);
                } else if write > 0 {
                    self.left.lose(symbols[write - 1], count);
                    self.left.gain(symbols[write - 1], count, index);
                }
                if let Some(&next) = symbols.get(read + 2) {
                    self.right.lose(next, count);
                    let merges_too = next == a && symbols.get(read + 3) == Some(&b);
                    if !merges_too {
                        self.right.gain(next, count, index);
                    }
                }
                symbols[write] = joined;
                read += 2;
                last_end = read;
            } else {
                symbols[write] = symbols[read];
                read += 1;
            }
            write += 1;
        }
        word.n_symbols = write as u32;
        Ok(())
    }

    /// Bring the collected changes into the pair table.
    fn settle(&mut self, (a, b): Pair, joined: u32) {
        for x in std::mem::take(&mut self.left.touched) {
            let change = std::mem::take(&mut self.left.of[x as usize]);
            self.change((x, a), (x, joined), change);
        }
        for y in std::mem::take(&mut self.right.touched) {
            let change = std::mem::take(&mut self.right.of[y as usize]);
            self.change((b, y), (joined, y), change);
        }
    }

    fn change(&mut self, old: Pair, new: Pair, change: Change) {
        if change.lost > 0
            && let Some(entry) = self.pairs.get_mut(&key(old))
        {
            entry.count = entry.count.saturating_sub(change.lost);
            if entry.count == 0 {
                self.pairs.remove(&key(old));
            }
        }
        if change.gained > 0 {
            self.insert(new, PairEntry { count: change.gained, words: change.words });
        }
    }
}

/// The pairs of the start: in a square where symbols are bytes, by their keys otherwise.
enum PairCounts {
    Square(Vec<PairEntry>),
    Keyed(HashMap<u64, PairEntry, FixedState>),
}

impl PairCounts {
    fn new(n_symbols: usize) -> Self {
        if n_symbols > 256 {
            return Self::Keyed(HashMap::default());
        }
        let mut square = Vec::new();
        square.resize_with(1 << 16, PairEntry::default);
        Self::Square(square)
    }

    #[inline(always)]
    fn entry(&mut self, pair: Pair) -> &mut PairEntry {
        match self {
            Self::Square(square) => &mut square[(pair.0 << 8 | pair.1) as usize],
            Self::Keyed(keyed) => keyed.entry(key(pair)).or_default(),
        }
    }

    /// Give what was found in the order of the pairs.
    fn drain(self, mut give: impl FnMut(Pair, PairEntry)) {
        match self {
            Self::Square(square) => {
                for (index, entry) in (0u32..).zip(square) {
                    if entry.count > 0 {
                        give((index >> 8, index & 255), entry);
                    }
                }
            }
            Self::Keyed(keyed) => {
                let mut found: Vec<(u64, PairEntry)> = keyed.into_iter().collect();
                found.sort_unstable_by_key(|&(key, _)| key);
                for (key, entry) in found {
                    give(((key >> 32) as u32, key as u32), entry);
                }
            }
        }
    }
}

#[inline(always)]
pub(super) fn key((left, right): Pair) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The place of a symbol in HF's numbering: bytes in the order of their printable characters
/// (33–126, 161–172 and 174–255 stand for themselves, the others come after), then merges.
fn hf_id(symbol: u32) -> u32 {
    match symbol {
        33..=126 => symbol - 33,
        161..=172 => symbol - 161 + 94,
        174..=255 => symbol - 174 + 106,
        0..=32 => symbol + 188,
        127..=160 => symbol - 127 + 221,
        173 => 255,
        _ => symbol,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::CountTable;

    fn learn(counts: &[(&str, u64)], n_merges: usize, ties: Ties) -> Vec<(String, u64)> {
        let mut position = 0;
        let rows = counts.iter().map(|(text, count)| {
            position += text.len() as u64;
            (text.as_bytes(), *count, position - text.len() as u64)
        });
        let table = CountTable::from_rows(rows.collect()).expect("small");
        let options = Options { n_merges, ties, min_frequency: 1, max_token_length: None };
        let merges = learn_merges(&table, &options, &Control::default()).expect("small");
        let mut tokens = Tokens::of_bytes();
        let text = |tokens: &Tokens, s| String::from_utf8_lossy(tokens.get(s)).into_owned();
        merges
            .iter()
            .map(|merge| {
                let shown = [text(&tokens, merge.pair.0), text(&tokens, merge.pair.1)].join("+");
                tokens.push_joined(merge.pair);
                (shown, merge.count)
            })
            .collect()
    }

    #[test]
    fn the_words_of_sennrich_2016() {
        let counts = [("low", 5), ("lower", 2), ("widest", 3), ("newest", 6)];
        let merges: Vec<String> =
            learn(&counts, 12, Ties::Greatest).into_iter().map(|(merge, _)| merge).collect();
        let expected = "s+t e+st o+w l+ow w+est n+e ne+west w+i wi+d wid+est low+e lowe+r";
        assert_eq!(merges.join(" "), expected);
    }

    #[test]
    fn runs_merge_left_to_right() {
        assert_eq!(
            learn(&[("aaaaa", 1)], 2, Ties::First),
            [("a+a".into(), 4), ("aa+aa".into(), 1)]
        );
    }

    #[test]
    fn counts_past_32_bits_keep_their_order() {
        let counts = [("ab", (1 << 31) + 10), ("cd", (1 << 31) - 10)];
        assert_eq!(learn(&counts, 1, Ties::Greatest), [("a+b".into(), (1 << 31) + 10)]);
    }
}
