//! Bytes that are no UTF-8, for an engine that reads `&str`.

use crate::error::Result;

/// What an invalid byte counts as: a code point of no class.
const STAND_IN: char = '\u{10FFFF}';

/// A text with each invalid byte replaced, and the way back.
#[derive(Debug)]
pub struct StandIn {
    /// Valid UTF-8.
    pub text: String,
    /// Ends, in `text`, of the stand-ins.
    replaced: Vec<usize>,
}

impl StandIn {
    /// Replace the invalid bytes of `bytes`.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        let mut text = String::new();
        text.try_reserve(bytes.len())?;
        let mut replaced = Vec::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            for _ in chunk.invalid() {
                text.push(STAND_IN);
                replaced.push(text.len());
            }
        }
        Ok(Self { text, replaced })
    }

    /// Translates offsets that only grow.
    pub fn origins(&self) -> Origins<'_> {
        Origins { replaced: &self.replaced, n_before: 0 }
    }
}

/// Offsets in the stand-in text to offsets in the bytes.
#[derive(Debug)]
pub struct Origins<'a> {
    replaced: &'a [usize],
    n_before: usize,
}

impl Origins<'_> {
    /// The offset in the bytes; `offset` must not be below an earlier one.
    pub fn of(&mut self, offset: usize) -> usize {
        while self.replaced.get(self.n_before).is_some_and(|&end| end <= offset) {
            self.n_before += 1;
        }
        offset - self.n_before * (STAND_IN.len_utf8() - 1)
    }
}
