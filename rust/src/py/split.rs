//! Splitting.

use pyo3::prelude::*;

use super::border::to_py_err;

/// Code point ranges, both ends included, of a class expression such as `\p{L}`.
#[pyfunction]
pub fn class_ranges(py: Python<'_>, expression: &str) -> PyResult<Vec<(u32, u32)>> {
    crate::split::classes::class_ranges(expression).map_err(|error| to_py_err(py, &error))
}
