//! Byte-pair encoding of characters: as subword-nmt, HF `tokenizers` and sentencepiece have it.
//!
//! A text is first read as symbols, one for each character (code point), then symbols merge as
//! bytes do in `encode`. What has no symbol is unknown: it becomes the tokens of its bytes, or
//! the unknown token, or is refused.

use super::cuts::Segments;
use super::long::{Long, check_dropout, merge_long, merge_with_dropout};
use super::short::{SHORT, merge_short};
use super::vocabulary::{NO_ID, PairTable, Vocabulary};
use crate::code_points::{CodePointTable, INVALID, code_point_at, last_code_point, shown};
use crate::error::{Error, Kind, Result};
use crate::neighbours::Neighbours;
use crate::parallel::Control;
use crate::special::SpecialTokens;
use crate::unigram::Random;

/// Bytes between two looks at the stop flag.
const BYTES_A_CHECK: usize = 1 << 16;

/// Buffers of more symbols than this are given back after use.
const KEEP: usize = 1 << 20;

/// What a model does beyond its merges.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The id of unknown characters; without it they are refused, where HF drops them silently.
    pub unk_id: Option<u32>,
    /// Whether unknown characters that follow each other are one unknown token.
    pub fuse_unk: bool,
    /// Whether an unknown character becomes the tokens `<0x00>` to `<0xFF>` of its bytes, if all
    /// of them are in the vocabulary.
    pub byte_fallback: bool,
    /// What symbols inside a pre-token begin with: all but its first.
    pub continuing_subword_prefix: Vec<u8>,
    /// What the last symbol of a pre-token ends with.
    pub end_of_word_suffix: Vec<u8>,
    /// Whether a pre-token that is a token is that token (HF's `ignore_merges`).
    pub whole_first: bool,
    /// Whether symbols are bytes, not characters, as in CLIP.
    pub byte_level: bool,
}

/// A character-level BPE model.
#[derive(Debug)]
pub struct CharacterBpe {
    pub(super) vocabulary: Vocabulary,
    pub(super) pairs: PairTable,
    /// Symbols of characters without the prefix and the suffix.
    pub(super) plain: CodePointTable,
    /// Symbols of characters with the prefix, where there is one.
    inside: Option<CodePointTable>,
    byte_ids: Box<[u32; 256]>,
    options: Options,
    /// Characters that have no id, but occur in tokens: symbols from `vocabulary.n_ids()` on.
    pub(super) nameless: Vec<char>,
    /// Tokens that are made, but given as what they were made of: id and parts, by id.
    pub(super) unused: Vec<(u32, (u32, u32))>,
    pub(super) user_defined: SpecialTokens,
    pub(super) neighbours: Neighbours,
    pub(super) is_cut: bool,
    pub(super) fuses_unknown: bool,
}

/// Buffers, kept between calls.
#[derive(Debug, Default)]
pub struct Scratch {
    long: Long,
    symbols: Vec<u32>,
    /// The byte at which each symbol starts.
    starts: Vec<u32>,
}

/// A token and its half-open span of bytes.
pub type Spanned = (u32, u32, u32);

impl Scratch {
    fn release(&mut self) {
        self.long.release();
        if self.symbols.capacity() > KEEP {
            self.symbols = Vec::new();
            self.starts = Vec::new();
        }
    }
}

impl CharacterBpe {
    /// A model of tokens, and merges in rank order as (left id, right id).
    ///
    /// A merge makes the token that is spelled like the left one and the right one, without the
    /// prefix of the latter.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for merges that name or make tokens the vocabulary lacks, or repeat a pair,
    /// and for an `unk_id` without a token; `Memory`.
    pub fn new(vocabulary: Vocabulary, merges: &[(u32, u32)], options: Options) -> Result<Self> {
        let mut this = Self::without_merges(vocabulary, merges.len(), options)?;
        this.set_symbols()?;
        let mut spelling = Vec::new();
        for (rank, &merge) in merges.iter().enumerate() {
            this.add_merge(rank, merge, &mut spelling)?;
        }
        Ok(this)
    }

