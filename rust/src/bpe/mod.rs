//! Byte-pair encoding: learning merges and applying them.

pub mod encode;
pub mod queue;
pub mod train;
pub mod vocabulary;
