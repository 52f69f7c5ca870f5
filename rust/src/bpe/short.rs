//! Short pre-tokens: merged by scanning for the lowest rank.

use super::vocabulary::{Joined, NO_ID, PairTable};

/// Most symbols of a short pre-token. A power of two, so that places are masked, not checked.
pub const SHORT: usize = 64;

const MASK: usize = SHORT - 1;

/// Places that are compared at a time.
const AT_ONCE: usize = 4;

/// The order of a pair that never merges, or a greater one.
const NEVER: f64 = u32::MAX as f64 * SHORT as f64;

/// Up to `SHORT` symbols as a linked list of parts.
///
/// In `order` are the ranks of the parts with what follows them, times `SHORT`, plus their places:
/// the least is the leftmost pair of the lowest rank. They are whole numbers below 2^53, as
/// floats, because every x86 has an instruction for the least of two floats and none for the least
/// of two integers of 64 bits. Parts that are gone are infinite.
#[derive(Debug)]
pub struct Short {
    ids: [u32; SHORT],
    joined: [u32; SHORT],
    order: [f64; SHORT],
    next: [u8; SHORT + 1],
    previous: [u8; SHORT + 1],
    n: usize,
}

impl Default for Short {
    fn default() -> Self {
        Self {
            ids: [NO_ID; SHORT],
            joined: [NO_ID; SHORT],
            order: [f64::INFINITY; SHORT],
            next: [0; SHORT + 1],
            previous: [0; SHORT + 1],
            n: 0,
        }
    }
}

impl Short {
    /// Begin with the first `SHORT` of some symbols, and `joined(at)`, what each joins to with the
    /// one behind it.
    #[inline(always)]
    pub fn begin(
        &mut self,
        ids: impl Iterator<Item = u32>,
        mut joined: impl FnMut(usize) -> Joined,
    ) {
        self.n = 0;
        self.previous[0] = u8::MAX;
        for (at, id) in ids.enumerate().take(SHORT) {
            self.ids[at] = id;
            self.next[at] = at as u8 + 1;
            self.previous[at + 1] = at as u8;
            self.n = at + 1;
        }
        let n_pairs = self.n.saturating_sub(1);
        for at in 0..n_pairs {
            self.set(at, joined(at));
        }
        self.order[n_pairs..self.n.next_multiple_of(AT_ONCE)].fill(f64::INFINITY);
    }

    /// Say what the symbol of a place and the one behind it join to.
    #[inline(always)]
    pub fn set(&mut self, at: usize, joined: Joined) {
        self.joined[at & MASK] = joined.id;
        self.order[at & MASK] = (i64::from(joined.rank) * SHORT as i64 + at as i64) as f64;
    }

    /// Merge all that merges.
    #[inline(always)]
    pub fn merge(&mut self, pairs: &PairTable) {
        while let Some(changed) = self.join() {
            for at in changed.into_iter().flatten() {
                let (left, right) = self.pair(at);
                self.set(at, pairs.get(left, right));
            }
        }
    }

    /// Merge the first of the pairs of lowest rank, and give the places whose pairs are others now;
    /// `set` is to be called for them. None where no pair merges.
    #[inline(always)]
    pub fn join(&mut self) -> Option<[Option<usize>; 2]> {
        let least = self.least();
        if least >= NEVER {
            return None;
        }
        let at = least as i64 as usize & MASK;
        let right = usize::from(self.next[at]) & MASK;
        let after = usize::from(self.next[right]);
        self.ids[at] = self.joined[at];
        self.order[right] = f64::INFINITY;
        self.next[at] = after as u8;
        let mut changed = [None; 2];
        if after < self.n {
            self.previous[after & MASK] = at as u8;
            changed[0] = Some(at);
        } else {
            self.order[at] = f64::INFINITY;
        }
        let before = usize::from(self.previous[at]);
        if before < at {
            changed[1] = Some(before);
        }
        Some(changed)
    }

    #[inline(always)]
    fn least(&self) -> f64 {
        let lower = |a: f64, b: f64| if a < b { a } else { b };
        let mut least = [f64::INFINITY; AT_ONCE];
        let there = self.order.get(..self.n.next_multiple_of(AT_ONCE)).unwrap_or(&self.order);
        for four in there.as_chunks::<AT_ONCE>().0 {
            least = [
                lower(four[0], least[0]),
                lower(four[1], least[1]),
                lower(four[2], least[2]),
                lower(four[3], least[3]),
            ];
        }
        lower(lower(least[0], least[2]), lower(least[1], least[3]))
    }

    /// The symbol of a place, and the one behind it.
    #[inline(always)]
    pub fn pair(&self, at: usize) -> (u32, u32) {
        (self.ids[at & MASK], self.ids[usize::from(self.next[at & MASK]) & MASK])
    }

    /// What is left.
    #[inline(always)]
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        let places = std::iter::successors((self.n > 0).then_some(0), |&at| {
            Some(usize::from(self.next[at])).filter(|&at| at < self.n)
        });
        places.map(|at| self.ids[at & MASK])
    }
}

/// Merge the first `n` ids in place, at most `SHORT`; give how many are left.
#[inline(always)]
pub fn merge_short(ids: &mut [u32; SHORT], n: usize, pairs: &PairTable) -> usize {
    let n = n.min(SHORT);
    let mut short = Short::default();
    short.begin(ids[..n].iter().copied(), |at| pairs.get(ids[at & MASK], ids[(at + 1) & MASK]));
    short.merge(pairs);
    let mut n_left = 0;
    for id in short.ids() {
        ids[n_left & MASK] = id;
        n_left += 1;
    }
    n_left
}
