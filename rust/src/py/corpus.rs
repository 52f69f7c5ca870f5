//! Reading documents.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::border::{run_long, to_py_err};
use crate::corpus::{Chunk, ChunkReader, Cut};
use crate::error::{Error, Kind};

impl FromPyObject<'_, '_> for Cut {
    type Error = PyErr;

    /// `"file"`, `"line"`, or the bytes of a separator.
    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(separator) = object.extract::<PyBackedBytes>() {
            return Ok(Self::Separator(separator.to_vec()));
        }
        match object.extract::<String>()?.as_str() {
            "file" => Ok(Self::File),
            "line" => Ok(Self::Line),
            _ => Err(PyTypeError::new_err("expected \"file\", \"line\" or the separator as bytes")),
        }
    }
}

/// The documents of files, as an iterator of bytes.
#[pyclass(module = "subword._core")]
pub struct DocumentReader {
    reader: ChunkReader,
    block_bytes: usize,
    chunk: Chunk,
    /// The next document of `chunk`, and where it begins.
    n_given: usize,
    start: usize,
}

/// Python allocates its objects at multiples of 16, whatever the Rust type asks for.
const _: () = assert!(align_of::<DocumentReader>() <= 16);

#[pymethods]
impl DocumentReader {
    /// Read `paths` in order, `block_bytes` at a time.
    #[new]
    #[pyo3(signature = (paths, cut, *, block_bytes = crate::corpus::BLOCK_BYTES))]
    fn new(py: Python<'_>, paths: Vec<PathBuf>, cut: Cut, block_bytes: usize) -> PyResult<Self> {
        let reader =
            ChunkReader::new(paths, cut, block_bytes).map_err(|error| to_py_err(py, &error))?;
        Ok(Self { reader, block_bytes, chunk: Chunk::default(), n_given: 0, start: 0 })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut whole = Vec::new();
        loop {
            if let Some(&end) = self.chunk.document_ends.get(self.n_given) {
                let text = self.chunk.text.get(self.start..end).unwrap_or_default();
                self.n_given += 1;
                self.start = end;
                return PyBytes::new_with(py, whole.len() + text.len(), |bytes| {
                    let (front, back) = bytes.split_at_mut(whole.len());
                    front.copy_from_slice(&whole);
                    back.copy_from_slice(text);
                    Ok(())
                })
                .map(Some);
            }
            append(py, &mut whole, self.chunk.text.get(self.start..).unwrap_or_default())?;
            (self.n_given, self.start) = (0, 0);
            let (reader, chunk, target) = (&mut self.reader, &mut self.chunk, self.block_bytes);
            if !run_long(py, None, |control| reader.next_chunk(target, chunk, control))? {
                return Ok(None);
            }
        }
    }
}

fn append(py: Python<'_>, whole: &mut Vec<u8>, part: &[u8]) -> PyResult<()> {
    whole.try_reserve(part.len()).map_err(|error| {
        let message = format!("a document of over {} bytes: {error}", whole.len());
        to_py_err(py, &Error::new(Kind::Memory, message))
    })?;
    whole.extend_from_slice(part);
    Ok(())
}
