//! The trainer against a full scan, at roundings that no real corpus would meet.
#![allow(clippy::expect_used)]

use std::collections::BTreeMap;

use super::alphabet::Limits;
use super::ranking::Tuning;
use super::train::{Options, Score, Ties, learn, learn_vocabulary};
use crate::error::Kind;
use crate::parallel::Control;

fn options(score: Score, ties: Ties) -> Options {
    Options {
        vocab_size: usize::MAX,
        max_merges: None,
        score,
        ties,
        min_frequency: 1,
        continuing_prefix: "##".into(),
        end_of_word_suffix: String::new(),
        special_tokens: vec!["[UNK]".into()],
        alphabet: Limits {
            limit_alphabet: None,
            character_coverage: 1.0,
            extra_alphabet: Vec::new(),
        },
        all_forms: false,
    }
}

/// A few words over a small alphabet, so that scores are often equal and pairs come back.
fn random_words(seed: u64, n_words: usize, n_letters: u64) -> Vec<(Vec<u8>, u64)> {
    let mut state = seed;
    let mut next = move |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..n_words)
        .map(|_| {
            let length = 1 + next(12);
            let word = (0..length).map(|_| b'a' + next(n_letters).min(next(n_letters)) as u8);
            let word = word.collect();
            (word, 1 + next(5) * next(5) * next(40))
        })
        .collect()
}

/// Every pair counted and scored again for every merge; spellings are the symbols.
fn scan(
    words: &[(Vec<u8>, u64)],
    score: Score,
    ties: Ties,
    n_merges: usize,
) -> Vec<(String, String)> {
    let mut spelled: Vec<(Vec<String>, u64)> = words
        .iter()
        .map(|(word, count)| {
            let characters = word.iter().enumerate().map(|(at, &byte)| {
                format!("{}{}", if at > 0 { "##" } else { "" }, char::from(byte))
            });
            (characters.collect(), *count)
        })
        .collect();
    let mut merges = Vec::new();
    while merges.len() < n_merges {
        let mut singles: BTreeMap<&str, u128> = BTreeMap::new();
        let mut pairs: BTreeMap<(&str, &str), (u128, usize)> = BTreeMap::new();
        for (symbols, count) in &spelled {
            for symbol in symbols {
                *singles.entry(symbol).or_default() += u128::from(*count);
            }
            for pair in symbols.windows(2) {
                let place = pairs.len();
                let entry = pairs.entry((&pair[0], &pair[1])).or_insert((0, place));
                entry.0 += u128::from(*count);
            }
        }
        let denominator = |pair: (&str, &str)| match score {
            Score::Likelihood => singles[pair.0] * singles[pair.1],
            Score::Frequency => 1,
        };
        let best = pairs.iter().max_by(|(one, of_one), (two, of_two)| {
            (of_one.0 * denominator(**two)).cmp(&(of_two.0 * denominator(**one))).then_with(|| {
                if ties == Ties::First { of_two.1.cmp(&of_one.1) } else { one.cmp(two) }
            })
        });
        let Some((&(left, right), _)) = best else { break };
        let (left, right) = (left.to_owned(), right.to_owned());
        let merged = format!("{left}{}", &right[2..]);
        for (symbols, _) in &mut spelled {
            let mut at = 0;
            while at + 1 < symbols.len() {
                if symbols[at] == left && symbols[at + 1] == right {
                    symbols[at].clone_from(&merged);
                    symbols.remove(at + 1);
                }
                at += 1;
            }
        }
        merges.push((left, right));
    }
    merges
}

fn learned(
    words: &[(Vec<u8>, u64)],
    score: Score,
    ties: Ties,
    tuning: Tuning,
    n_merges: usize,
) -> Vec<(String, String)> {
    let counts: Vec<(&[u8], u64)> = words.iter().map(|(word, n)| (word.as_slice(), *n)).collect();
    let options = Options { max_merges: Some(n_merges), ..options(score, ties) };
    let learned = learn(&counts, None, &options, tuning, &Control::default()).expect("learns");
    let text = |id: u32| String::from_utf8_lossy(&learned.tokens[id as usize]).into_owned();
    learned.merges.iter().map(|merge| (text(merge.left), text(merge.right))).collect()
}

#[test]
fn every_rounding_gives_the_merges_of_a_full_scan() {
    let tunings = [(64, 8), (0, 1), (0, 2), (1, 3), (4, 1)];
    for seed in 0..150 {
        let words = random_words(seed, 60, 2 + seed % 9);
        for (score, ties) in [
            (Score::Likelihood, Ties::Greatest),
            (Score::Likelihood, Ties::First),
            (Score::Frequency, Ties::Greatest),
            (Score::Frequency, Ties::First),
        ] {
            let expected = scan(&words, score, ties, 90);
            for (exact_degree, level_bits) in tunings {
                let tuning = Tuning { exact_degree, level_bits };
                assert_eq!(
                    learned(&words, score, ties, tuning, 90),
                    expected,
                    "seed {seed}, {score:?}, {ties:?}, {tuning:?}"
                );
            }
        }
    }
}

#[test]
fn many_symbols_with_many_pairs_are_ranked_exactly() {
    let words = random_words(7, 1200, 26);
    let expected = scan(&words, Score::Likelihood, Ties::Greatest, 250);
    for (exact_degree, level_bits) in [(64, 8), (8, 2), (0, 1)] {
        let tuning = Tuning { exact_degree, level_bits };
        let merges = learned(&words, Score::Likelihood, Ties::Greatest, tuning, 250);
        assert_eq!(merges, expected, "{tuning:?}");
    }
}

#[test]
fn a_stop_is_heeded() {
    let control = Control::default();
    control.stop();
    let options = options(Score::Likelihood, Ties::Greatest);
    let error = learn_vocabulary(&[(b"ab", 1)], None, &options, &control).expect_err("stopped");
    assert_eq!(error.kind, Kind::Interrupted);
}
