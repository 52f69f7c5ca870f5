//! The pairs of a training in the order in which they would be merged.
//!
//! A four-ary heap whose entries may be stale: a pair that exists only ever loses count and its
//! first occurrence only moves back, so an entry is never worse than its pair, and the top is
//! checked and put back where it belongs. One entry a pair is enough.

use std::cmp::Ordering;

use crate::error::Result;

/// How equal counts are decided; see `subword.train_bpe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// The lexicographically greatest pair of byte strings (Stanford CS336, subword-nmt).
    Greatest,
    /// The pair seen first, left to right (minbpe).
    First,
    /// As HF `BpeTrainer` 0.23: the smallest ids, bytes numbered by their printable characters.
    Hf,
    /// The smallest pair of raw ids (rustbpe, bpeasy).
    SmallestId,
}

impl Ties {
    /// The rule of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "greatest" => Some(Self::Greatest),
            "first" => Some(Self::First),
            "hf" => Some(Self::Hf),
            "smallest_id" => Some(Self::SmallestId),
            _ => None,
        }
    }
}

/// A pair in the queue.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its count when it was put here.
    pub count: u64,
    /// What decides before the bytes of the pair: smaller goes first.
    pub tie: u64,
    /// Left and right symbol.
    pub pair: (u32, u32),
}

/// Byte strings of the symbols so far.
#[derive(Debug, Default)]
pub struct Tokens {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Tokens {
    /// The 256 bytes.
    #[must_use]
    pub fn of_bytes() -> Self {
        Self { bytes: (0..=u8::MAX).collect(), ends: (1..=256).collect() }
    }

    /// These, in the order of their symbols.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn of<'a>(tokens: impl Iterator<Item = &'a [u8]> + Clone) -> Result<Self> {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        bytes.try_reserve_exact(tokens.clone().map(<[u8]>::len).sum())?;
        ends.try_reserve_exact(tokens.clone().count())?;
        for token in tokens {
            bytes.extend_from_slice(token);
            ends.push(bytes.len());
        }
        Ok(Self { bytes, ends })
    }

    /// Byte string of a symbol.
    #[inline]
    #[must_use]
    pub fn get(&self, symbol: u32) -> &[u8] {
        let symbol = symbol as usize;
        let start = symbol.checked_sub(1).and_then(|s| self.ends.get(s)).copied().unwrap_or(0);
        let end = self.ends.get(symbol).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Bytes of a symbol.
    #[inline]
    #[must_use]
    pub fn n_bytes(&self, symbol: u32) -> usize {
        self.get(symbol).len()
    }

    /// Number of symbols.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Add the symbol that joins a pair.
    pub fn push_joined(&mut self, (left, right): (u32, u32)) {
        for symbol in [left, right] {
            let end = self.ends.get(symbol as usize).copied().unwrap_or(0);
            self.bytes.extend_from_within(end - self.n_bytes(symbol)..end);
        }
        self.ends.push(self.bytes.len());
    }

    /// The first eight bytes as a number whose order is that of the bytes.
    fn head(&self, symbol: u32) -> u64 {
        let mut head = [0; 8];
        let bytes = self.get(symbol);
        let n = bytes.len().min(8);
        head[..n].copy_from_slice(&bytes[..n]);
        u64::from_be_bytes(head)
    }

    /// `Entry::tie` of a pair under `Ties::Greatest`: greater heads give smaller numbers.
    #[must_use]
    pub fn greatest_tie(&self, (left, _): (u32, u32)) -> u64 {
        !self.head(left)
    }
}

/// The heap.
#[derive(Debug, Default)]
pub struct Queue {
    heap: Vec<Entry>,
}

impl Queue {
    /// Put an entry in.
    pub fn push(&mut self, entry: Entry, tokens: &Tokens) {
        self.heap.push(entry);
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 4;
            if order(&self.heap[at], &self.heap[parent], tokens) != Ordering::Less {
                break;
            }
            self.heap.swap(at, parent);
            at = parent;
        }
    }

    /// Take the entry that goes first.
    pub fn pop(&mut self, tokens: &Tokens) -> Option<Entry> {
        if self.heap.is_empty() {
            return None;
        }
        let top = self.heap.swap_remove(0);
        self.sink(0, tokens);
        Some(top)
    }

    fn sink(&mut self, mut at: usize, tokens: &Tokens) {
        let n = self.heap.len();
        loop {
            let mut first = at;
            for child in 4 * at + 1..(4 * at + 5).min(n) {
                if order(&self.heap[child], &self.heap[first], tokens) == Ordering::Less {
                    first = child;
                }
            }
            if first == at {
                return;
            }
            self.heap.swap(at, first);
            at = first;
        }
    }
}

/// `Less` when `x` is merged before `y`.
#[inline]
fn order(x: &Entry, y: &Entry, tokens: &Tokens) -> Ordering {
    y.count.cmp(&x.count).then(x.tie.cmp(&y.tie)).then_with(|| {
        let key = |entry: &Entry| (tokens.get(entry.pair.0), tokens.get(entry.pair.1));
        // Symbols of a start may be spelt alike.
        key(y).cmp(&key(x)).then(x.pair.cmp(&y.pair))
    })
}
