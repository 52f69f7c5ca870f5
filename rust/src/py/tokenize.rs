//! Files to ids in blocks.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;

use super::border::{run_long, to_py_err};
use super::text::array;
use super::tokenizer::{Tokenizer as PyTokenizer, policy_of};
use crate::corpus::Cut;
use crate::error::{Error, Kind, Result};
use crate::parallel::n_threads;
use crate::pipeline::{Block, Pipeline, Plan};
use crate::tokenizer::Tokenizer;

/// Ids of a file's documents, as an iterator of blocks (ids, ends, checksums).
#[pyclass(module = "subword._core")]
pub struct FileEncoder {
    tokenizer: Arc<Tokenizer>,
    pipeline: Pipeline,
    is_narrow: bool,
}

/// Python allocates its objects at multiples of 16, whatever the Rust type asks for.
const _: () = assert!(align_of::<FileEncoder>() <= 16);

/// Ids, ends of documents, checksums of documents.
type PyBlock<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>);

enum Ids {
    Wide(Vec<u32>),
    Narrow(Vec<u16>),
}

#[pymethods]
impl FileEncoder {
    /// Encode the file at `path`, cut as `cut` says, its first `skip` documents left out.
    ///
    /// `separator` is an id behind each document; `narrow` gives uint16 in place of uint32.
    #[new]
    #[pyo3(signature = (tokenizer, path, cut, special, *, separator=None, narrow=false, n_threads=None, skip=0, chunk_bytes=None))]
    #[expect(clippy::too_many_arguments, reason = "the parts of a plan, by name")]
    fn new(
        tokenizer: &Bound<'_, PyTokenizer>,
        path: PathBuf,
        cut: Cut,
        special: &Bound<'_, PyAny>,
        separator: Option<u32>,
        narrow: bool,
        n_threads: Option<usize>,
        skip: u64,
        chunk_bytes: Option<usize>,
    ) -> PyResult<Self> {
        let py = tokenizer.py();
        let tokenizer = tokenizer.get().kernel();
        let policy = policy_of(&tokenizer, special)?;
        let make = || {
            let n_threads = self::n_threads(n_threads)?;
            Pipeline::new(Plan { path, cut, policy, separator, n_threads, skip, chunk_bytes })
        };
        let pipeline = make().map_err(|error| to_py_err(py, &error))?;
        Ok(Self { tokenizer, pipeline, is_narrow: narrow })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<PyBlock<'py>>> {
        let Self { tokenizer, pipeline, is_narrow } = self;
        let narrow = *is_narrow;
        let block = run_long(py, None, |control| {
            let Some(block) = pipeline.next_block(tokenizer, control)? else { return Ok(None) };
            let Block { ids, ends, checksums } = block;
            let ids = if narrow { Ids::Narrow(narrowed(&ids)?) } else { Ids::Wide(ids) };
            Ok(Some((ids, ends, checksums)))
        })?;
        Ok(block.map(|(ids, ends, checksums)| {
            let ids = match ids {
                Ids::Wide(ids) => array(py, ids).into_any(),
                Ids::Narrow(ids) => array(py, ids).into_any(),
            };
            (ids, array(py, ends), array(py, checksums))
        }))
    }

    /// Bytes of the file read so far, as they are stored.
    #[getter]
    fn stored_bytes(&self) -> u64 {
        self.pipeline.stored_bytes()
    }
}

fn narrowed(ids: &[u32]) -> Result<Vec<u16>> {
    let mut narrow = Vec::new();
    narrow.try_reserve_exact(ids.len())?;
    narrow.extend(ids.iter().map(|&id| id as u16));
    if ids.iter().fold(0, |all, &id| all | id) > u32::from(u16::MAX) {
        let message = "an id does not fit in uint16; write uint32";
        return Err(Error::new(Kind::Vocabulary, message));
    }
    Ok(narrow)
}
