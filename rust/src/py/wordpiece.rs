//! WordPiece: encoding and training.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::border::{collect_sized, run_long, to_py_err};
use crate::wordpiece::alphabet::Limits;
use crate::wordpiece::encode::{Options, WordPiece};
use crate::wordpiece::train;

/// A merge: left id, right id, merged id, pair count, left count, right count.
type PyMerge = (u32, u32, u32, u64, u64, u64);

/// Tokens, initial tokens, merges, alphabet, dropped characters, invalid bytes.
type PyLearned = (Vec<Py<PyBytes>>, usize, Vec<PyMerge>, String, Vec<(char, u64)>, u64);

/// A WordPiece vocabulary, compiled: greedy longest match in linear time.
#[pyclass(frozen, name = "WordPiece")]
pub struct PyWordPiece {
    pub inner: Arc<WordPiece>,
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
        .map(|inner| Self { inner: Arc::new(inner) })
        .map_err(|error| to_py_err(py, &error))
    }

    /// Ids of one word.
    fn encode(&self, py: Python<'_>, word: PyBackedBytes) -> PyResult<Vec<u32>> {
        collect_sized(py, word.len(), |out, control| self.inner.encode(&word, out, control))
    }

    /// `(id, start byte, end byte)` of each token of one word.
    fn encode_spans(&self, py: Python<'_>, word: PyBackedBytes) -> PyResult<Vec<(u32, u32, u32)>> {
        collect_sized(py, word.len(), |out, control| self.inner.encode_spans(&word, out, control))
    }
}

/// Learn a WordPiece vocabulary or character merges; `subword.reference.wordpiece` documents it.
///
/// Gives (tokens, initial tokens, merges, alphabet, dropped characters, invalid bytes); a merge
/// is (left id, right id, merged id, pair count, left count, right count).
#[pyfunction]
#[pyo3(signature = (
    pretoken_counts, *, vocab_size, max_merges, score, ties, min_frequency, continuing_prefix,
    end_of_word_suffix, special_tokens, limit_alphabet, character_coverage, extra_alphabet,
    all_forms, first_seen=None, progress=None
))]
#[expect(clippy::too_many_arguments, reason = "each is an option of its own in Python")]
pub fn learn_wordpiece(
    py: Python<'_>,
    pretoken_counts: Vec<(PyBackedBytes, u64)>,
    vocab_size: usize,
    max_merges: Option<usize>,
    score: &str,
    ties: &str,
    min_frequency: u64,
    continuing_prefix: String,
    end_of_word_suffix: String,
    special_tokens: Vec<String>,
    limit_alphabet: Option<usize>,
    character_coverage: f64,
    extra_alphabet: Vec<char>,
    all_forms: bool,
    first_seen: Option<Vec<u64>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyLearned> {
    let options = train::Options {
        vocab_size,
        max_merges,
        score: train::Score::parse(score).map_err(|error| to_py_err(py, &error))?,
        ties: train::Ties::parse(ties).map_err(|error| to_py_err(py, &error))?,
        min_frequency,
        continuing_prefix,
        end_of_word_suffix,
        special_tokens,
        alphabet: Limits { limit_alphabet, character_coverage, extra_alphabet },
        all_forms,
    };
    let learned = run_long(py, progress.as_ref(), |control| {
        let counts: Vec<(&[u8], u64)> =
            pretoken_counts.iter().map(|(pretoken, count)| (pretoken.as_ref(), *count)).collect();
        train::learn_vocabulary(&counts, first_seen.as_deref(), &options, control)
    })?;
    let tokens = learned.tokens.iter().map(|token| PyBytes::new(py, token).unbind()).collect();
    let merges = learned.merges.iter().map(|merge| {
        let ids = (merge.left, merge.right, merge.merged);
        (ids.0, ids.1, ids.2, merge.pair_count, merge.left_count, merge.right_count)
    });
    let merges = merges.collect();
    let alphabet = learned.alphabet.into_iter().collect();
    let dropped = learned.dropped;
    Ok((tokens, learned.n_initial, merges, alphabet, dropped, learned.n_invalid_bytes))
}
