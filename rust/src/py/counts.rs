//! Counting.

use std::path::PathBuf;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::border::{run_long, to_py_err};
use super::corpus::{bad_of, column_texts};
use super::runs::{Batch, Rows};
use super::text::{Text, array};
use crate::corpus::bad::OnBad;
use crate::corpus::{Chunk, CorpusReader, Cut};
use crate::counts::{CountTable, Counter, Spill};
use crate::error::{Error, Kind};
use crate::parallel::{Control, for_each};
use crate::runs::{Merge, Run};
use crate::special::{SpecialToken, SpecialTokens};
use crate::split::Splitter;

/// Counts documents as they come; `finish` gives the table.
#[pyclass]
pub struct PretokenCounter {
    splitter: Splitter,
    special: SpecialTokens,
    counters: Vec<Counter>,
    position: u64,
    n_documents: u64,
    piece_bytes: usize,
    bad: (u64, Vec<String>),
}

/// How many places of bad records are kept.
const MOST_PLACES: usize = 20;

/// A part of a document, and the corpus position of its first byte.
struct Piece<'a> {
    text: &'a [u8],
    position: u64,
}

impl PretokenCounter {
    fn note_bad(&mut self, (n_records, places): (u64, Vec<String>)) {
        self.bad.0 += n_records;
        self.bad.1.extend(places);
        self.bad.1.truncate(MOST_PLACES);
    }

    /// Count what is left of a reader, some chunks at a time.
    fn count_files(
        &mut self,
        reader: &mut CorpusReader,
        control: &Control,
    ) -> crate::error::Result<()> {
        let target = self.piece_bytes.saturating_mul(4 * self.counters.len());
        let mut chunk = Chunk::default();
        let mut n_reported = 0;
        while reader.next_chunk(target, &mut chunk, control)? {
            if chunk.continues {
                // What is behind the last certain cut is counted with what follows it.
                let start = chunk.open_start();
                let open = chunk.text.get(start..).unwrap_or_default();
                let near = open.len().saturating_sub(self.special.longest());
                let may_cut = !self.special.may_be_cut();
                let cut = if may_cut { self.splitter.safe_cut(open, near) } else { None };
                reader.carry(&mut chunk, start + cut.unwrap_or(0))?;
            }
            let parts: Vec<&[u8]> = chunk.parts().map(|part| part.text).collect();
            self.n_documents += chunk.document_ends.len() as u64;
            self.count(&parts, control)?;
            // What is stored is what a total can be known of.
            let n_stored = reader.stored_bytes();
            control.advance(n_stored - n_reported);
            n_reported = n_stored;
        }
        control.advance(reader.stored_bytes() - n_reported);
        Ok(())
    }

    /// Count documents of which the first begins at `self.position`.
    fn count(&mut self, documents: &[&[u8]], control: &Control) -> crate::error::Result<()> {
        let mut pieces = Vec::new();
        let may_cut = self.counters.len() > 1 && !self.special.may_be_cut();
        for document in documents {
            let mut rest = *document;
            while may_cut && rest.len() > self.piece_bytes {
                let Some(cut) = self.splitter.safe_cut(rest, self.piece_bytes) else { break };
                let (text, after) = rest.split_at(cut);
                pieces.push(Piece { text, position: self.position });
                self.position += text.len() as u64;
                rest = after;
            }
            pieces.push(Piece { text: rest, position: self.position });
            self.position += rest.len() as u64;
        }
        let (splitter, special) = (&self.splitter, &self.special);
        for_each(&mut self.counters, pieces.len(), |counter, item| {
            let Some(piece) = pieces.get(item) else { return Ok(()) };
            counter.count(piece.text, piece.position, splitter, special, control)
        })
    }
}

