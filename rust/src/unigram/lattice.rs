//! Segmentations beside the best one: the n best, and random ones.
//!
//! Source: n best, Huang and Chiang 2005, "Better k-best parsing", algorithm 3; sampling by
//! forward filtering and backward sampling, Kudo 2018, "Subword Regularization", section 3.2.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{Unigram, char_len, check_length};
use crate::error::{Error, Kind, Result};
use crate::parallel::Control;

/// A segmentation's ids and its score, the sum of its pieces' scores.
pub type Scored = (Vec<u32>, f64);

/// One piece in one place of the text.
#[derive(Debug, Clone, Copy)]
struct Edge {
    /// Character index where it starts.
    start: u32,
    id: u32,
    score: f64,
}

/// Every piece that matches anywhere, by the character index where it ends.
struct Lattice {
    /// Byte offset of each character, and the length of the text.
    offsets: Vec<u32>,
    /// Edges into position `j` are `edges[bounds[j]..bounds[j + 1]]`, longest first.
    bounds: Vec<usize>,
    edges: Vec<Edge>,
}

impl Lattice {
    fn n_chars(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn ending_at(&self, position: usize) -> &[Edge] {
        match (self.bounds.get(position), self.bounds.get(position + 1)) {
            (Some(&first), Some(&last)) => self.edges.get(first..last).unwrap_or_default(),
            _ => &[],
        }
    }

    /// `(id, start byte, end byte)` of an edge into `position`.
    fn piece(&self, edge: &Edge, position: usize) -> (u32, u32, u32) {
        let offset = |index: usize| self.offsets.get(index).copied().unwrap_or(0);
        (edge.id, offset(edge.start as usize), offset(position))
    }
}

/// A way to reach a position: by `edge` (index into all edges), after the `rank`-th best way to
/// reach where that starts.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Derivation {
    score: f64,
    edge: usize,
    rank: usize,
}

impl Eq for Derivation {}

impl Ord for Derivation {
    /// Greater is better: higher score, then the longer last piece, then the better rank.
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then(other.edge.cmp(&self.edge))
            .then(other.rank.cmp(&self.rank))
    }
}

impl PartialOrd for Derivation {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The ways to reach one position, as far as they were asked for.
#[derive(Debug, Default)]
struct Ways {
    found: Vec<Derivation>,
    candidates: BinaryHeap<Derivation>,
    started: bool,
    exhausted: bool,
    /// The last way found, whose successor is not among the candidates yet.
    unexpanded: Option<Derivation>,
}

/// A deterministic source of random numbers, the same on every platform.
///
/// Source: Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"
/// (SplitMix64).
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Start from `seed`; every value is a good seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number in `[0, 1)`, a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (z >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// An index with the given weights, which are not negative; the last on rounding.
    fn choose(&mut self, weights: &[f64]) -> usize {
        let mut rest = self.uniform() * weights.iter().sum::<f64>();
        for (index, weight) in weights.iter().enumerate() {
            rest -= weight;
            if rest < 0.0 {
                return index;
            }
        }
        weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
    }

    /// An index of `scores`, which fall: in proportion to their exponentials to the `alpha`.
    pub fn choose_by_score(&mut self, scores: &[f64], alpha: f64) -> usize {
        let best = scores.first().copied().unwrap_or(0.0);
        let weights: Vec<f64> =
            scores.iter().map(|score| libm::exp(alpha * (score - best))).collect();
        self.choose(&weights)
    }
}

impl Unigram {
    /// The `n` best segmentations of `text`, best first; fewer when there are fewer.
    ///
    /// Of equal scores the one whose last differing piece starts first comes first. Scores are
    /// summed in 64 bits, so the first may differ from `encode` where 32 bits cannot tell two
    /// paths apart.
    ///
    /// # Errors
    ///
    /// `Argument` when `n` is 0 or the text passes 4 GiB, `Memory` when buffers cannot be had,
    /// `Interrupted`.
    pub fn n_best(&self, text: &[u8], n: usize, control: &Control) -> Result<Vec<Scored>> {
        if n == 0 {
            return Err(Error::new(Kind::Argument, "n is 0; ask for at least one segmentation"));
        }
        if text.is_empty() {
            return Ok(vec![(Vec::new(), 0.0)]);
        }
        let lattice = self.lattice(text)?;
        let end = lattice.n_chars();
        let best = best_scores(&lattice)?;
        let mut ways = Vec::new();
        ways.try_reserve(end + 1)?;
        ways.resize_with(end + 1, Ways::default);
        let mut results = Vec::new();
        for rank in 0..n {
            control.check()?;
            find(&lattice, &best, &mut ways, end, rank)?;
            let Some(derivation) = ways.get(end).and_then(|ways| ways.found.get(rank)) else {
                break;
            };
            let (score, mut at, mut next) = (derivation.score, end, Some(*derivation));
            let mut path = Vec::new();
            while let Some(derivation) = next {
                let Some(edge) = lattice.edges.get(derivation.edge) else { break };
                path.try_reserve(1)?;
                path.push(lattice.piece(edge, at));
                at = edge.start as usize;
                find(&lattice, &best, &mut ways, at, derivation.rank)?;
                next = ways.get(at).and_then(|ways| ways.found.get(derivation.rank)).copied();
            }
            path.reverse();
            results.try_reserve(1)?;
            results.push((self.path_ids(text, &path)?, score));
        }
        Ok(results)
    }

