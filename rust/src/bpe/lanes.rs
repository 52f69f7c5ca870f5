//! Short pieces merged side by side.
//!
//! A merge waits for the table of pairs, which lies outside the near caches, and the next merge of
//! the same piece waits for it. Other pieces need not: so several take a step each, ask for the
//! slots that they will look at, and wait for them together.

use super::encode::Bpe;
use super::short::{SHORT, Short};
use super::vocabulary::{Fetched, Joined, PairTable};

/// Pieces under way at a time: enough to fill the wait, few enough to stay in the nearest cache.
const LANES: usize = 8;

/// Room for the pieces under way.
#[derive(Debug, Default)]
pub struct Lanes([Lane; LANES]);

/// A piece under way.
#[derive(Debug, Default)]
pub struct Lane {
    short: Short,
    /// Which piece it is.
    pub number: usize,
    /// Places whose pairs are asked for.
    waits: [Option<(usize, Fetched)>; 2],
}

impl Lane {
    /// What the piece was merged to.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.short.ids()
    }

    fn begin(&mut self, bpe: &Bpe, number: usize, piece: &[u8]) {
        self.number = number;
        bpe.begin_short(piece, &mut self.short);
    }

    /// Merge a pair, and ask for what the next look-ups will read; whether there was a pair.
    #[inline(always)]
    fn step(&mut self, pairs: &PairTable) -> bool {
        let Some(changed) = self.short.join() else { return false };
        for (waits, changed) in self.waits.iter_mut().zip(changed) {
            *waits = None;
            let Some(at) = changed else { continue };
            let (left, right) = self.short.pair(at);
            match pairs.fetch(left, right) {
                Some(fetched) => *waits = Some((at, fetched)),
                None => self.short.set(at, Joined::NEVER),
            }
        }
        true
    }

    #[inline(always)]
    fn look_up(&mut self, pairs: &PairTable) {
        for (at, fetched) in self.waits.iter().flatten() {
            self.short.set(*at, pairs.find(fetched));
        }
    }
}

/// Whether `merge_side_by_side` may take a piece.
#[must_use]
pub fn fits_lane(bpe: &Bpe, piece: &[u8]) -> bool {
    piece.len() <= SHORT && bpe.has_bytes_of(piece)
}

/// Merge pieces for which `fits_lane`, and give each when it is finished, in any order.
pub fn merge_side_by_side<'a>(
    bpe: &Bpe,
    Lanes(lanes): &mut Lanes,
    pieces: impl Iterator<Item = &'a [u8]>,
    mut give: impl FnMut(&Lane),
) {
    let mut pieces = pieces.enumerate();
    let mut n_busy = 0;
    for lane in lanes.iter_mut() {
        let Some((number, piece)) = pieces.next() else { break };
        lane.begin(bpe, number, piece);
        n_busy += 1;
    }
    while n_busy > 0 {
        let mut at = 0;
        while let Some(lane) = lanes.get_mut(..n_busy).and_then(|busy| busy.get_mut(at)) {
            if lane.step(bpe.pairs()) {
                at += 1;
                continue;
            }
            give(lane);
            if let Some((number, piece)) = pieces.next() {
                lane.begin(bpe, number, piece);
            } else {
                n_busy -= 1;
                lanes.swap(at, n_busy);
            }
        }
        for lane in lanes.iter_mut().take(n_busy) {
            lane.look_up(bpe.pairs());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpe::encode::Scratch;
    use crate::bpe::vocabulary::Vocabulary;
    use crate::parallel::Control;
    use std::sync::Arc;

    #[test]
    fn pieces_become_what_they_become_alone() {
        let tokens: Vec<&[u8]> = vec![b"a", b"b", b"c", b"ab", b"abc", b"aa", b"aaa", b"ca"];
        let ids_and_tokens = (0u32..).zip(tokens).collect::<Vec<_>>();
        let vocabulary = Vocabulary::new(ids_and_tokens.iter().copied()).expect("small");
        let merges = [(0, 1), (3, 2), (0, 0), (5, 0), (2, 0)];
        let bpe = Bpe::new(Arc::new(vocabulary), &merges, false).expect("small");
        let mut state = 1u64;
        let pieces: Vec<Vec<u8>> = (0..999)
            .map(|at: usize| {
                let letters = std::iter::repeat_with(|| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    b"abc"[(state >> 40) as usize % 3]
                });
                letters.take(at % (SHORT + 1)).collect()
            })
            .collect();
        for n in [0, 1, LANES - 1, LANES, LANES + 1, 999] {
            let mut found = vec![None; n];
            let taken = pieces.iter().take(n).map(Vec::as_slice);
            merge_side_by_side(&bpe, &mut Lanes::default(), taken, |lane| {
                let before = found[lane.number].replace(lane.ids().collect::<Vec<_>>());
                assert_eq!(before, None);
            });
            for (piece, found) in pieces.iter().zip(found) {
                let mut ids = Vec::new();
                bpe.encode(piece, &mut Scratch::default(), &mut ids, &Control::default())
                    .expect("known bytes");
                assert_eq!(found, Some(ids), "{piece:?}");
            }
        }
        assert!(fits_lane(&bpe, &[b'a'; SHORT]));
        assert!(!fits_lane(&bpe, &[b'a'; SHORT + 1]));
        assert!(!fits_lane(&bpe, b"d"));
    }
}
