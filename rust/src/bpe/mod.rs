//! Byte-pair encoding: learning merges and applying them.

pub mod characters;
pub mod cuts;
pub mod edges;
pub mod encode;
mod long;
mod pieces;
pub mod queue;
pub mod ranks;
mod short;
pub mod spelt;
pub mod start;
pub mod train;
pub mod vocabulary;

pub use long::check_dropout;
