//! The unigram language model: pieces with log probabilities, segmented by the best path.
//!
//! Source: Kudo 2018, "Subword Regularization"; behaviours that its text leaves open are those of
//! sentencepiece 0.2.3.

mod cuts;
mod em;
mod encode;
mod lattice;
mod seed;
mod train;
mod trie;
mod words;

use hashbrown::HashMap;

pub use cuts::{Agreement, FUSED, Running};
pub use encode::Scratch;
pub use lattice::{Random, Scored, check_alpha};
pub use train::{Learned, TrainOptions, learn_pieces};

use crate::code_points::CodePointTable;
use crate::error::{Error, Kind, Result};
use crate::neighbours::Neighbours;
use trie::Trie;

/// What is taken off the lowest piece score for a character that no piece covers.
pub const UNKNOWN_PENALTY: f64 = 10.0;
/// The score of a user-defined piece for each of its bytes but the first, whatever its own: log
/// probabilities are below it, so such a piece wins unless a longer normal piece bridges it.
///
/// Source: found by running sentencepiece 0.2.3 on hand-made models.
pub const USER_DEFINED_SCORE: f64 = 0.1;
/// Scores beyond this are refused, so that no sum of a path can leave the range of `f32`.
pub const MAX_ABS_SCORE: f64 = 1e20;

/// How a piece takes part in encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// Matched in text, by its score.
    Normal,
    /// The id of what no piece covers; never matched.
    Unknown,
    /// Never matched in text.
    Control,
    /// Matched in text, before normal pieces.
    UserDefined,
    /// `<0xXX>`: one byte of a character that no piece covers, where byte fallback is on.
    Byte,
    /// Has an id, is never matched.
    Unused,
}

/// One entry of the vocabulary; its id is its place in the list.
#[derive(Debug, Clone)]
pub struct Piece {
    /// UTF-8 text.
    pub text: Vec<u8>,
    /// Natural logarithm of its probability.
    pub score: f64,
    /// How it takes part.
    pub kind: PieceKind,
}

/// What a model does beyond its pieces.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Id given to what no piece covers.
    pub unk_id: u32,
    /// Give an uncovered character as its bytes' `<0xXX>` pieces.
    pub byte_fallback: bool,
    /// Give neighbouring uncovered characters as one unknown id.
    pub fuse_unknown: bool,
    /// Round path scores to 32 bits where sentencepiece does; off, 64 bits as HF `tokenizers`.
    pub single_precision: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { unk_id: 0, byte_fallback: false, fuse_unknown: true, single_precision: true }
    }
}

/// A frozen unigram model.
#[derive(Debug)]
pub struct Unigram {
    trie: Trie,
    /// By id; by `USER_DEFINED_SCORE` for user-defined pieces, `unk_score` for unknown ones.
    scores: Vec<f64>,
    byte_ids: Option<Box<[u32; 256]>>,
    longest_piece: usize,
    unk_score: f64,
    options: Options,
    neighbours: Neighbours,
    /// Whether ids tell the score of their path, and no piece makes it rise but user-defined ones.
    falls: bool,
    /// Ids of the pieces of one character.
    single: CodePointTable,
}

impl Unigram {
    /// Freeze a model from `pieces`.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for an empty or repeated piece, a piece that is not UTF-8, a score that is
    /// not a number or beyond `MAX_ABS_SCORE`, an `unk_id` outside the list, or byte fallback
    /// without all 256 byte pieces.
    pub fn new(pieces: &[Piece], options: &Options) -> Result<Self> {
        check_pieces(pieces, options)?;
        let normal = || pieces.iter().filter(|piece| piece.kind == PieceKind::Normal);
        // Without normal pieces the unknown score has no effect on the path.
        let min_score = normal().map(|piece| piece.score).fold(f64::INFINITY, f64::min);
        let min_score = if min_score.is_finite() { min_score } else { 0.0 };
        let mut scores = Vec::new();
        let mut keys: Vec<(&[u8], u32)> = Vec::new();
        scores.try_reserve(pieces.len())?;
        keys.try_reserve(pieces.len())?;
        for (piece, id) in pieces.iter().zip(0u32..) {
            let user_defined = piece.kind == PieceKind::UserDefined;
            scores.push(if user_defined {
                options.rounded(USER_DEFINED_SCORE * (piece.text.len() as f64 - 1.0))
            } else {
                options.rounded(piece.score)
            });
            if user_defined || piece.kind == PieceKind::Normal {
                keys.push((&piece.text, id));
            }
        }
        let unk_score = options.rounded(options.rounded(min_score) - UNKNOWN_PENALTY);
        let byte_ids = if options.byte_fallback { Some(byte_ids(pieces)?) } else { None };
        // So that the scores of ids add up to that of their path: the byte that begins a
        // character counts for all of it.
        let unknown = byte_ids.iter().flat_map(|ids| (0u8..).zip(ids.iter()));
        let unknown =
            unknown.map(|(byte, &id)| (id, if byte & 0xC0 == 0x80 { 0.0 } else { unk_score }));
        let is_matched = keys.iter().any(|&(_, id)| id == options.unk_id);
        let unknown = unknown.chain((!is_matched).then_some((options.unk_id, unk_score)));
        for (id, score) in unknown {
            if let Some(place) = scores.get_mut(id as usize) {
                *place = score;
            }
        }
        keys.sort_unstable();
        let (neighbours, single) = cuts::characters(&keys)?;
        Ok(Self {
            neighbours,
            falls: !is_matched && normal().all(|piece| piece.score <= 0.0),
            single,
            trie: Trie::build(&keys)?,
            longest_piece: keys.iter().map(|(text, _)| text.len()).max().unwrap_or(0),
            scores,
            byte_ids,
            unk_score,
            options: *options,
        })
    }

