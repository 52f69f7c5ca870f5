//! Chunks and carrying; what the cuts mean is held to the Python twin by the Python tests.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Chunk, ChunkReader, Cut};
use crate::error::Kind;
use crate::parallel::Control;

/// Files that are removed when the test ends.
struct Files(Vec<PathBuf>);

impl Files {
    fn new(contents: &[&[u8]]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let write = |content: &&[u8]| {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("subword-corpus-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::write(&path, content).unwrap();
            path
        };
        Self(contents.iter().map(write).collect())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// Read all documents; `carried(chunk)` says from where the open part is given back.
fn documents(
    contents: &[&[u8]],
    cut: &Cut,
    (block, target): (usize, usize),
    mut carried: impl FnMut(&Chunk) -> usize,
) -> Vec<Vec<u8>> {
    let files = Files::new(contents);
    let mut reader = ChunkReader::new(files.0.clone(), cut.clone(), block).unwrap();
    let (mut chunk, control) = (Chunk::default(), Control::default());
    let (mut found, mut open, mut offset) = (Vec::new(), Vec::new(), 0);
    let mut number = 0;
    while reader.next_chunk(target, &mut chunk, &control).unwrap() {
        assert_eq!((chunk.number, chunk.offset), (number, offset));
        assert_eq!(chunk.first_document, found.len() as u64);
        assert_eq!(chunk.is_continued, !open.is_empty());
        number += 1;
        if chunk.continues {
            let from = carried(&chunk);
            reader.carry(&mut chunk, from).unwrap();
        } else {
            assert_eq!(chunk.open_start(), chunk.text.len());
        }
        offset += chunk.text.len() as u64;
        for part in chunk.parts() {
            assert_eq!(part.starts, open.is_empty() || !chunk.is_continued);
            open.extend_from_slice(part.text);
            if part.ends {
                found.push(std::mem::take(&mut open));
            }
        }
    }
    assert!(open.is_empty());
    assert_eq!(
        chunk,
        Chunk { number, offset, first_document: found.len() as u64, ..chunk.clone() }
    );
    assert!(chunk.text.is_empty() && chunk.document_ends.is_empty());
    found
}

const CONTENTS: [&[u8]; 6] = [
    b"one<|<|end|>two<|end|><|end|>three and a half",
    b"",
    b"<|end|>",
    b"<|end",
    b"a\r\nb\n\r",
    b"\n",
];

fn expected(cut: &Cut) -> Vec<&'static [u8]> {
    match cut {
        Cut::File => CONTENTS.to_vec(),
        Cut::Line => vec![CONTENTS[0], CONTENTS[2], CONTENTS[3], b"a", b"b", b"\r", b""],
        Cut::Separator(_) => {
            vec![b"one<|", b"two", b"", b"three and a half", b"", b"<|end", b"a\r\nb\n\r", b"\n"]
        }
    }
}

fn cuts() -> [Cut; 3] {
    [Cut::File, Cut::Line, Cut::Separator(b"<|end|>".to_vec())]
}

#[test]
fn documents_are_the_same_for_every_block_target_and_carry() {
    for cut in cuts() {
        for block in [1, 4, 7, 1 << 20] {
            for target in [0, 1, 3, 8, 64, 1 << 20] {
                let sizes = (block, target);
                assert_eq!(documents(&CONTENTS, &cut, sizes, |c| c.text.len()), expected(&cut));
                assert_eq!(documents(&CONTENTS, &cut, sizes, |c| c.text.len() / 2), expected(&cut));
                assert_eq!(documents(&CONTENTS, &cut, sizes, |_| 0), expected(&cut));
            }
        }
    }
}

#[test]
fn a_caller_that_carries_everything_sees_its_text_double() {
    let content = vec![b'a'; 1 << 16];
    let mut n_seen = 0;
    documents(&[&content], &Cut::Line, (1 << 12, 64), |chunk| {
        n_seen += chunk.text.len();
        0
    });
    assert!(n_seen < 4 * content.len(), "{n_seen}");
}

#[test]
fn chunks_keep_to_their_target() {
    let files = Files::new(&[&b"some words\n".repeat(1000), &[b'x'; 5000], &[b'\n'; 5000]]);
    let mut reader = ChunkReader::new(files.0.clone(), Cut::Line, 1 << 20).unwrap();
    let (mut chunk, control) = (Chunk::default(), Control::default());
    while reader.next_chunk(100, &mut chunk, &control).unwrap() {
        assert!(chunk.text.len() <= 101 && chunk.document_ends.len() <= 101);
    }
    assert_eq!(reader.stored_bytes(), 21_000);
}

#[test]
fn only_the_open_document_of_the_last_chunk_can_be_carried() {
    let files = Files::new(&[b"ab\ncdefgh"]);
    let mut reader = ChunkReader::new(files.0.clone(), Cut::Line, 1 << 20).unwrap();
    let (mut chunk, control) = (Chunk::default(), Control::default());
    assert!(reader.next_chunk(3, &mut chunk, &control).unwrap());
    assert_eq!((chunk.text.as_slice(), chunk.continues), (&b"ab"[..], false));
    assert_eq!(reader.carry(&mut chunk, 2).unwrap_err().kind, Kind::Argument);
    assert!(reader.next_chunk(3, &mut chunk, &control).unwrap());
    assert_eq!((chunk.text.as_slice(), chunk.continues), (&b"cde"[..], true));
    assert_eq!(reader.carry(&mut chunk, 4).unwrap_err().kind, Kind::Argument);
    reader.carry(&mut chunk, 1).unwrap();
    assert_eq!(chunk.text, b"c");
}

#[test]
fn a_failure_is_repeated_and_a_stop_is_heard() {
    let missing = vec![PathBuf::from("/nothing/here")];
    let mut reader = ChunkReader::new(missing, Cut::File, 1).unwrap();
    let (mut chunk, control) = (Chunk::default(), Control::default());
    for _ in 0..2 {
        let error = reader.next_chunk(1, &mut chunk, &control).unwrap_err();
        assert_eq!(error.kind, Kind::SourceNotFound);
        assert_eq!(error.os.unwrap().errno, libc::ENOENT);
    }
    let files = Files::new(&[b"text"]);
    let mut reader = ChunkReader::new(files.0.clone(), Cut::File, 1).unwrap();
    control.stop();
    assert_eq!(reader.next_chunk(1, &mut chunk, &control).unwrap_err().kind, Kind::Interrupted);
}

#[test]
fn empty_arguments_are_refused() {
    assert!(ChunkReader::new(vec![], Cut::File, 0).is_err());
    assert!(ChunkReader::new(vec![], Cut::Separator(vec![]), 1).is_err());
}
