//! Models that do not merge: a pre-token is one token, or each of its characters is.

use std::sync::OnceLock;

use crate::bpe::characters::{Spanned, byte_token};
use crate::bpe::vocabulary::{NO_ID, Vocabulary};
use crate::code_points::{CodePointTable, INVALID, code_point_at, shown};
use crate::error::{Error, Kind, Result};
use crate::parallel::Control;
use crate::special::{SpecialToken, SpecialTokens};
use crate::unigram::{Piece, PieceKind};

/// Bytes between two looks at the stop flag.
const BYTES_A_CHECK: usize = 1 << 16;

/// What `▁` is in UTF-8: sentencepiece's space.
const SPACE: &[u8] = "▁".as_bytes();

/// What becomes of text that is no token.
#[derive(Debug, Clone, Default)]
pub struct Unknown {
    /// The unknown token; without it such text is refused.
    pub unk_id: Option<u32>,
    /// Whether unknown tokens that follow each other within one call are one.
    pub is_fused: bool,
    /// Tokens to give instead, by byte.
    pub byte_ids: Option<Box<[u32; 256]>>,
}

/// Whole words.
#[derive(Debug)]
pub struct Words {
    vocabulary: Vocabulary,
    unknown: Unknown,
    begins_at_space: bool,
}

/// One token a character.
#[derive(Debug)]
pub struct Characters {
    /// Ids by code point; without it each is its own.
    table: Option<CodePointTable>,
    user_defined: SpecialTokens,
    unknown: Unknown,
}

impl Words {
    /// Every pre-token is one word.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for an unknown token's id without a token.
    pub fn new(vocabulary: Vocabulary, unk_id: Option<u32>) -> Result<Self> {
        check_unknown(&vocabulary, unk_id)?;
        let unknown = Unknown { unk_id, ..Unknown::default() };
        Ok(Self { vocabulary, unknown, begins_at_space: false })
    }

    /// The word model of sentencepiece: `▁` begins a word, wherever it stands.
    ///
    /// Unknown words that follow each other are one unknown token. Control, unknown, byte
    /// and unused pieces are never words.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for a repeated piece, an `unk_id` outside the list, or byte fallback without
    /// all byte pieces.
    pub fn from_pieces(pieces: &[Piece], unk_id: u32, byte_fallback: bool) -> Result<Self> {
        let unknown = Unknown::of_pieces(pieces, unk_id, byte_fallback)?;
        let in_text: Vec<(u32, &[u8])> = in_text(pieces).collect();
        let vocabulary = Vocabulary::new(in_text.into_iter())?;
        Ok(Self { vocabulary, unknown, begins_at_space: true })
    }

    /// The tokens that are words.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Append the ids of one pre-token; none for an empty one.
    ///
    /// # Errors
    ///
    /// `UnencodableText` for an unknown word, without an unknown token.
    pub fn encode(&self, pretoken: &[u8], ids: &mut Vec<u32>, control: &Control) -> Result<()> {
        self.each(pretoken, control, |id, _, _| ids.push(id))
    }

    /// Append the tokens of one pre-token with the bytes of each.
    ///
    /// # Errors
    ///
    /// Those of `encode`; `Argument` for 4 GiB or more.
    pub fn encode_spans(
        &self,
        pretoken: &[u8],
        out: &mut Vec<Spanned>,
        control: &Control,
    ) -> Result<()> {
        check_length(pretoken)?;
        spanned(out, |put| self.each(pretoken, control, put))
    }

    fn each(
        &self,
        pretoken: &[u8],
        control: &Control,
        give: impl FnMut(u32, usize, usize),
    ) -> Result<()> {
        let mut writer = Writer::new(&self.unknown, give);
        let mut check_at = BYTES_A_CHECK;
        let mut start = 0;
        while start < pretoken.len() {
            if start >= check_at {
                control.check()?;
                check_at = start + BYTES_A_CHECK;
            }
            let rest = pretoken.get(start..).unwrap_or_default();
            let after = rest.get(1..).filter(|_| self.begins_at_space).unwrap_or_default();
            let n_bytes = memchr::memmem::find(after, SPACE).map_or(rest.len(), |at| at + 1);
            let word = rest.get(..n_bytes).unwrap_or(rest);
            match self.vocabulary.id_of(word) {
                Some(id) => writer.known(id, start, start + n_bytes),
                None => writer.unknown(word, start, || {
                    let shown = word.get(..40).unwrap_or(word);
                    format!("word {:?}", String::from_utf8_lossy(shown))
                })?,
            }
            start += n_bytes;
        }
        writer.finish();
        Ok(())
    }
}

