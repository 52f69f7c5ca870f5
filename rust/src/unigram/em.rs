//! Passes over the words: expected counts of pieces, best paths, and the scores that follow.
//!
//! Sums of probabilities are taken chunk by chunk, and chunks are added in their order, so the
//! result is that of one thread whatever their number. Scores lie on a grid of 2^-40: sums of
//! path scores are then exact, and equal paths are equal.
//!
//! Source: Kudo 2018, "Subword Regularization", section 3.2; the digamma of the counts instead of
//! their logarithm is the variational estimate of Liang and Klein 2007, "Structured Bayesian
//! Nonparametric Models with Variational Inference", which sentencepiece uses.

use std::sync::{Condvar, Mutex, PoisonError};

use super::trie::Trie;
use super::words::{Words, checked_sum};
use crate::error::{Error, Kind, Result};
use crate::parallel::{Control, for_each};

/// Words between two looks at the stop flag.
const CHECK_EVERY: usize = 4096;
/// Below this a forward sum and what it feeds are scaled up by `SCALE`.
const TINY: f64 = 1.0 / SCALE;
/// 2^400.
const SCALE: f64 = 2.582_249_878_086_908_6e120;

/// The current vocabulary; the first `n_required` pieces are the required characters.
#[derive(Debug, Default)]
pub struct Model {
    /// All pieces' bytes, one after another.
    pub text: Vec<u8>,
    /// Where each piece starts in `text`, and the length of `text`.
    pub starts: Vec<u32>,
    /// Log probabilities, on the grid.
    pub scores: Vec<f64>,
    /// Their exponentials; 0 for a piece that is gone.
    pub probabilities: Vec<f64>,
    /// Characters that every vocabulary keeps.
    pub n_required: usize,
    /// Bytes of the longest piece.
    pub longest: usize,
    /// From the pieces to their indices.
    pub trie: Trie,
}

impl Model {
    /// Number of pieces, those gone included.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// The bytes of piece `index`.
    pub fn piece(&self, index: usize) -> &[u8] {
        match (self.starts.get(index), self.starts.get(index + 1)) {
            (Some(&start), Some(&end)) => {
                self.text.get(start as usize..end as usize).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// Append a piece.
    pub fn push(&mut self, bytes: &[u8], score: f64) -> Result<()> {
        self.text.try_reserve(bytes.len())?;
        self.starts.try_reserve(2)?;
        self.scores.try_reserve(1)?;
        self.probabilities.try_reserve(1)?;
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.longest = self.longest.max(bytes.len());
        self.text.extend_from_slice(bytes);
        let end = u32::try_from(self.text.len()).map_err(|_| {
            Error::new(Kind::Argument, "the seed pieces pass 4 GiB; lower seed_size")
        })?;
        self.starts.push(end);
        self.scores.push(score);
        self.probabilities.push(libm::exp(score));
        Ok(())
    }

    /// Build the trie for the pieces that are there.
    pub fn index(&mut self) -> Result<()> {
        let mut keys: Vec<(&[u8], u32)> = Vec::new();
        keys.try_reserve_exact(self.len())?;
        keys.extend((0..self.len()).map(|index| (self.piece(index), index as u32)));
        keys.sort_unstable();
        self.trie = Trie::build(&keys)?;
        Ok(())
    }

    /// The model of the pieces in `kept`, which is sorted.
    pub fn select(&self, kept: &[usize]) -> Result<Self> {
        let mut model = Self { n_required: self.n_required, ..Self::default() };
        for &index in kept {
            model.push(self.piece(index), self.scores.get(index).copied().unwrap_or(0.0))?;
        }
        model.index()?;
        Ok(model)
    }
}

/// A score on the grid of 2^-40.
pub fn on_grid(score: f64) -> f64 {
    const GRID: f64 = (1u64 << 40) as f64;
    (score * GRID).round_ties_even() / GRID
}

/// `x` with 32 significant bits: what mathematics says is equal compares equal.
pub fn significant(x: f64) -> f64 {
    let (mantissa, exponent) = libm::frexp(x);
    libm::ldexp((mantissa * 4_294_967_296.0).round_ties_even(), exponent - 32)
}

/// The derivative of the logarithm of the gamma function, for positive `x`.
///
/// Source: Abramowitz and Stegun 1964, 6.3.5 and 6.3.18.
pub fn digamma(mut x: f64) -> f64 {
    let mut result = 0.0;
    while x < 10.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let tail = 1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0);
    let series = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * tail));
    result + libm::log(x) - 0.5 / x - series
}

