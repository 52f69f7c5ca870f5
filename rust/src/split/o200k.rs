//! Pre-token starts of the o200k pattern, from class masks.
//!
//! A word is a run of letters and marks. It takes along the character before it, if that is
//! whitespace but no newline, or a single other that no blank precedes, and a contraction behind
//! it. Inside, a capital starts a pre-token when a small letter stands before it, uncased
//! characters in between or not; and so do the capitals at the end of a word behind an uncased
//! character. Others run on over marks, and take newlines and slashes along. Digits and
//! whitespace are those of the cl100k family. Source: tiktoken 0.14.0, o200k_base.

use super::algebra::{Algebra, Window};
use super::classes::{ClassTable, bit, decode_utf8};
use super::masks::{BLOCK, NEWLINE, SLASH};
use super::runs::{Digits, after, contraction, first, flood, whitespace, whole_characters};

/// Where a run of others stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Run {
    /// In none.
    #[default]
    None,
    /// Behind its first character, which no blank precedes.
    First,
    /// Further on.
    Inside,
    /// In the newlines and slashes behind it.
    Tail,
}

/// What becomes of others, and what they take.
#[derive(Debug, Default, Clone, Copy)]
struct Others {
    /// Those that no tail takes, and the marks among them.
    run: u64,
    /// Characters that start a run which no blank precedes.
    starts: u64,
    /// Newlines and slashes behind a run.
    taken: u64,
}

/// The pattern; the fields speak of the block before.
#[derive(Debug, Default)]
pub struct O200k {
    run: Run,
    word: u64,
    /// The last letter that has case was a small one, and the word goes on.
    is_small: bool,
    /// Bytes of the next block that a contraction takes.
    glued: u64,
    digits: Digits<3>,
}

impl Algebra for O200k {
    const NEEDS: u16 = bit::LETTER
        | bit::UPPER
        | bit::LOWER
        | bit::MARK
        | bit::NUMBER
        | bit::SPACE
        | NEWLINE
        | SLASH;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], window: &Window) -> u64 {
        let here = window.here;
        let glued_before = std::mem::take(&mut self.glued);
        let other =
            !(here.letter | here.number | here.space | here.mark | glued_before) & here.valid;
        let in_run = self.run == Run::First || self.run == Run::Inside;
        let mut others = if here.mark & (other << 1 | u64::from(in_run)) == 0 {
            self.plain_others(window, other)
        } else {
            self.others_with_marks(window, other)
        };
        let mut word = (here.letter | here.mark) & !(others.run | glued_before);
        let mut glued = glued_before;
        let apostrophes = here.apostrophe & after(word, self.word) & others.starts;
        if apostrophes != 0 {
            glued |= self.contractions(text, window.start, apostrophes);
            word &= !glued;
            others.run &= !glued;
            others.starts &= !glued;
        }
        let first_other =
            whole_characters(others.starts, self.run == Run::First, others.run, here.lead);
        let after_first_other = first_other << 1 | u64::from(self.run == Run::First);
        let after_plain_space =
            after(here.space & !here.newline, window.before.space & !window.before.newline);
        let word_starts = first(word, self.word) & !after_first_other & !after_plain_space;
        let took = self.run != Run::None;
        let spaces = whitespace::<false>(text, window, (others.taken, took), |_| 0);
        let starts = others.starts
            | word_starts
            | spaces
            | self.capitals(text, window, word)
            | self.digits.starts(here);
        self.run = if others.taken >> 63 == 1 {
            Run::Tail
        } else if first_other >> 63 == 1 {
            Run::First
        } else if others.run >> 63 == 1 {
            Run::Inside
        } else {
            Run::None
        };
        self.word = word;
        starts
    }
}

impl O200k {
    /// Others, where none of them is followed by a mark.
    #[inline(always)]
    fn plain_others(&self, window: &Window<'_>, other: u64) -> Others {
        let here = window.here;
        let in_run = u64::from(self.run == Run::First || self.run == Run::Inside);
        let is_tail = u64::from(self.run == Run::Tail);
        let newlines = flood(here.newline & (other << 1 | in_run | is_tail), here.newline);
        let slashes = flood(here.slash & (newlines << 1 | is_tail), here.slash);
        // A newline behind slashes that a tail took is behind others all the same.
        let run = other & !slashes;
        let starts = run & !(run << 1 | in_run) & !after(here.blank, window.before.blank);
        Others { run, starts, taken: newlines | slashes }
    }

