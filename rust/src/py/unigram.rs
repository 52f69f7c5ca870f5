//! The unigram model.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::border::{collect_sized, run_long, to_py_err};
use super::counts::PretokenTable;
use crate::error::{Error, Kind};
use crate::unigram::{Options, Piece, PieceKind, Scratch, TrainOptions};

/// A frozen unigram model: pieces with scores, segmented by the best path.
#[pyclass(frozen, module = "subword._core")]
pub struct Unigram {
    pub model: Arc<crate::unigram::Unigram>,
}

#[pymethods]
impl Unigram {
    /// Pieces are `(text, score, kind)`; ids are their places.
    #[new]
    #[pyo3(signature = (pieces, *, unk_id, byte_fallback=false, fuse_unknown=true, single_precision=true))]
    fn new(
        py: Python<'_>,
        pieces: Vec<(PyBackedBytes, f64, String)>,
        unk_id: u32,
        byte_fallback: bool,
        fuse_unknown: bool,
        single_precision: bool,
    ) -> PyResult<Self> {
        let options = Options { unk_id, byte_fallback, fuse_unknown, single_precision };
        py.detach(|| {
            let pieces = pieces
                .iter()
                .map(|(text, score, kind)| {
                    Ok(Piece { text: text.to_vec(), score: *score, kind: parse_kind(kind)? })
                })
                .collect::<crate::error::Result<Vec<Piece>>>()?;
            crate::unigram::Unigram::new(&pieces, &options)
        })
        .map(|model| Self { model: Arc::new(model) })
        .map_err(|error| to_py_err(py, &error))
    }

    /// Ids of one normalized segment.
    fn encode(&self, py: Python<'_>, text: PyBackedBytes) -> PyResult<Vec<u32>> {
        collect_sized(py, text.len(), |out, control| {
            self.model.encode(&text, &mut Scratch::default(), out, control)
        })
    }

    /// `(id, start byte, end byte)` of each piece of one normalized segment.
    fn encode_spans(&self, py: Python<'_>, text: PyBackedBytes) -> PyResult<Vec<(u32, u32, u32)>> {
        collect_sized(py, text.len(), |out, control| {
            self.model.encode_spans(&text, &mut Scratch::default(), out, control)
        })
    }

    /// The `n` best segmentations and their scores, best first.
    fn n_best(
        &self,
        py: Python<'_>,
        text: PyBackedBytes,
        n: usize,
    ) -> PyResult<Vec<(Vec<u32>, f64)>> {
        run_long(py, None, |control| self.model.n_best(&text, n, control))
    }

    /// A random segmentation; among the `n_best` best ones where that is given.
    #[pyo3(signature = (text, *, alpha, seed, n_best=None))]
    fn sample(
        &self,
        py: Python<'_>,
        text: PyBackedBytes,
        alpha: f64,
        seed: u64,
        n_best: Option<usize>,
    ) -> PyResult<Vec<u32>> {
        py.detach(|| match n_best {
            None => self.model.sample(&text, alpha, seed),
            Some(n) => self.model.sample_n_best(&text, n, alpha, seed),
        })
        .map_err(|error| to_py_err(py, &error))
    }

    /// Number of ids.
    #[getter]
    fn vocab_size(&self) -> usize {
        self.model.vocab_size()
    }
}

/// The kind of piece with this name.
pub fn parse_kind(name: &str) -> crate::error::Result<PieceKind> {
    Ok(match name {
        "normal" => PieceKind::Normal,
        "unknown" => PieceKind::Unknown,
        "control" => PieceKind::Control,
        "user_defined" => PieceKind::UserDefined,
        "byte" => PieceKind::Byte,
        "unused" => PieceKind::Unused,
        _ => {
            return Err(Error::new(
                Kind::Argument,
                format!(
                    "a piece's kind is {name:?}; expected normal, unknown, control, \
                     user_defined, byte or unused"
                ),
            ));
        }
    })
}

/// Pieces with their scores, and characters left out with their occurrences.
type PyLearned = (Vec<(String, f64)>, Vec<(char, u64)>);

/// Pieces and their log probabilities, learned from pre-token counts, best first; and the
/// characters left out with their occurrences.
#[pyfunction]
#[pyo3(signature = (
    table, vocab_size, *, character_coverage=0.9995, extra_alphabet="", max_piece_length=16,
    seed_size=1_000_000, shrinking_factor=0.75, n_sub_iterations=2, n_threads=None, progress=None
))]
#[expect(clippy::too_many_arguments, reason = "each is an argument of the Python function")]
pub fn learn_pieces(
    py: Python<'_>,
    table: &PretokenTable,
    vocab_size: usize,
    character_coverage: f64,
    extra_alphabet: &str,
    max_piece_length: usize,
    seed_size: usize,
    shrinking_factor: f64,
    n_sub_iterations: usize,
    n_threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyLearned> {
    let n_threads = crate::parallel::n_threads(n_threads).map_err(|error| to_py_err(py, &error))?;
    let options = TrainOptions {
        vocab_size,
        character_coverage,
        extra_alphabet: extra_alphabet.chars().collect(),
        max_piece_length,
        seed_size,
        shrinking_factor,
        n_sub_iterations,
        n_threads,
    };
    run_long(py, progress.as_ref(), |control| {
        let table = &table.0;
        let mut rows: Vec<(&[u8], u64)> = Vec::new();
        rows.try_reserve_exact(table.len())?;
        rows.extend(
            table.counts.iter().enumerate().map(|(row, &count)| (table.pretoken(row), count)),
        );
        let learned = crate::unigram::learn_pieces(&rows, &options, control)?;
        Ok((learned.pieces, learned.left_out))
    })
}
