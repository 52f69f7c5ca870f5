//! Pre-token starts of the gpt2 pattern, from class masks.
//!
//! `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`: a start is the
//! start of a run of letters, numbers or others that no blank precedes; the start of a run of
//! whitespace; and the last whitespace of a run that text follows. Contractions are patched in
//! at the rare apostrophes that are a start.
//! Source of the pattern: openai/gpt-2, src/encoder.py. With `MARKS`, marks (`\p{M}`) are letters.

use super::algebra::{Algebra, Window, last_of_runs};
use super::classes::bit;
use super::masks::Masks;

/// The gpt2 pattern, or the one that keeps marks with their letters.
#[derive(Debug, Default)]
pub struct Gpt2<const MARKS: bool> {
    /// Starts of the next block that a contraction at the end of this one clears and sets.
    clear: u64,
    set: u64,
}

impl<const MARKS: bool> Algebra for Gpt2<MARKS> {
    const NEEDS: u16 = bit::LETTER | bit::NUMBER | bit::SPACE | if MARKS { bit::MARK } else { 0 };

    #[inline(always)]
    fn starts(&mut self, text: &[u8], window: &Window) -> u64 {
        let (before, here) = (window.before, window.here);
        let (letter, letter_before) = (Self::letter(here), Self::letter(before));
        let other = !(letter | here.number | here.space);
        let other_before = !(letter_before | before.number | before.space) & before.valid;
        let first = |mask: u64, earlier: u64| mask & !(mask << 1 | earlier >> 63);
        let runs = first(letter, letter_before)
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

impl<const MARKS: bool> Gpt2<MARKS> {
    #[inline(always)]
    fn letter(masks: &Masks) -> u64 {
        if MARKS { masks.letter | masks.mark } else { masks.letter }
    }

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
                let letter_follows = window.has(at + n_bytes, Self::letter);
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
