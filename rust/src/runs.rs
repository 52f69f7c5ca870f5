//! Sorted runs: parts of a count table on disk, and the table that they add up to.
//!
//! A run is `SWRUN001`, then blocks, then an empty block and the number of rows. A block is its
//! length (u64), the CRC-32 of its bytes (u32), and rows: how many bytes the pre-token shares with
//! the one before it in the block, how many follow, these bytes, count and first position; numbers
//! are little-endian base 128. So what is cut short or damaged is found out, and is never counted.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, OsFailure, Result};
use crate::parallel::Control;

const MAGIC: &[u8; 8] = b"SWRUN001";
const BLOCK_BYTES: usize = 1 << 16;

/// A run to read, and what is added to its positions: where its part of the corpus begins.
pub type Run = (PathBuf, u64);

/// Writes rows in the order of their pre-tokens.
pub struct RunWriter {
    path: PathBuf,
    file: BufWriter<File>,
    block: Vec<u8>,
    last: Vec<u8>,
    n_rows: u64,
}

impl RunWriter {
    /// A new file.
    ///
    /// # Errors
    ///
    /// `Disk`.
    pub fn create(path: &Path) -> Result<Self> {
        let make = || {
            let mut file = BufWriter::new(File::create_new(path)?);
            file.write_all(MAGIC)?;
            Ok(file)
        };
        let file = make().map_err(|error| disk(path, &error))?;
        Ok(Self { path: path.to_owned(), file, block: Vec::new(), last: Vec::new(), n_rows: 0 })
    }

    /// Append a row.
    ///
    /// # Errors
    ///
    /// `Counts` for a pre-token that does not come after the one before it; `Disk`, `Memory`.
    pub fn push(&mut self, pretoken: &[u8], count: u64, first_seen: u64) -> Result<()> {
        if pretoken <= self.last.as_slice() {
            return Err(Error::new(
                Kind::Counts,
                "the pre-tokens are not sorted by their bytes, or one is empty or stands twice",
            ));
        }
        let n_shared = if self.block.is_empty() {
            0
        } else {
            pretoken.iter().zip(&self.last).take_while(|(a, b)| a == b).count()
        };
        let rest = pretoken.get(n_shared..).unwrap_or_default();
        self.block.try_reserve(rest.len() + 40)?;
        put(&mut self.block, n_shared as u64);
        put(&mut self.block, rest.len() as u64);
        self.block.extend_from_slice(rest);
        put(&mut self.block, count);
        put(&mut self.block, first_seen);
        self.last.truncate(n_shared);
        self.last.try_reserve(rest.len())?;
        self.last.extend_from_slice(rest);
        self.n_rows += 1;
        if self.block.len() >= BLOCK_BYTES { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<()> {
        let write = |file: &mut BufWriter<File>, block: &[u8]| {
            file.write_all(&(block.len() as u64).to_le_bytes())?;
            file.write_all(&crc32fast::hash(block).to_le_bytes())?;
            file.write_all(block)
        };
        write(&mut self.file, &self.block).map_err(|error| disk(&self.path, &error))?;
        self.block.clear();
        Ok(())
    }

    /// End the file and see it on the disk.
    ///
    /// # Errors
    ///
    /// `Disk`.
    pub fn finish(mut self) -> Result<()> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        self.end_block()?;
        let n_rows = self.n_rows;
        let end = |file: &mut BufWriter<File>| {
            file.write_all(&n_rows.to_le_bytes())?;
            file.flush()?;
            file.get_ref().sync_all()
        };
        end(&mut self.file).map_err(|error| disk(&self.path, &error))
    }
}

/// Reads the rows of a run.
struct RunReader {
    path: PathBuf,
    file: BufReader<File>,
    block: Vec<u8>,
    at: usize,
    n_rows: u64,
    pretoken: Vec<u8>,
    count: u64,
    first_seen: u64,
    offset: u64,
}

impl RunReader {
    fn open((path, offset): &Run) -> Result<Self> {
        let path = path.as_path();
        let file = File::open(path).map_err(|error| disk(path, &error))?;
        let mut reader = Self {
            path: path.to_owned(),
            file: BufReader::with_capacity(BLOCK_BYTES, file),
            block: Vec::new(),
            at: 0,
            n_rows: 0,
            pretoken: Vec::new(),
            count: 0,
            first_seen: 0,
            offset: *offset,
        };
        if reader.bytes::<8>()? == *MAGIC { Ok(reader) } else { Err(reader.damaged("its front")) }
    }

