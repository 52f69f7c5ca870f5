//! A vocabulary whose tokens are bytes, written in printable characters as GPT-2 does.
//!
//! Source: openai/gpt-2, src/encoder.py, `bytes_to_unicode`.

use std::borrow::Cow;
use std::sync::Arc;

use hashbrown::HashMap;

use super::encode::Bpe;
use super::vocabulary::Vocabulary;
use crate::error::{Error, Kind, Result};

/// Ids of tokens as they are written, and the bytes that they stand for.
#[derive(Debug)]
pub struct SpeltVocabulary {
    tokens: Arc<Vocabulary>,
    /// Tokens that have other characters.
    others: HashMap<Box<str>, u32>,
}

impl SpeltVocabulary {
    /// Tokens as they are written, with their ids.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for a repeated token or id, an empty token, or ids too far apart; `Memory`.
    pub fn new(entries: &[(Cow<'_, str>, u32)]) -> Result<Self> {
        let (mut bytes, mut ends, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        let mut others: HashMap<Box<str>, u32> = HashMap::new();
        bytes.try_reserve(entries.len() * 8)?;
        ends.try_reserve_exact(entries.len())?;
        ids.try_reserve_exact(entries.len())?;
        for (text, id) in entries {
            if spell(text, &mut bytes) {
                ends.push(bytes.len());
                ids.push(*id);
            } else if others.insert(text.as_ref().into(), *id).is_some() {
                return Err(refused(format!("token {text:?} stands twice")));
            }
        }
        let token = |at: usize| {
            let start = at.checked_sub(1).and_then(|before| ends.get(before)).copied();
            ends.get(at).and_then(|&end| bytes.get(start.unwrap_or(0)..end)).unwrap_or_default()
        };
        let ids_and_tokens = (0..ids.len()).map(|at| (ids[at], token(at)));
        let tokens = Arc::new(Vocabulary::new(ids_and_tokens)?);
        let mut other_ids: Vec<u32> = others.values().copied().collect();
        other_ids.sort_unstable();
        if other_ids.windows(2).any(|pair| pair[0] == pair[1])
            || other_ids.iter().any(|&id| id == u32::MAX || tokens.token(id).is_some())
        {
            return Err(refused("an id is given twice".to_owned()));
        }
        Ok(Self { tokens, others })
    }

    /// The id of a token as it is written. `buffer` is for its bytes.
    #[must_use]
    pub fn id_of(&self, text: &str, buffer: &mut Vec<u8>) -> Option<u32> {
        buffer.clear();
        if spell(text, buffer) { self.tokens.id_of(buffer) } else { self.others.get(text).copied() }
    }

    /// Number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len() + self.others.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tokens with characters that stand for no byte, and their ids.
    #[must_use]
    pub fn others(&self) -> &HashMap<Box<str>, u32> {
        &self.others
    }

    /// The model of the tokens that stand for bytes, and of `also`, ids with their bytes.
    ///
    /// # Errors
    ///
    /// Those of `Vocabulary::new` and `Bpe::new`.
    pub fn bpe<T: AsRef<[u8]>>(
        &self,
        also: &[(u32, T)],
        merges: &[(u32, u32)],
        whole_first: bool,
    ) -> Result<Bpe> {
        let mut vocabulary = Arc::clone(&self.tokens);
        if !also.is_empty() {
            let also = also.iter().map(|(id, token)| (*id, token.as_ref()));
            let tokens: Vec<(u32, &[u8])> = self.tokens.tokens().chain(also).collect();
            vocabulary = Arc::new(Vocabulary::new(tokens.iter().copied())?);
        }
        Bpe::new(vocabulary, merges, whole_first)
    }
}

fn refused(message: String) -> Error {
    Error::new(Kind::Vocabulary, message)
}

/// Append the bytes that a text stands for; whether each of its characters stands for one, else
/// nothing is appended.
fn spell(text: &str, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    for character in text.chars() {
        let Some(byte) = byte_of(character) else {
            out.truncate(start);
            return false;
        };
        out.push(byte);
    }
    true
}

/// The byte that a printable character stands for.
fn byte_of(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => u8::try_from(code).ok(),
        code @ 0x100..=0x120 => u8::try_from(code - 0x100).ok(),
        code @ 0x121..=0x142 => u8::try_from(code - 0x121 + 0x7F).ok(),
        0x143 => Some(0xAD),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(entries: &[(&'static str, u32)]) -> Result<SpeltVocabulary> {
        let entries: Vec<_> = entries.iter().map(|&(text, id)| (text.into(), id)).collect();
        SpeltVocabulary::new(&entries)
    }

    #[test]
    fn every_byte_is_written_once() {
        let written: Vec<char> =
            (0..0x200).filter_map(char::from_u32).filter(|&c| byte_of(c).is_some()).collect();
        let mut bytes: Vec<u8> = written.iter().filter_map(|&c| byte_of(c)).collect();
        bytes.sort_unstable();
        assert_eq!(bytes, (0..=255).collect::<Vec<u8>>());
    }

    #[test]
    fn tokens_are_found_as_they_are_written() {
        let spelt = vocabulary(&[("Ġa", 3), ("a", 0), ("Ġ", 7), ("<｜x｜>", 1)]).expect("small");
        let mut buffer = Vec::new();
        let ids = ["Ġa", "a", "<｜x｜>", " a", "b"].map(|text| spelt.id_of(text, &mut buffer));
        assert_eq!(ids, [Some(3), Some(0), Some(1), None, None]);
        assert_eq!((spelt.len(), spelt.others().len()), (4, 1));
        let bpe = spelt.bpe::<&[u8]>(&[], &[(7, 0)], false).expect("a model");
        assert_eq!(bpe.vocabulary().token(3), Some(b" a".as_slice()));
        assert_eq!(bpe.vocabulary().token(1), None);
        let bpe = spelt.bpe(&[(1, "<｜x｜>")], &[(7, 0)], false).expect("a model");
        assert_eq!(bpe.vocabulary().token(1), Some("<｜x｜>".as_bytes()));
    }

    #[test]
    fn what_stands_twice_is_refused() {
        for entries in [
            [("a", 0), ("a", 1)],
            [("a", 0), ("b", 0)],
            [("é￼", 0), ("b", 0)],
            [("￼", 0), ("￼", 1)],
            [("￼", 1), ("￼￼", 1)],
            [("￼", u32::MAX), ("b", 1)],
            [("", 0), ("b", 1)],
        ] {
            assert!(vocabulary(&entries).is_err(), "{entries:?}");
        }
    }
}
