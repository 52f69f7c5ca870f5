//! Sorted runs of counts.

use std::path::PathBuf;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::border::{run_long, to_py_err};
use super::text::array;
use crate::counts::{CountTable, multiply};
use crate::error::{Error, Kind, Result};
use crate::parallel::Control;
use crate::runs::{Merge, Run, RunWriter};

/// Rows as Python gives them: bytes, ends, counts, first positions.
pub type Batch<'py> = (
    PyReadonlyArray1<'py, u8>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u64>,
);

/// Rows whose columns have one length.
pub struct Rows<'a> {
    data: &'a [u8],
    ends: &'a [u64],
    counts: &'a [u64],
    first_seen: &'a [u64],
}

impl<'a> Rows<'a> {
    /// The rows of four columns.
    ///
    /// # Errors
    ///
    /// `CountsError` for columns that differ in length, `TypeError` for strided ones.
    pub fn of(
        data: &'a PyReadonlyArray1<'_, u8>,
        ends: &'a PyReadonlyArray1<'_, u64>,
        counts: &'a PyReadonlyArray1<'_, u64>,
        first_seen: &'a PyReadonlyArray1<'_, u64>,
    ) -> PyResult<Self> {
        let rows = Self {
            data: data.as_slice()?,
            ends: ends.as_slice()?,
            counts: counts.as_slice()?,
            first_seen: first_seen.as_slice()?,
        };
        if rows.ends.len() != rows.counts.len() || rows.ends.len() != rows.first_seen.len() {
            return Err(to_py_err(data.py(), &damaged("its columns differ in length")));
        }
        Ok(rows)
    }

    /// Give each row to `work`.
    ///
    /// # Errors
    ///
    /// `Counts` for an offset outside the bytes, `Interrupted`, and what `work` gives.
    pub fn try_for_each(
        &self,
        control: &Control,
        mut work: impl FnMut(&[u8], u64, u64) -> Result<()>,
    ) -> Result<()> {
        let mut start = 0;
        let rows = self.ends.iter().zip(self.counts).zip(self.first_seen);
        for (at, ((&end, &count), &first_seen)) in rows.enumerate() {
            if at % 1024 == 0 {
                control.check()?;
            }
            let end = usize::try_from(end).unwrap_or(usize::MAX);
            let pretoken =
                self.data.get(start..end).ok_or_else(|| damaged("an offset is out of order"))?;
            work(pretoken, count, first_seen)?;
            start = end;
        }
        Ok(())
    }
}

fn damaged(what: &str) -> Error {
    Error::new(Kind::Counts, format!("the count table is damaged: {what}"))
}

/// Writes sorted rows as a run.
#[pyclass]
pub struct RunFile(Option<RunWriter>);

#[pymethods]
impl RunFile {
    /// A new file; one that is there is refused.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let writer = RunWriter::create(&path).map_err(|error| to_py_err(py, &error))?;
        Ok(Self(Some(writer)))
    }

    /// Append rows, their counts multiplied by `factor`.
    #[pyo3(signature = (data, ends, counts, first_seen, *, factor=1))]
    fn append(
        &mut self,
        py: Python<'_>,
        data: PyReadonlyArray1<'_, u8>,
        ends: PyReadonlyArray1<'_, u64>,
        counts: PyReadonlyArray1<'_, u64>,
        first_seen: PyReadonlyArray1<'_, u64>,
        factor: u64,
    ) -> PyResult<()> {
        let rows = Rows::of(&data, &ends, &counts, &first_seen)?;
        let Some(writer) = &mut self.0 else { return Err(to_py_err(py, &is_finished())) };
        run_long(py, None, |control| {
            rows.try_for_each(control, |pretoken, count, first_seen| {
                writer.push(pretoken, multiply(count, factor)?, first_seen)
            })
        })
    }

    /// End the file and see it on the disk.
    fn finish(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(writer) = self.0.take() else { return Err(to_py_err(py, &is_finished())) };
        run_long(py, None, |_| writer.finish())
    }
}

fn is_finished() -> Error {
    Error::new(Kind::Argument, "the run is finished")
}

/// The rows that runs add up to, some at a time.
#[pyclass]
pub struct RunMerge(Merge);

/// A batch of rows on its way to Python: bytes, ends, counts, first positions.
type Given<'py> = (
    Bound<'py, PyBytes>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
);

#[pymethods]
impl RunMerge {
    /// Merge runs, given with what is added to their positions; rows that add up to less than `min_count` are dropped.
    #[new]
    #[pyo3(signature = (runs, *, min_count=1))]
    fn new(py: Python<'_>, runs: Vec<Run>, min_count: u64) -> PyResult<Self> {
        Merge::open(&runs, min_count).map(Self).map_err(|error| to_py_err(py, &error))
    }

    /// The next `n_rows` rows, or fewer at the end: bytes, ends, counts, first positions.
    fn take<'py>(&mut self, py: Python<'py>, n_rows: usize) -> PyResult<Given<'py>> {
        let merge = &mut self.0;
        let rows = run_long(py, None, |control| {
            let mut rows = CountTable::default();
            while rows.len() < n_rows {
                if rows.len() % 1024 == 0 {
                    control.check()?;
                }
                let Some((pretoken, count, first_seen)) = merge.next_row()? else { break };
                rows.append(pretoken, count, first_seen)?;
            }
            Ok(rows)
        })?;
        Ok((
            PyBytes::new(py, &rows.bytes),
            array(py, rows.ends),
            array(py, rows.counts),
            array(py, rows.first_seen),
        ))
    }

    /// What `min_count` dropped so far: rows, occurrences.
    #[getter]
    fn dropped(&self) -> (u64, u64) {
        self.0.dropped
    }
}

/// Make one run of several, at a path where nothing is yet.
#[pyfunction]
pub fn merge_runs(py: Python<'_>, runs: Vec<Run>, into: PathBuf) -> PyResult<()> {
    run_long(py, None, |control| crate::runs::merge_runs(&runs, &into, control))
}

/// The number of threads for `n_threads`: itself, or one a core for None.
#[pyfunction]
#[pyo3(signature = (wanted=None))]
pub fn thread_count(py: Python<'_>, wanted: Option<usize>) -> PyResult<usize> {
    crate::parallel::n_threads(wanted).map_err(|error| to_py_err(py, &error))
}
