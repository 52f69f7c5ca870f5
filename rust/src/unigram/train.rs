//! Learn pieces and their scores from pre-token counts.
//!
//! Start from too many pieces; estimate, prune those whose loss would cost the least likelihood,
//! and estimate again until the size is right.
//!
//! Source: Kudo 2018, "Subword Regularization", section 3.2, with the constants and the order of
//! steps of sentencepiece 0.2.3 (`unigram_model_trainer.cc`). Here required characters are never
//! dropped, and arithmetic is 64-bit.

use super::em::{Model, Paths, digamma, expected_counts, on_grid, path_counts, significant};
use super::seed::substrings;
use super::words::{CharCount, Words, prepare};
use crate::error::{Error, Kind, Result};
use crate::parallel::{Control, for_each};

/// A piece expected fewer times is dropped; a required character counts as often at least.
const LEAST_EXPECTED: f64 = 0.5;
/// Pruning stops at this multiple of the wanted size; the best scores decide the rest.
const SLACK: f64 = 1.1;

/// How to learn.
#[derive(Debug, Clone)]
pub struct TrainOptions {
    /// Wanted number of pieces, required characters included.
    pub vocab_size: usize,
    /// Share of character occurrences that required characters cover, in (0, 1].
    pub character_coverage: f64,
    /// Characters that are required whatever the text holds.
    pub extra_alphabet: Vec<char>,
    /// Longest piece in characters; at least 1.
    pub max_piece_length: usize,
    /// Most substrings to start from.
    pub seed_size: usize,
    /// Share of the pieces that one pruning keeps, in (0, 1).
    pub shrinking_factor: f64,
    /// Estimations between two prunings; at least 1.
    pub n_sub_iterations: usize,
    /// Threads; at least 1. The result does not depend on it.
    pub n_threads: usize,
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self {
            vocab_size: 8000,
            character_coverage: 0.9995,
            extra_alphabet: Vec::new(),
            max_piece_length: 16,
            seed_size: 1_000_000,
            shrinking_factor: 0.75,
            n_sub_iterations: 2,
            n_threads: 1,
        }
    }
}

/// What was learnt.
#[derive(Debug)]
pub struct Learned {
    /// Pieces and their log probabilities, best first, of equal ones the smaller bytes first.
    pub pieces: Vec<(String, f64)>,
    /// Characters outside the required ones with their occurrences, by code point.
    pub left_out: Vec<CharCount>,
}

/// Learn pieces and their log probabilities.
///
/// The result depends on the counts alone, not on their order or the number of threads. Fewer
/// pieces than asked for when the text does not hold more. No pieces for no text.
///
/// # Errors
///
/// `Argument` for an option outside its range, `VocabSize` when the required characters alone
/// pass `vocab_size`, `Text` for a pre-token that is not UTF-8, `CountOverflow`, `Counts`,
/// `Memory`, `Interrupted`.
pub fn learn_pieces(
    pretoken_counts: &[(&[u8], u64)],
    options: &TrainOptions,
    control: &Control,
) -> Result<Learned> {
    check_options(options)?;
    let (words, alphabet, left_out) =
        prepare(pretoken_counts, options.character_coverage, &options.extra_alphabet)?;
    if alphabet.len() > options.vocab_size {
        return Err(Error::new(
            Kind::VocabSize,
            format!(
                "vocab_size leaves {} pieces, but the text has {} required characters; ask for \
                 more, or lower character_coverage (now {})",
                options.vocab_size,
                alphabet.len(),
                options.character_coverage
            ),
        ));
    }
    control.check()?;
    let mut model = seed_model(&words, &alphabet, options, control)?;
    let wanted = (options.vocab_size as f64 * SLACK) as usize;
    loop {
        for _ in 0..options.n_sub_iterations {
            let expected = expected_counts(&words, &model, options.n_threads, control)?;
            maximize(&mut model, &expected);
            control.advance(words.text.len() as u64);
        }
        let there = present(&model);
        if there.len() <= wanted {
            break;
        }
        let kept = prune(&words, &model, &there, wanted, options, control)?;
        let shrunk = kept.len() < there.len();
        model = model.select(&kept)?;
        if !shrunk {
            break;
        }
    }
    Ok(Learned { pieces: finish(&model, options.vocab_size)?, left_out })
}

