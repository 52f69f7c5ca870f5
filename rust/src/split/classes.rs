//! Unicode classes, as the pinned `regex-syntax` defines them: one table for kernels and twins.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, HirKind};

use crate::error::{Error, Kind, Result};

/// Class bits of a code point, as `ClassTable::of` gives them.
pub mod bit {
    /// `\p{L}`.
    pub const LETTER: u16 = 1;
    /// `\p{Lu}` or `\p{Lt}`.
    pub const UPPER: u16 = 2;
    /// `\p{Ll}`.
    pub const LOWER: u16 = 4;
    /// `\p{M}`.
    pub const MARK: u16 = 8;
    /// `\p{N}`.
    pub const NUMBER: u16 = 16;
    /// `\s`, the property White_Space.
    pub const SPACE: u16 = 32;
    /// `\p{P}`.
    pub const PUNCTUATION: u16 = 64;
    /// `\p{S}`.
    pub const SYMBOL: u16 = 128;
    /// `[一-龥]`, of the middle pattern of DeepSeek-V3's tokenizer.json.
    pub const HAN: u16 = 256;
    /// `\w`.
    pub const WORD: u16 = 512;
    /// `[぀-ゟ゠-ヿ]`, of the same pattern as `HAN`.
    pub const KANA: u16 = 1024;
    /// `\p{Grapheme_Cluster_Break=Prepend}`.
    pub const JOINS_NEXT: u16 = 2048;
}

const CLASSES: [(&str, u16); 13] = [
    (r"\p{L}", bit::LETTER),
    (r"\p{Lu}", bit::UPPER),
    (r"\p{Lt}", bit::UPPER),
    (r"\p{Ll}", bit::LOWER),
    (r"\p{M}", bit::MARK),
    (r"\p{N}", bit::NUMBER),
    (r"\s", bit::SPACE),
    (r"\p{P}", bit::PUNCTUATION),
    (r"\p{S}", bit::SYMBOL),
    (r"[一-龥]", bit::HAN),
    (r"[぀-ゟ゠-ヿ]", bit::KANA),
    (r"\w", bit::WORD),
    (r"\p{Grapheme_Cluster_Break=Prepend}", bit::JOINS_NEXT),
];

const PAGE_BITS: u32 = 7;
const PAGE: usize = 1 << PAGE_BITS;
const N_PAGES: usize = 0x11_0000 >> PAGE_BITS;

/// Class bits of every code point, in two levels so that the hot part stays in L1.
#[derive(Debug)]
pub struct ClassTable {
    page_of: Vec<u16>,
    pages: Vec<[u16; PAGE]>,
}

static TABLE: OnceLock<ClassTable> = OnceLock::new();

impl ClassTable {
    /// The table of the pinned `regex-syntax`, built at the first call.
    #[must_use]
    pub fn shared() -> &'static Self {
        TABLE.get_or_init(Self::build)
    }

    /// Build the table ahead of a text that needs it: in the middle of one, a want of memory would
    /// end the process.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn ready_for(text: &[u8]) -> Result<()> {
        const ROOM: usize = 8 << 20;
        if TABLE.get().is_none() && !text.is_ascii() {
            let mut room: Vec<u8> = Vec::new();
            room.try_reserve_exact(ROOM)?;
            drop(std::hint::black_box(room));
            let _ = Self::shared();
        }
        Ok(())
    }

    fn build() -> Self {
        let mut flat = vec![0u16; 0x11_0000];
        for (expression, bits) in CLASSES {
            // These constants parse: a test reads every class, so the fallback never shows.
            for (first, last) in class_ranges(expression).unwrap_or_default() {
                for flags in &mut flat[first as usize..=last as usize] {
                    *flags |= bits;
                }
            }
        }
        let mut pages: Vec<[u16; PAGE]> = Vec::new();
        let mut page_of = Vec::with_capacity(N_PAGES);
        for chunk in flat.chunks_exact(PAGE) {
            let mut page = [0; PAGE];
            page.copy_from_slice(chunk);
            // Most pages are like the one before.
            let before = page_of.last().map(|&index: &u16| usize::from(index));
            let known = before
                .filter(|&index| pages.get(index) == Some(&page))
                .or_else(|| pages.iter().position(|other| *other == page));
            let index = known.unwrap_or_else(|| {
                pages.push(page);
                pages.len() - 1
            });
            page_of.push(u16::try_from(index).unwrap_or_default());
        }
        Self { page_of, pages }
    }

    /// Class bits of a code point; none for what is past U+10FFFF.
    #[inline(always)]
    #[must_use]
    pub fn of(&self, code_point: u32) -> u16 {
        let page = self.page_of.get((code_point >> PAGE_BITS) as usize).copied().unwrap_or(0);
        self.pages.get(page as usize).map_or(0, |page| page[code_point as usize % PAGE])
    }
}

