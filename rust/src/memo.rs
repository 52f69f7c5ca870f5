//! Remember the ids of pre-tokens: natural text repeats itself.
//!
//! Up to 15 bytes lie inline in a slot of 32, with up to three ids; longer pre-tokens and longer
//! encodings go to arenas. Each memo belongs to one call at a time and is bounded in bytes: when
//! full it forgets everything, which costs less than keeping track of age.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::sync::Mutex;

use crate::key::{Key, KeyHash, prefetch};
use crate::memory::ask_for_huge_pages;

/// Pre-tokens longer than this are not remembered.
pub const LONGEST: usize = 128;

const INLINE_IDS: usize = 3;
/// In `Slot::n_ids`: the ids are in `more_ids`, from `ids[0]` on, `ids[1]` many.
const ELSEWHERE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(32))]
struct Slot {
    key: Key,
    ids: [u32; INLINE_IDS],
    n_ids: u32,
}

#[derive(Debug)]
struct Long {
    start: usize,
    n_bytes: usize,
    first_id: usize,
    n_ids: usize,
}

/// A bounded map from pre-tokens to ids.
#[derive(Debug)]
pub struct Memo {
    max_bytes: usize,
    hash: KeyHash,
    slots: Vec<Slot>,
    n_used: usize,
    more_ids: Vec<u32>,
    long_hash: RandomState,
    long: HashTable<Long>,
    long_bytes: Vec<u8>,
    long_ids: Vec<u32>,
}

impl Memo {
    /// An empty memo that never holds more than `max_bytes`; one of 0 remembers nothing.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        let mut memo = Self {
            max_bytes,
            hash: KeyHash::default(),
            slots: Vec::new(),
            n_used: 0,
            more_ids: Vec::new(),
            long_hash: RandomState::default(),
            long: HashTable::new(),
            long_bytes: Vec::new(),
            long_ids: Vec::new(),
        };
        memo.resize(1 << 10);
        memo
    }

    /// Bytes held.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + (self.more_ids.capacity() + self.long_ids.capacity()) * size_of::<u32>()
            + self.long.allocation_size()
            + self.long_bytes.capacity()
    }

    /// Hash of a key.
    #[inline(always)]
    #[must_use]
    pub fn hash(&self, key: Key) -> u64 {
        self.hash.of(key)
    }

    /// Fetch the slot of a hash ahead of its look-up.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&self.slots, hash as usize & self.slots.len().wrapping_sub(1));
    }

    /// Append the remembered ids of a key; whether there were any.
    #[inline(always)]
    pub fn recall(&self, key: Key, hash: u64, ids: &mut Vec<u32>) -> bool {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize;
        while let Some(slot) = self.slots.get(at & mask) {
            if slot.key == key {
                if slot.n_ids <= INLINE_IDS as u32 {
                    push_inline(ids, slot.ids, slot.n_ids as usize);
                } else {
                    let first = slot.ids[0] as usize;
                    let more = self.more_ids.get(first..first + slot.ids[1] as usize);
                    ids.extend_from_slice(more.unwrap_or_default());
                }
                return true;
            }
            if slot.key.is_none() {
                return false;
            }
            at += 1;
        }
        false
    }

    /// Remember the ids of a key that `recall` did not find.
    pub fn remember(&mut self, key: Key, hash: u64, ids: &[u32]) {
        if 2 * (self.n_used + 1) > self.slots.len() {
            self.make_room();
            if 2 * (self.n_used + 1) > self.slots.len() {
                return;
            }
        }
        let mut slot = Slot { key, ids: [0; INLINE_IDS], n_ids: ids.len() as u32 };
        if let Some(inline) = slot.ids.get_mut(..ids.len()) {
            inline.copy_from_slice(ids);
        } else {
            let Ok(first) = u32::try_from(self.more_ids.len()) else { return };
            if !reserve(&mut self.more_ids, ids.len(), self.max_bytes / 16) {
                return;
            }
            self.more_ids.extend_from_slice(ids);
            slot.ids = [first, ids.len() as u32, 0];
            slot.n_ids = ELSEWHERE;
        }
        self.place(slot, hash);
        self.n_used += 1;
    }

    fn place(&mut self, slot: Slot, hash: u64) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize;
        while !self.slots[at & mask].key.is_none() {
            at += 1;
        }
        self.slots[at & mask] = slot;
    }

    /// Grow fourfold while half the budget allows, else forget.
    #[cold]
    fn make_room(&mut self) {
        let wanted = (self.slots.len() * 4).max(1 << 10);
        let old = std::mem::take(&mut self.slots);
        if self.resize(wanted) {
            for slot in old.into_iter().filter(|slot| !slot.key.is_none()) {
                self.place(slot, self.hash.of(slot.key));
            }
        } else {
            self.slots = old;
            self.slots.fill(Slot::default());
            self.n_used = 0;
            self.more_ids.clear();
        }
    }

    /// Replace the slots by `wanted` empty ones, or as many of a quarter's steps as may be.
    fn resize(&mut self, wanted: usize) -> bool {
        let limit = self.max_bytes / 2 / size_of::<Slot>();
        let mut slots = Vec::new();
        if wanted > limit || slots.try_reserve_exact(wanted).is_err() {
            return false;
        }
        ask_for_huge_pages(&mut slots);
        slots.resize(wanted, Slot::default());
        self.slots = slots;
        true
    }

    /// Append the remembered ids of a long pre-token; whether there were any.
    pub fn recall_long(&self, pretoken: &[u8], ids: &mut Vec<u32>) -> bool {
        let hash = self.long_hash.hash_one(pretoken);
        let found = self.long.find(hash, |long| {
            self.long_bytes.get(long.start..long.start + long.n_bytes) == Some(pretoken)
        });
        let Some(long) = found else { return false };
        let known = self.long_ids.get(long.first_id..long.first_id + long.n_ids);
        ids.extend_from_slice(known.unwrap_or_default());
        true
    }

    /// Remember the ids of a long pre-token that `recall_long` did not find.
    pub fn remember_long(&mut self, pretoken: &[u8], ids: &[u32]) {
        let (start, first_id) = (self.long_bytes.len(), self.long_ids.len());
        let share = self.max_bytes / 8;
        let hasher = &self.long_hash;
        let bytes = &mut self.long_bytes;
        let fits = (self.long.len() + 1) * 2 * size_of::<Long>() <= share
            && reserve(bytes, pretoken.len(), share)
            && reserve(&mut self.long_ids, ids.len(), share)
            && self
                .long
                .try_reserve(1, |long| {
                    hasher.hash_one(
                        bytes.get(long.start..long.start + long.n_bytes).unwrap_or_default(),
                    )
                })
                .is_ok();
        if !fits {
            self.long.clear();
            self.long_bytes.clear();
            self.long_ids.clear();
            return;
        }
        self.long_bytes.extend_from_slice(pretoken);
        self.long_ids.extend_from_slice(ids);
        let long = Long { start, n_bytes: pretoken.len(), first_id, n_ids: ids.len() };
        let (hasher, bytes) = (&self.long_hash, &self.long_bytes);
        self.long.insert_unique(hasher.hash_one(pretoken), long, |long| {
            hasher.hash_one(bytes.get(long.start..long.start + long.n_bytes).unwrap_or_default())
        });
    }
}

