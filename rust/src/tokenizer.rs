//! A compiled tokenizer: special tokens, normalizer, split, memo, model.

use std::collections::HashSet;

use crate::bpe::vocabulary::Vocabulary;
use crate::error::{Error, Kind, Result};
use crate::memo::MemoPool;
use crate::model::Model;
use crate::normalize::Normalizer;
use crate::special::{SpecialToken, SpecialTokens};
use crate::split::Splitter;
use crate::split::steps::Steps;
pub use crate::worker::Worker;

/// How a normalized text becomes pre-tokens.
#[derive(Debug)]
pub enum Cutter {
    /// Patterns that keep all of the text.
    Patterns(Splitter),
    /// Steps that may drop some of it.
    Steps(Steps),
}

/// A string with an id of its own, and how it is told from other text.
#[derive(Debug, Clone)]
pub struct AddedToken {
    /// What is looked for, and its id.
    pub token: SpecialToken,
    /// Reserved: text may be kept from spelling it. Others are always recognized.
    pub is_special: bool,
    /// Looked for in the normalized text, not in the text as given.
    pub in_normalized: bool,
    /// Never looked for: the id is only ever added by a template, as SentencePiece's control
    /// pieces are.
    pub is_control: bool,
}

/// The tokens that one policy recognizes.
#[derive(Debug)]
pub struct Recognized {
    /// In the text as given.
    pub given: SpecialTokens,
    /// In the normalized text.
    pub normalized: SpecialTokens,
}

impl Recognized {
    fn of(tokens: &[AddedToken], wanted: impl Fn(&AddedToken) -> bool) -> Result<Self> {
        let pick = |in_normalized: bool| {
            let chosen = tokens.iter().filter(|added| {
                !added.is_control && added.in_normalized == in_normalized && wanted(added)
            });
            SpecialTokens::new(chosen.map(|added| added.token.clone()).collect())
        };
        Ok(Self { given: pick(false)?, normalized: pick(true)? })
    }
}

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
    Only(Box<Recognized>),
}

/// The parts of a tokenizer.
#[derive(Debug)]
pub struct Parts {
    /// Pre-token to ids.
    pub model: Model,
    /// Ids to bytes, for models that do not keep it.
    pub vocabulary: Option<Vocabulary>,
    /// What changes the text before it is cut.
    pub normalizer: Option<Normalizer>,
    /// What cuts it.
    pub cutter: Cutter,
    /// Strings with ids of their own.
    pub added: Vec<AddedToken>,
    /// Most bytes of a memo.
    pub memo_bytes: usize,
}

/// A compiled tokenizer.
#[derive(Debug)]
pub struct Tokenizer {
    pub(crate) parts: Parts,
    all: SpecialTokens,
    special_ids: Vec<u32>,
    recognized: Recognized,
    as_text: Recognized,
    pub(crate) pool: MemoPool,
}

impl Tokenizer {
    /// Put the parts together.
    ///
    /// # Errors
    ///
    /// `SpecialToken` for an empty or repeated added token.
    pub fn new(parts: Parts) -> Result<Self> {
        let all = parts.added.iter().map(|added| added.token.clone()).collect();
        let special = parts.added.iter().filter(|added| added.is_special);
        let mut special_ids: Vec<u32> = special.map(|added| added.token.id).collect();
        special_ids.sort_unstable();
        Ok(Self {
            all: SpecialTokens::new(all)?,
            special_ids,
            recognized: Recognized::of(&parts.added, |_| true)?,
            as_text: Recognized::of(&parts.added, |added| !added.is_special)?,
            pool: MemoPool::new(parts.memo_bytes),
            parts,
        })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.parts.model
    }

    /// The patterns, when nothing else stands between a text and its pre-tokens.
    #[must_use]
    pub fn plain_splitter(&self) -> Option<&Splitter> {
        match &self.parts.cutter {
            Cutter::Patterns(splitter)
                if self.parts.normalizer.is_none() && self.recognized.normalized.is_empty() =>
            {
                Some(splitter)
            }
            _ => None,
        }
    }

    /// A place at or before `near` where `text` may be cut for threads, the ids of the parts
    /// being those of the whole.
    #[must_use]
    pub fn safe_cut(&self, text: &[u8], near: usize) -> Option<usize> {
        let special = &self.recognized.given;
        if special.any_has_space() || !special.are_plain() {
            return None;
        }
        self.plain_splitter()?.safe_cut(text, near)
    }

