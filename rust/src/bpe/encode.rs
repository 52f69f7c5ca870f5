//! Apply merges to one pre-token: lowest rank first, leftmost first, without overlap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::{Joined, NO_ID, PairTable, Vocabulary};
use crate::error::{Error, Kind, Result};

/// Pre-tokens up to this many bytes are merged by scanning for the lowest rank.
const SHORT: usize = 48;

/// A byte-level BPE model.
#[derive(Debug)]
pub struct Bpe {
    vocabulary: Vocabulary,
    pairs: PairTable,
    byte_ids: [u32; 256],
    whole_first: bool,
}

/// Buffers of the long path, kept between calls.
#[derive(Debug, Default)]
pub struct Scratch {
    ids: Vec<u32>,
    joined: Vec<Joined>,
    next: Vec<u32>,
    previous: Vec<u32>,
    heap: BinaryHeap<Reverse<u64>>,
}

impl Bpe {
    /// A model of tokens, and merges in rank order as (left id, right id).
    ///
    /// `whole_first` gives a pre-token that is itself a token that token's id, as tiktoken does
    /// and HF with `ignore_merges`.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for merges that name or make tokens the vocabulary lacks, or repeat a pair.
    pub fn new(vocabulary: Vocabulary, merges: &[(u32, u32)], whole_first: bool) -> Result<Self> {
        let mut bpe = Self::without_merges(vocabulary, merges.len())?;
        bpe.whole_first = whole_first;
        let mut bytes = Vec::new();
        for (rank, &(left, right)) in merges.iter().enumerate() {
            bytes.clear();
            for id in [left, right] {
                bytes.extend_from_slice(bpe.vocabulary.token(id).ok_or_else(|| {
                    let message = format!("merge {rank} names id {id}, which has no token");
                    Error::new(Kind::Vocabulary, message)
                })?);
            }
            let id = bpe.vocabulary.id_of(&bytes).ok_or_else(|| {
                let shown = String::from_utf8_lossy(bytes.get(..40).unwrap_or(&bytes));
                let message =
                    format!("merge {rank} makes {shown:?}, which is not in the vocabulary");
                Error::new(Kind::Vocabulary, message)
            })?;
            bpe.add_merge(left, right, id)?;
        }
        Ok(bpe)
    }