    /// Others, character by character.
    #[inline(never)]
    fn others_with_marks(&self, window: &Window<'_>, other: u64) -> Others {
        let here = window.here;
        let mut others = Others::default();
        let mut run = self.run;
        let mut after_blank = window.before.blank >> 63 == 1;
        for at in 0..BLOCK {
            let byte = 1 << at;
            let is = |mask: u64| mask & byte != 0;
            if is(here.lead) {
                (run, after_blank) = match run {
                    Run::Tail | Run::First | Run::Inside if is(here.newline) => (Run::Tail, false),
                    Run::Tail if is(other & here.slash) => (Run::Tail, false),
                    Run::First | Run::Inside if is(other) => (Run::Inside, false),
                    Run::Inside if is(here.mark) => (Run::Inside, false),
                    _ if is(other) && after_blank => (Run::Inside, false),
                    _ if is(other) => {
                        others.starts |= byte;
                        (Run::First, false)
                    }
                    _ => (Run::None, is(here.blank)),
                };
            }
            match run {
                Run::None => {}
                Run::Tail => others.taken |= byte,
                Run::First | Run::Inside => others.run |= byte,
            }
        }
        others.run &= here.valid;
        others.taken &= here.valid;
        others
    }

    /// The bytes of the contractions that begin at `apostrophes`, which stand behind words.
    #[inline(never)]
    fn contractions(&mut self, text: &[u8], start: usize, mut apostrophes: u64) -> u64 {
        let (mut glued, mut end) = (0u128, 0);
        while apostrophes != 0 {
            let at = apostrophes.trailing_zeros() as usize;
            apostrophes &= apostrophes - 1;
            let n_bytes = contraction(text.get(start + at + 1..).unwrap_or_default());
            // Letters of a contraction are no word to take another one.
            if n_bytes > 0 && (at > end || glued == 0) {
                glued |= ((1 << n_bytes) - 1) << at;
                end = at + n_bytes;
            }
        }
        self.glued = (glued >> BLOCK) as u64;
        glued as u64
    }

    /// Capitals that start a pre-token inside of a word.
    #[inline(always)]
    fn capitals(&mut self, text: &[u8], window: &Window<'_>, word: u64) -> u64 {
        let here = window.here;
        let (upper, lower) = (word & here.upper, word & here.lower);
        let uncased = word & !(upper | lower);
        let behind_small = lower << 1 | u64::from(self.is_small);
        let small_goes_on = flood(behind_small, uncased);
        let after_small = behind_small | small_goes_on << 1;
        self.is_small = (lower | small_goes_on) >> 63 == 1;
        let is_uncased = after(uncased, self.word & !(window.before.upper | window.before.lower));
        let behind_uncased = upper & here.lead & is_uncased & !after_small;
        let starts = upper & here.lead & after_small;
        if behind_uncased == 0 {
            starts
        } else {
            starts | last_capitals(text, window.start, behind_uncased)
        }
    }
}

/// Those of `candidates` whose run of capitals ends its word.
#[inline(never)]
fn last_capitals(text: &[u8], start: usize, mut candidates: u64) -> u64 {
    let table = ClassTable::shared();
    let mut starts = 0;
    while candidates != 0 {
        let at = candidates.trailing_zeros() as usize;
        candidates &= candidates - 1;
        let mut rest = text.get(start + at..).unwrap_or_default();
        let is_last = loop {
            match decode_utf8(rest) {
                Some((code_point, n)) if table.of(code_point) & bit::UPPER != 0 => {
                    rest = rest.get(n..).unwrap_or_default();
                }
                Some((code_point, _)) => {
                    break table.of(code_point) & (bit::LETTER | bit::MARK) == 0;
                }
                None => break true,
            }
        };
        starts |= u64::from(is_last) << at;
    }
    starts
}
