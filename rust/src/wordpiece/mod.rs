//! WordPiece, and character-level BPE, which is learned by the same engine.

pub mod encode;
mod trie;
