//! Byte-pair encoding: learning merges and applying them.

pub mod encode;
mod long;
pub mod queue;
pub mod ranks;
pub mod train;
pub mod vocabulary;
