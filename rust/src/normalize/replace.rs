//! Normalizers that put one string in the place of others.

use std::ops::Range;

use memchr::memmem;
use regex_automata::meta::Regex;

use super::alignment::Rewriter;
use crate::error::Result;

/// What `Replace` looks for.
#[derive(Debug, Clone)]
pub enum Target {
    /// This string.
    Literal(Vec<u8>),
    /// Two or more spaces in a row: ` {2,}`.
    Spaces,
    /// Every match of a regular expression; empty matches are ignored.
    Regex(Regex),
}

/// Put `content` in the place of every match, left to right.
///
/// Its bytes come from the last character of the match. Source: tokenizers 0.23.3.
pub fn replace(target: &Target, content: &[u8], rewriter: &mut Rewriter<'_>) -> Result<()> {
    let source = rewriter.source();
    let mut done = 0;
    let mut one = |range: Range<usize>| -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        rewriter.copy(done..range.start)?;
        rewriter.write(content, last_character(source, &range))?;
        done = range.end;
        Ok(())
    };
    match target {
        Target::Literal(literal) => {
            for start in memmem::find_iter(source, literal) {
                one(start..start + literal.len())?;
            }
        }
        Target::Spaces => {
            let mut at = 0;
            while let Some(found) = memmem::find(source.get(at..).unwrap_or_default(), b"  ") {
                let start = at + found;
                let run = source.get(start..).unwrap_or_default().iter();
                at = start + run.take_while(|&&byte| byte == b' ').count();
                one(start..at)?;
            }
        }
        Target::Regex(regex) => {
            for found in regex.find_iter(source) {
                one(found.range())?;
            }
        }
    }
    rewriter.copy(done..source.len())
}

/// Put `text` before a text that is not empty; it comes from the text's first character.
pub fn prepend(text: &[u8], rewriter: &mut Rewriter<'_>) -> Result<()> {
    let source = rewriter.source();
    if source.is_empty() {
        return Ok(());
    }
    let first = character_length(source);
    rewriter.write(text, 0..first)?;
    rewriter.copy(0..source.len())
}

/// Bytes of the first character; 1 for a byte that starts none, 0 for an empty text.
#[must_use]
pub fn character_length(text: &[u8]) -> usize {
    let lead = text.first().copied().unwrap_or_default();
    let length = match lead {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return text.len().min(1),
    };
    match text.get(..length) {
        Some(character) if std::str::from_utf8(character).is_ok() => length,
        _ => 1,
    }
}

fn last_character(source: &[u8], range: &Range<usize>) -> Range<usize> {
    let floor = range.start.max(range.end.saturating_sub(4));
    for start in floor..range.end {
        let length = source.get(start..range.end).map_or(0, character_length);
        if start + length == range.end {
            return start..range.end;
        }
    }
    range.clone()
}
