//! What training reads: distinct words with their counts, flat, and the characters they need.

use std::ops::Range;

use crate::error::{Error, Kind, Result};

/// Ends each word in the flat text; no UTF-8 text holds this byte.
pub const SEPARATOR: u8 = 0xFF;
/// Suffix positions are 31 bits wide.
const MAX_BYTES: usize = i32::MAX as usize;

/// Distinct, sorted words of required characters.
#[derive(Debug, Default)]
pub struct Words {
    /// Each word, then `SEPARATOR`.
    pub text: Vec<u8>,
    /// Where each word starts in `text`, and the length of `text`.
    pub starts: Vec<u32>,
    /// Occurrences of each word; positive.
    pub counts: Vec<u64>,
}

impl Words {
    /// Number of distinct words.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// The bytes of word `index`.
    #[inline(always)]
    pub fn word(&self, index: usize) -> &[u8] {
        match (self.starts.get(index), self.starts.get(index + 1)) {
            (Some(&start), Some(&next)) => {
                self.text.get(start as usize..next as usize - 1).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// Cut the words into runs of about the same number of bytes.
    ///
    /// The cuts depend on the words alone, so sums taken run by run do too.
    pub fn chunks(&self) -> Vec<Range<usize>> {
        const LEAST_BYTES: usize = 1 << 16;
        const MOST_CHUNKS: usize = 32;
        let target = LEAST_BYTES.max(self.text.len() / MOST_CHUNKS + 1);
        let mut chunks = Vec::new();
        let mut first = 0;
        for index in 0..self.len() {
            let start = self.starts.get(first).map_or(0, |&start| start as usize);
            let end = self.starts.get(index + 1).map_or(0, |&end| end as usize);
            if end - start >= target || index + 1 == self.len() {
                chunks.push(first..index + 1);
                first = index + 1;
            }
        }
        chunks
    }

    /// Sum of the counts.
    pub fn total(&self) -> Result<u64> {
        self.counts.iter().try_fold(0u64, |sum, &count| checked_sum(sum, count))
    }
}

/// A character and how often it occurs.
pub type CharCount = (char, u64);

/// Cut `pretoken_counts` into words of the characters that the vocabulary must have.
///
/// Those are the most frequent characters up to `coverage` of all occurrences (of equal ones the
/// smaller code point first) and `extra_alphabet`. Gives them with their counts, most frequent
/// first, then the characters left out with theirs, by code point. Those end a word and are in
/// none.
///
/// # Errors
///
/// `Text` for a pre-token that is not UTF-8, `CountOverflow` for sums past 64 bits, `Counts` past
/// 2 GiB of distinct words, `Memory`.
pub fn prepare(
    pretoken_counts: &[(&[u8], u64)],
    coverage: f64,
    extra_alphabet: &[char],
) -> Result<(Words, Vec<CharCount>, Vec<CharCount>)> {
    let mut texts: Vec<(&str, u64)> = Vec::new();
    texts.try_reserve_exact(pretoken_counts.len())?;
    for (index, &(bytes, count)) in pretoken_counts.iter().enumerate() {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            Error::new(
                Kind::Text,
                format!(
                    "pre-token {index} is not UTF-8 at byte {}; unigram pieces are characters, so \
                     train on text",
                    error.valid_up_to()
                ),
            )
        })?;
        if count > 0 && !text.is_empty() {
            texts.push((text, count));
        }
    }
    let (alphabet, left_out) = required_characters(&texts, coverage, extra_alphabet)?;
    let mut sorted: Vec<char> = alphabet.iter().map(|&(character, _)| character).collect();
    sorted.sort_unstable();
    let mut fragments: Vec<(&str, u64)> = Vec::new();
    for &(text, count) in &texts {
        for fragment in text.split(|c: char| sorted.binary_search(&c).is_err()) {
            if !fragment.is_empty() {
                fragments.try_reserve(1)?;
                fragments.push((fragment, count));
            }
        }
    }
    fragments.sort_unstable();
    Ok((flatten(&fragments)?, alphabet, left_out))
}

fn flatten(fragments: &[(&str, u64)]) -> Result<Words> {
    let mut words = Words::default();
    let mut last: Option<&str> = None;
    for &(fragment, count) in fragments {
        if last == Some(fragment) {
            if let Some(total) = words.counts.last_mut() {
                *total = checked_sum(*total, count)?;
            }
            continue;
        }
        last = Some(fragment);
        if words.text.len() + fragment.len() + 1 > MAX_BYTES {
            return Err(Error::new(
                Kind::Counts,
                "the distinct pre-tokens pass 2 GiB; leave out the rare ones",
            ));
        }
        words.text.try_reserve(fragment.len() + 1)?;
        words.starts.try_reserve(2)?;
        words.counts.try_reserve(1)?;
        words.starts.push(words.text.len() as u32);
        words.text.extend_from_slice(fragment.as_bytes());
        words.text.push(SEPARATOR);
        words.counts.push(count);
    }
    words.starts.push(words.text.len() as u32);
    Ok(words)
}

fn required_characters(
    texts: &[(&str, u64)],
    coverage: f64,
    extra_alphabet: &[char],
) -> Result<(Vec<CharCount>, Vec<CharCount>)> {
    let mut counts: Vec<u64> = Vec::new();
    counts.try_reserve_exact(0x11_0000)?;
    counts.resize(0x11_0000, 0);
    for &(text, count) in texts {
        for character in text.chars() {
            if let Some(total) = counts.get_mut(character as usize) {
                *total = checked_sum(*total, count)?;
            }
        }
    }
    let mut all = 0u64;
    let mut found: Vec<CharCount> = Vec::new();
    for (&count, code_point) in counts.iter().zip(0u32..) {
        if let Some(character) = char::from_u32(code_point).filter(|_| count > 0) {
            all = checked_sum(all, count)?;
            found.push((character, count));
        }
    }
    let by_frequency = |a: &CharCount, b: &CharCount| b.1.cmp(&a.1).then(a.0.cmp(&b.0));
    found.sort_unstable_by(by_frequency);
    let mut covered = 0u64;
    let (mut alphabet, mut left_out): (Vec<CharCount>, Vec<CharCount>) = Default::default();
    for &(character, count) in &found {
        let enough = covered as f64 / all as f64 >= coverage;
        if !enough || extra_alphabet.contains(&character) {
            alphabet.push((character, count));
        } else {
            left_out.push((character, count));
        }
        if !enough {
            covered += count;
        }
    }
    let mut absent: Vec<char> = extra_alphabet
        .iter()
        .copied()
        .filter(|&character| counts.get(character as usize) == Some(&0))
        .collect();
    absent.sort_unstable();
    absent.dedup();
    alphabet.extend(absent.into_iter().map(|character| (character, 0)));
    alphabet.sort_unstable_by(by_frequency);
    left_out.sort_unstable();
    Ok((alphabet, left_out))
}

/// `a + b`, or the error of a sum past 64 bits.
pub fn checked_sum(a: u64, b: u64) -> Result<u64> {
    a.checked_add(b).ok_or_else(|| {
        Error::new(Kind::CountOverflow, format!("{a} + {b} occurrences pass 64 bits"))
    })
}
