//! Merge pre-tokens of any length: n log n by a heap, near n by buckets of ranks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::{Joined, NO_ID, PairTable};
use crate::error::{Error, Kind, Result};
use crate::memory::ask_for_huge_pages;
use crate::parallel::Control;
use crate::unigram::Random;

/// Pre-tokens from this many symbols on are merged rank by rank, where the merges allow it.
const HUGE: usize = 1024;

/// Steps between two looks at the stop flag.
const STEPS_A_CHECK: usize = 1 << 14;

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
    /// Begin with the symbols of a pre-token.
    ///
    /// # Errors
    ///
    /// Those of `symbols`; `Argument` for 2^32 symbols or more; `Memory`.
    pub fn begin(
        &mut self,
        symbols: impl ExactSizeIterator<Item = Result<u32>>,
        pairs: &PairTable,
        control: &Control,
    ) -> Result<()> {
        let n_symbols = symbols.len();
        let n = u32::try_from(n_symbols).map_err(|_| {
            Error::new(
                Kind::Argument,
                "a pre-token of 4 GiB or more; split the text with a pattern",
            )
        })?;
        for list in [&mut self.ids, &mut self.next, &mut self.previous] {
            list.clear();
            list.try_reserve(n_symbols)?;
        }
        self.joined.clear();
        self.joined.try_reserve(n_symbols)?;
        for list in [&mut self.ids, &mut self.next, &mut self.previous] {
            ask_for_huge_pages(list);
        }
        ask_for_huge_pages(&mut self.joined);
        for (at, symbol) in symbols.enumerate() {
            if at.is_multiple_of(STEPS_A_CHECK) {
                control.check()?;
            }
            self.ids.push(symbol?);
        }
        self.next.extend(1..=n);
        self.previous.extend((0..n).map(|at| at.wrapping_sub(1)));
        for (at, pair) in self.ids.windows(2).enumerate() {
            if at.is_multiple_of(STEPS_A_CHECK) {
                control.check()?;
            }
            self.joined.push(pairs.get(pair[0], pair[1]));
        }
        self.joined.push(Joined::NEVER);
        Ok(())
    }

    /// Append the ids of the parts that are left.
    pub fn finish(&mut self, out: &mut Vec<u32>) {
        out.extend(self.ids.iter().filter(|&&id| id != NO_ID));
        self.release();
    }

    /// Give back buffers that are large.
    pub fn release(&mut self) {
        if self.ids.capacity() > KEEP {
            *self = Self::default();
        }
    }

    /// The parts that are left: id, first symbol, and the symbol after the last.
    pub fn parts(&self) -> impl Iterator<Item = (u32, usize, usize)> {
        let parts = self.ids.iter().zip(&self.next).enumerate();
        let left = parts.filter(|(_, (id, _))| **id != NO_ID);
        left.map(|(at, (&id, &next))| (id, at, next as usize))
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

/// Merge the lowest rank first, leftmost first.
///
/// # Errors
///
/// `Memory`, `Interrupted`.
#[inline]
pub fn merge_long(long: &mut Long, pairs: &PairTable, control: &Control) -> Result<()> {
    if long.ids.len() >= HUGE && pairs.is_in_order() {
        merge_by_buckets(long, pairs, control)
    } else {
        merge_by_heap(long, pairs, control)
    }
}

/// Merge with a heap; right for merges in any order.
///
/// # Errors
///
/// `Memory`, `Interrupted`.
fn merge_by_heap(long: &mut Long, pairs: &PairTable, control: &Control) -> Result<()> {
    let entry = |pair: Joined, at: u32| Reverse(u64::from(pair.rank) << 32 | u64::from(at));
    let mut entries = std::mem::take(&mut long.heap);
    entries.clear();
    entries.try_reserve(long.joined.len())?;
    let mergeable = (0u32..).zip(&long.joined).filter(|(_, pair)| pair.rank != u32::MAX);
    entries.extend(mergeable.map(|(at, &pair)| entry(pair, at)));
    let mut heap = BinaryHeap::from(entries);
    let mut n_steps = 0usize;
    while let Some(Reverse(top)) = heap.pop() {
        n_steps += 1;
        if n_steps.is_multiple_of(STEPS_A_CHECK) {
            control.check()?;
        }
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

/// Refuse what is no probability.
///
/// # Errors
///
/// `Argument` for a `p` outside 0 to 1.
pub fn check_dropout(p: f64) -> Result<()> {
    if (0.0..=1.0).contains(&p) {
        return Ok(());
    }
    let message = format!("dropout is {p}; expected a probability from 0 to 1");
    Err(Error::new(Kind::Argument, message))
}

/// Merge as `merge_by_heap` does, but pass over each pair whose turn comes with probability `p`.
///
/// A merge done brings back the pairs passed over, so that every step draws again for each
/// of them, until one is merged or all are passed over.
///
/// Source: Provilkov, Emelianenko and Voita 2020, "BPE-Dropout", section 3.
///
/// # Errors
///
/// `Memory`.
pub fn merge_with_dropout(
    long: &mut Long,
    pairs: &PairTable,
    p: f64,
    random: &mut Random,
) -> Result<()> {
    let entry = |pair: Joined, at: u32| u64::from(pair.rank) << 32 | u64::from(at);
    let mut heap = BinaryHeap::new();
    heap.try_reserve(long.joined.len())?;
    let mergeable = (0u32..).zip(&long.joined).filter(|(_, pair)| pair.rank != u32::MAX);
    heap.extend(mergeable.map(|(at, &pair)| Reverse(entry(pair, at))));
    let mut passed_over: Vec<u64> = Vec::new();
    while let Some(Reverse(top)) = heap.pop() {
        let (rank, at) = ((top >> 32) as u32, top as u32);
        // Pairs of one rank may follow each other at one place: then an entry is there twice.
        if long.joined[at as usize].rank != rank || passed_over.last() == Some(&top) {
            continue;
        }
        if random.uniform() < p {
            passed_over.push(top);
            continue;
        }
        heap.extend(passed_over.drain(..).map(Reverse));
        for (at, pair) in long.join(at, pairs).into_iter().flatten() {
            if pair.rank != u32::MAX {
                heap.push(Reverse(entry(pair, at)));
            }
        }
    }
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
        ask_for_huge_pages(&mut self.nodes);
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
/// `Memory`, `Interrupted`.
fn merge_by_buckets(long: &mut Long, pairs: &PairTable, control: &Control) -> Result<()> {
    let mut buckets = std::mem::take(&mut long.buckets);
    buckets.begin(pairs.n_ranks(), long.ids.len())?;
    let mut unchecked = 0;
    for (at, pair) in (0u32..).zip(&long.joined) {
        if (at as usize).is_multiple_of(STEPS_A_CHECK) {
            control.check()?;
        }
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
                unchecked += 1;
                if unchecked == STEPS_A_CHECK {
                    unchecked = 0;
                    control.check()?;
                }
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
