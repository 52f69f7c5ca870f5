//! Spans of bytes in a text as spans of its characters.

use crate::error::Result;
use crate::parallel::Control;
use crate::split::classes::decode_utf8;

/// Rows between two looks at the stop flag.
const ROWS_A_CHECK: usize = 1 << 13;

/// Add the characters that each byte span touches; a byte of no valid UTF-8 is a character.
///
/// Gives ids, and four columns: first and last byte, first and last character.
///
/// # Errors
///
/// `Memory`, `Interrupted`.
pub fn with_characters(
    text: &[u8],
    spans: Vec<(u32, usize, usize)>,
    control: &Control,
) -> Result<(Vec<u32>, [Vec<u64>; 4])> {
    let (mut ids, mut columns) = (Vec::new(), [const { Vec::new() }; 4]);
    ids.try_reserve_exact(spans.len())?;
    for column in &mut columns {
        column.try_reserve_exact(spans.len())?;
    }
    // Starts and ends grow each on their own: tokens of one character have one span.
    let (mut starts, mut ends) = (TextCursor::new(text), TextCursor::new(text));
    for (n_done, (id, start, end)) in spans.into_iter().enumerate() {
        if n_done.is_multiple_of(ROWS_A_CHECK) {
            control.check()?;
        }
        let (first, _) = starts.at(start);
        let (_, last) = ends.at(end);
        ids.push(id);
        for (column, value) in columns.iter_mut().zip([start, end, first, last]) {
            column.push(value as u64);
        }
    }
    Ok((ids, columns))
}

/// Counts characters up to a byte, which is seldom before the last one asked for.
struct TextCursor<'a> {
    text: &'a [u8],
    at: usize,
    /// The number of the character that starts at `at`.
    n_characters: usize,
}

impl<'a> TextCursor<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, n_characters: 0 }
    }

    /// The character that byte `to` is in, and the one that starts there or next.
    fn at(&mut self, to: usize) -> (usize, usize) {
        while self.at > to {
            let is_whole = |n: &usize| {
                let tail = self.at.checked_sub(*n).and_then(|at| self.text.get(at..self.at));
                tail.and_then(decode_utf8).is_some_and(|(_, m)| m == *n)
            };
            self.at -= (2..=4).rev().find(is_whole).unwrap_or(1);
            self.n_characters -= 1;
        }
        while self.at < to {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let n_bytes = decode_utf8(rest).map_or(1, |(_, n)| n);
            if self.at + n_bytes > to {
                return (self.n_characters, self.n_characters + 1);
            }
            self.at += n_bytes;
            self.n_characters += 1;
        }
        (self.n_characters, self.n_characters)
    }
}
