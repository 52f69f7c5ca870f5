//! One file of a corpus as a stream of bytes: opened, waited for, decompressed.
//!
//! Compression is told by the first bytes and never by the name, so a renamed file reads the
//! same. Files are read and never mapped: a mapped file that shrinks kills the process.
//!
//! Source: RFC 1952, section 2.3.1 (gzip magic); RFC 8878, sections 3.1.1 and 3.1.2 (magic
//! numbers of zstd frames and of skippable frames); bzip2 1.0.8, decompress.c (`BZh`, level, and
//! the magic of a block or of the end); The .xz File Format 1.2.1, section 2.1.1.1.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;

use crate::error::{Error, Kind, OsFailure, Result};
use crate::parallel::Control;

/// The path that stands for the standard input of this process, on every system.
pub const STDIN: &str = "/dev/stdin";

/// How long one wait for a pipe lasts before the caller's stop flag is looked at.
#[cfg(unix)]
const WAIT_MILLISECONDS: i32 = 50;

/// Files whose length is unknown or wrong (such as those of /proc) are read in steps of this.
const SMALLEST_READ: usize = 1 << 12;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const ZSTD_SKIPPABLE_TAIL: [u8; 3] = [0x2a, 0x4d, 0x18];
const XZ_MAGIC: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];
const BZIP2_MAGIC: [u8; 3] = *b"BZh";
/// After the level: what begins a block, or ends an empty stream.
const BZIP2_MARKS: [[u8; 6]; 2] =
    [[0x31, 0x41, 0x59, 0x26, 0x53, 0x59], [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]];
const LONGEST_MAGIC: usize = 10;

/// The most memory that the xz decoder may take: what its highest preset asks for, doubled.
const XZ_MEMORY: u64 = 128 << 20;

/// An open file of the corpus; `read` gives its decompressed bytes.
pub struct Source {
    path: PathBuf,
    stream: Box<dyn Read + Send + Sync>,
    format: Format,
    offset: u64,
    /// The length of a plain file when it was opened; it may grow or shrink.
    length: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Plain,
    Gzip,
    Zstd,
    Bzip2,
    Xz,
}

impl Format {
    /// Whether more bytes are needed to tell: nobody should wait for them without a need.
    fn is_open(head: &[u8]) -> bool {
        let may_be = |magic: &[u8]| head.len() < magic.len() && magic.starts_with(head);
        let may_be_skippable = head.len() < 4
            && head.first().is_none_or(|first| first >> 4 == 5)
            && ZSTD_SKIPPABLE_TAIL.starts_with(head.get(1..).unwrap_or_default());
        let may_be_bzip2 =
            may_be(&BZIP2_MAGIC) || head.starts_with(&BZIP2_MAGIC) && head.len() < LONGEST_MAGIC;
        may_be(&GZIP_MAGIC)
            || may_be(&ZSTD_MAGIC)
            || may_be(&XZ_MAGIC)
            || may_be_bzip2
            || may_be_skippable
    }

