//! Texts and ids as Python hands them over.

use std::collections::TryReserveError;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyList, PyString};

use super::border::to_py_err;
use crate::error::{Error, Kind};

/// A `str` or `bytes` object, kept alive while its bytes are read without the GIL.
pub enum Text {
    /// UTF-8.
    Str(PyBackedStr),
    /// Any bytes.
    Bytes(PyBackedBytes),
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Str(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl FromPyObject<'_, '_> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.cast::<PyString>() {
            return match text.extract::<PyBackedStr>() {
                Ok(text) => Ok(Self::Str(text)),
                Err(error) => Err(lone_surrogate(object.py(), error)),
            };
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.to_owned().into()));
        }
        let kind = object.get_type().name()?;
        Err(PyTypeError::new_err(format!("a text is a str or bytes, got {kind}")))
    }
}

/// A `TextError` with the offset, for the error of a `str` that has no UTF-8.
fn lone_surrogate(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyUnicodeEncodeError>(py) {
        return error;
    }
    let start = error.value(py).getattr("start").and_then(|start| start.extract::<usize>());
    let message = format!(
        "text has a lone surrogate at character {}, which no UTF-8 can hold; replace it, or pass \
         errors=\"replace\" where the call has it",
        start.unwrap_or(0)
    );
    to_py_err(py, &Error::new(Kind::Text, message))
}

/// Texts from a list or any iterable; an error has the number of its text.
pub fn texts_of(texts: &Bound<'_, PyAny>) -> PyResult<Vec<Text>> {
    let numbered = |(at, text): (usize, PyResult<Bound<'_, PyAny>>)| {
        if at % MANY == MANY - 1 {
            texts.py().check_signals()?;
        }
        text?.extract::<Text>().map_err(|error| {
            let class = error.get_type(texts.py());
            let message = format!("text {at}: {}", error.value(texts.py()));
            class.call1((message,)).map_or_else(|failed| failed, PyErr::from_value)
        })
    };
    texts.try_iter()?.enumerate().map(numbered).collect()
}

/// Token ids from a list, an array or any iterable of ints.
pub fn ids_of(ids: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let mut known = Vec::new();
    let no_memory = |error: TryReserveError| to_py_err(ids.py(), &error.into());
    if let Ok(list) = ids.cast::<PyList>() {
        known.try_reserve_exact(list.len()).map_err(no_memory)?;
        for (at, id) in list.iter().enumerate() {
            if at % MANY == MANY - 1 {
                ids.py().check_signals()?;
            }
            known.push(id_of(&id, at)?);
        }
        return Ok(known);
    }
    if let Ok(array) = ids.extract::<PyReadonlyArray1<'_, u32>>() {
        return Ok(array.as_array().iter().copied().collect());
    }
    for (at, id) in ids.try_iter()?.enumerate() {
        known.try_reserve(1).map_err(no_memory)?;
        known.push(id_of(&id?, at)?);
    }
    Ok(known)
}

fn id_of(id: &Bound<'_, PyAny>, at: usize) -> PyResult<u32> {
    id.extract::<u32>().map_err(|error| {
        if error.is_instance_of::<PyTypeError>(id.py()) {
            return error;
        }
        let message = format!("id {id} at position {at} is outside every vocabulary");
        to_py_err(id.py(), &Error::new(Kind::UnknownTokenId, message))
    })
}

/// A list of ids.
pub fn list_of(py: Python<'_>, ids: Vec<u32>) -> PyResult<Bound<'_, PyList>> {
    if ids.len() < FEW {
        return PyList::new(py, ids);
    }
    // numpy raises where pyo3 would panic for want of memory.
    if ids.len() <= MANY {
        return Ok(array(py, ids).call_method0("tolist")?.cast_into()?);
    }
    let list = PyList::empty(py);
    for part in ids.chunks(MANY) {
        py.check_signals()?;
        list.call_method1("extend", (PyArray1::from_slice(py, part).call_method0("tolist")?,))?;
    }
    Ok(list)
}

/// Fewer ids than this are no matter for memory.
const FEW: usize = 1 << 12;

/// Objects made or read between two looks for signals.
pub const MANY: usize = 1 << 20;

/// An array that takes over the vector.
pub fn array<T: numpy::Element>(py: Python<'_>, mut values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    values.shrink_to_fit();
    PyArray1::from_vec(py, values)
}
