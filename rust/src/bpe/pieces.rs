//! BPE models of sentencepiece: pieces with scores instead of a list of merges.
//!
//! Any neighbours whose concatenation is a piece merge, best score first, leftmost first. Up to
//! the moment when a piece is made, nothing reaches over its borders, so that what happens
//! between them is what happens to the piece alone: each piece is only ever made of the two
//! parts that it comes down to before it is made. So a table of pairs, derived once, tells all
//! merges.
//!
//! Source: sentencepiece 0.2.3, whose `bpe_model` this follows in behaviour; the exceptions are
//! listed at `CharacterBpe::from_pieces`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::characters::{CharacterBpe, Options, Scratch, byte_token};
use super::vocabulary::{NO_ID, Vocabulary};
use crate::code_points::{CodePointTable, INVALID, code_point_at, last_code_point};
use crate::error::{Error, Kind, Result};
use crate::special::{SpecialToken, SpecialTokens};
use crate::unigram::{Piece, PieceKind};

/// Not the rank of any piece.
const NO_RANK: u32 = u32::MAX;

impl CharacterBpe {
    /// The model of sentencepiece's pieces, whose ids are their places.
    ///
    /// Normal and unused pieces are merged; unused ones are then given as what they were made
    /// of, or as unknown if they are one character. User-defined pieces are found first, leftmost and longest, and not merged. Unknown
    /// characters that follow each other are one unknown token.
    ///
    /// Unlike in sentencepiece, text never gives a control, unknown or byte piece by spelling
    /// it, even where such a piece is one character.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for an empty or repeated piece, a piece that is not UTF-8, a score that is
    /// not a number, an `unk_id` outside the list, or byte fallback without all 256 byte pieces;
    /// `Memory`.
    pub fn from_pieces(pieces: &[Piece], unk_id: u32, byte_fallback: bool) -> Result<Self> {
        check(pieces, byte_fallback)?;
        let tokens = (0u32..).zip(pieces).map(|(id, piece)| (id, piece.text.as_slice()));
        let tokens: Vec<(u32, &[u8])> = tokens.collect();
        let vocabulary = Vocabulary::new(tokens.iter().copied())?;
        let options =
            Options { unk_id: Some(unk_id), fuse_unk: true, byte_fallback, ..Options::default() };
        let mut this = Self::without_merges(vocabulary, pieces.len(), options)?;
        this.user_defined = user_defined_pieces(pieces)?;
        let mergeable = this.mergeable(pieces);
        this.set_piece_symbols(pieces, &mergeable)?;
        this.derive_merges(pieces, &mergeable)?;
        Ok(this)
    }

    /// The pieces that can be made, best score first.
    fn mergeable(&self, pieces: &[Piece]) -> Vec<u32> {
        let is_mergeable = |piece: &Piece| {
            let n_first = code_point_at(&piece.text, 0).1;
            matches!(piece.kind, PieceKind::Normal | PieceKind::Unused)
                && n_first < piece.text.len()
                && self.user_defined.find(&piece.text, 0).is_none()
        };
        let with_ids = (0u32..).zip(pieces);
        let mut ids: Vec<u32> =
            with_ids.filter(|(_, piece)| is_mergeable(piece)).map(|(id, _)| id).collect();
        let score = |id: u32| pieces.get(id as usize).map_or(0.0, |piece| piece.score);
        ids.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
        ids
    }

    /// Give symbols to the characters that are pieces, and to those that pieces are made of.
    fn set_piece_symbols(&mut self, pieces: &[Piece], mergeable: &[u32]) -> Result<()> {
        for (id, piece) in (0u32..).zip(pieces) {
            let (code, n_bytes) = code_point_at(&piece.text, 0);
            let in_text = matches!(piece.kind, PieceKind::Normal | PieceKind::UserDefined);
            if in_text && n_bytes == piece.text.len() {
                self.plain.set(code, id)?;
            }
        }
        for piece in mergeable.iter().filter_map(|&id| pieces.get(id as usize)) {
            for character in String::from_utf8_lossy(&piece.text).chars() {
                if self.plain.get(character as u32) == NO_ID {
                    let symbol = self.vocabulary.n_ids() + self.nameless.len();
                    self.nameless.push(character);
                    self.plain.set(character as u32, symbol as u32)?;
                }
            }
        }
        Ok(())
    }

