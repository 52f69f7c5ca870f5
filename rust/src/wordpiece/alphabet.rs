//! Which characters a vocabulary learns from, and what becomes of the others.

use hashbrown::HashMap;

use crate::error::{Error, Kind, Result};
use crate::parallel::Control;

/// Pre-tokens between two looks at the stop flag.
pub const CHECK_EVERY: usize = 1 << 14;

/// How the alphabet is limited. Extra characters are in it whatever the limits say.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Keep at most so many characters: the most frequent, ties to the smaller code point.
    pub limit_alphabet: Option<usize>,
    /// Keep the most frequent characters until they make up this share of all occurrences.
    pub character_coverage: f64,
    /// Characters that are kept, and count towards `limit_alphabet`, even if never seen.
    pub extra_alphabet: Vec<char>,
}

/// The characters kept, and those left out.
#[derive(Debug, Default)]
pub struct Alphabet {
    /// Kept characters by code point.
    pub kept: Vec<char>,
    /// Left out characters by code point, with their occurrences.
    pub dropped: Vec<(char, u64)>,
    /// Occurrences of bytes that are no part of UTF-8; each was read as U+FFFD.
    pub n_invalid_bytes: u64,
}

/// The characters of `text`; each byte that is no part of UTF-8 is one U+FFFD.
pub fn characters(text: &[u8]) -> impl Iterator<Item = char> {
    text.utf8_chunks().flat_map(|chunk| {
        chunk.valid().chars().chain(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER))
    })
}

/// Choose the alphabet of counted pre-tokens.
///
/// # Errors
///
/// `Argument` for a coverage outside 0 to 1; `CountOverflow` when occurrences that have to be
/// reported pass 64 bits.
pub fn choose(
    pretoken_counts: &[(&[u8], u64)],
    limits: &Limits,
    control: &Control,
) -> Result<Alphabet> {
    if !(0.0..=1.0).contains(&limits.character_coverage) {
        return Err(Error::new(
            Kind::Argument,
            format!("character_coverage is {}; give 0 to 1", limits.character_coverage),
        ));
    }
    let (counts, n_invalid_bytes) = count_characters(pretoken_counts, control)?;
    let n_occurrences: u128 = counts.iter().map(|&(_, count)| count).sum();
    let mut extra = limits.extra_alphabet.clone();
    extra.sort_unstable();
    extra.dedup();
    let limit = limits.limit_alphabet.unwrap_or(usize::MAX).saturating_sub(extra.len());
    let mut alphabet = Alphabet {
        n_invalid_bytes: narrow(n_invalid_bytes, "invalid bytes")?,
        ..Alphabet::default()
    };
    let (mut n_kept, mut n_covered) = (0, 0_u128);
    for &(character, count) in &counts {
        let is_extra = extra.binary_search(&character).is_ok();
        // Counts past 2^53 are rounded here, as the ratio is; 1.0 keeps every character.
        let is_covered = limits.character_coverage < 1.0
            && n_covered as f64 / n_occurrences as f64 >= limits.character_coverage;
        if !is_extra && (is_covered || n_kept >= limit) {
            let count = narrow(count, &format!("the dropped character {character:?}"))?;
            alphabet.dropped.push((character, count));
            continue;
        }
        n_covered += count;
        if !is_extra {
            n_kept += 1;
            alphabet.kept.push(character);
        }
    }
    alphabet.kept.extend(extra);
    alphabet.kept.sort_unstable();
    alphabet.dropped.sort_unstable();
    Ok(alphabet)
}

/// Characters by falling count, then code point; and occurrences of invalid bytes.
fn count_characters(
    pretoken_counts: &[(&[u8], u64)],
    control: &Control,
) -> Result<(Vec<(char, u128)>, u128)> {
    let mut counts: HashMap<char, u128> = HashMap::new();
    let mut n_invalid = 0_u128;
    for (&(pretoken, count), visit) in pretoken_counts.iter().zip(0_usize..) {
        if visit.is_multiple_of(CHECK_EVERY) {
            control.check()?;
        }
        if count == 0 {
            continue;
        }
        for chunk in pretoken.utf8_chunks() {
            n_invalid += u128::from(count) * chunk.invalid().len() as u128;
        }
        for character in characters(pretoken) {
            *counts.entry(character).or_default() += u128::from(count);
        }
    }
    let mut counts: Vec<(char, u128)> = counts.into_iter().collect();
    counts.sort_unstable_by_key(|&(character, count)| (std::cmp::Reverse(count), character));
    Ok((counts, n_invalid))
}

fn narrow(count: u128, what: &str) -> Result<u64> {
    u64::try_from(count).map_err(|_| {
        Error::new(
            Kind::CountOverflow,
            format!("{what}: {count} occurrences pass 64 bits; scale the counts down"),
        )
    })
}