    fn of(head: &[u8]) -> Self {
        let is_skippable = head.first().is_some_and(|first| first >> 4 == 5)
            && head.get(1..4) == Some(&ZSTD_SKIPPABLE_TAIL);
        if head.starts_with(&GZIP_MAGIC) {
            Self::Gzip
        } else if head.starts_with(&ZSTD_MAGIC) || is_skippable {
            Self::Zstd
        } else if head.starts_with(&XZ_MAGIC) {
            Self::Xz
        } else if head.starts_with(&BZIP2_MAGIC)
            && head.get(3).is_some_and(|level| (b'1'..=b'9').contains(level))
            && head.get(4..10).is_some_and(|mark| BZIP2_MARKS.iter().any(|it| it == mark))
        {
            Self::Bzip2
        } else {
            Self::Plain
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }
}

impl Source {
    /// Open `path` and look at its first bytes.
    ///
    /// `block_bytes` is the size of the reads below a decompressor, and `stored_bytes` counts
    /// what they take from the file.
    ///
    /// # Errors
    ///
    /// `SourceNotFound`, `SourceIsDirectory`, `Source`, `Interrupted`.
    pub fn open(
        path: &Path,
        block_bytes: usize,
        stored_bytes: &Arc<AtomicU64>,
        control: &Control,
    ) -> Result<Self> {
        let mut stored = Stored::open(path, stored_bytes).map_err(|error| refusal(path, &error))?;
        let mut head = [0; LONGEST_MAGIC];
        let mut n_head = 0;
        while let Some(free) = head.get_mut(n_head..).filter(|free| !free.is_empty()) {
            match patiently(control, || stored.read(free))?.map_err(|e| refusal(path, &e))? {
                0 => break,
                n => n_head += n,
            }
            if !Format::is_open(head.get(..n_head).unwrap_or_default()) {
                break;
            }
        }
        let head = head.get(..n_head).unwrap_or_default().to_vec();
        let format = Format::of(&head);
        let length = stored.length.filter(|_| format == Format::Plain);
        let whole = io::Cursor::new(head).chain(stored);
        let stream: Box<dyn Read + Send + Sync> = match format {
            Format::Plain => Box::new(whole),
            Format::Gzip => {
                Box::new(MultiGzDecoder::new(BufReader::with_capacity(block_bytes, whole)))
            }
            Format::Zstd => Box::new(
                zstd::stream::read::Decoder::with_buffer(BufReader::with_capacity(
                    block_bytes,
                    whole,
                ))
                .map_err(|error| refusal(path, &error))?,
            ),
            Format::Bzip2 => {
                Box::new(MultiBzDecoder::new(BufReader::with_capacity(block_bytes, whole)))
            }
            Format::Xz => {
                let flags = liblzma::stream::CONCATENATED;
                let decoder = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, flags)
                    .map_err(|error| refusal(path, &error.into()))?;
                Box::new(XzDecoder::new_stream(
                    BufReader::with_capacity(block_bytes, whole),
                    decoder,
                ))
            }
        };
        Ok(Self { path: path.to_owned(), stream, format, offset: 0, length })
    }

    /// How many bytes to ask for: one more than a plain file has left, to see its end too.
    #[must_use]
    pub fn likely_rest(&self) -> usize {
        let rest = self.length.map_or(u64::MAX, |length| length.saturating_sub(self.offset));
        usize::try_from(rest).unwrap_or(usize::MAX).saturating_add(1).max(SMALLEST_READ)
    }

    /// Fill the front of `buffer`; 0 at the end of the file.
    ///
    /// # Errors
    ///
    /// `Source`; `Corpus` for a stream that is damaged or a file that shrank; `Interrupted`.
    pub fn read(&mut self, buffer: &mut [u8], control: &Control) -> Result<usize> {
        let n = patiently(control, || self.stream.read(buffer))?
            .map_err(|error| self.read_error(&error))?;
        self.offset += n as u64;
        if n == 0 && !buffer.is_empty() {
            self.check_length()?;
        }
        Ok(n)
    }

    /// Refuse a plain file that ended before the place where it ended when it was opened.
    ///
    /// Files of the kernel that say a length and hold less still say it.
    fn check_length(&self) -> Result<()> {
        let Some(length) = self.length.filter(|&length| self.offset < length) else {
            return Ok(());
        };
        let now = self.path.metadata().map_or(0, |metadata| metadata.len());
        if now >= length {
            return Ok(());
        }
        let path = self.path.display();
        let offset = self.offset;
        Err(Error::new(
            Kind::Corpus,
            format!(
                "{path}: the file shrank while it was read, from {length} bytes to {now}, and \
                 ended at byte {offset}; read it when nothing writes to it"
            ),
        ))
    }

