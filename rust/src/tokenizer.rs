//! Text to ids: special tokens, split, memo, model.

use std::collections::HashSet;

use crate::error::{Error, Kind, Result};
use crate::key::Key;
use crate::memo::{LONGEST, Memo, MemoPool};
use crate::model::{Model, Scratch};
use crate::parallel::Control;
use crate::special::SpecialTokens;
use crate::split::Splitter;

/// Pre-tokens probed together, so that their cache misses overlap.
const PROBES: usize = 32;

/// What happens to text that spells a special token.
#[derive(Debug)]
pub enum Policy {
    /// It becomes its id.
    Recognize,
    /// It is text like any other.
    AsText,
    /// It is refused.
    Forbid,
    /// These become their ids, the others are text.
    Only(Box<SpecialTokens>),
}

/// A compiled tokenizer.
#[derive(Debug)]
pub struct Tokenizer {
    model: Model,
    splitter: Splitter,
    special: SpecialTokens,
    none: SpecialTokens,
    pool: MemoPool,
}

/// What one thread works with.
#[derive(Debug)]
pub struct Worker<'a> {
    tokenizer: &'a Tokenizer,
    memo: Option<Memo>,
    scratch: Scratch,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if let Some(memo) = self.memo.take() {
            self.tokenizer.pool.give_back(memo);
        }
    }
}

impl Tokenizer {
    /// Put the parts together.
    ///
    /// # Errors
    ///
    /// None today; `SpecialTokens` was checked when it was made.
    pub fn new(
        model: Model,
        splitter: Splitter,
        special: SpecialTokens,
        memo_bytes: usize,
    ) -> Result<Self> {
        let none = SpecialTokens::new(Vec::new())?;
        Ok(Self { model, splitter, special, none, pool: MemoPool::new(memo_bytes) })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The split.
    #[must_use]
    pub fn splitter(&self) -> &Splitter {
        &self.splitter
    }

    /// The special tokens.
    #[must_use]
    pub fn special(&self) -> &SpecialTokens {
        &self.special
    }

    /// The special tokens that `policy` turns into ids in `text`.
    ///
    /// # Errors
    ///
    /// `SpecialTokenInText` when it forbids one that is there.
    pub fn recognized<'a>(&'a self, text: &[u8], policy: &'a Policy) -> Result<&'a SpecialTokens> {
        match policy {
            Policy::Recognize => Ok(&self.special),
            Policy::AsText => Ok(&self.none),
            Policy::Only(some) => Ok(some),
            Policy::Forbid => match self.special.find(text, 0) {
                None => Ok(&self.none),
                Some((start, end, _)) => {
                    let token = String::from_utf8_lossy(text.get(start..end).unwrap_or_default());
                    Err(Error::new(
                        Kind::SpecialTokenInText,
                        format!(
                            "text spells the special token {token:?} at byte {start}; pass \
                             special={{{token:?}}} to encode it as one id, or special=\"as_text\" \
                             to encode its characters as text"
                        ),
                    ))
                }
            },
        }
    }

    /// The subset of the special tokens that `wanted` names.
    ///
    /// # Errors
    ///
    /// `SpecialToken` for a name that is none of them.
    pub fn only(&self, wanted: &[Vec<u8>]) -> Result<Policy> {
        let mut missing: HashSet<&[u8]> = wanted.iter().map(Vec::as_slice).collect();
        let tokens = self.special.tokens().iter();
        let chosen =
            tokens.filter(|(token, _)| missing.remove(token.as_slice())).cloned().collect();
        if let Some(token) = wanted.iter().find(|token| missing.contains(token.as_slice())) {
            let shown = String::from_utf8_lossy(token);
            let message = format!("{shown:?} is not a special token of this tokenizer");
            return Err(Error::new(Kind::SpecialToken, message));
        }
        Ok(Policy::Only(Box::new(SpecialTokens::new(chosen)?)))
    }

    /// What one thread needs to encode.
    #[must_use]
    pub fn worker(&self) -> Worker<'_> {
        Worker { tokenizer: self, memo: Some(self.pool.take()), scratch: Scratch::default() }
    }
}