    /// A random segmentation: each with a probability proportional to its own to the `alpha`.
    ///
    /// `alpha` 0 makes all segmentations equally likely, 1 follows the model, more sharpens.
    ///
    /// # Errors
    ///
    /// `Argument` for an `alpha` that is negative or not a number; else as `n_best`.
    pub fn sample(&self, text: &[u8], alpha: f64, seed: u64) -> Result<Vec<u32>> {
        self.sample_with(text, alpha, &mut Random::new(seed))
    }

    /// `sample`, with the random numbers of the caller: for several segments of one text.
    ///
    /// # Errors
    ///
    /// As `sample`.
    pub fn sample_with(&self, text: &[u8], alpha: f64, random: &mut Random) -> Result<Vec<u32>> {
        check_alpha(alpha)?;
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let lattice = self.lattice(text)?;
        let forward = forward_sums(&lattice, alpha)?;
        let sum_at = |index: u32| forward.get(index as usize).copied().unwrap_or(0.0);
        let mut path = Vec::new();
        let mut weights = Vec::new();
        let mut at = lattice.n_chars();
        while at > 0 {
            let edges = lattice.ending_at(at);
            let total = sum_at(at as u32);
            weights.clear();
            weights.extend(
                edges.iter().map(|edge| libm::exp(sum_at(edge.start) + alpha * edge.score - total)),
            );
            let Some(edge) = edges.get(random.choose(&weights)) else { break };
            path.try_reserve(1)?;
            path.push(lattice.piece(edge, at));
            at = edge.start as usize;
        }
        path.reverse();
        self.path_ids(text, &path)
    }

    /// A random one of the `n` best segmentations, in proportion to their probability to `alpha`.
    ///
    /// # Errors
    ///
    /// As `n_best` and `sample`.
    pub fn sample_n_best(&self, text: &[u8], n: usize, alpha: f64, seed: u64) -> Result<Vec<u32>> {
        check_alpha(alpha)?;
        let mut results = self.n_best(text, n, &Control::default())?;
        let scores: Vec<f64> = results.iter().map(|&(_, score)| score).collect();
        let chosen = Random::new(seed).choose_by_score(&scores, alpha);
        Ok(if chosen < results.len() { results.swap_remove(chosen).0 } else { Vec::new() })
    }

