//! The border: conversion, GIL, signals, errors. No algorithm lives here.

mod border;
mod bpe;
mod characters;
mod corpus;
mod counts;
mod json_tables;
mod normalize;
mod parts;
mod runs;
mod split;
mod text;
mod tokenize;
mod tokenizer;
mod unigram;
mod wordpiece;

use pyo3::prelude::*;

/// The compiled half of `subword`.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::bpe::{PyBpe, continue_merges, learn_merges};
    #[pymodule_export]
    use super::characters::{CharacterBpe, Characters, Words};
    #[pymodule_export]
    use super::corpus::{ByteReader, DocumentReader, check_column};
    #[pymodule_export]
    use super::counts::{PretokenCounter, PretokenTable};
    #[pymodule_export]
    use super::json_tables::JsonTables;
    #[pymodule_export]
    use super::normalize::{Normalizer, Steps, script_ranges};
    #[pymodule_export]
    use super::runs::{RunFile, RunMerge, merge_runs, thread_count};
    #[pymodule_export]
    use super::split::{class_ranges, split};
    #[pymodule_export]
    use super::tokenize::{FileEncoder, encode_column};
    #[pymodule_export]
    use super::tokenizer::{TextStream, Tokenizer};
    #[pymodule_export]
    use super::unigram::{Unigram, learn_pieces};
    #[pymodule_export]
    use super::wordpiece::{PyWordPiece, learn_wordpiece};
    use numpy::PyArray1;
    use pyo3::prelude::*;

    // The first array looks up numpy's C interface, which runs Python code, and the lookup panics
    // if a Ctrl-C arrives meanwhile: it is done here, not at the end of someone's long call.
    #[pymodule_init]
    fn numpy_interface(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        py.import("numpy")?;
        py.check_signals()?;
        PyArray1::<u32>::zeros(py, 0, false);
        Ok(())
    }
}
