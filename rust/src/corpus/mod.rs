//! Files as documents: a pull reader whose memory does not grow with the corpus.
//!
//! [`ChunkReader::next_chunk`] gives whole documents packed to about a wanted size. A document
//! larger than that comes in parts; a caller that cannot cut it at the end of a part gives the
//! tail back with [`ChunkReader::carry`]. Workers share a reader behind a lock: one at a time
//! reads and carries, all work on the chunks they hold, and [`Chunk::number`] orders the results.

pub mod bad;
mod jsonl;
mod records;
mod source;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memmem::Finder;

use crate::error::{Error, Kind, Result};
use crate::parallel::Control;

pub use records::{CorpusReader, MAX_RECORD_BYTES, RecordReader, Records};
pub use source::{STDIN, Source};

/// The block size for whoever has no reason for another.
pub const BLOCK_BYTES: usize = 1 << 20;

/// How a file is cut into documents. No document reaches over the end of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// A file is one document, also when it is empty.
    File,
    /// A line is one document, without its `\n` or `\r\n`; no document after the last line end.
    Line,
    /// Cut at a string that belongs to no document; no document after it at the end of a file.
    Separator(Vec<u8>),
}

impl Cut {
    /// What ends a document, empty for [`Cut::File`].
    fn mark(&self) -> &[u8] {
        match self {
            Self::File => b"",
            Self::Line => b"\n",
            Self::Separator(separator) => separator,
        }
    }

    /// How many bytes at the end of what was read may yet turn out to belong to a mark.
    fn n_unsettled(&self) -> usize {
        match self {
            Self::File => 0,
            Self::Line => 1,
            Self::Separator(separator) => separator.len().saturating_sub(1),
        }
    }
}

/// A stretch of the corpus: documents back to back, without what separated them.
///
/// Keep one per worker and pass it to [`ChunkReader::next_chunk`] again: its buffers are reused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The documents' bytes.
    pub text: Vec<u8>,
    /// Ends in `text` of the documents that are complete. The last is `text.len()` unless
    /// `continues`; equal neighbours are an empty document.
    pub document_ends: Vec<usize>,
    /// Whether `text` begins inside a document whose first part was in an earlier chunk.
    ///
    /// Such a document may have nothing left to give: its end is then 0.
    pub is_continued: bool,
    /// Whether the text after the last end is a document that goes on, or ends, in the next chunk.
    pub continues: bool,
    /// How many chunks came before this one.
    pub number: u64,
    /// Number of the document at the front of `text`, from 0 over the whole corpus.
    pub first_document: u64,
    /// How many document bytes of the corpus come before `text`.
    pub offset: u64,
}

/// A document of a chunk, or the part of it that the chunk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// Its bytes.
    pub text: &'a [u8],
    /// Whether the document begins here.
    pub starts: bool,
    /// Whether the document ends here.
    pub ends: bool,
}

impl Chunk {
    /// The documents in order; the first and the last may be parts.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let open_end = self.continues.then_some(self.text.len());
        let mut start = 0;
        self.document_ends.iter().copied().chain(open_end).enumerate().map(move |(index, end)| {
            let text = self.text.get(start..end).unwrap_or_default();
            start = end;
            Part {
                text,
                starts: index > 0 || !self.is_continued,
                ends: index < self.document_ends.len(),
            }
        })
    }

    /// Where the document that goes on begins in `text`.
    #[must_use]
    pub fn open_start(&self) -> usize {
        self.document_ends.last().copied().unwrap_or(0)
    }

    fn clear(&mut self) {
        self.text.clear();
        self.document_ends.clear();
        self.is_continued = false;
        self.continues = false;
    }
}

/// Reads files one after the other and cuts them into documents.
pub struct ChunkReader {
    paths: VecDeque<PathBuf>,
    cut: Cut,
    /// Boxed, as it wants an alignment of 32 that objects of Python do not have.
    finder: Box<Finder<'static>>,
    block_bytes: usize,
    source: Option<Source>,
    stored_bytes: Arc<AtomicU64>,
    /// Read but not given: the front `n_settled` bytes hold no mark, the rest is to be searched.
    pending: Vec<u8>,
    n_settled: usize,
    /// Bytes at the front of `pending` that the caller had already and gave back.
    n_carried: usize,
    /// Bytes of the open document that the caller has and kept.
    n_open_given: u64,
    n_chunks: u64,
    n_documents: u64,
    offset: u64,
    failed: Option<Error>,
    damage: Damage,
}

/// What a compressed stream that is damaged or ends early does.
enum Damage {
    /// It is an error.
    Refused,
    /// The file ends there; `keep_open` says whether the document that was open is one.
    Tolerated { keep_open: bool, met: Option<Error> },
}

