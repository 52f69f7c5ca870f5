//! Apply merges to one pre-token: lowest rank first, leftmost first, without overlap.

use super::edges::Edges;
use super::long::{Long, check_dropout, merge_long, merge_with_dropout};
use super::short::{SHORT, Short};
use super::vocabulary::{Joined, NO_ID, PairTable, Vocabulary};
use crate::error::{Error, Kind, Result};
use crate::parallel::Control;
use crate::unigram::Random;
use std::sync::Arc;

/// Bytes of pieces between two looks at the stop flag.
const BYTES_A_CHECK: usize = 1 << 16;

/// A byte-level BPE model.
#[derive(Debug)]
pub struct Bpe {
    vocabulary: Arc<Vocabulary>,
    pairs: PairTable,
    byte_ids: [u32; 256],
    byte_pairs: BytePairs,
    neighbours: Neighbours,
    edges: Edges,
    whole_first: bool,
}

/// What two bytes join to, if both are tokens: where every merge of a pre-token begins.
#[derive(Debug)]
struct BytePairs(Vec<Joined>);

impl BytePairs {
    fn none() -> Result<Self> {
        let mut joined = Vec::new();
        joined.try_reserve_exact(1 << 16)?;
        joined.resize(1 << 16, Joined::NEVER);
        Ok(Self(joined))
    }

    fn add(&mut self, left: u8, right: u8, joined: Joined) {
        if let Some(known) = self.0.get_mut(usize::from(left) << 8 | usize::from(right)) {
            *known = joined;
        }
    }

    #[inline(always)]
    fn get(&self, left: u8, right: u8) -> Joined {
        let at = usize::from(left) << 8 | usize::from(right);
        self.0.get(at).copied().unwrap_or(Joined::NEVER)
    }
}

/// Which bytes some merge joins: between all others, every token ends.
#[derive(Debug)]
struct Neighbours(Box<[u64; 1024]>);

impl Neighbours {
    fn none() -> Self {
        Self(Box::new([0; 1024]))
    }

    fn add(&mut self, left: u8, right: u8) {
        let at = usize::from(left) << 8 | usize::from(right);
        self.0[at / 64] |= 1 << (at % 64);
    }

    #[inline(always)]
    fn has(&self, left: u8, right: u8) -> bool {
        let at = usize::from(left) << 8 | usize::from(right);
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// Bytes up to the first place between two of them that no token reaches over.
    #[inline]
    fn reach(&self, text: &[u8]) -> usize {
        text.windows(2).position(|pair| !self.has(pair[0], pair[1])).map_or(text.len(), |at| at + 1)
    }
}

/// Buffers, kept between calls.
#[derive(Debug, Default)]
pub struct Scratch {
    short: Short,
    long: Long,
}

impl Bpe {
    /// A model of tokens, and merges in rank order as (left id, right id).
    ///
    /// `whole_first` gives a pre-token that is itself a token that token's id, as tiktoken does
    /// and HF with `ignore_merges`.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for merges that name or make tokens the vocabulary lacks, or repeat a pair.
    pub fn new(
        vocabulary: Arc<Vocabulary>,
        merges: &[(u32, u32)],
        whole_first: bool,
    ) -> Result<Self> {
        let mut bpe = Self::without_merges(vocabulary, merges.len())?;
        let mut bytes = Vec::new();
        let mut next = 0;
        for (rank, &(left, right)) in merges.iter().enumerate() {
            bytes.clear();
            for id in [left, right] {
                bytes.extend_from_slice(bpe.vocabulary.token(id).ok_or_else(|| {
                    let message = format!("merge {rank} names id {id}, which has no token");
                    Error::new(Kind::Vocabulary, message)
                })?);
            }
            // Merges in a row mostly make ids in a row, and to look there is cheaper.
            let follows = bpe.vocabulary.token(next) == Some(&bytes);
            let id = if follows { Some(next) } else { bpe.vocabulary.id_of(&bytes) };
            let id = id.ok_or_else(|| {
                let shown = String::from_utf8_lossy(bytes.get(..40).unwrap_or(&bytes));
                let message =
                    format!("merge {rank} makes {shown:?}, which is not in the vocabulary");
                Error::new(Kind::Vocabulary, message)
            })?;
            bpe.add_merge(left, right, id)?;
            next = id.wrapping_add(1);
        }
        if whole_first {
            bpe.put_whole_first(!bpe.has_token_of_edges_never_made());
        }
        Ok(bpe)
    }

