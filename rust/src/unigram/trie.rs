//! A double-array trie over bytes: one 64-bit load a step, built in one pass over sorted keys.
//!
//! Crates for this (`yada`, `crawdad`) take NUL as the end of a key or walk characters, and keep
//! the value apart from the node; pieces may hold NUL, and a walk here is bound by its loads.
//!
//! Source: Aoe 1989, "An efficient digital search algorithm by using a double-array structure";
//! XOR addressing and the bounded search for a place from Yata et al. 2007, "A compact static
//! double-array keeping character codes".

use crate::error::{Error, Kind, Result};

/// Slots that share their high bits; a node's children lie in one block.
const BLOCK: usize = 256;
/// Blocks that a new node may still be placed in; bounds the search, so building is linear.
const OPEN_BLOCKS: usize = 16;
/// Set in the label field of slots in use.
const USED: u64 = 0x100;
const LABEL_MASK: u64 = 0x1FF;
const VALUE_SHIFT: u32 = 9;
const VALUE_MASK: u64 = (1 << 27) - 1;
const BASE_SHIFT: u32 = 36;
/// The largest value a key may have: 27 bits hold it plus one.
pub const MAX_VALUE: u32 = (1 << 27) - 2;
const MAX_SLOTS: usize = 1 << 28;

/// A frozen map from byte strings to `u32`, for enumerating the keys that begin a text.
///
/// A slot packs, from the low bit: label and use mark (9), value plus one or 0 (27), base (28).
#[derive(Debug, Clone, Default)]
pub struct Trie {
    slots: Vec<u64>,
}

impl Trie {
    /// Build from `keys`, which are sorted, distinct and not empty, each with its value.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for keys out of order, repeated or empty, a value above `MAX_VALUE`, or more
    /// nodes than 28 bits address; `Memory` when the table cannot be had.
    pub fn build<K: AsRef<[u8]>>(keys: &[(K, u32)]) -> Result<Self> {
        for window in keys.windows(2) {
            if let [(left, _), (right, _)] = window
                && left.as_ref() >= right.as_ref()
            {
                return Err(Error::new(
                    Kind::Vocabulary,
                    format!(
                        "trie keys must be sorted and distinct, but {:?} comes before {:?}",
                        String::from_utf8_lossy(left.as_ref()),
                        String::from_utf8_lossy(right.as_ref())
                    ),
                ));
            }
        }
        if let Some((key, value)) =
            keys.iter().find(|(key, value)| key.as_ref().is_empty() || *value > MAX_VALUE)
        {
            return Err(Error::new(
                Kind::Vocabulary,
                format!("a trie key of {} bytes has the value {value}", key.as_ref().len()),
            ));
        }
        let mut builder = Builder::new()?;
        builder.run(keys)?;
        Ok(Self { slots: builder.slots })
    }

    /// Call `visit(value, end)` for each key that `text[start..]` begins with, shortest first.
    #[inline(always)]
    pub fn prefixes(&self, text: &[u8], start: usize, mut visit: impl FnMut(u32, usize)) {
        let Some(root) = self.slots.first() else { return };
        let mut base = (root >> BASE_SHIFT) as usize;
        let mut end = start;
        for &byte in text.get(start..).unwrap_or_default() {
            let Some(&slot) = self.slots.get(base ^ usize::from(byte)) else { return };
            if slot & LABEL_MASK != u64::from(byte) | USED {
                return;
            }
            end += 1;
            let value = (slot >> VALUE_SHIFT) & VALUE_MASK;
            if value != 0 {
                visit(value as u32 - 1, end);
            }
            base = (slot >> BASE_SHIFT) as usize;
            if base == 0 {
                return;
            }
        }
    }
}

/// A node whose children still have to be placed.
struct Pending {
    slot: usize,
    first: usize,
    last: usize,
    depth: usize,
}

/// The table while it grows: free slots of the open blocks form a doubly linked ring.
struct Builder {
    slots: Vec<u64>,
    next: Vec<u32>,
    previous: Vec<u32>,
    base_taken: Vec<bool>,
    head: Option<usize>,
}

