//! Many texts to ids, on several threads: short texts in groups, huge ones in parts.

use crate::error::{Error, Result};
use crate::parallel::{Control, for_each, n_threads};
use crate::tokenizer::{Policy, Tokenizer};
use crate::worker::locate;

/// Bytes of a piece that one thread takes at a time.
const PIECE: usize = 1 << 18;

/// The ids of all texts, and the bounds of each text in them, from 0 on.
pub type Batch = (Vec<u32>, Vec<i64>);

/// Encode texts on several threads; the ids do not depend on how many.
///
/// # Errors
///
/// As `Worker::encode`, with the `name` of the text, which it is given the number of.
pub fn encode_batch(
    kernel: &Tokenizer,
    texts: &[&[u8]],
    policy: &Policy,
    wanted: Option<usize>,
    name: &(impl Fn(usize) -> String + Sync),
    control: &Control,
) -> Result<Batch> {
    let n_threads = n_threads(wanted)?;
    if matches!(policy, Policy::Forbid) {
        for (index, text) in texts.iter().enumerate() {
            kernel.recognized(text, policy).map_err(|error| in_text(name(index), &error))?;
        }
    }
    let pieces = pieces_of(kernel, texts, n_threads > 1);
    let groups = groups_of(&pieces);
    let mut workers: Vec<_> = Vec::new();
    for _ in 0..n_threads.min(groups.len()).clamp(1, 256) {
        workers.push((kernel.worker(), Vec::<(usize, Vec<u32>, Vec<usize>)>::new()));
    }
    for_each(&mut workers, groups.len(), |(worker, done), item| {
        let group =
            groups.get(item).and_then(|group| pieces.get(group.clone())).unwrap_or_default();
        let n_bytes: usize = group.iter().map(|(_, piece)| piece.len()).sum();
        let mut ids = Vec::new();
        ids.try_reserve(n_bytes / 4 + 8)?;
        let mut ends = Vec::with_capacity(group.len());
        for (text, piece) in group {
            worker.encode(piece, policy, &mut ids, control).map_err(|error| {
                let whole = texts.get(*text).copied().unwrap_or_default();
                let error = locate(error, piece.as_ptr().addr() - whole.as_ptr().addr());
                in_text(name(*text), &error)
            })?;
            ends.push(ids.len());
        }
        done.push((item, ids, ends));
        Ok(())
    })?;
    let mut done: Vec<_> = workers.into_iter().flat_map(|(_, done)| done).collect();
    done.sort_unstable_by_key(|(item, ..)| *item);
    join(&pieces, &groups, done, texts.len())
}

/// The error with the name of its text.
fn in_text(name: String, error: &Error) -> Error {
    Error::new(error.kind, format!("{name}: {}", error.message))
}

/// (text, bytes) of the parts that threads take: whole texts, or parts of huge ones.
fn pieces_of<'t>(kernel: &Tokenizer, texts: &[&'t [u8]], may_cut: bool) -> Vec<(usize, &'t [u8])> {
    let mut pieces = Vec::with_capacity(texts.len());
    for (index, &text) in texts.iter().enumerate() {
        let mut rest = text;
        while may_cut && rest.len() > 2 * PIECE {
            let Some(cut) = kernel.safe_cut(rest, PIECE) else { break };
            let (piece, after) = rest.split_at(cut);
            pieces.push((index, piece));
            rest = after;
        }
        pieces.push((index, rest));
    }
    pieces
}

/// Runs of pieces that make up about `PIECE` bytes.
fn groups_of(pieces: &[(usize, &[u8])]) -> Vec<std::ops::Range<usize>> {
    let mut groups = Vec::new();
    let (mut start, mut n_bytes) = (0, 0);
    for (at, (_, piece)) in pieces.iter().enumerate() {
        n_bytes += piece.len() + 1;
        if n_bytes >= PIECE {
            groups.push(start..at + 1);
            (start, n_bytes) = (at + 1, 0);
        }
    }
    if start < pieces.len() {
        groups.push(start..pieces.len());
    }
    groups
}

fn join(
    pieces: &[(usize, &[u8])],
    groups: &[std::ops::Range<usize>],
    mut done: Vec<(usize, Vec<u32>, Vec<usize>)>,
    n_texts: usize,
) -> Result<Batch> {
    let mut bounds = vec![0i64; n_texts + 1];
    let n_ids = done.iter().map(|(_, ids, _)| ids.len()).sum();
    let mut all = match done.as_mut_slice() {
        [(_, only, _)] => std::mem::take(only),
        _ => {
            let mut all = Vec::new();
            all.try_reserve_exact(n_ids)?;
            all
        }
    };
    let mut base = 0;
    for (item, ids, ends) in done {
        let group = groups.get(item).and_then(|g| pieces.get(g.clone())).unwrap_or_default();
        for ((text, _), end) in group.iter().zip(&ends) {
            if let Some(bound) = bounds.get_mut(text + 1) {
                *bound = (base + end) as i64;
            }
        }
        base += ends.last().copied().unwrap_or(0);
        all.extend_from_slice(&ids);
    }
    Ok((all, bounds))
}
