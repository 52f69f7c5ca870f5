//! Pre-token starts of the gpt2 pattern, from class masks.
//!
//! `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`: a start is the
//! start of a run of letters, numbers or others that no blank precedes; the start of a run of
//! whitespace; and the last whitespace of a run that text follows. Contractions are patched in
//! at the rare apostrophes that are a start.
//! Source of the pattern: openai/gpt-2, src/encoder.py.

use super::algebra::{Algebra, Window, last_of_runs};
use super::classes::bit;

/// The gpt2 pattern.
#[derive(Debug, Default)]
pub struct Gpt2 {
    /// Starts of the next block that a contraction at the end of this one clears and sets.
    clear: u64,
    set: u64,
}

impl Algebra for Gpt2 {
    const NEEDS: u16 = bit::LETTER | bit::NUMBER | bit::SPACE;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], window: &Window) -> u64 {
        let (before, here) = (window.before, window.here);
        let other = !(here.letter | here.number | here.space);
        let other_before = !(before.letter | before.number | before.space) & before.valid;
        let first = |mask: u64, earlier: u64| mask & !(mask << 1 | earlier >> 63);
        let runs = first(here.letter, before.letter)
            | first(here.number, before.number)
            | first(other, other_before);
        let after_blank = here.blank << 1 | before.blank >> 63;
        let spaces = first(here.space, before.space) | last_of_runs(window, |masks| masks.space);
        let starts = (runs & !after_blank | spaces) & !self.clear | self.set;
        (self.clear, self.set) = (0, 0);
        let apostrophes = here.apostrophe & starts;
        if apostrophes != 0 { self.patch(text, window, starts, apostrophes) } else { starts }
    }
}

impl Gpt2 {
    /// Cut the contractions that begin at `apostrophes`.
    #[inline(never)]
    fn patch(
        &mut self,
        text: &[u8],
        window: &Window<'_>,
        mut starts: u64,
        mut apostrophes: u64,
    ) -> u64 {
        while apostrophes != 0 {
            let at = apostrophes.trailing_zeros() as usize;
            apostrophes &= apostrophes - 1;
            let n_bytes = contraction(text.get(window.start + at + 1..).unwrap_or_default());
            if n_bytes > 0 {
                let clear = 1u128 << (at + 1);
                let letter_follows = window.letter(at + n_bytes);
                let set = u128::from(letter_follows) << (at + n_bytes);
                starts = starts & !(clear as u64) | set as u64;
                self.clear |= (clear >> 64) as u64;
                self.set |= (set >> 64) as u64;
            }
        }
        starts
    }
}

/// Bytes of the contraction whose apostrophe stands before `rest`, or 0.
#[inline]
fn contraction(rest: &[u8]) -> usize {
    match rest {
        [b's' | b'd' | b'm' | b't', ..] => 2,
        [b'l', b'l', ..] | [b'v' | b'r', b'e', ..] => 3,
        _ => 0,
    }
}