/// The code point at the start of `bytes` and its length; `None` where no valid UTF-8 starts.
#[inline(always)]
#[must_use]
pub fn decode_utf8(bytes: &[u8]) -> Option<(u32, usize)> {
    let first = u32::from(*bytes.first()?);
    if first < 0x80 {
        return Some((first, 1));
    }
    let tail = |i: usize| bytes.get(i).filter(|&&b| b & 0xC0 == 0x80).map(|&b| u32::from(b & 0x3F));
    match first {
        0xC2..=0xDF => Some(((first & 0x1F) << 6 | tail(1)?, 2)),
        0xE0..=0xEF => {
            let code_point = (first & 0x0F) << 12 | tail(1)? << 6 | tail(2)?;
            let valid = code_point >= 0x800 && !(0xD800..0xE000).contains(&code_point);
            valid.then_some((code_point, 3))
        }
        0xF0..=0xF4 => {
            let code_point = (first & 0x07) << 18 | tail(1)? << 12 | tail(2)? << 6 | tail(3)?;
            (0x1_0000..0x11_0000).contains(&code_point).then_some((code_point, 4))
        }
        _ => None,
    }
}

/// Code point ranges, both ends included, of a class expression such as `\p{L}` or `[\s\d]`.
///
/// # Errors
///
/// `Pattern` when the expression is not one character class.
pub fn class_ranges(expression: &str) -> Result<Vec<(u32, u32)>> {
    let refuse = |detail: String| {
        Error::new(Kind::Pattern, format!("{expression:?} is not a character class{detail}"))
    };
    let hir = regex_syntax::parse(expression).map_err(|error| refuse(format!(": {error}")))?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Ok(class.ranges().iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect())
        }
        HirKind::Class(Class::Bytes(class)) => {
            Ok(class.ranges().iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect())
        }
        _ => Err(refuse(String::new())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_the_table_parses_and_is_looked_up() {
        let table = ClassTable::shared();
        for (expression, bits) in CLASSES {
            let ranges = class_ranges(expression).expect("a class");
            for (first, last) in ranges {
                assert_eq!(table.of(first) & bits, bits, "{expression}");
                assert_eq!(table.of(last) & bits, bits, "{expression}");
            }
        }
        assert_eq!(table.of(0x11_0000), table.of(0x7F_FFFF));
    }

    #[test]
    fn decoding_agrees_with_the_standard_library() {
        for c in (0..0x11_0000).filter_map(char::from_u32) {
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(decode_utf8(bytes), Some((u32::from(c), bytes.len())));
        }
        for invalid in [
            &b"\x80"[..],
            b"\xC0\x80",
            b"\xE0\x80\x80",
            b"\xED\xA0\x80",
            b"\xF4\x90\x80\x80",
            b"\xFF",
            b"\xE4\xB8",
            b"",
        ] {
            assert_eq!(decode_utf8(invalid), None, "{invalid:x?}");
        }
    }
}