    /// A model that has no symbols and merges nothing yet, with room for `n_merges`.
    pub(super) fn without_merges(
        vocabulary: Vocabulary,
        n_merges: usize,
        options: Options,
    ) -> Result<Self> {
        if let Some(id) = options.unk_id.filter(|&id| vocabulary.token(id).is_none()) {
            let message = format!("the unknown token's id {id} has no token in the vocabulary");
            return Err(Error::new(Kind::Vocabulary, message));
        }
        let byte_id = |byte| vocabulary.id_of(byte_token(byte).as_bytes()).unwrap_or(NO_ID);
        let byte_ids: Box<[u32; 256]> = Box::new(std::array::from_fn(|byte| byte_id(byte as u8)));
        let all_bytes = options.byte_fallback && byte_ids.iter().all(|&id| id != NO_ID);
        Ok(Self {
            pairs: PairTable::with_room(n_merges)?,
            plain: CodePointTable::new()?,
            inside: None,
            byte_ids,
            nameless: Vec::new(),
            unused: Vec::new(),
            user_defined: SpecialTokens::new(Vec::new())?,
            neighbours: Neighbours::default(),
            is_cut: !options.whole_first
                && !options.byte_level
                && options.continuing_subword_prefix.is_empty()
                && options.end_of_word_suffix.is_empty(),
            fuses_unknown: options.fuse_unk && options.unk_id.is_some() && !all_bytes,
            vocabulary,
            options,
        })
    }

    /// Let every token of one character be the symbol of that character.
    fn set_symbols(&mut self) -> Result<()> {
        let prefix = &self.options.continuing_subword_prefix;
        let mut inside = CodePointTable::new()?;
        for (id, token) in self.vocabulary.tokens() {
            if let Some(code) = self.single(token) {
                self.plain.set(code, id)?;
            }
            let without = token.strip_prefix(prefix.as_slice());
            if let Some(code) = without.and_then(|token| self.single(token)) {
                inside.set(code, id)?;
            }
        }
        self.inside = Some(inside).filter(|_| !prefix.is_empty());
        Ok(())
    }

    fn add_merge(
        &mut self,
        rank: usize,
        (left, right): (u32, u32),
        spelling: &mut Vec<u8>,
    ) -> Result<()> {
        let token = |id| {
            self.vocabulary.token(id).ok_or_else(|| {
                let message = format!("merge {rank} names id {id}, which has no token");
                Error::new(Kind::Vocabulary, message)
            })
        };
        let (left_token, right_token) = (token(left)?, token(right)?);
        let prefix = self.options.continuing_subword_prefix.as_slice();
        spelling.clear();
        spelling.extend_from_slice(left_token);
        spelling.extend_from_slice(right_token.strip_prefix(prefix).unwrap_or(right_token));
        let id = self.vocabulary.id_of(spelling).ok_or_else(|| {
            let shown = String::from_utf8_lossy(spelling.get(..40).unwrap_or(spelling));
            let message = format!("merge {rank} makes {shown:?}, which is not in the vocabulary");
            Error::new(Kind::Vocabulary, message)
        })?;
        if let Some(last) = last_code_point(left_token) {
            self.neighbours.join(last, code_point_at(right_token, 0).0);
        }
        // A merge of byte tokens may join any characters.
        let is_of_bytes = || self.byte_ids.contains(&left) || self.byte_ids.contains(&right);
        self.is_cut &= !(self.options.byte_fallback && is_of_bytes());
        self.pairs.push(left, right, id)
    }

    /// The tokens.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The parts of a text whose ids, one part after the other, are the ids of the text.
    ///
    /// They are user-defined pieces, and what lies between places that no merge reaches over.
    /// A model with a prefix, a suffix or `whole_first` gives its pre-tokens whole.
    #[must_use]
    pub fn segments<'a>(&'a self, text: &'a [u8]) -> Segments<'a> {
        Segments::new(self, text)
    }