    fn derive_merges(&mut self, pieces: &[Piece], mergeable: &[u32]) -> Result<()> {
        let score = |id: u32| pieces.get(id as usize).map_or(0.0, |piece| piece.score);
        let ranks = Ranks::new(pieces, mergeable)?;
        let (mut scratch, mut parts) = (Scratch::default(), Vec::new());
        let mut made = Vec::new();
        let groups = mergeable.chunk_by(|&a, &b| score(a) == score(b));
        for (rank, group) in (0u32..).zip(groups) {
            made.clear();
            for &id in group {
                let Some(piece) = pieces.get(id as usize) else { continue };
                parts.clear();
                let symbols = symbols_of(&piece.text, &self.plain);
                self.merge_symbols(symbols, &mut scratch, &mut parts)?;
                // Better pieces alone reduce most pieces to two parts. For the others, pieces
                // of equal or lower scores merge before they are made, or they never are.
                let pair = match *parts.as_slice() {
                    [left, right] => Some((left, right)),
                    _ => ranks.last_pair(self, &piece.text)?,
                };
                made.extend(pair.map(|pair| (id, pair)));
            }
            for &(id, (left, right)) in &made {
                self.pairs.push_ranked(left, right, id, rank)?;
                if let (Some((_, last)), Some((first, _))) = (self.edges(left), self.edges(right)) {
                    self.neighbours.join(last, first);
                }
                if pieces.get(id as usize).is_some_and(|piece| piece.kind == PieceKind::Unused) {
                    self.unused.push((id, (left, right)));
                }
            }
        }
        self.unused.sort_unstable();
        Ok(())
    }

    /// The first and the last character of a symbol.
    fn edges(&self, symbol: u32) -> Option<(u32, u32)> {
        let nameless = (symbol as usize).checked_sub(self.vocabulary.n_ids());
        if let Some(&character) = nameless.and_then(|place| self.nameless.get(place)) {
            return Some((character as u32, character as u32));
        }
        let token = self.vocabulary.token(symbol)?;
        Some((code_point_at(token, 0).0, last_code_point(token)?))
    }
}

fn symbols_of(text: &[u8], plain: &CodePointTable) -> impl Iterator<Item = u32> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (code, n_bytes) = code_point_at(text, at);
        (at < text.len()).then(|| {
            at += n_bytes;
            plain.get(code)
        })
    })
}

/// Ranks by piece, to merge by spelling.
struct Ranks {
    /// By id; `NO_RANK` for pieces that are never made.
    ranks: Vec<u32>,
    /// By number of bytes: whether some piece that is made has as many.
    lengths: Vec<bool>,
}

impl Ranks {
    fn new(pieces: &[Piece], mergeable: &[u32]) -> Result<Self> {
        let score = |id: u32| pieces.get(id as usize).map_or(0.0, |piece| piece.score);
        let longest = pieces.iter().map(|piece| piece.text.len()).max().unwrap_or(0);
        let (mut ranks, mut lengths) = (Vec::new(), Vec::new());
        ranks.try_reserve_exact(pieces.len())?;
        ranks.resize(pieces.len(), NO_RANK);
        lengths.try_reserve_exact(longest + 1)?;
        lengths.resize(longest + 1, false);
        let groups = mergeable.chunk_by(|&a, &b| score(a) == score(b));
        for (rank, group) in (0u32..).zip(groups) {
            for &id in group {
                if let (Some(place), Some(piece)) =
                    (ranks.get_mut(id as usize), pieces.get(id as usize))
                {
                    *place = rank;
                    if let Some(length) = lengths.get_mut(piece.text.len()) {
                        *length = true;
                    }
                }
            }
        }
        Ok(Self { ranks, lengths })
    }

