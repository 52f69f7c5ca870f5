//! Text to pre-tokens.

pub mod classes;