    /// A failed read: the system's when it has a number, else the decompressor's.
    fn read_error(&self, error: &io::Error) -> Error {
        if error.raw_os_error().is_some() || self.format == Format::Plain {
            return refusal(&self.path, error);
        }
        let path = self.path.display();
        let format = self.format.name();
        let offset = self.offset;
        let message = if error.kind() == ErrorKind::UnexpectedEof {
            format!(
                "{path}: the {format} stream ends early, at byte {offset} of the decompressed \
                 text: the file is truncated; copy or compress it again"
            )
        } else {
            format!(
                "{path}: the {format} stream is damaged at byte {offset} of the decompressed \
                 text ({error}); expected {format} to the end of the file, as its first bytes \
                 say: copy or compress it again"
            )
        };
        Error::new(Kind::Corpus, message)
    }
}

/// Call `read` until it has an answer, looking at the stop flag before each try.
///
/// The outer result is the stop; the inner one is the stream's own.
fn patiently<T>(
    control: &Control,
    mut read: impl FnMut() -> io::Result<T>,
) -> Result<io::Result<T>> {
    loop {
        control.check()?;
        match read() {
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            answer => return Ok(answer),
        }
    }
}

/// The refusal of the operating system as one of ours.
fn refusal(path: &Path, error: &io::Error) -> Error {
    let errno = error.raw_os_error().unwrap_or(libc::EIO);
    let (kind, message) = match error.kind() {
        ErrorKind::NotFound => (Kind::SourceNotFound, "no such file".to_owned()),
        ErrorKind::IsADirectory => (
            Kind::SourceIsDirectory,
            "a directory, where a file or glob was expected; for all files below it pass the glob \
             that ends in /**"
                .to_owned(),
        ),
        _ => (Kind::Source, format!("cannot be read: {error}")),
    };
    let os = Some(Box::new(OsFailure { errno, path: path.to_owned() }));
    Error { kind, message, os }
}

/// A file as the disk or pipe holds it. `read` gives `WouldBlock` rather than wait long.
struct Stored {
    file: File,
    /// Whether reads can wait for another process: pipes, terminals, sockets.
    may_wait: bool,
    length: Option<u64>,
    n_bytes: Arc<AtomicU64>,
}

impl Stored {
    fn open(path: &Path, n_bytes: &Arc<AtomicU64>) -> io::Result<Self> {
        let file = if path == Path::new(STDIN) { standard_input()? } else { open_file(path)? };
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from_raw_os_error(libc::EISDIR));
        }
        let length = metadata.is_file().then_some(metadata.len());
        Ok(Self { file, may_wait: length.is_none(), length, n_bytes: Arc::clone(n_bytes) })
    }
}

impl Read for Stored {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.may_wait && !is_ready(&self.file)? {
            return Err(ErrorKind::WouldBlock.into());
        }
        let n = self.file.read(buffer)?;
        self.n_bytes.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Open without waiting for the writer of a named pipe: the reads wait, and can be stopped.
#[cfg(target_os = "linux")]
fn open_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    let flags = if path.metadata()?.file_type().is_fifo() { libc::O_NONBLOCK } else { 0 };
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Elsewhere a pipe without a writer reads as ended, so the open waits for one.
#[cfg(not(target_os = "linux"))]
fn open_file(path: &Path) -> io::Result<File> {
    path.metadata()?;
    OpenOptions::new().read(true).open(path)
}

/// The standard input under a descriptor of its own, so that closing it closes no one else's.
#[cfg(unix)]
fn standard_input() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// The standard input under a handle of its own, so that closing it closes no one else's.
#[cfg(windows)]
fn standard_input() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}

/// Wait a moment for bytes or the end; false when there was neither.
#[cfg(unix)]
fn is_ready(file: &File) -> io::Result<bool> {
    use std::os::fd::AsRawFd;
    let mut request = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: `request` is one valid pollfd, alive for the call, and its descriptor is open.
    match unsafe { libc::poll(&raw mut request, 1, WAIT_MILLISECONDS) } {
        -1 => Err(io::Error::last_os_error()),
        n_ready => Ok(n_ready > 0),
    }
}

/// Where files cannot be polled, a read waits as long as it must.
#[cfg(not(unix))]
fn is_ready(_file: &File) -> io::Result<bool> {
    Ok(true)
}
