//! Where a text can be cut before its normalizer and pre-tokenizer see it, each part becoming the
//! same pieces wherever it stands. Whitespace stands before the part that follows it.

use super::algebra::{Algebra, Window};
use super::classes::bit;
use super::masks::{Masks, NEWLINE};
use super::runs::after;
use super::steps::{PrependScheme, Step};

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
    /// The parts of a text that these steps cut into the same pieces wherever they stand. But for
    /// BERT's, no piece begins with a space.
    #[must_use]
    pub fn of(steps: &[Step]) -> Option<Self> {
        let looks_around = |step: &Step| {
            matches!(
                step,
                Step::Metaspace { prepend_scheme: PrependScheme::First, .. }
                    | Step::Metaspace { replacement: ' ', .. }
                    | Step::ByteLevel { add_prefix_space: true, .. }
            )
        };
        match steps {
            [Step::Bert] => Some(Self::Bert { ideographs: false }),
            _ if steps.iter().any(looks_around) => None,
            // What comes next cuts the pieces one by one.
            [Step::WhitespaceSplit | Step::Whitespace, ..] => Some(Self::Spaced),
            [Step::Metaspace { prepend_scheme: PrependScheme::Always, split: true, .. }, ..] => {
                Some(Self::Marked)
            }
            _ => None,
        }
    }

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
/// (UAX #29, GB9b), and so does a newline or a carriage return with the newline behind it (GB3).
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
    const NEEDS: u16 = bit::LETTER | bit::NUMBER | bit::PUNCTUATION | bit::SYMBOL;

    #[inline(always)]
    fn starts(&mut self, _text: &[u8], window: &Window) -> u64 {
        window.here.blank & after(Self::solid(window.here), Self::solid(window.before))
    }
}

/// Spaces and newlines.
#[inline(always)]
fn blank(masks: &Masks) -> u64 {
    masks.blank | masks.newline
}

#[cfg(test)]
mod tests {
    use super::super::Splitter;
    use super::Parts;
    use crate::parallel::Control;

    fn parts(kind: Parts, text: &str) -> Vec<&str> {
        let (mut cut, mut from) = (Vec::new(), 0);
        let sink = &mut |ends: &[usize]| {
            for &end in ends {
                cut.push(&text[from..end]);
                from = end;
            }
            Ok(())
        };
        Splitter::independent(kind).split(text.as_bytes(), &Control::default(), sink).expect("cut");
        cut
    }

    #[test]
    fn bert_cuts_at_spaces_punctuation_and_ideographs() {
        let text = "Hi,  you!\n\nIt's 我们か。a\tb";
        let words = ["Hi", ",", "  you", "!", "\n\nIt", "'", "s", " 我们か。a\tb"];
        assert_eq!(parts(Parts::Bert { ideographs: false }, text), words);
        let words = ["Hi", ",", "  you", "!", "\n\nIt", "'", "s", " 我", "们", "か。a\tb"];
        assert_eq!(parts(Parts::Bert { ideographs: true }, text), words);
    }

    #[test]
    fn spaced_texts_are_cut_before_whitespace_that_nothing_joins() {
        let text = "a, b  c\nd\r\ne \u{600} f\u{a0}g";
        assert_eq!(
            parts(Parts::Spaced, text),
            ["a,", " b", "  c", "\nd", "\r\ne", " \u{600} f\u{a0}g"]
        );
    }

    #[test]
    fn marked_texts_are_cut_behind_what_stays_before_a_space() {
        let text = "a, b  c\nd й к\u{3000} e 我 f\u{301} g";
        assert_eq!(
            parts(Parts::Marked, text),
            ["a,", " b", "  c\nd", " й", " к\u{3000} e", " 我 f\u{301} g"]
        );
        let (first, second) = ("x".repeat(63), "y".repeat(70));
        let text = format!("{first} {second}");
        assert_eq!(parts(Parts::Marked, &text), [first, format!(" {second}")]);
    }
}