/// Room for `n` more items within `max_bytes`; whether it could be had.
fn reserve<T>(list: &mut Vec<T>, n: usize, max_bytes: usize) -> bool {
    let wanted = list.len() + n;
    if wanted <= list.capacity() {
        return true;
    }
    let grown = wanted.max(2 * list.capacity()).min(max_bytes / size_of::<T>());
    grown >= wanted && list.try_reserve_exact(grown - list.len()).is_ok()
}

/// Append the first `n` (at most three) of `three`.
#[inline(always)]
fn push_inline(ids: &mut Vec<u32>, three: [u32; INLINE_IDS], n: usize) {
    if ids.capacity() - ids.len() < INLINE_IDS {
        ids.reserve(INLINE_IDS);
    }
    // SAFETY: there is room for three ids behind the last one; `n` is at most three, and the
    // write made the first `n` of them initialized.
    unsafe {
        ids.as_mut_ptr().add(ids.len()).cast::<[u32; INLINE_IDS]>().write_unaligned(three);
        ids.set_len(ids.len() + n.min(INLINE_IDS));
    }
}

/// Memos that wait for the next call, so that a tokenizer stays warm between calls.
#[derive(Debug)]
pub struct MemoPool {
    max_bytes: usize,
    idle: Mutex<Vec<Memo>>,
}

/// Idle memos kept; more threads than that warm up anew.
const MOST_IDLE: usize = 16;

impl MemoPool {
    /// An empty pool of memos of at most `max_bytes` each.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        Self { max_bytes, idle: Mutex::new(Vec::new()) }
    }

    /// A memo for one call. Never waits: after a fork the lock may be held by nobody.
    #[must_use]
    pub fn take(&self) -> Memo {
        let idle = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| Memo::new(self.max_bytes))
    }

    /// Give a memo back.
    pub fn give_back(&self, memo: Memo) {
        if let Ok(mut idle) = self.idle.try_lock()
            && idle.len() < MOST_IDLE
        {
            idle.push(memo);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memo_gives_back_what_it_was_given_and_keeps_its_bound() {
        for max_bytes in [0, 1 << 10, 1 << 16, 1 << 22] {
            let mut memo = Memo::new(max_bytes);
            for i in 0..50_000u32 {
                let text = format!("{i:x}{}", "y".repeat(i as usize % 40));
                let ids: Vec<u32> = (0..i % 9).collect();
                let mut out = vec![7];
                match Key::of(text.as_bytes(), 0, text.len()) {
                    Some(key) => {
                        memo.remember(key, memo.hash(key), &ids);
                        let known = memo.recall(key, memo.hash(key), &mut out);
                        assert!(max_bytes < 1 << 16 || known || ids.len() > 3);
                    }
                    None => {
                        memo.remember_long(text.as_bytes(), &ids);
                        memo.recall_long(text.as_bytes(), &mut out);
                    }
                }
                assert!(out == [7] || out[1..] == ids);
                assert!(
                    memo.n_bytes() <= max_bytes.max(1 << 10),
                    "{} of {max_bytes}",
                    memo.n_bytes()
                );
            }
        }
    }
}
