//! What the patterns have in common: runs of classes, whitespace, groups of digits, contractions.

use super::algebra::{Window, last_of_runs};
use super::classes::{ClassTable, bit, decode_utf8};
use super::masks::Masks;

/// The bytes after those of `mask`; `earlier` is the mask of the block before.
#[inline(always)]
#[must_use]
pub fn after(mask: u64, earlier: u64) -> u64 {
    mask << 1 | earlier >> 63
}

/// The first byte of each run.
#[inline(always)]
#[must_use]
pub fn first(mask: u64, earlier: u64) -> u64 {
    mask & !after(mask, earlier)
}

/// The bytes of runs of `through` from each seed on: a carry ripples through them. Of seeds in
/// one run only the first may be given, or seeds that no byte of the run parts.
#[inline(always)]
#[must_use]
pub fn flood(seeds: u64, through: u64) -> u64 {
    through & !through.wrapping_add(seeds & through)
}

/// The whole characters of which `firsts` has the first byte, or that reach in from the block
/// before as `reaches_in` says; all of them within `class`.
#[inline(always)]
#[must_use]
pub fn whole_characters(firsts: u64, reaches_in: bool, class: u64, lead: u64) -> u64 {
    let inside = class & !lead;
    let mut whole = firsts | u64::from(reaches_in) & inside;
    if inside != 0 {
        for _ in 0..3 {
            whole |= whole << 1 & inside;
        }
    }
    whole
}

/// Starts of `\s*[\r\n]+|\s+(?!\S)|\s+`, for whitespace that no other alternative takes.
///
/// Everything up to the last newline of a run is one pre-token; of the rest, the last character
/// starts one when text follows. `taken` newlines belong to what is before them, as those at the
/// end of the block before do if `took`. `wall` is what a piece of text ends at: whitespace
/// before it is whole. `ENDS_WHOLE` is for `\s+$` in front of the newlines.
#[inline(always)]
pub fn whitespace<const ENDS_WHOLE: bool>(
    text: &[u8],
    window: &Window<'_>,
    (taken, took): (u64, bool),
    wall: impl Fn(&Masks) -> u64,
) -> u64 {
    let (before, here) = (window.before, window.here);
    let plain = here.space & !here.newline;
    let left = here.space & !taken;
    let mut starts = first(left, if took { 0 } else { before.space });
    starts |= last_of_runs(window, |masks| masks.space | wall(masks)) & plain;
    let after_newline = plain & here.lead & after(here.newline, before.newline) & !starts;
    if after_newline != 0 {
        starts |= after_last_newlines::<ENDS_WHOLE>(text, window.start, after_newline);
    }
    starts
}

/// Those of `candidates`, whitespace right after a newline, behind which the run has no more.
#[inline(never)]
fn after_last_newlines<const ENDS_WHOLE: bool>(
    text: &[u8],
    start: usize,
    mut candidates: u64,
) -> u64 {
    let table = ClassTable::shared();
    let mut starts = 0;
    while candidates != 0 {
        let at = candidates.trailing_zeros();
        candidates &= candidates - 1;
        let mut rest = text.get(start + at as usize..).unwrap_or_default();
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

/// Starts of `\p{N}{1,MOST}`.
#[derive(Debug, Default)]
pub struct Digits<const MOST: u32> {
    /// Digits of the run that reaches over the border, less whole pre-tokens.
    n_digits: u32,
}

impl<const MOST: u32> Digits<MOST> {
    /// The first digit of every `MOST` of a run.
    #[inline(always)]
    pub fn starts(&mut self, here: &Masks) -> u64 {
        if here.number == 0 {
            self.n_digits = 0;
            0
        } else {
            self.groups(here)
        }
    }

    #[inline(never)]
    fn groups(&mut self, here: &Masks) -> u64 {
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
            self.n_digits = (self.n_digits + 1) % MOST;
        }
        if here.number >> 63 == 0 {
            self.n_digits = 0;
        }
        starts
    }
}

/// Bytes of `(?i:'s|'t|'re|'ve|'m|'ll|'d)` whose apostrophe stands before `rest`, or 0. `ſ`
/// (U+017F) is an `s`.
#[inline]
#[must_use]
pub fn contraction(rest: &[u8]) -> usize {
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
