//! WordPiece, and character-level BPE, which is learned by the same engine.

pub mod alphabet;
pub mod encode;
mod heap;
mod pairs;
mod ranking;
mod spelling;
mod symbols;
#[cfg(test)]
mod tests;
pub mod train;
mod trie;
mod words;