    /// Go to the next row; false after the last.
    fn advance(&mut self) -> Result<bool> {
        if self.at == self.block.len() && !self.next_block()? {
            return Ok(false);
        }
        let most_shared = if self.at == 0 { 0 } else { self.pretoken.len() };
        let (n_shared, n_rest) = (self.number()?, self.number()?);
        let n_shared = usize::try_from(n_shared).ok().filter(|&n| n <= most_shared);
        let rest = usize::try_from(n_rest)
            .ok()
            .and_then(|n| self.block.get(self.at..self.at.checked_add(n)?));
        let (Some(rest), Some(n_shared)) = (rest, n_shared) else {
            return Err(self.damaged("a row"));
        };
        self.at += rest.len();
        self.pretoken.truncate(n_shared);
        self.pretoken.try_reserve(rest.len())?;
        self.pretoken.extend_from_slice(rest);
        self.count = self.number()?;
        self.first_seen = crate::counts::add(self.number()?, self.offset)?;
        self.n_rows += 1;
        Ok(true)
    }

    fn next_block(&mut self) -> Result<bool> {
        let n_bytes = u64::from_le_bytes(self.bytes()?);
        let sum = u32::from_le_bytes(self.bytes()?);
        (self.at, self.block) = (0, Vec::new());
        // A length that lies asks for no more memory than the file has bytes.
        let block = (&mut self.file).take(n_bytes).read_to_end(&mut self.block);
        let n_read = block.map_err(|error| disk(&self.path, &error))?;
        if n_read as u64 != n_bytes || crc32fast::hash(&self.block) != sum {
            return Err(self.damaged("a block"));
        }
        if n_bytes == 0 && u64::from_le_bytes(self.bytes()?) != self.n_rows {
            return Err(self.damaged("its number of rows"));
        }
        Ok(n_bytes > 0)
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        match self.file.read_exact(&mut bytes) {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.damaged("its end, which is missing"))
            }
            Err(error) => Err(disk(&self.path, &error)),
        }
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let Some(&byte) = self.block.get(self.at) else { break };
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.damaged("a number"))
    }

    fn damaged(&self, what: &str) -> Error {
        let path = self.path.display();
        Error::new(
            Kind::Counts,
            format!("{path}: {what} is damaged; delete what was begun and count again"),
        )
    }
}

fn put(block: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        block.push(number as u8 | 0x80);
        number >>= 7;
    }
    block.push(number as u8);
}

/// What the system said about a file of ours.
fn disk(path: &Path, error: &io::Error) -> Error {
    let os = OsFailure { errno: error.raw_os_error().unwrap_or(libc::EIO), path: path.to_owned() };
    let reason = error.to_string();
    let message = reason.split(" (os error").next().unwrap_or_default().to_owned();
    Error { kind: Kind::Disk, message, os: Some(Box::new(os)) }
}

/// Gives the rows of several runs as one table: sorted, equal pre-tokens added up.
pub struct Merge {
    readers: Vec<RunReader>,
    /// Indices of readers that have a row, a binary heap by pre-token.
    heap: Vec<usize>,
    pretoken: Vec<u8>,
    min_count: u64,
    /// What `min_count` dropped: rows, occurrences.
    pub dropped: (u64, u64),
}

impl Merge {
    /// Open runs; rows that add up to less than `min_count` are dropped.
    ///
    /// # Errors
    ///
    /// `Disk`, `Counts`.
    pub fn open(runs: &[Run], min_count: u64) -> Result<Self> {
        let readers = runs.iter().map(RunReader::open).collect::<Result<Vec<_>>>()?;
        let mut merge =
            Self { readers, heap: Vec::new(), pretoken: Vec::new(), min_count, dropped: (0, 0) };
        for index in 0..merge.readers.len() {
            if merge.readers[index].advance()? {
                merge.heap.push(index);
            }
        }
        for at in (0..merge.heap.len()).rev() {
            merge.sift_down(at);
        }
        Ok(merge)
    }

    /// The next row, or none after the last: pre-token, count, first position.
    ///
    /// # Errors
    ///
    /// `Counts` for a damaged run, `CountOverflow`, `Disk`, `Memory`.
    pub fn next_row(&mut self) -> Result<Option<(&[u8], u64, u64)>> {
        loop {
            let Some(&top) = self.heap.first() else { return Ok(None) };
            let reader = &mut self.readers[top];
            std::mem::swap(&mut self.pretoken, &mut reader.pretoken);
            reader.pretoken.clone_from(&self.pretoken);
            let (mut count, mut first_seen) = (reader.count, reader.first_seen);
            self.advance_top()?;
            while let Some(&top) = self.heap.first() {
                let reader = &self.readers[top];
                if reader.pretoken != self.pretoken {
                    break;
                }
                count = crate::counts::add(count, reader.count)?;
                first_seen = first_seen.min(reader.first_seen);
                self.advance_top()?;
            }
            if count >= self.min_count {
                return Ok(Some((&self.pretoken, count, first_seen)));
            }
            self.dropped.0 += 1;
            self.dropped.1 = crate::counts::add(self.dropped.1, count)?;
        }
    }

