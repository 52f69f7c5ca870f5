//! The other ways to write a text: a random one, and the best ones, through the whole pipeline.
//!
//! Source: BPE-dropout, Provilkov, Emelianenko and Voita 2020; sampling and n best of the unigram
//! model, Kudo 2018, "Subword Regularization", section 3.2.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::bpe::check_dropout;
use crate::error::{Error, Kind, Result};
use crate::model::{Model, Scratch};
use crate::normalize::alignment::Normalized;
use crate::parallel::Control;
use crate::split::steps::Pieces;
use crate::tokenizer::{Cutter, Policy, Tokenizer};
use crate::unigram::{Random, Scored, Unigram, check_alpha};
use crate::worker::locate;

/// How a random segmentation is drawn.
#[derive(Debug, Clone, Copy)]
pub enum Sampling {
    /// Each merge is passed over with this probability.
    Dropout(f64),
    /// Each segmentation with a probability proportional to its own to the `alpha`; only among
    /// the `n_best` best ones of the text where that is given.
    Alpha {
        /// 0 makes all equally likely, 1 follows the model.
        alpha: f64,
        /// How many of the best ones.
        n_best: Option<usize>,
    },
}

/// A stretch of text on its way to ids.
enum Part<'t> {
    /// It has an id of its own.
    Added(u32),
    /// A pre-token.
    Pretoken(&'t [u8]),
}

/// A random segmentation of `text`: the same for the same seed on every platform.
///
/// # Errors
///
/// `Argument` for a model that has no such sampling, or a parameter outside its range; else as
/// `Worker::encode`.
pub fn sample(
    tokenizer: &Tokenizer,
    text: &[u8],
    policy: &Policy,
    sampling: Sampling,
    seed: u64,
    control: &Control,
) -> Result<Vec<u32>> {
    let mut random = Random::new(seed);
    let mut ids: Vec<u32> = Vec::new();
    let model = tokenizer.model();
    match sampling {
        Sampling::Dropout(p) => {
            check_dropout(p)?;
            let mut scratch = Scratch::default();
            each_part(tokenizer, text, policy, control, |part| match part {
                Part::Added(id) => push(&mut ids, id),
                Part::Pretoken(pretoken) => {
                    ids.try_reserve(pretoken.len())?;
                    model.encode_with_dropout(
                        pretoken,
                        &mut scratch,
                        &mut ids,
                        p,
                        &mut random,
                        control,
                    )
                }
            })?;
        }
        Sampling::Alpha { alpha, n_best: None } => {
            let unigram = unigram_of(model)?;
            check_alpha(alpha)?;
            each_part(tokenizer, text, policy, control, |part| match part {
                Part::Added(id) => push(&mut ids, id),
                Part::Pretoken(pretoken) => {
                    let sampled = unigram.sample_with(pretoken, alpha, &mut random)?;
                    ids.try_reserve(sampled.len())?;
                    ids.extend(sampled);
                    Ok(())
                }
            })?;
        }
        Sampling::Alpha { alpha, n_best: Some(n) } => {
            check_alpha(alpha)?;
            let mut results = n_best(tokenizer, text, policy, n, control)?;
            let scores: Vec<f64> = results.iter().map(|&(_, score)| score).collect();
            let chosen = random.choose_by_score(&scores, alpha);
            if chosen < results.len() {
                ids = results.swap_remove(chosen).0;
            }
        }
    }
    Ok(ids)
}

/// The `n` best segmentations of a text under a unigram model, best first; fewer when there are
/// fewer.
///
/// The score of one is the sum of those of its pre-tokens; a special token adds nothing. Of equal
/// scores the one that is better in the earlier pre-tokens comes first.
///
/// # Errors
///
/// `Argument` for another model or an `n` of 0; else as `Worker::encode`.
pub fn n_best(
    tokenizer: &Tokenizer,
    text: &[u8],
    policy: &Policy,
    n: usize,
    control: &Control,
) -> Result<Vec<Scored>> {
    let unigram = unigram_of(tokenizer.model())?;
    if n == 0 {
        return Err(Error::new(Kind::Argument, "n is 0; ask for at least one segmentation"));
    }
    let mut best = Best { levels: Vec::new(), scores: vec![0.0] };
    each_part(tokenizer, text, policy, control, |part| match part {
        Part::Added(id) => best.add(vec![(vec![id], 0.0)], n),
        Part::Pretoken(pretoken) => best.add(unigram.n_best(pretoken, n, control)?, n),
    })?;
    best.finish()
}

fn push(ids: &mut Vec<u32>, id: u32) -> Result<()> {
    ids.try_reserve(1)?;
    ids.push(id);
    Ok(())
}

fn unigram_of(model: &Model) -> Result<&Unigram> {
    match model {
        Model::Unigram(unigram) => Ok(unigram),
        _ => Err(Error::new(
            Kind::Argument,
            "only a Unigram model gives segmentations a probability; this one is of another kind",
        )),
    }
}