impl Characters {
    /// Tokens of one character each; longer ones are never given.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for an unknown token's id without a token; `Memory`.
    pub fn new(vocabulary: &Vocabulary, unk_id: Option<u32>) -> Result<Self> {
        check_unknown(vocabulary, unk_id)?;
        let unknown = Unknown { unk_id, ..Unknown::default() };
        Self::of(vocabulary.tokens(), SpecialTokens::new(Vec::new())?, unknown)
    }

    /// All of Unicode: the id of a character is its code point. Only bytes that are no part of
    /// UTF-8 are unknown.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn all(unk_id: Option<u32>) -> Result<Self> {
        let user_defined = SpecialTokens::new(Vec::new())?;
        let unknown = Unknown { unk_id, ..Unknown::default() };
        if ALL_CHARACTERS.get().is_none() {
            // Where two threads make it at once, one of the equal tables stays.
            let _ = ALL_CHARACTERS.set(all_characters()?);
        }
        Ok(Self { table: None, user_defined, unknown })
    }

    /// The tokens, where they are all of Unicode.
    #[must_use]
    pub fn vocabulary(&self) -> Option<&Vocabulary> {
        if self.table.is_none() { ALL_CHARACTERS.get() } else { None }
    }

    /// The char model of sentencepiece: user-defined pieces first, leftmost and longest, then
    /// characters.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for an empty or repeated user-defined piece, an `unk_id` outside the list,
    /// or byte fallback without all byte pieces.
    pub fn from_pieces(pieces: &[Piece], unk_id: u32, byte_fallback: bool) -> Result<Self> {
        let unknown = Unknown::of_pieces(pieces, unk_id, byte_fallback)?;
        let user_defined =
            in_text(pieces).filter(|&(id, _)| kind_of(pieces, id) == Some(PieceKind::UserDefined));
        let user_defined = user_defined.map(|(id, text)| SpecialToken::new(text, id)).collect();
        Self::of(in_text(pieces), SpecialTokens::new(user_defined)?, unknown)
    }

    fn of<'a>(
        tokens: impl Iterator<Item = (u32, &'a [u8])>,
        user_defined: SpecialTokens,
        unknown: Unknown,
    ) -> Result<Self> {
        let mut table = CodePointTable::new()?;
        for (id, token) in tokens {
            let (code, n_bytes) = code_point_at(token, 0);
            if code < INVALID && n_bytes == token.len() {
                table.set(code, id)?;
            }
        }
        Ok(Self { table: Some(table), user_defined, unknown })
    }

    /// Append the ids of one pre-token.
    ///
    /// # Errors
    ///
    /// `UnencodableText` for an unknown character, without an unknown token.
    pub fn encode(&self, pretoken: &[u8], ids: &mut Vec<u32>, control: &Control) -> Result<()> {
        self.each(pretoken, control, |id, _, _| ids.push(id))
    }

    /// Append the tokens of one pre-token with the bytes of each.
    ///
    /// # Errors
    ///
    /// Those of `encode`; `Argument` for 4 GiB or more.
    pub fn encode_spans(
        &self,
        pretoken: &[u8],
        out: &mut Vec<Spanned>,
        control: &Control,
    ) -> Result<()> {
        check_length(pretoken)?;
        spanned(out, |put| self.each(pretoken, control, put))
    }

    fn each(
        &self,
        pretoken: &[u8],
        control: &Control,
        give: impl FnMut(u32, usize, usize),
    ) -> Result<()> {
        let mut writer = Writer::new(&self.unknown, give);
        let mut check_at = BYTES_A_CHECK;
        self.user_defined.cut(pretoken, |start, end, user_defined| {
            if let Some(id) = user_defined {
                writer.known(id, start, end);
                return Ok(());
            }
            let mut at = start;
            while at < end {
                if at >= check_at {
                    control.check()?;
                    check_at = at + BYTES_A_CHECK;
                }
                let (code, n_bytes) = code_point_at(pretoken, at);
                let id = match &self.table {
                    Some(table) => table.get(code),
                    None => Some(code).filter(|&code| code < INVALID).unwrap_or(NO_ID),
                };
                let bytes = pretoken.get(at..at + n_bytes).unwrap_or_default();
                match id {
                    NO_ID => writer.unknown(bytes, at, || shown(code))?,
                    id => writer.known(id, at, at + n_bytes),
                }
                at += n_bytes;
            }
            Ok(())
        })?;
        writer.finish();
        Ok(())
    }
}

/// All of Unicode, made when the first tokenizer needs it.
static ALL_CHARACTERS: OnceLock<Vocabulary> = OnceLock::new();

fn all_characters() -> Result<Vocabulary> {
    let mut bytes = Vec::new();
    let mut spans = Vec::new();
    spans.try_reserve_exact(INVALID as usize)?;
    bytes.try_reserve_exact(INVALID as usize * 4)?;
    for character in '\0'..=char::MAX {
        let start = bytes.len();
        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        spans.push((u32::from(character), start..bytes.len()));
    }
    Vocabulary::new(
        spans.iter().map(|(code, span)| (*code, bytes.get(span.clone()).unwrap_or_default())),
    )
}