    /// Append the ids of one pre-token.
    ///
    /// # Errors
    ///
    /// `UnencodableText` for an unknown character, without an unknown token; `Argument` for
    /// 4 GiB or more; `Memory`, `Interrupted`.
    pub fn encode(
        &self,
        pretoken: &[u8],
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        if let Some(id) = self.whole(pretoken) {
            ids.push(id);
            return Ok(());
        }
        let mut check_at = 0;
        for segment in self.segments(pretoken) {
            if segment.start >= check_at {
                control.check()?;
                check_at = segment.start + BYTES_A_CHECK;
            }
            match segment.user_defined {
                Some(id) => ids.push(id),
                None => {
                    let text = pretoken.get(segment.start..segment.end).unwrap_or_default();
                    self.encode_segment(text, segment.start, scratch, ids, control)?;
                }
            }
        }
        Ok(())
    }

    /// Append the tokens of one pre-token, with the bytes that each stands for.
    ///
    /// Each byte of an unknown character is a token of one byte, with byte fallback.
    ///
    /// # Errors
    ///
    /// Those of `encode`.
    pub fn encode_spans(
        &self,
        pretoken: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<Spanned>,
        control: &Control,
    ) -> Result<()> {
        let n_bytes = check_length(pretoken)?;
        if let Some(id) = self.whole(pretoken) {
            out.push((id, 0, n_bytes));
            return Ok(());
        }
        let mut check_at = 0;
        for segment in self.segments(pretoken) {
            if segment.start >= check_at {
                control.check()?;
                check_at = segment.start + BYTES_A_CHECK;
            }
            let (start, end) = (segment.start as u32, segment.end as u32);
            if let Some(id) = segment.user_defined {
                out.push((id, start, end));
                continue;
            }
            let text = pretoken.get(segment.start..segment.end).unwrap_or_default();
            self.read(text, segment.start, scratch)?;
            scratch.long.begin(
                scratch.symbols.iter().map(|&symbol| Ok(symbol)),
                &self.pairs,
                control,
            )?;
            merge_long(&mut scratch.long, &self.pairs, control)?;
            self.give_spans(scratch, end, out);
            scratch.release();
        }
        Ok(())
    }

