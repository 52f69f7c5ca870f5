//! The models behind a tokenizer: pre-token in, ids out.

use crate::bpe::encode::{Bpe, Scratch as BpeScratch};
use crate::bpe::vocabulary::Vocabulary;
use crate::error::Result;

/// A model of any kind.
#[derive(Debug)]
pub enum Model {
    /// Byte-level byte-pair encoding.
    Bpe(Bpe),
}

/// Buffers of the models, one a thread.
#[derive(Debug, Default)]
pub struct Scratch {
    bpe: BpeScratch,
}

impl Model {
    /// Append the ids of one pre-token.
    ///
    /// # Errors
    ///
    /// `UnencodableText`, `Memory`.
    pub fn encode(&self, pretoken: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()> {
        match self {
            Self::Bpe(bpe) => bpe.encode(pretoken, &mut scratch.bpe, ids),
        }
    }

    /// The tokens.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        match self {
            Self::Bpe(bpe) => bpe.vocabulary(),
        }
    }
}