    /// Whether merges do not make some token with characters that `Edges` cuts between.
    fn has_token_of_edges_never_made(&self) -> bool {
        let (mut scratch, mut ids) = (Scratch::default(), Vec::new());
        let control = Control::default();
        for (id, token) in self.vocabulary.tokens().filter(|(_, token)| Edges::concern(token)) {
            ids.clear();
            let made = self.encode_pieces(token, &mut scratch, &mut ids, &control);
            if made.is_err() || ids != [id] {
                return true;
            }
        }
        false
    }

    /// A model that merges nothing yet, with room for `n_merges`.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn without_merges(vocabulary: Arc<Vocabulary>, n_merges: usize) -> Result<Self> {
        let byte_ids = std::array::from_fn(|byte| vocabulary.id_of(&[byte as u8]).unwrap_or(NO_ID));
        let pairs = PairTable::with_room(n_merges)?;
        let (byte_pairs, neighbours) = (BytePairs::none()?, Neighbours::none());
        let (edges, whole_first) = (Edges::new()?, false);
        Ok(Self { pairs, vocabulary, byte_ids, byte_pairs, neighbours, edges, whole_first })
    }

    /// Let `left` and `right` join to `id`, after all merges so far.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for a pair given before.
    pub fn add_merge(&mut self, left: u32, right: u32, id: u32) -> Result<()> {
        self.pairs.push(left, right, id)?;
        self.note_neighbours(left, right);
        Ok(())
    }

    /// Let `left` and `right` join to `id` with a rank that no other merge has.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for a pair given before.
    pub fn add_ranked_merge(&mut self, left: u32, right: u32, id: u32, rank: u32) -> Result<()> {
        self.pairs.push_ranked(left, right, id, rank)?;
        self.note_neighbours(left, right);
        Ok(())
    }

    fn note_neighbours(&mut self, left: u32, right: u32) {
        let sides = (self.vocabulary.token(left), self.vocabulary.token(right));
        if let (Some(left), Some(right)) = sides {
            self.edges.add(left, right);
        }
        match sides {
            (Some(&[left_byte]), Some(&[right_byte])) => {
                self.neighbours.add(left_byte, right_byte);
                self.byte_pairs.add(left_byte, right_byte, self.pairs.get(left, right));
            }
            (Some(&[.., last]), Some(&[first, ..])) => self.neighbours.add(last, first),
            _ => {}
        }
    }

    /// From now on, give a pre-token that is a token that token's id. `all_made` says that merges
    /// make every token that `Edges::concern`.
    pub fn put_whole_first(&mut self, all_made: bool) {
        self.whole_first = true;
        if !all_made {
            self.edges.give_up();
        }
    }

    /// Whether a pre-token that is a token gets that token's id.
    #[must_use]
    pub fn is_whole_first(&self) -> bool {
        self.whole_first
    }

    /// The merges.
    #[must_use]
    pub fn pairs(&self) -> &PairTable {
        &self.pairs
    }

    /// Whether every byte of `text` is a token.
    #[must_use]
    pub fn has_bytes_of(&self, text: &[u8]) -> bool {
        text.iter().all(|&byte| self.byte_ids[byte as usize] != NO_ID)
    }

    /// The tokens.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Where long pre-tokens may be cut.
    #[must_use]
    pub fn edges(&self) -> &Edges {
        &self.edges
    }