impl ChunkReader {
    /// A reader of `paths` in their order; [`STDIN`] among them is the standard input.
    ///
    /// Nothing is opened yet. `block_bytes` bounds each read.
    ///
    /// # Errors
    ///
    /// `Argument` for an empty separator or a `block_bytes` of 0.
    pub fn new(paths: Vec<PathBuf>, cut: Cut, block_bytes: usize) -> Result<Self> {
        if block_bytes == 0 {
            return Err(Error::new(Kind::Argument, "block_bytes is 0; expected 1 or more"));
        }
        if cut == Cut::Separator(Vec::new()) {
            return Err(Error::new(
                Kind::Argument,
                "the document separator is empty; expected a string, \"line\" or \"file\"",
            ));
        }
        Ok(Self {
            paths: paths.into(),
            finder: Box::new(Finder::new(cut.mark()).into_owned()),
            cut,
            block_bytes,
            source: None,
            stored_bytes: Arc::default(),
            pending: Vec::new(),
            n_settled: 0,
            n_carried: 0,
            n_open_given: 0,
            n_chunks: 0,
            n_documents: 0,
            offset: 0,
            failed: None,
            damage: Damage::Refused,
        })
    }

    /// Count the bytes taken from files here.
    pub(super) fn count_stored(&mut self, stored_bytes: Arc<AtomicU64>) {
        self.stored_bytes = stored_bytes;
    }

    /// Let a damaged stream end its file instead of the reading.
    ///
    /// What was given of the open document cannot be taken back, so a caller that does not want
    /// to keep it has to carry it whole.
    pub(super) fn tolerate_damage(&mut self, keep_open: bool) {
        self.damage = Damage::Tolerated { keep_open, met: None };
    }

    /// The damage that the last chunk met, once.
    pub(super) fn take_damage(&mut self) -> Option<Error> {
        match &mut self.damage {
            Damage::Refused => None,
            Damage::Tolerated { met, .. } => met.take(),
        }
    }

