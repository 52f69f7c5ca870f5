//! Whole documents, each looked at before it is given: JSON lines, and text checked for UTF-8.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bad::{BadRecords, OnBad};
use super::jsonl::{Found, append_field, append_field_lossy};
use super::{Chunk, ChunkReader, Cut};
use crate::error::{Error, Kind, Result};
use crate::parallel::Control;

/// The longest record that is read whole. A compressed file of a few kilobytes can hold a line
/// without end; this is where it stops.
pub const MAX_RECORD_BYTES: usize = 1 << 30;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What a document is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Records {
    /// Text, cut; each document is checked to be UTF-8.
    Text(Cut),
    /// A field of the JSON object on each line; lines of nothing but whitespace are passed over.
    JsonLines(String),
}

/// Reads files one after the other and gives whole documents; no document is cut by a chunk.
pub struct RecordReader {
    paths: VecDeque<PathBuf>,
    records: Records,
    block_bytes: usize,
    max_record_bytes: usize,
    file: Option<OpenFile>,
    stored_bytes: Arc<AtomicU64>,
    raw: Chunk,
    bad: BadRecords,
    n_chunks: u64,
    n_documents: u64,
    offset: u64,
    failed: Option<Error>,
}

struct OpenFile {
    path: PathBuf,
    reader: ChunkReader,
    /// Records before the next one.
    n_records: u64,
    /// Whether the record that is being read is too long, and passed over.
    is_passing_over: bool,
}

impl RecordReader {
    /// A reader of `paths` in their order; nothing is opened yet.
    ///
    /// # Errors
    ///
    /// `Argument` as `ChunkReader::new`.
    pub fn new(
        paths: Vec<PathBuf>,
        records: Records,
        on_bad: OnBad,
        block_bytes: usize,
    ) -> Result<Self> {
        // What the first file would be refused for is refused now.
        ChunkReader::new(Vec::new(), records.cut(), block_bytes)?;
        Ok(Self {
            paths: paths.into(),
            records,
            block_bytes,
            max_record_bytes: MAX_RECORD_BYTES,
            file: None,
            stored_bytes: Arc::default(),
            raw: Chunk::default(),
            bad: BadRecords::new(on_bad),
            n_chunks: 0,
            n_documents: 0,
            offset: 0,
            failed: None,
        })
    }

    /// Bytes taken from the files so far, as they are stored.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes.load(Ordering::Relaxed)
    }

    /// The bad records met so far.
    #[must_use]
    pub fn bad(&self) -> &BadRecords {
        &self.bad
    }

    /// Fill `chunk` with the documents of about `target_bytes`; false after the last.
    ///
    /// # Errors
    ///
    /// As `ChunkReader::next_chunk`; `Corpus` for a bad record when the policy is to fail.
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

    fn fill(&mut self, target_bytes: usize, chunk: &mut Chunk, control: &Control) -> Result<bool> {
        chunk.clear();
        (chunk.number, chunk.first_document) = (self.n_chunks, self.n_documents);
        chunk.offset = self.offset;
        while chunk.document_ends.is_empty() {
            let Some(mut file) = self.next_file()? else { return Ok(false) };
            let mut raw = std::mem::take(&mut self.raw);
            let is_more = file.reader.next_chunk(target_bytes, &mut raw, control)?;
            if let Some(error) = file.reader.take_damage() {
                self.bad.note(|| error.message)?;
            }
            if is_more {
                self.take_records(&mut file, &mut raw, chunk)?;
                self.file = Some(file);
            }
            self.raw = raw;
        }
        self.n_chunks += 1;
        self.n_documents += chunk.document_ends.len() as u64;
        self.offset += chunk.text.len() as u64;
        Ok(true)
    }

    fn next_file(&mut self) -> Result<Option<OpenFile>> {
        if let Some(file) = self.file.take() {
            return Ok(Some(file));
        }
        let Some(path) = self.paths.pop_front() else { return Ok(None) };
        let mut reader =
            ChunkReader::new(vec![path.clone()], self.records.cut(), self.block_bytes)?;
        reader.count_stored(Arc::clone(&self.stored_bytes));
        match (self.bad.on_bad, &self.records) {
            (OnBad::Fail, _) => {}
            (OnBad::Replace, Records::Text(_)) => reader.tolerate_damage(true),
            _ => reader.tolerate_damage(false),
        }
        Ok(Some(OpenFile { path, reader, n_records: 0, is_passing_over: false }))
    }

    fn take_records(
        &mut self,
        file: &mut OpenFile,
        raw: &mut Chunk,
        chunk: &mut Chunk,
    ) -> Result<()> {
        chunk.text.try_reserve(raw.text.len())?;
        let mut start = 0;
        for &end in &raw.document_ends {
            let record = raw.text.get(start..end).unwrap_or_default();
            start = end;
            if std::mem::take(&mut file.is_passing_over) {
                file.n_records += 1;
                continue;
            }
            if record.len() > self.max_record_bytes {
                self.note_too_long(file)?;
                file.n_records += 1;
                continue;
            }
            if self.take_record(file, record, chunk)? {
                chunk.document_ends.try_reserve(1)?;
                chunk.document_ends.push(chunk.text.len());
            }
            file.n_records += 1;
        }
        if raw.continues && !file.is_passing_over {
            let open = raw.text.len() - raw.open_start();
            if open > self.max_record_bytes {
                self.note_too_long(file)?;
                file.is_passing_over = true;
            } else {
                let from = raw.open_start();
                file.reader.carry(raw, from)?;
            }
        }
        Ok(())
    }

    fn note_too_long(&mut self, file: &OpenFile) -> Result<()> {
        let (limit, place) = (self.max_record_bytes, self.records.place(file));
        self.bad.note(|| format!("{place}: a record of over {limit} bytes"))
    }

    /// Append the document of a record; false when there is none.
    fn take_record(&mut self, file: &OpenFile, record: &[u8], chunk: &mut Chunk) -> Result<bool> {
        let field = match &self.records {
            Records::Text(_) => {
                let place = || self.records.place(file);
                return self.bad.append(record, &mut chunk.text, place);
            }
            Records::JsonLines(field) => field,
        };
        let line = match record.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if file.n_records == 0 => rest,
            _ => record,
        };
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(false);
        }
        let Found::Bad(why) = append_field(line, field, &mut chunk.text)? else { return Ok(true) };
        self.bad.note(|| format!("{}: {why}", self.records.place(file)))?;
        if self.bad.on_bad == OnBad::Skip {
            return Ok(false);
        }
        append_field_lossy(line, field, &mut chunk.text)?;
        Ok(true)
    }
}

