//! Pre-tokens as table keys: up to 15 bytes inline, compared whole and hashed with one multiply.

use std::hash::{BuildHasher, RandomState};

/// Bytes that an inline key holds.
pub const INLINE: usize = 15;

/// Bytes of the longest text that has a key of its hash.
pub const LONGEST: usize = 128;

/// Up to 15 bytes, zero-padded, with their number in the top byte; all zero is no key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Key {
    /// Bytes 0–7, little-endian.
    pub low: u64,
    /// Bytes 8–14, little-endian, and the length.
    pub high: u64,
}

impl Key {
    /// The key of `text[start..end]`, which holds 1 to 15 bytes; `None` for other lengths.
    #[inline(always)]
    #[must_use]
    pub fn of(text: &[u8], start: usize, end: usize) -> Option<Self> {
        let n_bytes = end.wrapping_sub(start);
        if n_bytes.wrapping_sub(1) >= INLINE {
            return None;
        }
        let (low, high) = match text.get(start..).and_then(|rest| rest.first_chunk::<16>()) {
            Some(bytes) => halves(bytes),
            None => {
                let mut bytes = [0; 16];
                bytes[..n_bytes].copy_from_slice(text.get(start..end)?);
                halves(&bytes)
            }
        };
        let [keep_low, keep_high] = KEEP[n_bytes];
        Some(Self { low: low & keep_low, high: high & keep_high | (n_bytes as u64) << 56 })
    }

    /// Whether the key is a hash: equal keys may then be of different texts.
    #[inline(always)]
    #[must_use]
    pub fn is_hash(self) -> bool {
        self.len() > INLINE
    }

    /// Whether this is no key.
    #[inline(always)]
    #[must_use]
    pub fn is_none(self) -> bool {
        self.high == 0
    }

    /// The bytes, of which the first `len()` count.
    #[must_use]
    pub fn bytes(self) -> [u8; 16] {
        (u128::from(self.low) | u128::from(self.high & (u64::MAX >> 8)) << 64).to_le_bytes()
    }

    /// What sorts keys as their bytes sort; no key comes first.
    #[inline]
    #[must_use]
    pub fn order(self) -> (u64, u64) {
        // The padding is zero, so of keys with equal bytes the shorter one is the front.
        (self.low.swap_bytes(), (self.high << 8).swap_bytes() << 8 | self.high >> 56)
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(self) -> usize {
        (self.high >> 56) as usize
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

#[inline(always)]
fn halves(bytes: &[u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(*bytes);
    (both as u64, (both >> 64) as u64)
}

/// Bits to keep of the two halves, by length.
static KEEP: [[u64; 2]; 16] = {
    let mut keep = [[0; 2]; 16];
    let mut n_bytes = 0;
    while n_bytes < 16 {
        let bits = if n_bytes == 0 { 0 } else { u128::MAX >> (128 - 8 * n_bytes) };
        keep[n_bytes] = [bits as u64, (bits >> 64) as u64];
        n_bytes += 1;
    }
    keep
};

/// A seeded hash of keys: who writes the text cannot choose what collides.
#[derive(Debug, Clone, Copy)]
pub struct KeyHash {
    seeds: [u64; 2],
}

impl Default for KeyHash {
    fn default() -> Self {
        let random = RandomState::new();
        Self { seeds: [random.hash_one(1), random.hash_one(2)] }
    }
}

impl KeyHash {
    /// Hash a key: a 64 by 64 bit multiply, its halves folded.
    #[inline(always)]
    #[must_use]
    pub fn of(&self, key: Key) -> u64 {
        let product = u128::from(key.low ^ self.seeds[0]) * u128::from(key.high ^ self.seeds[1]);
        product as u64 ^ (product >> 64) as u64
    }
}

impl KeyHash {
    /// The key of `text[start..end]`: its bytes, or their hash if it has 16 to 128 of them.
    #[inline(always)]
    #[must_use]
    pub fn key(&self, text: &[u8], start: usize, end: usize) -> Option<Key> {
        Key::of(text, start, end).or_else(|| self.long_key(text.get(start..end)?))
    }

    /// The key of a text of 16 to 128 bytes: 120 bits of hash, and the length.
    #[inline(never)]
    fn long_key(&self, bytes: &[u8]) -> Option<Key> {
        let last = bytes.last_chunk::<16>().filter(|_| bytes.len() <= LONGEST)?;
        let [mut low, mut high] = self.seeds;
        let mut mix = |block: &[u8; 16]| {
            let (one, two) = halves(block);
            let product = u128::from(one ^ low) * u128::from(two ^ high);
            (low, high) = (one ^ product as u64, two ^ (product >> 64) as u64);
        };
        let (blocks, _) = bytes.as_chunks::<16>();
        blocks.iter().for_each(&mut mix);
        mix(last);
        Some(Key { low, high: high & (u64::MAX >> 8) | (bytes.len() as u64) << 56 })
    }
}

/// Ask the CPU to fetch the cache line of `slots[index]`.
#[inline(always)]
pub fn prefetch<T>(slots: &[T], index: usize) {
    if let Some(slot) = slots.get(index) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch of an address inside a live slice; it reads nothing.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(slot).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_holds_its_bytes_wherever_they_stand() {
        let text: Vec<u8> = (0..40).collect();
        for start in 0..40 {
            for n_bytes in 1..=INLINE.min(40 - start) {
                let key = Key::of(&text, start, start + n_bytes).expect("inline");
                assert_eq!(key.len(), n_bytes);
                assert_eq!(key.bytes()[..n_bytes], text[start..start + n_bytes]);
            }
            assert_eq!(Key::of(&text, start, start), None);
            assert_eq!(Key::of(&text, start, start + 16), None);
        }
    }

    #[test]
    fn keys_sort_as_their_bytes() {
        let texts: [&[u8]; 9] = [
            b"a",
            b"a\0",
            b"a\0\0",
            b"ab",
            b"abcdefgh",
            b"abcdefgh\0",
            b"abcdefghi",
            b"b",
            b"\xff",
        ];
        for (at, text) in texts.iter().enumerate() {
            for (other_at, other) in texts.iter().enumerate() {
                let order = |text: &[u8]| Key::of(text, 0, text.len()).unwrap().order();
                assert_eq!(order(text).cmp(&order(other)), at.cmp(&other_at));
            }
        }
    }

    #[test]
    fn trailing_nul_makes_another_key() {
        assert_ne!(Key::of(b"a\0", 0, 1), Key::of(b"a\0", 0, 2));
    }
}