    /// A model that merges nothing yet, with room for `n_merges`.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn without_merges(vocabulary: Vocabulary, n_merges: usize) -> Result<Self> {
        let byte_ids = std::array::from_fn(|byte| vocabulary.id_of(&[byte as u8]).unwrap_or(NO_ID));
        let pairs = PairTable::with_room(n_merges)?;
        Ok(Self { pairs, vocabulary, byte_ids, whole_first: false })
    }

    /// Let `left` and `right` join to `id`, after all merges so far.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for a pair given before.
    pub fn add_merge(&mut self, left: u32, right: u32, id: u32) -> Result<()> {
        self.pairs.push(left, right, id)
    }

    /// Whether every byte of `text` is a token.
    #[must_use]
    pub fn has_bytes_of(&self, text: &[u8]) -> bool {
        text.iter().all(|&byte| self.byte_ids[byte as usize] != NO_ID)
    }

    /// The tokens, without the merges.
    #[must_use]
    pub fn into_vocabulary(self) -> Vocabulary {
        self.vocabulary
    }

    /// The tokens.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Append the ids of one pre-token.
    ///
    /// # Errors
    ///
    /// `UnencodableText` for a byte that is no token.
    pub fn encode(&self, pretoken: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()> {
        if self.whole_first
            && let Some(id) = self.vocabulary.id_of(pretoken)
        {
            ids.push(id);
            return Ok(());
        }
        match pretoken {
            [] => Ok(()),
            [byte] => {
                ids.push(self.byte_id(*byte, 0)?);
                Ok(())
            }
            _ if pretoken.len() <= SHORT => self.merge_short(pretoken, ids),
            _ => self.merge_long(pretoken, scratch, ids),
        }
    }

    #[inline]
    fn byte_id(&self, byte: u8, at: usize) -> Result<u32> {
        let id = self.byte_ids[byte as usize];
        if id == NO_ID {
            return Err(Error::new(
                Kind::UnencodableText,
                format!("byte 0x{byte:02x} at byte {at} of a pre-token is not in the vocabulary"),
            ));
        }
        Ok(id)
    }

    fn merge_short(&self, pretoken: &[u8], out: &mut Vec<u32>) -> Result<()> {
        let mut ids = [0u32; SHORT];
        let mut joined = [Joined::NEVER; SHORT];
        let mut n = pretoken.len();
        for (at, &byte) in pretoken.iter().enumerate() {
            ids[at] = self.byte_id(byte, at)?;
        }
        for at in 0..n - 1 {
            joined[at] = self.pairs.get(ids[at], ids[at + 1]);
        }
        while n > 1 {
            let (mut best, mut rank) = (0, u32::MAX);
            for (at, pair) in joined[..n - 1].iter().enumerate() {
                if pair.rank < rank {
                    (best, rank) = (at, pair.rank);
                }
            }
            if rank == u32::MAX {
                break;
            }
            ids[best] = joined[best].id;
            ids.copy_within(best + 2..n, best + 1);
            joined.copy_within(best + 1..n - 1, best);
            n -= 1;
            joined[n - 1] = Joined::NEVER;
            if best + 1 < n {
                joined[best] = self.pairs.get(ids[best], ids[best + 1]);
            }
            if best > 0 {
                joined[best - 1] = self.pairs.get(ids[best - 1], ids[best]);
            }
        }
        out.extend_from_slice(&ids[..n]);
        Ok(())
    }

    /// A heap of ranks over a linked list: n log n for any input.
    fn merge_long(&self, pretoken: &[u8], scratch: &mut Scratch, out: &mut Vec<u32>) -> Result<()> {
        let n = u32::try_from(pretoken.len()).map_err(|_| {
            Error::new(
                Kind::Argument,
                "a pre-token of 4 GiB or more; split the text with a pattern",
            )
        })?;
        let Scratch { ids, joined, next, previous, heap } = scratch;
        ids.clear();
        joined.clear();
        next.clear();
        previous.clear();
        for list in [&mut *ids, next, previous] {
            list.try_reserve(pretoken.len())?;
        }
        joined.try_reserve(pretoken.len())?;
        for (at, &byte) in pretoken.iter().enumerate() {
            ids.push(self.byte_id(byte, at)?);
        }
        next.extend(1..=n);
        previous.extend((0..n).map(|at| at.wrapping_sub(1)));
        joined.extend(ids.windows(2).map(|pair| self.pairs.get(pair[0], pair[1])));
        joined.push(Joined::NEVER);
        let entry = |rank: u32, at: u32| Reverse(u64::from(rank) << 32 | u64::from(at));
        let mut entries = std::mem::take(heap).into_vec();
        entries.clear();
        let mergeable = (0u32..).zip(joined.iter()).filter(|(_, pair)| pair.rank != u32::MAX);
        entries.extend(mergeable.map(|(at, pair)| entry(pair.rank, at)));
        let mut queue = BinaryHeap::from(entries);
        while let Some(Reverse(top)) = queue.pop() {
            let (rank, at) = ((top >> 32) as u32, top as u32);
            let pair = joined[at as usize];
            if pair.rank != rank {
                continue;
            }
            let right = next[at as usize];
            let after = next[right as usize];
            ids[at as usize] = pair.id;
            ids[right as usize] = NO_ID;
            joined[right as usize] = Joined::NEVER;
            next[at as usize] = after;
            let before = previous[at as usize];
            if after < n {
                previous[after as usize] = at;
            }
            joined[at as usize] = Joined::NEVER;
            let mut update = |at: u32, right: u32| {
                let pair = self.pairs.get(ids[at as usize], ids[right as usize]);
                joined[at as usize] = pair;
                if pair.rank != u32::MAX {
                    queue.push(entry(pair.rank, at));
                }
            };
            if after < n {
                update(at, after);
            }
            if before != NO_ID {
                update(before, at);
            }
        }
        out.extend(ids.iter().filter(|&&id| id != NO_ID));
        *heap = queue;
        if ids.capacity() > 1 << 20 {
            *scratch = Scratch::default();
        }
        Ok(())
    }
}
