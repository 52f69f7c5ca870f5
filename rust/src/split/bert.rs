//! Where a text can be cut before BERT's normalizer and pre-tokenizer see it: each part becomes
//! the same pieces wherever it stands.
//!
//! The pre-tokenizer drops whitespace and gives every ASCII punctuation character a piece of its
//! own; a normalizer that puts spaces around ideographs does as much for them. Neither looks
//! across such a place, nor do the normalizer's other steps: canonical decomposition orders marks
//! between two other characters only, lower case is taken of each character by itself. Whitespace
//! stands before the part that follows it. Tabs are not told from other control characters, of
//! which some are dropped, so nothing is cut at them. Source: google-research/bert,
//! tokenization.py, `BasicTokenizer`.

use super::algebra::{Algebra, Window};
use super::classes::bit;
use super::masks::{Masks, NEWLINE};
use super::runs::after;

/// The parts; with `IDEOGRAPHS`, each of `[一-龥]` is one.
#[derive(Debug, Default)]
pub struct Parts<const IDEOGRAPHS: bool>;

impl<const IDEOGRAPHS: bool> Parts<IDEOGRAPHS> {
    #[inline(always)]
    fn space(masks: &Masks) -> u64 {
        masks.blank | masks.newline
    }

    /// Characters that are parts by themselves.
    #[inline(always)]
    fn single(masks: &Masks) -> u64 {
        let punctuation = (masks.punctuation | masks.symbol) & masks.ascii;
        if IDEOGRAPHS { punctuation | masks.han } else { punctuation }
    }
}

impl<const IDEOGRAPHS: bool> Algebra for Parts<IDEOGRAPHS> {
    const NEEDS: u16 =
        bit::PUNCTUATION | bit::SYMBOL | NEWLINE | if IDEOGRAPHS { bit::HAN } else { 0 };

    #[inline(always)]
    fn starts(&mut self, _text: &[u8], window: &Window) -> u64 {
        let (space, single) = (Self::space(window.here), Self::single(window.here));
        let (earlier_space, earlier_single) =
            (Self::space(window.before), Self::single(window.before));
        let leads = space | (single | after(single, earlier_single)) & window.here.lead;
        leads & !after(space, earlier_space)
    }
}
