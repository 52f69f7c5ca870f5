//! The hot loops of `subword`: splitting, counting, training, encoding.
//!
//! Kernels take slices and return `Result`; only `py/` names pyo3.

pub mod error;
pub mod normalize;
pub mod parallel;
mod py;
pub mod split;
