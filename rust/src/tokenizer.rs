//! A compiled tokenizer: special tokens, normalizer, split, memo, model.

use std::collections::HashSet;

use crate::bpe::vocabulary::Vocabulary;
use crate::error::{Error, Kind, Result};
use crate::marks::Marks;
use crate::memo::MemoPool;
use crate::model::Model;
use crate::normalize::Normalizer;
use crate::normalize::alignment::Normalized;
use crate::parallel::Control;
use crate::special::{SpecialToken, SpecialTokens};
use crate::split::steps::Steps;
use crate::split::{Parts as TextParts, Splitter};
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
    fn of(
        tokens: &[AddedToken],
        normalizer: Option<&Normalizer>,
        wanted: impl Fn(&AddedToken) -> bool,
    ) -> Result<Self> {
        let pick = |in_normalized: bool| {
            tokens
                .iter()
                .filter(move |added| !added.is_control && added.in_normalized == in_normalized)
        };
        let given = pick(false).filter(|added| wanted(added));
        let given = given.map(|added| added.token.clone()).collect();
        // What is looked for is normalized as the text is; the first of equal ones is found.
        let mut seen = HashSet::new();
        let mut normalized = Vec::new();
        for added in pick(true).filter(|added| wanted(added)) {
            let mut token = added.token.clone();
            if let Some(text) = normal_form(added, normalizer)? {
                token.text = text;
            }
            if !token.text.is_empty() && seen.insert(token.text.clone()) {
                normalized.push(token);
            }
        }
        Ok(Self { given: SpecialTokens::new(given)?, normalized: SpecialTokens::new(normalized)? })
    }
}

/// What is looked for in normalized text, where it is not the token as given.
fn normal_form(added: &AddedToken, normalizer: Option<&Normalizer>) -> Result<Option<Vec<u8>>> {
    let Some(normalizer) = normalizer.filter(|_| added.in_normalized) else { return Ok(None) };
    let mut out = Normalized::default();
    let changed = normalizer.normalize(&added.token.text, &mut out, &Control::default())?;
    Ok(changed.then_some(out.bytes))
}

/// Whether one pass finds the tokens that are looked for in normalized text too, when nothing is
/// normalized.
///
/// It does where no match of one kind can lie inside, or run into, one of the other: no token
/// goes on with the first byte of one of the other kind, and none starts as another does.
fn one_pass_does(added: &[AddedToken]) -> bool {
    let mut firsts = [[false; 256]; 2];
    let mut inner = [[false; 256]; 2];
    let kind = |added: &AddedToken| usize::from(added.in_normalized);
    for token in added.iter().filter(|added| !added.is_control) {
        if !token.token.is_plain() {
            return false;
        }
        if let Some((first, rest)) = token.token.text.split_first() {
            firsts[kind(token)][usize::from(*first)] = true;
            for byte in rest {
                inner[kind(token)][usize::from(*byte)] = true;
            }
        }
    }
    let meet = |a: &[bool; 256], b: &[bool; 256]| a.iter().zip(b).any(|(a, b)| *a && *b);
    if meet(&firsts[0], &inner[1]) || meet(&firsts[1], &inner[0]) {
        return false;
    }
    let looked_for = added.iter().filter(|added| !added.is_control);
    let mut sorted: Vec<_> = looked_for.map(|a| (a.token.text.as_slice(), kind(a))).collect();
    sorted.sort_unstable();
    // Each begins with all before it, and is of their kind.
    let mut starts: Vec<(&[u8], usize)> = Vec::new();
    for (text, kind) in sorted {
        while starts.last().is_some_and(|(start, _)| !text.starts_with(start)) {
            starts.pop();
        }
        if starts.last().is_some_and(|(_, other)| *other != kind) {
            return false;
        }
        starts.push((text, kind));
    }
    true
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
    /// Ids of added tokens, and the normal forms that they are decoded to, by id.
    normal_forms: Vec<(u32, Vec<u8>)>,
    special_ids: Vec<u32>,
    recognized: Recognized,
    as_text: Recognized,
    pub(crate) pool: MemoPool,
    /// How texts are cut before they are normalized, where they can be.
    pub(crate) marks: Option<Marks>,
    /// What cuts texts as given into parts that do not depend on each other, where it can be.
    pub(crate) independent: Option<Splitter>,
}

