//! The four Unicode normalization forms, with origins.
//!
//! Source: Unicode Standard Annex #15; the data is that of the `unicode-normalization` crate,
//! chosen over `icu_normalizer` because it gives the pieces (decompose, combining class, compose)
//! from which origins can be kept, and pinned to the Unicode version of `regex-syntax`.

use std::ops::Range;
use std::sync::OnceLock;

use unicode_normalization::char::{
    canonical_combining_class, compose, decompose_canonical, decompose_compatible,
};
use unicode_normalization::{
    IsNormalized, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use super::alignment::Rewriter;
use crate::error::Result;
use crate::split::classes::decode_utf8;

/// Which of the four forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
}

impl Form {
    fn composes(self) -> bool {
        matches!(self, Self::Nfc | Self::Nfkc)
    }

    fn quick_check(self, character: char) -> IsNormalized {
        let one = std::iter::once(character);
        match self {
            Self::Nfc => is_nfc_quick(one),
            Self::Nfd => is_nfd_quick(one),
            Self::Nfkc => is_nfkc_quick(one),
            Self::Nfkd => is_nfkd_quick(one),
        }
    }

    fn decompose(self, character: char, emit: impl FnMut(char)) {
        match self {
            Self::Nfc | Self::Nfd => decompose_canonical(character, emit),
            Self::Nfkc | Self::Nfkd => decompose_compatible(character, emit),
        }
    }

    /// Whether nothing before `character` can change it, nor the reverse.
    fn starts_segment(self, character: char) -> bool {
        let mut first = None;
        self.decompose(character, |part| {
            first.get_or_insert(part);
        });
        let first = first.unwrap_or(character);
        canonical_combining_class(first) == 0
            && !matches!(is_nfc_quick(std::iter::once(first)), IsNormalized::Maybe)
    }
}

/// The characters below U+10000 that a form neither changes nor moves nor joins with others: by
/// the crate's tables each is looked up twice, which takes ten times as long.
struct Inert([u64; 1 << 10]);

impl Inert {
    /// The table of a form, built at its first use.
    fn of(form: Form) -> &'static Self {
        static TABLES: [OnceLock<Inert>; 4] = [const { OnceLock::new() }; 4];
        TABLES[form as usize].get_or_init(|| {
            let mut bits = [0; 1 << 10];
            for character in '\0'..='\u{ffff}' {
                let code = character as usize;
                let is_inert = matches!(form.quick_check(character), IsNormalized::Yes)
                    && canonical_combining_class(character) == 0;
                bits[code / 64] |= u64::from(is_inert) << (code % 64);
            }
            Self(bits)
        })
    }

    #[inline(always)]
    fn has(&self, code: u32) -> bool {
        let word = self.0.get(code as usize / 64);
        word.is_some_and(|bits| bits >> (code % 64) & 1 == 1)
    }
}

/// Whether every character of a text is one that the form leaves alone wherever it stands.
#[must_use]
pub fn is_inert(form: Form, text: &[u8]) -> bool {
    const ASCII: u64 = 0x8080_8080_8080_8080;
    let inert = Inert::of(form);
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match rest.first_chunk() {
            Some(eight) if u64::from_le_bytes(*eight) & ASCII == 0 => at += 8,
            _ => match decode_utf8(rest) {
                Some((code, n_bytes)) if inert.has(code) => at += n_bytes,
                _ => return false,
            },
        }
    }
    true
}

/// A decomposed character, and how many characters it adds: 1 when its source character has
/// already given one, 0 when it stands for a source character, -n when it stands for n more.
#[derive(Debug, Clone, Copy)]
struct Part {
    class: u8,
    character: char,
    change: isize,
}

/// Rewrite the text to `form`; characters in `keep` stay as they are.
pub fn apply(form: Form, keep: &[char], rewriter: &mut Rewriter<'_>) -> Result<()> {
    let mut base = 0;
    let mut parts = Vec::new();
    for chunk in rewriter.source().utf8_chunks() {
        apply_valid(form, keep, chunk.valid(), base, &mut parts, rewriter)?;
        base += chunk.valid().len();
        rewriter.copy(base..base + chunk.invalid().len())?;
        base += chunk.invalid().len();
    }
    Ok(())
}

