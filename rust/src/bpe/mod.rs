//! Byte-pair encoding: learning merges and applying them.

pub mod encode;
pub mod queue;
pub mod ranks;
pub mod train;
pub mod vocabulary;
