//! Encoding and decoding.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::border::{run_long, to_py_err};
use super::bpe::{PyBpe, vocabulary_of};
use super::characters::{CharacterBpe, Characters, Words};
use super::normalize::{Normalizer, Steps};
use super::parts::encode_in_parts;
use super::text::{Text, array, ids_of, list_of, texts_of};
use super::unigram::Unigram;
use super::wordpiece::PyWordPiece;
use crate::batch::encode_batch;
use crate::error::{Error, Kind, Result};
use crate::memory::ask_for_huge_pages;
use crate::model::Model;
use crate::parallel::Control;
use crate::segmentations::{Sampling, n_best, sample};
use crate::spans::with_characters;
use crate::special::SpecialToken;
use crate::split::Splitter;
use crate::stream::Tail;
use crate::tokenizer::{AddedToken, Cutter, Parts, Policy, Tokenizer as Kernel};

/// Texts from this size on are encoded on a thread that can be interrupted.
const LONG: usize = 1 << 18;

/// Texts from this size on release the GIL.
const RELEASE: usize = 1 << 13;

/// A compiled tokenizer.
#[pyclass(frozen)]
pub struct Tokenizer(Arc<Kernel>);

/// Ids of all texts, and the bounds of each.
type PyBatch<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>);

/// Ids, starts and ends in bytes, starts and ends in characters.
type PySpans<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
);

/// Text, id, special, normalized, lstrip, rstrip, single_word, control.
type PyAddedToken = (Text, u32, bool, bool, bool, bool, bool, bool);

fn added_token(token: &PyAddedToken) -> AddedToken {
    let (text, id, is_special, in_normalized, lstrip, rstrip, single_word, is_control) = token;
    AddedToken {
        token: SpecialToken {
            text: text.as_ref().to_vec(),
            id: *id,
            single_word: *single_word,
            lstrip: *lstrip,
            rstrip: *rstrip,
        },
        is_special: *is_special,
        in_normalized: *in_normalized,
        is_control: *is_control,
    }
}

fn model_of(model: &Bound<'_, PyAny>) -> PyResult<Model> {
    if let Ok(bpe) = model.cast::<PyBpe>() {
        return Ok(Model::Bpe(Arc::clone(&bpe.get().inner)));
    }
    if let Ok(wordpiece) = model.cast::<PyWordPiece>() {
        return Ok(Model::WordPiece(Arc::clone(&wordpiece.get().inner)));
    }
    if let Ok(bpe) = model.cast::<CharacterBpe>() {
        return Ok(Model::CharacterBpe(Arc::clone(&bpe.get().model)));
    }
    if let Ok(words) = model.cast::<Words>() {
        return Ok(Model::Words(Arc::clone(&words.get().model)));
    }
    if let Ok(characters) = model.cast::<Characters>() {
        return Ok(Model::Characters(Arc::clone(&characters.get().model)));
    }
    let unigram = model.cast::<Unigram>()?;
    Ok(Model::Unigram(Arc::clone(&unigram.get().model)))
}

/// The policy that `special` names.
pub(super) fn policy_of(kernel: &Kernel, special: &Bound<'_, PyAny>) -> PyResult<Policy> {
    let py = special.py();
    if let Ok(name) = special.cast::<PyString>() {
        return match name.to_str()? {
            "recognize" => Ok(Policy::Recognize),
            "as_text" => Ok(Policy::AsText),
            "forbid" => Ok(Policy::Forbid),
            other => {
                let message = format!(
                    "special is {other:?}; it is \"recognize\", \"as_text\", \"forbid\" or a set of special tokens"
                );
                Err(to_py_err(py, &Error::new(Kind::Argument, message)))
            }
        };
    }
    let wanted = special
        .try_iter()
        .map_err(|_| PyTypeError::new_err("special is a string or a set of special tokens"))?
        .map(|token| Ok(token?.extract::<Text>()?.as_ref().to_vec()))
        .collect::<PyResult<Vec<Vec<u8>>>>()?;
    kernel.only(&wanted).map_err(|error| to_py_err(py, &error))
}

impl Tokenizer {
    /// The kernel, shared.
    pub(super) fn kernel(&self) -> Arc<Kernel> {
        Arc::clone(&self.0)
    }

