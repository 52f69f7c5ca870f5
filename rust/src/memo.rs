//! Remember the ids of pre-tokens: natural text repeats itself.
//!
//! A slot of 32 bytes holds a key, which is the pre-token itself up to 15 bytes, and its ids, where
//! they fit: three, or more of them in fewer bytes. Longer pre-tokens, of which the key is a hash,
//! and longer encodings lie in a ring of bytes, where the newest take the place of the oldest. A
//! table that may not grow replaces slots one by one. So a memo is bounded in bytes and never
//! forgets everything at once. Each belongs to one call at a time.

use std::sync::Mutex;

use crate::key::{Key, KeyHash, prefetch};
use crate::memory::{WORTH_IT, ask_for_huge_pages};

/// Ids of four bytes that a slot holds.
pub const INLINE_IDS: usize = 3;
/// Bytes of a slot beside its key and its tag.
const PAYLOAD: usize = 15;
/// The tag of a slot whose entry is in the ring.
const ELSEWHERE: u8 = u8::MAX;

/// A key lies in one of so many slots from its home on.
const WINDOW: usize = 16;

#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(32))]
struct Slot {
    key: Key,
    /// Fifteen bytes, little-endian: ids, or where they are. Then the tag: up to `INLINE_IDS`, so
    /// many ids of four bytes; else their width in bytes times 16 plus their number, or `ELSEWHERE`.
    words: [u32; 4],
}

impl Slot {
    fn new(key: Key, payload: [u8; PAYLOAD], tag: u8) -> Self {
        let mut bytes = [tag; 16];
        bytes[..PAYLOAD].copy_from_slice(&payload);
        let all = u128::from_le_bytes(bytes);
        Self {
            key,
            words: [all as u32, (all >> 32) as u32, (all >> 64) as u32, (all >> 96) as u32],
        }
    }

    /// A slot with the ids of a key that is the whole pre-token; `None` where they do not fit.
    fn inline(key: Key, ids: &[u32]) -> Option<Self> {
        let n_ids = ids.len();
        let width = if n_ids <= INLINE_IDS { size_of::<u32>() } else { narrowest(ids) };
        if key.is_hash() || n_ids * width > PAYLOAD {
            return None;
        }
        let mut payload = [0; PAYLOAD];
        pack(ids, width, &mut payload);
        let tag = if n_ids <= INLINE_IDS { n_ids } else { width << 4 | n_ids };
        Some(Self::new(key, payload, tag as u8))
    }

    /// A slot whose entry is in the ring.
    fn elsewhere(key: Key, entry: Entry) -> Self {
        let mut payload = [0; PAYLOAD];
        payload[..8].copy_from_slice(&entry.place.to_le_bytes());
        payload[8..12].copy_from_slice(&entry.n_ids.to_le_bytes());
        payload[12] = entry.width;
        Self::new(key, payload, ELSEWHERE)
    }

    #[inline(always)]
    fn tag(&self) -> u8 {
        (self.words[3] >> 24) as u8
    }

    #[inline(always)]
    fn payload(&self) -> [u8; 16] {
        let [a, b, c, d] = self.words;
        let (low, high) = (u64::from(a) | u64::from(b) << 32, u64::from(c) | u64::from(d) << 32);
        (u128::from(low) | u128::from(high) << 64).to_le_bytes()
    }

    /// Where the ring has the entry of this slot.
    #[inline(always)]
    fn entry(&self) -> Entry {
        let [low, high, n_ids, rest] = self.words;
        Entry { place: u64::from(low) | u64::from(high) << 32, n_ids, width: rest as u8 }
    }
}

/// Bytes that each of some ids fits in: many vocabularies have less than 65,536, and few 2²⁴.
fn narrowest(ids: &[u32]) -> usize {
    match ids.iter().fold(0, |all, id| all | id) {
        0..=0xFFFF => 2,
        0x1_0000..=0xFF_FFFF => 3,
        _ => 4,
    }
}

/// Write ids of `width` bytes each to the front of `bytes`.
fn pack(ids: &[u32], width: usize, bytes: &mut [u8]) {
    for (place, id) in bytes.chunks_exact_mut(width).zip(ids) {
        place.copy_from_slice(id.to_le_bytes().get(..width).unwrap_or_default());
    }
}

