//! Merges that a list of ranked tokens implies.
//!
//! tiktoken joins any neighbours whose concatenation is a token, lowest rank first. Inside the
//! span of a token that is about to be made, everything of lower rank has been made already,
//! whatever stands around it: so each token is only ever made of the two parts to which the
//! lower ranks reduce it. A token they reduce to more parts is never made, only looked up whole.

use super::encode::{Bpe, Scratch};
use super::vocabulary::Vocabulary;
use crate::error::{Error, Kind, Result};

/// The merges of tokens in rank order, as pairs of ids; `ranked[i]` is an id of `vocabulary`.
///
/// # Errors
///
/// `Vocabulary` for an id without a token; `Memory`.
pub fn merges_of_ranks(
    vocabulary: Vocabulary,
    ranked: &[u32],
) -> Result<(Vocabulary, Vec<(u32, u32)>)> {
    let mut merges: Vec<(u32, u32)> = Vec::new();
    let mut bpe = Bpe::without_merges(vocabulary, ranked.len())?;
    let (mut scratch, mut parts) = (Scratch::default(), Vec::new());
    for &id in ranked {
        let token = bpe.vocabulary().token(id).ok_or_else(|| {
            Error::new(Kind::Vocabulary, format!("rank names id {id}, which has no token"))
        })?;
        if token.len() < 2 || !bpe.has_bytes_of(token) {
            continue;
        }
        parts.clear();
        bpe.encode(token, &mut scratch, &mut parts)?;
        if let [left, right] = *parts.as_slice() {
            bpe.add_merge(left, right, id)?;
            merges.push((left, right));
        }
    }
    Ok((bpe.into_vocabulary(), merges))
}