#[pymethods]
impl PretokenCounter {
    #[new]
    /// `spill` is the front of the paths of runs, and the most memory of the tables in bytes.
    #[pyo3(signature = (
        patterns, special_tokens, *, n_threads=None, piece_bytes=1 << 20, spill=None, position=0
    ))]
    fn new(
        py: Python<'_>,
        patterns: Vec<String>,
        special_tokens: Vec<Text>,
        n_threads: Option<usize>,
        piece_bytes: usize,
        spill: Option<(PathBuf, usize)>,
        position: u64,
    ) -> PyResult<Self> {
        let tokens =
            special_tokens.iter().map(|token| SpecialToken::new(token.as_ref(), 0)).collect();
        let make = || {
            let n_threads = crate::parallel::n_threads(n_threads)?;
            let n_threads = n_threads.min(256);
            let counters = (0..n_threads).map(|thread| {
                let mut counter = Counter::new()?;
                if let Some((stem, max_bytes)) = &spill {
                    let mut path = stem.clone().into_os_string();
                    path.push(format!("-{thread:03}"));
                    let max_bytes = max_bytes / n_threads;
                    let (stem, runs) = (path.into(), Vec::new());
                    counter.spill_to(Spill { stem, max_bytes, runs, n_written: 0 });
                }
                Ok(counter)
            });
            Ok(Self {
                splitter: Splitter::compile(&patterns)?,
                special: SpecialTokens::new(tokens)?,
                counters: counters.collect::<crate::error::Result<_>>()?,
                position,
                n_documents: 0,
                piece_bytes: piece_bytes.max(1),
                bad: (0, Vec::new()),
            })
        };
        make().map_err(|error| to_py_err(py, &error))
    }

    /// Count some documents.
    #[pyo3(signature = (documents, *, progress=None))]
    fn add(
        &mut self,
        py: Python<'_>,
        documents: Vec<Text>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let texts: Vec<&[u8]> = documents.iter().map(AsRef::as_ref).collect();
        self.n_documents += texts.len() as u64;
        run_long(py, progress.as_ref(), |control| {
            self.count(&texts, control)?;
            control.advance(texts.iter().map(|text| text.len() as u64).sum());
            Ok(())
        })
    }

    /// Count the texts of a column: text `i` is `data[bounds[i]:bounds[i + 1]]`.
    fn add_column(
        &mut self,
        py: Python<'_>,
        data: PyReadonlyArray1<'_, u8>,
        bounds: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<()> {
        let texts = column_texts(data.as_slice()?, bounds.as_slice()?)
            .map_err(|error| to_py_err(py, &error))?;
        self.n_documents += texts.len() as u64;
        run_long(py, None, |control| self.count(&texts, control))
    }

    /// Count the documents of files.
    ///
    /// With a `field` they are JSON lines. `progress` is given the bytes taken from the files.
    #[pyo3(signature = (
        paths, cut, *, field=None, on_bad=None, block_bytes=crate::corpus::BLOCK_BYTES,
        progress=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords, to who calls it")]
    fn add_files(
        &mut self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        cut: Cut,
        field: Option<String>,
        on_bad: Option<OnBad>,
        block_bytes: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let mut reader = CorpusReader::new(paths, cut, field, on_bad, block_bytes)
            .map_err(|error| to_py_err(py, &error))?;
        let counted =
            run_long(py, progress.as_ref(), |control| self.count_files(&mut reader, control));
        self.note_bad(bad_of(reader.bad()));
        counted
    }

    /// Write what is in memory as runs; gives the paths of all runs since the last call.
    fn take_runs(&mut self, py: Python<'_>) -> PyResult<Vec<PathBuf>> {
        run_long(py, None, |_| {
            let mut runs = Vec::new();
            for counter in &mut self.counters {
                runs.extend(counter.take_runs()?);
            }
            Ok(runs)
        })
    }

    /// How many bad records there were since the last call, and where the first of them stand.
    fn take_bad(&mut self) -> (u64, Vec<String>) {
        std::mem::take(&mut self.bad)
    }

    /// Bytes counted so far.
    #[getter]
    fn n_bytes(&self) -> u64 {
        self.position
    }

    /// Documents counted so far, empty ones included.
    #[getter]
    fn n_documents(&self) -> u64 {
        self.n_documents
    }

    /// The table of everything counted; the counter is empty afterwards.
    fn finish(&mut self, py: Python<'_>) -> PyResult<PretokenTable> {
        let counters = std::mem::take(&mut self.counters);
        run_long(py, None, move |control| {
            let mut counters = counters.into_iter();
            let Some(mut total) = counters.next() else { return Ok(CountTable::default()) };
            for counter in counters {
                total.merge(&counter, control)?;
            }
            total.finish(control)
        })
        .map(PretokenTable)
    }
}

/// Pre-tokens in the order of their bytes, with counts and first positions.
#[pyclass(frozen)]
pub struct PretokenTable(pub CountTable);