    fn encode_text(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        special: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<u32>> {
        let policy = policy_of(&self.0, special)?;
        if let Ok(string) = text.cast::<PyString>()
            && let Some(ids) = encode_in_parts(py, &self.0, string, &policy)?
        {
            return Ok(ids);
        }
        let text: Text = text.extract()?;
        let bytes = text.as_ref();
        let encode = |control: &Control| {
            let mut ids = Vec::new();
            ids.try_reserve(bytes.len() / 4 + 8)?;
            ask_for_huge_pages(&mut ids);
            self.0.worker().encode(bytes, &policy, &mut ids, control)?;
            Ok(ids)
        };
        if bytes.len() >= LONG {
            return run_long(py, None, encode);
        }
        let control = Control::default();
        let ids =
            if bytes.len() < RELEASE { encode(&control) } else { py.detach(|| encode(&control)) };
        ids.map_err(|error| to_py_err(py, &error))
    }
}

impl Tokenizer {
    fn bytes_of(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        skip_special: bool,
    ) -> PyResult<Vec<u8>> {
        let ids = ids_of(ids)?;
        if ids.len() >= LONG {
            return run_long(py, None, |control| decode(&self.0, &ids, skip_special, control));
        }
        let decode = || decode(&self.0, &ids, skip_special, &Control::default());
        let bytes = if ids.len() < RELEASE { decode() } else { py.detach(decode) };
        bytes.map_err(|error| to_py_err(py, &error))
    }
}

#[pymethods]
impl Tokenizer {
    /// Put a tokenizer together from a compiled model and the other parts.
    ///
    /// `tokens` are ids and byte strings, for models that do not keep them. An added token is
    /// (text, id, special, normalized, lstrip, rstrip, single_word, control).
    #[new]
    #[pyo3(signature = (model, added_tokens, patterns, *, tokens=None, normalizer=None, steps=None, memo_bytes=1 << 25))]
    #[expect(clippy::too_many_arguments, reason = "the parts of a tokenizer, by name")]
    fn new(
        py: Python<'_>,
        model: &Bound<'_, PyAny>,
        added_tokens: Vec<PyAddedToken>,
        patterns: Vec<String>,
        tokens: Option<(Vec<u32>, Vec<Text>)>,
        normalizer: Option<PyRef<'_, Normalizer>>,
        steps: Option<PyRef<'_, Steps>>,
        memo_bytes: usize,
    ) -> PyResult<Self> {
        let model = model_of(model)?;
        let normalizer = normalizer.map(|normalizer| normalizer.kernel.clone());
        let steps = steps.map(|steps| steps.kernel.clone());
        let added = added_tokens.iter().map(added_token).collect();
        let make = || {
            let vocabulary =
                tokens.map(|(ids, tokens)| vocabulary_of(&ids, &tokens)).transpose()?;
            let cutter = match steps {
                Some(steps) => Cutter::Steps(steps),
                None => Cutter::Patterns(Splitter::compile(&patterns)?),
            };
            Kernel::new(Parts { model, vocabulary, normalizer, cutter, added, memo_bytes })
        };
        py.detach(make).map(|kernel| Self(Arc::new(kernel))).map_err(|error| to_py_err(py, &error))
    }

    /// The ids of a text, as a list.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        list_of(py, self.encode_text(py, text, special)?)
    }

