//! Pre-token starts of the cl100k family, from class masks.
//!
//! `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|
//! \s*[\r\n]+|\s+(?!\S)|\s+`, in three variants. A run of letters takes the character before it
//! along, if that is whitespace but no newline, or the only one of a run of others which no blank
//! precedes. A run of others takes the newlines after it. Of other whitespace, everything up to
//! the last newline is one pre-token; of the rest, the last character starts one when text
//! follows. Sources: tiktoken 0.14.0 (cl100k_base), meta-llama/llama-models (Llama 3),
//! Qwen2's tokenizer.json.

use super::algebra::{Algebra, Window, last_of_runs};
use super::classes::{ClassTable, bit, decode_utf8};
use super::masks::{BLOCK, Masks};

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
    /// Digits of the run that reaches over the border, less whole pre-tokens.
    n_digits: u32,
    /// Starts of the next block that a contraction at the end of this one sets.
    set: u64,
}

impl<const DIGITS: u32, const ENDS_WHOLE: bool> Algebra for Family<DIGITS, ENDS_WHOLE> {
    const NEEDS: u16 = bit::LETTER | bit::NUMBER | bit::SPACE;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], window: &Window) -> u64 {
        let (before, here) = (&window.before, &window.here);
        let others = |masks: &Masks| !(masks.letter | masks.number | masks.space) & masks.valid;
        let (other, other_before) = (others(here), others(before));
        let after = |mask: u64, earlier: u64| mask << 1 | earlier >> 63;
        let first = |mask: u64, earlier: u64| mask & !after(mask, earlier);

        let other_starts = first(other, other_before) & !after(here.blank, before.blank);
        let mut first_other = other_starts | u64::from(self.first_other) & !here.lead & other;
        for _ in 0..3 {
            first_other |= first_other << 1 & !here.lead & other;
        }
        let after_first_other = first_other << 1 | u64::from(self.first_other);
        let plain_space = here.space & !here.newline;
        let after_plain_space = after(plain_space, before.space & !before.newline);
        let letter_starts =
            first(here.letter, before.letter) & !after_first_other & !after_plain_space;

        // Newlines that a run of others takes: a carry ripples through them from the run's end.
        let seeds = here.newline & (other << 1 | u64::from(self.takes_newlines));
        let taken = here.newline & !here.newline.wrapping_add(seeds);
        let left = here.space & !taken;
        let space_before = if self.takes_newlines { 0 } else { before.space };
        let mut starts = other_starts | letter_starts | first(left, space_before);
        starts |= last_of_runs(window, |masks| masks.space) & !here.newline;

        self.first_other = first_other >> 63 == 1;
        self.takes_newlines = (other | taken) >> 63 == 1;
        starts |= std::mem::take(&mut self.set);
        let after_newline = plain_space & here.lead & after(here.newline, before.newline) & !starts;
        if after_newline != 0 {
            starts |= self.after_last_newlines(text, window, after_newline);
        }
        if here.number != 0 {
            starts |= self.digits(here);
        } else {
            self.n_digits = 0;
        }
        let apostrophes = here.apostrophe & other_starts;
        if apostrophes != 0 { self.contractions(text, window, apostrophes, starts) } else { starts }
    }
}

impl<const DIGITS: u32, const ENDS_WHOLE: bool> Family<DIGITS, ENDS_WHOLE> {
    /// Those of `candidates`, whitespace right after a newline, behind which the run has no more.
    #[inline(never)]
    fn after_last_newlines(&self, text: &[u8], window: &Window, mut candidates: u64) -> u64 {
        let table = ClassTable::shared();
        let mut starts = 0;
        while candidates != 0 {
            let at = candidates.trailing_zeros();
            candidates &= candidates - 1;
            let mut rest = text.get(window.start + at as usize..).unwrap_or_default();
            let is_last = loop {
                match decode_utf8(rest) {
                    Some((0x0A | 0x0D, _)) => break false,
                    Some((code_point, n)) if table.of(code_point) & bit::SPACE != 0 => {
                        rest = rest.get(n..).unwrap_or_default();
                    }
                    Some(_) => break true,
                    None => break !(rest.is_empty() && ENDS_WHOLE),
                }
            };
            starts |= u64::from(is_last) << at;
        }
        starts
    }

    /// The first digit of every `DIGITS` of a run.
    #[inline(never)]
    fn digits(&mut self, here: &Masks) -> u64 {
        let mut starts = 0;
        let mut leads = here.number & here.lead;
        if here.number & 1 == 0 {
            self.n_digits = 0;
        }
        while leads != 0 {
            let at = leads.trailing_zeros();
            leads &= leads - 1;
            if at > 0 && here.number >> (at - 1) & 1 == 0 {
                self.n_digits = 0;
            }
            starts |= u64::from(self.n_digits == 0) << at;
            self.n_digits = (self.n_digits + 1) % DIGITS;
        }
        if here.number >> 63 == 0 {
            self.n_digits = 0;
        }
        starts
    }

    /// Start a pre-token behind the contractions that begin at `apostrophes`.
    #[inline(never)]
    fn contractions(
        &mut self,
        text: &[u8],
        window: &Window,
        mut apostrophes: u64,
        mut starts: u64,
    ) -> u64 {
        while apostrophes != 0 {
            let at = apostrophes.trailing_zeros() as usize;
            apostrophes &= apostrophes - 1;
            let n_bytes = contraction(text.get(window.start + at + 1..).unwrap_or_default());
            if n_bytes > 0 && window.letter(at + n_bytes) {
                let set = 1u128 << (at + n_bytes);
                starts |= set as u64;
                self.set |= (set >> BLOCK) as u64;
            }
        }
        starts
    }
}

/// Bytes of the contraction whose apostrophe stands before `rest`, or 0. Letters of either case;
/// `ſ` (U+017F) is an `s`.
#[inline]
fn contraction(rest: &[u8]) -> usize {
    match rest {
        [0xC5, 0xBF, ..] => 3,
        [one, ..] if matches!(one | 0x20, b's' | b'd' | b'm' | b't') => 2,
        [one, two, ..] => match [one | 0x20, two | 0x20] {
            [b'l', b'l'] | [b'v' | b'r', b'e'] => 3,
            _ => 0,
        },
        _ => 0,
    }
}
