//! Normalizers and pre-tokenizer steps: from the dataclasses of Python to kernels and back.

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;

use super::border::{run_sized, to_py_err};
use crate::normalize::alignment::Normalized;
use crate::normalize::forms::Form;
use crate::normalize::spaces::Spaces;
use crate::normalize::{self, Step};
use crate::split::scripts::{SCRIPT_NAMES, Scripts};
use crate::split::steps::{self, Behavior, Pieces, PrependScheme};

/// `(normalized start, normalized end, original start, original end, exact)`.
type RunTuple = (usize, usize, usize, usize, bool);

/// A normalized text, and original spans.
type SpansTuple<'py> = (Bound<'py, PyBytes>, Vec<(usize, usize)>);

/// Names of scripts, and ranges with the index of the name.
type ScriptsTuple = (Vec<&'static str>, Vec<(u32, u32, u8)>);

/// A piece, and its span in the text as given.
type PieceTuple<'py> = (Bound<'py, PyBytes>, usize, usize);

/// Compiled normalizers.
#[pyclass(frozen, module = "subword._core")]
pub struct Normalizer {
    pub kernel: normalize::Normalizer,
}

#[pymethods]
impl Normalizer {
    #[new]
    fn new(py: Python<'_>, steps: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let steps: Vec<Step> = steps.iter().map(normalizer_step).collect::<PyResult<_>>()?;
        let kernel = normalize::Normalizer::compile(&steps);
        kernel.map(|kernel| Self { kernel }).map_err(|error| to_py_err(py, &error))
    }

    /// The normalized text, and its runs; none when it is the text itself.
    fn normalize<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyBytes>,
    ) -> PyResult<(Bound<'py, PyBytes>, Option<Vec<RunTuple>>)> {
        match self.run(py, text.as_bytes())? {
            Some(out) => Ok((PyBytes::new(py, &out.bytes), Some(out.runs().collect()))),
            None => Ok((text.clone(), None)),
        }
    }

    /// The normalized text, and the original span of each range of its bytes.
    fn spans<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyBytes>,
        ranges: Vec<(usize, usize)>,
    ) -> PyResult<SpansTuple<'py>> {
        match self.run(py, text.as_bytes())? {
            Some(out) => {
                let spans = ranges.iter().map(|&(start, end)| out.original_span(start, end));
                Ok((PyBytes::new(py, &out.bytes), spans.collect()))
            }
            None => {
                let n_bytes = text.as_bytes().len();
                let cut = |(start, end): (usize, usize)| (start.min(n_bytes), end.min(n_bytes));
                Ok((text.clone(), ranges.into_iter().map(cut).collect()))
            }
        }
    }
}

impl Normalizer {
    fn run(&self, py: Python<'_>, text: &[u8]) -> PyResult<Option<Normalized>> {
        run_sized(py, text.len(), |control| {
            let mut out = Normalized::default();
            let changed = self.kernel.normalize(text, &mut out, control)?;
            Ok(changed.then_some(out))
        })
    }
}

/// Compiled pre-tokenizer steps.
#[pyclass(frozen, module = "subword._core")]
pub struct Steps {
    pub kernel: steps::Steps,
}

#[pymethods]
impl Steps {
    #[new]
    fn new(py: Python<'_>, steps: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let steps: Vec<steps::Step> = steps.iter().map(pretoken_step).collect::<PyResult<_>>()?;
        let kernel = steps::Steps::compile(&steps);
        kernel.map(|kernel| Self { kernel }).map_err(|error| to_py_err(py, &error))
    }

    /// Each piece, and the start and end of the bytes of `text` it came from.
    #[pyo3(signature = (text, *, at_start=true))]
    fn split<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyBytes>,
        at_start: bool,
    ) -> PyResult<Vec<PieceTuple<'py>>> {
        let bytes = text.as_bytes();
        let out = run_sized(py, bytes.len(), |control| {
            let mut out = Pieces::default();
            self.kernel.split(bytes, at_start, &mut out, control).map(|()| out)
        })?;
        let source = if out.changed { out.text.bytes.as_slice() } else { bytes };
        let pieces = out.spans.iter().map(|&(start, end)| {
            let piece = PyBytes::new(py, source.get(start..end).unwrap_or_default());
            let span = out.original_span(start, end);
            (piece, span.0, span.1)
        });
        Ok(pieces.collect())
    }
}

/// Each script's name, and its code point ranges `(first, last, index of the name)`; kana count
/// as Han.
#[pyfunction]
pub fn script_ranges(py: Python<'_>) -> PyResult<ScriptsTuple> {
    let scripts = Scripts::new().map_err(|error| to_py_err(py, &error))?;
    Ok((SCRIPT_NAMES.to_vec(), scripts.ranges().to_vec()))
}