#[pymethods]
impl PretokenTable {
    /// The table of rows given as one buffer with ends, and two arrays.
    #[new]
    fn new(
        py: Python<'_>,
        data: &[u8],
        ends: PyReadonlyArray1<'_, u64>,
        counts: PyReadonlyArray1<'_, u64>,
        first_seen: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<Self> {
        let (ends, counts, first_seen) =
            (ends.as_array(), counts.as_array(), first_seen.as_array());
        let make = || {
            let damaged = |what: &str| {
                Error::new(Kind::Counts, format!("the count table is damaged: {what}"))
            };
            if ends.len() != counts.len() || ends.len() != first_seen.len() {
                return Err(damaged("its columns differ in length"));
            }
            let mut rows = Vec::new();
            rows.try_reserve_exact(ends.len())?;
            let mut start = 0;
            for ((&end, &count), &first_seen) in ends.iter().zip(&counts).zip(&first_seen) {
                let end = usize::try_from(end).unwrap_or(usize::MAX);
                let pretoken =
                    data.get(start..end).ok_or_else(|| damaged("an offset is out of order"))?;
                if pretoken.is_empty() {
                    return Err(damaged("a pre-token is empty"));
                }
                rows.push((pretoken, count, first_seen));
                start = end;
            }
            CountTable::from_rows(rows)
        };
        make().map(Self).map_err(|error| to_py_err(py, &error))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The row of a pre-token, or None.
    fn find(&self, pretoken: &[u8]) -> Option<usize> {
        self.0.find(pretoken)
    }

    /// Pre-token, count and first position of a row.
    fn row<'py>(&self, py: Python<'py>, row: usize) -> Option<(Bound<'py, PyBytes>, u64, u64)> {
        let (count, first_seen) = (*self.0.counts.get(row)?, *self.0.first_seen.get(row)?);
        Some((PyBytes::new(py, self.0.pretoken(row)), count, first_seen))
    }

    /// The pre-tokens, one after another.
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.bytes)
    }

    /// Where each pre-token ends in `data`: shape (n_rows,), uint64.
    fn ends<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        array(py, self.0.ends.clone())
    }

    /// Occurrences: shape (n_rows,), uint64.
    fn counts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        array(py, self.0.counts.clone())
    }

    /// Corpus positions of the first occurrences: shape (n_rows,), uint64.
    fn first_seen<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        array(py, self.0.first_seen.clone())
    }

    /// The table that sorted rows make, given some at a time by an iterator of
    /// (data, ends, counts, first_seen).
    #[staticmethod]
    fn from_batches(py: Python<'_>, batches: &Bound<'_, PyAny>, min_count: u64) -> PyResult<Self> {
        let mut table = CountTable::default();
        for batch in batches.try_iter()? {
            let (data, ends, counts, first_seen): Batch<'_> = batch?.extract()?;
            let rows = Rows::of(&data, &ends, &counts, &first_seen)?;
            run_long(py, None, |control| {
                rows.try_for_each(control, |pretoken, count, first_seen| {
                    if count < min_count {
                        return Ok(());
                    }
                    table.append(pretoken, count, first_seen)
                })
            })?;
        }
        Ok(Self(table))
    }

    /// The table that runs add up to; rows of less than `min_count` are left out.
    #[staticmethod]
    #[pyo3(signature = (runs, *, min_count=1))]
    fn from_runs(py: Python<'_>, runs: Vec<Run>, min_count: u64) -> PyResult<Self> {
        run_long(py, None, |control| {
            CountTable::from_merge(&mut Merge::open(&runs, min_count)?, control)
        })
        .map(Self)
    }

    /// This table with all counts multiplied.
    fn scaled(&self, py: Python<'_>, factor: u64) -> PyResult<Self> {
        py.detach(|| self.0.scaled(factor)).map(Self).map_err(|e| to_py_err(py, &e))
    }

    /// The rows whose counts are at least `min_count`.
    fn at_least(&self, py: Python<'_>, min_count: u64) -> PyResult<Self> {
        py.detach(|| self.0.at_least(min_count)).map(Self).map_err(|e| to_py_err(py, &e))
    }

    /// This table and another whose corpus begins at `offset`.
    fn added(&self, py: Python<'_>, other: &Self, offset: u64) -> PyResult<Self> {
        py.detach(|| self.0.added(&other.0, offset)).map(Self).map_err(|e| to_py_err(py, &e))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
