//! The hot loops of `subword`: splitting, counting, training, encoding.
//!
//! Kernels take slices and return `Result`; only `py/` names pyo3.

pub mod batch;
pub mod bpe;
pub mod code_points;
pub mod corpus;
pub mod counts;
pub mod dictionary;
pub mod error;
pub mod json_scanner;
pub mod json_tables;
pub mod key;
pub mod marks;
pub mod memo;
mod memory;
pub mod model;
pub mod neighbours;
pub mod normalize;
pub mod parallel;
pub mod pipeline;
mod py;
pub mod rank_lines;
pub mod runs;
pub mod segmentations;
pub mod spans;
pub mod special;
pub mod split;
pub mod stream;
pub mod tokenizer;
pub mod unigram;
pub mod wordpiece;
pub mod words;
pub mod worker;
