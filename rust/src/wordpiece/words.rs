//! Words as linked symbols in one flat array, and where each pair occurs in them.
//!
//! Every merge visits only the occurrences of its pair. Positions rise from left to right and
//! from word to word, so the smallest position at which a pair still stands is its first.

use crate::error::{Error, Kind, Result};
use crate::parallel::Control;

/// No symbol, or no position.
pub const NONE: u32 = u32::MAX;

/// One symbol of a word; neighbours are positions.
#[derive(Debug, Clone, Copy)]
struct Node {
    symbol: u32,
    previous: u32,
    next: u32,
    word: u32,
}

const ABSENT: Node = Node { symbol: NONE, previous: NONE, next: NONE, word: NONE };

/// A run of symbols that merges may join, and how often it counts.
#[derive(Debug, Default)]
pub struct Words {
    nodes: Vec<Node>,
    counts: Vec<u64>,
}

/// The neighbour of a merged pair that one side of the change is about.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    /// The neighbour.
    pub symbol: u32,
    /// Occurrences that its pair with the old symbol lost.
    pub lost: u64,
    /// Occurrences that its pair with the new symbol won.
    pub gained: u64,
    /// The positions of the latter: this many in `Changes::positions`, ending at `end`.
    pub n_positions: u32,
    /// See `n_positions`.
    pub end: usize,
}

/// Changes on one side of the merged pair, one for each distinct neighbour.
#[derive(Debug, Default)]
pub struct Changes {
    /// In the order in which the neighbours were met.
    pub changes: Vec<Change>,
    /// Positions of the new pairs, grouped by neighbour, rising within a group.
    pub positions: Vec<u32>,
    place_of: Vec<u32>,
    met: Vec<(u32, u32)>,
}

impl Changes {
    fn of(&mut self, symbol: u32) -> (u32, Option<&mut Change>) {
        let slot = symbol as usize;
        if self.place_of.len() <= slot {
            self.place_of.resize(slot + 1, NONE);
        }
        let next = u32::try_from(self.changes.len()).unwrap_or(NONE);
        let place = match self.place_of.get_mut(slot) {
            Some(place) if *place == NONE => {
                *place = next;
                self.changes.push(Change { symbol, lost: 0, gained: 0, n_positions: 0, end: 0 });
                next
            }
            Some(place) => *place,
            None => NONE,
        };
        (place, self.changes.get_mut(place as usize))
    }

    fn lose(&mut self, symbol: u32, count: u64) {
        if let (_, Some(change)) = self.of(symbol) {
            change.lost = change.lost.wrapping_add(count);
        }
    }

    fn gain(&mut self, symbol: u32, count: u64, position: u32) {
        let (place, change) = self.of(symbol);
        if let Some(change) = change {
            change.gained = change.gained.wrapping_add(count);
            change.n_positions += 1;
        }
        self.met.push((place, position));
    }

    /// Group the positions met, by counting.
    fn finish(&mut self) {
        let mut end = 0;
        for change in &mut self.changes {
            change.end = end;
            end += change.n_positions as usize;
            if let Some(place) = self.place_of.get_mut(change.symbol as usize) {
                *place = NONE;
            }
        }
        self.positions.clear();
        self.positions.resize(self.met.len(), NONE);
        for (place, position) in self.met.drain(..) {
            if let Some(change) = self.changes.get_mut(place as usize)
                && let Some(slot) = self.positions.get_mut(change.end)
            {
                *slot = position;
                change.end += 1;
            }
        }
    }

    /// The positions of one of `changes`.
    pub fn positions_of(&self, change: &Change) -> &[u32] {
        let start = change.end.saturating_sub(change.n_positions as usize);
        self.positions.get(start..change.end).unwrap_or(&[])
    }
}

impl Words {
    /// Append a word of two or more symbols; `count` is positive.
    pub fn push(&mut self, symbols: &[u32], count: u64) -> Result<()> {
        let start = self.nodes.len();
        if start + symbols.len() >= NONE as usize {
            return Err(Error::new(
                Kind::Memory,
                "the distinct pre-tokens hold more than 2^32 - 2 characters; drop the rarest",
            ));
        }
        self.nodes.try_reserve(symbols.len())?;
        let word = self.counts.len() as u32;
        let end = start + symbols.len();
        for (at, &symbol) in (start..end).zip(symbols) {
            let previous = if at > start { at as u32 - 1 } else { NONE };
            let next = if at + 1 < end { at as u32 + 1 } else { NONE };
            self.nodes.push(Node { symbol, previous, next, word });
        }
        self.counts.push(count);
        Ok(())
    }

    /// Each adjacent pair of symbols: left, right, position of the left one, count of the word.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32, u32, u64)> {
        self.nodes.iter().zip(0..).filter_map(|(node, position)| {
            let right = self.node(node.next);
            (right.symbol != NONE).then(|| (node.symbol, right.symbol, position, self.count(node)))
        })
    }

    /// Whether `left` and `right` stand at `position`.
    #[inline]
    pub fn has(&self, position: u32, left: u32, right: u32) -> bool {
        let node = self.node(position);
        node.symbol == left && self.node(node.next).symbol == right
    }

    /// Replace `(left, right)` by `merged` at each of `positions`, which rise.
    ///
    /// Left to right, not overlapping. `before` and `after` receive the changes of the pairs with
    /// the neighbours on either side; the sum of the counts of the places replaced is returned.
    pub fn merge(
        &mut self,
        (left, right, merged): (u32, u32, u32),
        positions: &[u32],
        before: &mut Changes,
        after: &mut Changes,
        control: &Control,
    ) -> Result<u64> {
        before.changes.clear();
        after.changes.clear();
        let mut n_merged = 0_u64;
        let mut last_site = NONE;
        for (&position, visit) in positions.iter().zip(0_usize..) {
            if visit.is_multiple_of(1 << 20) {
                control.check()?;
            }
            let first = self.node(position);
            let second = self.node(first.next);
            if first.symbol != left || second.symbol != right {
                continue;
            }
            let count = self.count(&first);
            n_merged = n_merged.wrapping_add(count);
            let previous = self.node(first.previous);
            if previous.symbol != NONE {
                // The pair that links two places in a row was seen as lost from the first one.
                if first.previous != last_site {
                    before.lose(previous.symbol, count);
                }
                before.gain(previous.symbol, count, first.previous);
            }
            let next = self.node(second.next);
            if next.symbol != NONE {
                after.lose(next.symbol, count);
                let is_next_site = next.symbol == left && self.node(next.next).symbol == right;
                if !is_next_site {
                    after.gain(next.symbol, count, position);
                }
                if let Some(node) = self.nodes.get_mut(second.next as usize) {
                    node.previous = position;
                }
            }
            if let Some(node) = self.nodes.get_mut(first.next as usize) {
                *node = ABSENT;
            }
            if let Some(node) = self.nodes.get_mut(position as usize) {
                node.symbol = merged;
                node.next = second.next;
            }
            last_site = position;
        }
        before.finish();
        after.finish();
        Ok(n_merged)
    }

    #[inline]
    fn node(&self, position: u32) -> Node {
        self.nodes.get(position as usize).copied().unwrap_or(ABSENT)
    }

    #[inline]
    fn count(&self, node: &Node) -> u64 {
        self.counts.get(node.word as usize).copied().unwrap_or(0)
    }
}