/// What cuts texts into parts that become the same ids wherever they stand, each normalized and
/// pre-tokenized by itself.
fn independent(parts: &Parts) -> Result<Option<Splitter>> {
    let Cutter::Steps(steps) = &parts.cutter else { return Ok(None) };
    let found = match (steps.parts(), &parts.normalizer) {
        (Some(TextParts::Bert { .. }), Some(normalizer)) => normalizer.bert_parts(),
        (Some(TextParts::Spaced), Some(normalizer)) if !normalizer.is_spaced()? => None,
        (Some(TextParts::Marked), Some(normalizer)) if !normalizer.is_marked()? => None,
        (found, _) => found,
    };
    Ok(found.map(Splitter::independent))
}

impl Tokenizer {
    /// Put the parts together.
    ///
    /// # Errors
    ///
    /// `SpecialToken` for an empty or repeated added token.
    pub fn new(mut parts: Parts) -> Result<Self> {
        if parts.normalizer.is_none() && one_pass_does(&parts.added) {
            parts.added.iter_mut().for_each(|added| added.in_normalized = false);
        }
        let all = parts.added.iter().map(|added| added.token.clone()).collect();
        let special = parts.added.iter().filter(|added| added.is_special);
        let mut special_ids: Vec<u32> = special.map(|added| added.token.id).collect();
        special_ids.sort_unstable();
        let normalizer = parts.normalizer.as_ref();
        let mut normal_forms = Vec::new();
        for added in &parts.added {
            normal_forms.extend(normal_form(added, normalizer)?.map(|text| (added.token.id, text)));
        }
        normal_forms.sort_unstable();
        Ok(Self {
            all: SpecialTokens::unmatched(all)?,
            normal_forms,
            special_ids,
            recognized: Recognized::of(&parts.added, normalizer, |_| true)?,
            as_text: Recognized::of(&parts.added, normalizer, |added| !added.is_special)?,
            pool: MemoPool::new(parts.memo_bytes),
            marks: Marks::of(&parts),
            independent: independent(&parts)?,
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

    /// What cuts a text as given into parts that do not depend on each other: pre-tokens, or what
    /// becomes some.
    #[must_use]
    pub fn raw_splitter(&self) -> Option<&Splitter> {
        let independent = self.independent.as_ref();
        let independent = independent.filter(|_| self.recognized.normalized.is_empty());
        self.plain_splitter().or(independent)
    }

    /// A place at or before `near` where `text` may be cut for threads, the ids of the parts
    /// being those of the whole.
    #[must_use]
    pub fn safe_cut(&self, text: &[u8], near: usize) -> Option<usize> {
        let special = &self.recognized.given;
        if special.may_be_cut() || !special.are_plain() {
            return None;
        }
        let normalizer = self.parts.normalizer.as_ref();
        match &self.parts.cutter {
            Cutter::Patterns(splitter)
                if normalizer.is_some_and(Normalizer::keeps_safe_cuts)
                    && self.recognized.normalized.is_empty() =>
            {
                splitter.normalized_cut(text, near)
            }
            _ => self.raw_splitter()?.safe_cut(text, near),
        }
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

    /// The bytes that an id is decoded to: an added token that was looked for in normalized text
    /// is there as it stood in it. Source: tokenizers 0.23.3, `AddedVocabulary`.
    #[inline]
    #[must_use]
    pub fn decoded(&self, id: u32) -> Option<&[u8]> {
        match self.normal_forms.binary_search_by_key(&id, |(known, _)| *known) {
            Ok(at) => self.normal_forms.get(at).map(|(_, text)| text.as_slice()),
            Err(_) => self.token(id),
        }
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
        let normalizer = self.parts.normalizer.as_ref();
        let recognized = Recognized::of(&self.parts.added, normalizer, |added| {
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
