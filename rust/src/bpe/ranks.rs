//! Merges that a list of ranked tokens implies.
//!
//! tiktoken joins any neighbours whose concatenation is a token, lowest rank first, one pair at a
//! time. While nothing reaches over the ends of a token's span, what happens inside depends on
//! nothing around it: so a token is only ever made of the two parts that are left when its bytes
//! are merged by all tokens but itself. Those are shorter, and tokens are taken by length. A
//! token of which more parts are left is never made, only looked up whole.

use super::encode::{Bpe, Scratch};
use super::vocabulary::Vocabulary;
use crate::error::{Error, Kind, Result};
use crate::parallel::Control;

/// The merges of tokens in rank order, as pairs of ids; `ranked[i]` is an id of `vocabulary`.
///
/// # Errors
///
/// `Vocabulary` for an id without a token; `Memory`, `Interrupted`.
pub fn merges_of_ranks(
    vocabulary: Vocabulary,
    ranked: &[u32],
    control: &Control,
) -> Result<Vec<(u32, u32)>> {
    let mut by_length: Vec<(usize, u32, u32)> = Vec::new();
    by_length.try_reserve_exact(ranked.len())?;
    let mut bpe = Bpe::without_merges(vocabulary, ranked.len())?;
    for (rank, &id) in (0u32..).zip(ranked) {
        let token = token_of(&bpe, id)?;
        if token.len() > 1 && bpe.has_bytes_of(token) {
            by_length.push((token.len(), rank, id));
        }
    }
    by_length.sort_unstable();
    let mut merges: Vec<(u32, u32, u32)> = Vec::new();
    let (mut scratch, mut parts) = (Scratch::default(), Vec::new());
    for (_, rank, id) in by_length {
        control.check()?;
        parts.clear();
        bpe.encode(token_of(&bpe, id)?, &mut scratch, &mut parts, control)?;
        if let [left, right] = *parts.as_slice() {
            bpe.add_ranked_merge(left, right, id, rank)?;
            merges.push((rank, left, right));
        }
    }
    merges.sort_unstable();
    Ok(merges.into_iter().map(|(_, left, right)| (left, right)).collect())
}

fn token_of(bpe: &Bpe, id: u32) -> Result<&[u8]> {
    bpe.vocabulary().token(id).ok_or_else(|| {
        Error::new(Kind::Vocabulary, format!("rank names id {id}, which has no token"))
    })
}
