//! The pairs of adjacent symbols: how often each occurs, and where.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::error::{Error, Kind, Result};
use crate::parallel::Control;

use super::words::{NONE, Words};

/// On whose side a pair is ranked; see `ranking`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Not ranked: too rare, merged already, or refused.
    Nowhere,
    /// With its left symbol.
    Left,
    /// With its right symbol.
    Right,
}

/// Two symbols that stand side by side somewhere.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// The left symbol.
    pub left: u32,
    /// The right symbol.
    pub right: u32,
    /// Occurrences.
    pub count: u64,
    /// Of its latest entry in the ranking.
    pub stamp: u32,
    /// Where it is ranked.
    pub place: Place,
    /// Never merged: the result would be a special token.
    pub is_refused: bool,
    chunk: u32,
}

/// A rising run of positions in the pool; a pair that came back after a while has several.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    start: usize,
    end: usize,
    older: u32,
}

/// All pairs, by number and by symbols.
#[derive(Debug, Default)]
pub struct Pairs {
    pairs: Vec<Pair>,
    by_symbols: HashMap<u64, u32>,
    chunks: Vec<Chunk>,
    pool: Vec<u32>,
}

impl Pairs {
    /// Count the pairs of `words`.
    ///
    /// # Errors
    ///
    /// `CountOverflow` when the occurrences of a pair pass 64 bits. Later sums cannot: each
    /// occurrence of a longer pair is one of the two characters that meet in it.
    pub fn count(words: &Words, control: &Control) -> Result<Self> {
        let mut this = Self::default();
        let mut n_positions: Vec<usize> = Vec::new();
        let mut numbers: Vec<u32> = Vec::new();
        for (left, right, position, count) in words.pairs() {
            if position.is_multiple_of(1 << 20) {
                control.check()?;
            }
            let number = this.number_or_new(left, right)?;
            if n_positions.len() < this.pairs.len() {
                n_positions.push(0);
            }
            if let Some(n) = n_positions.get_mut(number as usize) {
                *n += 1;
            }
            if let Some(pair) = this.pairs.get_mut(number as usize) {
                pair.count = pair.count.checked_add(count).ok_or_else(|| {
                    Error::new(
                        Kind::CountOverflow,
                        "the occurrences of a pair of characters pass 64 bits; scale the counts \
                         down",
                    )
                })?;
            }
            numbers.try_reserve(1)?;
            numbers.push(number);
        }
        let mut end = 0;
        for (n, number) in n_positions.iter().zip(0..) {
            this.add_chunk(number, end, end);
            end += n;
        }
        this.pool.try_reserve(numbers.len())?;
        this.pool.resize(numbers.len(), NONE);
        for (number, (_, _, position, _)) in numbers.iter().zip(words.pairs()) {
            if let Some(chunk) = this.chunks.get_mut(*number as usize)
                && let Some(slot) = this.pool.get_mut(chunk.end)
            {
                *slot = position;
                chunk.end += 1;
            }
        }
        Ok(this)
    }

    /// Numbers given so far, dead pairs included.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// A pair by number.
    pub fn get(&self, number: u32) -> Option<&Pair> {
        self.pairs.get(number as usize)
    }

    /// A pair by number, to change.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Pair> {
        self.pairs.get_mut(number as usize)
    }

    /// Add occurrences of a pair that may be new; gives its number.
    pub fn gain(&mut self, (left, right): (u32, u32), count: u64, at: &[u32]) -> Result<u32> {
        let number = self.number_or_new(left, right)?;
        if let Some(pair) = self.pairs.get_mut(number as usize) {
            pair.count = pair.count.wrapping_add(count);
        }
        let start = self.pool.len();
        self.pool.try_reserve(at.len())?;
        self.pool.extend_from_slice(at);
        self.add_chunk(number, start, self.pool.len());
        Ok(number)
    }

    /// Take occurrences from a pair; one without any is forgotten.
    pub fn lose(&mut self, (left, right): (u32, u32), count: u64) {
        let Entry::Occupied(entry) = self.by_symbols.entry(key(left, right)) else { return };
        if let Some(pair) = self.pairs.get_mut(*entry.get() as usize) {
            pair.count = pair.count.wrapping_sub(count);
            if pair.count == 0 {
                entry.remove();
            }
        }
    }

    /// Every position at which a pair may stand, rising, each once.
    pub fn positions(&self, number: u32) -> Vec<u32> {
        let mut positions = Vec::new();
        let mut at = self.get(number).map_or(NONE, |pair| pair.chunk);
        let mut n_chunks = 0;
        while let Some(chunk) = self.chunks.get(at as usize) {
            positions.extend_from_slice(self.pool.get(chunk.start..chunk.end).unwrap_or(&[]));
            at = chunk.older;
            n_chunks += 1;
        }
        if n_chunks > 1 {
            positions.sort_unstable();
            positions.dedup();
        }
        positions
    }

    /// The first position at which a pair stands.
    ///
    /// Positions passed over once are not looked at again: a pair that comes back to one of them
    /// has it in a newer chunk.
    pub fn first_position(&mut self, number: u32, words: &Words) -> u32 {
        let Some(&Pair { left, right, chunk, .. }) = self.get(number) else { return NONE };
        let (mut at, mut first) = (chunk, NONE);
        while let Some(chunk) = self.chunks.get_mut(at as usize) {
            while let Some(&position) = self.pool.get(chunk.start)
                && chunk.start < chunk.end
            {
                if words.has(position, left, right) {
                    first = first.min(position);
                    break;
                }
                chunk.start += 1;
            }
            at = chunk.older;
        }
        first
    }

    fn add_chunk(&mut self, number: u32, start: usize, end: usize) {
        let newest = u32::try_from(self.chunks.len()).unwrap_or(NONE);
        if let Some(pair) = self.pairs.get_mut(number as usize) {
            self.chunks.push(Chunk { start, end, older: pair.chunk });
            pair.chunk = newest;
        }
    }

    fn number_or_new(&mut self, left: u32, right: u32) -> Result<u32> {
        let next = u32::try_from(self.pairs.len()).ok().filter(|&next| next != NONE);
        let next = next.ok_or_else(|| {
            Error::new(Kind::Memory, "more than 2^32 - 1 distinct pairs; drop the rarest words")
        })?;
        match self.by_symbols.entry(key(left, right)) {
            Entry::Occupied(entry) => Ok(*entry.get()),
            Entry::Vacant(entry) => {
                self.pairs.try_reserve(1)?;
                self.pairs.push(Pair {
                    left,
                    right,
                    count: 0,
                    stamp: 0,
                    place: Place::Nowhere,
                    is_refused: false,
                    chunk: NONE,
                });
                Ok(*entry.insert(next))
            }
        }
    }
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}