    /// Append the ids of one pre-token, passing over each merge with probability `p`.
    ///
    /// The pairs that merge are those that `encode` merges; each segment is merged on its own.
    /// `p` of 0 gives what `encode` gives, and 1 the characters (and user-defined pieces). A
    /// pre-token that is a token stays whole only at 0.
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
        let mut check_at = 0;
        for segment in self.segments(pretoken) {
            if segment.start >= check_at {
                control.check()?;
                check_at = segment.start + BYTES_A_CHECK;
            }
            if let Some(id) = segment.user_defined {
                ids.push(id);
                continue;
            }
            let text = pretoken.get(segment.start..segment.end).unwrap_or_default();
            let is_plain = self.read(text, segment.start, scratch)?;
            let long = &mut scratch.long;
            long.begin(scratch.symbols.iter().map(|&symbol| Ok(symbol)), &self.pairs, control)?;
            merge_with_dropout(long, &self.pairs, p, random)?;
            let n_before = ids.len();
            long.finish(ids);
            self.settle(is_plain, n_before, ids);
            scratch.release();
        }
        Ok(())
    }

    fn whole(&self, pretoken: &[u8]) -> Option<u32> {
        if self.options.whole_first { self.vocabulary.id_of(pretoken) } else { None }
    }

    /// Append the ids of a segment that begins at byte `start` and is no user-defined piece.
    ///
    /// # Errors
    ///
    /// Those of `encode`.
    pub fn encode_segment(
        &self,
        segment: &[u8],
        start: usize,
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let is_plain = self.read(segment, start, scratch)?;
        let n_before = ids.len();
        self.merge(scratch, ids, control)?;
        self.settle(is_plain, n_before, ids);
        scratch.release();
        Ok(())
    }

    /// Append what the symbols of `scratch` merge to.
    fn merge(&self, scratch: &mut Scratch, out: &mut Vec<u32>, control: &Control) -> Result<()> {
        let symbols = scratch.symbols.as_slice();
        let mut short = [0; SHORT];
        match short.get_mut(..symbols.len()) {
            Some(_) if symbols.len() < 2 => out.extend_from_slice(symbols),
            Some(place) => {
                place.copy_from_slice(symbols);
                let n = merge_short(&mut short, symbols.len(), &self.pairs);
                out.extend(short.iter().take(n));
            }
            None => {
                scratch.long.begin(
                    symbols.iter().map(|&symbol| Ok(symbol)),
                    &self.pairs,
                    control,
                )?;
                merge_long(&mut scratch.long, &self.pairs, control)?;
                scratch.long.finish(out);
            }
        }
        Ok(())
    }

    /// What these symbols merge to, by the merges so far: for `pieces`.
    pub(super) fn merge_symbols(
        &self,
        symbols: impl Iterator<Item = u32>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        scratch.symbols.clear();
        scratch.symbols.extend(symbols);
        self.merge(scratch, out, &Control::default())
    }

    /// Read a segment as symbols; whether all of them are ids.
    fn read(&self, segment: &[u8], start: usize, scratch: &mut Scratch) -> Result<bool> {
        check_length(segment)?;
        let Scratch { symbols, starts, .. } = scratch;
        symbols.clear();
        starts.clear();
        symbols.try_reserve(segment.len())?;
        starts.try_reserve(segment.len())?;
        let n_ids = self.vocabulary.n_ids() as u32;
        let (mut at, mut is_plain) = (0, true);
        while at < segment.len() {
            let (code, n_bytes) = self.unit_at(segment, at);
            let end = at + n_bytes;
            let symbol = self.symbol(code, at == 0, end == segment.len());
            let place = (start + at) as u32;
            if symbol != NO_ID {
                is_plain &= symbol < n_ids;
                symbols.push(symbol);
                starts.push(place);
            } else if let Some(bytes) = self.fall_back(segment.get(at..end).unwrap_or_default()) {
                symbols.extend(bytes);
                starts.extend((place..).take(n_bytes));
            } else if self.options.unk_id.is_some() {
                is_plain = false;
                symbols.push(self.unknown());
                starts.push(place);
            } else {
                return Err(Error::new(
                    Kind::UnencodableText,
                    format!(
                        "{} at byte {place} of a pre-token is not in the vocabulary",
                        shown(code)
                    ),
                ));
            }
            at = end;
        }
        Ok(is_plain)
    }

    /// The code of the character or byte that starts at byte `at`, and its bytes.
    #[inline(always)]
    fn unit_at(&self, text: &[u8], at: usize) -> (u32, usize) {
        if self.options.byte_level {
            return (text.get(at).copied().map_or(INVALID, u32::from), 1);
        }
        code_point_at(text, at)
    }

    /// The code of the character or byte that is the whole of a token.
    fn single(&self, token: &[u8]) -> Option<u32> {
        let (code, n_bytes) = self.unit_at(token, 0);
        (code < INVALID && n_bytes == token.len()).then_some(code)
    }

    #[inline(always)]
    fn symbol(&self, code: u32, is_first: bool, is_last: bool) -> u32 {
        if is_last && !self.options.end_of_word_suffix.is_empty() {
            return self.last_symbol(code, is_first);
        }
        match &self.inside {
            Some(inside) if !is_first => inside.get(code),
            _ => self.plain.get(code),
        }
    }

    fn last_symbol(&self, code: u32, is_first: bool) -> u32 {
        let prefix = self.options.continuing_subword_prefix.as_slice();
        let prefix = if is_first { &[][..] } else { prefix };
        let mut buffer = [code as u8, 0, 0, 0];
        let unit = match char::from_u32(code) {
            _ if self.options.byte_level => buffer.get(..1).unwrap_or_default(),
            Some(character) => character.encode_utf8(&mut buffer).as_bytes(),
            None => return NO_ID,
        };
        let token = [prefix, unit, &self.options.end_of_word_suffix].concat();
        self.vocabulary.id_of(&token).unwrap_or(NO_ID)
    }

    /// The tokens of these bytes, if byte fallback is on and each has one.
    fn fall_back(&self, bytes: &[u8]) -> Option<impl Iterator<Item = u32>> {
        let ids = bytes.iter().map(|&byte| self.byte_ids[byte as usize]);
        let falls_back = self.options.byte_fallback && ids.clone().all(|id| id != NO_ID);
        falls_back.then_some(ids)
    }

    /// The symbol of characters that are in no token.
    fn unknown(&self) -> u32 {
        (self.vocabulary.n_ids() + self.nameless.len()) as u32
    }

    /// Whether texts are cut into segments.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whether text may become the unknown token at this character.
    #[must_use]
    pub fn may_lose(&self, character: char) -> bool {
        self.fuses_unknown && self.may_be_unknown(character as u32)
    }

    /// Whether a code may become the unknown token.
    #[inline]
    pub(super) fn may_be_unknown(&self, code: u32) -> bool {
        self.plain.get(code) as usize >= self.vocabulary.n_ids()
    }

    /// Replace what is not given as it stands, from place `from` on.
    #[inline]
    fn settle(&self, is_plain: bool, from: usize, ids: &mut Vec<u32>) {
        if is_plain && self.unused.is_empty() {
            return;
        }
        let merged = ids.split_off(from);
        let mut was_unknown = false;
        for id in merged {
            self.settle_one((id, 0, 0), &mut |(id, _, _), is_unknown| {
                if !(is_unknown && was_unknown && self.options.fuse_unk) {
                    ids.push(id);
                }
                was_unknown = is_unknown;
            });
        }
    }

    /// Append the parts of `scratch.long`, which ends at byte `end`.
    fn give_spans(&self, scratch: &mut Scratch, end: u32, out: &mut Vec<Spanned>) {
        let starts = &scratch.starts;
        let start_of = |symbol: usize| starts.get(symbol).copied().unwrap_or(end);
        let mut was_unknown = false;
        for (id, symbol, next) in scratch.long.parts() {
            let spanned = (id, start_of(symbol), start_of(next));
            self.settle_one(spanned, &mut |spanned, is_unknown| {
                match out.last_mut() {
                    Some(last) if is_unknown && was_unknown && self.options.fuse_unk => {
                        last.2 = spanned.2;
                    }
                    _ => out.push(spanned),
                }
                was_unknown = is_unknown;
            });
        }
    }

    /// Give a merged symbol as tokens, each with whether it is the unknown one.
    fn settle_one(&self, merged: Spanned, give: &mut impl FnMut(Spanned, bool)) {
        let n_ids = self.vocabulary.n_ids() as u32;
        let mut waiting = vec![merged];
        while let Some((id, start, end)) = waiting.pop() {
            if id < n_ids {
                match self.unused.binary_search_by_key(&id, |&(id, _)| id) {
                    Ok(found) => {
                        let (left, right) = self.unused[found].1;
                        let middle = start.saturating_add(self.n_bytes(left));
                        waiting.push((right, middle, end));
                        waiting.push((left, start, middle));
                    }
                    Err(_) => give((id, start, end), false),
                }
                continue;
            }
            let mut buffer = [0; 4];
            let nameless = self.nameless.get((id - n_ids) as usize);
            let bytes = nameless.map(|character| character.encode_utf8(&mut buffer).as_bytes());
            match bytes.and_then(|bytes| self.fall_back(bytes)) {
                Some(ids) => {
                    for (id, at) in ids.zip(start..) {
                        give((id, at, at.saturating_add(1)), false);
                    }
                }
                None => give((self.options.unk_id.unwrap_or(NO_ID), start, end), true),
            }
        }
    }

    /// Bytes of a symbol's characters.
    fn n_bytes(&self, symbol: u32) -> u32 {
        let nameless = (symbol as usize).checked_sub(self.vocabulary.n_ids());
        match nameless.and_then(|place| self.nameless.get(place)) {
            Some(character) => character.len_utf8() as u32,
            None => self.vocabulary.token(symbol).map_or(0, |token| token.len() as u32),
        }
    }
}

/// The spelling of the token that stands for a byte.
#[must_use]
pub fn byte_token(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

fn check_length(text: &[u8]) -> Result<u32> {
    u32::try_from(text.len()).map_err(|_| {
        Error::new(Kind::Argument, "a pre-token of 4 GiB or more; split the text with a pattern")
    })
}
