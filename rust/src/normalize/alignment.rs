//! Where each byte of a normalized text came from.
//!
//! A normalized text is a list of runs. In an exact run every byte is the original byte at the
//! same distance; in a block every byte came from one span of the original. Text that
//! normalization leaves alone therefore costs one run, however long it is.

use std::ops::Range;

use crate::error::Result;
use crate::parallel::Control;

/// Writes between two looks at the stop flag; each costs well under a microsecond.
const WRITES_PER_CHECK: u32 = 1 << 14;

/// How a span of normalized bytes is turned into a span of original bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpanRule {
    /// From the origin of the first byte to the end of the origin of the last byte.
    ///
    /// Two tokens of one expansion have the same span. Source: tokenizers 0.23.3.
    #[default]
    Cover,
    /// From the origin of the first byte to the origin of the byte that follows.
    ///
    /// Spans tile the text, and of the tokens of one expansion only the last has a width.
    /// Source: sentencepiece 0.2.3, `norm_to_orig`.
    Tile,
}

/// Normalized bytes from `start` to the next run's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    start: usize,
    origin: Origin,
    exact: bool,
}

/// A span of original bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Origin {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A normalized text, and where each of its bytes came from.
#[derive(Debug, Clone, Default)]
pub struct Normalized {
    /// The text after normalization.
    pub bytes: Vec<u8>,
    runs: Vec<Run>,
    original_end: usize,
    rule: SpanRule,
}

impl Normalized {
    /// The span of original bytes that normalized bytes `start..end` came from.
    ///
    /// An empty range gives an empty span at the place where it stands. A range past the end
    /// is cut to it.
    #[must_use]
    pub fn original_span(&self, start: usize, end: usize) -> (usize, usize) {
        let end = end.min(self.bytes.len());
        let start = start.min(end);
        let first = self.start_at(start);
        let last = match self.rule {
            _ if start == end => first,
            SpanRule::Cover => self.end_before(end),
            SpanRule::Tile => self.start_at(end),
        };
        (first, last.max(first))
    }

    /// `(normalized start, normalized end, original start, original end, exact)` of each run.
    pub fn runs(&self) -> impl Iterator<Item = (usize, usize, usize, usize, bool)> + '_ {
        self.runs.iter().enumerate().map(|(index, run)| {
            (run.start, self.run_end(index), run.origin.start, run.origin.end, run.exact)
        })
    }

    /// How spans are taken.
    #[must_use]
    pub fn rule(&self) -> SpanRule {
        self.rule
    }

    pub(super) fn set_rule(&mut self, rule: SpanRule) {
        self.rule = rule;
    }

    /// Whether this is the original text of `length` bytes, byte for byte.
    #[must_use]
    pub fn is_identity(&self, length: usize) -> bool {
        let one_exact_run = match self.runs.as_slice() {
            [] => length == 0,
            [run] => run.exact && run.origin == Origin { start: 0, end: length },
            _ => false,
        };
        one_exact_run && self.bytes.len() == length && self.original_end == length
    }

    /// Where the original ends, for a span that reaches the end of the normalized text.
    #[must_use]
    pub fn original_end(&self) -> usize {
        self.original_end
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.original_end = self.start_at(length);
        self.bytes.truncate(length);
        let keep = self.runs.partition_point(|run| run.start < length);
        self.runs.truncate(keep);
        if let Some(run) = self.runs.last_mut()
            && run.exact
        {
            run.origin.end = run.origin.start + (length - run.start);
        }
    }

    fn run_end(&self, index: usize) -> usize {
        self.runs.get(index + 1).map_or(self.bytes.len(), |next| next.start)
    }

    fn run_at(&self, position: usize) -> Option<&Run> {
        let after = self.runs.partition_point(|run| run.start <= position);
        self.runs.get(after.checked_sub(1)?)
    }

    fn start_at(&self, position: usize) -> usize {
        if position >= self.bytes.len() {
            return self.original_end;
        }
        self.run_at(position).map_or(0, |run| run.start_at(position))
    }

    fn end_before(&self, end: usize) -> usize {
        end.checked_sub(1)
            .and_then(|last| self.run_at(last))
            .map_or(self.original_end, |run| run.end_before(end))
    }

    fn push(&mut self, bytes: &[u8], origin: Origin, exact: bool) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let start = self.bytes.len();
        self.bytes.try_reserve(bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        if let Some(last) = self.runs.last_mut()
            && last.exact == exact
        {
            if exact && last.origin.end == origin.start {
                last.origin.end = origin.end;
                return Ok(());
            }
            if !exact && last.origin == origin {
                return Ok(());
            }
        }
        self.runs.try_reserve(1)?;
        self.runs.push(Run { start, origin, exact });
        Ok(())
    }
}

