//! Text to pre-tokens.

pub mod classes;
pub mod scripts;
pub mod steps;
