//! A byte trie in a double array: the child of a node is one addition-free look-up away.
//!
//! Source: Aoe 1989, "An Efficient Digital Search Algorithm by Using a Double-Array Structure";
//! bases are combined with bytes by XOR, so a node's children share one block of 256 slots.

use crate::error::{Error, Kind, Result};

/// A node: its slot in the array.
pub type NodeId = u32;

/// No node.
pub const NO_NODE: NodeId = u32::MAX;

/// The parent of roots: a slot in use that no look-up finds.
const ABOVE_ROOTS: NodeId = u32::MAX - 1;

/// Slots that one base can reach.
const BLOCK: usize = 256;

/// Blocks at the end of the array that are searched for room; bounds the work per node.
const OPEN_BLOCKS: usize = 8;

#[derive(Debug, Clone, Copy)]
struct Slot {
    base: u32,
    parent: NodeId,
}

const FREE: Slot = Slot { base: 0, parent: NO_NODE };

/// The tries of one vocabulary, side by side in one array.
#[derive(Debug, Default)]
pub struct Trie {
    slots: Vec<Slot>,
    n_free: Vec<u16>,
}

/// A node as it was placed: parents come before their children.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    /// The node.
    pub node: NodeId,
    /// Its parent; `NO_NODE` for a root.
    pub parent: NodeId,
    /// The byte that leads to it; 0 for a root.
    pub byte: u8,
    /// Which key ends here, as an index into the keys given.
    pub key: Option<usize>,
}

/// Keys that share the bytes on the way to one node.
struct Range {
    start: usize,
    end: usize,
    depth: usize,
    placed: usize,
}

impl Trie {
    /// The child of `node` by `byte`.
    #[must_use]
    #[inline]
    pub fn child(&self, node: NodeId, byte: u8) -> Option<NodeId> {
        let base = self.slots.get(node as usize)?.base;
        let child = base ^ u32::from(byte);
        (self.slots.get(child as usize)?.parent == node).then_some(child)
    }

    /// Slots in use or free: every node is below it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Add a trie of `keys`, sorted and distinct; gives its nodes, breadth first, the root first.
    ///
    /// # Errors
    ///
    /// `Memory` when the array cannot grow; `Vocabulary` past 2^31 slots.
    pub fn insert_sorted(&mut self, keys: &[&[u8]]) -> Result<Vec<Placed>> {
        let root = self.place_root()?;
        let mut nodes = vec![Placed { node: root, parent: NO_NODE, byte: 0, key: None }];
        let mut ranges = std::collections::VecDeque::from([Range {
            start: 0,
            end: keys.len(),
            depth: 0,
            placed: 0,
        }]);
        let mut edges: Vec<(u8, usize, usize)> = Vec::new();
        while let Some(mut range) = ranges.pop_front() {
            let Some(parent) = nodes.get_mut(range.placed) else { continue };
            if keys.get(range.start).is_some_and(|key| key.len() == range.depth)
                && range.start < range.end
            {
                parent.key = Some(range.start);
                range.start += 1;
            }
            let parent = parent.node;
            find_edges(keys, &range, &mut edges);
            if edges.is_empty() {
                continue;
            }
            let base = self.find_base(&edges)?;
            if let Some(slot) = self.slots.get_mut(parent as usize) {
                slot.base = base;
            }
            for &(byte, start, end) in &edges {
                let node = base ^ u32::from(byte);
                self.occupy(node, parent);
                ranges.push_back(Range { start, end, depth: range.depth + 1, placed: nodes.len() });
                nodes.push(Placed { node, parent, byte, key: None });
            }
        }
        Ok(nodes)
    }

    fn place_root(&mut self) -> Result<NodeId> {
        let node = self.find_base(&[(0, 0, 0)])?;
        self.occupy(node, ABOVE_ROOTS);
        Ok(node)
    }

    fn occupy(&mut self, node: NodeId, parent: NodeId) {
        if let Some(slot) = self.slots.get_mut(node as usize) {
            *slot = Slot { base: node, parent };
        }
        if let Some(n_free) = self.n_free.get_mut(node as usize / BLOCK) {
            *n_free -= 1;
        }
    }

    /// A base at which every edge falls on a free slot; a new block when the open ones have none.
    fn find_base(&mut self, edges: &[(u8, usize, usize)]) -> Result<u32> {
        let n_blocks = self.n_free.len();
        for block in n_blocks.saturating_sub(OPEN_BLOCKS)..n_blocks {
            if self.n_free.get(block).is_none_or(|&n_free| usize::from(n_free) < edges.len()) {
                continue;
            }
            for offset in 0..BLOCK {
                let base = block * BLOCK + offset;
                let fits = edges.iter().all(|&(byte, ..)| {
                    self.slots
                        .get(base ^ usize::from(byte))
                        .is_some_and(|slot| slot.parent == NO_NODE)
                });
                if fits {
                    return index(base);
                }
            }
        }
        let base = index(self.slots.len())?;
        self.slots.try_reserve(BLOCK)?;
        self.slots.resize(self.slots.len() + BLOCK, FREE);
        self.n_free.push(256);
        Ok(base)
    }
}

fn find_edges(keys: &[&[u8]], range: &Range, edges: &mut Vec<(u8, usize, usize)>) {
    edges.clear();
    for at in range.start..range.end {
        let Some(&byte) = keys.get(at).and_then(|key| key.get(range.depth)) else { continue };
        match edges.last_mut() {
            Some((last, _, end)) if *last == byte => *end = at + 1,
            _ => edges.push((byte, at, at + 1)),
        }
    }
}

fn index(slot: usize) -> Result<u32> {
    // Half the range: a base and a byte can then never reach NO_NODE.
    u32::try_from(slot).ok().filter(|&slot| slot < 1 << 31).ok_or_else(|| {
        Error::new(
            Kind::Vocabulary,
            "the vocabulary's tokens need more than 2^31 trie slots; use fewer or shorter tokens",
        )
    })
}