    /// Where an unfinished text may be cut, whatever follows it; 0 for nowhere.
    #[must_use]
    pub fn open_cut(&self, text: &[u8]) -> usize {
        let near = text.len().saturating_sub(self.recognized.given.longest());
        self.safe_cut(text, near).unwrap_or(0)
    }

    /// The bytes of an id.
    #[inline]
    #[must_use]
    pub fn token(&self, id: u32) -> Option<&[u8]> {
        let vocabulary = self.parts.vocabulary.as_ref().or_else(|| self.parts.model.vocabulary());
        vocabulary.and_then(|tokens| tokens.token(id)).or_else(|| self.all.token(id))
    }

    /// The id of a byte string: an added token's before the vocabulary's.
    #[must_use]
    pub fn id_of(&self, token: &[u8]) -> Option<u32> {
        let vocabulary = self.parts.vocabulary.as_ref().or_else(|| self.parts.model.vocabulary());
        self.all.id_of(token).or_else(|| vocabulary.and_then(|tokens| tokens.id_of(token)))
    }

    /// Whether an id is that of a special token.
    #[must_use]
    pub fn is_special(&self, id: u32) -> bool {
        self.special_ids.binary_search(&id).is_ok()
    }

    /// The tokens that `policy` turns into ids in `text`.
    ///
    /// # Errors
    ///
    /// `SpecialTokenInText` when it forbids one that is there.
    pub fn recognized<'a>(&'a self, text: &[u8], policy: &'a Policy) -> Result<&'a Recognized> {
        self.recognized_from(text, policy, 0)
    }

    /// As `recognized`, for a text before which `n_before` bytes are done.
    ///
    /// # Errors
    ///
    /// As `recognized`.
    pub fn recognized_from<'a>(
        &'a self,
        text: &[u8],
        policy: &'a Policy,
        n_before: usize,
    ) -> Result<&'a Recognized> {
        match policy {
            Policy::Recognize => Ok(&self.recognized),
            Policy::AsText => Ok(&self.as_text),
            Policy::Only(some) => Ok(some),
            Policy::Forbid => {
                let mut at = 0;
                while let Some((start, end, id)) = self.recognized.given.find(text, at) {
                    if self.is_special(id) {
                        let token = text.get(start..end).unwrap_or_default();
                        return Err(forbidden(token, n_before + start));
                    }
                    at = end;
                }
                Ok(&self.as_text)
            }
        }
    }

    /// Where the end of `text` may be the beginning of a token that the policy recognizes or
    /// refuses: the first such offset, or the length of the text.
    #[must_use]
    pub fn open_end(&self, text: &[u8], policy: &Policy) -> usize {
        match policy {
            Policy::Recognize | Policy::Forbid => self.recognized.given.open_end(text),
            Policy::AsText => self.as_text.given.open_end(text),
            Policy::Only(some) => some.given.open_end(text),
        }
    }

    /// The policy that recognizes the special tokens of `wanted` only.
    ///
    /// # Errors
    ///
    /// `SpecialToken` for a name that is none of them.
    pub fn only(&self, wanted: &[Vec<u8>]) -> Result<Policy> {
        let known: HashSet<&[u8]> =
            self.parts.added.iter().map(|added| added.token.text.as_slice()).collect();
        if let Some(token) = wanted.iter().find(|token| !known.contains(token.as_slice())) {
            let shown = String::from_utf8_lossy(token);
            let message = format!("{shown:?} is not a special token of this tokenizer");
            return Err(Error::new(Kind::SpecialToken, message));
        }
        let wanted: HashSet<&[u8]> = wanted.iter().map(Vec::as_slice).collect();
        let recognized = Recognized::of(&self.parts.added, |added| {
            !added.is_special || wanted.contains(added.token.text.as_slice())
        })?;
        Ok(Policy::Only(Box::new(recognized)))
    }

    /// What one thread needs to encode.
    #[must_use]
    pub fn worker(&self) -> Worker<'_> {
        Worker::new(self)
    }
}

fn forbidden(token: &[u8], start: usize) -> Error {
    let token = String::from_utf8_lossy(token);
    Error::new(
        Kind::SpecialTokenInText,
        format!(
            "text spells the special token {token:?} at byte {start}; pass special={{{token:?}}} to \
             encode it as one id, or special=\"as_text\" to encode its characters as text"
        ),
    )
}
