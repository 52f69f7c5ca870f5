//! Files to ids in blocks.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::border::{run_long, to_py_err};
use super::corpus::{bad_of, column_texts};
use super::text::array;
use super::tokenizer::{Tokenizer as PyTokenizer, policy_of};
use crate::corpus::Cut;
use crate::corpus::bad::OnBad;
use crate::error::{Error, Kind, Result};
use crate::parallel::n_threads;
use crate::pipeline::{Block, Pipeline, Plan, encode_texts};
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
    /// With a `field` it is JSON lines. `separator` is an id behind each document; `narrow` gives uint16 in place of uint32.
    #[new]
    #[pyo3(signature = (tokenizer, path, cut, special, *, field=None, on_bad=None, separator=None, narrow=false, n_threads=None, skip=0, chunk_bytes=None))]
    #[expect(clippy::too_many_arguments, reason = "the parts of a plan, by name")]
    fn new(
        tokenizer: &Bound<'_, PyTokenizer>,
        path: PathBuf,
        cut: Cut,
        special: &Bound<'_, PyAny>,
        field: Option<String>,
        on_bad: Option<OnBad>,
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
            Pipeline::new(Plan {
                path,
                cut,
                field,
                on_bad,
                policy,
                separator,
                n_threads,
                skip,
                chunk_bytes,
            })
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
            sized(block, narrow).map(Some)
        })?;
        Ok(block.map(|block| to_python(py, block)))
    }

    /// How many bad records there were so far, and where the first of them stand.
    #[getter]
    fn bad(&self) -> (u64, Vec<String>) {
        bad_of(self.pipeline.bad())
    }

    /// Bytes of the file read so far, as they are stored.
    #[getter]
    fn stored_bytes(&self) -> u64 {
        self.pipeline.stored_bytes()
    }
}

/// Ids of the texts of a column, as a block of `FileEncoder`; text `i` is
/// `data[bounds[i]:bounds[i + 1]]`, and `place` with its number from `first` on in messages.
#[pyfunction]
#[pyo3(signature = (tokenizer, data, bounds, special, *, separator=None, narrow=false, n_threads=None, place="", first=0))]
#[expect(clippy::too_many_arguments, reason = "keywords, to who calls it")]
pub fn encode_column<'py>(
    tokenizer: &Bound<'py, PyTokenizer>,
    data: PyReadonlyArray1<'_, u8>,
    bounds: PyReadonlyArray1<'_, i64>,
    special: &Bound<'_, PyAny>,
    separator: Option<u32>,
    narrow: bool,
    n_threads: Option<usize>,
    place: &str,
    first: u64,
) -> PyResult<PyBlock<'py>> {
    let py = tokenizer.py();
    let kernel = tokenizer.get().kernel();
    let policy = policy_of(&kernel, special)?;
    let texts = column_texts(data.as_slice()?, bounds.as_slice()?)
        .map_err(|error| to_py_err(py, &error))?;
    let name = |index: usize| format!("{place}{}", first + index as u64);
    let block = run_long(py, None, |control| {
        sized(encode_texts(&kernel, &texts, &policy, separator, n_threads, &name, control)?, narrow)
    })?;
    Ok(to_python(py, block))
}

type Sized = (Ids, Vec<u64>, Vec<u32>);

/// A block with ids of the width that was asked for.
fn sized(block: Block, narrow: bool) -> Result<Sized> {
    let Block { ids, ends, checksums } = block;
    let ids = if narrow { Ids::Narrow(narrowed(&ids)?) } else { Ids::Wide(ids) };
    Ok((ids, ends, checksums))
}

fn to_python(py: Python<'_>, (ids, ends, checksums): Sized) -> PyBlock<'_> {
    let ids = match ids {
        Ids::Wide(ids) => array(py, ids).into_any(),
        Ids::Narrow(ids) => array(py, ids).into_any(),
    };
    (ids, array(py, ends), array(py, checksums))
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
