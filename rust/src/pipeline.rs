//! A file to ids, block by block: chunks are read in turn, encoded on threads, given in order.
//!
//! One thread at a time reads while the others encode what they hold, so reading, decompressing
//! and encoding overlap. Memory: a chunk and its ids for each thread, and one block, whatever
//! the file is; only a document that the tokenizer cannot cut is held whole.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::batch::encode_batch;
use crate::corpus::bad::{BadRecords, OnBad};
use crate::corpus::{BLOCK_BYTES as READ_BYTES, Chunk, CorpusReader, Cut};
use crate::error::{Error, Result};
use crate::parallel::{Control, for_each};
use crate::tokenizer::{Policy, Tokenizer, Worker};

/// Bytes at the front of a document that its checksum is of.
pub const CHECKED_BYTES: usize = 1 << 16;

/// Bytes of text in a block, for each thread and in all.
const THREAD_BYTES: usize = 1 << 22;
const BLOCK_BYTES: usize = 1 << 25;

/// Bytes of text that one thread takes at a time.
const CHUNK_BYTES: usize = 1 << 20;
const LEAST_CHUNK_BYTES: usize = 1 << 16;

/// Ids of some documents, the first and the last of which may reach over the block.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The ids, one document after another, each with its separator at the end.
    pub ids: Vec<u32>,
    /// Where in `ids` documents end. What is behind the last goes on in the next block.
    pub ends: Vec<u64>,
    /// The CRC-32 of the front of each document that begins in the block.
    pub checksums: Vec<u32>,
}

/// How a file is encoded.
#[derive(Debug)]
pub struct Plan {
    /// Where the file is.
    pub path: PathBuf,
    /// How text is cut into documents.
    pub cut: Cut,
    /// The field that has the documents, if the file is JSON lines.
    pub field: Option<String>,
    /// What a bad record does; text that is no UTF-8 is read as it is where nothing is said.
    pub on_bad: Option<OnBad>,
    /// What text that spells a special token becomes.
    pub policy: Policy,
    /// The id behind each document.
    pub separator: Option<u32>,
    /// Threads to encode with.
    pub n_threads: usize,
    /// Documents at the front of the file that are read past.
    pub skip: u64,
    /// Bytes of text that one thread takes at a time; None for what fits the threads.
    pub chunk_bytes: Option<usize>,
}

/// The blocks of a file.
pub struct Pipeline {
    plan: Plan,
    reader: CorpusReader,
    buffers: Vec<Chunk>,
}

/// What the threads share: the reader and how far the block is.
struct Turn<'r> {
    reader: &'r mut CorpusReader,
    n_left: usize,
    failed: Option<(u64, Error)>,
}

type Numbered = (u64, Block);

impl Pipeline {
    /// The blocks of a file; nothing is opened yet.
    ///
    /// # Errors
    ///
    /// `Argument` as `CorpusReader::new`.
    pub fn new(plan: Plan) -> Result<Self> {
        let reader = CorpusReader::new(
            vec![plan.path.clone()],
            plan.cut.clone(),
            plan.field.clone(),
            plan.on_bad,
            plan.chunk_bytes.unwrap_or(READ_BYTES),
        )?;
        let n_threads = plan.n_threads.clamp(1, 256);
        Ok(Self { plan, reader, buffers: vec![Chunk::default(); n_threads] })
    }

    /// Bytes of the file read so far, as they are stored.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.reader.stored_bytes()
    }

    /// The bad records met so far; none are looked for where nothing was said of them.
    #[must_use]
    pub fn bad(&self) -> Option<&BadRecords> {
        self.reader.bad()
    }

    /// The next block; None, after the last.
    ///
    /// # Errors
    ///
    /// Those of reading and of encoding, the latter with the path and number of the document.
    pub fn next_block(
        &mut self,
        tokenizer: &Tokenizer,
        control: &Control,
    ) -> Result<Option<Block>> {
        let n_threads = self.buffers.len();
        let block_bytes = THREAD_BYTES.saturating_mul(n_threads).min(BLOCK_BYTES);
        let chunk_bytes = self
            .plan
            .chunk_bytes
            .unwrap_or((block_bytes / 4 / n_threads).clamp(LEAST_CHUNK_BYTES, CHUNK_BYTES));
        let turn = Mutex::new(Turn { reader: &mut self.reader, n_left: block_bytes, failed: None });
        let done: Mutex<Vec<Numbered>> = Mutex::new(Vec::new());
        let mut threads: Vec<_> =
            self.buffers.iter_mut().map(|chunk| (tokenizer.worker(), chunk)).collect();
        let plan = &self.plan;
        for_each(&mut threads, n_threads, |(worker, chunk), _| {
            work(plan, chunk_bytes, worker, chunk, &turn, &done, control);
            Ok(())
        })?;
        drop(threads);
        let turn = turn.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, error)) = turn.failed {
            return Err(error);
        }
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|(number, _)| *number);
        joined(done)
    }
}

