//! Pre-tokens as sequences of symbols, and the vocabulary that these start from.

use hashbrown::HashSet;

use crate::error::{Error, Kind, Result};
use crate::parallel::Control;

use super::alphabet::{self, Alphabet, CHECK_EVERY};
use super::symbols::Symbols;
use super::train::{Options, Score};
use super::words::Words;

/// Pre-tokens in the order in which they were seen; equal places by bytes.
pub fn order_of<'a>(
    pretoken_counts: &[(&'a [u8], u64)],
    first_seen: Option<&[u64]>,
) -> Result<Vec<(u64, &'a [u8], u64)>> {
    let listed = pretoken_counts.iter().zip(0..);
    let mut order: Vec<(u64, &[u8], u64)> = match first_seen {
        None => listed.map(|(&(pretoken, count), place)| (place, pretoken, count)).collect(),
        Some(places) if places.len() != pretoken_counts.len() => {
            return Err(Error::new(
                Kind::Counts,
                format!(
                    "first_seen has {} places for {} pre-tokens; give one for each",
                    places.len(),
                    pretoken_counts.len()
                ),
            ));
        }
        Some(places) => pretoken_counts
            .iter()
            .zip(places)
            .map(|(&(pretoken, count), &place)| (place, pretoken, count))
            .collect(),
    };
    order.retain(|&(_, _, count)| count > 0);
    order.sort_unstable();
    Ok(order)
}

/// A character with what marks its place in a word.
fn form(character: char, begins: bool, ends: bool, options: &Options, out: &mut Vec<u8>) {
    out.clear();
    if !begins {
        out.extend_from_slice(options.continuing_prefix.as_bytes());
    }
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    if ends {
        out.extend_from_slice(options.end_of_word_suffix.as_bytes());
    }
}

/// Special tokens and alphabet.
pub fn start_vocabulary(
    pretoken_counts: &[(&[u8], u64)],
    alphabet: &Alphabet,
    options: &Options,
    control: &Control,
) -> Result<Symbols> {
    let mut symbols = Symbols::default();
    for token in &options.special_tokens {
        if token.is_empty() || symbols.id(token.as_bytes()).is_some() {
            let what = if token.is_empty() { "is empty" } else { "stands twice" };
            return Err(Error::new(
                Kind::SpecialToken,
                format!("the special token {token:?} {what}; give each once"),
            ));
        }
        symbols.intern(token.as_bytes())?;
    }
    let mut seen: Vec<(bool, bool, char)> = Vec::new();
    {
        let mut forms: HashSet<(bool, bool, char)> = HashSet::new();
        let counted = pretoken_counts.iter().filter(|&&(_, count)| count > 0);
        for (&(pretoken, _), visit) in counted.zip(0_usize..) {
            if visit.is_multiple_of(CHECK_EVERY) {
                control.check()?;
            }
            for_each_form(pretoken, |continues, ends, character| {
                if alphabet.kept.binary_search(&character).is_ok() {
                    forms.insert((continues, ends, character));
                }
            });
        }
        seen.extend(forms);
    }
    let always = if options.all_forms { &alphabet.kept } else { &options.alphabet.extra_alphabet };
    for &character in always {
        seen.extend(
            [(false, false), (false, true), (true, false), (true, true)]
                .map(|(continues, ends)| (continues, ends, character)),
        );
    }
    for (continues, ends, _) in &mut seen {
        // Without a mark there is no such form, and nothing to order by.
        *continues &= !options.continuing_prefix.is_empty();
        *ends &= !options.end_of_word_suffix.is_empty();
    }
    seen.sort_unstable();
    let n_special = symbols.len();
    let mut token = Vec::new();
    for (continues, ends, character) in seen {
        form(character, !continues, ends, options, &mut token);
        if symbols.id(&token).is_some_and(|id| (id as usize) < n_special) {
            return Err(Error::new(
                Kind::SpecialToken,
                format!(
                    "the special token {:?} is also a character of the alphabet; give it another \
                     spelling, or leave the character out",
                    String::from_utf8_lossy(&token)
                ),
            ));
        }
        symbols.intern(&token)?;
    }
    if symbols.len() > options.vocab_size {
        return Err(Error::new(
            Kind::VocabSize,
            format!(
                "vocab_size is {}, but {n_special} special tokens and {} characters need {}; \
                 raise it, or lower limit_alphabet or character_coverage",
                options.vocab_size,
                symbols.len() - n_special,
                symbols.len()
            ),
        ));
    }
    Ok(symbols)
}

/// Call `visit` with (is inside the word, is its last, character) for each character.
fn for_each_form(pretoken: &[u8], mut visit: impl FnMut(bool, bool, char)) {
    let mut characters = alphabet::characters(pretoken).peekable();
    let mut continues = false;
    while let Some(character) = characters.next() {
        visit(continues, characters.peek().is_none(), character);
        continues = true;
    }
}

/// Pre-tokens as symbols; by likelihood also the occurrences of each symbol.
pub fn spell<'a>(
    pretoken_counts: impl Iterator<Item = (&'a [u8], u64)>,
    symbols: &Symbols,
    alphabet: &Alphabet,
    options: &Options,
    control: &Control,
) -> Result<(Words, Option<Vec<u64>>)> {
    let mut words = Words::default();
    let mut counts = (options.score == Score::Likelihood).then(|| vec![0_u64; symbols.len()]);
    let (mut run, mut token): (Vec<u32>, Vec<u8>) = (Vec::new(), Vec::new());
    let mut spelled: Vec<Option<u32>> = Vec::new();
    for ((pretoken, count), visit) in pretoken_counts.zip(0_usize..) {
        if visit.is_multiple_of(CHECK_EVERY) {
            control.check()?;
        }
        spelled.clear();
        for_each_form(pretoken, |continues, ends, character| {
            // A form of a character left out may be spelled like another token.
            let is_kept = alphabet.kept.binary_search(&character).is_ok();
            form(character, !continues, ends, options, &mut token);
            spelled.push(if is_kept { symbols.id(&token) } else { None });
        });
        spelled.push(None);
        for &symbol in &spelled {
            if let Some(symbol) = symbol {
                run.push(symbol);
                if let Some(total) =
                    counts.as_mut().and_then(|counts| counts.get_mut(symbol as usize))
                {
                    *total = total.checked_add(count).ok_or_else(|| {
                        Error::new(
                            Kind::CountOverflow,
                            format!(
                                "the occurrences of {:?} pass 64 bits; scale the counts down",
                                String::from_utf8_lossy(symbols.token(symbol))
                            ),
                        )
                    })?;
                }
            } else {
                if run.len() > 1 {
                    words.push(&run, count)?;
                }
                run.clear();
            }
        }
    }
    Ok((words, counts))
}