/// A field of a dataclass, as the type the kernel takes.
fn field<'py, T: FromPyObjectOwned<'py>>(step: &Bound<'py, PyAny>, name: &str) -> PyResult<T> {
    step.getattr(name)?.extract::<T>().map_err(Into::into)
}

fn normalizer_step(step: &Bound<'_, PyAny>) -> PyResult<Step> {
    let name = step.get_type().name()?;
    Ok(match name.to_cow()?.as_ref() {
        "Nfc" => Step::Form(Form::Nfc, kept(step)?),
        "Nfd" => Step::Form(Form::Nfd, kept(step)?),
        "Nfkc" => Step::Form(Form::Nfkc, kept(step)?),
        "Nfkd" => Step::Form(Form::Nfkd, kept(step)?),
        "Lowercase" => Step::Lowercase,
        "StripAccents" => Step::StripAccents,
        "Strip" => Step::Strip(field(step, "left")?, field(step, "right")?),
        "Replace" => Step::Replace {
            pattern: field(step, "pattern")?,
            content: field(step, "content")?,
            regex: field(step, "regex")?,
        },
        "Prepend" => Step::Prepend(field(step, "text")?),
        "Bert" => {
            let lowercase = field(step, "lowercase")?;
            Step::Bert {
                clean_text: field(step, "clean_text")?,
                handle_chinese_chars: field(step, "handle_chinese_chars")?,
                strip_accents: field::<Option<bool>>(step, "strip_accents")?.unwrap_or(lowercase),
                lowercase,
            }
        }
        "Charsmap" => Step::Charsmap {
            data: step.getattr("data")?.cast::<PyBytes>()?.as_bytes().to_vec(),
            per_grapheme: field(step, "per_grapheme")?,
            keep: field(step, "keep")?,
        },
        "SentencePieceSpaces" => Step::Spaces(Spaces {
            add_dummy_prefix: field(step, "add_dummy_prefix")?,
            remove_extra_whitespaces: field(step, "remove_extra_whitespaces")?,
            escape_whitespaces: field(step, "escape_whitespaces")?,
            treat_whitespace_as_suffix: field(step, "treat_whitespace_as_suffix")?,
        }),
        other => return Err(unknown("a normalizer of subword.normalizers", other)),
    })
}

fn kept(step: &Bound<'_, PyAny>) -> PyResult<Vec<char>> {
    Ok(field::<PyBackedStr>(step, "keep")?.chars().collect())
}

fn pretoken_step(step: &Bound<'_, PyAny>) -> PyResult<steps::Step> {
    let name = step.get_type().name()?;
    Ok(match name.to_cow()?.as_ref() {
        "Split" => steps::Step::Split {
            pattern: field(step, "pattern")?,
            regex: field(step, "regex")?,
            behavior: behavior(step)?,
            invert: field(step, "invert")?,
        },
        "Whitespace" => steps::Step::Whitespace,
        "WhitespaceSplit" => steps::Step::WhitespaceSplit,
        "Bert" => steps::Step::Bert,
        "Punctuation" => steps::Step::Punctuation(behavior(step)?),
        "Digits" => steps::Step::Digits { individual: field(step, "individual")? },
        "Metaspace" => steps::Step::Metaspace {
            replacement: field(step, "replacement")?,
            prepend_scheme: match field::<PyBackedStr>(step, "prepend_scheme")?.as_ref() {
                "always" => PrependScheme::Always,
                "first" => PrependScheme::First,
                _ => PrependScheme::Never,
            },
            split: field(step, "split")?,
        },
        "UnicodeScripts" => steps::Step::UnicodeScripts,
        "CharDelimiter" => steps::Step::CharDelimiter(field(step, "char")?),
        "ByteLevel" => steps::Step::ByteLevel {
            add_prefix_space: field(step, "add_prefix_space")?,
            use_regex: field(step, "use_regex")?,
            printable: field(step, "printable")?,
        },
        other => return Err(unknown("a pre-tokenizer of subword.pretokens", other)),
    })
}

/// The dataclass has refused every other name.
fn behavior(step: &Bound<'_, PyAny>) -> PyResult<Behavior> {
    Ok(match field::<PyBackedStr>(step, "behavior")?.as_ref() {
        "isolated" => Behavior::Isolated,
        "removed" => Behavior::Removed,
        "merged_with_previous" => Behavior::MergedWithPrevious,
        "merged_with_next" => Behavior::MergedWithNext,
        _ => Behavior::Contiguous,
    })
}

fn unknown(expected: &str, got: &str) -> PyErr {
    PyTypeError::new_err(format!("expected {expected}, got a {got}"))
}