fn check_options(options: &TrainOptions) -> Result<()> {
    let refuse = |message: String| Err(Error::new(Kind::Argument, message));
    let coverage = options.character_coverage;
    if !(coverage > 0.0 && coverage <= 1.0) {
        return refuse(format!("character_coverage is {coverage}; expected above 0, up to 1"));
    }
    let factor = options.shrinking_factor;
    if !(factor > 0.0 && factor < 1.0) {
        return refuse(format!("shrinking_factor is {factor}; expected between 0 and 1"));
    }
    for (name, value) in [
        ("vocab_size", options.vocab_size),
        ("max_piece_length", options.max_piece_length),
        ("n_sub_iterations", options.n_sub_iterations),
        ("n_threads", options.n_threads),
    ] {
        if value == 0 {
            return refuse(format!("{name} is 0; expected at least 1"));
        }
    }
    Ok(())
}

/// Required characters, most frequent first, then substrings, each by its share of merit.
fn seed_model(
    words: &Words,
    alphabet: &[CharCount],
    options: &TrainOptions,
    control: &Control,
) -> Result<Model> {
    let seeds = substrings(words, options.max_piece_length, options.seed_size, control)?;
    // A required character that the text lacks still needs a probability.
    let weight = |count: u64| (count as f64).max(LEAST_EXPECTED);
    let total = alphabet.iter().map(|&(_, count)| weight(count)).sum::<f64>()
        + seeds.iter().map(|&(_, _, merit)| merit as f64).sum::<f64>();
    let log_total = libm::log(total);
    let mut model = Model { n_required: alphabet.len(), ..Model::default() };
    for &(character, count) in alphabet {
        let score = on_grid(libm::log(weight(count)) - log_total);
        model.push(character.encode_utf8(&mut [0; 4]).as_bytes(), score)?;
    }
    for &(start, n_bytes, merit) in &seeds {
        let (start, n_bytes) = (start as usize, n_bytes as usize);
        let bytes = words.text.get(start..start + n_bytes).unwrap_or_default();
        model.push(bytes, on_grid(libm::log(merit as f64) - log_total))?;
    }
    model.index()?;
    Ok(model)
}

/// Set each score from the expected counts; a piece expected too rarely is gone from here on.
fn maximize(model: &mut Model, expected: &[f64]) {
    let n_required = model.n_required;
    let kept: Vec<f64> = expected
        .iter()
        .enumerate()
        .map(|(index, &count)| {
            // Rounded, counts that are equal but for the order of their sums become equal.
            let count = significant(count);
            if index < n_required {
                count.max(LEAST_EXPECTED)
            } else if count < LEAST_EXPECTED {
                0.0
            } else {
                count
            }
        })
        .collect();
    let log_total = digamma(kept.iter().sum::<f64>());
    let targets = model.scores.iter_mut().zip(&mut model.probabilities);
    for ((score, probability), count) in targets.zip(kept) {
        if count > 0.0 {
            *score = on_grid(digamma(count) - log_total);
            *probability = libm::exp(*score);
        } else {
            *probability = 0.0;
        }
    }
}

/// Indices of the pieces that are not gone.
fn present(model: &Model) -> Vec<usize> {
    let there = |&(_, probability): &(usize, &f64)| *probability > 0.0;
    model.probabilities.iter().enumerate().filter(there).map(|(index, _)| index).collect()
}