    /// Number of ids.
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        self.scores.len()
    }
}

impl Options {
    fn rounded(&self, score: f64) -> f64 {
        if self.single_precision { f64::from(score as f32) } else { score }
    }
}

fn check_pieces(pieces: &[Piece], options: &Options) -> Result<()> {
    let refuse = |message: String| Err(Error::new(Kind::Vocabulary, message));
    if usize::try_from(options.unk_id).map_or(true, |unk_id| unk_id >= pieces.len()) {
        return refuse(format!(
            "unk_id is {}, but the {} pieces have the ids below {}; name the piece that stands \
             for unknown text",
            options.unk_id,
            pieces.len(),
            pieces.len()
        ));
    }
    let mut seen: HashMap<&[u8], usize> = HashMap::new();
    seen.try_reserve(pieces.len())
        .map_err(|_| Error::new(Kind::Memory, "not enough memory for the pieces"))?;
    for (id, piece) in pieces.iter().enumerate() {
        let name = String::from_utf8_lossy(&piece.text).chars().take(40).collect::<String>();
        if piece.text.is_empty() {
            return refuse(format!("piece {id} is empty; each piece needs a text"));
        }
        if std::str::from_utf8(&piece.text).is_err() {
            return refuse(format!("piece {id}, {name:?}, is not UTF-8"));
        }
        if piece.score.is_nan() || piece.score.abs() > MAX_ABS_SCORE {
            return refuse(format!(
                "piece {id}, {name:?}, has the score {}; a score is a log probability, a finite \
                 number",
                piece.score
            ));
        }
        if let Some(first) = seen.insert(&piece.text, id) {
            return refuse(format!(
                "pieces {first} and {id} are both {name:?}; each needs its own"
            ));
        }
    }
    Ok(())
}

fn byte_ids(pieces: &[Piece]) -> Result<Box<[u32; 256]>> {
    let mut ids = Box::new([u32::MAX; 256]);
    for (piece, id) in pieces.iter().zip(0u32..) {
        // HF's pieces have no kinds: there, text that spells one is it too.
        let is_named = || parse_byte_piece(&piece.text).is_some();
        if piece.kind != PieceKind::Byte && !(piece.kind == PieceKind::Normal && is_named()) {
            continue;
        }
        let byte = parse_byte_piece(&piece.text).ok_or_else(|| {
            Error::new(
                Kind::Vocabulary,
                format!(
                    "byte piece {id} is {:?}; expected \"<0x00>\" to \"<0xFF>\"",
                    String::from_utf8_lossy(&piece.text)
                ),
            )
        })?;
        if let Some(entry) = ids.get_mut(usize::from(byte)) {
            *entry = id;
        }
    }
    match ids.iter().position(|&id| id == u32::MAX) {
        Some(byte) => Err(Error::new(
            Kind::Vocabulary,
            format!("byte_fallback needs all 256 byte pieces, but \"<0x{byte:02X}>\" is missing"),
        )),
        None => Ok(ids),
    }
}

fn parse_byte_piece(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    if digits.len() != 2 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Bytes of the character that starts at `start`: its lead byte and the continuation bytes that
/// follow, as many as the lead byte announces. At least 1 inside the text.
#[inline(always)]
pub(crate) fn char_len(text: &[u8], start: usize) -> usize {
    let announced = match text.get(start) {
        None | Some(0..=0xBF) => return 1,
        Some(0xC0..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(_) => 4,
    };
    let tail = text.get(start + 1..text.len().min(start + announced)).unwrap_or_default();
    1 + tail.iter().take_while(|&&byte| byte & 0xC0 == 0x80).count()
}

/// Refuse a text whose positions do not fit `u32`.
fn check_length(text: &[u8]) -> Result<()> {
    if u32::try_from(text.len()).is_ok_and(|length| length < u32::MAX) {
        return Ok(());
    }
    Err(Error::new(
        Kind::Argument,
        format!("a segment of {} bytes passes 4 GiB; cut the text before", text.len()),
    ))
}
