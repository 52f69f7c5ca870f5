//! Encode a text in segments whose ids do not depend on what stands around them.
//!
//! No path but through a place that no piece reaches over. So segments between such places can
//! be encoded one by one, and remembered, but for one thing: sums of 32 bits round, the more the
//! longer the text before, and which of two paths wins can depend on it. A segment is therefore
//! remembered only if its best path wins by more than rounding can move.

use super::encode::{REBASE_BELOW, Scratch};
use super::{Unigram, char_len};
use crate::code_points::{CodePointTable, code_point_at};
use crate::error::Result;
use crate::neighbours::Neighbours;
use crate::parallel::Control;

/// Scores above this are so small that sums of 32 bits round by at most `NEAR_ROUNDING`.
const NEAR: f64 = -2048.0;
/// Half the distance of two 32-bit numbers below 2048.
const NEAR_ROUNDING: f64 = 0.000_061_035_156_25;
/// Half the distance of two 32-bit numbers below 131,072, which no score of 32 bits passes:
/// at `REBASE_BELOW` it starts anew.
const FAR_ROUNDING: f64 = 0.003_906_25;
/// Scores of 64 bits beyond this are not taken for exact, and up to it round by less than this.
const WIDE: f64 = -1e7;
const WIDE_ROUNDING: f64 = 1e-9;

/// Behind an unknown id: one for each further character that it stands for.
pub const FUSED: u32 = u32::MAX - 1;

/// Where the best path of a segment is the same, whatever score it continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// Behind every text.
    Always,
    /// Behind texts whose score is small still.
    Near,
    /// It has to be found anew each time.
    Never,
}

/// The score of the best path through the text so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Running {
    score: f64,
}

/// The neighbours in `keys`, and the ids of those of one character.
pub(super) fn characters(keys: &[(&[u8], u32)]) -> Result<(Neighbours, CodePointTable)> {
    let (mut neighbours, mut single) = (Neighbours::default(), CodePointTable::new()?);
    for &(text, id) in keys {
        let (mut left, mut at) = code_point_at(text, 0);
        if at == text.len() {
            single.set(left, id)?;
        }
        while at < text.len() {
            let (right, n_bytes) = code_point_at(text, at);
            neighbours.join(left, right);
            (left, at) = (right, at + n_bytes);
        }
    }
    Ok((neighbours, single))
}

impl Unigram {
    /// The end of the segment that begins at `start`; the text's, if no place is safe to cut.
    #[must_use]
    pub fn segment_end(&self, text: &[u8], start: usize) -> usize {
        let (mut left, n_bytes) = code_point_at(text, start);
        let mut at = start + n_bytes;
        while at < text.len() {
            let (right, n_bytes) = code_point_at(text, at);
            // Neighbours that are both unknown may become one unknown id.
            let may_fuse = self.is_unknown(left) && self.is_unknown(right);
            if !may_fuse && !self.neighbours.has(left, right) {
                return at;
            }
            (left, at) = (right, at + n_bytes);
        }
        text.len()
    }

    /// Whether the scores of ids add up to that of their path, and normal pieces have scores up to
    /// 0, as logarithms of probabilities have.
    #[must_use]
    pub fn falls(&self) -> bool {
        self.falls
    }

    /// Whether a character is no piece.
    #[must_use]
    pub fn is_unknown(&self, code: u32) -> bool {
        self.single.get(code) == crate::bpe::vocabulary::NO_ID
    }

    /// Whether unknown characters that follow each other are one id.
    #[must_use]
    pub fn fuses_unknown(&self) -> bool {
        self.byte_ids.is_none() && self.options.fuse_unknown
    }

