//! Cut texts at special tokens: leftmost first, and the longest of those that start there.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::error::{Error, Kind, Result};

/// Finds special tokens in text.
#[derive(Debug)]
pub struct SpecialTokens {
    tokens: Vec<(Vec<u8>, u32)>,
    matcher: Option<AhoCorasick>,
    longest: usize,
    begins: [bool; 256],
    /// Places in `tokens`, by id and by bytes.
    by_id: Vec<u32>,
    by_bytes: Vec<u32>,
}

impl SpecialTokens {
    /// Compile the matcher for tokens and their ids.
    ///
    /// # Errors
    ///
    /// `SpecialToken` for an empty or repeated one.
    pub fn new(tokens: Vec<(Vec<u8>, u32)>) -> Result<Self> {
        let mut sorted: Vec<&[u8]> = tokens.iter().map(|(token, _)| token.as_slice()).collect();
        sorted.sort_unstable();
        if sorted.first().is_some_and(|token| token.is_empty()) {
            return Err(Error::new(
                Kind::SpecialToken,
                "a special token is empty; it would match everywhere, so give it a spelling",
            ));
        }
        if let Some([token, _]) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let shown = String::from_utf8_lossy(token);
            return Err(Error::new(
                Kind::SpecialToken,
                format!("special token {shown:?} is given twice; give each once"),
            ));
        }
        let longest = tokens.iter().map(|(token, _)| token.len()).max().unwrap_or(0);
        let matcher = if tokens.is_empty() {
            None
        } else {
            let built = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(tokens.iter().map(|(token, _)| token));
            Some(built.map_err(|error| {
                Error::new(
                    Kind::SpecialToken,
                    format!("the special tokens do not compile: {error}"),
                )
            })?)
        };
        let mut begins = [false; 256];
        for byte in tokens.iter().filter_map(|(token, _)| token.first()) {
            begins[*byte as usize] = true;
        }
        let places = u32::try_from(tokens.len())
            .map_err(|_| Error::new(Kind::SpecialToken, "more than 2^32 special tokens"))?;
        let mut by_id: Vec<u32> = (0..places).collect();
        by_id.sort_by_key(|&at| tokens[at as usize].1);
        let mut by_bytes: Vec<u32> = (0..places).collect();
        by_bytes.sort_by_key(|&at| tokens[at as usize].0.as_slice());
        Ok(Self { tokens, matcher, longest, begins, by_id, by_bytes })
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The tokens and their ids, in the order given.
    #[must_use]
    pub fn tokens(&self) -> &[(Vec<u8>, u32)] {
        &self.tokens
    }

    /// The token of an id.
    #[must_use]
    pub fn token(&self, id: u32) -> Option<&[u8]> {
        let found = self.by_id.binary_search_by_key(&id, |&at| self.tokens[at as usize].1).ok()?;
        self.by_id.get(found).map(|&at| self.tokens[at as usize].0.as_slice())
    }

    /// The id of a token.
    #[must_use]
    pub fn id_of(&self, token: &[u8]) -> Option<u32> {
        let key = |at: &u32| self.tokens[*at as usize].0.as_slice();
        let found = self.by_bytes.binary_search_by_key(&token, key).ok()?;
        self.by_bytes.get(found).map(|&at| self.tokens[at as usize].1)
    }

    /// Whether a token has whitespace inside, so that a cut before whitespace may break it.
    #[must_use]
    pub fn any_has_space(&self) -> bool {
        self.tokens.iter().any(|(token, _)| token.iter().any(u8::is_ascii_whitespace))
    }

    /// Bytes of the longest token; 0 without tokens.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The first special token at or after `from`: its start, end and id.
    #[inline]
    #[must_use]
    pub fn find(&self, text: &[u8], from: usize) -> Option<(usize, usize, u32)> {
        let found = self.matcher.as_ref()?.find(aho_corasick::Input::new(text).range(from..))?;
        let (_, id) = self.tokens.get(found.pattern().as_usize())?;
        Some((found.start(), found.end(), *id))
    }

    /// Call `piece` with each stretch of text between special tokens, and with each of those.
    ///
    /// # Errors
    ///
    /// Those of `piece`.
    pub fn cut(
        &self,
        text: &[u8],
        mut piece: impl FnMut(usize, usize, Option<u32>) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        while let Some((start, end, id)) = self.find(text, at) {
            if start > at {
                piece(at, start, None)?;
            }
            piece(start, end, Some(id))?;
            at = end;
        }
        if at < text.len() { piece(at, text.len(), None) } else { Ok(()) }
    }

    /// Where the end of `text` may be the beginning of a token that continues behind it:
    /// the first such offset, or the length of the text.
    #[must_use]
    pub fn open_end(&self, text: &[u8]) -> usize {
        let first = text.len().saturating_sub(self.longest.saturating_sub(1));
        (first..text.len())
            .find(|&at| {
                let tail = text.get(at..).unwrap_or_default();
                tail.first().is_some_and(|&byte| self.begins[byte as usize])
                    && self.tokens.iter().any(|(t, _)| t.len() > tail.len() && t.starts_with(tail))
            })
            .unwrap_or(text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn special(tokens: &[&str]) -> SpecialTokens {
        let tokens = tokens.iter().zip(0..).map(|(t, id)| (t.as_bytes().to_vec(), id)).collect();
        SpecialTokens::new(tokens).expect("valid")
    }

    #[test]
    fn the_longest_of_those_that_start_leftmost_wins() {
        let mut cuts = Vec::new();
        special(&["<e>", "<e><e>", "x<"])
            .cut(b"a<e><e><e>x<e>", |start, end, id| {
                cuts.push((start, end, id));
                Ok(())
            })
            .expect("no error");
        let expected =
            [(0, 1, None), (1, 7, Some(1)), (7, 10, Some(0)), (10, 12, Some(2)), (12, 14, None)];
        assert_eq!(cuts, expected);
    }

    #[test]
    fn an_open_end_is_where_a_token_could_begin() {
        let tokens = special(&["<|end|>", "|x"]);
        assert_eq!(tokens.open_end(b"abc"), 3);
        assert_eq!(tokens.open_end(b"abc<|e"), 3);
        assert_eq!(tokens.open_end(b"abc|"), 3);
        assert_eq!(tokens.open_end(b"<|end|>"), 7);
        assert_eq!(tokens.open_end(b""), 0);
    }

    #[test]
    fn empty_and_repeated_tokens_are_refused() {
        for tokens in [vec![(vec![], 0)], vec![(b"a".to_vec(), 0), (b"a".to_vec(), 1)]] {
            assert_eq!(SpecialTokens::new(tokens).expect_err("refused").kind, Kind::SpecialToken);
        }
    }
}