impl Builder {
    fn new() -> Result<Self> {
        let mut builder = Self {
            slots: Vec::new(),
            next: Vec::new(),
            previous: Vec::new(),
            base_taken: Vec::new(),
            head: None,
        };
        builder.add_block()?;
        // The root; base 0 means "no children", so no node may have it.
        builder.take(0, 0);
        if let Some(taken) = builder.base_taken.first_mut() {
            *taken = true;
        }
        Ok(builder)
    }

    fn run<K: AsRef<[u8]>>(&mut self, keys: &[(K, u32)]) -> Result<()> {
        let mut pending = vec![Pending { slot: 0, first: 0, last: keys.len(), depth: 0 }];
        let mut children: Vec<(u8, usize, usize)> = Vec::new();
        while let Some(node) = pending.pop() {
            children.clear();
            let mut index = node.first;
            while index < node.last {
                let Some((key, value)) = keys.get(index) else { break };
                match key.as_ref().get(node.depth) {
                    None => {
                        if let Some(slot) = self.slots.get_mut(node.slot) {
                            *slot |= (u64::from(*value) + 1) << VALUE_SHIFT;
                        }
                    }
                    Some(&label) => match children.last_mut() {
                        Some(child) if child.0 == label => child.2 = index + 1,
                        _ => children.push((label, index, index + 1)),
                    },
                }
                index += 1;
            }
            if children.is_empty() {
                continue;
            }
            let base = self.find_base(&children)?;
            if let Some(slot) = self.slots.get_mut(node.slot) {
                *slot |= (base as u64) << BASE_SHIFT;
            }
            for &(label, first, last) in &children {
                let slot = base ^ usize::from(label);
                self.take(slot, u64::from(label) | USED);
                pending.push(Pending { slot, first, last, depth: node.depth + 1 });
            }
        }
        Ok(())
    }

    /// A base of no other node, all of whose wanted slots are free; marks the base as taken.
    fn find_base(&mut self, children: &[(u8, usize, usize)]) -> Result<usize> {
        let label = children.first().map_or(0, |child| usize::from(child.0));
        if let Some(head) = self.head {
            let mut slot = head;
            loop {
                if let Some(base) = self.try_base(slot ^ label, children) {
                    return Ok(base);
                }
                slot = self.next.get(slot).map_or(head, |&next| next as usize);
                if slot == head {
                    break;
                }
            }
        }
        let start = self.add_block()?;
        for slot in start..start + BLOCK {
            if let Some(base) = self.try_base(slot ^ label, children) {
                return Ok(base);
            }
        }
        Err(Error::new(Kind::Vocabulary, "the trie found no place for a node"))
    }

    fn try_base(&mut self, base: usize, children: &[(u8, usize, usize)]) -> Option<usize> {
        if *self.base_taken.get(base)? {
            return None;
        }
        for &(label, _, _) in children {
            if *self.slots.get(base ^ usize::from(label))? & USED != 0
                || base ^ usize::from(label) == 0
            {
                return None;
            }
        }
        *self.base_taken.get_mut(base)? = true;
        Some(base)
    }

    /// Append a block, closing the oldest open one; gives its first slot.
    fn add_block(&mut self) -> Result<usize> {
        let start = self.slots.len();
        if start + BLOCK > MAX_SLOTS {
            return Err(Error::new(
                Kind::Vocabulary,
                format!("the pieces need more than {MAX_SLOTS} trie nodes"),
            ));
        }
        for list in [&mut self.next, &mut self.previous] {
            list.try_reserve(BLOCK)?;
            list.resize(start + BLOCK, 0);
        }
        self.slots.try_reserve(BLOCK)?;
        self.slots.resize(start + BLOCK, 0);
        self.base_taken.try_reserve(BLOCK)?;
        self.base_taken.resize(start + BLOCK, false);
        if let Some(closing) = start.checked_sub(OPEN_BLOCKS * BLOCK) {
            for slot in closing..closing + BLOCK {
                if self.is_free(slot) {
                    self.unlink(slot);
                }
            }
        }
        for slot in start..start + BLOCK {
            self.link(slot);
        }
        Ok(start)
    }