    /// Where the best path of a segment is the one that `encode` finds.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn agreement(&self, segment: &[u8], scratch: &mut Scratch) -> Result<Agreement> {
        let (margin, n_chars) = self.margin(segment, scratch)?;
        // Each sum on each of two paths rounds; a path has at most as many as characters.
        let n_sums = 2.0 * n_chars as f64;
        let levels = if self.options.single_precision {
            [(FAR_ROUNDING, Agreement::Always), (NEAR_ROUNDING, Agreement::Near)]
        } else {
            [(WIDE_ROUNDING, Agreement::Always); 2]
        };
        let found = levels.into_iter().find(|(rounding, _)| margin > n_sums * rounding);
        Ok(found.map_or(Agreement::Never, |(_, agreement)| agreement))
    }

    /// By how much the best path is better than all others, and the number of characters; 0 for
    /// what is not UTF-8, whose ids do not tell its score.
    fn margin(&self, text: &[u8], scratch: &mut Scratch) -> Result<(f64, usize)> {
        const NONE: (f64, f64) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let paths = &mut scratch.two_best;
        paths.clear();
        if std::str::from_utf8(text).is_err() {
            return Ok((0.0, 0));
        }
        paths.try_reserve(text.len() + 1)?;
        paths.resize(text.len() + 1, NONE);
        if let Some(first) = paths.first_mut() {
            first.0 = 0.0;
        }
        let (mut at, mut n_chars) = (0, 0);
        while at < text.len() {
            let n_bytes = char_len(text, at);
            let here = paths.get(at).copied().unwrap_or(NONE);
            let mut covered = false;
            let mut reach = |end: usize, score: f64| {
                let Some(there) = paths.get_mut(end) else { return };
                for candidate in [here.0 + score, here.1 + score] {
                    if candidate > there.0 {
                        *there = (candidate, there.0);
                    } else if candidate > there.1 {
                        there.1 = candidate;
                    }
                }
            };
            self.trie.prefixes(text, at, |id, end| {
                covered |= end - at == n_bytes;
                reach(end, self.scores.get(id as usize).copied().unwrap_or(0.0));
            });
            if !covered {
                reach(at + n_bytes, self.unk_score);
            }
            at += n_bytes;
            n_chars += 1;
        }
        let (best, second) = paths.last().copied().unwrap_or(NONE);
        Ok((best - second, n_chars))
    }
}

impl Running {
    /// Whether ids found here are those behind every short text, where `Agreement::Near` holds.
    #[must_use]
    pub fn is_near(&self) -> bool {
        self.score >= NEAR
    }

    /// Whether ids that are right behind some text are right here: take their scores if so.
    ///
    /// `n_bytes` is at least the number of characters that they stand for.
    #[inline]
    pub fn take(
        &mut self,
        unigram: &Unigram,
        agreement: Agreement,
        n_bytes: usize,
        ids: &[u32],
    ) -> bool {
        let is_single = unigram.options.single_precision;
        // No path through so many bytes has a lower score.
        let lowest = self.score + unigram.unk_score * n_bytes as f64;
        let is_rebased = is_single && lowest < REBASE_BELOW;
        if is_rebased || agreement == Agreement::Never {
            return false;
        }
        let mut score = self.score;
        for &id in ids {
            let sum = score + unigram.scores.get(id as usize).copied().unwrap_or(unigram.unk_score);
            score = if is_single { f64::from(sum as f32) } else { sum };
        }
        // Scores fall, so that no sum on the way is farther from 0.
        let least = if !is_single {
            WIDE
        } else if agreement == Agreement::Near {
            NEAR
        } else {
            f64::NEG_INFINITY
        };
        if score >= least {
            self.score = score;
        }
        score >= least
    }

    /// Append the ids of a segment behind the text so far.
    ///
    /// # Errors
    ///
    /// As `Unigram::encode`.
    pub fn encode(
        &mut self,
        unigram: &Unigram,
        segment: &[u8],
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        self.score = unigram.encode_behind(segment, self.score, scratch, ids, control)?;
        Ok(())
    }

    /// As `encode`, with a `FUSED` for each character that an unknown id stands for besides its
    /// first.
    ///
    /// # Errors
    ///
    /// As `Unigram::encode`.
    pub fn encode_unfused(
        &mut self,
        unigram: &Unigram,
        segment: &[u8],
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let n_before = ids.len();
        let before = self.score;
        self.score = unigram.encode_behind(segment, before, scratch, ids, control)?;
        let new = ids.get(n_before..).unwrap_or_default();
        if !unigram.fuses_unknown() || !new.contains(&unigram.options.unk_id) {
            return Ok(());
        }
        ids.truncate(n_before);
        let mut spans: Vec<(u32, u32, u32)> = Vec::new();
        unigram.encode_behind(segment, before, scratch, &mut spans, control)?;
        for (id, start, end) in spans {
            ids.push(id);
            if id != unigram.options.unk_id {
                continue;
            }
            let mut at = start as usize;
            at += char_len(segment, at);
            while at < end as usize {
                at += char_len(segment, at);
                ids.push(FUSED);
            }
        }
        Ok(())
    }
}
