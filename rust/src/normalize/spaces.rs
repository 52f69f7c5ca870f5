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
    let n_heading = if spaces.remove_extra_whitespaces {
        source.iter().take_while(|&&byte| byte == b' ').count()
    } else {
        0
    };
    // A text that a charsmap emptied is not one of spaces alone: it does get the added space.
    let vanished = rewriter.before().is_some_and(|text| text.n_covered() < text.original_end());
    if n_heading == source.len() && !vanished {
        return Ok(());
    }
    if spaces.add_dummy_prefix && !spaces.treat_whitespace_as_suffix {
        rewriter.write(mark, n_heading..n_heading)?;
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
