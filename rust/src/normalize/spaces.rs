//! What SentencePiece does with spaces after the charsmap.
//!
//! Source: sentencepiece 0.2.3, `normalizer.cc`, `Normalizer::Normalize`.

use super::alignment::Rewriter;
use crate::error::Result;

const ESCAPED: &[u8] = "\u{2581}".as_bytes();

/// The four switches of a SentencePiece model.
#[derive(Debug, Clone, Copy)]
pub struct Spaces {
    /// Add one space before (or after) a text that is not only spaces.
    pub add_dummy_prefix: bool,
    /// Drop spaces at both ends and all but the first of a run.
    pub remove_extra_whitespaces: bool,
    /// Write U+2581 for a space.
    pub escape_whitespaces: bool,
    /// Add the space after the text instead.
    pub treat_whitespace_as_suffix: bool,
}

/// Apply the switches.
pub fn apply(spaces: Spaces, rewriter: &mut Rewriter<'_>) -> Result<()> {
    let source = rewriter.source();
    let mark: &[u8] = if spaces.escape_whitespaces { ESCAPED } else { b" " };
    let (n_heading, consumed) = heading(spaces, rewriter);
    if n_heading == source.len() && consumed == rewriter.written().original_end() {
        return Ok(());
    }
    if spaces.add_dummy_prefix && !spaces.treat_whitespace_as_suffix {
        rewriter.write_at(mark, consumed)?;
    }
    copy_middle(spaces, mark, n_heading, rewriter)?;
    if spaces.remove_extra_whitespaces {
        let written = rewriter.written();
        let mut length = written.bytes.len();
        while let Some(rest) = written.bytes.get(..length).and_then(|b| b.strip_suffix(mark)) {
            length = rest.len();
        }
        if length < written.bytes.len() {
            written.truncate(length);
        }
    }
    if spaces.add_dummy_prefix && spaces.treat_whitespace_as_suffix {
        let end = rewriter.written().original_end();
        rewriter.write_at(mark, end)?;
    }
    Ok(())
}

/// How many spaces start the text, and the original bytes that they and nothing else came from.
///
/// A space that came with other characters from one original character, or after an original
/// character that vanished, is not one of them: it goes later, after the added space.
fn heading(spaces: Spaces, rewriter: &mut Rewriter<'_>) -> (usize, usize) {
    let (mut n_spaces, mut consumed) = (0, 0);
    if !spaces.remove_extra_whitespaces {
        return (n_spaces, consumed);
    }
    let source = rewriter.source();
    while source.get(n_spaces) == Some(&b' ') {
        let (start, end) = rewriter.origin_of(n_spaces..n_spaces + 1);
        let shared =
            n_spaces + 1 < source.len() && rewriter.origin_of(n_spaces + 1..n_spaces + 2).0 < end;
        if start != consumed || shared {
            break;
        }
        consumed = end;
        n_spaces += 1;
    }
    (n_spaces, consumed)
}

fn copy_middle(
    spaces: Spaces,
    mark: &[u8],
    start: usize,
    rewriter: &mut Rewriter<'_>,
) -> Result<()> {
    let source = rewriter.source();
    let mut done = start;
    let mut after_space = spaces.remove_extra_whitespaces;
    let mut next = start;
    let rest = source.get(start..).unwrap_or_default();
    for position in memchr::memchr_iter(b' ', rest).map(|at| start + at) {
        after_space &= spaces.remove_extra_whitespaces && position == next;
        rewriter.copy(done..position)?;
        if !after_space {
            rewriter.write(mark, position..position + 1)?;
        }
        done = position + 1;
        next = done;
        after_space = spaces.remove_extra_whitespaces;
    }
    rewriter.copy(done..source.len())
}