    fn advance_top(&mut self) -> Result<()> {
        let Some(&top) = self.heap.first() else { return Ok(()) };
        if !self.readers[top].advance()? {
            self.heap.swap_remove(0);
        }
        self.sift_down(0);
        Ok(())
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.order(child, least) == Ordering::Less {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    fn order(&self, a: usize, b: usize) -> Ordering {
        self.readers[self.heap[a]].pretoken.cmp(&self.readers[self.heap[b]].pretoken)
    }
}

/// Make one run of several.
///
/// # Errors
///
/// As [`Merge`] and [`RunWriter`]; `Interrupted`.
pub fn merge_runs(runs: &[Run], into: &Path, control: &Control) -> Result<()> {
    let mut merge = Merge::open(runs, 1)?;
    let mut writer = RunWriter::create(into)?;
    let mut n_rows = 0u64;
    while let Some((pretoken, count, first_seen)) = merge.next_row()? {
        writer.push(pretoken, count, first_seen)?;
        n_rows += 1;
        if n_rows.is_multiple_of(1024) {
            control.check()?;
        }
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("subword-run-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    fn write(path: &Path, rows: &[(&[u8], u64, u64)]) {
        let mut writer = RunWriter::create(path).unwrap();
        for &(pretoken, count, first_seen) in rows {
            writer.push(pretoken, count, first_seen).unwrap();
        }
        writer.finish().unwrap();
    }

    fn rows(paths: &[PathBuf]) -> Result<Vec<(Vec<u8>, u64, u64)>> {
        let runs: Vec<Run> = paths.iter().map(|path| (path.clone(), 0)).collect();
        let mut merge = Merge::open(&runs, 1)?;
        let mut rows = Vec::new();
        while let Some((pretoken, count, first_seen)) = merge.next_row()? {
            rows.push((pretoken.to_vec(), count, first_seen));
        }
        Ok(rows)
    }

    #[test]
    fn runs_add_up() {
        let (a, b) = (place("a"), place("b"));
        let long = [b'x'; 100_000];
        write(&a, &[(b"a", 1, 9), (b"ab", 2, 3), (b"b", u64::MAX - 1, 0), (&long, 3, 1)]);
        write(&b, &[(b"ab", 5, 2), (b"b\0", 1, u64::MAX), (&long, 3, 0)]);
        let expected = vec![
            (b"a".to_vec(), 1, 9),
            (b"ab".to_vec(), 7, 2),
            (b"b".to_vec(), u64::MAX - 1, 0),
            (b"b\0".to_vec(), 1, u64::MAX),
            (long.to_vec(), 6, 0),
        ];
        assert_eq!(rows(&[a.clone(), b.clone()]).unwrap(), expected);
        let both = place("both");
        merge_runs(&[(b.clone(), 0), (a.clone(), 0)], &both, &Control::default()).unwrap();
        assert_eq!(rows(std::slice::from_ref(&both)).unwrap(), expected);
        let (moved, runs) = (place("moved"), [(a.clone(), 0), (a.clone(), 100)]);
        let _ = merge_runs(&runs, &moved, &Control::default()).unwrap_err();
        std::fs::remove_file(&moved).unwrap();
        merge_runs(&[(a.clone(), 100)], &moved, &Control::default()).unwrap();
        let firsts: Vec<u64> =
            rows(std::slice::from_ref(&moved)).unwrap().iter().map(|row| row.2).collect();
        assert_eq!(firsts, [109, 103, 100, 101]);
        std::fs::remove_file(moved).unwrap();
        assert_eq!(
            rows(&[a.clone(), a.clone()]).unwrap_err().kind,
            Kind::CountOverflow,
            "twice the count of b passes 64 bits"
        );
        for path in [a, b, both] {
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn every_cut_and_every_flipped_byte_is_found_out() {
        let (path, bad) = (place("whole"), place("bad"));
        write(&path, &[(b"a", 1, 9), (b"ab", 300, 3), (b"b", 2, 0)]);
        let whole = std::fs::read(&path).unwrap();
        for n in 0..whole.len() {
            std::fs::write(&bad, &whole[..n]).unwrap();
            assert_eq!(rows(std::slice::from_ref(&bad)).unwrap_err().kind, Kind::Counts, "{n}");
            let mut flipped = whole.clone();
            flipped[n] ^= 0x40;
            std::fs::write(&bad, flipped).unwrap();
            assert_eq!(rows(std::slice::from_ref(&bad)).unwrap_err().kind, Kind::Counts, "{n}");
        }
        std::fs::remove_file(path).unwrap();
        std::fs::remove_file(bad).unwrap();
    }

    #[test]
    fn rows_out_of_order_are_refused() {
        let path = place("order");
        let mut writer = RunWriter::create(&path).unwrap();
        writer.push(b"b", 1, 0).unwrap();
        for pretoken in [&b"a"[..], b"b", b""] {
            assert_eq!(writer.push(pretoken, 1, 0).unwrap_err().kind, Kind::Counts);
        }
        std::fs::remove_file(path).unwrap();
    }
}
