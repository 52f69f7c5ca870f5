//! Tokens by id and ids by token.

use hashbrown::HashMap;

use crate::error::{Error, Kind, Result};

/// Distinct tokens in the order of their ids.
#[derive(Debug, Default)]
pub struct Symbols {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    ids: HashMap<Box<[u8]>, u32>,
}

impl Symbols {
    /// How many there are: the id of the next one.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The token of an id; empty for an id that does not exist.
    pub fn token(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = id.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let end = self.ends.get(id).copied().unwrap_or(0);
        self.bytes.get(start.unwrap_or(0)..end).unwrap_or(&[])
    }

    /// The id of a token.
    pub fn id(&self, token: &[u8]) -> Option<u32> {
        self.ids.get(token).copied()
    }

    /// The id of a token, which is added when it is new.
    pub fn intern(&mut self, token: &[u8]) -> Result<u32> {
        if let Some(id) = self.id(token) {
            return Ok(id);
        }
        let id = u32::try_from(self.len()).ok().filter(|&id| id < u32::MAX).ok_or_else(|| {
            Error::new(Kind::VocabSize, "a vocabulary holds at most 2^32 - 1 tokens")
        })?;
        self.bytes.try_reserve(token.len())?;
        self.bytes.extend_from_slice(token);
        self.ends.push(self.bytes.len());
        self.ids.insert(token.into(), id);
        Ok(id)
    }

    /// Every token, in the order of the ids.
    pub fn into_tokens(self) -> Vec<Vec<u8>> {
        (0..).take(self.len()).map(|id| self.token(id).to_vec()).collect()
    }
}