/// Append ids of `width` bytes each.
#[inline]
fn unpack(bytes: &[u8], width: u8, ids: &mut Vec<u32>) {
    match width {
        2 => ids.extend(bytes.as_chunks().0.iter().map(|&two| u32::from(u16::from_le_bytes(two)))),
        3 => ids
            .extend(bytes.as_chunks().0.iter().map(|&[a, b, c]| u32::from_le_bytes([a, b, c, 0]))),
        _ => ids.extend(bytes.as_chunks().0.iter().map(|&four| u32::from_le_bytes(four))),
    }
}

/// A bounded map from pre-tokens to ids.
#[derive(Debug)]
pub struct Memo {
    max_bytes: usize,
    hash: KeyHash,
    slots: Vec<Slot>,
    /// Slots that have all of their window behind them.
    n_homes: u64,
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
            n_homes: 0,
            n_used: 0,
            admission: Admission::default(),
            ring: Ring::default(),
        };
        memo.grow();
        memo
    }

    /// Bytes held: what is reserved beyond them was never touched.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        size_of_val(self.slots.as_slice()) + self.ring.bytes.len()
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
        prefetch(&self.slots, self.home(hash));
    }

    /// The ids of a key that lie in its slot: the first so many of three.
    #[inline(always)]
    #[must_use]
    pub fn recall_few(&self, probe: (Key, u64)) -> Option<([u32; INLINE_IDS], usize)> {
        let slot = self.find(probe)?;
        let n_ids = usize::from(slot.tag());
        let [one, two, three, _] = slot.words;
        (n_ids <= INLINE_IDS).then_some(([one, two, three], n_ids))
    }

    /// Append the remembered ids of a pre-token, given its key; whether there were any.
    #[inline]
    pub fn recall(&self, probe: (Key, u64), pretoken: &[u8], ids: &mut Vec<u32>) -> bool {
        let Some(slot) = self.find(probe) else { return false };
        let (width, n_ids) = match slot.tag() {
            ELSEWHERE => return self.ring.recall(slot, pretoken, ids),
            n_ids if usize::from(n_ids) <= INLINE_IDS => (4, n_ids),
            tag => (tag >> 4, tag & 15),
        };
        let n_bytes = usize::from(width) * usize::from(n_ids);
        unpack(slot.payload().get(..n_bytes).unwrap_or_default(), width, ids);
        true
    }

    /// The first of the slots that a hash may be in. Ever greater hashes have ever later ones,
    /// whatever the number of slots.
    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * u128::from(self.n_homes)) >> 64) as usize
    }

    #[inline(always)]
    fn find(&self, (key, hash): (Key, u64)) -> Option<&Slot> {
        let home = self.home(hash);
        for slot in self.slots.get(home..home + WINDOW)? {
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
        let slot = Slot::inline(key, ids).or_else(|| {
            let bytes = if key.is_hash() { pretoken } else { &[] };
            let room = self.max_bytes.saturating_sub(size_of_val(self.slots.as_slice()));
            let entry = self.ring.push(bytes, ids, room.min(self.max_bytes / 2))?;
            Some(Slot::elsewhere(key, entry))
        });
        if let Some(slot) = slot {
            self.place(slot, hash);
        }
    }

    /// Put a slot in the place of an outdated one, an empty one, or another one.
    fn place(&mut self, slot: Slot, hash: u64) {
        let home = self.home(hash);
        let is_full = 2 * self.n_used > self.slots.len();
        let Some(window) = self.slots.get_mut(home..home + WINDOW) else { return };
        let free = window.iter().position(|old| old.key.is_none() || old.key == slot.key);
        if free.is_none() && is_full && !self.admission.is_due() {
            return;
        }
        if let Some(old) = window.get_mut(free.unwrap_or(hash as usize % WINDOW)) {
            self.n_used += usize::from(old.key.is_none());
            *old = slot;
        }
    }

    /// Double the slots; the last time, leave the ring twice of what it has, and at least its
    /// sixteenth.
    ///
    /// In place, since two tables would pass the bound, and from the back, since each slot goes
    /// further back. What finds all of its window taken is forgotten.
    #[cold]
    fn grow(&mut self) {
        let n_before = self.slots.len();
        let for_ring = (2 * self.ring.bytes.len()).clamp(self.max_bytes / 16, self.max_bytes / 2);
        let most = (self.max_bytes - for_ring) / size_of::<Slot>();
        let wanted = (2 * n_before).max(1 << 10).min(most);
        if wanted < n_before + n_before / 8 || wanted < WINDOW || !self.reserve(wanted) {
            return;
        }
        self.slots.resize(wanted, Slot::default());
        self.n_homes = (wanted - (WINDOW - 1)) as u64;
        for at in (0..n_before).rev() {
            let slot = self.slots.get_mut(at).map(std::mem::take).unwrap_or_default();
            if !slot.key.is_none() {
                self.n_used -= 1;
                self.place(slot, self.hash.of(slot.key));
            }
        }
    }

    /// Whether there is memory for `n_slots`. A table that is no longer small has all that it may
    /// come to reserved, so that it never moves and its pages stay huge: what is reserved and not
    /// touched costs nothing.
    fn reserve(&mut self, n_slots: usize) -> bool {
        let is_small = n_slots * size_of::<Slot>() < WORTH_IT;
        let all = if is_small { n_slots } else { self.max_bytes / size_of::<Slot>() };
        let is_reserved = n_slots <= self.slots.capacity()
            || [all, n_slots]
                .into_iter()
                .any(|capacity| self.slots.try_reserve_exact(capacity - self.slots.len()).is_ok());
        ask_for_huge_pages(&mut self.slots);
        is_reserved
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

/// Where an entry of the ring is: `width` bytes for each id.
#[derive(Debug, Clone, Copy)]
struct Entry {
    place: u64,
    n_ids: u32,
    width: u8,
}

/// Bytes of pre-tokens and ids, one entry behind the other; full, it begins anew at the front.
///
/// Places count on over all that was ever written, so that none comes back.
#[derive(Debug, Default)]
struct Ring {
    bytes: Vec<u8>,
    /// Where the next entry goes.
    head: u64,
    admission: Admission,
}

impl Ring {
    /// Add an entry to the ring, which may grow to `room` bytes; `None` where it does not fit.
    fn push(&mut self, pretoken: &[u8], ids: &[u32], room: usize) -> Option<Entry> {
        let width = narrowest(ids);
        let n_bytes = pretoken.len() + width * ids.len();
        let wraps = self.head > self.bytes.len() as u64;
        if wraps && !self.admission.is_due() {
            return None;
        }
        if !wraps && self.head as usize + n_bytes > self.bytes.len() {
            self.grow(n_bytes, room);
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
        pack(ids, width, rest);
        let place = self.head;
        self.head += n_bytes as u64;
        Some(Entry { place, n_ids: ids.len() as u32, width: width as u8 })
    }

    /// Make the ring larger while nothing was overwritten; places stay.
    #[cold]
    fn grow(&mut self, n_bytes: usize, room: usize) {
        let size = (self.bytes.len() * 2).max(1 << 12).max(n_bytes).min(room);
        let more = size.saturating_sub(self.bytes.len());
        if more > 0 && self.bytes.try_reserve_exact(more).is_ok() {
            ask_for_huge_pages(&mut self.bytes);
            self.bytes.resize(size, 0);
        }
    }

    /// Append the ids of a slot, if its entry is still there and of this pre-token.
    #[inline]
    fn recall(&self, slot: &Slot, pretoken: &[u8], ids: &mut Vec<u32>) -> bool {
        let Entry { place, n_ids, width } = slot.entry();
        let size = self.bytes.len() as u64;
        if size == 0 || place + size < self.head {
            return false;
        }
        let at = (place % size) as usize;
        let n_known = if slot.key.is_hash() { slot.key.len() } else { 0 };
        let entry = self.bytes.get(at..at + n_known + n_ids as usize * usize::from(width));
        let (known, rest) = entry.unwrap_or_default().split_at_checked(n_known).unwrap_or_default();
        if n_known > 0 && known != pretoken {
            return false;
        }
        unpack(rest, width, ids);
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

    #[derive(Default)]
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            (self.0 >> 33) % limit
        }
    }

    /// A text and its ids, as numbers of every width; the same for the same `i`.
    fn entry(i: u64) -> (Vec<u8>, Vec<u32>) {
        let mut random = Random(i);
        let mut text = i.to_string().into_bytes();
        text.resize(text.len() + random.below(30) as usize, b'y');
        let limit = [1 << 8, 1 << 16, 1 << 20, 1 << 24, 1 << 32][random.below(5) as usize];
        let ids =
            (0..random.below(9)).map(|_| (random.below(1 << 31) * 2 % limit) as u32).collect();
        (text, ids)
    }

    #[test]
    fn a_memo_agrees_with_a_map_whatever_it_forgets() {
        for max_bytes in [0, 1 << 10, 1 << 14, 1 << 20, 5 << 20, 1 << 24] {
            let mut memo = Memo::new(max_bytes);
            let mut random = Random::default();
            let mut seen = std::collections::HashSet::new();
            let (mut n_seen, mut n_recalled) = (0, 0);
            for _ in 0..100_000 {
                let i = random.below(40_000);
                let (text, expected) = entry(i);
                let key = memo.key(&text, 0, text.len()).expect("short enough");
                let probe = (key, memo.hash(key));
                let few = memo.recall_few(probe).map(|(three, n)| three[..n].to_vec());
                let mut ids = vec![7];
                let is_known = memo.recall(probe, &text, &mut ids);
                assert_eq!(ids[1..], if is_known { expected.clone() } else { Vec::new() });
                assert!(few.is_none_or(|few| few == expected));
                assert!(!is_known || seen.contains(&i));
                n_seen += u32::from(!seen.insert(i));
                n_recalled += u32::from(is_known);
                if !is_known {
                    memo.remember(probe, &text, &expected);
                }
                assert!(memo.n_bytes() <= max_bytes);
            }
            let is_used = memo.slots.iter().filter(|slot| !slot.key.is_none()).count();
            assert_eq!(memo.n_used, is_used);
            assert!(max_bytes < 5 << 20 || n_recalled + n_seen / 1000 >= n_seen);
            assert!(max_bytes < 1 << 20 || 5 * n_recalled > n_seen);
        }
    }

    #[test]
    fn entries_that_collide_are_told_apart() {
        let mut memo = Memo::new(1 << 20);
        let mut known = 0;
        for i in 0..100u32 {
            let text = i.to_string();
            let key = memo.key(text.as_bytes(), 0, text.len()).expect("short enough");
            memo.remember((key, 12), text.as_bytes(), &[i]);
        }
        for i in 0..100u32 {
            let text = i.to_string();
            let key = memo.key(text.as_bytes(), 0, text.len()).expect("short enough");
            let mut ids = Vec::new();
            let is_known = memo.recall((key, 12), text.as_bytes(), &mut ids);
            assert_eq!(ids, if is_known { vec![i] } else { Vec::new() });
            known += usize::from(is_known);
        }
        assert_eq!(known, WINDOW);
        let (one, other) = ([b'a'; 20], [b'b'; 20]);
        let key = memo.key(&one, 0, 20).expect("short enough");
        memo.remember((key, 99 << 40), &one, &[1, 2]);
        let mut ids = Vec::new();
        assert!(!memo.recall((key, 99 << 40), &other, &mut ids) && ids.is_empty());
        assert!(memo.recall((key, 99 << 40), &one, &mut ids) && ids == [1, 2]);
    }

    #[test]
    fn a_table_that_is_all_slots_leaves_the_ring_its_sixteenth() {
        let mut memo = Memo::new(8 << 20);
        for i in 0..1_000_000u64 {
            let text = i.to_le_bytes();
            let key = memo.key(&text, 0, 8).expect("short enough");
            memo.remember((key, memo.hash(key)), &text, &[i as u32; 3]);
        }
        assert_eq!(size_of_val(memo.slots.as_slice()), 15 << 19);
        assert!(memo.n_used > memo.slots.len() / 10 * 9);
    }
}
