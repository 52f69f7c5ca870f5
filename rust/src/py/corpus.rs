//! Reading documents.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::border::{run_long, to_py_err};
use super::text::array;
use crate::corpus::bad::{BadRecords, OnBad};
use crate::corpus::{BLOCK_BYTES, Chunk, CorpusReader, Cut, Source};
use crate::error::{Error, Kind};
use crate::parallel::Control;

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

impl FromPyObject<'_, '_> for OnBad {
    type Error = PyErr;

    /// `"fail"`, `"skip"` or `"replace"`.
    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match object.extract::<String>()?.as_str() {
            "fail" => Ok(Self::Fail),
            "skip" => Ok(Self::Skip),
            "replace" => Ok(Self::Replace),
            _ => Err(PyTypeError::new_err("expected \"fail\", \"skip\" or \"replace\"")),
        }
    }
}

/// How many bad records there were, and where the first of them stand.
pub fn bad_of(bad: Option<&BadRecords>) -> (u64, Vec<String>) {
    bad.map(|bad| (bad.n_records, bad.places.clone())).unwrap_or_default()
}

/// The texts of a column.
///
/// # Errors
///
/// `Corpus` for bounds outside the bytes.
pub fn column_texts<'a>(data: &'a [u8], bounds: &[i64]) -> crate::error::Result<Vec<&'a [u8]>> {
    let text = |pair: &[i64]| match *pair {
        [start, end] => data.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?),
        _ => None,
    };
    let texts: Option<Vec<_>> = bounds.windows(2).map(text).collect();
    texts.ok_or_else(|| {
        Error::new(Kind::Corpus, "a column is damaged: its bounds are outside its bytes")
    })
}

/// A column after its bad texts were dealt with: bytes, bounds.
type Mended<'py> = (Bound<'py, PyBytes>, Bound<'py, PyArray1<i64>>);

/// Check the texts of a column: those that `is_text` does not name are missing.
///
/// Gives the column that is to be read instead, None where nothing is wrong; how many are bad; and
/// where the first of them stand, as `place` with the number from `first` on.
#[pyfunction]
#[pyo3(signature = (data, bounds, on_bad, *, is_text=None, place="", first=0))]
pub fn check_column<'py>(
    py: Python<'py>,
    data: PyReadonlyArray1<'_, u8>,
    bounds: PyReadonlyArray1<'_, i64>,
    on_bad: OnBad,
    is_text: Option<PyReadonlyArray1<'_, bool>>,
    place: &str,
    first: u64,
) -> PyResult<(Option<Mended<'py>>, u64, Vec<String>)> {
    let texts = column_texts(data.as_slice()?, bounds.as_slice()?)
        .map_err(|error| to_py_err(py, &error))?;
    let is_text = is_text.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    let is_missing = |at: usize| is_text.is_some_and(|it| it.get(at) == Some(&false));
    let mut bad = BadRecords::new(on_bad);
    let mended = run_long(py, None, |control| {
        let is_bad =
            |(at, text): (usize, &&[u8])| is_missing(at) || std::str::from_utf8(text).is_err();
        if !texts.iter().enumerate().any(is_bad) {
            return Ok(None);
        }
        let (mut mended, mut ends) = (Vec::new(), vec![0i64]);
        ends.try_reserve(texts.len())?;
        for (at, text) in texts.iter().enumerate() {
            control.check()?;
            let name = || format!("{place}{}", first + at as u64);
            let is_kept = if is_missing(at) {
                bad.note(|| format!("{}: no text", name()))?;
                bad.on_bad == OnBad::Replace
            } else {
                bad.append(text, &mut mended, name)?
            };
            if is_kept {
                ends.push(i64::try_from(mended.len()).unwrap_or(i64::MAX));
            }
        }
        Ok(Some((mended, ends)))
    })?;
    let mended = mended.map(|(text, ends)| (PyBytes::new(py, &text), array(py, ends)));
    Ok((mended, bad.n_records, bad.places))
}

/// A file's bytes, decompressed as its first bytes say.
#[pyclass(module = "subword._core")]
pub struct ByteReader {
    path: PathBuf,
    block_bytes: usize,
    source: Option<Source>,
    stored_bytes: Arc<AtomicU64>,
}

const _: () = assert!(align_of::<ByteReader>() <= 16);

#[pymethods]
impl ByteReader {
    /// Read the file at `path`; it is opened by the first read.
    #[new]
    #[pyo3(signature = (path, *, block_bytes = BLOCK_BYTES))]
    fn new(path: PathBuf, block_bytes: usize) -> Self {
        let block_bytes = block_bytes.max(1);
        Self { path, block_bytes, source: None, stored_bytes: Arc::default() }
    }

    /// At most `n_bytes` of the text; empty at its end alone.
    fn read<'py>(&mut self, py: Python<'py>, n_bytes: usize) -> PyResult<Bound<'py, PyBytes>> {
        let Self { path, block_bytes, source, stored_bytes } = self;
        let block = run_long(py, None, |control: &Control| {
            let open = match source {
                Some(open) => open,
                None => source.insert(Source::open(path, *block_bytes, stored_bytes, control)?),
            };
            let mut block = Vec::new();
            block.try_reserve_exact(n_bytes)?;
            block.resize(n_bytes, 0);
            let n = open.read(&mut block, control)?;
            block.truncate(n);
            Ok(block)
        })?;
        Ok(PyBytes::new(py, &block))
    }

    /// Bytes taken from the file so far, as they are stored.
    #[getter]
    fn stored_bytes(&self) -> u64 {
        self.stored_bytes.load(Ordering::Relaxed)
    }
}

/// The documents of files, as an iterator of bytes.
#[pyclass(module = "subword._core")]
pub struct DocumentReader {
    reader: CorpusReader,
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
    /// Read `paths` in order, `block_bytes` at a time; with a `field`, as JSON lines.
    #[new]
    #[pyo3(signature = (paths, cut, *, field = None, on_bad = None, block_bytes = BLOCK_BYTES))]
    fn new(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        cut: Cut,
        field: Option<String>,
        on_bad: Option<OnBad>,
        block_bytes: usize,
    ) -> PyResult<Self> {
        let reader = CorpusReader::new(paths, cut, field, on_bad, block_bytes)
            .map_err(|error| to_py_err(py, &error))?;
        Ok(Self { reader, block_bytes, chunk: Chunk::default(), n_given: 0, start: 0 })
    }

    /// How many bad records there were so far, and where the first of them stand.
    #[getter]
    fn bad(&self) -> (u64, Vec<String>) {
        bad_of(self.reader.bad())
    }

    /// Bytes taken from the files so far, as they are stored.
    #[getter]
    fn stored_bytes(&self) -> u64 {
        self.reader.stored_bytes()
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
