//! Find the longest of many strings, leftmost first.
//!
//! Few places of a text can begin one of them: a table of the hashes of their first bytes rules
//! the others out. A place that is left is looked up among the sorted strings. An automaton,
//! which takes longer to build than the rest of a tokenizer, takes over only where so many near
//! matches stand that looking up would not be linear.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, Input, MatchKind};
use hashbrown::HashMap;

const NONE: u32 = u32::MAX;

/// Most bytes of a string that take part in its hash.
const MOST_HASHED: usize = 8;

/// Slots of the table, as a power of two: 128 kB of bits.
const LOG_SLOTS: u32 = 20;

/// Bytes that may be compared for each byte of the text, beyond what a match takes.
const PATIENCE: usize = 64;

/// Strings to find.
#[derive(Debug)]
pub struct Dictionary {
    /// The strings one after another, in order, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The place that each had in the list it was made of.
    places: Vec<u32>,
    /// The longest string that each begins with, by place in `ends`.
    parents: Vec<u32>,
    longest: usize,
    /// Bytes of each string that are hashed: those of the shortest, at most `MOST_HASHED`.
    n_hashed: usize,
    slots: Vec<u64>,
    /// The bytes that strings begin with.
    first_bytes: Vec<u8>,
    /// The run of sorted strings that begin with hashed bytes.
    runs: HashMap<u64, (u32, u32)>,
    automaton: OnceLock<Option<AhoCorasick>>,
}

