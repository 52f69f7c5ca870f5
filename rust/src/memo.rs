//! Remember the ids of pre-tokens: natural text repeats itself.
//!
//! A slot of 32 bytes holds a key, which is the pre-token itself up to 15 bytes, and up to three
//! ids. Longer pre-tokens, of which the key is a hash, and longer encodings lie in a ring of
//! bytes, where the newest take the place of the oldest. A table that may not grow replaces slots
//! one by one. So a memo is bounded in bytes and never forgets everything at once. Each belongs to
//! one call at a time.

use std::sync::Mutex;

use crate::key::{Key, KeyHash, prefetch};
use crate::memory::ask_for_huge_pages;

/// Ids that a slot holds.
pub const INLINE_IDS: usize = 3;
/// In `Slot::n_ids`: `ids` are the place in the ring, in two halves, and the number of ids.
const ELSEWHERE: u32 = u32::MAX;

/// A key lies in one of so many slots from its home on.
const WINDOW: usize = 8;

#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(32))]
struct Slot {
    key: Key,
    ids: [u32; INLINE_IDS],
    n_ids: u32,
}

/// A bounded map from pre-tokens to ids.
#[derive(Debug)]
pub struct Memo {
    max_bytes: usize,
    hash: KeyHash,
    slots: Vec<Slot>,
    n_used: usize,
    admission: Admission,
    ring: Ring,
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
            admission: Admission::default(),
            ring: Ring { max_bytes: max_bytes / 2, ..Ring::default() },
        };
        memo.resize(1 << 10);
        memo
    }

    /// Bytes held.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.ring.bytes.capacity()
    }

    /// The key of `text[start..end]`; `None` for one that is too long to remember.
    #[inline(always)]
    #[must_use]
    pub fn key(&self, text: &[u8], start: usize, end: usize) -> Option<Key> {
        self.hash.key(text, start, end)
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

    /// The ids of a key that lie in its slot: the first so many of three.
    #[inline(always)]
    #[must_use]
    pub fn recall_few(&self, probe: (Key, u64)) -> Option<([u32; INLINE_IDS], usize)> {
        let slot = self.find(probe)?;
        (slot.n_ids != ELSEWHERE).then_some((slot.ids, slot.n_ids as usize))
    }

    /// Append the remembered ids of a pre-token, given its key; whether there were any.
    #[inline]
    pub fn recall(&self, probe: (Key, u64), pretoken: &[u8], ids: &mut Vec<u32>) -> bool {
        match self.find(probe) {
            Some(slot) if slot.n_ids == ELSEWHERE => self.ring.recall(slot, pretoken, ids),
            Some(slot) => {
                ids.extend(slot.ids.iter().take(slot.n_ids as usize));
                true
            }
            None => false,
        }
    }

    #[inline(always)]
    fn find(&self, (key, hash): (Key, u64)) -> Option<&Slot> {
        let mask = self.slots.len().wrapping_sub(1);
        let home = hash as usize;
        for at in home..home.wrapping_add(WINDOW) {
            let slot = self.slots.get(at & mask)?;
            if slot.key.is_none() {
                return None;
            }
            if slot.key == key {
                return Some(slot);
            }
        }
        None
    }

    /// Remember the ids of a pre-token that `recall` did not find.
    pub fn remember(&mut self, (key, hash): (Key, u64), pretoken: &[u8], ids: &[u32]) {
        if 2 * (self.n_used + 1) > self.slots.len() {
            self.grow();
        }
        let mut slot = Slot { key, ids: [0; INLINE_IDS], n_ids: ids.len() as u32 };
        match slot.ids.get_mut(..ids.len()).filter(|_| !key.is_hash()) {
            Some(inline) => inline.copy_from_slice(ids),
            None => {
                let bytes = if key.is_hash() { pretoken } else { &[] };
                let Some(place) = self.ring.push(bytes, ids) else { return };
                slot.ids = [place as u32, (place >> 32) as u32, ids.len() as u32];
                slot.n_ids = ELSEWHERE;
            }
        }
        self.place(slot, hash);
    }

    /// Put a slot in the place of an outdated one, an empty one, or another one.
    fn place(&mut self, slot: Slot, hash: u64) {
        let mask = self.slots.len().wrapping_sub(1);
        let home = hash as usize;
        let window = (home..home.wrapping_add(WINDOW)).map(|at| at & mask);
        let free = window.into_iter().find(|&at| {
            self.slots.get(at).is_some_and(|old| old.key.is_none() || old.key == slot.key)
        });
        let is_full = 2 * self.n_used > self.slots.len();
        if free.is_none() && is_full && !self.admission.is_due() {
            return;
        }
        let at = free.unwrap_or_else(|| home.wrapping_add((hash >> 40) as usize % WINDOW) & mask);
        if let Some(old) = self.slots.get_mut(at) {
            self.n_used += usize::from(old.key.is_none());
            *old = slot;
        }
    }

    /// Double the slots while half the budget allows.
    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        if self.resize((old.len() * 2).max(1 << 10)) {
            self.n_used = 0;
            for slot in old.into_iter().filter(|slot| !slot.key.is_none()) {
                self.place(slot, self.hash.of(slot.key));
            }
        } else {
            self.slots = old;
        }
    }

    /// Replace the slots by `wanted` empty ones; whether that may be.
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
}

