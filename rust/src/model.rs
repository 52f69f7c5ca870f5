//! The models behind a tokenizer: pre-token in, ids out.

use std::sync::Arc;

use crate::bpe::characters::{CharacterBpe, Scratch as CharacterScratch};
use crate::bpe::encode::{Bpe, Scratch as BpeScratch};
use crate::bpe::vocabulary::Vocabulary;
use crate::error::{Error, Kind, Result};
use crate::parallel::Control;
use crate::unigram::{Random, Scratch as UnigramScratch, Unigram};
use crate::wordpiece::encode::WordPiece;
use crate::words::{Characters, Words};

/// A token, and the bytes of its pre-token that it stands for: id, start, end.
pub type TokenSpan = (u32, u32, u32);

/// A model of any kind.
#[derive(Debug, Clone)]
pub enum Model {
    /// Byte-level byte-pair encoding.
    Bpe(Arc<Bpe>),
    /// Greedy longest match.
    WordPiece(Arc<WordPiece>),
    /// The most probable segmentation.
    Unigram(Arc<Unigram>),
    /// Byte-pair encoding over characters, SentencePiece's too.
    CharacterBpe(Arc<CharacterBpe>),
    /// One token a pre-token.
    Words(Arc<Words>),
    /// One token a character.
    Characters(Arc<Characters>),
}

/// Buffers of the models, one a thread.
#[derive(Debug, Default)]
pub struct Scratch {
    bpe: BpeScratch,
    unigram: UnigramScratch,
    characters: CharacterScratch,
    ids: Vec<u32>,
}

impl Scratch {
    /// The buffers of character BPE.
    pub fn characters(&mut self) -> &mut CharacterScratch {
        &mut self.characters
    }

    /// The buffers of Unigram.
    pub fn unigram(&mut self) -> &mut UnigramScratch {
        &mut self.unigram
    }
}

impl Model {
    /// Append the ids of one pre-token.
    ///
    /// # Errors
    ///
    /// `UnencodableText`, `Memory`, `Interrupted`.
    pub fn encode(
        &self,
        pretoken: &[u8],
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        match self {
            Self::Bpe(bpe) => bpe.encode(pretoken, &mut scratch.bpe, ids, control),
            Self::WordPiece(wordpiece) => wordpiece.encode(pretoken, ids, control),
            Self::Unigram(unigram) => unigram.encode(pretoken, &mut scratch.unigram, ids, control),
            Self::CharacterBpe(bpe) => bpe.encode(pretoken, &mut scratch.characters, ids, control),
            Self::Words(words) => words.encode(pretoken, ids, control),
            Self::Characters(characters) => characters.encode(pretoken, ids, control),
        }
    }

    /// Append the ids of one pre-token, passing over each merge with probability `p`.
    ///
    /// # Errors
    ///
    /// `Argument` for a model that does not merge, or a `p` outside 0 to 1; `UnencodableText`,
    /// `Memory`.
    pub fn encode_with_dropout(
        &self,
        pretoken: &[u8],
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        p: f64,
        random: &mut Random,
        control: &Control,
    ) -> Result<()> {
        match self {
            Self::Bpe(bpe) => {
                bpe.encode_with_dropout(pretoken, &mut scratch.bpe, ids, p, random, control)
            }
            Self::CharacterBpe(bpe) => {
                bpe.encode_with_dropout(pretoken, &mut scratch.characters, ids, p, random, control)
            }
            _ => Err(Error::new(
                Kind::Argument,
                "dropout passes over merges, and this model has none: it is no byte-pair encoding",
            )),
        }
    }

    /// Append the ids of one pre-token with their places in it.
    ///
    /// # Errors
    ///
    /// `UnencodableText`, `Memory`, `Interrupted`.
    pub fn encode_spans(
        &self,
        pretoken: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<TokenSpan>,
        control: &Control,
    ) -> Result<()> {
        match self {
            Self::Bpe(bpe) => {
                let mut ids = std::mem::take(&mut scratch.ids);
                ids.clear();
                bpe.encode(pretoken, &mut scratch.bpe, &mut ids, control)?;
                let mut at = 0;
                for &id in &ids {
                    let n_bytes = bpe.vocabulary().token(id).map_or(0, <[u8]>::len) as u32;
                    out.push((id, at, at + n_bytes));
                    at += n_bytes;
                }
                scratch.ids = ids;
                Ok(())
            }
            Self::WordPiece(wordpiece) => wordpiece.encode_spans(pretoken, out, control),
            Self::Unigram(unigram) => {
                unigram.encode_spans(pretoken, &mut scratch.unigram, out, control)
            }
            Self::CharacterBpe(bpe) => {
                bpe.encode_spans(pretoken, &mut scratch.characters, out, control)
            }
            Self::Words(words) => words.encode_spans(pretoken, out, control),
            Self::Characters(characters) => characters.encode_spans(pretoken, out, control),
        }
    }

    /// The tokens, where the model keeps them itself.
    #[must_use]
    pub fn vocabulary(&self) -> Option<&Vocabulary> {
        match self {
            Self::Bpe(bpe) => Some(bpe.vocabulary()),
            Self::Characters(characters) => characters.vocabulary(),
            _ => None,
        }
    }
}
