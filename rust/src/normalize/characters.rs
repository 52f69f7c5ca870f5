//! Normalizers that look at one character at a time.

use super::alignment::Rewriter;
use crate::error::Result;
use crate::split::classes::class_ranges;

/// What becomes of one character.
pub enum Fate {
    /// It stays.
    Keep,
    /// It goes.
    Drop,
    /// The text in the buffer takes its place.
    Replace,
}

/// A set of code points.
#[derive(Debug, Clone)]
pub struct CharacterSet {
    ranges: Vec<(u32, u32)>,
}

impl CharacterSet {
    /// The members of a class expression such as `\p{Mn}`, in the pinned Unicode version.
    ///
    /// # Errors
    ///
    /// `Pattern` when the expression is not a character class.
    pub fn new(expression: &str) -> Result<Self> {
        Ok(Self { ranges: class_ranges(expression)? })
    }

    /// Whether `character` is a member.
    #[must_use]
    pub fn contains(&self, character: char) -> bool {
        let code = u32::from(character);
        let after = self.ranges.partition_point(|&(start, _)| start <= code);
        after
            .checked_sub(1)
            .and_then(|index| self.ranges.get(index))
            .is_some_and(|&(_, end)| code <= end)
    }
}

/// Rewrite each character by `fate`, which fills the buffer it is given to replace one.
///
/// Every character that takes another's place has that one's origin. Bytes that are not UTF-8
/// stay as they are.
pub fn map(
    rewriter: &mut Rewriter<'_>,
    mut fate: impl FnMut(char, &mut String) -> Fate,
) -> Result<()> {
    let source = rewriter.source();
    let mut buffer = String::new();
    let mut done = 0;
    let mut base = 0;
    for chunk in source.utf8_chunks() {
        for (at, character) in chunk.valid().char_indices() {
            rewriter.tick()?;
            buffer.clear();
            let outcome = fate(character, &mut buffer);
            if matches!(outcome, Fate::Keep) {
                continue;
            }
            let start = base + at;
            let end = start + character.len_utf8();
            if done < start {
                rewriter.copy(done..start)?;
            }
            if matches!(outcome, Fate::Replace) {
                rewriter.write(buffer.as_bytes(), start..end)?;
            }
            done = end;
        }
        base += chunk.valid().len() + chunk.invalid().len();
    }
    rewriter.copy(done..source.len())
}

/// Lower case, each character by itself (no final sigma rule). Source: tokenizers 0.23.3.
pub fn lowercase(rewriter: &mut Rewriter<'_>) -> Result<()> {
    map(rewriter, |character, buffer| {
        if character.is_ascii() {
            if !character.is_ascii_uppercase() {
                return Fate::Keep;
            }
            buffer.push(character.to_ascii_lowercase());
            return Fate::Replace;
        }
        buffer.extend(character.to_lowercase());
        let mut lowered = buffer.chars();
        if lowered.next() == Some(character) && lowered.next().is_none() {
            Fate::Keep
        } else {
            Fate::Replace
        }
    })
}

/// Remove the members of `set`.
pub fn remove(set: &CharacterSet, rewriter: &mut Rewriter<'_>) -> Result<()> {
    map(rewriter, |character, _| {
        if !character.is_ascii() && set.contains(character) { Fate::Drop } else { Fate::Keep }
    })
}

/// BERT's cleaning: no NUL, no U+FFFD, no `control`; every whitespace character a space.
///
/// Source: google-research/bert, tokenization.py, `_clean_text`.
pub fn clean(control: &CharacterSet, rewriter: &mut Rewriter<'_>) -> Result<()> {
    map(rewriter, |character, buffer| match character {
        ' '..='~' => Fate::Keep,
        '\t' | '\n' | '\r' => space(buffer),
        '\0' | '\u{fffd}' => Fate::Drop,
        _ if control.contains(character) => Fate::Drop,
        _ if character.is_whitespace() => space(buffer),
        _ => Fate::Keep,
    })
}

fn space(buffer: &mut String) -> Fate {
    buffer.push(' ');
    Fate::Replace
}

/// A space on each side of every CJK ideograph.
///
/// Source: google-research/bert, tokenization.py, `_is_chinese_char`; the fifth range ends at
/// U+2B81F there and starts at U+2B920 in tokenizers 0.23.3, which is followed.
pub fn space_ideographs(rewriter: &mut Rewriter<'_>) -> Result<()> {
    map(rewriter, |character, buffer| {
        if !is_bert_ideograph(character) {
            return Fate::Keep;
        }
        buffer.push(' ');
        buffer.push(character);
        buffer.push(' ');
        Fate::Replace
    })
}

fn is_bert_ideograph(character: char) -> bool {
    matches!(
        character,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2b73f}'
            | '\u{2b740}'..='\u{2b81f}'
            | '\u{2b920}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}

/// Drop whitespace at the ends that are named.
pub fn strip(left: bool, right: bool, rewriter: &mut Rewriter<'_>) -> Result<()> {
    let source = rewriter.source();
    let mut first = None;
    let mut last = 0;
    let mut base = 0;
    for chunk in source.utf8_chunks() {
        for (at, character) in chunk.valid().char_indices() {
            rewriter.tick()?;
            if !character.is_whitespace() {
                first.get_or_insert(base + at);
                last = base + at + character.len_utf8();
            }
        }
        base += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            first.get_or_insert(base);
            base += chunk.invalid().len();
            last = base;
        }
    }
    let start = if left { first.unwrap_or(source.len()) } else { 0 };
    let end = if right { last.max(start) } else { source.len() };
    if start < end { rewriter.copy(start..end) } else { Ok(()) }
}