/// Lets one entry of four in where all places are taken. Were each let in, a text whose entries are
/// a little too many would find few of them when it comes to them again, and what is seen once
/// would drive out what is seen often.
#[derive(Debug, Default)]
struct Admission {
    n_refused: u32,
}

impl Admission {
    const ONE_OF: u32 = 4;

    fn is_due(&mut self) -> bool {
        self.n_refused += 1;
        let is_due = self.n_refused == Self::ONE_OF;
        if is_due {
            self.n_refused = 0;
        }
        is_due
    }
}

/// Bytes of pre-tokens and ids, one entry behind the other; full, it begins anew at the front.
///
/// Places count on over all that was ever written, so that none comes back.
#[derive(Debug, Default)]
struct Ring {
    bytes: Vec<u8>,
    max_bytes: usize,
    /// Where the next entry goes.
    head: u64,
    admission: Admission,
}

impl Ring {
    /// Add an entry and give its place; `None` where it does not fit.
    fn push(&mut self, pretoken: &[u8], ids: &[u32]) -> Option<u64> {
        let n_bytes = pretoken.len() + size_of_val(ids);
        let wraps = self.head > self.bytes.len() as u64;
        if wraps && !self.admission.is_due() {
            return None;
        }
        if !wraps && self.head as usize + n_bytes > self.bytes.len() {
            self.grow(n_bytes);
        }
        let size = self.bytes.len();
        if n_bytes > size {
            return None;
        }
        let mut at = (self.head % size as u64) as usize;
        if at + n_bytes > size {
            self.head += (size - at) as u64;
            at = 0;
        }
        let (text, rest) = self.bytes.get_mut(at..at + n_bytes)?.split_at_mut(pretoken.len());
        text.copy_from_slice(pretoken);
        for (bytes, id) in rest.as_chunks_mut::<4>().0.iter_mut().zip(ids) {
            *bytes = id.to_le_bytes();
        }
        let place = self.head;
        self.head += n_bytes as u64;
        Some(place)
    }

    /// Make the ring larger while nothing was overwritten; places stay.
    #[cold]
    fn grow(&mut self, n_bytes: usize) {
        let size = (self.bytes.len() * 2).max(1 << 12).max(n_bytes).min(self.max_bytes);
        let more = size.saturating_sub(self.bytes.len());
        if more > 0 && self.bytes.try_reserve_exact(more).is_ok() {
            ask_for_huge_pages(&mut self.bytes);
            self.bytes.resize(size, 0);
        }
    }

    /// Append the ids of a slot, if its entry is still there and of this pre-token.
    #[inline]
    fn recall(&self, slot: &Slot, pretoken: &[u8], ids: &mut Vec<u32>) -> bool {
        let place = u64::from(slot.ids[0]) | u64::from(slot.ids[1]) << 32;
        let size = self.bytes.len() as u64;
        if size == 0 || place + size < self.head {
            return false;
        }
        let at = (place % size) as usize;
        let n_known = if slot.key.is_hash() { slot.key.len() } else { 0 };
        let n_ids = slot.ids[2] as usize;
        let entry = self.bytes.get(at..at + n_known + n_ids * size_of::<u32>());
        let (known, rest) = entry.unwrap_or_default().split_at_checked(n_known).unwrap_or_default();
        if n_known > 0 && known != pretoken {
            return false;
        }
        ids.extend(rest.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)));
        true
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
        for max_bytes in [0, 1 << 10, 1 << 16, 1 << 20, 1 << 24] {
            let mut memo = Memo::new(max_bytes);
            for i in 0..50_000u32 {
                let text = format!("{i:x}{}", "y".repeat(i as usize % 40));
                let ids: Vec<u32> = (0..i % 9).collect();
                let mut out = vec![7];
                let text = text.as_bytes();
                let key = memo.key(text, 0, text.len()).expect("short enough");
                let probe = (key, memo.hash(key));
                memo.remember(probe, text, &ids);
                let known = memo.recall(probe, text, &mut out);
                let few = memo.recall_few(probe).map(|(three, n)| three[..n].to_vec());
                assert!(few.is_none_or(|few| few == ids));
                assert!(max_bytes < 1 << 24 || known);
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
