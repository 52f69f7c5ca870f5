//! Cut pre-tokens of Chinese, Hindi and others between characters that no merge joins.
//!
//! A text without spaces has long pre-tokens, hardly one of them twice, of which short words that
//! come again and again are made; long words of other scripts are made of parts that do. Only
//! characters of three bytes are looked at, of which few fill a key. A token lies over a place only
//! if some merge has on its left what stands on the left there, and on its right what stands on the
//! right. Between places where none has, a stretch of text becomes the same ids wherever it
//! stands, and is mostly short enough to be remembered.

use crate::error::Result;
use crate::key::INLINE;

/// Bits that tell the sides of merges: 128 KiB. A few in a hundred pairs that no merge has pass too;
/// they are not cut.
const FILTER_BITS: u32 = 20;

/// Bytes without an edge behind which none is looked for: so that no call is long, and what takes
/// a rest of any length looks at the stop flag.
const FAR: usize = 1 << 16;

/// Most bytes of a side that are looked at: a character.
const SIDE: usize = 3;

/// Where stretches of a pre-token end.
#[derive(Debug, Default)]
pub struct Edges {
    filter: Vec<u64>,
    /// By the last byte on the left and the first on the right: which lengths of sides there are.
    lengths: Vec<u16>,
}

impl Edges {
    /// No merges yet.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn new() -> Result<Self> {
        let mut edges = Self::default();
        edges.filter.try_reserve_exact(1 << (FILTER_BITS - 6))?;
        edges.filter.resize(1 << (FILTER_BITS - 6), 0);
        edges.lengths.try_reserve_exact(1 << 10)?;
        edges.lengths.resize(1 << 10, 0);
        Ok(edges)
    }

    /// Note the two sides of a merge.
    pub fn add(&mut self, left: &[u8], right: &[u8]) {
        let (Some(&last), Some(&first)) = (left.last(), right.first()) else { return };
        if !is_lead(first) || last < 0x80 {
            return;
        }
        let (left_length, right_length) = (left.len().min(SIDE), right.len().min(SIDE));
        if let Some(lengths) = self.lengths.get_mut(row(last, first)) {
            *lengths |= 1 << (4 * (left_length - 1) + right_length);
        }
        let left_side = left.iter().rev().zip([0, 8, 16]);
        let right_side = right.iter().zip([40, 32, 24]);
        let sides = left_side.chain(right_side).fold(0, |all, (&b, at)| all | u64::from(b) << at);
        let bit = bit_of(sides);
        if let Some(bits) = self.filter.get_mut(bit / 64) {
            *bits |= 1 << (bit % 64);
        }
    }

    /// Cut nothing: a token is there that merges do not make, so that a pre-token and a stretch
    /// which spell it differ.
    pub fn give_up(&mut self) {
        self.filter = Vec::new();
    }

    /// Whether a token may be one that has edges inside.
    #[must_use]
    pub fn concern(token: &[u8]) -> bool {
        token.iter().any(|&byte| is_lead(byte))
    }

    /// Give the ends of the stretches of consecutive pre-tokens, `N` at a time: of long ones of
    /// several, of others the whole.
    ///
    /// # Errors
    ///
    /// Those of `give`.
    #[inline]
    pub fn stretches<const N: usize>(
        &self,
        text: &[u8],
        from: usize,
        ends: &[usize],
        mut give: impl FnMut(&[usize]) -> Result<()>,
    ) -> Result<()> {
        let (mut stretches, mut n_stretches) = ([0; N], 0);
        let mut start = from;
        for &end in ends {
            let is_cut = end - start > INLINE && self.cut(text, start, end);
            while start < end {
                start = if is_cut { self.reach(text, start, end) } else { end };
                stretches[n_stretches] = start;
                n_stretches += 1;
                if n_stretches == N {
                    give(&stretches)?;
                    n_stretches = 0;
                }
            }
        }
        give(&stretches[..n_stretches])
    }

    /// Whether the pre-token `text[start..end]` is better remembered stretch by stretch.
    #[inline]
    fn cut(&self, text: &[u8], start: usize, end: usize) -> bool {
        let last = end.wrapping_sub(SIDE);
        last > start && !self.filter.is_empty() && text.get(last).is_some_and(|&b| is_lead(b))
    }

    /// The end of the stretch of a pre-token, which ends at `end`, that begins at `start`.
    #[inline]
    fn reach(&self, text: &[u8], start: usize, end: usize) -> usize {
        let mut at = start + 1;
        while at < end.min(start + FAR) {
            let around = at.checked_sub(SIDE).and_then(|from| text.get(from..end)?.first_chunk());
            if around.is_some_and(|around| self.is_edge(around)) {
                return at;
            }
            at += if text.get(at).is_some_and(|&byte| is_lead(byte)) { SIDE } else { 1 };
        }
        end
    }

    /// Whether no merge joins the third and the fourth of the bytes, characters ending and
    /// beginning there.
    #[inline(always)]
    fn is_edge(&self, around: &[u8; 2 * SIDE]) -> bool {
        let [left, _, last, first, ..] = *around;
        if !is_lead(first) || !is_lead(left) || last < 0x80 {
            return false;
        }
        let mut lengths = self.lengths.get(row(last, first)).copied().unwrap_or(0);
        let sides = u64::from_be_bytes([0, 0, first, around[4], around[5], left, around[1], last]);
        while lengths != 0 {
            let length = lengths.trailing_zeros();
            lengths &= lengths - 1;
            let left_bits = u64::MAX >> (64 - 8 * (length / 4 + 1));
            let right_bits = (u64::MAX << (24 + 8 * (SIDE as u32 - length % 4))) & (u64::MAX >> 16);
            let bit = bit_of(sides & (left_bits | right_bits));
            if self.filter.get(bit / 64).is_none_or(|bits| bits >> (bit % 64) & 1 == 1) {
                return false;
            }
        }
        true
    }
}

/// Whether a byte is the first of a character of three.
#[inline(always)]
fn is_lead(byte: u8) -> bool {
    matches!(byte, 0xE0..=0xEF)
}

#[inline(always)]
fn row(last: u8, first: u8) -> usize {
    usize::from(first & 15) << 6 | usize::from(last & 0x3F)
}

/// The place of two sides: Fibonacci hashing.
#[inline(always)]
fn bit_of(sides: u64) -> usize {
    (sides.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - FILTER_BITS)) as usize
}