    fn lattice(&self, text: &[u8]) -> Result<Lattice> {
        check_length(text)?;
        let mut offsets: Vec<u32> = Vec::new();
        let mut indices: Vec<u32> = Vec::new();
        indices.try_reserve_exact(text.len() + 1)?;
        indices.resize(text.len() + 1, 0);
        offsets.try_reserve(text.len() + 1)?;
        let mut here = 0;
        while here < text.len() {
            if let Some(index) = indices.get_mut(here) {
                *index = offsets.len() as u32;
            }
            offsets.push(here as u32);
            here += char_len(text, here);
        }
        if let Some(index) = indices.last_mut() {
            *index = offsets.len() as u32;
        }
        let n_chars = offsets.len();
        offsets.push(text.len() as u32);
        // By start first, then counted into place by end, which keeps the order of starts.
        let mut by_start: Vec<(u32, Edge)> = Vec::new();
        for start in 0..n_chars as u32 {
            let from = offsets.get(start as usize).copied().unwrap_or(0) as usize;
            let mut covered = false;
            by_start.try_reserve(1 + self.longest_piece)?;
            self.trie.prefixes(text, from, |id, end| {
                let end = indices.get(end).copied().unwrap_or(0);
                let score = self.scores.get(id as usize).copied().unwrap_or(0.0);
                by_start.push((end, Edge { start, id, score }));
                covered |= end == start + 1;
            });
            if !covered {
                let edge = Edge { start, id: self.options.unk_id, score: self.unk_score };
                by_start.push((start + 1, edge));
            }
        }
        let mut bounds: Vec<usize> = Vec::new();
        bounds.try_reserve(n_chars + 2)?;
        bounds.resize(n_chars + 2, 0);
        for &(end, _) in &by_start {
            if let Some(count) = bounds.get_mut(end as usize + 1) {
                *count += 1;
            }
        }
        let mut total = 0;
        for count in &mut bounds {
            total += *count;
            *count = total;
        }
        let mut edges = Vec::new();
        edges.try_reserve(by_start.len())?;
        edges.resize(by_start.len(), Edge { start: 0, id: 0, score: 0.0 });
        let mut places = bounds.clone();
        for &(end, edge) in &by_start {
            if let Some(place) = places.get_mut(end as usize) {
                if let Some(entry) = edges.get_mut(*place) {
                    *entry = edge;
                }
                *place += 1;
            }
        }
        Ok(Lattice { offsets, bounds, edges })
    }
}

/// Refuse what is no exponent of a probability.
///
/// # Errors
///
/// `Argument` for an `alpha` that is negative or no number.
pub fn check_alpha(alpha: f64) -> Result<()> {
    if alpha.is_finite() && alpha >= 0.0 {
        return Ok(());
    }
    Err(Error::new(
        Kind::Argument,
        format!("alpha is {alpha}; expected a number that is not negative, such as 0.1"),
    ))
}

/// The best score of a path to each position.
fn best_scores(lattice: &Lattice) -> Result<Vec<f64>> {
    positions(lattice, |edges, so_far| {
        edges
            .iter()
            .map(|edge| so_far.get(edge.start as usize).copied().unwrap_or(0.0) + edge.score)
            .fold(f64::NEG_INFINITY, f64::max)
    })
}

/// The logarithm of the summed weights of all paths to each position.
fn forward_sums(lattice: &Lattice, alpha: f64) -> Result<Vec<f64>> {
    positions(lattice, |edges, so_far| {
        let term = |edge: &Edge| {
            so_far.get(edge.start as usize).copied().unwrap_or(0.0) + alpha * edge.score
        };
        let largest = edges.iter().map(term).fold(f64::NEG_INFINITY, f64::max);
        largest + libm::log(edges.iter().map(|edge| libm::exp(term(edge) - largest)).sum::<f64>())
    })
}

fn positions(lattice: &Lattice, step: impl Fn(&[Edge], &[f64]) -> f64) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    values.try_reserve(lattice.n_chars() + 1)?;
    values.push(0.0);
    for position in 1..=lattice.n_chars() {
        let value = step(lattice.ending_at(position), &values);
        values.push(value);
    }
    Ok(values)
}

/// Make sure that `ways[position]` holds its way of that `rank`, or is exhausted.
///
/// A stack of wishes instead of recursion: a text is as deep as it is long.
fn find(
    lattice: &Lattice,
    best: &[f64],
    ways: &mut [Ways],
    position: usize,
    rank: usize,
) -> Result<()> {
    let mut wishes = vec![(position, rank)];
    while let Some(&(position, rank)) = wishes.last() {
        match advance(lattice, best, ways, position, rank)? {
            Some(wish) => {
                wishes.try_reserve(1)?;
                wishes.push(wish);
            }
            None => {
                wishes.pop();
            }
        }
    }
    Ok(())
}

/// Fulfil a wish, or give the wish that has to be fulfilled first.
fn advance(
    lattice: &Lattice,
    best: &[f64],
    ways: &mut [Ways],
    position: usize,
    rank: usize,
) -> Result<Option<(usize, usize)>> {
    let Some((before, rest)) = ways.split_at_mut_checked(position) else { return Ok(None) };
    let Some(here) = rest.first_mut() else { return Ok(None) };
    if position == 0 {
        // Reached in one way, by no edge.
        here.exhausted = true;
        return Ok(None);
    }
    if !here.started {
        here.started = true;
        let first = lattice.bounds.get(position).copied().unwrap_or(0);
        let edges = lattice.ending_at(position);
        here.candidates.try_reserve(edges.len())?;
        for (index, edge) in edges.iter().enumerate() {
            let score = best.get(edge.start as usize).copied().unwrap_or(0.0) + edge.score;
            here.candidates.push(Derivation { score, edge: first + index, rank: 0 });
        }
    }
    while here.found.len() <= rank && !here.exhausted {
        if let Some(last) = here.unexpanded {
            let Some(edge) = lattice.edges.get(last.edge) else { return Ok(None) };
            let start = edge.start as usize;
            let Some(source) = before.get(start) else { return Ok(None) };
            let wanted = last.rank + 1;
            if let Some(way) = source.found.get(wanted) {
                let score = way.score + edge.score;
                here.candidates.try_reserve(1)?;
                here.candidates.push(Derivation { score, edge: last.edge, rank: wanted });
            } else if start > 0 && !source.exhausted {
                return Ok(Some((start, wanted)));
            }
            here.unexpanded = None;
        }
        match here.candidates.pop() {
            Some(derivation) => {
                here.found.try_reserve(1)?;
                here.found.push(derivation);
                here.unexpanded = Some(derivation);
            }
            None => here.exhausted = true,
        }
    }
    Ok(None)
}
