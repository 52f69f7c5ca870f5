//! What one thread does to encode: cut, normalize, split, recall or run the model.

mod marked;

use crate::error::{Error, Kind, Result};
use crate::key::{INLINE, Key};
use crate::marks::View;
use crate::memo::{INLINE_IDS, Memo};
use crate::model::{Model, Scratch, TokenSpan};
use crate::normalize::alignment::Normalized;
use crate::parallel::Control;
use crate::special::SpecialTokens;
use crate::split::Splitter;
use crate::split::steps::Pieces;
use crate::tokenizer::{Cutter, Policy, Tokenizer};

/// Pre-tokens probed together, so that their cache misses overlap.
const PROBES: usize = 32;

/// The probes of a group of pre-tokens, and the ids that were found. Kept between groups: to clear
/// it for each costs as much as a look-up.
#[derive(Debug)]
struct Group {
    probes: [(Key, u64); PROBES],
    /// Ids gather here, so that the length of the result is not waited for at each pre-token.
    ids: [u32; (PROBES + 1) * INLINE_IDS],
}

impl Default for Group {
    fn default() -> Self {
        Self { probes: [(Key::default(), 0); PROBES], ids: [0; (PROBES + 1) * INLINE_IDS] }
    }
}

/// A token and where its bytes stand in the text: id, start, end.
pub type Span = (u32, usize, usize);

/// What one thread works with.
#[derive(Debug)]
pub struct Worker<'a> {
    tokenizer: &'a Tokenizer,
    memo: Option<Memo>,
    scratch: Scratch,
    normalized: Normalized,
    pieces: Pieces,
    view: View,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if let Some(memo) = self.memo.take() {
            self.tokenizer.pool.give_back(memo);
        }
    }
}

impl<'a> Worker<'a> {
    /// A worker with a memo of the tokenizer's pool.
    #[must_use]
    pub fn new(tokenizer: &'a Tokenizer) -> Self {
        Self {
            tokenizer,
            memo: Some(tokenizer.pool.take()),
            scratch: Scratch::default(),
            normalized: Normalized::default(),
            pieces: Pieces::default(),
            view: View::default(),
        }
    }