impl Records {
    fn cut(&self) -> Cut {
        match self {
            Self::Text(cut) => cut.clone(),
            Self::JsonLines(_) => Cut::Line,
        }
    }

    /// Where the next record of a file stands.
    fn place(&self, file: &OpenFile) -> String {
        let path = file.path.display();
        match self {
            Self::Text(Cut::File) => path.to_string(),
            Self::Text(Cut::Separator(_)) => format!("{path}: document {}", file.n_records),
            Self::Text(Cut::Line) | Self::JsonLines(_) => {
                format!("{path}:{}", file.n_records.saturating_add(1))
            }
        }
    }
}

/// Documents of files, whichever way they are read.
pub enum CorpusReader {
    /// Bytes as they are; documents may come in parts.
    Plain(Box<ChunkReader>),
    /// Whole documents, each looked at.
    Records(Box<RecordReader>),
}

impl CorpusReader {
    /// Text cut by `cut`; with a `field`, JSON lines. Text is checked only if `on_bad` is given.
    ///
    /// # Errors
    ///
    /// `Argument`.
    pub fn new(
        paths: Vec<PathBuf>,
        cut: Cut,
        field: Option<String>,
        on_bad: Option<OnBad>,
        block_bytes: usize,
    ) -> Result<Self> {
        let records = match (field, on_bad) {
            (None, None) => {
                return ChunkReader::new(paths, cut, block_bytes).map(Box::new).map(Self::Plain);
            }
            (None, Some(_)) => Records::Text(cut),
            (Some(field), _) => Records::JsonLines(field),
        };
        let on_bad = on_bad.unwrap_or(OnBad::Fail);
        RecordReader::new(paths, records, on_bad, block_bytes).map(Box::new).map(Self::Records)
    }

    /// As the reader's own.
    ///
    /// # Errors
    ///
    /// As the reader's own.
    pub fn next_chunk(
        &mut self,
        target_bytes: usize,
        chunk: &mut Chunk,
        control: &Control,
    ) -> Result<bool> {
        match self {
            Self::Plain(reader) => reader.next_chunk(target_bytes, chunk, control),
            Self::Records(reader) => reader.next_chunk(target_bytes, chunk, control),
        }
    }

    /// As `ChunkReader::carry`; whole documents have nothing to carry.
    ///
    /// # Errors
    ///
    /// `Argument`, `Memory`.
    pub fn carry(&mut self, chunk: &mut Chunk, from: usize) -> Result<()> {
        match self {
            Self::Plain(reader) => reader.carry(chunk, from),
            Self::Records(_) => {
                Err(Error::new(Kind::Argument, "cannot carry: the documents of a record are whole"))
            }
        }
    }

    /// Bytes taken from the files so far, as they are stored.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        match self {
            Self::Plain(reader) => reader.stored_bytes(),
            Self::Records(reader) => reader.stored_bytes(),
        }
    }

    /// The bad records met so far; none are looked for in plain reading.
    #[must_use]
    pub fn bad(&self) -> Option<&BadRecords> {
        match self {
            Self::Plain(_) => None,
            Self::Records(reader) => Some(reader.bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &[u8], limit: usize, on_bad: OnBad, block: usize) -> Result<(String, u64)> {
        let name = format!("subword-records-{}-{limit}-{block}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, content).unwrap();
        let records = Records::JsonLines("text".to_owned());
        let mut reader = RecordReader::new(vec![path.clone()], records, on_bad, block).unwrap();
        reader.max_record_bytes = limit;
        let (mut chunk, mut text) = (Chunk::default(), String::new());
        let outcome = loop {
            match reader.next_chunk(block, &mut chunk, &Control::default()) {
                Ok(true) => text.push_str(std::str::from_utf8(&chunk.text).unwrap()),
                Ok(false) => break Ok((text, reader.bad().n_records)),
                Err(error) => break Err(error),
            }
        };
        std::fs::remove_file(path).unwrap();
        outcome
    }

    #[test]
    fn a_record_past_the_limit_is_refused_or_passed_over() {
        let long = format!("{{\"text\":\"{}\"}}\n", "x".repeat(500));
        let content = format!("{{\"text\":\"a\"}}\n{long}{{\"text\":\"b\"}}\n{long}");
        for block in [1, 7, 100, 1 << 16] {
            let limit = 100;
            let (text, n_bad) = read(content.as_bytes(), limit, OnBad::Skip, block).unwrap();
            assert_eq!((text.as_str(), n_bad), ("ab", 2), "{block}");
            let error = read(content.as_bytes(), limit, OnBad::Fail, block).unwrap_err();
            assert!(error.message.contains(":2: a record of over 100 bytes"), "{}", error.message);
        }
    }
}
