//! Cut texts at special tokens: leftmost first, and the longest of those that start there.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::dictionary::Dictionary;
use crate::error::{Error, Kind, Result};
use crate::split::begins_cut;
use crate::split::classes::{ClassTable, bit, decode_utf8};
use crate::split::trailing_spaces;

/// A string that becomes an id wherever it stands in a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpecialToken {
    /// What is looked for.
    pub text: Vec<u8>,
    /// What it becomes.
    pub id: u32,
    /// Only where no word character (`\w`) touches it.
    pub single_word: bool,
    /// It takes the whitespace before it.
    pub lstrip: bool,
    /// It takes the whitespace after it.
    pub rstrip: bool,
}

impl SpecialToken {
    /// A token without further conditions.
    #[must_use]
    pub fn new(text: &[u8], id: u32) -> Self {
        Self { text: text.to_vec(), id, ..Self::default() }
    }

    /// Whether it is found by its text alone.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !(self.single_word || self.lstrip || self.rstrip)
    }
}

/// Up to so many tokens an automaton is built soon, and finds them fastest.
const FEW: usize = 64;

/// Finds the leftmost token, the longest of those that begin there.
#[derive(Debug)]
enum Matcher {
    /// For few tokens.
    Automaton(AhoCorasick),
    /// For many.
    Dictionary(Box<Dictionary>),
}

impl Matcher {
    /// The start, the end and the place of the first token from `at` on.
    #[inline]
    fn find(&self, text: &[u8], at: usize) -> Option<(usize, usize, usize)> {
        match self {
            Self::Automaton(automaton) => {
                let found = automaton.find(aho_corasick::Input::new(text).range(at..))?;
                Some((found.start(), found.end(), found.pattern().as_usize()))
            }
            Self::Dictionary(dictionary) => dictionary.find(text, at),
        }
    }
}

