//! Cut a text where no merge reaches over, so that its parts can be encoded one by one.

use super::characters::CharacterBpe;
use crate::code_points::code_point_at;

/// A part of a text whose ids do not depend on the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// Its id, if it is a user-defined piece.
    pub user_defined: Option<u32>,
}

/// The segments of a text, from left to right, without gaps: see `CharacterBpe::segments`.
#[derive(Debug)]
pub struct Segments<'a> {
    bpe: &'a CharacterBpe,
    text: &'a [u8],
    at: usize,
    /// The next user-defined piece at or after `at`.
    user_defined: Option<(usize, usize, u32)>,
}

impl<'a> Segments<'a> {
    pub(super) fn new(bpe: &'a CharacterBpe, text: &'a [u8]) -> Self {
        Self { bpe, text, at: 0, user_defined: bpe.user_defined.find(text, 0) }
    }

    /// The first place after `at` and up to `limit` that no merge reaches over.
    fn reach(&self, limit: usize) -> usize {
        let bpe = self.bpe;
        let (mut left, n_bytes) = code_point_at(self.text, self.at);
        let mut at = self.at + n_bytes;
        while at < limit {
            let (right, n_bytes) = code_point_at(self.text, at);
            // Neighbours that are both unknown may become one unknown token.
            let is_joined = bpe.neighbours.has(left, right)
                || (bpe.fuses_unknown && bpe.may_be_unknown(left) && bpe.may_be_unknown(right));
            if !is_joined {
                return at;
            }
            (left, at) = (right, at + n_bytes);
        }
        limit
    }
}

impl Iterator for Segments<'_> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        let start = self.at;
        if start >= self.text.len() {
            return None;
        }
        if !self.bpe.is_cut {
            self.at = self.text.len();
            return Some(Segment { start, end: self.at, user_defined: None });
        }
        match self.user_defined {
            Some((from, end, id)) if from == start => {
                self.at = end;
                self.user_defined = self.bpe.user_defined.find(self.text, end);
                Some(Segment { start, end, user_defined: Some(id) })
            }
            next => {
                let limit = next.map_or(self.text.len(), |(from, _, _)| from);
                self.at = self.reach(limit);
                Some(Segment { start, end: self.at, user_defined: None })
            }
        }
    }
}
