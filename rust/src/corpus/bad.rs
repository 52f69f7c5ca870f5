//! Records that cannot be read as declared: refused, skipped or replaced, by a policy.

use crate::error::{Error, Kind, Result};

/// How many places are kept; the others are only counted.
const MOST_PLACES: usize = 20;

/// What a bad record does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnBad {
    /// It ends the reading with an error.
    Fail,
    /// It is left out.
    Skip,
    /// What is no UTF-8 becomes U+FFFD; a record without a text becomes an empty document.
    Replace,
}

/// The bad records met so far.
#[derive(Debug, Clone)]
pub struct BadRecords {
    /// The policy.
    pub on_bad: OnBad,
    /// How many there were.
    pub n_records: u64,
    /// Where the first of them stand, and what is wrong with them.
    pub places: Vec<String>,
}

impl BadRecords {
    /// None yet.
    #[must_use]
    pub fn new(on_bad: OnBad) -> Self {
        Self { on_bad, n_records: 0, places: Vec::new() }
    }

    /// Note a bad record.
    ///
    /// # Errors
    ///
    /// `Corpus` with what `describe` says, when the policy is to fail.
    pub fn note(&mut self, describe: impl FnOnce() -> String) -> Result<()> {
        if self.on_bad == OnBad::Fail {
            return Err(Error::new(
                Kind::Corpus,
                format!("{}; on_bad=\"skip\" leaves such records out", describe()),
            ));
        }
        self.n_records += 1;
        if self.places.len() < MOST_PLACES {
            self.places.push(describe());
        }
        Ok(())
    }

    /// Append a text to `out`, mended if the policy says so; false when it is left out.
    ///
    /// # Errors
    ///
    /// `Corpus` for what is no UTF-8 when the policy is to fail; `Memory`.
    pub fn append(
        &mut self,
        text: &[u8],
        out: &mut Vec<u8>,
        place: impl FnOnce() -> String,
    ) -> Result<bool> {
        out.try_reserve(text.len())?;
        if let Err(error) = std::str::from_utf8(text) {
            self.note(|| format!("{}: not UTF-8 at its byte {}", place(), error.valid_up_to()))?;
            if self.on_bad == OnBad::Skip {
                return Ok(false);
            }
            append_lossy(text, out)?;
        } else {
            out.extend_from_slice(text);
        }
        Ok(true)
    }
}

/// Append `text` with U+FFFD for each stretch that is no UTF-8, and for each lone surrogate.
///
/// # Errors
///
/// `Memory`.
pub fn append_lossy(text: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let mut rest = text;
    while !rest.is_empty() {
        let Err(error) = std::str::from_utf8(rest) else {
            out.try_reserve(rest.len())?;
            out.extend_from_slice(rest);
            break;
        };
        let (valid, bad) = rest.split_at(error.valid_up_to());
        // A surrogate in the manner of UTF-8 is three bytes and one character.
        let n_bad = match bad {
            [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..] => 3,
            _ => error.error_len().unwrap_or(bad.len()),
        };
        out.try_reserve(valid.len() + 3)?;
        out.extend_from_slice(valid);
        out.extend_from_slice("\u{fffd}".as_bytes());
        rest = bad.get(n_bad..).unwrap_or_default();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lossy(text: &[u8]) -> String {
        let mut out = Vec::new();
        append_lossy(text, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_mended_is_what_the_standard_library_gives() {
        for text in [&b"plain"[..], b"a\xffb", b"\xe2\x82", b"\xf0\x9f\x98", b"", b"\xc3\xa9\x80"] {
            assert_eq!(lossy(text), String::from_utf8_lossy(text));
        }
        assert_eq!(lossy(b"a\xed\xa0\x80b"), "a\u{fffd}b");
    }

    #[test]
    fn places_are_bounded_and_the_number_is_not() {
        let mut bad = BadRecords::new(OnBad::Skip);
        for at in 0..100 {
            bad.note(|| at.to_string()).unwrap();
        }
        assert_eq!((bad.n_records, bad.places.len()), (100, MOST_PLACES));
    }
}
