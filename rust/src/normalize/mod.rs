//! Normalization: text to the text that is split, with the way back for every byte.

pub mod alignment;
pub mod characters;
pub mod charsmap;
pub mod forms;
pub mod replace;
pub mod spaces;

use self::alignment::{Normalized, Rewriter, SpanRule};
use self::characters::CharacterSet;
use self::charsmap::Charsmap;
use self::forms::Form;
use self::replace::Target;
use self::spaces::Spaces;
use crate::error::{Error, Kind, Result};
use crate::parallel::Control;
use crate::split::Parts;
use crate::split::classes::{ClassTable, bit};
use crate::split::steps::compile_regex;

/// One normalizer as data; each is described in `subword.normalizers`.
#[derive(Debug, Clone)]
pub enum Step {
    /// One of the four Unicode forms; the characters named stay as they are.
    Form(Form, Vec<char>),
    /// Lower case.
    Lowercase,
    /// Remove combining marks.
    StripAccents,
    /// Drop whitespace at the ends: left, right.
    Strip(bool, bool),
    /// Put `content` for each match of `pattern`.
    Replace {
        /// What to look for.
        pattern: String,
        /// What to put there.
        content: String,
        /// Whether the pattern is a regular expression.
        regex: bool,
    },
    /// Put a string before the text.
    Prepend(String),
    /// BERT's four parts.
    Bert {
        /// Drop control characters, make whitespace spaces.
        clean_text: bool,
        /// Put spaces around ideographs.
        handle_chinese_chars: bool,
        /// Remove accents.
        strip_accents: bool,
        /// Lower case.
        lowercase: bool,
    },
    /// SentencePiece's compiled replacements.
    Charsmap {
        /// As in the model file.
        data: Vec<u8>,
        /// As tokenizers applies it, not as sentencepiece does.
        per_grapheme: bool,
        /// Strings to leave alone.
        keep: Vec<String>,
    },
    /// SentencePiece's handling of spaces.
    Spaces(Spaces),
}

/// A step with what it needs at hand.
#[derive(Debug, Clone)]
enum Compiled {
    Form(Form, Vec<char>),
    Lowercase,
    Remove(CharacterSet),
    Clean(CharacterSet),
    SpaceIdeographs,
    Strip(bool, bool),
    Replace(Target, Vec<u8>),
    Prepend(Vec<u8>),
    LongestCharsmap(Box<Charsmap>),
    GraphemeCharsmap(Box<Charsmap>),
    Spaces(Spaces),
}

/// Compiled steps.
#[derive(Debug, Clone)]
pub struct Normalizer {
    steps: Vec<Compiled>,
    rule: SpanRule,
}

impl Normalizer {
    /// Compile the steps, which are applied in turn.
    ///
    /// # Errors
    ///
    /// `Pattern` for a pattern that is empty or does not compile, `Format` for a damaged
    /// charsmap, `Argument` for an empty string to keep.
    pub fn compile(steps: &[Step]) -> Result<Self> {
        let mut compiled = Vec::new();
        let mut rule = SpanRule::Cover;
        for step in steps {
            if matches!(step, Step::Spaces(_) | Step::Charsmap { per_grapheme: false, .. }) {
                rule = SpanRule::Tile;
            }
            compile_step(step, &mut compiled)?;
        }
        Ok(Self { steps: compiled, rule })
    }

    /// The charsmap and the handling of spaces, if these are all there is: SentencePiece's way.
    #[must_use]
    pub fn as_sentencepiece(&self) -> Option<(Option<&Charsmap>, Spaces)> {
        match self.steps.as_slice() {
            [Compiled::LongestCharsmap(charsmap), Compiled::Spaces(spaces)] => {
                Some((Some(charsmap), *spaces))
            }
            [Compiled::Spaces(spaces)] => Some((None, *spaces)),
            _ => None,
        }
    }

    /// The parts of BERT's texts that are normalized alike wherever they stand.
    #[must_use]
    pub fn bert_parts(&self) -> Option<Parts> {
        let is_local = |step: &Compiled| match step {
            Compiled::Form(Form::Nfd | Form::Nfkd, keep) => keep.is_empty(),
            Compiled::Lowercase
            | Compiled::Remove(_)
            | Compiled::Clean(_)
            | Compiled::SpaceIdeographs => true,
            _ => false,
        };
        let spaces_ideographs = |step| matches!(step, &Compiled::SpaceIdeographs);
        let is_local = self.steps.iter().all(is_local);
        is_local.then(|| Parts::Bert { ideographs: self.steps.iter().any(spaces_ideographs) })
    }

