//! Characters that stand side by side in tokens, so that texts can be cut between all others.

use foldhash::fast::RandomState;
use hashbrown::HashSet;

/// Which characters stand side by side in some token: between all others, every token ends.
#[derive(Debug, Default)]
pub struct Neighbours {
    /// By ASCII character: a bit for each ASCII character after it.
    ascii: Vec<u128>,
    others: HashSet<u64, RandomState>,
    /// A bit for some of the pairs of `others`: where it is not set, the pair is none of them.
    filter: Vec<u64>,
}

/// Bits of the filter: 32 KiB.
const FILTER_BITS: u32 = 18;

impl Neighbours {
    /// Let `first` stand behind `last` in a token.
    pub fn join(&mut self, last: u32, first: u32) {
        if last < 128 && first < 128 {
            self.ascii.resize(128, 0);
            if let Some(row) = self.ascii.get_mut(last as usize) {
                *row |= 1 << first;
            }
        } else {
            let pair = u64::from(last) << 32 | u64::from(first);
            self.others.insert(pair);
            self.filter.resize(1 << (FILTER_BITS - 6), 0);
            let bit = filter_bit(pair);
            if let Some(bits) = self.filter.get_mut(bit / 64) {
                *bits |= 1 << (bit % 64);
            }
        }
    }

    /// Whether `right` stands behind `left` in a token.
    #[inline(always)]
    #[must_use]
    pub fn has(&self, left: u32, right: u32) -> bool {
        if left < 128 && right < 128 {
            return self.ascii.get(left as usize).is_some_and(|row| row >> right & 1 == 1);
        }
        let pair = u64::from(left) << 32 | u64::from(right);
        let bit = filter_bit(pair);
        self.filter.get(bit / 64).is_some_and(|bits| bits >> (bit % 64) & 1 == 1)
            && self.others.contains(&pair)
    }
}

/// The place of a pair: Fibonacci hashing.
#[inline(always)]
fn filter_bit(pair: u64) -> usize {
    (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - FILTER_BITS)) as usize
}
