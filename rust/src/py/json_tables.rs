//! The tables of a `tokenizer.json`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::bpe::PyBpe;
use super::text::Text;
use crate::bpe::spelt::SpeltVocabulary;
use crate::json_tables::Tables;

/// Contents, ids and flags of added tokens.
type PyAdded<'py> = (Vec<&'py str>, Vec<u32>, Bound<'py, PyBytes>);

/// A file whose large tables are read apart from the rest.
#[pyclass(frozen, module = "subword._core")]
pub struct JsonTables {
    data: PyBackedBytes,
    tables: Tables,
    /// Of a model with merges: its vocabulary, and the pairs of ids that merge.
    merging: Option<(SpeltVocabulary, Vec<(u32, u32)>)>,
}

#[pymethods]
impl JsonTables {
    /// Read the tables of a file; None for one that a JSON parser has to see.
    #[staticmethod]
    fn read(py: Python<'_>, data: PyBackedBytes) -> Option<Self> {
        py.detach(|| {
            let text = std::str::from_utf8(&data).ok()?;
            let tables = Tables::find(text)?;
            let mut merging = None;
            if tables.has_merges() {
                let vocabulary = SpeltVocabulary::new(&tables.entries(text)?).ok()?;
                let pairs = tables.pairs(text, &vocabulary)?;
                merging = Some((vocabulary, pairs));
            }
            Some((tables, merging))
        })
        .map(|(tables, merging)| Self { data, tables, merging })
    }

    /// The file with an empty vocabulary, empty merges and, where they were read, no added tokens.
    #[getter]
    fn rest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.tables.rest)
    }

    /// Contents, ids and flags of the added tokens, or None where they were not read.
    fn added<'py>(&'py self, py: Python<'py>) -> Option<PyAdded<'py>> {
        let added = self.tables.added.as_ref()?;
        let flags: Vec<u8> = added.iter().map(|token| token.flags).collect();
        let ids = added.iter().map(|token| token.id).collect();
        let contents = added.iter().map(|token| token.content.as_str()).collect();
        Some((contents, ids, PyBytes::new(py, &flags)))
    }

    /// Whether the model has merges.
    #[getter]
    fn has_merges(&self) -> bool {
        self.merging.is_some()
    }

    /// The id of each token, in the order of the file; None where something is wrong with them.
    fn vocab<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let text = std::str::from_utf8(&self.data).ok();
        let Some(entries) = text.and_then(|text| self.tables.entries(text)) else {
            return Ok(None);
        };
        let vocab = PyDict::new(py);
        for (token, id) in &entries {
            vocab.set_item(token, id)?;
        }
        Ok((vocab.len() == entries.len()).then_some(vocab))
    }

    /// Number of tokens of a model with merges.
    #[getter]
    fn n_tokens(&self) -> usize {
        self.merging.as_ref().map_or(0, |(vocabulary, _)| vocabulary.len())
    }

    /// The id of a token of a model with merges, or None.
    fn id_of(&self, token: &Bound<'_, PyString>) -> Option<u32> {
        let (vocabulary, _) = self.merging.as_ref()?;
        vocabulary.id_of(token.to_str().ok()?, &mut Vec::new())
    }

    /// The ids of tokens with characters that stand for no byte, of a model with merges.
    fn others<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let others = self.merging.iter().flat_map(|(vocabulary, _)| vocabulary.others());
        let mut others: Vec<_> = others.map(|(token, id)| (id, token.as_ref())).collect();
        others.sort_unstable();
        let found = PyDict::new(py);
        for (id, token) in others {
            found.set_item(token, id)?;
        }
        Ok(found)
    }

    /// The pairs of ids that merge.
    fn merges(&self) -> Vec<(u32, u32)> {
        self.merging.as_ref().map(|(_, pairs)| pairs.clone()).unwrap_or_default()
    }

    /// Compile the tokens that stand for bytes, and `also`, ids with their bytes.
    fn bpe(&self, py: Python<'_>, also: Vec<(u32, Text)>, whole_first: bool) -> PyResult<PyBpe> {
        let Some((vocabulary, pairs)) = &self.merging else {
            return Err(PyValueError::new_err("the model has no merges"));
        };
        PyBpe::of(py, || vocabulary.bpe(&also, pairs, whole_first))
    }
}