/// The pieces to keep: required ones, and of the others those whose loss would cost most.
fn prune(
    words: &Words,
    model: &Model,
    there: &[usize],
    wanted: usize,
    options: &TrainOptions,
    control: &Control,
) -> Result<Vec<usize>> {
    let counts = path_counts(words, model, options.n_threads, control)?;
    let mut order = losses(model, there, &counts, words.total()?, options.n_threads, control)?;
    let n_kept = wanted.max((options.shrinking_factor * there.len() as f64) as usize);
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.truncate(n_kept.saturating_sub(model.n_required));
    let mut kept: Vec<usize> = (0..model.n_required).collect();
    kept.extend(order.into_iter().map(|(_, index)| index));
    kept.sort_unstable();
    Ok(kept)
}

/// How much likelihood the words lose with each piece, in no order; without free pieces.
///
/// The words' uses of a piece are taken to become uses of its second best segmentation.
fn losses(
    model: &Model,
    there: &[usize],
    counts: &[u64],
    n_words: u64,
    n_threads: usize,
    control: &Control,
) -> Result<Vec<(f64, usize)>> {
    const BLOCK: usize = 4096;
    let total = counts.iter().map(|&count| count as f64).sum::<f64>();
    let optional = there.get(model.n_required..).unwrap_or_default();
    let blocks: Vec<&[usize]> = optional.chunks(BLOCK).collect();
    let mut states: Vec<(Paths, Vec<(f64, usize)>)> = Vec::new();
    states.resize_with(n_threads.min(blocks.len()).max(1), Default::default);
    for_each(&mut states, blocks.len(), |(paths, found), item| {
        control.check()?;
        for &index in blocks.get(item).copied().unwrap_or_default() {
            let loss = loss(model, index, counts, total, n_words, paths)?;
            if !loss.is_nan() {
                found.try_reserve(1)?;
                found.push((loss, index));
            }
        }
        Ok(())
    })?;
    Ok(states.into_iter().flat_map(|(_, found)| found).collect())
}

fn loss(
    model: &Model,
    index: usize,
    counts: &[u64],
    total: f64,
    n_words: u64,
    paths: &mut Paths,
) -> Result<f64> {
    let count_of = |index: usize| counts.get(index).copied().unwrap_or(0) as f64;
    let count = count_of(index);
    if count == 0.0 {
        return Ok(f64::NAN);
    }
    let alternative = paths.run(model.piece(index), model, Some(index as u32))?;
    if alternative > model.scores.get(index).copied().unwrap_or(0.0) {
        return Ok(f64::NAN);
    }
    let n_alternatives = paths.path.len() as f64;
    let log_total_then = libm::log(total + count * (n_alternatives - 1.0));
    let mut log_then = 0.0;
    for &piece in paths.path.iter().rev() {
        log_then += libm::log(count_of(piece as usize) + count) - log_total_then;
    }
    let log_now = libm::log(count) - libm::log(total);
    Ok(significant(count / n_words as f64 * (log_now - log_then)))
}

/// The required characters and the best others, `vocab_size` in all, by score.
fn finish(model: &Model, vocab_size: usize) -> Result<Vec<(String, f64)>> {
    let score = |index: usize| model.scores.get(index).copied().unwrap_or(0.0);
    let better = |a: &usize, b: &usize| {
        score(*b).total_cmp(&score(*a)).then_with(|| model.piece(*a).cmp(model.piece(*b)))
    };
    let there = present(model);
    let mut others = there.get(model.n_required..).unwrap_or_default().to_vec();
    others.sort_unstable_by(better);
    others.truncate(vocab_size.saturating_sub(model.n_required));
    let mut chosen: Vec<usize> = (0..model.n_required).chain(others).collect();
    chosen.sort_unstable_by(better);
    let mut pieces = Vec::new();
    pieces.try_reserve_exact(chosen.len())?;
    for index in chosen {
        pieces.push((String::from_utf8_lossy(model.piece(index)).into_owned(), score(index)));
    }
    Ok(pieces)
}
