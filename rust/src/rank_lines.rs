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
    pub ends: Vec<u32>,
    /// The rank of each.
    pub ranks: Vec<u32>,
}

impl RankLines {
    /// The rank and the bytes of each token, in the order of the lines.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = (u32, &[u8])> + Clone {
        (0..self.ranks.len()).map(|at| {
            let end = |at: usize| self.ends.get(at).map(|&end| end as usize);
            let start = at.checked_sub(1).and_then(end).unwrap_or(0);
            let bytes = end(at).and_then(|end| self.bytes.get(start..end));
            (self.ranks.get(at).copied().unwrap_or(u32::MAX), bytes.unwrap_or_default())
        })
    }
}

/// Read the lines of a file.
#[must_use]
pub fn rank_lines(data: &[u8]) -> Option<RankLines> {
    let mut found = RankLines::default();
    let n_lines = memchr::memchr_iter(b'\n', data).count() + 1;
    found.bytes.try_reserve_exact(data.len() / 4 * 3).ok()?;
    found.ends.try_reserve_exact(n_lines).ok()?;
    found.ranks.try_reserve_exact(n_lines).ok()?;
    let mut rest = data.strip_suffix(b"\n").unwrap_or(data);
    loop {
        rest = decode(rest, &mut found.bytes)?.strip_prefix(b" ")?;
        found.ends.push(u32::try_from(found.bytes.len()).ok()?);
        let n_digits = rest.iter().take(11).take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, behind) = rest.split_at_checked(n_digits)?;
        let rank = digits.iter().fold(0u64, |rank, &digit| rank * 10 + u64::from(digit - b'0'));
        found.ranks.push(u32::try_from(rank).ok().filter(|&rank| rank != u32::MAX)?);
        if n_digits == 0 || n_digits > 10 {
            return None;
        }
        if behind.is_empty() {
            return Some(found);
        }
        rest = behind.strip_prefix(b"\n")?;
    }
}

/// Decode base64 (RFC 4648, section 4) of at least one byte up to a space, and give what follows.
fn decode<'a>(text: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let mut rest = text;
    loop {
        let (&group, behind) = rest.split_first_chunk::<4>()?;
        rest = behind;
        if behind.first() == Some(&b' ') {
            // What stands in for the padding are digits of no bits.
            let (whole, n_bytes) = match group {
                [a, b, b'=', b'='] => ([a, b, b'A', b'A'], 1),
                [a, b, c, b'='] => ([a, b, c, b'A'], 2),
                whole => (whole, 3),
            };
            out.extend_from_slice(bytes_of(whole)?.get(..n_bytes)?);
            return Some(behind);
        }
        out.extend_from_slice(&bytes_of(group)?);
    }
}

fn bytes_of(group: [u8; 4]) -> Option<[u8; 3]> {
    let digits = group.map(|byte| DIGITS[usize::from(byte)]);
    let [a, b, c, d] = digits.map(u32::from);
    let [_, bytes @ ..] = (a << 18 | b << 12 | c << 6 | d).to_be_bytes();
    digits.iter().all(|&digit| digit < NO_DIGIT).then_some(bytes)
}

const NO_DIGIT: u8 = 64;

/// The six bits of each digit.
const DIGITS: [u8; 256] = {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut digits = [NO_DIGIT; 256];
    let mut at = 0;
    while at < alphabet.len() {
        digits[alphabet[at] as usize] = at as u8;
        at += 1;
    }
    digits
};

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
