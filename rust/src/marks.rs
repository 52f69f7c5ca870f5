//! SentencePiece's texts word by word: where a text can be cut before it is normalized, and what
//! becomes of a part.
//!
//! A text is cut before each run of spaces. Where no token has `▁` behind another character, and
//! the charsmap looks at no space from before it, a part behind the first becomes the same ids
//! wherever it stands, unless its last character becomes a space too.

use crate::error::Result;
use crate::model::Model;
use crate::normalize::charsmap::Charsmap;
use crate::normalize::spaces::Spaces;
use crate::tokenizer::{Cutter, Parts};

/// What a space becomes: U+2581.
pub const MARK: &str = "\u{2581}";

/// How the texts of a tokenizer are cut and normalized.
#[derive(Debug)]
pub struct Marks {
    charsmap: Option<Charsmap>,
    spaces: Spaces,
}

/// A normalized part of a text.
#[derive(Debug, Default)]
pub struct View {
    /// The part as the model gets it.
    pub text: Vec<u8>,
    mapped: Vec<u8>,
}

impl Marks {
    /// The way for a tokenizer of these parts; `None` if its texts cannot be cut.
    #[must_use]
    pub fn of(parts: &Parts) -> Option<Self> {
        let (charsmap, spaces) = parts.normalizer.as_ref()?.as_sentencepiece()?;
        let is_whole = matches!(&parts.cutter, Cutter::Patterns(splitter) if splitter.is_whole());
        let is_spaced = charsmap.is_some_and(Charsmap::is_spaced);
        let is_usual = spaces.escape_whitespaces && !spaces.treat_whitespace_as_suffix;
        if !is_whole || is_spaced || !is_usual || has_mark_inside(parts) {
            return None;
        }
        let mark = '\u{2581}';
        let is_cut = match &parts.model {
            Model::CharacterBpe(bpe) => bpe.is_cut() && !bpe.may_lose(mark),
            Model::Unigram(unigram) => {
                unigram.falls()
                    && (!unigram.fuses_unknown() || !unigram.is_unknown(u32::from(mark)))
            }
            _ => false,
        };
        is_cut.then(|| Self { charsmap: charsmap.cloned(), spaces })
    }

    /// The first place behind `start` where a run of spaces begins; the end, if there is none.
    #[inline]
    #[must_use]
    pub fn cut(text: &[u8], start: usize) -> usize {
        let mut at = start;
        while text.get(at) == Some(&b' ') {
            at += 1;
        }
        let rest = text.get(at..).unwrap_or_default();
        at + memchr::memchr(b' ', rest).unwrap_or(rest.len())
    }

    /// How the part at the start of a text can be looked up as one that stands behind others:
    /// `Some(true)` with a space before it, `Some(false)` as it is, `None` not at all.
    #[must_use]
    pub fn first_as_other(&self, part: &[u8]) -> Option<bool> {
        let is_added = self.spaces.add_dummy_prefix;
        if part.first() == Some(&b' ') {
            return (is_added == self.spaces.remove_extra_whitespaces).then_some(false);
        }
        is_added.then_some(true)
    }

    /// Normalize a part of a text that `cut` gave; whether the part behind it is independent.
    ///
    /// # Errors
    ///
    /// `Format` for a damaged charsmap, `Memory`.
    pub fn rewrite(&self, part: &[u8], is_first: bool, view: &mut View) -> Result<bool> {
        let View { text, mapped } = view;
        text.clear();
        let source = match &self.charsmap {
            Some(charsmap) => {
                mapped.clear();
                charsmap.rewrite(part, mapped)?;
                mapped.as_slice()
            }
            None => part,
        };
        // A mark for each space is the longest that may be written.
        text.try_reserve(source.len() + MARK.len())?;
        let is_added = is_first && self.spaces.add_dummy_prefix;
        if is_added {
            text.extend_from_slice(MARK.as_bytes());
        }
        let removes = self.spaces.remove_extra_whitespaces;
        let mut is_dropped = removes && is_first;
        let mut done = 0;
        for at in memchr::memchr_iter(b' ', source) {
            let run = source.get(done..at).unwrap_or_default();
            text.try_reserve(run.len() + MARK.len())?;
            text.extend_from_slice(run);
            if !(is_dropped && run.is_empty()) {
                text.extend_from_slice(MARK.as_bytes());
            }
            is_dropped = removes;
            done = at + 1;
        }
        text.extend_from_slice(source.get(done..).unwrap_or_default());
        if !removes {
            // A mark of the text itself may join the marks behind it.
            return Ok(!text.ends_with(MARK.as_bytes()));
        }
        let mut length = text.len();
        while text.get(..length).is_some_and(|kept| kept.ends_with(MARK.as_bytes())) {
            length -= MARK.len();
        }
        let is_clean = length > 0 && length == text.len();
        text.truncate(length);
        Ok(is_clean)
    }
}

/// Whether a token has a mark behind another character.
fn has_mark_inside(parts: &Parts) -> bool {
    let Some(vocabulary) = &parts.vocabulary else { return true };
    vocabulary.tokens().any(|(_, token)| {
        let mut rest = token;
        while let Some(behind) = rest.strip_prefix(MARK.as_bytes()) {
            rest = behind;
        }
        memchr::memmem::find(rest, MARK.as_bytes()).is_some()
    })
}
