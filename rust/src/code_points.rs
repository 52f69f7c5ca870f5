//! Code points of a text that may not be UTF-8, and a table over all of them.

use crate::bpe::vocabulary::NO_ID;
use crate::error::Result;

/// Added to a byte that is no part of UTF-8, to make a code that is no code point.
pub const INVALID: u32 = 0x11_0000;

const PAGE: usize = 256;
const N_PAGES: usize = INVALID as usize / PAGE;

/// The code point that starts at byte `at`, and its bytes; `INVALID` + the byte, and 1, where
/// none does. Past the end `(INVALID, 1)`.
///
/// Source: The Unicode Standard 16.0, table 3-7 (well-formed UTF-8).
#[inline(always)]
#[must_use]
pub fn code_point_at(text: &[u8], at: usize) -> (u32, usize) {
    let byte = |i: usize| text.get(at + i).map_or(0, |&byte| u32::from(byte));
    let is_tail = |byte: u32| byte & 0xC0 == 0x80;
    let lead = byte(0);
    if lead < 0x80 {
        return if at < text.len() { (lead, 1) } else { (INVALID, 1) };
    }
    let second = byte(1);
    match lead {
        0xC2..=0xDF if is_tail(second) => ((lead & 0x1F) << 6 | second & 0x3F, 2),
        0xE0..=0xEF if is_tail(second) && is_tail(byte(2)) => {
            let code = (lead & 0x0F) << 12 | (second & 0x3F) << 6 | byte(2) & 0x3F;
            let is_surrogate = (0xD800..0xE000).contains(&code);
            if code < 0x800 || is_surrogate { (INVALID + lead, 1) } else { (code, 3) }
        }
        0xF0..=0xF4 if is_tail(second) && is_tail(byte(2)) && is_tail(byte(3)) => {
            let high = (lead & 0x07) << 18 | (second & 0x3F) << 12;
            let code = high | (byte(2) & 0x3F) << 6 | byte(3) & 0x3F;
            if (0x1_0000..INVALID).contains(&code) { (code, 4) } else { (INVALID + lead, 1) }
        }
        _ => (INVALID + lead, 1),
    }
}

/// The last code point of a text; `None` for an empty one.
#[must_use]
pub fn last_code_point(text: &[u8]) -> Option<u32> {
    let last = *text.last()?;
    let starts = (1..=4.min(text.len())).map(|n| text.len() - n);
    let whole = starts.map(|at| (at, code_point_at(text, at)));
    let mut whole = whole.filter(|&(at, (code, n))| code < INVALID && at + n == text.len());
    Some(whole.next().map_or(INVALID + u32::from(last), |(_, (code, _))| code))
}

/// What a message calls a code.
#[must_use]
pub fn shown(code: u32) -> String {
    match char::from_u32(code) {
        Some(character) => format!("character {character:?} (U+{code:04X})"),
        None => format!("byte 0x{:02x}, which is no part of UTF-8,", code.wrapping_sub(INVALID)),
    }
}

/// Ids by code point, in pages.
#[derive(Debug)]
pub struct CodePointTable {
    /// By high bits: the page, of which 0 is empty.
    pages: Vec<u16>,
    ids: Vec<u32>,
}

impl CodePointTable {
    /// A table without ids.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn new() -> Result<Self> {
        let (mut pages, mut ids) = (Vec::new(), Vec::new());
        pages.try_reserve_exact(N_PAGES)?;
        pages.resize(N_PAGES, 0);
        ids.try_reserve(PAGE)?;
        ids.resize(PAGE, NO_ID);
        Ok(Self { pages, ids })
    }

    /// The id of a code; `NO_ID` without one.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, code: u32) -> u32 {
        let code = code as usize;
        let Some(&page) = self.pages.get(code / PAGE) else { return NO_ID };
        self.ids.get(page as usize * PAGE + code % PAGE).copied().unwrap_or(NO_ID)
    }

    /// Give a code point an id; what is no code point keeps none.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn set(&mut self, code: u32, id: u32) -> Result<()> {
        let code = code as usize;
        let Some(page) = self.pages.get_mut(code / PAGE) else { return Ok(()) };
        if *page == 0 {
            self.ids.try_reserve(PAGE)?;
            *page = (self.ids.len() / PAGE) as u16;
            self.ids.resize(self.ids.len() + PAGE, NO_ID);
        }
        let at = *page as usize * PAGE + code % PAGE;
        if let Some(place) = self.ids.get_mut(at) {
            *place = id;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_standard_library() {
        for code in (0..INVALID).filter_map(char::from_u32) {
            let mut buffer = [0; 4];
            let text = code.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(code_point_at(text, 0), (code as u32, text.len()));
            assert_eq!(last_code_point(text), Some(code as u32));
        }
    }

    #[test]
    fn what_is_not_utf_8_goes_byte_by_byte() {
        let bytes = [0, 0x41, 0x80, 0x9F, 0xA0, 0xBF, 0xC1, 0xC3, 0xE0, 0xED, 0xF0, 0xF4, 0xF5];
        for first in bytes {
            for second in bytes {
                for third in bytes {
                    let text = [first, second, third, 0x80, 0x80];
                    let mut at = 0;
                    for chunk in text.utf8_chunks() {
                        for character in chunk.valid().chars() {
                            assert_eq!(code_point_at(&text, at).0, character as u32);
                            at += character.len_utf8();
                        }
                        for &byte in chunk.invalid() {
                            assert_eq!(code_point_at(&text, at), (INVALID + u32::from(byte), 1));
                            at += 1;
                        }
                    }
                    assert_eq!(at, text.len());
                }
            }
        }
    }

    #[test]
    fn a_table_keeps_what_it_was_given() -> Result<()> {
        let mut table = CodePointTable::new()?;
        table.set(0x41, 7)?;
        table.set(0x10_FFFF, 8)?;
        table.set(INVALID, 9)?;
        let codes = [0x41, 0x10_FFFF, 0x42, INVALID, u32::MAX];
        assert_eq!(codes.map(|code| table.get(code)), [7, 8, NO_ID, NO_ID, NO_ID]);
        Ok(())
    }
}
