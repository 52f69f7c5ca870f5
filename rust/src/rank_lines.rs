//! The lines of a tiktoken file, `base64 rank` each.
//!
//! Whatever is out of the ordinary gives `None`: the file is then read line by line elsewhere,
//! which names what is wrong.

/// Tokens joined, the end of each, and the rank of each.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RankLines {
    /// The bytes of all tokens.
    pub bytes: Vec<u8>,
    /// Where each token ends in `bytes`.
    pub ends: Vec<usize>,
    /// The rank of each.
    pub ranks: Vec<u32>,
}

impl RankLines {
    /// The rank and the bytes of each token, in the order of the lines.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = (u32, &[u8])> + Clone {
        (0..self.ranks.len()).map(|at| {
            let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).unwrap_or(&0);
            let bytes = self.ends.get(at).and_then(|end| self.bytes.get(*start..*end));
            (self.ranks.get(at).copied().unwrap_or(u32::MAX), bytes.unwrap_or_default())
        })
    }
}

/// Read the lines of a file.
#[must_use]
pub fn rank_lines(data: &[u8]) -> Option<RankLines> {
    let mut found = RankLines::default();
    for line in data.strip_suffix(b"\n").unwrap_or(data).split(|&byte| byte == b'\n') {
        let space = memchr::memchr(b' ', line)?;
        let (token, rank) = (line.get(..space)?, line.get(space + 1..)?);
        decode(token, &mut found.bytes)?;
        found.ends.push(found.bytes.len());
        if rank.is_empty() || rank.len() > 10 || !rank.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let rank = std::str::from_utf8(rank).ok()?.parse().ok()?;
        if rank == u32::MAX {
            return None;
        }
        found.ranks.push(rank);
    }
    Some(found)
}

/// Decode base64 (RFC 4648, section 4) of at least one byte.
fn decode(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if text.is_empty() || !text.len().is_multiple_of(4) {
        return None;
    }
    let n_padding = text.iter().rev().take_while(|&&byte| byte == b'=').count();
    if n_padding > 2 {
        return None;
    }
    let digits = text.get(..text.len() - n_padding)?;
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for &byte in group {
            bits = bits << 6 | digit(byte)?;
        }
        let n_bytes = group.len() * 6 / 8;
        bits <<= 32 - 6 * group.len();
        out.extend_from_slice(bits.to_be_bytes().get(..n_bytes)?);
    }
    Some(())
}

fn digit(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let found = rank_lines(b"YQ== 0\nYWI= 7\n/+7/ 4294967294\nYWJjZA== 00").expect("lines");
        assert_eq!(found.bytes, b"aab\xff\xee\xffabcd");
        assert_eq!(found.ends, [1, 3, 6, 10]);
        assert_eq!(found.ranks, [0, 7, u32::MAX - 1, 0]);
    }

    #[test]
    fn what_is_out_of_the_ordinary_is_left() {
        for text in [
            "",
            "\n",
            "YQ==",
            "YQ== ",
            "YQ==  0",
            "YQ== 0 ",
            "YQ== 0\r",
            "YQ== -1",
            "YQ== 4294967295",
            "YQ== 4294967296",
            "YQ== 0\n\nYg== 1",
            " 0",
            "= 0",
            "==== 0",
            "Y=== 0",
            "YQ= 0",
            "YQ 0",
            "Y=Q= 0",
            "Y!== 0",
        ] {
            assert_eq!(rank_lines(text.as_bytes()), None, "{text:?}");
        }
    }
}
