//! The best segmentation of a text, by dynamic programming over byte positions.
//!
//! Work is bounded by the text's length times the longest piece; memory by the longest stretch
//! that some piece bridges, for wherever every path must pass the path so far is settled.
//!
//! Source: Kudo 2018, "Subword Regularization", section 3.1; ties and rounding as sentencepiece
//! 0.2.3 (`unigram_model.cc`, `EncodeOptimized`): of equal paths the one whose last piece starts
//! first, candidates compared before the kept score is rounded to 32 bits.

use super::{Unigram, char_len, check_length};
use crate::error::Result;
use crate::parallel::Control;

/// Bytes between two looks at the stop flag.
const BYTES_A_CHECK: usize = 1 << 16;

/// No path ends here yet.
const NOWHERE: f64 = f64::NEG_INFINITY;

/// Past this, path scores start from 0 again, so that 32 bits keep telling paths apart.
///
/// Source: the score from which on sentencepiece 0.2.3 decides near ties as if it had done so.
pub(super) const REBASE_BELOW: f64 = -100_000.0;

/// The best way to reach one position.
#[derive(Debug, Clone, Copy)]
struct Node {
    score: f64,
    start: u32,
    id: u32,
}

const EMPTY: Node = Node { score: NOWHERE, start: 0, id: 0 };

/// Buffers that calls share, so that encoding many short texts allocates nothing.
#[derive(Debug, Default)]
pub struct Scratch {
    nodes: Vec<Node>,
    /// `(id, start, end)`, last piece first.
    path: Vec<(u32, u32, u32)>,
    /// Scores of the best and the second best path to each byte.
    pub(super) two_best: Vec<(f64, f64)>,
}

/// Where settled pieces go.
pub(super) trait Sink {
    fn reserve(&mut self, n: usize) -> Result<()>;
    fn push(&mut self, id: u32, start: u32, end: u32);
    /// Let the last piece pushed end at `end` instead.
    fn extend(&mut self, end: u32);
}

impl Sink for Vec<u32> {
    fn reserve(&mut self, n: usize) -> Result<()> {
        Ok(self.try_reserve(n)?)
    }
    #[inline(always)]
    fn push(&mut self, id: u32, _: u32, _: u32) {
        self.push(id);
    }
    fn extend(&mut self, _: u32) {}
}

impl Sink for Vec<(u32, u32, u32)> {
    fn reserve(&mut self, n: usize) -> Result<()> {
        Ok(self.try_reserve(n)?)
    }
    fn push(&mut self, id: u32, start: u32, end: u32) {
        self.push((id, start, end));
    }
    fn extend(&mut self, end: u32) {
        if let Some(last) = self.last_mut() {
            last.2 = end;
        }
    }
}

impl Unigram {
    /// Append the ids of `text`, one normalized segment, to `ids`.
    ///
    /// Bytes that are not UTF-8 count as characters that no piece covers.
    ///
    /// # Errors
    ///
    /// `Argument` for a segment past 4 GiB, `Memory` when buffers cannot be had, `Interrupted`.
    pub fn encode(
        &self,
        text: &[u8],
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        self.encode_into(text, scratch, ids, control)
    }

    /// Append `(id, start byte, end byte)` of each piece of `text` to `out`.
    ///
    /// Spans follow each other without gaps; byte pieces span one byte each.
    ///
    /// # Errors
    ///
    /// As `encode`.
    pub fn encode_spans(
        &self,
        text: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<(u32, u32, u32)>,
        control: &Control,
    ) -> Result<()> {
        self.encode_into(text, scratch, out, control)
    }

    fn encode_into(
        &self,
        text: &[u8],
        scratch: &mut Scratch,
        sink: &mut impl Sink,
        control: &Control,
    ) -> Result<()> {
        self.encode_behind(text, 0.0, scratch, sink, control).map(|_| ())
    }

    /// As `encode_into`, behind text whose best path has the score `before`; gives the score of
    /// the best path through both.
    pub(super) fn encode_behind(
        &self,
        text: &[u8],
        before: f64,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
        control: &Control,
    ) -> Result<f64> {
        check_length(text)?;
        if self.options.single_precision {
            self.viterbi::<true>(text, before, scratch, sink, control)
        } else {
            self.viterbi::<false>(text, before, scratch, sink, control)
        }
    }