impl Unknown {
    fn of_pieces(pieces: &[Piece], unk_id: u32, byte_fallback: bool) -> Result<Self> {
        if unk_id as usize >= pieces.len() {
            let message = format!("unk_id is {unk_id}, but there are {} pieces", pieces.len());
            return Err(Error::new(Kind::Vocabulary, message));
        }
        let mut byte_ids = None;
        if byte_fallback {
            let mut ids = Box::new([NO_ID; 256]);
            let bytes = (0u32..).zip(pieces).filter(|(_, piece)| piece.kind == PieceKind::Byte);
            let mut spelled: Vec<(&[u8], u32)> =
                bytes.map(|(id, piece)| (piece.text.as_slice(), id)).collect();
            spelled.sort_unstable();
            for (byte, place) in (0..=255).zip(ids.iter_mut()) {
                let token = byte_token(byte);
                let found = spelled.binary_search_by_key(&token.as_bytes(), |&(text, _)| text);
                let found = found.ok().and_then(|found| spelled.get(found));
                let &(_, id) = found.ok_or_else(|| {
                    let message = format!(
                        "byte_fallback needs all 256 byte pieces, but {token:?} is missing"
                    );
                    Error::new(Kind::Vocabulary, message)
                })?;
                *place = id;
            }
            byte_ids = Some(ids);
        }
        Ok(Self { unk_id: Some(unk_id), is_fused: true, byte_ids })
    }
}

/// Gives tokens in order, and fuses unknown ones.
struct Writer<'a, F: FnMut(u32, usize, usize)> {
    unknown: &'a Unknown,
    give: F,
    /// An unknown token that may still grow.
    pending: Option<(u32, usize, usize)>,
}

impl<'a, F: FnMut(u32, usize, usize)> Writer<'a, F> {
    fn new(unknown: &'a Unknown, give: F) -> Self {
        Self { unknown, give, pending: None }
    }

    #[inline]
    fn known(&mut self, id: u32, start: usize, end: usize) {
        self.finish();
        (self.give)(id, start, end);
    }

    fn unknown(&mut self, text: &[u8], start: usize, shown: impl FnOnce() -> String) -> Result<()> {
        if let Some(byte_ids) = &self.unknown.byte_ids {
            for (&byte, at) in text.iter().zip(start..) {
                (self.give)(byte_ids[byte as usize], at, at + 1);
            }
            return Ok(());
        }
        let Some(unk_id) = self.unknown.unk_id else {
            let message =
                format!("{} at byte {start} of a pre-token is not in the vocabulary", shown());
            return Err(Error::new(Kind::UnencodableText, message));
        };
        let end = start + text.len();
        match &mut self.pending {
            Some(pending) if self.unknown.is_fused => pending.2 = end,
            _ => {
                self.finish();
                self.pending = Some((unk_id, start, end));
            }
        }
        Ok(())
    }

    #[inline]
    fn finish(&mut self) {
        if let Some((id, start, end)) = self.pending.take() {
            (self.give)(id, start, end);
        }
    }
}

fn spanned(
    out: &mut Vec<Spanned>,
    each: impl FnOnce(&mut dyn FnMut(u32, usize, usize)) -> Result<()>,
) -> Result<()> {
    each(&mut |id, start, end| out.push((id, start as u32, end as u32)))
}

fn check_unknown(vocabulary: &Vocabulary, unk_id: Option<u32>) -> Result<()> {
    match unk_id.filter(|&id| vocabulary.token(id).is_none()) {
        None => Ok(()),
        Some(id) => {
            let message = format!("the unknown token's id {id} has no token in the vocabulary");
            Err(Error::new(Kind::Vocabulary, message))
        }
    }
}

fn check_length(text: &[u8]) -> Result<()> {
    if u32::try_from(text.len()).is_err() {
        return Err(Error::new(Kind::Argument, "a pre-token of 4 GiB or more; split the text"));
    }
    Ok(())
}

/// Pieces that text can give, with their ids.
fn in_text(pieces: &[Piece]) -> impl Iterator<Item = (u32, &[u8])> {
    let in_text = |piece: &Piece| matches!(piece.kind, PieceKind::Normal | PieceKind::UserDefined);
    let with_ids = (0u32..).zip(pieces).filter(move |(_, piece)| in_text(piece));
    with_ids.map(|(id, piece)| (id, piece.text.as_slice()))
}

fn kind_of(pieces: &[Piece], id: u32) -> Option<PieceKind> {
    pieces.get(id as usize).map(|piece| piece.kind)
}