impl Dictionary {
    /// A dictionary of strings that are not empty and all different.
    #[must_use]
    pub fn new(strings: &[&[u8]]) -> Self {
        let mut places: Vec<u32> = (0u32..).take(strings.len()).collect();
        let of = |place: u32| strings.get(place as usize).copied().unwrap_or_default();
        places.sort_unstable_by_key(|&place| of(place));
        let n_hashed = strings.iter().map(|s| s.len()).min().unwrap_or(1).clamp(1, MOST_HASHED);
        let mut this = Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            parents: Vec::new(),
            longest: strings.iter().map(|string| string.len()).max().unwrap_or(0),
            n_hashed,
            first_bytes: Vec::new(),
            slots: vec![0; 1 << (LOG_SLOTS - 6)],
            runs: HashMap::new(),
            automaton: OnceLock::new(),
            places: Vec::new(),
        };
        let mut open: Vec<u32> = Vec::new();
        for (at, &place) in (0u32..).zip(&places) {
            let string = of(place);
            while open.last().is_some_and(|&outer| !string.starts_with(this.string(outer))) {
                open.pop();
            }
            this.parents.push(open.last().copied().unwrap_or(NONE));
            open.push(at);
            this.bytes.extend_from_slice(string);
            this.ends.push(this.bytes.len());
            let key = this.key(string).unwrap_or_default();
            let (word, bit) = slot_of(key);
            if let Some(word) = this.slots.get_mut(word) {
                *word |= bit;
            }
            this.runs.entry(key).or_insert((at, at)).1 = at + 1;
        }
        this.places = places;
        this.first_bytes = strings.iter().filter_map(|string| string.first().copied()).collect();
        this.first_bytes.sort_unstable();
        this.first_bytes.dedup();
        this
    }

    fn string(&self, at: u32) -> &[u8] {
        let at = at as usize;
        let start = at.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or(0);
        let end = self.ends.get(at).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The hashed bytes at the front of a text, as a number.
    #[inline]
    fn key(&self, text: &[u8]) -> Option<u64> {
        if let Some(eight) = text.first_chunk::<8>() {
            return Some(u64::from_le_bytes(*eight) & (u64::MAX >> (64 - 8 * self.n_hashed)));
        }
        let mut key = [0; 8];
        key.get_mut(..self.n_hashed)?.copy_from_slice(text.get(..self.n_hashed)?);
        Some(u64::from_le_bytes(key))
    }

    /// The leftmost match at or after `from`, the longest of those that begin there: its start,
    /// its end and its place in the list.
    #[must_use]
    pub fn find(&self, text: &[u8], from: usize) -> Option<(usize, usize, usize)> {
        let mut at = from;
        let mut patience = PATIENCE * self.longest;
        loop {
            at = self.candidate(text, at)?;
            let rest = text.get(at..).unwrap_or_default();
            let (found, n_compared) = self.longest_at(rest);
            if let Some((length, place)) = found {
                return Some((at, at + length, place));
            }
            at += 1;
            patience = (patience + PATIENCE).saturating_sub(n_compared);
            if patience == 0 {
                return self.find_by_automaton(text, at);
            }
        }
    }

    /// The first place from `at` on where a string may begin.
    fn candidate(&self, text: &[u8], mut at: usize) -> Option<usize> {
        loop {
            at = match *self.first_bytes.as_slice() {
                [a] => at + memchr::memchr(a, text.get(at..)?)?,
                [a, b] => at + memchr::memchr2(a, b, text.get(at..)?)?,
                [a, b, c] => at + memchr::memchr3(a, b, c, text.get(at..)?)?,
                _ => self.likely(text, at)?,
            };
            if self.runs.contains_key(&self.key(text.get(at..)?)?) {
                return Some(at);
            }
            at += 1;
        }
    }

    /// The first place from `at` on that the table of hashes does not rule out.
    fn likely(&self, text: &[u8], at: usize) -> Option<usize> {
        let rest = text.get(at..)?;
        let mask = u64::MAX >> (64 - 8 * self.n_hashed);
        let slots = self.slots.as_slice();
        let found = rest.windows(8).position(|window| {
            let key = window.first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight)) & mask;
            let (word, bit) = slot_of(key);
            slots.get(word).is_some_and(|slot| slot & bit != 0)
        });
        if found.is_some() {
            return found.map(|found| at + found);
        }
        (text.len().saturating_sub(7).max(at)..text.len()).find(|&at| {
            self.key(text.get(at..).unwrap_or_default()).is_some_and(|key| {
                let (word, bit) = slot_of(key);
                slots.get(word).is_some_and(|slot| slot & bit != 0)
            })
        })
    }

    /// The length and place of the longest string that `text` begins with, and the bytes that
    /// were compared.
    fn longest_at(&self, text: &[u8]) -> (Option<(usize, usize)>, usize) {
        let Some(&(first, end)) = self.key(text).and_then(|key| self.runs.get(&key)) else {
            return (None, 0);
        };
        let text = text.get(..self.longest.min(text.len())).unwrap_or_default();
        let (mut low, mut high) = (first, end);
        let mut n_compared = 0;
        while low < high {
            let middle = low + (high - low) / 2;
            let string = self.string(middle);
            n_compared += string.len().min(text.len());
            if string <= text {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // Every string that the text begins with is the last one not above it, or begins it.
        let mut at = low.checked_sub(1).unwrap_or(NONE);
        let last = if at == NONE { &[] } else { self.string(at) };
        let common = last.iter().zip(text).take_while(|(a, b)| a == b).count();
        n_compared += common;
        while at != NONE {
            let string = self.string(at);
            if string.len() <= common {
                let place = self.places.get(at as usize).map_or(0, |&place| place as usize);
                return (Some((string.len(), place)), n_compared);
            }
            at = self.parents.get(at as usize).copied().unwrap_or(NONE);
            n_compared += 1;
        }
        (None, n_compared)
    }

    #[cold]
    fn find_by_automaton(&self, text: &[u8], from: usize) -> Option<(usize, usize, usize)> {
        let automaton = self.automaton.get_or_init(|| {
            let strings = (0u32..).take(self.ends.len()).map(|at| self.string(at));
            AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(strings).ok()
        });
        let Some(automaton) = automaton else { return self.find_patiently(text, from) };
        let found = automaton.find(Input::new(text).range(from..))?;
        let place = *self.places.get(found.pattern().as_usize())? as usize;
        Some((found.start(), found.end(), place))
    }

    /// As `find`, whatever it takes.
    fn find_patiently(&self, text: &[u8], mut at: usize) -> Option<(usize, usize, usize)> {
        loop {
            at = self.candidate(text, at)?;
            if let (Some((length, place)), _) = self.longest_at(text.get(at..)?) {
                return Some((at, at + length, place));
            }
            at += 1;
        }
    }
}

/// The word of the table that a key is in, and its bit.
#[inline]
fn slot_of(key: u64) -> (usize, u64) {
    let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - LOG_SLOTS);
    ((hash >> 6) as usize, 1 << (hash & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(dictionary: &Dictionary, text: &[u8]) -> Vec<(usize, usize, usize)> {
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(hit) = dictionary.find(text, at) {
            at = hit.1;
            found.push(hit);
        }
        found
    }

    #[test]
    fn matches_are_those_of_the_automaton() {
        let mut seed = 7u64;
        let mut random = |n: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        for round in 0..200 {
            let mut strings: Vec<Vec<u8>> = (0..=random(40))
                .map(|_| (0..=random(1 + round % 12)).map(|_| b'a' + random(3) as u8).collect())
                .collect();
            strings.sort();
            strings.dedup();
            let strings: Vec<&[u8]> = strings.iter().rev().map(Vec::as_slice).collect();
            let text: Vec<u8> = (0..300).map(|_| b'a' + random(4) as u8).collect();
            let automaton = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&strings)
                .expect("builds");
            let expected: Vec<_> = automaton
                .find_iter(&text)
                .map(|found| (found.start(), found.end(), found.pattern().as_usize()))
                .collect();
            assert_eq!(all(&Dictionary::new(&strings), &text), expected);
        }
    }

    #[test]
    fn near_matches_everywhere_take_the_automaton() {
        let near = [&[b'a'; 5000][..], b"b"].concat();
        let dictionary = Dictionary::new(&[&near, b"aaaaaaaac"]);
        let text = [&[b'a'; 20_000][..], b"b"].concat();
        assert_eq!(dictionary.find(&text, 0), Some((15_000, 20_001, 0)));
        assert!(dictionary.automaton.get().is_some());
    }
}