    /// The two parts that a piece is made of in the end, if it is made at all.
    fn last_pair(&self, bpe: &CharacterBpe, text: &[u8]) -> Result<Option<(u32, u32)>> {
        let mut starts = Vec::new();
        let mut at = 0;
        while at < text.len() {
            starts.push(at);
            at += code_point_at(text, at).1;
        }
        starts.push(text.len());
        let n = starts.len() - 1;
        let mut next: Vec<usize> = (1..=n).collect();
        let mut previous: Vec<usize> = (0..n).map(|at| at.wrapping_sub(1)).collect();
        let mut queue = BinaryHeap::new();
        let entry = |at: usize, middle: usize, end: usize| {
            let spelled = text.get(starts[at]..starts[end]).unwrap_or_default();
            let is_length = self.lengths.get(spelled.len()).copied().unwrap_or(false);
            let id = if is_length { bpe.vocabulary.id_of(spelled)? } else { return None };
            let rank = self.ranks.get(id as usize).copied().filter(|&rank| rank != NO_RANK)?;
            Some(Reverse((rank, at, middle, end)))
        };
        queue.extend((0..n.saturating_sub(1)).filter_map(|at| entry(at, at + 1, at + 2)));
        while let Some(Reverse((_, at, middle, end))) = queue.pop() {
            if next[at] != middle || next.get(middle) != Some(&end) {
                continue;
            }
            if at == 0 && end == n {
                let part = |from: usize, to: usize| {
                    let spelled = text.get(starts[from]..starts[to]).unwrap_or_default();
                    let is_single = to - from == 1;
                    let code = code_point_at(spelled, 0).0;
                    if is_single { bpe.plain.get(code) } else { self.id_of(bpe, spelled) }
                };
                return Ok(Some((part(0, middle), part(middle, n))));
            }
            next[at] = end;
            next[middle] = usize::MAX;
            if end < n {
                previous[end] = at;
                queue.extend(entry(at, end, next[end]));
            }
            if at > 0 {
                let before = previous[at];
                queue.extend(entry(before, at, end));
            }
        }
        Ok(None)
    }

    fn id_of(&self, bpe: &CharacterBpe, spelled: &[u8]) -> u32 {
        bpe.vocabulary.id_of(spelled).unwrap_or(NO_ID)
    }
}

fn user_defined_pieces(pieces: &[Piece]) -> Result<SpecialTokens> {
    let with_ids = (0u32..).zip(pieces);
    let user_defined = with_ids.filter(|(_, piece)| piece.kind == PieceKind::UserDefined);
    SpecialTokens::new(user_defined.map(|(id, piece)| SpecialToken::new(&piece.text, id)).collect())
}

fn check(pieces: &[Piece], byte_fallback: bool) -> Result<()> {
    let refuse = |message: String| Err(Error::new(Kind::Vocabulary, message));
    if pieces.len() >= (NO_ID - INVALID) as usize {
        return refuse(format!("{} pieces are more than ids can number", pieces.len()));
    }
    for (id, piece) in pieces.iter().enumerate() {
        let shown = || String::from_utf8_lossy(piece.text.get(..40).unwrap_or(&piece.text));
        if std::str::from_utf8(&piece.text).is_err() {
            return refuse(format!("piece {id} is not UTF-8: {:?}", shown()));
        }
        if piece.score.is_nan() {
            return refuse(format!("the score of piece {id}, {:?}, is not a number", shown()));
        }
    }
    if byte_fallback {
        let bytes = pieces.iter().filter(|piece| piece.kind == PieceKind::Byte);
        let mut spelled: Vec<&[u8]> = bytes.map(|piece| piece.text.as_slice()).collect();
        spelled.sort_unstable();
        let mut missing = (0..=255).map(byte_token);
        let missing = missing.find(|token| spelled.binary_search(&token.as_bytes()).is_err());
        if let Some(token) = missing {
            return refuse(format!(
                "byte_fallback needs all 256 byte pieces, but {token:?} is missing"
            ));
        }
    }
    Ok(())
}
