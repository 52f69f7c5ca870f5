//! Merges that a list of ranked tokens implies.
//!
//! tiktoken joins any neighbours whose concatenation is a token, lowest rank first, one pair at a
//! time. While nothing reaches over the ends of a token's span, what happens inside depends on
//! nothing around it: so a token is only ever made of the two parts that are left when its bytes
//! are merged by all tokens but itself. Those are shorter, and tokens are taken by length. A
//! token of which more parts are left is never made, only looked up whole.

use std::sync::Arc;

use super::edges::Edges;
use super::encode::{Bpe, Scratch};
use super::vocabulary::Vocabulary;
use crate::error::{Error, Kind, Result};
use crate::parallel::{Control, for_each, n_threads};

/// The model that tiktoken would run over ranked tokens; `ranked[i]` is an id of `vocabulary`.
///
/// # Errors
///
/// `Vocabulary` for an id without a token; `Memory`, `Interrupted`.
pub fn bpe_of_ranks(vocabulary: Arc<Vocabulary>, ranked: &[u32], control: &Control) -> Result<Bpe> {
    let mut by_length: Vec<Ranked> = Vec::new();
    by_length.try_reserve_exact(ranked.len())?;
    let mut bpe = Bpe::without_merges(vocabulary, ranked.len())?;
    let mut n_of_edges = 0usize;
    for (rank, &id) in (0u32..).zip(ranked) {
        let token = token_of(&bpe, id)?;
        if token.len() < 2 {
            continue;
        }
        n_of_edges += usize::from(Edges::concern(token));
        if bpe.has_bytes_of(token) {
            by_length.push((token.len() as u32, rank, id));
        }
    }
    by_length.sort_by_key(|&(n_bytes, ..)| n_bytes);
    let mut workers: Vec<Worker> = Vec::new();
    workers.resize_with(n_threads(None)?, Worker::default);
    // Tokens of one length are no parts of each other: threads take them side by side.
    for group in by_length.chunk_by(|a, b| a.0 == b.0) {
        let chunks: Vec<&[Ranked]> = group.chunks(TOKENS_AT_ONCE).collect();
        let n_used = workers.len().min(chunks.len());
        for_each(workers.get_mut(..n_used).unwrap_or_default(), chunks.len(), |worker, at| {
            worker.split_tokens(&bpe, chunks.get(at).copied().unwrap_or_default(), control)
        })?;
        for worker in &mut workers {
            for (at, &(rank, id, left, right)) in worker.found.iter().enumerate() {
                if let Some(&(.., left, right)) = worker.found.get(at + AHEAD) {
                    bpe.pairs().prefetch(left, right);
                }
                bpe.add_ranked_merge(left, right, id, rank)?;
                n_of_edges -= usize::from(Edges::concern(token_of(&bpe, id)?));
            }
            worker.found.clear();
        }
    }
    bpe.put_whole_first(n_of_edges == 0);
    Ok(bpe)
}

/// Bytes, rank and id of a token.
type Ranked = (u32, u32, u32);

/// How many merges ahead of its own a slot is fetched.
const AHEAD: usize = 8;

/// Tokens that a thread takes at a time: enough to be worth one.
const TOKENS_AT_ONCE: usize = 1024;

#[derive(Default)]
struct Worker {
    scratch: Scratch,
    parts: Vec<u32>,
    /// Rank, id and the two parts of each token that is made.
    found: Vec<(u32, u32, u32, u32)>,
}

impl Worker {
    /// Split tokens of one length.
    fn split_tokens(&mut self, bpe: &Bpe, tokens: &[Ranked], control: &Control) -> Result<()> {
        control.check()?;
        for &(_, rank, id) in tokens {
            self.parts.clear();
            bpe.encode(token_of(bpe, id)?, &mut self.scratch, &mut self.parts, control)?;
            if let [left, right] = *self.parts.as_slice() {
                self.found.push((rank, id, left, right));
            }
        }
        Ok(())
    }
}

fn token_of(bpe: &Bpe, id: u32) -> Result<&[u8]> {
    bpe.vocabulary().token(id).ok_or_else(|| {
        Error::new(Kind::Vocabulary, format!("rank names id {id}, which has no token"))
    })
}
