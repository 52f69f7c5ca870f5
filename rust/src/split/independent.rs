//! Where a text can be cut before its normalizer and pre-tokenizer see it, each part becoming the
//! same pieces wherever it stands. Whitespace stands before the part that follows it.

use super::algebra::{Algebra, Window};
use super::classes::bit;
use super::masks::{Masks, NEWLINE};
use super::runs::after;

/// Which places those are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Where `Bert` cuts.
    Bert {
        /// Whether ideographs are parts by themselves.
        ideographs: bool,
    },
    /// Where `Spaced` cuts.
    Spaced,
    /// Where `Marked` cuts.
    Marked,
}

impl Parts {
    /// Whether a part that does not begin with whitespace is none of a memo's keys, so that the
    /// pieces of other parts, which begin with none either, may be.
    #[must_use]
    pub fn leave_pieces(self) -> bool {
        !matches!(self, Self::Bert { .. })
    }
}

/// Parts for BERT's normalizer and pre-tokenizer; with `IDEOGRAPHS`, each of `[一-龥]` is one.
///
/// The pre-tokenizer drops whitespace and gives every ASCII punctuation character a piece of its
/// own; a normalizer that puts spaces around ideographs does as much for them. Neither looks
/// across such a place, nor do the normalizer's other steps: canonical decomposition orders marks
/// between two other characters only, lower case is taken of each character by itself. Tabs are
/// not told from other control characters, of which some are dropped, so nothing is cut at them.
/// Source: google-research/bert, tokenization.py, `BasicTokenizer`.
#[derive(Debug, Default)]
pub struct Bert<const IDEOGRAPHS: bool>;

impl<const IDEOGRAPHS: bool> Bert<IDEOGRAPHS> {
    /// Characters that are parts by themselves.
    #[inline(always)]
    fn single(masks: &Masks) -> u64 {
        let punctuation = (masks.punctuation | masks.symbol) & masks.ascii;
        if IDEOGRAPHS { punctuation | masks.han } else { punctuation }
    }
}

impl<const IDEOGRAPHS: bool> Algebra for Bert<IDEOGRAPHS> {
    const NEEDS: u16 =
        bit::PUNCTUATION | bit::SYMBOL | NEWLINE | if IDEOGRAPHS { bit::HAN } else { 0 };

    #[inline(always)]
    fn starts(&mut self, _text: &[u8], window: &Window) -> u64 {
        let (space, single) = (blank(window.here), Self::single(window.here));
        let singles = single | after(single, Self::single(window.before));
        (space | singles & window.here.lead) & !after(space, blank(window.before))
    }
}

/// Parts for normalizers that look at characters or grapheme clusters, before a pre-tokenizer that
/// drops whitespace.
///
/// A space begins a cluster of its own except behind the few characters that join what follows
/// (UAX #29, GB9b), a newline except behind a carriage return (GB3).
#[derive(Debug, Default)]
pub struct Spaced;

impl Algebra for Spaced {
    const NEEDS: u16 = NEWLINE | bit::JOINS_NEXT;

    #[inline(always)]
    fn starts(&mut self, _text: &[u8], window: &Window) -> u64 {
        let (here, before) = (window.here, window.before);
        blank(here)
            & !after(blank(here), blank(before))
            & !after(here.joins_next, before.joins_next)
    }
}

/// Parts for such normalizers before a pre-tokenizer that makes spaces a mark and cuts before it.
///
/// The text before must not become one that ends with a space, which would join those of the part:
/// nothing is cut but behind the characters of `Normalizer::is_marked`.
#[derive(Debug, Default)]
pub struct Marked;

impl Marked {
    /// The last bytes of ASCII's printable characters and of letters of two bytes; of the latter
    /// one that begins in the block before is left out.
    #[inline(always)]
    fn solid(masks: &Masks) -> u64 {
        let graphic = masks.letter | masks.number | masks.punctuation | masks.symbol;
        let second = masks.letter & !masks.lead & (masks.lead & !masks.ascii) << 1;
        masks.ascii & graphic | second
    }
}

impl Algebra for Marked {
    const NEEDS: u16 =
        bit::LETTER | bit::NUMBER | bit::PUNCTUATION | bit::SYMBOL | bit::JOINS_NEXT;

    #[inline(always)]
    fn starts(&mut self, _text: &[u8], window: &Window) -> u64 {
        let (here, before) = (window.here, window.before);
        if here.joins_next | before.joins_next != 0 {
            // What stands in one cluster with these may be lost.
            return 0;
        }
        here.blank & after(Self::solid(here), Self::solid(before))
    }
}

/// Spaces and newlines.
#[inline(always)]
fn blank(masks: &Masks) -> u64 {
    masks.blank | masks.newline
}