    /// The ids of a text: shape (n_tokens,), uint32.
    fn encode_array<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        Ok(array(py, self.encode_text(py, text, special)?))
    }

    /// The number of ids of a text.
    fn count_tokens(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        special: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        Ok(self.encode_text(py, text, special)?.len())
    }

    /// Ids of all texts in one array, and the bounds of each: shape (n_texts + 1,), int64.
    #[pyo3(signature = (texts, special, *, n_threads=None))]
    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        special: &Bound<'py, PyAny>,
        n_threads: Option<usize>,
    ) -> PyResult<PyBatch<'py>> {
        let policy = policy_of(&self.0, special)?;
        let texts = texts_of(texts)?;
        let texts: Vec<&[u8]> = texts.iter().map(AsRef::as_ref).collect();
        let (ids, bounds) = run_long(py, None, |control| {
            encode_batch(
                &self.0,
                &texts,
                &policy,
                n_threads,
                &|index| format!("text {index}"),
                control,
            )
        })?;
        Ok((array(py, ids), array(py, bounds)))
    }

    /// Ids, start bytes, end bytes, start characters and end characters of the tokens of a text.
    fn encode_spans<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        special: &Bound<'py, PyAny>,
    ) -> PyResult<PySpans<'py>> {
        let policy = policy_of(&self.0, special)?;
        let bytes = text.as_ref();
        let (ids, [starts, ends, firsts, lasts]) = run_long(py, None, |control| {
            let spans = self.0.worker().encode_spans(bytes, &policy, control)?;
            with_characters(bytes, spans, control)
        })?;
        let column = |values| array::<u64>(py, values);
        Ok((array(py, ids), column(starts), column(ends), column(firsts), column(lasts)))
    }

    /// The ids of a random segmentation: by `dropout`, or by `alpha` and perhaps `n_best`.
    #[pyo3(signature = (text, special, seed, *, dropout=None, alpha=0.0, n_best=None))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of its own in Python")]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        special: &Bound<'py, PyAny>,
        seed: u64,
        dropout: Option<f64>,
        alpha: f64,
        n_best: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let policy = policy_of(&self.0, special)?;
        let sampling = dropout.map_or(Sampling::Alpha { alpha, n_best }, Sampling::Dropout);
        let sample =
            |control: &Control| sample(&self.0, text.as_ref(), &policy, sampling, seed, control);
        if text.as_ref().len() < RELEASE && n_best.is_none() {
            let ids = sample(&Control::default()).map_err(|error| to_py_err(py, &error))?;
            return list_of(py, ids);
        }
        list_of(py, run_long(py, None, sample)?)
    }

    /// The ids and scores of the `n` best segmentations, best first.
    fn n_best(
        &self,
        py: Python<'_>,
        text: Text,
        special: &Bound<'_, PyAny>,
        n: usize,
    ) -> PyResult<Vec<(Vec<u32>, f64)>> {
        let policy = policy_of(&self.0, special)?;
        run_long(py, None, |control| n_best(&self.0, text.as_ref(), &policy, n, control))
    }

    /// The bytes of ids; those of `skip` are left out.
    #[pyo3(signature = (ids, *, skip_special=false))]
    fn decode_bytes<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        skip_special: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes_of(py, ids, skip_special)?))
    }

    /// The text of ids; `errors` as in `bytes.decode`.
    #[pyo3(signature = (ids, errors, *, skip_special=false))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        errors: &Bound<'py, PyString>,
        skip_special: bool,
    ) -> PyResult<Bound<'py, PyString>> {
        let bytes = self.bytes_of(py, ids, skip_special)?;
        match std::str::from_utf8(&bytes) {
            // A text that long may fail for want of memory, which Python raises.
            Ok(text) if text.len() < LONG => Ok(PyString::new(py, text)),
            _ => {
                let decoded = PyBytes::new(py, &bytes).call_method1("decode", ("utf-8", errors))?;
                Ok(decoded.cast_into()?)
            }
        }
    }

    /// The bytes of a token, or None for an id without one.
    fn token_bytes<'py>(&self, py: Python<'py>, token_id: u32) -> Option<Bound<'py, PyBytes>> {
        self.0.token(token_id).map(|bytes| PyBytes::new(py, bytes))
    }

    /// The bytes that an id is decoded to, or None for an id without a token.
    fn decoded_bytes<'py>(&self, py: Python<'py>, token_id: u32) -> Option<Bound<'py, PyBytes>> {
        self.0.decoded(token_id).map(|bytes| PyBytes::new(py, bytes))
    }

    /// The id of a token, or None.
    fn token_id(&self, token: &[u8]) -> Option<u32> {
        self.0.id_of(token)
    }

    /// A stream over this tokenizer.
    fn stream(&self, special: &Bound<'_, PyAny>) -> PyResult<TextStream> {
        let policy = policy_of(&self.0, special)?;
        Ok(TextStream { kernel: Arc::clone(&self.0), policy, tail: Tail::default() })
    }
}

/// Encodes a text that arrives in parts.
#[pyclass]
pub struct TextStream {
    kernel: Arc<Kernel>,
    policy: Policy,
    tail: Tail,
}

#[pymethods]
impl TextStream {
    /// Take the next part; the ids that no later part can change.
    fn push<'py>(&mut self, py: Python<'py>, part: Text) -> PyResult<Bound<'py, PyList>> {
        let n_bytes = self.tail.n_bytes() + part.as_ref().len();
        let ids = self.run(py, n_bytes, |tail, kernel, policy, ids, control| {
            tail.push(part.as_ref(), &mut kernel.worker(), policy, ids, control)
        })?;
        list_of(py, ids)
    }

    /// The text is over: the ids of what is left.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let ids = self.run(py, LONG, |tail, kernel, policy, ids, control| {
            tail.finish(&mut kernel.worker(), policy, ids, control)
        })?;
        list_of(py, ids)
    }
}

impl TextStream {
    fn run(
        &mut self,
        py: Python<'_>,
        n_bytes: usize,
        step: impl FnOnce(&mut Tail, &Kernel, &Policy, &mut Vec<u32>, &Control) -> Result<()> + Send,
    ) -> PyResult<Vec<u32>> {
        let Self { kernel, policy, tail } = self;
        let work = |control: &Control| {
            let mut ids = Vec::new();
            step(tail, kernel, policy, &mut ids, control).map(|()| ids)
        };
        if n_bytes >= LONG {
            run_long(py, None, work)
        } else {
            work(&Control::default()).map_err(|error| to_py_err(py, &error))
        }
    }
}

fn decode(kernel: &Kernel, ids: &[u32], skip_special: bool, control: &Control) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve(ids.len().saturating_mul(TYPICAL))?;
    for (at, &id) in ids.iter().enumerate() {
        if at.is_multiple_of(RELEASE) {
            control.check()?;
        }
        let Some(token) = kernel.decoded(id) else {
            let message = format!("id {id} at position {at} is not in the vocabulary");
            return Err(Error::new(Kind::UnknownTokenId, message));
        };
        if skip_special && kernel.is_special(id) {
            continue;
        }
        bytes.try_reserve(token.len())?;
        bytes.extend_from_slice(token);
    }
    Ok(bytes)
}

/// Bytes of a token, more or less.
const TYPICAL: usize = 5;
