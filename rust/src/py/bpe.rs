//! Learning merges.

use pyo3::prelude::*;

use super::border::{run_long, to_py_err};
use super::counts::PretokenTable;
use crate::bpe::queue::Ties;
use crate::bpe::train::{self, Options};
use crate::error::{Error, Kind};

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
