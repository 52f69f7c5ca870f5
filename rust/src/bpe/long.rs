//! Merge pre-tokens of any length: n log n by a heap, near n by buckets of ranks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::{Joined, NO_ID, PairTable};
use crate::error::{Error, Kind, Result};

/// Buffers larger than this are given back after use.
const KEEP: usize = 1 << 20;

/// A pre-token as a linked list of parts; `joined[i]` is what part `i` and the next one make.
#[derive(Debug, Default)]
pub struct Long {
    ids: Vec<u32>,
    joined: Vec<Joined>,
    next: Vec<u32>,
    previous: Vec<u32>,
    heap: Vec<Reverse<u64>>,
    buckets: Buckets,
}

impl Long {
    /// Begin with the bytes of a pre-token, which has at least two.
    ///
    /// # Errors
    ///
    /// Those of `byte_id`; `Argument` for 4 GiB or more; `Memory`.
    pub fn begin(
        &mut self,
        pretoken: &[u8],
        pairs: &PairTable,
        byte_id: impl Fn(u8, usize) -> Result<u32>,
    ) -> Result<()> {
        let n = u32::try_from(pretoken.len()).map_err(|_| {
            Error::new(
                Kind::Argument,
                "a pre-token of 4 GiB or more; split the text with a pattern",
            )
        })?;
        for list in [&mut self.ids, &mut self.next, &mut self.previous] {
            list.clear();
            list.try_reserve(pretoken.len())?;
        }
        self.joined.clear();
        self.joined.try_reserve(pretoken.len())?;
        for (at, &byte) in pretoken.iter().enumerate() {
            self.ids.push(byte_id(byte, at)?);
        }
        self.next.extend(1..=n);
        self.previous.extend((0..n).map(|at| at.wrapping_sub(1)));
        self.joined.extend(self.ids.windows(2).map(|pair| pairs.get(pair[0], pair[1])));
        self.joined.push(Joined::NEVER);
        Ok(())
    }

    /// Append the ids of the parts that are left.
    pub fn finish(&mut self, out: &mut Vec<u32>) {
        out.extend(self.ids.iter().filter(|&&id| id != NO_ID));
        if self.ids.capacity() > KEEP {
            *self = Self::default();
        }
    }

    /// Join part `at` with the next one; give the parts whose pair changed, and their new pairs.
    #[inline(always)]
    fn join(&mut self, at: u32, pairs: &PairTable) -> [Option<(u32, Joined)>; 2] {
        let n = self.ids.len() as u32;
        let right = self.next[at as usize];
        let after = self.next[right as usize];
        let before = self.previous[at as usize];
        self.ids[at as usize] = self.joined[at as usize].id;
        self.ids[right as usize] = NO_ID;
        self.joined[right as usize] = Joined::NEVER;
        self.joined[at as usize] = Joined::NEVER;
        self.next[at as usize] = after;
        let mut changed = [None, None];
        if after < n {
            self.previous[after as usize] = at;
            let pair = pairs.get(self.ids[at as usize], self.ids[after as usize]);
            self.joined[at as usize] = pair;
            changed[0] = Some((at, pair));
        }
        if before < n {
            let pair = pairs.get(self.ids[before as usize], self.ids[at as usize]);
            self.joined[before as usize] = pair;
            changed[1] = Some((before, pair));
        }
        changed
    }
}

/// Merge the lowest rank first, leftmost first; right for merges in any order.
///
/// # Errors
///
/// `Memory`.
pub fn merge_by_heap(long: &mut Long, pairs: &PairTable) -> Result<()> {
    let entry = |pair: Joined, at: u32| Reverse(u64::from(pair.rank) << 32 | u64::from(at));
    let mut entries = std::mem::take(&mut long.heap);
    entries.clear();
    entries.try_reserve(long.joined.len())?;
    let mergeable = (0u32..).zip(&long.joined).filter(|(_, pair)| pair.rank != u32::MAX);
    entries.extend(mergeable.map(|(at, &pair)| entry(pair, at)));
    let mut heap = BinaryHeap::from(entries);
    while let Some(Reverse(top)) = heap.pop() {
        let (rank, at) = ((top >> 32) as u32, top as u32);
        if long.joined[at as usize].rank != rank {
            continue;
        }
        for (at, pair) in long.join(at, pairs).into_iter().flatten() {
            if pair.rank != u32::MAX {
                heap.push(entry(pair, at));
            }
        }
    }
    long.heap = heap.into_vec();
    Ok(())
}

/// Parts that wait for their rank: a linked list for each rank, and a bit for each list.
#[derive(Debug, Default)]
struct Buckets {
    heads: Vec<u32>,
    occupied: Vec<u64>,
    /// Part and the node after it; `NO_ID` ends a list.
    nodes: Vec<(u32, u32)>,
}

impl Buckets {
    fn begin(&mut self, n_ranks: usize, n_parts: usize) -> Result<()> {
        if self.heads.len() < n_ranks {
            self.heads.try_reserve_exact(n_ranks - self.heads.len())?;
            self.heads.resize(n_ranks, NO_ID);
            self.occupied.resize(n_ranks.div_ceil(64), 0);
        }
        self.nodes.clear();
        self.nodes.try_reserve(n_parts)?;
        Ok(())
    }

    #[inline(always)]
    fn put(&mut self, part: u32, rank: u32) {
        let head = &mut self.heads[rank as usize];
        if *head == NO_ID {
            self.occupied[rank as usize / 64] |= 1 << (rank % 64);
        }
        self.nodes.push((part, *head));
        *head = (self.nodes.len() - 1) as u32;
    }

    /// Move the parts that wait for `rank` to `parts`, in the order of the text.
    fn take(&mut self, rank: u32, parts: &mut Vec<u32>) {
        parts.clear();
        let mut node = std::mem::replace(&mut self.heads[rank as usize], NO_ID);
        self.occupied[rank as usize / 64] &= !(1 << (rank % 64));
        while let Some(&(part, after)) = self.nodes.get(node as usize) {
            parts.push(part);
            node = after;
        }
        parts.reverse();
        if !parts.is_sorted() {
            parts.sort_unstable();
        }
    }
}

/// Merge rank after rank, each from left to right.
///
/// Right for merges in order: each uses only tokens that lower ranks have made, so that a merge
/// never brings up a pair of a lower rank. Source of the idea: a bucket queue (Dial 1969).
///
/// # Errors
///
/// `Memory`.
pub fn merge_by_buckets(long: &mut Long, pairs: &PairTable) -> Result<()> {
    let mut buckets = std::mem::take(&mut long.buckets);
    buckets.begin(pairs.len(), long.ids.len())?;
    for (at, pair) in (0u32..).zip(&long.joined) {
        if pair.rank != u32::MAX {
            buckets.put(at, pair.rank);
        }
    }
    let mut parts = Vec::new();
    for word in 0..buckets.occupied.len() {
        while buckets.occupied[word] != 0 {
            let rank = word as u32 * 64 + buckets.occupied[word].trailing_zeros();
            buckets.take(rank, &mut parts);
            for &at in &parts {
                if long.joined[at as usize].rank != rank {
                    continue;
                }
                for (at, pair) in long.join(at, pairs).into_iter().flatten() {
                    if pair.rank != u32::MAX {
                        buckets.put(at, pair.rank);
                    }
                }
            }
        }
    }
    if buckets.nodes.capacity() <= KEEP {
        long.buckets = buckets;
    }
    Ok(())
}