impl Run {
    fn start_at(&self, position: usize) -> usize {
        if self.exact { self.origin.start + (position - self.start) } else { self.origin.start }
    }

    fn end_before(&self, end: usize) -> usize {
        if self.exact { self.origin.start + (end - self.start) } else { self.origin.end }
    }
}

/// Writes one step's result, left to right, and carries origins through from the step before.
pub struct Rewriter<'a> {
    source: &'a [u8],
    before: Option<&'a Normalized>,
    cursor: usize,
    out: &'a mut Normalized,
    control: &'a Control,
    n_writes: u32,
}

impl<'a> Rewriter<'a> {
    /// Start on `source`: the original text, or the bytes of `before`.
    ///
    /// # Errors
    ///
    /// `Memory` when there is none for a text of this size.
    pub fn new(
        source: &'a [u8],
        before: Option<&'a Normalized>,
        out: &'a mut Normalized,
        control: &'a Control,
    ) -> Result<Self> {
        out.bytes.clear();
        out.runs.clear();
        out.original_end = before.map_or(source.len(), |text| text.original_end);
        out.rule = before.map_or(SpanRule::Cover, |text| text.rule);
        out.bytes.try_reserve(source.len())?;
        Ok(Self { source, before, cursor: 0, out, control, n_writes: 0 })
    }

    /// The text that is rewritten.
    #[must_use]
    pub fn source(&self) -> &'a [u8] {
        self.source
    }

    /// Bytes written so far.
    #[must_use]
    pub fn n_written(&self) -> usize {
        self.out.bytes.len()
    }

    /// What has been written so far.
    pub(super) fn written(&mut self) -> &mut Normalized {
        self.out
    }

    /// Emit source bytes as they are.
    ///
    /// # Errors
    ///
    /// `Memory`, `Interrupted`.
    pub fn copy(&mut self, range: Range<usize>) -> Result<()> {
        self.tick()?;
        let Some(before) = self.before else {
            let bytes = self.source.get(range.clone()).unwrap_or_default();
            return self.out.push(bytes, Origin { start: range.start, end: range.end }, true);
        };
        let mut position = range.start;
        while position < range.end {
            let index = self.seek(before, position);
            let Some(run) = before.runs.get(index) else { break };
            let end = before.run_end(index).min(range.end);
            let origin = if run.exact {
                Origin { start: run.start_at(position), end: run.end_before(end) }
            } else {
                run.origin
            };
            let bytes = self.source.get(position..end).unwrap_or_default();
            self.out.push(bytes, origin, run.exact)?;
            position = end;
        }
        Ok(())
    }

    /// Emit `text`, which came from source bytes `from`.
    ///
    /// # Errors
    ///
    /// `Memory`, `Interrupted`.
    pub fn write(&mut self, text: &[u8], from: Range<usize>) -> Result<()> {
        self.tick()?;
        let origin = self.origin(from);
        self.out.push(text, origin, false)
    }

    /// Emit `text`, which stands at byte `position` of the original and came from nothing there.
    pub(super) fn write_at(&mut self, text: &[u8], position: usize) -> Result<()> {
        self.out.push(text, Origin { start: position, end: position }, false)
    }

    /// The original span that source bytes `from` came from.
    pub(super) fn origin_of(&mut self, from: Range<usize>) -> (usize, usize) {
        let origin = self.origin(from);
        (origin.start, origin.end)
    }

    fn origin(&mut self, from: Range<usize>) -> Origin {
        let Some(before) = self.before else {
            return Origin { start: from.start, end: from.end };
        };
        let index = self.seek(before, from.start);
        let start = match before.runs.get(index) {
            Some(run) if from.start < before.bytes.len() => run.start_at(from.start),
            _ => before.original_end,
        };
        if from.is_empty() {
            return Origin { start, end: start };
        }
        let last = self.seek(before, from.end - 1);
        let end = before.runs.get(last).map_or(start, |run| run.end_before(from.end));
        Origin { start, end: end.max(start) }
    }

    /// The run that holds `position`; rewriting goes left to right, so it is near the last one.
    fn seek(&mut self, before: &Normalized, position: usize) -> usize {
        while before.runs.get(self.cursor).is_some_and(|run| run.start > position) {
            self.cursor = self.cursor.saturating_sub(1);
            if self.cursor == 0 {
                break;
            }
        }
        while before.runs.get(self.cursor + 1).is_some_and(|next| next.start <= position) {
            self.cursor += 1;
        }
        self.cursor
    }

    /// Count a step of work, written or not, and now and then look for a stop.
    ///
    /// # Errors
    ///
    /// `Interrupted`.
    #[inline]
    pub(super) fn tick(&mut self) -> Result<()> {
        self.n_writes += 1;
        if self.n_writes >= WRITES_PER_CHECK {
            self.n_writes = 0;
            self.control.check()?;
        }
        Ok(())
    }
}