    /// Bytes taken from the files so far, as they are stored: the measure of progress.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes.load(Ordering::Relaxed)
    }

    /// Fill `chunk` with the next documents; false, and an empty chunk, after the last.
    ///
    /// About `target_bytes` are read for it, or as many as the caller carried, whichever is
    /// more: a caller that carries everything sees its text double, so its work stays linear.
    /// A document that would be cut waits for the next chunk unless it is the only one.
    ///
    /// # Errors
    ///
    /// `SourceNotFound`, `SourceIsDirectory`, `Source` from opening and reading; `Corpus` for a
    /// compressed stream that is truncated or damaged, with its path and decompressed offset;
    /// `Memory`; `Interrupted`. The reader then stays where it is and repeats the error.
    pub fn next_chunk(
        &mut self,
        target_bytes: usize,
        chunk: &mut Chunk,
        control: &Control,
    ) -> Result<bool> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let filled = self.fill(target_bytes, chunk, control);
        if let Err(error) = &filled {
            chunk.clear();
            self.failed = Some(error.clone());
        }
        filled
    }

    /// Put the text of `chunk` from byte `from` back at the front of the next chunk.
    ///
    /// Only the document that goes on can be put back, whole or in part.
    ///
    /// # Errors
    ///
    /// `Argument` when `chunk` is not the last one given, does not continue, or `from` lies
    /// outside its last document; `Memory`.
    pub fn carry(&mut self, chunk: &mut Chunk, from: usize) -> Result<()> {
        let tail = chunk.text.get(from..).filter(|_| from >= chunk.open_start());
        let (Some(tail), true) = (tail, chunk.continues && chunk.number + 1 == self.n_chunks)
        else {
            return Err(Error::new(
                Kind::Argument,
                format!(
                    "cannot carry from byte {from} of a chunk of {}; expected a place in the \
                     unfinished document of the last chunk given",
                    chunk.text.len()
                ),
            ));
        };
        self.pending.try_reserve(tail.len())?;
        self.pending.splice(0..0, tail.iter().copied());
        self.n_settled += tail.len();
        self.n_carried += tail.len();
        self.n_open_given = self.n_open_given.saturating_sub(tail.len() as u64);
        self.offset = self.offset.saturating_sub(tail.len() as u64);
        chunk.text.truncate(from);
        Ok(())
    }

    fn fill(&mut self, target_bytes: usize, chunk: &mut Chunk, control: &Control) -> Result<bool> {
        chunk.clear();
        chunk.is_continued = self.n_open_given > 0;
        chunk.number = self.n_chunks;
        chunk.first_document = self.n_documents;
        chunk.offset = self.offset;
        std::mem::swap(&mut chunk.text, &mut self.pending);
        let n_carried = std::mem::take(&mut self.n_carried);
        let mut searched = std::mem::take(&mut self.n_settled);
        // Counted as read, not as text: a file of nothing but separators fills a chunk too.
        let mut n_new = chunk.text.len().saturating_sub(n_carried);
        let goal = target_bytes.max(n_carried).max(1).saturating_add(self.cut.n_unsettled());
        loop {
            control.check()?;
            searched = self.cut_marks(chunk, searched)?;
            if n_new >= goal {
                break;
            }
            let Some(mut source) = self.next_source(control)? else { break };
            let wanted = self.block_bytes.min(goal - n_new);
            let n_before = chunk.text.len();
            let outcome = read_block(&mut source, &mut chunk.text, wanted, control);
            let n_read = chunk.text.len() - n_before;
            n_new += n_read;
            if self.is_whole(outcome)? && n_read == wanted {
                self.source = Some(source);
                continue;
            }
            self.cut_marks(chunk, searched)?;
            if let Damage::Tolerated { keep_open: false, met: Some(_) } = self.damage {
                chunk.text.truncate(chunk.open_start());
            } else {
                self.end_file(chunk)?;
            }
            searched = chunk.text.len();
        }
        self.keep_rest(chunk, searched)?;
        let is_filled = chunk.continues || !chunk.document_ends.is_empty();
        self.n_chunks += u64::from(is_filled);
        self.n_documents += chunk.document_ends.len() as u64;
        self.offset += chunk.text.len() as u64;
        Ok(is_filled)
    }

    /// Whether a block was read without damage; damage that is not tolerated is an error.
    fn is_whole(&mut self, outcome: Result<()>) -> Result<bool> {
        match (outcome, &mut self.damage) {
            (Err(error), Damage::Tolerated { met, .. }) if error.kind == Kind::Corpus => {
                *met = Some(error);
                Ok(false)
            }
            (outcome, _) => outcome.map(|()| true),
        }
    }

    /// The open file, or the next one; none after the last.
    fn next_source(&mut self, control: &Control) -> Result<Option<Source>> {
        if let Some(source) = self.source.take() {
            return Ok(Some(source));
        }
        let Some(path) = self.paths.pop_front() else { return Ok(None) };
        Source::open(&path, self.block_bytes, &self.stored_bytes, control).map(Some)
    }

    /// Take the marks out of `text[from..]`, noting where documents end; gives the place up to
    /// which no mark can be any more.
    fn cut_marks(&self, chunk: &mut Chunk, from: usize) -> Result<usize> {
        let (text, ends) = (&mut chunk.text, &mut chunk.document_ends);
        if self.cut == Cut::File {
            return Ok(text.len());
        }
        let (mut read, mut written) = (from, from);
        while let Some(found) = text.get(read..).and_then(|rest| self.finder.find(rest)) {
            let mark_start = read + found;
            let mut end = mark_start;
            if self.cut == Cut::Line && text.get(read..end).is_some_and(|it| it.ends_with(b"\r")) {
                end -= 1;
            }
            text.copy_within(read..end, written);
            written += end - read;
            ends.try_reserve(1)?;
            ends.push(written);
            read = mark_start + self.finder.needle().len();
        }
        let n_left = text.len().saturating_sub(read);
        if read != written {
            text.copy_within(read.., written);
            text.truncate(written + n_left);
        }
        Ok(written.max(text.len().saturating_sub(self.cut.n_unsettled())))
    }

    /// End the open document with its file, if there is one.
    fn end_file(&self, chunk: &mut Chunk) -> Result<()> {
        let was_given = chunk.document_ends.is_empty() && self.n_open_given > 0;
        if self.cut == Cut::File || was_given || chunk.text.len() > chunk.open_start() {
            chunk.document_ends.try_reserve(1)?;
            chunk.document_ends.push(chunk.text.len());
        }
        Ok(())
    }

    /// Move what the next chunk is to give from `chunk` to `pending`.
    ///
    /// After a whole document that is everything open; else only what may belong to a mark.
    fn keep_rest(&mut self, chunk: &mut Chunk, searched: usize) -> Result<()> {
        let given = if chunk.document_ends.is_empty() {
            chunk.continues = searched > 0;
            self.n_open_given += searched as u64;
            self.n_settled = 0;
            searched
        } else {
            let given = chunk.open_start();
            self.n_open_given = 0;
            self.n_settled = searched.saturating_sub(given);
            given
        };
        let rest = chunk.text.get(given..).unwrap_or_default();
        self.pending.clear();
        self.pending.try_reserve(rest.len())?;
        self.pending.extend_from_slice(rest);
        chunk.text.truncate(given);
        Ok(())
    }
}

/// Read `wanted` bytes to the end of `text`, or fewer where the file ends or is damaged.
fn read_block(
    source: &mut Source,
    text: &mut Vec<u8>,
    wanted: usize,
    control: &Control,
) -> Result<()> {
    let goal = text.len() + wanted;
    while text.len() < goal {
        let mut end = text.len();
        let n_asked = source.likely_rest().min(goal - end);
        text.try_reserve(n_asked)?;
        text.resize(end + n_asked, 0);
        while let Some(free) = text.get_mut(end..).filter(|free| !free.is_empty()) {
            match source.read(free, control) {
                Ok(n) if n > 0 => end += n,
                outcome => {
                    text.truncate(end);
                    return outcome.map(|_| ());
                }
            }
        }
    }
    Ok(())
}