/// Which of the ways so far, and which one of the part added, make a way.
#[derive(Debug, Clone, Copy)]
struct Choice {
    before: usize,
    alternative: usize,
}

/// A way that may come next: by score, then by its places.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    score: f64,
    choice: (usize, usize),
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.choice.cmp(&self.choice))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best ways to write the parts so far, kept as choices: ids are put together at the end.
struct Best {
    levels: Vec<(Vec<Scored>, Vec<Choice>)>,
    scores: Vec<f64>,
}

impl Best {
    /// Go on with a part: its alternatives, best first, at least one.
    fn add(&mut self, alternatives: Vec<Scored>, n: usize) -> Result<()> {
        let score_of = |before: usize, alternative: usize| {
            let score = self.scores.get(before)? + alternatives.get(alternative)?.1;
            Some(Candidate { score, choice: (before, alternative) })
        };
        let (mut choices, mut scores) = (Vec::new(), Vec::new());
        let mut heap: BinaryHeap<Candidate> = score_of(0, 0).into_iter().collect();
        while let Some(Candidate { score, choice: (before, alternative) }) = heap.pop() {
            choices.try_reserve(1)?;
            scores.try_reserve(1)?;
            choices.push(Choice { before, alternative });
            scores.push(score);
            if choices.len() == n {
                break;
            }
            heap.try_reserve(2)?;
            heap.extend(score_of(before, alternative + 1));
            if alternative == 0 {
                heap.extend(score_of(before + 1, 0));
            }
        }
        self.scores = scores;
        self.levels.try_reserve(1)?;
        self.levels.push((alternatives, choices));
        Ok(())
    }

    fn finish(self) -> Result<Vec<Scored>> {
        let mut results = Vec::new();
        results.try_reserve_exact(self.scores.len())?;
        for (way, &score) in self.scores.iter().enumerate() {
            let mut parts: Vec<&[u32]> = Vec::new();
            parts.try_reserve_exact(self.levels.len())?;
            let mut at = way;
            for (alternatives, choices) in self.levels.iter().rev() {
                let Some(choice) = choices.get(at) else { break };
                parts.push(alternatives.get(choice.alternative).map_or(&[], |(ids, _)| ids));
                at = choice.before;
            }
            let mut ids = Vec::new();
            ids.try_reserve_exact(parts.iter().map(|part| part.len()).sum())?;
            ids.extend(parts.into_iter().rev().flatten());
            results.push((ids, score));
        }
        Ok(results)
    }
}

/// Call `give` with each added token and each pre-token of `text`, in order.
fn each_part(
    tokenizer: &Tokenizer,
    text: &[u8],
    policy: &Policy,
    control: &Control,
    mut give: impl FnMut(Part<'_>) -> Result<()>,
) -> Result<()> {
    let recognized = tokenizer.recognized(text, policy)?;
    let mut normalized = Normalized::default();
    recognized.given.cut(text, |start, end, id| {
        if let Some(id) = id {
            return give(Part::Added(id));
        }
        let segment = text.get(start..end).unwrap_or_default();
        let changed = match &tokenizer.parts.normalizer {
            Some(normalizer) => normalizer.normalize(segment, &mut normalized, control)?,
            None => false,
        };
        let view = if changed { normalized.bytes.as_slice() } else { segment };
        recognized
            .normalized
            .cut(view, |from, to, id| match id {
                Some(id) => give(Part::Added(id)),
                None => {
                    let stretch = view.get(from..to).unwrap_or_default();
                    let at_start = start == 0 && from == 0;
                    each_pretoken(tokenizer, stretch, at_start, control, &mut give)
                }
            })
            .map_err(|error| locate(error, start))
    })
}

fn each_pretoken(
    tokenizer: &Tokenizer,
    text: &[u8],
    at_start: bool,
    control: &Control,
    give: &mut impl FnMut(Part<'_>) -> Result<()>,
) -> Result<()> {
    let mut give = |start: usize, end: usize, source: &[u8]| {
        control.check()?;
        let pretoken = source.get(start..end).unwrap_or_default();
        give(Part::Pretoken(pretoken)).map_err(|error| locate(error, start))
    };
    match &tokenizer.parts.cutter {
        Cutter::Patterns(splitter) => {
            let mut start = 0;
            splitter.split(text, control, &mut |ends| {
                for &end in ends {
                    give(start, end, text)?;
                    start = end;
                }
                Ok(())
            })
        }
        Cutter::Steps(steps) => {
            let mut pieces = Pieces::default();
            steps.split(text, at_start, &mut pieces, control)?;
            let source = if pieces.changed { pieces.text.bytes.as_slice() } else { text };
            for &(start, end) in &pieces.spans {
                give(start, end, source)?;
            }
            Ok(())
        }
    }
}