/// One piece in one place of a word.
#[derive(Debug, Clone, Copy)]
struct Edge {
    start: u32,
    end: u32,
    piece: u32,
}

/// Buffers of one worker.
#[derive(Debug, Default)]
struct Buffers {
    edges: Vec<Edge>,
    forward: Vec<f64>,
    backward: Vec<f64>,
    /// Number of scalings at or before each position; used only when there was one.
    scalings: Vec<u32>,
}

/// Occurrences of each piece that the model expects in the words.
pub fn expected_counts(
    words: &Words,
    model: &Model,
    n_threads: usize,
    control: &Control,
) -> Result<Vec<f64>> {
    let chunks = words.chunks();
    let mut states = Vec::new();
    for _ in 0..n_threads.min(chunks.len()).max(1) {
        states.push((Buffers::default(), zeros(model.len())?));
    }
    // The chunk whose turn it is to be added, and the sums.
    let turn = Mutex::new((0usize, zeros(model.len())?));
    let turned = Condvar::new();
    let lock = || turn.lock().unwrap_or_else(PoisonError::into_inner);
    for_each(&mut states, chunks.len(), |(buffers, local), item| {
        let mut work = || -> Result<()> {
            for index in chunks.get(item).cloned().unwrap_or_default() {
                if index % CHECK_EVERY == 0 {
                    control.check()?;
                }
                let count = words.counts.get(index).copied().unwrap_or(0);
                expect(words.word(index), count as f64, model, buffers, local)?;
            }
            Ok(())
        };
        if let Err(error) = work() {
            // Nobody may wait for the turn of a chunk that was given up.
            lock().0 = usize::MAX;
            turned.notify_all();
            return Err(error);
        }
        let mut state = lock();
        while state.0 < item {
            state = turned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        for (sum, value) in state.1.iter_mut().zip(local) {
            *sum += *value;
            *value = 0.0;
        }
        if state.0 == item {
            state.0 += 1;
        }
        turned.notify_all();
        Ok(())
    })?;
    Ok(turn.into_inner().unwrap_or_else(PoisonError::into_inner).1)
}

/// Add the expected occurrences of each piece in `count` times `word` to `expected`.
fn expect(
    word: &[u8],
    count: f64,
    model: &Model,
    buffers: &mut Buffers,
    expected: &mut [f64],
) -> Result<()> {
    let Buffers { edges, forward, backward, scalings } = buffers;
    let n = word.len();
    for sums in [&mut *forward, &mut *backward] {
        sums.clear();
        sums.try_reserve(n + 1)?;
        sums.resize(n + 1, 0.0);
    }
    edges.clear();
    scalings.clear();
    if let Some(first) = forward.first_mut() {
        *first = 1.0;
    }
    for start in 0..n {
        let Some(&(mut sum)) = forward.get(start) else { break };
        if sum == 0.0 {
            continue;
        }
        if sum < TINY {
            scale(forward, start, model.longest, scalings)?;
            sum *= SCALE;
        }
        edges.try_reserve(model.longest)?;
        model.trie.prefixes(word, start, |piece, end| {
            let probability = model.probabilities.get(piece as usize).copied().unwrap_or(0.0);
            if probability > 0.0
                && let Some(target) = forward.get_mut(end)
            {
                *target += sum * probability;
                edges.push(Edge { start: start as u32, end: end as u32, piece });
            }
        });
    }
    let mut so_far = 0;
    for number in scalings.iter_mut() {
        so_far += *number;
        *number = so_far;
    }
    if let (Some(last), Some(&total)) = (backward.last_mut(), forward.last()) {
        *last = count / total;
    }
    for edge in edges.iter().rev() {
        let (start, end, piece) = (edge.start as usize, edge.end as usize, edge.piece as usize);
        let probability = model.probabilities.get(piece).copied().unwrap_or(0.0);
        let mut weight = probability * backward.get(end).copied().unwrap_or(0.0);
        if let (Some(&before), Some(&after)) = (scalings.get(start), scalings.get(end)) {
            for _ in before..after {
                weight *= SCALE;
            }
        }
        if let (Some(sum), Some(&reached), Some(expectation)) =
            (backward.get_mut(start), forward.get(start), expected.get_mut(piece))
        {
            *sum += weight;
            *expectation += reached * weight;
        }
    }
    Ok(())
}

/// Scale up the forward sum at `start` and those that lie ahead, and mark the place.
#[cold]
fn scale(forward: &mut [f64], start: usize, ahead: usize, scalings: &mut Vec<u32>) -> Result<()> {
    if scalings.is_empty() {
        scalings.try_reserve(forward.len())?;
        scalings.resize(forward.len(), 0);
    }
    for sum in forward.iter_mut().skip(start).take(ahead + 1) {
        *sum *= SCALE;
    }
    if let Some(mark) = scalings.get_mut(start) {
        *mark = 1;
    }
    Ok(())
}

/// Occurrences of each piece on the words' best paths.
pub fn path_counts(
    words: &Words,
    model: &Model,
    n_threads: usize,
    control: &Control,
) -> Result<Vec<u64>> {
    let chunks = words.chunks();
    let mut states = Vec::new();
    for _ in 0..n_threads.min(chunks.len()).max(1) {
        let mut counts: Vec<u64> = Vec::new();
        counts.try_reserve_exact(model.len())?;
        counts.resize(model.len(), 0);
        states.push((Paths::default(), counts));
    }
    for_each(&mut states, chunks.len(), |(paths, counts), item| {
        for index in chunks.get(item).cloned().unwrap_or_default() {
            if index % CHECK_EVERY == 0 {
                control.check()?;
            }
            let occurrences = words.counts.get(index).copied().unwrap_or(0);
            paths.run(words.word(index), model, None)?;
            for &piece in &paths.path {
                if let Some(count) = counts.get_mut(piece as usize) {
                    *count = checked_sum(*count, occurrences)?;
                }
            }
        }
        Ok(())
    })?;
    let mut all = states.into_iter().map(|(_, counts)| counts);
    let mut totals = all.next().unwrap_or_default();
    for counts in all {
        for (total, count) in totals.iter_mut().zip(counts) {
            *total = checked_sum(*total, count)?;
        }
    }
    Ok(totals)
}

/// Best paths through one text, and the buffers for it.
#[derive(Debug, Default)]
pub struct Paths {
    best: Vec<(f64, u32, u32)>,
    /// The pieces of the best path, the last first.
    pub path: Vec<u32>,
}

impl Paths {
    /// Find the best path through `text`, not using piece `without`; gives its score.
    ///
    /// Of equal paths the one whose last piece is longest. No path: minus infinity.
    pub fn run(&mut self, text: &[u8], model: &Model, without: Option<u32>) -> Result<f64> {
        const UNREACHED: (f64, u32, u32) = (f64::NEG_INFINITY, 0, 0);
        self.best.clear();
        self.best.try_reserve(text.len() + 1)?;
        self.best.resize(text.len() + 1, UNREACHED);
        if let Some(first) = self.best.first_mut() {
            first.0 = 0.0;
        }
        for start in 0..text.len() {
            let Some(&(reached, _, _)) = self.best.get(start) else { break };
            if reached == f64::NEG_INFINITY {
                continue;
            }
            model.trie.prefixes(text, start, |piece, end| {
                let index = piece as usize;
                let score = model.scores.get(index).copied().unwrap_or(f64::NEG_INFINITY);
                if let Some(target) = self.best.get_mut(end)
                    && reached + score > target.0
                    && model.probabilities.get(index).is_some_and(|&p| p > 0.0)
                    && without != Some(piece)
                {
                    *target = (reached + score, start as u32, piece);
                }
            });
        }
        self.path.clear();
        let score = self.best.last().map_or(f64::NEG_INFINITY, |best| best.0);
        let mut at = text.len();
        while at > 0 && score > f64::NEG_INFINITY {
            let Some(&(_, start, piece)) = self.best.get(at) else { break };
            self.path.try_reserve(1)?;
            self.path.push(piece);
            at = start as usize;
        }
        Ok(score)
    }
}

fn zeros(n: usize) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    values.try_reserve_exact(n)?;
    values.resize(n, 0.0);
    Ok(values)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    fn model() -> Model {
        let mut model = Model { n_required: 3, ..Model::default() };
        for (text, probability) in
            [("a", 1e-5f64), ("b", 3e-4), ("é", 2e-6), ("ab", 4e-4), ("ba", 1e-7), ("aéb", 1e-9)]
        {
            model.push(text.as_bytes(), probability.ln()).unwrap();
        }
        model.index().unwrap();
        model
    }

    /// The same sums with logarithms throughout.
    fn expected_by_logarithms(word: &str, model: &Model) -> Vec<f64> {
        let word = word.as_bytes();
        let mut edges = Vec::new();
        for start in 0..word.len() {
            model.trie.prefixes(word, start, |piece, end| edges.push((start, end, piece as usize)));
        }
        let add = |a: f64, b: f64| {
            let (low, high) = (a.min(b), a.max(b));
            if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
        };
        let mut forward = vec![f64::NEG_INFINITY; word.len() + 1];
        let mut backward = forward.clone();
        forward[0] = 0.0;
        backward[word.len()] = 0.0;
        for &(start, end, piece) in &edges {
            forward[end] = add(forward[end], forward[start] + model.scores[piece]);
        }
        for &(start, end, piece) in edges.iter().rev() {
            backward[start] = add(backward[start], backward[end] + model.scores[piece]);
        }
        let mut expected = vec![0.0; model.len()];
        for &(start, end, piece) in &edges {
            expected[piece] +=
                (forward[start] + model.scores[piece] + backward[end] - forward[word.len()]).exp();
        }
        expected
    }

    #[test]
    fn long_words_do_not_underflow() {
        let model = model();
        for word in ["abab", "aébaab", &"abaéb".repeat(200), &"é".repeat(3000)] {
            let mut expected = vec![0.0; model.len()];
            let mut buffers = Buffers::default();
            expect(word.as_bytes(), 1.0, &model, &mut buffers, &mut expected).unwrap();
            for (got, wanted) in expected.iter().zip(expected_by_logarithms(word, &model)) {
                assert!(
                    (got - wanted).abs() <= 1e-8 * wanted.max(1.0),
                    "{word:.20} {got} {wanted}"
                );
            }
        }
    }

    #[test]
    fn digamma_has_its_known_values() {
        for (x, value) in [
            (0.5, -1.963_510_026_021_423_5),
            (1.0, -0.577_215_664_901_532_9),
            (10.0, 2.251_752_589_066_721),
            (1e9, 20.723_265_836_446_41),
        ] {
            assert!((digamma(x) - value).abs() < 2e-13 * value.abs().max(1.0), "{x}");
        }
    }

    #[test]
    fn a_stop_ends_every_thread() {
        let text = vec![b'a'; 1000];
        let mut words = Words::default();
        for index in 0..1000u32 {
            words.starts.push(words.text.len() as u32);
            words.text.extend_from_slice(&text[..(index % 900 + 50) as usize]);
            words.text.push(crate::unigram::words::SEPARATOR);
            words.counts.push(1);
        }
        words.starts.push(words.text.len() as u32);
        let control = Control::default();
        control.stop();
        assert!(words.chunks().len() > 4);
        assert!(expected_counts(&words, &model(), 4, &control).is_err());
        assert!(path_counts(&words, &model(), 4, &control).is_err());
    }
}