/// Segments that are normalized already, by the quick check, are copied in one piece.
fn apply_valid(
    form: Form,
    keep: &[char],
    text: &str,
    base: usize,
    parts: &mut Vec<Part>,
    rewriter: &mut Rewriter<'_>,
) -> Result<()> {
    let inert = Inert::of(form);
    let mut done = 0;
    let mut segment = 0;
    let mut last_class = 0;
    let mut must_rewrite = false;
    for (position, character) in text.char_indices() {
        rewriter.tick()?;
        let kept = inert.has(u32::from(character)) || keep.contains(&character);
        let normal = kept || matches!(form.quick_check(character), IsNormalized::Yes);
        let class = if kept { 0 } else { canonical_combining_class(character) };
        if kept || (normal && class == 0) || (!normal && form.starts_segment(character)) {
            if must_rewrite {
                rewriter.copy(base + done..base + segment)?;
                rewrite(form, text, segment..position, base, parts, rewriter)?;
                done = position;
            }
            segment = position;
            last_class = 0;
            must_rewrite = false;
        }
        must_rewrite |= !normal || (class != 0 && class < last_class);
        last_class = class;
    }
    if must_rewrite {
        rewriter.copy(base + done..base + segment)?;
        rewrite(form, text, segment..text.len(), base, parts, rewriter)?;
        done = text.len();
    }
    rewriter.copy(base + done..base + text.len())
}

fn rewrite(
    form: Form,
    text: &str,
    range: Range<usize>,
    base: usize,
    parts: &mut Vec<Part>,
    rewriter: &mut Rewriter<'_>,
) -> Result<()> {
    let segment = text.get(range.clone()).unwrap_or_default();
    parts.clear();
    for character in segment.chars() {
        // The longest decomposition of one character (U+FDFA) has 18.
        parts.try_reserve(18)?;
        let mut change = 0;
        form.decompose(character, |part| {
            let class = canonical_combining_class(part);
            parts.push(Part { class, character: part, change });
            change = 1;
        });
    }
    order(parts);
    if form.composes() {
        compose_parts(parts);
    }
    if parts.iter().map(|part| part.character).eq(segment.chars()) {
        return rewriter.copy(base + range.start..base + range.end);
    }
    emit(parts, segment, base + range.start, rewriter)
}

/// Sort each stretch of combining characters by class, keeping the order of equals.
fn order(parts: &mut [Part]) {
    for stretch in parts.split_mut(|part| part.class == 0) {
        if !stretch.is_sorted_by_key(|part| part.class) {
            stretch.sort_by_key(|part| part.class);
        }
    }
}

/// Compose in place: each part that is not blocked joins its starter if a composite exists.
fn compose_parts(parts: &mut Vec<Part>) {
    let mut n_kept = 0;
    let mut starter: Option<usize> = None;
    let mut last_class: Option<u8> = None;
    for index in 0..parts.len() {
        let Some(&part) = parts.get(index) else { break };
        let blocked = last_class.is_some_and(|class| class >= part.class);
        if let Some(head) = starter.and_then(|at| parts.get_mut(at))
            && !blocked
            && let Some(composite) = compose(head.character, part.character)
        {
            head.character = composite;
            head.change += part.change - 1;
            continue;
        }
        if part.class == 0 {
            starter = Some(n_kept);
            last_class = None;
        } else {
            last_class = Some(part.class);
        }
        if let Some(slot) = parts.get_mut(n_kept) {
            *slot = part;
        }
        n_kept += 1;
    }
    parts.truncate(n_kept);
}

/// Give each part the origin that tokenizers 0.23.3 gives it: a composite that of its first
/// character, an added character that of the character just consumed.
fn emit(parts: &[Part], segment: &str, base: usize, rewriter: &mut Rewriter<'_>) -> Result<()> {
    let mut sources =
        segment.char_indices().map(|(at, character)| base + at..base + at + character.len_utf8());
    let mut consumed = base..base;
    let mut buffer = [0; 4];
    for part in parts {
        let from = if part.change > 0 {
            consumed.clone()
        } else {
            let from = sources.next().unwrap_or(consumed);
            consumed = from.clone();
            for _ in 0..part.change.unsigned_abs() {
                consumed = sources.next().unwrap_or(consumed);
            }
            from
        };
        rewriter.write(part.character.encode_utf8(&mut buffer).as_bytes(), from)?;
    }
    Ok(())
}