    /// Whose worker this is.
    #[must_use]
    pub fn tokenizer(&self) -> &'a Tokenizer {
        self.tokenizer
    }

    /// Append the ids of `text`.
    ///
    /// # Errors
    ///
    /// `SpecialTokenInText`, `UnencodableText`, `Pattern`, `Memory`, `Interrupted`.
    pub fn encode(
        &mut self,
        text: &[u8],
        policy: &Policy,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let recognized = self.tokenizer.recognized(text, policy)?;
        recognized.given.cut(text, |start, end, id| match id {
            Some(id) => {
                ids.try_reserve(1)?;
                ids.push(id);
                Ok(())
            }
            None => {
                let segment = text.get(start..end).unwrap_or_default();
                self.encode_segment(segment, start == 0, &recognized.normalized, ids, control)
                    .map_err(|error| locate(error, start))
            }
        })
    }

    /// Append the ids of a stretch of text without special tokens; `at_start` says that it
    /// begins where the text does.
    ///
    /// # Errors
    ///
    /// `UnencodableText`, `Pattern`, `Memory`, `Interrupted`.
    pub fn encode_segment(
        &mut self,
        text: &[u8],
        at_start: bool,
        normalized_tokens: &SpecialTokens,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        if let Some(splitter) = self.tokenizer.plain_splitter() {
            return self.encode_plain(text, splitter, ids, control);
        }
        if normalized_tokens.is_empty() {
            if let Some(marks) = &self.tokenizer.marks {
                return self.encode_marked(text, marks, ids, control);
            }
            if let Some(splitter) = &self.tokenizer.independent {
                return self.encode_plain(text, splitter, ids, control);
            }
        }
        self.encode_whole(text, at_start, normalized_tokens, ids, control)
    }

    /// Normalize a text, cut it, and append the ids of its pre-tokens.
    fn encode_whole(
        &mut self,
        text: &[u8],
        at_start: bool,
        normalized_tokens: &SpecialTokens,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let mut normalized = std::mem::take(&mut self.normalized);
        let view = self.normalize(text, &mut normalized, control)?;
        normalized_tokens.cut(view, |start, end, id| match id {
            Some(id) => {
                ids.try_reserve(1)?;
                ids.push(id);
                Ok(())
            }
            None => {
                let stretch = view.get(start..end).unwrap_or_default();
                let remembers = self.remembers_pieces();
                self.encode_stretch(stretch, at_start && start == 0, remembers, ids, control)
            }
        })?;
        self.normalized = normalized;
        Ok(())
    }

    /// Whether the memo may hold pieces of normalized texts.
    fn remembers_pieces(&self) -> bool {
        self.tokenizer.independent.as_ref().is_none_or(Splitter::leaves_pieces)
    }

    /// Append the ids of a part that `Tokenizer::independent` cut; its pieces may be remembered
    /// where it is not.
    fn encode_part_alone(
        &mut self,
        part: &[u8],
        is_kept: bool,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let mut normalized = std::mem::take(&mut self.normalized);
        let view = self.normalize(part, &mut normalized, control)?;
        let remembers = !is_kept && self.remembers_pieces();
        self.encode_stretch(view, false, remembers, ids, control)?;
        self.normalized = normalized;
        Ok(())
    }

    /// The text as it is split: itself, or what is in `normalized` then.
    fn normalize<'t>(
        &self,
        text: &'t [u8],
        normalized: &'t mut Normalized,
        control: &Control,
    ) -> Result<&'t [u8]> {
        match &self.tokenizer.parts.normalizer {
            Some(normalizer) if normalizer.normalize(text, normalized, control)? => {
                Ok(&normalized.bytes)
            }
            _ => Ok(text),
        }
    }

    fn encode_stretch(
        &mut self,
        text: &[u8],
        at_start: bool,
        remembers: bool,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let steps = match &self.tokenizer.parts.cutter {
            Cutter::Patterns(splitter) => return self.encode_plain(text, splitter, ids, control),
            Cutter::Steps(steps) => steps,
        };
        let mut pieces = std::mem::take(&mut self.pieces);
        steps.split(text, at_start, &mut pieces, control)?;
        let source = if pieces.changed { pieces.text.bytes.as_slice() } else { text };
        for (at, &(start, end)) in pieces.spans.iter().enumerate() {
            if at.is_multiple_of(1024) {
                control.check()?;
            }
            if remembers {
                self.encode_pretoken(source, start, end, ids, control)?;
            } else {
                let pretoken = source.get(start..end).unwrap_or_default();
                self.run_model(pretoken, start, ids, control)?;
            }
        }
        self.pieces = pieces;
        Ok(())
    }

    #[inline]
    fn encode_pretoken(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let Some(memo) = &self.memo else { return Ok(()) };
        let probe = memo.key(text, start, end).map(|key| (key, memo.hash(key)));
        self.encode_other(text, (start, end), probe.unwrap_or_default(), false, ids, control)
    }

    fn encode_plain(
        &mut self,
        text: &[u8],
        splitter: &Splitter,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let mut from = 0;
        let mut group = Group::default();
        let mut is_apart = splitter.leaves_pieces() && text.first() != Some(&b' ');
        // Parts of texts that are yet to be normalized have no edges.
        let edges = match &self.tokenizer.parts.model {
            Model::Bpe(bpe) if self.tokenizer.independent.is_none() => Some(bpe.edges()),
            _ => None,
        };
        splitter.split(text, control, &mut |mut ends| {
            control.check()?;
            if is_apart && let Some((&first, rest)) = ends.split_first() {
                self.encode_part_alone(text.get(..first).unwrap_or_default(), false, ids, control)?;
                (from, ends, is_apart) = (first, rest, false);
            }
            for ends in ends.chunks(PROBES) {
                match edges.filter(|_| has_long(from, ends)) {
                    Some(edges) => edges.stretches::<PROBES>(text, from, ends, |ends| {
                        control.check()?;
                        from = self.encode_group(text, from, ends, &mut group, ids, control)?;
                        Ok(())
                    })?,
                    None => from = self.encode_group(text, from, ends, &mut group, ids, control)?,
                }
            }
            Ok(())
        })
    }

    #[inline]
    fn encode_group(
        &mut self,
        text: &[u8],
        from: usize,
        ends: &[usize],
        group: &mut Group,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<usize> {
        let Some(memo) = &self.memo else { return Ok(from) };
        let mut start = from;
        for (probe, &end) in group.probes.iter_mut().zip(ends) {
            let key = memo.key(text, start, end).unwrap_or_default();
            let hash = memo.hash(key);
            memo.prefetch(hash);
            *probe = (key, hash);
            start = end;
        }
        start = from;
        let mut n_few = 0;
        ids.try_reserve(group.ids.len())?;
        for (&probe, &end) in group.probes.iter().zip(ends) {
            let known = self.memo.as_ref().and_then(|memo| memo.recall_few(probe));
            if let Some((three, n_ids)) = known {
                if let Some(place) = group.ids.get_mut(n_few..).and_then(<[u32]>::first_chunk_mut) {
                    *place = three;
                }
                n_few += n_ids;
            } else {
                ids.extend_from_slice(group.ids.get(..n_few).unwrap_or_default());
                n_few = 0;
                let is_part = self.tokenizer.independent.is_some();
                self.encode_other(text, (start, end), probe, is_part, ids, control)?;
                ids.try_reserve(group.ids.len())?;
            }
            start = end;
        }
        ids.extend_from_slice(group.ids.get(..n_few).unwrap_or_default());
        Ok(start)
    }

    /// Append the ids of a pre-token, or of a part of a text as given, that are not in a slot of the
    /// memo.
    #[inline(never)]
    fn encode_other(
        &mut self,
        text: &[u8],
        (start, end): (usize, usize),
        probe: (Key, u64),
        is_part: bool,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let pretoken = text.get(start..end).unwrap_or_default();
        ids.try_reserve(pretoken.len())?;
        let remembers = !probe.0.is_none();
        if remembers && self.memo.as_ref().is_some_and(|memo| memo.recall(probe, pretoken, ids)) {
            return Ok(());
        }
        let n_before = ids.len();
        if is_part {
            self.encode_part_alone(pretoken, remembers, ids, control)
                .map_err(|error| locate(error, start))?;
        } else {
            self.run_model(pretoken, start, ids, control)?;
        }
        if let Some(memo) = self.memo.as_mut().filter(|_| remembers) {
            memo.remember(probe, pretoken, ids.get(n_before..).unwrap_or_default());
        }
        Ok(())
    }

    #[inline]
    fn run_model(
        &mut self,
        pretoken: &[u8],
        start: usize,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let model = &self.tokenizer.parts.model;
        model
            .encode(pretoken, &mut self.scratch, ids, control)
            .map_err(|error| locate(error, start))
    }

    /// The ids of `text` and where the bytes of each begin and end in it.
    ///
    /// # Errors
    ///
    /// As `encode`.
    pub fn encode_spans(
        &mut self,
        text: &[u8],
        policy: &Policy,
        control: &Control,
    ) -> Result<Vec<Span>> {
        let recognized = self.tokenizer.recognized(text, policy)?;
        let mut spans = Vec::new();
        recognized.given.cut(text, |start, end, id| match id {
            Some(id) => {
                spans.try_reserve(1)?;
                spans.push((id, start, end));
                Ok(())
            }
            None => {
                let segment = text.get(start..end).unwrap_or_default();
                let first = spans.len();
                self.segment_spans(
                    segment,
                    start == 0,
                    &recognized.normalized,
                    &mut spans,
                    control,
                )
                .map_err(|error| locate(error, start))?;
                for span in spans.get_mut(first..).unwrap_or_default() {
                    (span.1, span.2) = (span.1 + start, span.2 + start);
                }
                Ok(())
            }
        })?;
        Ok(spans)
    }

    fn segment_spans(
        &mut self,
        text: &[u8],
        at_start: bool,
        normalized_tokens: &SpecialTokens,
        out: &mut Vec<Span>,
        control: &Control,
    ) -> Result<()> {
        let mut normalized = std::mem::take(&mut self.normalized);
        let changed = match &self.tokenizer.parts.normalizer {
            Some(normalizer) => normalizer.normalize(text, &mut normalized, control)?,
            None => false,
        };
        let view = if changed { normalized.bytes.as_slice() } else { text };
        let first = out.len();
        normalized_tokens.cut(view, |start, end, id| match id {
            Some(id) => {
                out.try_reserve(1)?;
                out.push((id, start, end));
                Ok(())
            }
            None => {
                let stretch = view.get(start..end).unwrap_or_default();
                let first = out.len();
                self.stretch_spans(stretch, at_start && start == 0, out, control)?;
                for span in out.get_mut(first..).unwrap_or_default() {
                    (span.1, span.2) = (span.1 + start, span.2 + start);
                }
                Ok(())
            }
        })?;
        if changed {
            for span in out.get_mut(first..).unwrap_or_default() {
                (span.1, span.2) = normalized.original_span(span.1, span.2);
            }
        }
        self.normalized = normalized;
        Ok(())
    }

    fn stretch_spans(
        &mut self,
        text: &[u8],
        at_start: bool,
        out: &mut Vec<Span>,
        control: &Control,
    ) -> Result<()> {
        let mut pieces = std::mem::take(&mut self.pieces);
        match &self.tokenizer.parts.cutter {
            Cutter::Patterns(splitter) => {
                pieces.changed = false;
                pieces.spans.clear();
                let mut start = 0;
                splitter.split(text, control, &mut |ends| {
                    control.check()?;
                    pieces.spans.try_reserve(ends.len())?;
                    for &end in ends {
                        pieces.spans.push((start, end));
                        start = end;
                    }
                    Ok(())
                })?;
            }
            Cutter::Steps(steps) => steps.split(text, at_start, &mut pieces, control)?,
        }
        let source = if pieces.changed { pieces.text.bytes.as_slice() } else { text };
        let mut tokens: Vec<TokenSpan> = Vec::new();
        for (at, &(start, end)) in pieces.spans.iter().enumerate() {
            if at.is_multiple_of(1024) {
                control.check()?;
            }
            tokens.clear();
            let pretoken = source.get(start..end).unwrap_or_default();
            let model = &self.tokenizer.parts.model;
            model
                .encode_spans(pretoken, &mut self.scratch, &mut tokens, control)
                .map_err(|e| locate(e, start))?;
            for &(id, from, to) in &tokens {
                out.try_reserve(1)?;
                let (from, to) = pieces.original_span(start + from as usize, start + to as usize);
                out.push((id, from, to));
            }
        }
        self.pieces = pieces;
        Ok(())
    }
}

/// Whether some pre-token is longer than its key.
#[inline]
fn has_long(from: usize, ends: &[usize]) -> bool {
    let starts = std::iter::once(&from).chain(ends);
    starts.zip(ends).fold(0, |longest, (start, end)| longest.max(end - start)) > INLINE
}

/// Say where in the text an unencodable byte stands.
pub fn locate(error: Error, start: usize) -> Error {
    if error.kind != Kind::UnencodableText {
        return error;
    }
    match error.message.split_once(" at byte ") {
        Some((what, rest)) => {
            let (at, _) = rest.split_once(' ').unwrap_or((rest, ""));
            let at = at.parse::<usize>().unwrap_or(0) + start;
            Error::new(
                error.kind,
                format!("{what} at byte {at} of the text is not in the vocabulary"),
            )
        }
        None => error,
    }
}
