//! Learning merges.

use std::sync::Arc;

use pyo3::prelude::*;

use super::border::{run_long, to_py_err};
use super::counts::PretokenTable;
use super::text::Text;
use crate::bpe::encode::Bpe;
use crate::bpe::queue::Ties;
use crate::bpe::ranks::merges_of_ranks;
use crate::bpe::train::{self, Options};
use crate::bpe::vocabulary::Vocabulary;
use crate::error::{Error, Kind, Result};

/// A compiled byte-level BPE model.
#[pyclass(frozen, name = "Bpe", module = "subword._core")]
pub struct PyBpe {
    pub inner: Arc<Bpe>,
}

#[pymethods]
impl PyBpe {
    /// Compile tokens with their ids, and merges as pairs of ids in rank order.
    #[new]
    #[pyo3(signature = (ids, tokens, merges, *, whole_first=false))]
    fn new(
        py: Python<'_>,
        ids: Vec<u32>,
        tokens: Vec<Text>,
        merges: Vec<(u32, u32)>,
        whole_first: bool,
    ) -> PyResult<Self> {
        py.detach(|| Bpe::new(vocabulary_of(&ids, &tokens)?, &merges, whole_first))
            .map(|bpe| Self { inner: Arc::new(bpe) })
            .map_err(|error| to_py_err(py, &error))
    }
}

/// A vocabulary of tokens and their ids.
pub fn vocabulary_of(ids: &[u32], tokens: &[Text]) -> Result<Vocabulary> {
    if ids.len() != tokens.len() {
        let message = format!("{} ids for {} tokens", ids.len(), tokens.len());
        return Err(Error::new(Kind::Vocabulary, message));
    }
    let bytes: Vec<&[u8]> = tokens.iter().map(AsRef::as_ref).collect();
    Vocabulary::new(ids.iter().copied().zip(bytes.iter().copied()))
}

/// The merges, as pairs of ids, that tokens in rank order imply; `ids[i]` has `tokens[i]`.
#[pyfunction]
pub fn merges_from_ranks(
    py: Python<'_>,
    ids: Vec<u32>,
    tokens: Vec<Text>,
) -> PyResult<Vec<(u32, u32)>> {
    run_long(py, None, |control| merges_of_ranks(vocabulary_of(&ids, &tokens)?, &ids, control))
}

/// Learn merges: (left symbol, right symbol, count) each; merge `i` makes symbol `256 + i`.
#[pyfunction]
#[pyo3(signature = (table, n_merges, *, ties="greatest", min_frequency=1, max_token_length=None, progress=None))]
pub fn learn_merges(
    py: Python<'_>,
    table: &PretokenTable,
    n_merges: usize,
    ties: &str,
    min_frequency: u64,
    max_token_length: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<(u32, u32, u64)>> {
    let ties = Ties::from_name(ties).ok_or_else(|| {
        let message =
            format!("ties is {ties:?}; it is \"greatest\", \"first\", \"hf\" or \"smallest_id\"");
        to_py_err(py, &Error::new(Kind::Argument, message))
    })?;
    let options = Options { n_merges, ties, min_frequency, max_token_length };
    let merges = run_long(py, progress.as_ref(), |control| {
        train::learn_merges(&table.0, &options, control)
    })?;
    Ok(merges.into_iter().map(|merge| (merge.pair.0, merge.pair.1, merge.count)).collect())
}