    /// Append the ids of one pre-token.
    ///
    /// # Errors
    ///
    /// `UnencodableText` for a byte that is no token; `Memory`, `Interrupted`.
    pub fn encode(
        &self,
        pretoken: &[u8],
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        if self.whole_first
            && let Some(id) = self.vocabulary.id_of(pretoken)
        {
            ids.push(id);
            return Ok(());
        }
        self.encode_pieces(pretoken, scratch, ids, control)
    }

    fn encode_pieces(
        &self,
        pretoken: &[u8],
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let (mut at, mut check_at) = (0, BYTES_A_CHECK);
        while let Some(rest) = pretoken.get(at..).filter(|rest| !rest.is_empty()) {
            let n_bytes = self.neighbours.reach(rest);
            let piece = rest.get(..n_bytes).unwrap_or(rest);
            self.encode_piece(piece, at, scratch, ids, control)?;
            at += n_bytes;
            if at >= check_at {
                control.check()?;
                check_at = at + BYTES_A_CHECK;
            }
        }
        Ok(())
    }

    /// Append the ids of one pre-token, passing over each merge with probability `p`.
    ///
    /// A `p` of 0 gives what `encode` gives, and 1 the bytes. A pre-token that is a token stays
    /// whole only at 0.
    ///
    /// # Errors
    ///
    /// Those of `encode`; `Argument` for a `p` outside 0 to 1.
    pub fn encode_with_dropout(
        &self,
        pretoken: &[u8],
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        p: f64,
        random: &mut Random,
        control: &Control,
    ) -> Result<()> {
        check_dropout(p)?;
        if p == 0.0 {
            return self.encode(pretoken, scratch, ids, control);
        }
        let long = &mut scratch.long;
        let bytes = pretoken.iter().enumerate();
        long.begin(bytes.map(|(at, &byte)| self.byte_id(byte, at)), &self.pairs, control)?;
        merge_with_dropout(long, &self.pairs, p, random)?;
        long.finish(ids);
        Ok(())
    }

    /// Append the ids of a piece that begins at byte `start` of its pre-token.
    #[inline]
    fn encode_piece(
        &self,
        piece: &[u8],
        start: usize,
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        match piece {
            [byte] => ids.push(self.byte_id(*byte, start)?),
            _ if piece.len() <= SHORT => self.merge_short(piece, start, &mut scratch.short, ids)?,
            _ => {
                let long = &mut scratch.long;
                let bytes = piece.iter().enumerate();
                let symbols = bytes.map(|(at, &byte)| self.byte_id(byte, start + at));
                long.begin(symbols, &self.pairs, control)?;
                merge_long(long, &self.pairs, control)?;
                long.finish(ids);
            }
        }
        Ok(())
    }

    #[inline]
    fn byte_id(&self, byte: u8, at: usize) -> Result<u32> {
        let id = self.byte_ids[byte as usize];
        if id == NO_ID {
            return Err(Error::new(
                Kind::UnencodableText,
                format!("byte 0x{byte:02x} at byte {at} of a pre-token is not in the vocabulary"),
            ));
        }
        Ok(id)
    }

    fn merge_short(
        &self,
        piece: &[u8],
        start: usize,
        short: &mut Short,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        if let Some(at) = piece.iter().position(|&byte| self.byte_ids[byte as usize] == NO_ID) {
            self.byte_id(piece[at], start + at)?;
        }
        self.begin_short(piece, short);
        short.merge(&self.pairs);
        out.extend(short.ids());
        Ok(())
    }

    /// Begin with the bytes of a piece, all of which are tokens.
    #[inline(always)]
    pub(super) fn begin_short(&self, piece: &[u8], short: &mut Short) {
        let ids = piece.iter().map(|&byte| self.byte_ids[byte as usize]);
        short.begin(ids, |at| match piece.get(at..at + 2) {
            Some(&[left, right]) => self.byte_pairs.get(left, right),
            _ => Joined::NEVER,
        });
    }
}