impl<'a> Worker<'a> {
    /// Whose worker this is.
    #[must_use]
    pub fn tokenizer(&self) -> &'a Tokenizer {
        self.tokenizer
    }

    /// Append the ids of `text`.
    ///
    /// # Errors
    ///
    /// `SpecialTokenInText`, `UnencodableText`, `Pattern`, `Memory`, `Interrupted`.
    pub fn encode(
        &mut self,
        text: &[u8],
        policy: &Policy,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let special = self.tokenizer.recognized(text, policy)?;
        special.cut(text, |start, end, id| match id {
            Some(id) => {
                ids.push(id);
                Ok(())
            }
            None => {
                let segment = text.get(start..end).unwrap_or_default();
                self.encode_segment(segment, ids, control).map_err(|error| locate(error, start))
            }
        })
    }

    /// Append the ids of a stretch of text without special tokens.
    ///
    /// # Errors
    ///
    /// `UnencodableText`, `Pattern`, `Memory`, `Interrupted`.
    pub fn encode_segment(
        &mut self,
        text: &[u8],
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let tokenizer = self.tokenizer;
        let mut from = 0;
        tokenizer.splitter.split(text, &mut |ends| {
            control.check()?;
            for ends in ends.chunks(PROBES) {
                from = self.encode_batch(text, from, ends, ids)?;
            }
            Ok(())
        })
    }

    #[inline]
    fn encode_batch(
        &mut self,
        text: &[u8],
        from: usize,
        ends: &[usize],
        ids: &mut Vec<u32>,
    ) -> Result<usize> {
        let Some(memo) = &self.memo else { return Ok(from) };
        let mut probes = [(Key::default(), 0u64); PROBES];
        let mut start = from;
        for (probe, &end) in probes.iter_mut().zip(ends) {
            if let Some(key) = Key::of(text, start, end) {
                let hash = memo.hash(key);
                memo.prefetch(hash);
                *probe = (key, hash);
            }
            start = end;
        }
        start = from;
        for (&(key, hash), &end) in probes.iter().zip(ends) {
            let known = self.memo.as_ref().is_some_and(|memo| memo.recall(key, hash, ids));
            if !known || key.is_none() {
                self.encode_missed(text, start, end, (key, hash), ids)?;
            }
            start = end;
        }
        Ok(start)
    }

    #[inline(never)]
    fn encode_missed(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        (key, hash): (Key, u64),
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        let pretoken = text.get(start..end).unwrap_or_default();
        let is_long = key.is_none() && pretoken.len() <= LONGEST;
        if is_long && self.memo.as_ref().is_some_and(|memo| memo.recall_long(pretoken, ids)) {
            return Ok(());
        }
        let n_before = ids.len();
        self.tokenizer
            .model
            .encode(pretoken, &mut self.scratch, ids)
            .map_err(|error| locate(error, start))?;
        let new = ids.get(n_before..).unwrap_or_default();
        if let Some(memo) = &mut self.memo {
            if is_long {
                memo.remember_long(pretoken, new);
            } else if !key.is_none() {
                memo.remember(key, hash, new);
            }
        }
        Ok(())
    }

    /// The ids of `text` and where the bytes of each begin and end.
    ///
    /// # Errors
    ///
    /// As `encode`.
    pub fn encode_spans(
        &mut self,
        text: &[u8],
        policy: &Policy,
        control: &Control,
    ) -> Result<Vec<(u32, usize, usize)>> {
        let special = self.tokenizer.recognized(text, policy)?;
        let mut spans = Vec::new();
        let mut ids = Vec::new();
        special.cut(text, |start, end, id| {
            if let Some(id) = id {
                spans.push((id, start, end));
                return Ok(());
            }
            ids.clear();
            let segment = text.get(start..end).unwrap_or_default();
            self.encode_segment(segment, &mut ids, control).map_err(|e| locate(e, start))?;
            let mut at = start;
            for &id in &ids {
                let n_bytes = self.tokenizer.model.vocabulary().token(id).map_or(0, <[u8]>::len);
                spans.push((id, at, at + n_bytes));
                at += n_bytes;
            }
            Ok(())
        })?;
        Ok(spans)
    }
}

/// Say where in the text an unencodable byte stands.
fn locate(error: Error, start: usize) -> Error {
    if error.kind != Kind::UnencodableText {
        return error;
    }
    match error.message.split_once(" at byte ") {
        Some((what, rest)) => {
            let (at, _) = rest.split_once(' ').unwrap_or((rest, ""));
            let at = at.parse::<usize>().unwrap_or(0) + start;
            Error::new(
                error.kind,
                format!("{what} at byte {at} of the text is not in the vocabulary"),
            )
        }
        None => error,
    }
}
