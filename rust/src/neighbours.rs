//! Characters that stand side by side in tokens, so that texts can be cut between all others.

use foldhash::fast::RandomState;
use hashbrown::HashSet;

/// Which characters stand side by side in some token: between all others, every token ends.
#[derive(Debug, Default)]
pub struct Neighbours {
    /// By ASCII character: a bit for each ASCII character after it.
    ascii: Vec<u128>,
    others: HashSet<u64, RandomState>,
}

impl Neighbours {
    /// Let `first` stand behind `last` in a token.
    pub fn join(&mut self, last: u32, first: u32) {
        if last < 128 && first < 128 {
            self.ascii.resize(128, 0);
            if let Some(row) = self.ascii.get_mut(last as usize) {
                *row |= 1 << first;
            }
        } else {
            self.others.insert(u64::from(last) << 32 | u64::from(first));
        }
    }

    /// Whether `right` stands behind `left` in a token.
    #[inline(always)]
    #[must_use]
    pub fn has(&self, left: u32, right: u32) -> bool {
        if left < 128 && right < 128 {
            return self.ascii.get(left as usize).is_some_and(|row| row >> right & 1 == 1);
        }
        self.others.contains(&(u64::from(left) << 32 | u64::from(right)))
    }
}
