//! WordPiece: encoding and training.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::border::to_py_err;
use crate::wordpiece::encode::{Options, WordPiece};

/// Words longer than this release the GIL while they are encoded.
const DETACH_BYTES: usize = 1 << 14;

/// A WordPiece vocabulary, compiled: greedy longest match in linear time.
#[pyclass(frozen, name = "WordPiece")]
pub struct PyWordPiece {
    inner: WordPiece,
}

#[pymethods]
impl PyWordPiece {
    /// Compile `tokens` with their ids.
    #[new]
    #[pyo3(signature = (tokens, *, continuing_prefix, unk_id, max_input_chars_per_word))]
    fn new(
        py: Python<'_>,
        tokens: Vec<(PyBackedBytes, u32)>,
        continuing_prefix: &[u8],
        unk_id: Option<u32>,
        max_input_chars_per_word: usize,
    ) -> PyResult<Self> {
        let options = Options {
            continuing_prefix: continuing_prefix.to_vec(),
            unk_id,
            max_input_chars_per_word,
        };
        py.detach(|| {
            let tokens: Vec<(Vec<u8>, u32)> =
                tokens.iter().map(|(token, id)| (token.to_vec(), *id)).collect();
            WordPiece::new(&tokens, &options)
        })
        .map(|inner| Self { inner })
        .map_err(|error| to_py_err(py, &error))
    }

    /// Ids of one word.
    fn encode(&self, py: Python<'_>, word: PyBackedBytes) -> PyResult<Vec<u32>> {
        let mut ids = Vec::new();
        if word.len() > DETACH_BYTES {
            py.detach(|| self.inner.encode(&word, &mut ids))
        } else {
            self.inner.encode(&word, &mut ids)
        }
        .map(|()| ids)
        .map_err(|error| to_py_err(py, &error))
    }

    /// `(id, start byte, end byte)` of each token of one word.
    fn encode_spans(&self, py: Python<'_>, word: PyBackedBytes) -> PyResult<Vec<(u32, u32, u32)>> {
        let mut spans = Vec::new();
        if word.len() > DETACH_BYTES {
            py.detach(|| self.inner.encode_spans(&word, &mut spans))
        } else {
            self.inner.encode_spans(&word, &mut spans)
        }
        .map(|()| spans)
        .map_err(|error| to_py_err(py, &error))
    }
}
