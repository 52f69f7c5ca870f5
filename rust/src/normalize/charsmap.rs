//! SentencePiece's `precompiled_charsmap`: a double-array trie of replacements.
//!
//! Layout: the trie's size in bytes (u32, little-endian), its units (u32), then the replacement
//! strings, each ended by NUL; a leaf holds the place of its string. Units are those of
//! darts-clone: bit 8 says that a leaf follows, the low byte is the label, bits 10 to 30 the
//! offset, shifted by 8 more when bit 9 is set; bit 31 marks a leaf's value.
//! Source: sentencepiece 0.2.3, `normalizer.cc`; darts-clone 0.32.

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};
use unicode_segmentation::UnicodeSegmentation;

use super::alignment::Rewriter;
use super::replace::character_length;
use crate::error::{Error, Kind, Result};

/// No key of a real charsmap is near this long; a damaged trie may loop, so walks have an end.
const MAX_KEY_BYTES: usize = 256;

/// Only shorter grapheme clusters are looked up whole. Source: tokenizers 0.23.3.
const MAX_GRAPHEME_BYTES: usize = 5;

/// A parsed charsmap.
#[derive(Debug, Clone)]
pub struct Charsmap {
    units: Vec<u32>,
    strings: Vec<u8>,
    /// Strings that are never changed: SentencePiece's user-defined symbols.
    keep: Option<AhoCorasick>,
}

impl Charsmap {
    /// Parse the bytes of a model file's `precompiled_charsmap`; none at all changes nothing.
    ///
    /// # Errors
    ///
    /// `Format` when sizes do not fit, `Argument` when a kept string is empty.
    pub fn parse(data: &[u8], keep: &[String]) -> Result<Self> {
        let keep = keep_matcher(keep)?;
        if data.is_empty() {
            return Ok(Self { units: Vec::new(), strings: Vec::new(), keep });
        }
        let (size, rest) = data.split_first_chunk::<4>().ok_or_else(|| {
            damaged(format!("it has {} bytes, less than its size field", data.len()))
        })?;
        let size = usize::try_from(u32::from_le_bytes(*size)).unwrap_or(usize::MAX);
        let Some((trie, strings)) = rest.split_at_checked(size) else {
            return Err(damaged(format!("its trie has {size} bytes, but {} follow", rest.len())));
        };
        let (units, []) = trie.as_chunks::<4>() else {
            return Err(damaged(format!("its trie has {size} bytes, not a multiple of 4")));
        };
        if units.is_empty() || strings.last() != Some(&0) {
            return Err(damaged("its trie is empty or its last string has no end".to_owned()));
        }
        let units = units.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        Ok(Self { units, strings: strings.to_vec(), keep })
    }

    /// Replace the longest key at each place, as sentencepiece does.
    ///
    /// # Errors
    ///
    /// `Format` when a leaf points past the strings.
    pub fn apply_longest(&self, rewriter: &mut Rewriter<'_>) -> Result<()> {
        let source = rewriter.source();
        let (mut done, mut position) = (0, 0);
        while let Some(rest) = source.get(position..).filter(|rest| !rest.is_empty()) {
            rewriter.tick()?;
            if let Some(length) = self.kept_prefix(rest) {
                position += length;
            } else if let Some((length, text)) = self.lookup(rest, true)? {
                rewriter.copy(done..position)?;
                rewriter.write(text, position..position + length)?;
                position += length;
                done = position;
            } else {
                position += character_length(rest);
            }
        }
        rewriter.copy(done..source.len())
    }

    /// Replace whole grapheme clusters by the shortest key that starts them, else each of
    /// their characters, as the `Precompiled` normalizer of tokenizers 0.23.3 does.
    ///
    /// Unlike there, removing the first character of a text does not shift later origins.
    ///
    /// # Errors
    ///
    /// `Format` when a leaf points past the strings.
    pub fn apply_graphemes(&self, rewriter: &mut Rewriter<'_>) -> Result<()> {
        let source = rewriter.source();
        let mut base = 0;
        for chunk in source.utf8_chunks() {
            for (at, grapheme) in chunk.valid().grapheme_indices(true) {
                self.apply_grapheme(grapheme, base + at, rewriter)?;
            }
            base += chunk.valid().len();
            rewriter.copy(base..base + chunk.invalid().len())?;
            base += chunk.invalid().len();
        }
        Ok(())
    }

