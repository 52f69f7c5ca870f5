//! What training starts from: the bytes of pre-tokens, or the ids that they are encoded to.

use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::queue::Tokens;
use super::train::{Pair, SYMBOLS_A_CHECK, key};
use crate::counts::CountTable;
use crate::error::{Error, Kind, Result};
use crate::parallel::Control;

/// Counted words of symbols. Rows are numbered from 0; each word is there once.
pub trait Start: Sync {
    /// What each symbol spells.
    ///
    /// # Errors
    ///
    /// `Memory`; `Argument` for parts that do not fit together.
    fn tokens(&self) -> Result<Tokens>;

    /// What no merge may do; None where any pair may be merged.
    ///
    /// # Errors
    ///
    /// `Memory`.
    fn forbidden(&self) -> Result<Option<Forbidden>> {
        Ok(None)
    }

    /// Number of rows.
    fn n_words(&self) -> usize;

    /// Symbols of a row.
    fn n_symbols(&self, row: usize) -> usize;

    /// Occurrences of a row.
    fn count(&self, row: usize) -> u64;

    /// Where the corpus has it first.
    fn first_seen(&self, row: usize) -> u64;

    /// Append the symbols of a row.
    ///
    /// # Errors
    ///
    /// `Interrupted`.
    fn append(&self, row: usize, symbols: &mut Vec<u32>, control: &Control) -> Result<()>;
}

impl Start for CountTable {
    fn tokens(&self) -> Result<Tokens> {
        Ok(Tokens::of_bytes())
    }

    fn n_words(&self) -> usize {
        self.len()
    }

    fn n_symbols(&self, row: usize) -> usize {
        self.pretoken(row).len()
    }

    fn count(&self, row: usize) -> u64 {
        self.counts[row]
    }

    fn first_seen(&self, row: usize) -> u64 {
        self.first_seen[row]
    }

    fn append(&self, row: usize, symbols: &mut Vec<u32>, control: &Control) -> Result<()> {
        for part in self.pretoken(row).chunks(SYMBOLS_A_CHECK) {
            if part.len() == SYMBOLS_A_CHECK {
                control.check()?;
            }
            symbols.extend(part.iter().map(|&byte| u32::from(byte)));
        }
        Ok(())
    }
}

/// Words that are encoded already. A merge never makes a token that is there.
#[derive(Debug, Clone, Copy)]
pub struct Encoded<'a, T> {
    /// Symbols of all words, one word after the other: places in `tokens`.
    pub symbols: &'a [u32],
    /// Where each word starts and the last ends: one more than there are words.
    pub bounds: &'a [i64],
    /// Occurrences of each word.
    pub counts: &'a [u64],
    /// What each symbol spells.
    pub tokens: &'a [T],
    /// What no merge may make, besides `tokens`.
    pub taken: &'a [T],
    /// Pairs that are never merged: the left symbol shifted by 32 bits, and the right one.
    pub forbidden: &'a [u64],
}

impl<T: AsRef<[u8]> + Sync> Encoded<'_, T> {
    fn word(&self, row: usize) -> &[u32] {
        let bound = |at: usize| self.bounds.get(at).map_or(0, |&bound| bound as usize);
        self.symbols.get(bound(row)..bound(row + 1)).unwrap_or_default()
    }
}