    /// Whether a text may be cut at what `Splitter::normalized_cut` gives before it is normalized:
    /// ASCII letters, digits and ideographs stay what they are, and so does what stands behind them
    /// there.
    #[must_use]
    pub fn keeps_safe_cuts(&self) -> bool {
        let keeps = |step: &Compiled| match step {
            Compiled::Form(_, keep) => keep.is_empty(),
            Compiled::Lowercase => true,
            _ => false,
        };
        self.steps.iter().all(keeps)
    }

    /// Whether `Parts::Spaced` are normalized alike wherever they stand, and whitespace to
    /// whitespace.
    ///
    /// # Errors
    ///
    /// As `normalize`.
    pub fn is_spaced(&self) -> Result<bool> {
        let is_local = |step: &Compiled| match step {
            Compiled::Form(_, keep) => keep.is_empty(),
            Compiled::Lowercase
            | Compiled::Remove(_)
            | Compiled::SpaceIdeographs
            | Compiled::Strip(..) => true,
            Compiled::GraphemeCharsmap(charsmap) => !charsmap.keeps_strings(),
            _ => false,
        };
        if !self.steps.iter().all(is_local) {
            return Ok(false);
        }
        for blank in [" ", "\n", "\r"] {
            let text = format!("a{blank}b");
            let mut out = Normalized::default();
            let changed = self.normalize(text.as_bytes(), &mut out, &Control::default())?;
            let view = if changed { &out.bytes } else { text.as_bytes() };
            let inner = std::str::from_utf8(view).ok().and_then(|view| view.strip_prefix('a'));
            let inner = inner.and_then(|view| view.strip_suffix('b')).unwrap_or_default();
            if inner.is_empty() || !inner.chars().all(char::is_whitespace) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether `Parts::Marked` are normalized alike wherever they stand: nothing changes a space
    /// alone but the rule that runs of them are one, and what stands before one, a printable ASCII
    /// character or a letter of two bytes, does not become one that ends with a space.
    ///
    /// # Errors
    ///
    /// As `normalize`.
    pub fn is_marked(&self) -> Result<bool> {
        let is_local = |step: &Compiled| match step {
            Compiled::Form(_, keep) => keep.is_empty(),
            Compiled::GraphemeCharsmap(charsmap) => {
                // What stands in one cluster with a key may be lost.
                !charsmap.keeps_strings()
                    && !charsmap.changes(' ')
                    && !joiners().any(|joiner| charsmap.changes(joiner))
            }
            Compiled::Replace(Target::Spaces, with) => with == b" ",
            Compiled::Lowercase => true,
            _ => false,
        };
        if !self.steps.iter().all(is_local) {
            return Ok(false);
        }
        let table = ClassTable::shared();
        let mut out = Normalized::default();
        let two_bytes = (0x80..0x800).filter(|&code| table.of(code) & bit::LETTER != 0);
        for solid in (0x21..0x7F).chain(two_bytes).filter_map(char::from_u32) {
            let text = solid.to_string();
            let changed = self.normalize(text.as_bytes(), &mut out, &Control::default())?;
            if changed && out.bytes.last().is_none_or(|&last| last == b' ') {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Normalize `text` into `out`, and say whether it changed.
    ///
    /// False means that the text is its own normal form; `out` then holds nothing of use. Bytes
    /// that are not UTF-8 pass through. Time is linear in the text, but for the sort of a run of
    /// combining marks and a user's own regular expression.
    ///
    /// # Errors
    ///
    /// `Format` for a damaged charsmap, `Memory`, `Interrupted`.
    pub fn normalize(&self, text: &[u8], out: &mut Normalized, control: &Control) -> Result<bool> {
        let mut changed = false;
        for step in &self.steps {
            let current: &[u8] = if changed { &out.bytes } else { text };
            if step.keeps(current) {
                continue;
            }
            let mut next = Normalized::default();
            let before = changed.then_some(&*out);
            step.apply(&mut Rewriter::new(current, before, &mut next, control)?)?;
            if !next.is_identity(text.len()) || changed {
                changed = true;
                *out = next;
            }
        }
        out.set_rule(self.rule);
        Ok(changed)
    }
}

/// The characters that are in one grapheme cluster with what follows them.
fn joiners() -> impl Iterator<Item = char> {
    let table = ClassTable::shared();
    ('\0'..='\u{1ffff}').filter(|&one| table.of(u32::from(one)) & bit::JOINS_NEXT != 0)
}

fn compile_step(step: &Step, out: &mut Vec<Compiled>) -> Result<()> {
    match step {
        Step::Form(form, keep) => out.push(Compiled::Form(*form, keep.clone())),
        Step::Lowercase => out.push(Compiled::Lowercase),
        Step::StripAccents => out.push(Compiled::Remove(CharacterSet::new(r"\p{M}")?)),
        Step::Strip(left, right) => out.push(Compiled::Strip(*left, *right)),
        Step::Replace { pattern, content, regex } => {
            if pattern.is_empty() {
                return Err(Error::new(
                    Kind::Pattern,
                    "a Replace normalizer has an empty pattern; give it something to look for",
                ));
            }
            let target = if *regex && pattern == " {2,}" {
                Target::Spaces
            } else if *regex {
                Target::Regex(compile_regex(pattern)?)
            } else {
                Target::Literal(pattern.clone().into_bytes())
            };
            out.push(Compiled::Replace(target, content.clone().into_bytes()));
        }
        Step::Prepend(text) => out.push(Compiled::Prepend(text.clone().into_bytes())),
        Step::Bert { clean_text, handle_chinese_chars, strip_accents, lowercase } => {
            if *clean_text {
                out.push(Compiled::Clean(CharacterSet::new(r"[\p{Cc}\p{Cf}\p{Co}]")?));
            }
            if *handle_chinese_chars {
                out.push(Compiled::SpaceIdeographs);
            }
            if *strip_accents {
                out.push(Compiled::Form(Form::Nfd, Vec::new()));
                out.push(Compiled::Remove(CharacterSet::new(r"\p{Mn}")?));
            }
            if *lowercase {
                out.push(Compiled::Lowercase);
            }
        }
        Step::Charsmap { data, per_grapheme, keep } => {
            let charsmap = Box::new(Charsmap::parse(data, keep)?);
            out.push(if *per_grapheme {
                Compiled::GraphemeCharsmap(charsmap)
            } else {
                Compiled::LongestCharsmap(charsmap)
            });
        }
        Step::Spaces(spaces) => out.push(Compiled::Spaces(*spaces)),
    }
    Ok(())
}

impl Compiled {
    /// A cheap look that finds the usual text unchanged; false only means "not sure".
    fn keeps(&self, text: &[u8]) -> bool {
        match self {
            Self::Form(form, _) => forms::is_inert(*form, text),
            Self::Remove(_) | Self::SpaceIdeographs => text.is_ascii(),
            Self::Lowercase => text.is_ascii() && !text.iter().any(u8::is_ascii_uppercase),
            Self::Clean(_) => text.iter().all(|byte| matches!(byte, b' '..=b'~')),
            Self::Replace(Target::Literal(literal), _) => {
                memchr::memmem::find(text, literal).is_none()
            }
            Self::Replace(Target::Spaces, _) => memchr::memmem::find(text, b"  ").is_none(),
            _ => false,
        }
    }

    fn apply(&self, rewriter: &mut Rewriter<'_>) -> Result<()> {
        match self {
            Self::Form(form, keep) => forms::apply(*form, keep, rewriter),
            Self::Lowercase => characters::lowercase(rewriter),
            Self::Remove(set) => characters::remove(set, rewriter),
            Self::Clean(control) => characters::clean(control, rewriter),
            Self::SpaceIdeographs => characters::space_ideographs(rewriter),
            Self::Strip(left, right) => characters::strip(*left, *right, rewriter),
            Self::Replace(target, content) => replace::replace(target, content, rewriter),
            Self::Prepend(text) => replace::prepend(text, rewriter),
            Self::LongestCharsmap(charsmap) => charsmap.apply_longest(rewriter),
            Self::GraphemeCharsmap(charsmap) => charsmap.apply_graphemes(rewriter),
            Self::Spaces(spaces) => spaces::apply(*spaces, rewriter),
        }
    }
}
