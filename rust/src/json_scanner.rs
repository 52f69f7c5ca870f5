//! Read JSON from left to right, without a value for each part.
//!
//! Whatever is no JSON, or out of the ordinary, gives `None`.

use std::borrow::Cow;

/// Reads JSON from left to right.
pub struct Scanner<'a> {
    /// What is read.
    pub text: &'a str,
    /// Where the next byte stands.
    pub at: usize,
}

impl<'a> Scanner<'a> {
    /// Pass over white space.
    pub fn space(&mut self) {
        while matches!(self.text.as_bytes().get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The byte that comes next, behind white space.
    pub fn peek(&mut self) -> Option<u8> {
        self.space();
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Call `field` before each value of an object, with its key as it is written.
    pub fn fields(
        &mut self,
        mut field: impl FnMut(&mut Self, &'a str) -> Option<()>,
    ) -> Option<()> {
        self.list(b'{', b'}', |json| {
            let key = json.string()?;
            let Cow::Borrowed(key) = key else { return None };
            json.eat(b':')?;
            json.space();
            field(json, key)
        })
    }

    /// Call `item` before each value of an array.
    pub fn items(&mut self, item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.list(b'[', b']', item)
    }

    /// Call `entry` with each key of an object, all of whose values are ids.
    pub fn entries(&mut self, mut entry: impl FnMut(Cow<'a, str>, u32)) -> Option<()> {
        self.list(b'{', b'}', |json| {
            let key = json.string()?;
            json.eat(b':')?;
            json.space();
            let id = json.id()?;
            entry(key, id);
            Some(())
        })
    }

    fn list(
        &mut self,
        open: u8,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.eat(open)?;
        if self.peek()? == close {
            return self.eat(close);
        }
        loop {
            item(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                byte if byte == close => return self.eat(close),
                _ => return None,
            }
        }
    }

    /// Read a whole number of 32 bits.
    pub fn id(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..)?;
        let n = digits.bytes().take_while(u8::is_ascii_digit).count();
        let digits = digits.get(..n)?;
        if n > 10 || (n > 1 && digits.starts_with('0')) {
            return None;
        }
        self.at += n;
        digits.parse().ok()
    }

    /// Read `true` or `false`.
    pub fn boolean(&mut self) -> Option<bool> {
        let rest = self.text.get(self.at..)?;
        let (value, word) =
            if rest.starts_with("true") { (true, "true") } else { (false, "false") };
        self.at += rest.starts_with(word).then_some(word.len())?;
        Some(value)
    }

    /// Read a string.
    pub fn string(&mut self) -> Option<Cow<'a, str>> {
        self.eat(b'"')?;
        let start = self.at;
        let bytes = self.text.as_bytes();
        loop {
            match *bytes.get(self.at)? {
                b'"' => break,
                b'\\' => return self.escaped(start),
                0..=0x1F => return None,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(Cow::Borrowed(self.text.get(start..self.at - 1)?))
    }

    /// The rest of a string in which the first escape stands at the present place.
    fn escaped(&mut self, start: usize) -> Option<Cow<'a, str>> {
        let mut out = self.text.get(start..self.at)?.to_owned();
        loop {
            let rest = self.text.get(self.at..)?;
            let next = rest.chars().next()?;
            self.at += next.len_utf8();
            match next {
                '"' => return Some(Cow::Owned(out)),
                '\\' => out.push(self.escape()?),
                '\0'..='\x1F' => return None,
                other => out.push(other),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let byte = *self.text.as_bytes().get(self.at)?;
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => byte as char,
            b'b' => '\x08',
            b'f' => '\x0C',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.unit()?;
                if !(0xD800..0xDC00).contains(&first) {
                    return char::from_u32(first);
                }
                if self.text.get(self.at..self.at + 2)? != "\\u" {
                    return None;
                }
                self.at += 2;
                let second = self.unit()?.checked_sub(0xDC00).filter(|&low| low < 0x400)?;
                return char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + second);
            }
            _ => return None,
        })
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(digits, 16).ok())?
    }

    /// Pass over a value; what is inside is not looked at.
    pub fn skip(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'"' => self.skip_string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' if depth > 0 => self.at += 1,
                b',' | b':' => return None,
                _ => {
                    let bytes = self.text.as_bytes().get(self.at..)?;
                    let is_over = |byte: &u8| b" \t\r\n,:{}[]\"".contains(byte);
                    self.at += bytes.iter().position(is_over).unwrap_or(bytes.len());
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            let found = memchr::memchr2(b'"', b'\\', rest)?;
            self.at += found + 1;
            if rest.get(found) == Some(&b'"') {
                return Some(());
            }
            self.at += 1;
        }
    }
}
