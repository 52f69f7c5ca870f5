//! The tables of a `tokenizer.json`, and of a tiktoken file.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::json_tables::tables;
use crate::rank_lines::rank_lines as read_lines;

/// The file without its tables, tokens, ids, pairs of ids that merge, the bytes of tokens written in
/// GPT-2's printable characters (None for others), and contents, ids and flags of added tokens.
type PyTables<'py> = (
    Bound<'py, PyBytes>,
    Vec<String>,
    Vec<u32>,
    Option<Vec<(u32, u32)>>,
    Vec<Option<Bound<'py, PyBytes>>>,
    Option<(Vec<String>, Vec<u32>, Bound<'py, PyBytes>)>,
);

/// The tables of a file, or None for one that a JSON parser has to see.
#[pyfunction]
pub fn json_tables<'py>(py: Python<'py>, data: &[u8]) -> Option<PyTables<'py>> {
    let text = std::str::from_utf8(data).ok()?;
    let found = py.detach(|| tables(text))?;
    let mut spelt = Vec::new();
    if found.merges.is_some() {
        let mut bytes = Vec::new();
        for token in &found.tokens {
            bytes.clear();
            let is_spelt = token.chars().all(|character| match byte_of(character) {
                Some(byte) => {
                    bytes.push(byte);
                    true
                }
                None => false,
            });
            spelt.push(is_spelt.then(|| PyBytes::new(py, &bytes)));
        }
    }
    let tokens = found.tokens.into_iter().map(std::borrow::Cow::into_owned).collect();
    let added = found.added.map(|added| {
        let flags: Vec<u8> = added.iter().map(|token| token.flags).collect();
        let ids = added.iter().map(|token| token.id).collect();
        let contents = added.into_iter().map(|token| token.content.into_owned()).collect();
        (contents, ids, PyBytes::new(py, &flags))
    });
    Some((PyBytes::new(py, &found.rest), tokens, found.ids, found.merges, spelt, added))
}

/// The tokens and ranks of a tiktoken file, or None for one in which a line is out of the ordinary.
#[pyfunction]
pub fn rank_lines<'py>(
    py: Python<'py>,
    data: &[u8],
) -> Option<(Vec<Bound<'py, PyBytes>>, Vec<u32>)> {
    let found = py.detach(|| read_lines(data))?;
    let mut start = 0;
    let tokens = found.ends.iter().map(|&end| {
        let token = found.bytes.get(start..end).unwrap_or_default();
        start = end;
        PyBytes::new(py, token)
    });
    Some((tokens.collect(), found.ranks))
}

/// The byte that a printable character stands for; the reverse of `printable_character`.
fn byte_of(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => u8::try_from(code).ok(),
        code @ 0x100..=0x120 => u8::try_from(code - 0x100).ok(),
        code @ 0x121..=0x142 => u8::try_from(code - 0x121 + 0x7F).ok(),
        0x143 => Some(0xAD),
        _ => None,
    }
}