impl<T: AsRef<[u8]> + Sync> Start for Encoded<'_, T> {
    fn tokens(&self) -> Result<Tokens> {
        let n_words = self.bounds.len().saturating_sub(1);
        if n_words != self.counts.len() {
            let message = format!("{n_words} words with {} counts", self.counts.len());
            return Err(Error::new(Kind::Argument, message));
        }
        let n_tokens = self.tokens.len();
        if let Some(symbol) = self.symbols.iter().find(|&&symbol| symbol as usize >= n_tokens) {
            let message = format!("symbol {symbol} is none of {n_tokens} tokens");
            return Err(Error::new(Kind::Argument, message));
        }
        Tokens::of(self.tokens.iter().map(AsRef::as_ref))
    }

    fn forbidden(&self) -> Result<Option<Forbidden>> {
        let mut forbidden = Forbidden::default();
        let n_tokens = self.tokens.len() + self.taken.len();
        let room = forbidden.pairs.try_reserve(self.forbidden.len());
        room.and_then(|()| forbidden.tokens.try_reserve(n_tokens))
            .map_err(|_| Error::new(Kind::Memory, "out of memory for the tokens of a training"))?;
        forbidden.pairs.extend(self.forbidden);
        for token in self.tokens.iter().chain(self.taken) {
            forbidden.add(token.as_ref());
        }
        Ok(Some(forbidden))
    }

    fn n_words(&self) -> usize {
        self.counts.len()
    }

    fn n_symbols(&self, row: usize) -> usize {
        self.word(row).len()
    }

    fn count(&self, row: usize) -> u64 {
        self.counts.get(row).copied().unwrap_or(0)
    }

    fn first_seen(&self, row: usize) -> u64 {
        row as u64
    }

    fn append(&self, row: usize, symbols: &mut Vec<u32>, control: &Control) -> Result<()> {
        for part in self.word(row).chunks(SYMBOLS_A_CHECK) {
            if part.len() == SYMBOLS_A_CHECK {
                control.check()?;
            }
            symbols.extend_from_slice(part);
        }
        Ok(())
    }
}

/// Pairs that are never merged, and what no merge may make.
#[derive(Debug, Default)]
pub struct Forbidden {
    pairs: HashSet<u64, FixedState>,
    tokens: HashSet<Box<[u8]>, FixedState>,
    joined: Vec<u8>,
}

impl Forbidden {
    /// Whether a pair is never merged.
    pub fn has(&mut self, pair: Pair, tokens: &Tokens) -> bool {
        self.joined.clear();
        self.joined.extend_from_slice(tokens.get(pair.0));
        self.joined.extend_from_slice(tokens.get(pair.1));
        self.pairs.contains(&key(pair)) || self.tokens.contains(self.joined.as_slice())
    }

    /// Let no merge make this from now on.
    pub fn add(&mut self, token: &[u8]) {
        self.tokens.insert(token.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpe::queue::Ties;
    use crate::bpe::train::{Merge, Options, learn_merges};

    const OPTIONS: Options =
        Options { n_merges: 9, ties: Ties::Greatest, min_frequency: 1, max_token_length: None };

    fn start<'a>(symbols: &'a [u32], bounds: &'a [i64]) -> Encoded<'a, &'a str> {
        let tokens = &["a", "b", "c", "ab"];
        Encoded { symbols, bounds, counts: &[3, 4], tokens, taken: &[], forbidden: &[] }
    }

    fn pairs(merges: &[Merge]) -> Vec<Pair> {
        merges.iter().map(|merge| merge.pair).collect()
    }

    #[test]
    fn a_token_that_is_there_is_never_made() {
        let start = start(&[0, 1, 2, 0, 1], &[0, 3, 5]);
        let merges = learn_merges(&start, &OPTIONS, &Control::default()).expect("small");
        assert_eq!(pairs(&merges), [(1, 2), (0, 4)]);
        let start = Encoded { taken: &["bc"], ..start };
        assert_eq!(learn_merges(&start, &OPTIONS, &Control::default()), Ok(vec![]));
    }

    #[test]
    fn forbidden_pairs_are_left_alone() {
        let start = Encoded { forbidden: &[1 << 32 | 2], ..start(&[0, 1, 2, 3, 2], &[0, 3, 5]) };
        let merges = learn_merges(&start, &OPTIONS, &Control::default()).expect("small");
        assert_eq!(pairs(&merges), [(3, 2)]);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let starts = [start(&[0, 9], &[0, 1, 2]), start(&[0, 1], &[0, 2])];
        for start in starts {
            assert!(learn_merges(&start, &OPTIONS, &Control::default()).is_err());
        }
        let odd = start(&[0, 1], &[0, -5, 99]);
        assert_eq!(learn_merges(&odd, &OPTIONS, &Control::default()), Ok(vec![]));
    }
}