    fn viterbi<const SINGLE: bool>(
        &self,
        text: &[u8],
        before: f64,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
        control: &Control,
    ) -> Result<f64> {
        let keep = |score: f64| if SINGLE { f64::from(score as f32) } else { score };
        let mut after_unknown = false;
        // `nodes[i]` is position `origin + i`; every path passes `origin`.
        let (mut origin, mut here, mut reach) = (0, 0, 0);
        let mut score_here = before;
        let mut check_at = BYTES_A_CHECK;
        while here < text.len() {
            if here >= check_at {
                control.check()?;
                check_at = here + BYTES_A_CHECK;
            }
            let offset = here - origin;
            let wanted = offset + self.longest_piece.max(4) + 1;
            if scratch.nodes.len() < wanted {
                scratch.nodes.try_reserve(wanted)?;
                scratch.nodes.resize(wanted, EMPTY);
            }
            if offset > 0 {
                score_here = scratch.nodes.get(offset).map_or(NOWHERE, |node| node.score);
            }
            if SINGLE && score_here < REBASE_BELOW {
                for node in scratch.nodes.iter_mut().take(reach - origin + 1).skip(offset) {
                    node.score = keep(node.score - score_here);
                }
                score_here = 0.0;
            }
            let n_bytes = char_len(text, here);
            let mut covered = false;
            let nodes = scratch.nodes.as_mut_slice();
            self.trie.prefixes(text, here, |id, end| {
                let score = self.scores.get(id as usize).copied().unwrap_or(NOWHERE);
                let candidate = keep(score + score_here);
                if let Some(node) = nodes.get_mut(end - origin)
                    && candidate > node.score
                {
                    *node = Node { score: candidate, start: here as u32, id };
                }
                covered |= end - here == n_bytes;
                reach = reach.max(end);
            });
            let next = here + n_bytes;
            if !covered {
                let candidate = keep(self.unk_score + score_here);
                if let Some(node) = nodes.get_mut(next - origin)
                    && candidate > node.score
                {
                    *node = Node { score: candidate, start: here as u32, id: self.options.unk_id };
                }
                reach = reach.max(next);
            }
            here = next;
            if here == reach {
                score_here = self.settle(text, scratch, origin, here, sink, &mut after_unknown)?;
                origin = here;
            }
        }
        Ok(score_here)
    }

    /// Hand the best path from `origin` to `end` to the sink; gives the score at `end`.
    #[inline]
    fn settle(
        &self,
        text: &[u8],
        scratch: &mut Scratch,
        origin: usize,
        end: usize,
        sink: &mut impl Sink,
        after_unknown: &mut bool,
    ) -> Result<f64> {
        let Scratch { nodes, path, .. } = scratch;
        path.clear();
        let mut at = end;
        let score = nodes.get(end - origin).map_or(0.0, |node| node.score);
        while at > origin {
            let Some(node) = nodes.get(at - origin) else { break };
            path.try_reserve(1)?;
            path.push((node.id, node.start, at as u32));
            at = node.start as usize;
        }
        for node in nodes.iter_mut().take(end - origin + 1) {
            *node = EMPTY;
        }
        sink.reserve(path.len())?;
        for &(id, start, end) in path.iter().rev() {
            self.emit(text, (id, start, end), sink, after_unknown)?;
        }
        Ok(score)
    }

    /// Push one piece: an unknown one as its bytes, or joined to an unknown one before it.
    #[inline(always)]
    fn emit(
        &self,
        text: &[u8],
        (id, start, end): (u32, u32, u32),
        sink: &mut impl Sink,
        after_unknown: &mut bool,
    ) -> Result<()> {
        if id != self.options.unk_id {
            *after_unknown = false;
            sink.push(id, start, end);
            return Ok(());
        }
        if let Some(byte_ids) = &self.byte_ids {
            let bytes = text.get(start as usize..end as usize).unwrap_or_default();
            sink.reserve(bytes.len())?;
            for (&byte, at) in bytes.iter().zip(start..) {
                let byte_id = byte_ids.get(usize::from(byte)).copied().unwrap_or(id);
                sink.push(byte_id, at, at + 1);
            }
        } else if *after_unknown && self.options.fuse_unknown {
            sink.extend(end);
        } else {
            sink.push(id, start, end);
        }
        *after_unknown = true;
        Ok(())
    }

    /// The ids of a path of `(id, start, end)`, unknown pieces treated as `encode` does.
    pub(super) fn path_ids(&self, text: &[u8], path: &[(u32, u32, u32)]) -> Result<Vec<u32>> {
        let mut ids: Vec<u32> = Vec::new();
        Sink::reserve(&mut ids, path.len())?;
        let mut after_unknown = false;
        for &piece in path {
            self.emit(text, piece, &mut ids, &mut after_unknown)?;
        }
        Ok(ids)
    }
}