    fn apply_grapheme(&self, grapheme: &str, at: usize, rewriter: &mut Rewriter<'_>) -> Result<()> {
        if grapheme.len() <= MAX_GRAPHEME_BYTES
            && let Some((_, text)) = self.lookup(grapheme.as_bytes(), false)?
        {
            return pair_up(grapheme, text, at, rewriter);
        }
        for (offset, character) in grapheme.char_indices() {
            let start = at + offset;
            let end = start + character.len_utf8();
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            match self.lookup(bytes, false)? {
                Some((_, text)) => rewriter.write(text, start..end)?,
                None => rewriter.copy(start..end)?,
            }
        }
        Ok(())
    }

    fn kept_prefix(&self, text: &[u8]) -> Option<usize> {
        let input = Input::new(text).anchored(Anchored::Yes);
        self.keep.as_ref()?.find(input).map(|found| found.len())
    }

    /// The longest or shortest key that starts `text`: its length and its replacement.
    fn lookup(&self, text: &[u8], longest: bool) -> Result<Option<(usize, &[u8])>> {
        let Some(&root) = self.units.first() else { return Ok(None) };
        let mut node = offset(root);
        let mut best = None;
        for (index, &byte) in text.iter().take(MAX_KEY_BYTES).enumerate() {
            if byte == 0 {
                break;
            }
            node ^= u32::from(byte);
            let Some(unit) = self.unit(node) else { break };
            if unit & 0x8000_00ff != u32::from(byte) {
                break;
            }
            node ^= offset(unit);
            if unit & 0x100 != 0 {
                best =
                    Some((index + 1, self.unit(node).map_or(u32::MAX, |leaf| leaf & 0x7fff_ffff)));
                if !longest {
                    break;
                }
            }
        }
        best.map(|(length, place)| self.string(place).map(|text| (length, text))).transpose()
    }

    fn unit(&self, node: u32) -> Option<u32> {
        usize::try_from(node).ok().and_then(|node| self.units.get(node)).copied()
    }

    fn string(&self, place: u32) -> Result<&[u8]> {
        let tail = usize::try_from(place).ok().and_then(|place| self.strings.get(place..));
        let tail = tail.ok_or_else(|| {
            damaged(format!("a leaf points to byte {place} of {} of strings", self.strings.len()))
        })?;
        Ok(tail.split(|&byte| byte == 0).next().unwrap_or_default())
    }
}

fn offset(unit: u32) -> u32 {
    (unit >> 10) << ((unit & 0x200) >> 6)
}

fn keep_matcher(keep: &[String]) -> Result<Option<AhoCorasick>> {
    if keep.is_empty() {
        return Ok(None);
    }
    if keep.iter().any(String::is_empty) {
        return Err(Error::new(Kind::Argument, "a string to keep is empty; leave it out"));
    }
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .start_kind(StartKind::Anchored)
        .build(keep)
        .map(Some)
        .map_err(|error| Error::new(Kind::Argument, format!("the strings to keep: {error}")))
}

/// Give the i-th new character the origin of the i-th old one, the rest that of the last.
fn pair_up(old: &str, new: &[u8], at: usize, rewriter: &mut Rewriter<'_>) -> Result<()> {
    let mut olds = old.char_indices().map(|(i, c)| at + i..at + i + c.len_utf8());
    let mut from = at..at;
    let mut rest = new;
    while !rest.is_empty() {
        let (character, tail) = rest.split_at(character_length(rest).min(rest.len()));
        from = olds.next().unwrap_or(from);
        rewriter.write(character, from.clone())?;
        rest = tail;
    }
    Ok(())
}

fn damaged(detail: String) -> Error {
    Error::new(
        Kind::Format,
        format!("the precompiled charsmap is damaged: {detail}; take it from the model file again"),
    )
}