/// Read and encode chunks until the block is full.
fn work(
    plan: &Plan,
    chunk_bytes: usize,
    worker: &mut Worker<'_>,
    chunk: &mut Chunk,
    turn: &Mutex<Turn<'_>>,
    done: &Mutex<Vec<Numbered>>,
    control: &Control,
) {
    loop {
        let taken = {
            let mut turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            if turn.n_left == 0 || turn.failed.is_some() {
                return;
            }
            let taken = take(plan, chunk_bytes, worker.tokenizer(), chunk, &mut turn, control);
            if !matches!(taken, Ok(Some(_))) {
                turn.n_left = 0;
            }
            taken
        };
        let number = chunk.number;
        let encoded = match taken {
            Ok(None) => return,
            Ok(Some(open_checksum)) => encode(plan, worker, chunk, open_checksum, control),
            Err(error) => Err(error),
        };
        match encoded {
            Ok(block) => {
                done.lock().unwrap_or_else(PoisonError::into_inner).push((number, block));
            }
            Err(error) => {
                let mut turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
                if turn.failed.as_ref().is_none_or(|(earlier, _)| number < *earlier) {
                    turn.failed = Some((number, error));
                }
                return;
            }
        }
    }
}

/// Read the next chunk, with the checksum of the document that begins in it and does not end.
fn take(
    plan: &Plan,
    chunk_bytes: usize,
    tokenizer: &Tokenizer,
    chunk: &mut Chunk,
    turn: &mut Turn<'_>,
    control: &Control,
) -> Result<Option<Option<u32>>> {
    loop {
        if !turn.reader.next_chunk(chunk_bytes, chunk, control)? {
            return Ok(None);
        }
        let mut checksum = None;
        if chunk.continues {
            // Only a document that does not fit is given in part, and alone.
            let begins = !chunk.is_continued;
            if begins && chunk.text.len() >= CHECKED_BYTES {
                checksum = Some(checksum_of(&chunk.text));
            }
            let cut =
                if begins && checksum.is_none() { 0 } else { tokenizer.open_cut(&chunk.text) };
            turn.reader.carry(chunk, cut)?;
            if cut == 0 {
                continue;
            }
        }
        let n_documents = chunk.document_ends.len() as u64;
        if chunk.first_document + n_documents + u64::from(chunk.continues) <= plan.skip {
            continue;
        }
        let n_taken = chunk.text.len() + chunk.document_ends.len();
        turn.n_left = turn.n_left.saturating_sub(n_taken);
        return Ok(Some(checksum));
    }
}

fn encode(
    plan: &Plan,
    worker: &mut Worker<'_>,
    chunk: &Chunk,
    open_checksum: Option<u32>,
    control: &Control,
) -> Result<Block> {
    let mut block = Block::default();
    block.ids.try_reserve(chunk.text.len() / 3 + 8)?;
    block.ends.try_reserve(chunk.document_ends.len())?;
    for (number, part) in (chunk.first_document..).zip(chunk.parts()) {
        if number < plan.skip {
            continue;
        }
        worker.encode(part.text, &plan.policy, &mut block.ids, control).map_err(|error| Error {
            message: format!("{}: document {number}: {}", plan.path.display(), error.message),
            ..error
        })?;
        if part.starts {
            block.checksums.try_reserve(1)?;
            block.checksums.push(open_checksum.unwrap_or_else(|| checksum_of(part.text)));
        }
        if part.ends {
            if let Some(id) = plan.separator {
                block.ids.try_reserve(1)?;
                block.ids.push(id);
            }
            block.ends.push(block.ids.len() as u64);
        }
    }
    Ok(block)
}

/// Encode texts that are in memory already, as one block.
///
/// # Errors
///
/// Those of encoding, with the `name` of the text.
pub fn encode_texts(
    tokenizer: &Tokenizer,
    texts: &[&[u8]],
    policy: &Policy,
    separator: Option<u32>,
    n_threads: Option<usize>,
    name: &(impl Fn(usize) -> String + Sync),
    control: &Control,
) -> Result<Block> {
    let (ids, bounds) = encode_batch(tokenizer, texts, policy, n_threads, name, control)?;
    let mut block = Block::default();
    block.ids.try_reserve_exact(ids.len() + texts.len())?;
    block.ends.try_reserve_exact(texts.len())?;
    block.checksums.try_reserve_exact(texts.len())?;
    for (text, bounds) in texts.iter().zip(bounds.windows(2)) {
        if let [start, end] = *bounds {
            block.ids.extend_from_slice(ids.get(start as usize..end as usize).unwrap_or_default());
        }
        block.ids.extend(separator);
        block.ends.push(block.ids.len() as u64);
        block.checksums.push(checksum_of(text));
    }
    Ok(block)
}

fn joined(done: Vec<Numbered>) -> Result<Option<Block>> {
    let mut blocks = done.into_iter().map(|(_, block)| block);
    let Some(mut all) = blocks.next() else { return Ok(None) };
    let rest: Vec<Block> = blocks.collect();
    all.ids.try_reserve_exact(rest.iter().map(|block| block.ids.len()).sum())?;
    all.ends.try_reserve_exact(rest.iter().map(|block| block.ends.len()).sum())?;
    all.checksums.try_reserve_exact(rest.iter().map(|block| block.checksums.len()).sum())?;
    for block in rest {
        let base = all.ids.len() as u64;
        all.ids.extend_from_slice(&block.ids);
        all.ends.extend(block.ends.iter().map(|end| base + end));
        all.checksums.extend_from_slice(&block.checksums);
    }
    Ok(Some(all))
}

/// CRC-32 of the front of a document.
fn checksum_of(text: &[u8]) -> u32 {
    crc32fast::hash(text.get(..CHECKED_BYTES).unwrap_or(text))
}
