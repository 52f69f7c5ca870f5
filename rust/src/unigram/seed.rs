//! The first, too large vocabulary: frequent substrings of words.
//!
//! A substring is a candidate when no longer one could always stand for it: its occurrences go
//! on with different characters, or some of them end their word. Such substrings are the nodes of
//! the words' suffix tree, read here off the suffix array. The order of merit is occurrences times
//! characters.
//!
//! Source: sentencepiece 0.2.3 (`unigram_model_trainer.cc`); there the end of a word is no
//! branch, and the array is that of the running text.

use super::words::{SEPARATOR, Words, checked_sum};
use crate::error::{Error, Kind, Result};
use crate::parallel::Control;

/// A substring of the words' text and its merit.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    merit: u64,
    start: u32,
    n_bytes: u32,
}

/// An open node: a common prefix of the suffixes seen last, and their occurrences.
struct Node {
    n_bytes: usize,
    count: u64,
    start: u32,
}

/// The `limit` best substrings of 2 to `max_chars` characters and at least 2 occurrences, as
/// (start in `words.text`, bytes, merit); best first, of equal ones the smaller bytes first.
///
/// # Errors
///
/// `CountOverflow` for merits past 64 bits, `Memory`, `Interrupted`.
pub fn substrings(
    words: &Words,
    max_chars: usize,
    limit: usize,
    control: &Control,
) -> Result<Vec<(u32, u32, u64)>> {
    let text = words.text.as_slice();
    let suffixes = suffix_array(text)?;
    control.check()?;
    let word_of = word_of_position(words)?;
    let mut best = Best { text, limit, kept: Vec::new() };
    let mut nodes: Vec<Node> = Vec::new();
    let mut previous: &[u8] = &[];
    for (index, &start) in suffixes.iter().enumerate() {
        if index % (1 << 16) == 0 {
            control.check()?;
        }
        let position = start as usize;
        let Some(&first) = text.get(position) else { continue };
        if first == SEPARATOR || first & 0xC0 == 0x80 {
            continue;
        }
        let suffix = clip(text, position, max_chars + 1);
        let common = common_prefix(previous, suffix);
        previous = suffix;
        close(&mut nodes, common, max_chars, &mut best)?;
        let count = word_of
            .get(position)
            .and_then(|&word| words.counts.get(word as usize))
            .copied()
            .unwrap_or(0);
        match nodes.last_mut() {
            Some(node) if node.n_bytes == suffix.len() => {
                node.count = checked_sum(node.count, count)?;
            }
            _ => nodes.push(Node { n_bytes: suffix.len(), count, start: start as u32 }),
        }
    }
    close(&mut nodes, 0, max_chars, &mut best)?;
    best.shrink();
    Ok(best.kept.iter().map(|found| (found.start, found.n_bytes, found.merit)).collect())
}

/// Close the nodes deeper than `n_bytes`: offer each, and add its count to the one that holds it.
fn close(nodes: &mut Vec<Node>, n_bytes: usize, max_chars: usize, best: &mut Best) -> Result<()> {
    while let Some(node) = nodes.pop_if(|node| node.n_bytes > n_bytes) {
        best.offer(&node, max_chars)?;
        match nodes.last_mut() {
            Some(parent) if parent.n_bytes >= n_bytes && parent.n_bytes > 0 => {
                parent.count = checked_sum(parent.count, node.count)?;
            }
            _ if n_bytes > 0 => {
                nodes.push(Node { n_bytes, count: node.count, start: node.start });
            }
            _ => {}
        }
    }
    Ok(())
}

/// The best candidates so far; twice `limit` are kept before the worse half is dropped.
struct Best<'t> {
    text: &'t [u8],
    limit: usize,
    kept: Vec<Candidate>,
}

impl Best<'_> {
    fn offer(&mut self, node: &Node, max_chars: usize) -> Result<()> {
        let start = node.start as usize;
        let bytes = self.text.get(start..start + node.n_bytes).unwrap_or_default();
        let n_chars = bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        if node.count < 2 || !(2..=max_chars).contains(&n_chars) {
            return Ok(());
        }
        let merit = node.count.checked_mul(n_chars as u64).ok_or_else(|| {
            Error::new(
                Kind::CountOverflow,
                format!("{} occurrences of {n_chars} characters pass 64 bits", node.count),
            )
        })?;
        if self.kept.len() >= self.limit.saturating_mul(2).max(1024) {
            self.shrink();
        }
        self.kept.try_reserve(1)?;
        self.kept.push(Candidate { merit, start: node.start, n_bytes: node.n_bytes as u32 });
        Ok(())
    }

    fn shrink(&mut self) {
        let text = self.text;
        let bytes = |candidate: &Candidate| {
            let start = candidate.start as usize;
            text.get(start..start + candidate.n_bytes as usize).unwrap_or_default()
        };
        self.kept
            .sort_unstable_by(|a, b| b.merit.cmp(&a.merit).then_with(|| bytes(a).cmp(bytes(b))));
        self.kept.truncate(self.limit);
    }
}

fn suffix_array(text: &[u8]) -> Result<Vec<i32>> {
    let mut suffixes: Vec<i32> = Vec::new();
    suffixes.try_reserve_exact(text.len())?;
    suffixes.resize(text.len(), 0);
    if !text.is_empty() {
        libsais::SuffixArrayConstruction::for_text(text)
            .in_borrowed_buffer(&mut suffixes)
            .single_threaded()
            .run()
            .map_err(|error| Error::new(Kind::Memory, format!("no suffix array: {error}")))?;
    }
    Ok(suffixes)
}

/// The index of the word that each position is in.
fn word_of_position(words: &Words) -> Result<Vec<u32>> {
    let mut word_of: Vec<u32> = Vec::new();
    word_of.try_reserve_exact(words.text.len())?;
    for (bounds, index) in words.starts.windows(2).zip(0u32..) {
        if let [_, end] = bounds {
            word_of.resize(*end as usize, index);
        }
    }
    Ok(word_of)
}

/// The text from `start` to the end of its word, `max_chars` characters at most.
fn clip(text: &[u8], start: usize, max_chars: usize) -> &[u8] {
    let rest = text.get(start..).unwrap_or_default();
    let mut n_chars = 0;
    let mut end = 0;
    for &byte in rest {
        n_chars += usize::from(byte & 0xC0 != 0x80);
        if byte == SEPARATOR || n_chars > max_chars {
            break;
        }
        end += 1;
    }
    rest.get(..end).unwrap_or_default()
}

/// Bytes of the whole characters that both begin with.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut end = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    // Not inside a character: step back while the byte after the cut continues one.
    while end > 0 && b.get(end).or_else(|| a.get(end)).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end -= 1;
    }
    end
}