/// Finds special tokens in text.
#[derive(Debug)]
pub struct SpecialTokens {
    tokens: Vec<SpecialToken>,
    matcher: Option<Matcher>,
    longest: usize,
    begins: [bool; 256],
    are_plain: bool,
    may_be_cut: bool,
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
    pub fn new(tokens: Vec<SpecialToken>) -> Result<Self> {
        let mut this = Self::unmatched(tokens)?;
        let texts: Vec<&[u8]> = this.tokens.iter().map(|token| token.text.as_slice()).collect();
        this.matcher = match texts.len() {
            0 => None,
            1..=FEW => {
                let built =
                    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts);
                Some(Matcher::Automaton(built.map_err(|error| {
                    let message = format!("the special tokens do not compile: {error}");
                    Error::new(Kind::SpecialToken, message)
                })?))
            }
            _ => Some(Matcher::Dictionary(Box::new(Dictionary::new(&texts)))),
        };
        Ok(this)
    }

    /// Tokens and their ids to look up, without finding them in texts.
    ///
    /// # Errors
    ///
    /// `SpecialToken` for an empty or repeated one.
    pub fn unmatched(tokens: Vec<SpecialToken>) -> Result<Self> {
        let places = u32::try_from(tokens.len())
            .map_err(|_| Error::new(Kind::SpecialToken, "more than 2^32 special tokens"))?;
        let mut by_id: Vec<u32> = (0..places).collect();
        by_id.sort_by_key(|&at| tokens[at as usize].id);
        let mut by_bytes: Vec<u32> = (0..places).collect();
        by_bytes.sort_by_key(|&at| tokens[at as usize].text.as_slice());
        let sorted = |at: usize| tokens[by_bytes[at] as usize].text.as_slice();
        if !tokens.is_empty() && sorted(0).is_empty() {
            return Err(Error::new(
                Kind::SpecialToken,
                "a special token is empty; it would match everywhere, so give it a spelling",
            ));
        }
        if let Some(at) = (1..tokens.len()).find(|&at| sorted(at) == sorted(at - 1)) {
            let shown = String::from_utf8_lossy(sorted(at));
            return Err(Error::new(
                Kind::SpecialToken,
                format!("special token {shown:?} is given twice; give each once"),
            ));
        }
        let mut begins = [false; 256];
        for byte in tokens.iter().filter_map(|token| token.text.first()) {
            begins[*byte as usize] = true;
        }
        Ok(Self {
            longest: tokens.iter().map(|token| token.text.len()).max().unwrap_or(0),
            may_be_cut: tokens
                .iter()
                .any(|token| (0..token.text.len()).any(|at| begins_cut(&token.text, at))),
            are_plain: tokens.iter().all(SpecialToken::is_plain),
            tokens,
            matcher: None,
            begins,
            by_id,
            by_bytes,
        })
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The tokens and their ids, in the order given.
    #[must_use]
    pub fn tokens(&self) -> &[SpecialToken] {
        &self.tokens
    }

    /// Whether every token is found by its text alone.
    #[must_use]
    pub fn are_plain(&self) -> bool {
        self.are_plain
    }

    /// The token of an id; of several, the first given.
    #[must_use]
    pub fn token(&self, id: u32) -> Option<&[u8]> {
        let found = self.by_id.partition_point(|&at| self.tokens[at as usize].id < id);
        let token = &self.tokens[*self.by_id.get(found)? as usize];
        (token.id == id).then_some(token.text.as_slice())
    }

    /// The id of a token.
    #[must_use]
    pub fn id_of(&self, token: &[u8]) -> Option<u32> {
        let key = |at: &u32| self.tokens[*at as usize].text.as_slice();
        let found = self.by_bytes.binary_search_by_key(&token, key).ok()?;
        self.by_bytes.get(found).map(|&at| self.tokens[at as usize].id)
    }

    /// Whether a token has inside what texts are cut before, so that a cut may break it.
    #[must_use]
    pub fn may_be_cut(&self) -> bool {
        self.may_be_cut
    }

    /// Bytes of the longest token; 0 without tokens.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The first special token at or after `from`: its start, end and id.
    ///
    /// Whitespace that a token takes with it belongs to the span, but none before `from`.
    #[inline]
    #[must_use]
    pub fn find(&self, text: &[u8], from: usize) -> Option<(usize, usize, u32)> {
        let mut at = from;
        loop {
            let (mut start, mut end, place) = self.matcher.as_ref()?.find(text, at)?;
            let token = self.tokens.get(place)?;
            if self.are_plain {
                return Some((start, end, token.id));
            }
            if token.single_word && touches_word(text, start, end) {
                at = end;
                continue;
            }
            if token.lstrip {
                start -= trailing_spaces(text.get(from..start).unwrap_or_default());
            }
            if token.rstrip {
                end += leading_spaces(text.get(end..).unwrap_or_default());
            }
            return Some((start, end, token.id));
        }
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
                tail.first().is_some_and(|&byte| self.begins[byte as usize]) && self.is_begun(tail)
            })
            .unwrap_or(text.len())
    }

    /// Whether some token begins with `text` and goes on.
    fn is_begun(&self, text: &[u8]) -> bool {
        let token = |&at: &u32| self.tokens[at as usize].text.as_slice();
        let above = self.by_bytes.partition_point(|at| token(at) <= text);
        self.by_bytes.get(above).is_some_and(|at| token(at).starts_with(text))
    }
}

fn touches_word(text: &[u8], start: usize, end: usize) -> bool {
    let is_word = |c: char| c == '_' || ClassTable::shared().of(u32::from(c)) & bit::WORD != 0;
    let before = text.get(..start).unwrap_or_default();
    let tail = before.get(before.len().saturating_sub(4)..).unwrap_or_default();
    let previous = tail.utf8_chunks().last().filter(|chunk| chunk.invalid().is_empty());
    let next = text
        .get(end..)
        .and_then(decode_utf8)
        .and_then(|(code_point, _)| char::from_u32(code_point));
    previous.and_then(|chunk| chunk.valid().chars().next_back()).is_some_and(is_word)
        || next.is_some_and(is_word)
}

fn leading_spaces(text: &[u8]) -> usize {
    let mut n_bytes = 0;
    while let Some((code_point, length)) = text.get(n_bytes..).and_then(decode_utf8) {
        if ClassTable::shared().of(code_point) & bit::SPACE == 0 {
            break;
        }
        n_bytes += length;
    }
    n_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn special(tokens: &[&str]) -> SpecialTokens {
        let tokens =
            tokens.iter().zip(0..).map(|(t, id)| SpecialToken::new(t.as_bytes(), id)).collect();
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
        let token = SpecialToken::new;
        for tokens in [vec![token(b"", 0)], vec![token(b"a", 0), token(b"a", 1)]] {
            assert_eq!(SpecialTokens::new(tokens).expect_err("refused").kind, Kind::SpecialToken);
        }
    }
}
