//! Encode texts of SentencePiece's models word by word, and remember the words.

use super::{PROBES, Worker};
use crate::bpe::vocabulary::NO_ID;
use crate::error::Result;
use crate::key::{Key, LONGEST};
use crate::marks::{MARK, Marks, View};
use crate::model::Model;
use crate::parallel::Control;
use crate::unigram::{Agreement, FUSED, Running};

/// Before remembered ids that are right behind short texts only.
const IS_NEAR: u32 = NO_ID;

/// A part of a text, and how it is looked up.
#[derive(Debug, Clone, Copy, Default)]
struct Probe {
    start: usize,
    end: usize,
    key: Key,
    hash: u64,
}

impl Worker<'_> {
    /// Append the ids of a text, cut as `marks` says.
    pub(super) fn encode_marked(
        &mut self,
        text: &[u8],
        marks: &Marks,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let mut running = Running::default();
        let mut probes = [Probe::default(); PROBES];
        let mut start = 0;
        while start < text.len() {
            control.check()?;
            let mut n_probes = 0;
            let mut at = start;
            for probe in &mut probes {
                if at == text.len() {
                    break;
                }
                *probe = self.probe(text, at, marks);
                at = probe.end;
                n_probes += 1;
            }
            for probe in probes.iter().take(n_probes) {
                start = probe.end;
                if !self.recall_part(text, probe, &mut running, ids)? {
                    start = self.encode_part(text, probe, marks, &mut running, ids, control)?;
                }
                if start != probe.end {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The part that begins at `start`; its place in the memo is on its way.
    #[inline]
    fn probe(&self, text: &[u8], start: usize, marks: &Marks) -> Probe {
        let end = Marks::cut(text, start);
        let key = if start > 0 {
            self.part_key(text, start, end)
        } else {
            first_key(text.get(..end).unwrap_or_default(), marks)
        };
        let key = key.unwrap_or_default();
        let mut probe = Probe { start, end, key, hash: 0 };
        if let Some(memo) = self.memo.as_ref().filter(|_| !key.is_none()) {
            probe.hash = memo.hash(key);
            memo.prefetch(probe.hash);
        }
        probe
    }

    /// The key of a part that is not the first of its text.
    #[inline]
    fn part_key(&self, text: &[u8], start: usize, end: usize) -> Option<Key> {
        Key::of(text, start, end).or_else(|| {
            let memo = self.memo.as_ref().filter(|_| is_long_word(text, start, end - start))?;
            memo.key(text, start, end)
        })
    }

    #[inline]
    fn recall_part(
        &self,
        text: &[u8],
        probe: &Probe,
        running: &mut Running,
        ids: &mut Vec<u32>,
    ) -> Result<bool> {
        let Some(memo) = self.memo.as_ref().filter(|_| !probe.key.is_none()) else {
            return Ok(false);
        };
        let n_bytes = probe.end - probe.start;
        let n_before = ids.len();
        ids.try_reserve(n_bytes + 1)?;
        let part = text.get(probe.start..probe.end).unwrap_or_default();
        let is_known = memo.recall((probe.key, probe.hash), part, ids);
        Ok(is_known && self.accept(n_before, most_bytes(n_bytes), running, ids).is_some())
    }

    /// Keep the ids from place `n_before` on if they are right behind the text so far, else drop
    /// them.
    #[inline]
    fn accept(
        &self,
        n_before: usize,
        n_bytes: usize,
        running: &mut Running,
        ids: &mut Vec<u32>,
    ) -> Option<Agreement> {
        let Model::Unigram(unigram) = self.tokenizer.model() else {
            return Some(Agreement::Always);
        };
        let is_near = ids.get(n_before) == Some(&IS_NEAR);
        let agreement = if is_near { Agreement::Near } else { Agreement::Always };
        let new = ids.get(n_before + usize::from(is_near)..).unwrap_or_default();
        if !running.take(unigram, agreement, n_bytes, new) {
            ids.truncate(n_before);
            return None;
        }
        if is_near {
            ids.remove(n_before);
        }
        drop_fused(n_before, ids);
        Some(agreement)
    }

    /// Append the ids of a part that is not remembered; gives where the next one begins.
    #[inline(never)]
    fn encode_part(
        &mut self,
        text: &[u8],
        probe: &Probe,
        marks: &Marks,
        running: &mut Running,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<usize> {
        let mut view = std::mem::take(&mut self.view);
        let (mut end, mut n_more) = (probe.end, 1);
        let mut is_clean = self.rewrite(text, probe.start, end, marks, &mut view)?;
        // Where the part behind is not independent, take it along: twice as many each time, so
        // that no text is normalized more than a few times.
        while !is_clean && end < text.len() {
            for _ in 0..n_more {
                end = Marks::cut(text, end);
            }
            n_more *= 2;
            is_clean = self.rewrite(text, probe.start, end, marks, &mut view)?;
        }
        let n_before = ids.len();
        let n_bytes = probe.end - probe.start;
        // What is not clean at the end of a text is another elsewhere.
        let is_kept = is_clean
            && end == probe.end
            && view.text.len() <= most_bytes(n_bytes)
            && !probe.key.is_none();
        let agreement = self.encode_view(&view.text, is_kept, running, ids, control)?;
        self.view = view;
        if is_kept && agreement != Agreement::Never {
            let new = ids.get(n_before..).unwrap_or_default();
            let near = [&[IS_NEAR], new].concat();
            let kept = if agreement == Agreement::Near { near.as_slice() } else { new };
            if let Some(memo) = &mut self.memo {
                let word = text.get(probe.start..probe.end).unwrap_or_default();
                memo.remember((probe.key, probe.hash), word, kept);
            }
        }
        drop_fused(n_before, ids);
        Ok(end)
    }

    fn rewrite(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        marks: &Marks,
        view: &mut View,
    ) -> Result<bool> {
        marks.rewrite(text.get(start..end).unwrap_or_default(), start == 0, view)
    }

    /// Append the ids of a normalized part, segment by segment; where they are the same.
    ///
    /// `is_kept` says that the part will be remembered whole: then its segments need not be.
    fn encode_view(
        &mut self,
        view: &[u8],
        is_kept: bool,
        running: &mut Running,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<Agreement> {
        ids.try_reserve(view.len())?;
        let mut agreement = Agreement::Always;
        match self.tokenizer.model() {
            Model::CharacterBpe(bpe) => {
                for segment in bpe.segments(view) {
                    match segment.user_defined {
                        Some(id) => ids.push(id),
                        None => {
                            let (start, end) = (segment.start, segment.end);
                            self.encode_bpe_segment((view, start, end), is_kept, ids, control)?;
                        }
                    }
                }
            }
            Model::Unigram(unigram) => {
                let mut start = 0;
                while start < view.len() {
                    let end = unigram.segment_end(view, start);
                    let found = self.encode_unigram_segment(
                        (view, start, end),
                        is_kept,
                        running,
                        ids,
                        control,
                    )?;
                    agreement = agreement.max(found);
                    start = end;
                }
            }
            model => model.encode(view, &mut self.scratch, ids, control)?,
        }
        Ok(agreement)
    }

    fn encode_bpe_segment(
        &mut self,
        (view, start, end): (&[u8], usize, usize),
        is_kept: bool,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let probe = if is_kept { None } else { self.segment_probe(view, start, end) };
        let segment = view.get(start..end).unwrap_or_default();
        if let (Some(probe), Some(memo)) = (probe, &self.memo)
            && memo.recall(probe, segment, ids)
        {
            return Ok(());
        }
        let n_before = ids.len();
        if let Model::CharacterBpe(bpe) = self.tokenizer.model() {
            bpe.encode_segment(segment, start, self.scratch.characters(), ids, control)?;
        }
        if let (Some(probe), Some(memo)) = (probe, &mut self.memo) {
            memo.remember(probe, segment, ids.get(n_before..).unwrap_or_default());
        }
        Ok(())
    }

    fn encode_unigram_segment(
        &mut self,
        (view, start, end): (&[u8], usize, usize),
        is_kept: bool,
        running: &mut Running,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<Agreement> {
        let n_before = ids.len();
        let probe = if is_kept { None } else { self.segment_probe(view, start, end) };
        let segment = view.get(start..end).unwrap_or_default();
        if let (Some(probe), Some(memo)) = (probe, &self.memo)
            && memo.recall(probe, segment, ids)
            && let Some(agreement) = self.accept(n_before, end - start, running, ids)
        {
            return Ok(agreement);
        }
        let Model::Unigram(unigram) = self.tokenizer.model() else { return Ok(Agreement::Never) };
        if !is_kept && probe.is_none() || segment.len() > LONGEST {
            running.encode(unigram, segment, self.scratch.unigram(), ids, control)?;
            return Ok(Agreement::Never);
        }
        running.encode_unfused(unigram, segment, self.scratch.unigram(), ids, control)?;
        let mut agreement = unigram.agreement(segment, self.scratch.unigram())?;
        if agreement == Agreement::Near && !running.is_near() {
            // These ids may be others than those behind a short text.
            agreement = Agreement::Never;
        }
        let new = ids.get(n_before..).unwrap_or_default();
        if let (Some(probe), Some(memo)) = (probe, &mut self.memo) {
            let near = [&[IS_NEAR], new].concat();
            match agreement {
                Agreement::Always => memo.remember(probe, segment, new),
                Agreement::Near => memo.remember(probe, segment, &near),
                Agreement::Never => {}
            }
            drop_fused(n_before, ids);
        }
        Ok(agreement)
    }

    #[inline]
    fn segment_probe(&self, view: &[u8], start: usize, end: usize) -> Option<(Key, u64)> {
        let memo = self.memo.as_ref()?;
        Key::of(view, start, end).map(|key| (key, memo.hash(key)))
    }
}

/// Drop what stands for the further characters of unknown ids, from place `from` on.
#[inline]
fn drop_fused(from: usize, ids: &mut Vec<u32>) {
    if let Some(first) = ids.iter().skip(from).position(|&id| id == FUSED) {
        let rest = ids.split_off(from + first);
        ids.extend(rest.into_iter().filter(|&id| id != FUSED));
    }
}

/// Most bytes that a remembered part of `n_bytes` is normalized to.
fn most_bytes(n_bytes: usize) -> usize {
    2 * n_bytes + MARK.len()
}

/// Whether a part is looked up although no key holds it: likely a word, not a text without spaces.
#[inline]
fn is_long_word(text: &[u8], start: usize, n_bytes: usize) -> bool {
    const LONGEST_WORD: usize = 48;
    start > 0 && n_bytes <= LONGEST_WORD && text.get(start + 1).is_some_and(u8::is_ascii)
}

fn first_key(part: &[u8], marks: &Marks) -> Option<Key> {
    if !marks.first_as_other(part)? {
        return Key::of(part, 0, part.len());
    }
    let mut spaced = [b' '; 16];
    spaced.get_mut(1..=part.len())?.copy_from_slice(part);
    Key::of(&spaced, 0, part.len() + 1)
}
