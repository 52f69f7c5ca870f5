//! The border: conversion, GIL, signals, errors. No algorithm lives here.

mod border;
mod normalize;
mod split;

use pyo3::prelude::*;

/// The compiled half of `subword`.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::normalize::{Normalizer, Steps, script_ranges};
    #[pymodule_export]
    use super::split::class_ranges;
}
