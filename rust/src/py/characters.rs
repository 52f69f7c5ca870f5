//! Models of characters and whole words.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::border::{collect_sized, to_py_err};
use super::unigram::parse_kind;
use crate::bpe::characters::{self, Options, Scratch, Spanned};
use crate::bpe::vocabulary::Vocabulary;
use crate::error::Result;
use crate::unigram::{Piece, Random};
use crate::words;

/// Pieces as Python gives them: text, score, kind.
type PyPieces = Vec<(PyBackedBytes, f64, String)>;

fn pieces_of(pieces: &PyPieces) -> Result<Vec<Piece>> {
    let piece = |(text, score, kind): &(PyBackedBytes, f64, String)| {
        Ok(Piece { text: text.to_vec(), score: *score, kind: parse_kind(kind)? })
    };
    pieces.iter().map(piece).collect()
}

fn vocabulary_of(tokens: &[(PyBackedBytes, u32)]) -> Result<Vocabulary> {
    Vocabulary::new(tokens.iter().map(|(token, id)| (*id, &**token)))
}

fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(|error| to_py_err(py, &error))
}

/// Character-level BPE, compiled; `subword.reference.character_bpe` documents it.
#[pyclass(frozen, module = "subword._core")]
pub struct CharacterBpe {
    pub model: Arc<characters::CharacterBpe>,
}

#[pymethods]
impl CharacterBpe {
    /// Compile `tokens` with their ids, and merges as pairs of ids.
    #[new]
    #[pyo3(signature = (
        tokens, merges, *, unk_id=None, fuse_unk=false, byte_fallback=false,
        continuing_subword_prefix="", end_of_word_suffix="", whole_first=false, byte_level=false
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of its own in Python")]
    fn new(
        py: Python<'_>,
        tokens: Vec<(PyBackedBytes, u32)>,
        merges: Vec<(u32, u32)>,
        unk_id: Option<u32>,
        fuse_unk: bool,
        byte_fallback: bool,
        continuing_subword_prefix: &str,
        end_of_word_suffix: &str,
        whole_first: bool,
        byte_level: bool,
    ) -> PyResult<Self> {
        let options = Options {
            unk_id,
            fuse_unk,
            byte_fallback,
            continuing_subword_prefix: continuing_subword_prefix.into(),
            end_of_word_suffix: end_of_word_suffix.into(),
            whole_first,
            byte_level,
        };
        detached(py, || characters::CharacterBpe::new(vocabulary_of(&tokens)?, &merges, options))
            .map(|model| Self { model: Arc::new(model) })
    }

    /// Compile sentencepiece's pieces, `(text, score, kind)`; ids are their places.
    #[staticmethod]
    #[pyo3(signature = (pieces, *, unk_id, byte_fallback=false))]
    fn from_pieces(
        py: Python<'_>,
        pieces: PyPieces,
        unk_id: u32,
        byte_fallback: bool,
    ) -> PyResult<Self> {
        let new = characters::CharacterBpe::from_pieces;
        detached(py, || new(&pieces_of(&pieces)?, unk_id, byte_fallback))
            .map(|model| Self { model: Arc::new(model) })
    }

    /// Ids of one pre-token.
    fn encode(&self, py: Python<'_>, pretoken: PyBackedBytes) -> PyResult<Vec<u32>> {
        collect_sized(py, pretoken.len(), |out, control| {
            self.model.encode(&pretoken, &mut Scratch::default(), out, control)
        })
    }

    /// `(id, start byte, end byte)` of each token of one pre-token.
    fn encode_spans(&self, py: Python<'_>, pretoken: PyBackedBytes) -> PyResult<Vec<Spanned>> {
        collect_sized(py, pretoken.len(), |out, control| {
            self.model.encode_spans(&pretoken, &mut Scratch::default(), out, control)
        })
    }

    /// Ids of one pre-token, each merge passed over with probability `p`.
    fn encode_with_dropout(
        &self,
        py: Python<'_>,
        pretoken: PyBackedBytes,
        p: f64,
        seed: u64,
    ) -> PyResult<Vec<u32>> {
        collect_sized(py, pretoken.len(), |ids, control| {
            let (mut scratch, random) = (Scratch::default(), &mut Random::new(seed));
            self.model.encode_with_dropout(&pretoken, &mut scratch, ids, p, random, control)
        })
    }

