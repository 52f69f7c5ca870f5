//! Splitting.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::border::{run_sized, to_py_err};
use super::text::MANY;
use crate::split::Splitter;

/// Code point ranges, both ends included, of a class expression such as `\p{L}`.
#[pyfunction]
pub fn class_ranges(py: Python<'_>, expression: &str) -> PyResult<Vec<(u32, u32)>> {
    crate::split::classes::class_ranges(expression).map_err(|error| to_py_err(py, &error))
}

/// The pre-tokens of `text`; with `engine`, by the regex engine where masks would run.
#[pyfunction]
#[pyo3(signature = (text, patterns, *, engine=false))]
pub fn split<'py>(
    py: Python<'py>,
    text: &[u8],
    patterns: Vec<String>,
    engine: bool,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let compile = if engine { Splitter::by_engine } else { Splitter::compile };
    let ends = run_sized(py, text.len(), |control| {
        let mut ends = Vec::new();
        compile(&patterns)?.split(text, control, &mut |batch| {
            control.check()?;
            ends.try_reserve(batch.len())?;
            ends.extend_from_slice(batch);
            Ok(())
        })?;
        Ok(ends)
    })?;
    let mut start = 0;
    let mut pretokens = Vec::new();
    pretokens.try_reserve_exact(ends.len()).map_err(|error| to_py_err(py, &error.into()))?;
    for (at, end) in ends.into_iter().enumerate() {
        if at % MANY == MANY - 1 {
            py.check_signals()?;
        }
        pretokens.push(PyBytes::new(py, text.get(start..end).unwrap_or_default()));
        start = end;
    }
    Ok(pretokens)
}
