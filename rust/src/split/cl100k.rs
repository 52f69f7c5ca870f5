//! Pre-token starts of the cl100k family, from class masks.
//!
//! `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|
//! \s*[\r\n]+|\s+(?!\S)|\s+`, in three variants. A run of letters takes the character before it
//! along, if that is whitespace but no newline, or the only one of a run of others which no blank
//! precedes. A run of others takes the newlines after it. Sources: tiktoken 0.14.0 (cl100k_base),
//! meta-llama/llama-models (Llama 3), Qwen2's tokenizer.json.

use super::algebra::{Algebra, Window};
use super::classes::bit;
use super::masks::{BLOCK, Masks, NEWLINE};
use super::runs::{Digits, after, contraction, first, flood, whitespace, whole_characters};

/// cl100k: three digits a pre-token, and `\s+$` before the newlines.
pub type Cl100k = Family<3, true>;
/// Llama 3: three digits a pre-token.
pub type Llama3 = Family<3, false>;
/// Qwen2: one digit a pre-token.
pub type Qwen2 = Family<1, false>;

/// The family: most digits of a pre-token, and whether whitespace at the end of the text is whole.
#[derive(Debug, Default)]
pub struct Family<const DIGITS: u32, const ENDS_WHOLE: bool> {
    /// The last byte of the block before: of a first other, of others or newlines they took.
    first_other: bool,
    takes_newlines: bool,
    digits: Digits<DIGITS>,
    /// Starts of the next block that a contraction at the end of this one sets.
    set: u64,
}

impl<const DIGITS: u32, const ENDS_WHOLE: bool> Algebra for Family<DIGITS, ENDS_WHOLE> {
    const NEEDS: u16 = bit::LETTER | bit::NUMBER | bit::SPACE | NEWLINE;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], window: &Window) -> u64 {
        let (before, here) = (window.before, window.here);
        let others = |masks: &Masks| !(masks.letter | masks.number | masks.space) & masks.valid;
        let (other, other_before) = (others(here), others(before));
        let other_starts = first(other, other_before) & !after(here.blank, before.blank);
        let first_other = whole_characters(other_starts, self.first_other, other, here.lead);
        let after_first_other = first_other << 1 | u64::from(self.first_other);
        let after_plain_space = after(here.space & !here.newline, before.space & !before.newline);
        let letter_starts =
            first(here.letter, before.letter) & !after_first_other & !after_plain_space;
        let seeds = here.newline & (other << 1 | u64::from(self.takes_newlines));
        let taken = flood(seeds, here.newline);
        let spaces = whitespace::<ENDS_WHOLE>(text, window, (taken, self.takes_newlines), |_| 0);
        let starts = other_starts
            | letter_starts
            | spaces
            | self.digits.starts(here)
            | std::mem::take(&mut self.set);
        self.first_other = first_other >> 63 == 1;
        self.takes_newlines = (other | taken) >> 63 == 1;
        let apostrophes = here.apostrophe & other_starts;
        if apostrophes != 0 { self.contractions(text, window, apostrophes, starts) } else { starts }
    }
}

impl<const DIGITS: u32, const ENDS_WHOLE: bool> Family<DIGITS, ENDS_WHOLE> {
    /// Start a pre-token behind the contractions that begin at `apostrophes`.
    #[inline(never)]
    fn contractions(
        &mut self,
        text: &[u8],
        window: &Window<'_>,
        mut apostrophes: u64,
        mut starts: u64,
    ) -> u64 {
        while apostrophes != 0 {
            let at = apostrophes.trailing_zeros() as usize;
            apostrophes &= apostrophes - 1;
            let n_bytes = contraction(text.get(window.start + at + 1..).unwrap_or_default());
            if n_bytes > 0 && window.has(at + n_bytes, |masks| masks.letter) {
                let set = 1u128 << (at + n_bytes);
                starts |= set as u64;
                self.set |= (set >> BLOCK) as u64;
            }
        }
        starts
    }
}
