//! Learning merges.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::border::{run_long, to_py_err};
use super::counts::PretokenTable;
use super::text::Text;
use crate::bpe::encode::Bpe;
use crate::bpe::queue::Ties;
use crate::bpe::ranks::bpe_of_ranks;
use crate::bpe::start::{Encoded, Start};
use crate::bpe::train::{self, Options};
use crate::bpe::vocabulary::Vocabulary;
use crate::error::{Error, Kind, Result};
use crate::parallel::Control;
use crate::rank_lines::rank_lines;

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
        Self::of(py, || Bpe::new(Arc::new(vocabulary_of(&ids, &tokens)?), &merges, whole_first))
    }

    /// Compile what tokens in rank order imply; `ids[i]` has `tokens[i]`.
    #[staticmethod]
    fn from_ranks(py: Python<'_>, ids: Vec<u32>, tokens: Vec<Text>) -> PyResult<Self> {
        run_long(py, None, |control| {
            bpe_of_ranks(Arc::new(vocabulary_of(&ids, &tokens)?), &ids, control)
        })
        .map(Self::from)
    }

    /// Compile a tiktoken file; None for one in which a line is out of the ordinary.
    #[staticmethod]
    fn from_rank_lines(py: Python<'_>, data: &[u8]) -> PyResult<Option<Self>> {
        let bpe = run_long(py, None, |control| {
            let Some(lines) = rank_lines(data) else { return Ok(None) };
            let vocabulary = match Vocabulary::new(lines.tokens()) {
                Err(error) if error.kind == Kind::Vocabulary => return Ok(None),
                made => Arc::new(made?),
            };
            let mut ranked = lines.ranks;
            ranked.sort_unstable();
            bpe_of_ranks(vocabulary, &ranked, control).map(Some)
        })?;
        Ok(bpe.map(Self::from))
    }

    /// Whether a pre-token that is a token gets its id without merging.
    #[getter]
    fn whole_first(&self) -> bool {
        self.inner.is_whole_first()
    }

    /// Number of tokens.
    #[getter]
    fn n_tokens(&self) -> usize {
        self.inner.vocabulary().len()
    }

    /// Number of merges.
    #[getter]
    fn n_merges(&self) -> usize {
        self.inner.pairs().len()
    }

    /// The bytes of an id, or None.
    fn token<'py>(&self, py: Python<'py>, token_id: u32) -> Option<Bound<'py, PyBytes>> {
        self.inner.vocabulary().token(token_id).map(|token| PyBytes::new(py, token))
    }

    /// The bytes of each id, in the order of the ids.
    fn vocab<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tokens = PyDict::new(py);
        for (id, token) in self.inner.vocabulary().tokens() {
            tokens.set_item(id, PyBytes::new(py, token))?;
        }
        Ok(tokens)
    }

    /// The pairs of ids that merge, in the order of their ranks.
    fn merges(&self, py: Python<'_>) -> PyResult<Vec<(u32, u32)>> {
        let merges = self.inner.pairs().in_rank_order().map_err(|error| to_py_err(py, &error))?;
        Ok(merges.into_iter().map(|(left, right, _)| (left, right)).collect())
    }
}

impl PyBpe {
    /// Make a model without holding the interpreter.
    pub fn of(py: Python<'_>, make: impl FnOnce() -> Result<Bpe> + Send) -> PyResult<Self> {
        py.detach(make).map(Self::from).map_err(|error| to_py_err(py, &error))
    }
}

impl From<Bpe> for PyBpe {
    fn from(bpe: Bpe) -> Self {
        Self { inner: Arc::new(bpe) }
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
    run_long(py, progress.as_ref(), |control| learnt(&table.0, &options, control))
}

/// Learn merges of words that are encoded already: shape (n,) uint32, (n_words + 1,) int64 and
/// (n_words,) uint64; pairs that are never merged are `left << 32 | right`, uint64.
#[pyfunction]
#[pyo3(signature = (symbols, bounds, counts, tokens, n_merges, *, taken, forbidden, min_frequency=1, max_token_length=None))]
#[expect(clippy::too_many_arguments, reason = "the arguments of a Python function")]
pub fn continue_merges(
    py: Python<'_>,
    symbols: PyReadonlyArray1<'_, u32>,
    bounds: PyReadonlyArray1<'_, i64>,
    counts: PyReadonlyArray1<'_, u64>,
    tokens: Vec<Text>,
    n_merges: usize,
    taken: Vec<Text>,
    forbidden: PyReadonlyArray1<'_, u64>,
    min_frequency: u64,
    max_token_length: Option<usize>,
) -> PyResult<Vec<(u32, u32, u64)>> {
    let options = Options { n_merges, ties: Ties::Greatest, min_frequency, max_token_length };
    let start = Encoded {
        symbols: symbols.as_slice()?,
        bounds: bounds.as_slice()?,
        counts: counts.as_slice()?,
        tokens: &tokens,
        taken: &taken,
        forbidden: forbidden.as_slice()?,
    };
    run_long(py, None, |control| learnt(&start, &options, control))
}

fn learnt(
    start: &impl Start,
    options: &Options,
    control: &Control,
) -> Result<Vec<(u32, u32, u64)>> {
    let merges = train::learn_merges(start, options, control)?;
    Ok(merges.into_iter().map(|merge| (merge.pair.0, merge.pair.1, merge.count)).collect())
}