    /// `(start byte, end byte)` of each part of a text that can be encoded on its own.
    fn segments(&self, py: Python<'_>, text: PyBackedBytes) -> Vec<(usize, usize)> {
        py.detach(|| self.model.segments(&text).map(|part| (part.start, part.end)).collect())
    }
}

/// Whole words, compiled.
#[pyclass(frozen, module = "subword._core")]
pub struct Words {
    pub model: Arc<words::Words>,
}

#[pymethods]
impl Words {
    /// Compile `tokens` with their ids; each pre-token is one word.
    #[new]
    #[pyo3(signature = (tokens, *, unk_id=None))]
    fn new(
        py: Python<'_>,
        tokens: Vec<(PyBackedBytes, u32)>,
        unk_id: Option<u32>,
    ) -> PyResult<Self> {
        detached(py, || words::Words::new(vocabulary_of(&tokens)?, unk_id))
            .map(|model| Self { model: Arc::new(model) })
    }

    /// Compile sentencepiece's pieces, `(text, score, kind)`; each `▁` begins a word.
    #[staticmethod]
    #[pyo3(signature = (pieces, *, unk_id, byte_fallback=false))]
    fn from_pieces(
        py: Python<'_>,
        pieces: PyPieces,
        unk_id: u32,
        byte_fallback: bool,
    ) -> PyResult<Self> {
        let new = words::Words::from_pieces;
        detached(py, || new(&pieces_of(&pieces)?, unk_id, byte_fallback))
            .map(|model| Self { model: Arc::new(model) })
    }

    /// Ids of one pre-token.
    fn encode(&self, py: Python<'_>, pretoken: PyBackedBytes) -> PyResult<Vec<u32>> {
        collect_sized(py, pretoken.len(), |out, control| self.model.encode(&pretoken, out, control))
    }

    /// `(id, start byte, end byte)` of each token of one pre-token.
    fn encode_spans(&self, py: Python<'_>, pretoken: PyBackedBytes) -> PyResult<Vec<Spanned>> {
        collect_sized(py, pretoken.len(), |out, control| {
            self.model.encode_spans(&pretoken, out, control)
        })
    }
}

/// One token a character, compiled.
#[pyclass(frozen, module = "subword._core")]
pub struct Characters {
    pub model: Arc<words::Characters>,
}

#[pymethods]
impl Characters {
    /// Compile `tokens` with their ids; without tokens, ids are code points.
    #[new]
    #[pyo3(signature = (tokens=None, *, unk_id=None))]
    fn new(
        py: Python<'_>,
        tokens: Option<Vec<(PyBackedBytes, u32)>>,
        unk_id: Option<u32>,
    ) -> PyResult<Self> {
        detached(py, || match tokens {
            Some(tokens) => words::Characters::new(&vocabulary_of(&tokens)?, unk_id),
            None => words::Characters::all(unk_id),
        })
        .map(|model| Self { model: Arc::new(model) })
    }

    /// Compile sentencepiece's pieces, `(text, score, kind)`.
    #[staticmethod]
    #[pyo3(signature = (pieces, *, unk_id, byte_fallback=false))]
    fn from_pieces(
        py: Python<'_>,
        pieces: PyPieces,
        unk_id: u32,
        byte_fallback: bool,
    ) -> PyResult<Self> {
        let new = words::Characters::from_pieces;
        detached(py, || new(&pieces_of(&pieces)?, unk_id, byte_fallback))
            .map(|model| Self { model: Arc::new(model) })
    }

    /// Ids of one pre-token.
    fn encode(&self, py: Python<'_>, pretoken: PyBackedBytes) -> PyResult<Vec<u32>> {
        collect_sized(py, pretoken.len(), |out, control| self.model.encode(&pretoken, out, control))
    }

    /// `(id, start byte, end byte)` of each token of one pre-token.
    fn encode_spans(&self, py: Python<'_>, pretoken: PyBackedBytes) -> PyResult<Vec<Spanned>> {
        collect_sized(py, pretoken.len(), |out, control| {
            self.model.encode_spans(&pretoken, out, control)
        })
    }
}
