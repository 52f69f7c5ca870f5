//! Pre-token starts of DeepSeek-V3's three patterns, from class masks.
//!
//! Numbers in threes and runs of han and kana are pieces of their own, and so is what lies between;
//! each is split by itself. There, a run of letters and marks takes along one whitespace
//! character before it, no newline, or one of what is in no class; runs of the latter are gaps. A
//! run of punctuation and symbols takes the blank before it and the newlines behind it, but a
//! single ASCII one without a blank takes the ASCII letters behind it. Source: DeepSeek-V3's
//! tokenizer.json.

use super::algebra::{Algebra, Window};
use super::classes::bit;
use super::masks::{Masks, NEWLINE};
use super::runs::{Digits, after, flood, whitespace};

/// The classes that the patterns tell apart; of the last three a byte is in one at most.
#[derive(Debug, Default, Clone, Copy)]
struct Classes {
    han_kana: u64,
    word: u64,
    sign: u64,
    rest: u64,
}

impl Classes {
    #[inline(always)]
    fn of(masks: &Masks) -> Self {
        let han_kana = (masks.han | masks.kana) & !masks.number;
        let open = masks.valid & !masks.number;
        let word = (masks.letter | masks.mark) & open;
        let sign = (masks.punctuation | masks.symbol) & open;
        let rest = open & !(word | sign | masks.space);
        Self { han_kana, word, sign, rest }
    }
}

/// The patterns; the fields speak of the last byte of the block before.
#[derive(Debug, Default)]
pub struct DeepSeek {
    before: Classes,
    digits: Digits<3>,
    /// Of signs, or of newlines that they took.
    takes_newlines: bool,
    /// A sign that takes ASCII letters along, and a letter that one took.
    takes_letters: bool,
    taken_letter: bool,
}

impl Algebra for DeepSeek {
    const NEEDS: u16 = bit::LETTER
        | bit::MARK
        | bit::NUMBER
        | bit::SPACE
        | bit::PUNCTUATION
        | bit::SYMBOL
        | bit::HAN
        | bit::KANA
        | NEWLINE;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], window: &Window) -> u64 {
        let (before, here) = (window.before, window.here);
        let (classes, earlier) = (Classes::of(here), self.before);
        let Classes { han_kana, word, sign, rest } = classes;
        // Where a piece ends because han and kana begin or end.
        let edges = (han_kana ^ after(han_kana, earlier.han_kana)) & here.valid;
        let begins = |mask: u64, earlier: u64| mask & (edges | !after(mask, earlier));
        let sign_starts = begins(sign, earlier.sign) & (edges | !after(here.blank, before.blank));

        let taker = sign_starts & here.ascii;
        let ascii_letter = word & here.ascii;
        let seeds = ascii_letter & (taker << 1 | u64::from(self.takes_letters));
        let taken_letters = flood(seeds | u64::from(self.taken_letter), ascii_letter);
        let after_taken = taken_letters << 1 | u64::from(self.taken_letter);
        let plain_space = here.space & !here.newline;
        let after_prefix =
            after(plain_space | rest, before.space & !before.newline | earlier.rest) & !edges;
        let word_starts = begins(word, earlier.word) & !after_prefix & !seeds
            | word & !here.ascii & after_taken & here.lead;

        let newlines = here.newline & !edges & (sign << 1 | u64::from(self.takes_newlines));
        let taken = flood(newlines, here.newline);
        let spaces = whitespace::<false>(text, window, (taken, self.takes_newlines), |masks| {
            masks.number | masks.han | masks.kana
        });
        let mut starts = sign_starts
            | word_starts
            | spaces
            | begins(rest, earlier.rest)
            | self.digits.starts(here);
        if rest != 0 {
            starts |= last_before_words(window, rest);
        }
        self.before = classes;
        self.takes_newlines = (sign | taken) >> 63 == 1;
        self.takes_letters = taker >> 63 == 1;
        self.taken_letter = taken_letters >> 63 == 1;
        starts
    }
}

/// The characters of `rest` that a word of the same piece follows.
#[inline(never)]
fn last_before_words(window: &Window<'_>, rest: u64) -> u64 {
    let (here, next) = (Classes::of(window.here), Classes::of(window.after));
    let follows = here.word & !(here.han_kana ^ here.han_kana << 1);
    let mut last = follows >> 1 & rest;
    // The first character of the next block answers for the last one of this block.
    let first = window.after.lead.trailing_zeros();
    if first < 4 && next.word >> first & 1 == 1 && next.han_kana >> first & 1 == here.han_kana >> 63
    {
        last |= rest & 1 << 63;
    }
    let mut leads = 0;
    while last != 0 {
        leads |= last & window.here.lead;
        last = (last & !window.here.lead) >> 1;
    }
    leads
}