    fn is_free(&self, slot: usize) -> bool {
        slot != 0 && self.slots.get(slot).is_some_and(|slot| slot & USED == 0)
    }

    fn take(&mut self, slot: usize, content: u64) {
        self.unlink(slot);
        if let Some(entry) = self.slots.get_mut(slot) {
            *entry = content;
        }
    }

    /// Put `slot` at the end of the ring.
    fn link(&mut self, slot: usize) {
        let head = *self.head.get_or_insert(slot);
        let tail =
            if head == slot { slot } else { self.previous.get(head).map_or(slot, |&s| s as usize) };
        set(&mut self.next, slot, head);
        set(&mut self.previous, slot, tail);
        set(&mut self.next, tail, slot);
        set(&mut self.previous, head, slot);
    }

    fn unlink(&mut self, slot: usize) {
        let next = self.next.get(slot).map_or(slot, |&s| s as usize);
        let previous = self.previous.get(slot).map_or(slot, |&s| s as usize);
        set(&mut self.next, previous, next);
        set(&mut self.previous, next, previous);
        if self.head == Some(slot) {
            self.head = (next != slot).then_some(next);
        }
    }
}

fn set(list: &mut [u32], index: usize, value: usize) {
    if let Some(entry) = list.get_mut(index) {
        // Slots stay below `MAX_SLOTS`.
        *entry = value as u32;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn get(trie: &Trie, key: &[u8]) -> Option<u32> {
        found(trie, key).into_iter().find(|&(_, end)| end == key.len()).map(|(value, _)| value)
    }

    fn found(trie: &Trie, text: &[u8]) -> Vec<(u32, usize)> {
        let mut hits = Vec::new();
        trie.prefixes(text, 0, |value, end| hits.push((value, end)));
        hits
    }

    #[test]
    fn prefixes_come_shortest_first() {
        let trie = Trie::build(&[("a", 5), ("ab", 0), ("abc", 7), ("b", 1)]).unwrap();
        assert_eq!(found(&trie, b"abcd"), [(5, 1), (0, 2), (7, 3)]);
        assert_eq!(found(&trie, b"zabc"), []);
        assert_eq!(get(&trie, b"ab"), Some(0));
        assert_eq!(get(&trie, b"abcd"), None);
        assert_eq!(found(&Trie::build::<&str>(&[]).unwrap(), b"x"), []);
    }

    #[test]
    fn nul_and_every_byte_are_labels() {
        let keys: Vec<(Vec<u8>, u32)> = (0..=255u8)
            .flat_map(|a| [0, 7, 255].map(|b| (vec![a, b], u32::from(a) * 3 + u32::from(b))))
            .collect();
        let trie = Trie::build(&keys).unwrap();
        for (key, value) in &keys {
            assert_eq!(get(&trie, key), Some(*value));
        }
        assert_eq!(get(&trie, &[0, 1]), None);
        assert_eq!(get(&trie, &[0]), None);
    }

    #[test]
    fn many_random_keys_are_all_found_and_dense() {
        let mut state = 1u64;
        let mut keys: Vec<Vec<u8>> = (0..50_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let length = 1 + (state >> 60) as usize;
                (0..length).map(|i| (state >> (8 + 3 * i)) as u8 % 29).collect()
            })
            .collect();
        keys.sort();
        keys.dedup();
        let keyed: Vec<_> =
            keys.iter().enumerate().map(|(i, k)| (k.as_slice(), i as u32)).collect();
        let trie = Trie::build(&keyed).unwrap();
        for (key, value) in &keyed {
            assert_eq!(get(&trie, key), Some(*value));
        }
        let bytes: usize = keys.iter().map(Vec::len).sum();
        assert!(size_of::<u64>() * trie.slots.len() < 16 * bytes);
    }

    #[test]
    fn bad_keys_are_refused() {
        assert!(Trie::build(&[("b", 0), ("a", 1)]).is_err());
        assert!(Trie::build(&[("a", 0), ("a", 1)]).is_err());
        assert!(Trie::build(&[("", 0)]).is_err());
        assert!(Trie::build(&[("a", MAX_VALUE + 1)]).is_err());
    }
}
