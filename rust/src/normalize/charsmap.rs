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
use crate::code_points::{INVALID, code_point_at};
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
    /// Characters that start a key or a string to keep: a bit for each code point.
    active: Vec<u64>,
    /// Whether a key or a string to keep has a space behind its first byte.
    is_spaced: bool,
}

impl Charsmap {
    /// Parse the bytes of a model file's `precompiled_charsmap`; none at all changes nothing.
    ///
    /// # Errors
    ///
    /// `Format` when sizes do not fit, `Argument` when a kept string is empty.
    pub fn parse(data: &[u8], keep: &[String]) -> Result<Self> {
        let is_spaced = keep.iter().any(|text| text.as_bytes().iter().skip(1).any(|&b| b == b' '));
        let mut this = Self {
            units: Vec::new(),
            strings: Vec::new(),
            active: Vec::new(),
            is_spaced,
            keep: keep_matcher(keep)?,
        };
        for character in keep.iter().filter_map(|text| text.chars().next()) {
            this.activate(character as u32)?;
        }
        if data.is_empty() {
            return Ok(this);
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
        this.units = units.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        this.strings = strings.to_vec();
        this.look_at_keys()?;
        Ok(this)
    }

    fn activate(&mut self, code: u32) -> Result<()> {
        let word = code as usize / 64;
        if self.active.len() <= word {
            self.active.try_reserve(word + 1 - self.active.len())?;
            self.active.resize(word + 1, 0);
        }
        if let Some(bits) = self.active.get_mut(word) {
            *bits |= 1 << (code % 64);
        }
        Ok(())
    }

    /// Note what characters start keys, and whether a key has a space inside.
    fn look_at_keys(&mut self) -> Result<()> {
        let Some(&root) = self.units.first() else { return Ok(()) };
        // Nodes behind a first character are shared by keys: each is looked at once.
        let mut seen = Vec::new();
        seen.try_reserve_exact(self.units.len())?;
        seen.resize(self.units.len(), false);
        let mut waiting = vec![(offset(root), [0; 4], 0)];
        while let Some((node, mut first, n_bytes)) = waiting.pop() {
            for byte in 1..=255u8 {
                let child = node ^ u32::from(byte);
                let Some(unit) = self.unit(child) else { continue };
                if unit & 0x8000_00ff != u32::from(byte) {
                    continue;
                }
                self.is_spaced |= byte == b' ' && n_bytes > 0;
                let mut is_open = n_bytes < 4;
                if is_open {
                    first[n_bytes] = byte;
                    let begun = first.get(..=n_bytes).unwrap_or_default();
                    let (code, length) = code_point_at(begun, 0);
                    let is_whole = code < INVALID && length == begun.len();
                    if is_whole {
                        self.activate(code)?;
                    }
                    // More bytes cannot make a character of what is one, or of none's beginning.
                    is_open = !is_whole && n_bytes < 3 && first[0] >= 0xC2;
                }
                if let Some(place) = seen.get_mut(child as usize).filter(|_| !is_open) {
                    if *place {
                        continue;
                    }
                    *place = true;
                }
                waiting.try_reserve(1)?;
                let n_known = if is_open { n_bytes + 1 } else { 4 };
                waiting.push((child ^ offset(unit), first, n_known));
            }
        }
        Ok(())
    }

    /// Whether a key or a string to keep has a space inside or at its end, so that texts cannot be
    /// cut before spaces.
    #[must_use]
    pub fn is_spaced(&self) -> bool {
        self.is_spaced
    }

    /// Whether some strings, of any characters, stay as they are.
    #[must_use]
    pub fn keeps_strings(&self) -> bool {
        self.keep.is_some()
    }

    /// Whether a key or a string to keep starts with a character.
    #[must_use]
    pub fn changes(&self, character: char) -> bool {
        self.is_active(u32::from(character))
    }

    #[inline]
    fn is_active(&self, code: u32) -> bool {
        let bits = self.active.get(code as usize / 64);
        bits.is_some_and(|bits| bits >> (code % 64) & 1 == 1)
    }

    /// The first place at or after `from` where a key or a string to keep may start.
    #[inline]
    fn next_active(&self, text: &[u8], from: usize) -> usize {
        let mut at = from;
        while at < text.len() {
            let (code, n_bytes) = code_point_at(text, at);
            // What is no part of UTF-8 may start a damaged key.
            if self.is_active(code) || code >= INVALID {
                return at;
            }
            at += n_bytes;
        }
        at
    }

    /// Append `text` to `out` with the longest key at each place replaced.
    ///
    /// # Errors
    ///
    /// `Format` when a leaf points past the strings; `Memory`.
    pub fn rewrite(&self, text: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.try_reserve(text.len())?;
        let mut done = 0;
        let mut at = self.next_active(text, 0);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            if let Some(length) = self.kept_prefix(rest) {
                at += length;
            } else if let Some((length, replacement)) = self.lookup(rest, true)? {
                let before = text.get(done..at).unwrap_or_default();
                out.try_reserve(before.len() + replacement.len())?;
                out.extend_from_slice(before);
                out.extend_from_slice(replacement);
                at += length;
                done = at;
            } else {
                at += character_length(rest);
            }
            at = self.next_active(text, at);
        }
        let rest = text.get(done..).unwrap_or_default();
        out.try_reserve(rest.len())?;
        out.extend_from_slice(rest);
        Ok(())
    }

    /// Replace the longest key at each place, as sentencepiece does.
    ///
    /// # Errors
    ///
    /// `Format` when a leaf points past the strings.
    pub fn apply_longest(&self, rewriter: &mut Rewriter<'_>) -> Result<()> {
        let source = rewriter.source();
        let (mut done, mut position) = (0, self.next_active(source, 0));
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
            position = self.next_active(source, position);
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
