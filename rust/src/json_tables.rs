//! The large tables of a `tokenizer.json`, its vocabulary, merges and added tokens, read without a
//! value for each entry.
//!
//! Whatever is out of the ordinary gives `None`: the whole file is then left to a JSON parser,
//! which names what is wrong.

use std::borrow::Cow;
use std::ops::Range;

use hashbrown::HashMap;

/// The tables, and the file without them.
#[derive(Debug, PartialEq, Eq)]
pub struct Tables<'a> {
    /// The file, with an empty vocabulary, empty merges and, where they were read, no added tokens.
    pub rest: Vec<u8>,
    /// The tokens, in the order of the file.
    pub tokens: Vec<Cow<'a, str>>,
    /// The id of each.
    pub ids: Vec<u32>,
    /// The ids of the pairs that merge, where the model has merges.
    pub merges: Option<Vec<(u32, u32)>>,
    /// The added tokens, where all have all fields of one and no others.
    pub added: Option<Vec<Added<'a>>>,
}

/// The names of an added token's flags.
const FLAGS: [&str; 5] = ["special", "normalized", "lstrip", "rstrip", "single_word"];

/// An added token.
#[derive(Debug, PartialEq, Eq)]
pub struct Added<'a> {
    /// Its text.
    pub content: Cow<'a, str>,
    /// Its id, as the file gives it.
    pub id: u32,
    /// A bit for each of `FLAGS` that is true.
    pub flags: u8,
}

/// Read `model.vocab` and `model.merges` of a file.
#[must_use]
pub fn tables(text: &str) -> Option<Tables<'_>> {
    let mut json = Scanner { text, at: 0 };
    let (mut vocab, mut merges, mut added) = (None, None, None);
    json.fields(|json, key| {
        if key != "model" {
            let start = json.at;
            json.skip()?;
            if key == "added_tokens" && added.replace(start..json.at).is_some() {
                return None;
            }
            return Some(());
        }
        if vocab.is_some() || merges.is_some() {
            return None;
        }
        json.fields(|json, key| {
            let start = json.at;
            json.skip()?;
            let place = match key {
                "vocab" => &mut vocab,
                "merges" => &mut merges,
                _ => return Some(()),
            };
            place.replace(start..json.at).is_none().then_some(())
        })
    })?;
    json.space();
    if json.at != text.len() {
        return None;
    }
    let vocab = vocab?;
    let (mut tokens, mut ids) = (Vec::new(), Vec::new());
    let mut at = Scanner { text: text.get(..vocab.end)?, at: vocab.start };
    at.entries(|token, id| {
        tokens.push(token);
        ids.push(id);
    })?;
    let pairs = match &merges {
        None => None,
        Some(range) => Some(read_merges(text, range, &tokens, &ids)?),
    };
    let found = added.clone().and_then(|range| read_added(text, &range));
    let empty = [(Some(vocab), "{}"), (merges, "[]"), (added.filter(|_| found.is_some()), "[]")];
    Some(Tables { rest: without(text, empty)?, tokens, ids, merges: pairs, added: found })
}

fn read_added<'a>(text: &'a str, range: &Range<usize>) -> Option<Vec<Added<'a>>> {
    let mut found = Vec::new();
    let mut json = Scanner { text: text.get(..range.end)?, at: range.start };
    json.items(|json| {
        let (mut content, mut id, mut flags, mut n_fields) = (None, None, [None; FLAGS.len()], 0);
        json.fields(|json, key| {
            n_fields += 1;
            match key {
                "content" => content = Some(json.string()?),
                "id" => id = Some(json.id()?),
                _ => {
                    let at = FLAGS.iter().position(|&name| name == key)?;
                    *flags.get_mut(at)? = Some(json.boolean()?);
                }
            }
            Some(())
        })?;
        // As many fields as there are names, and each name among them: none stands twice.
        if n_fields != 2 + FLAGS.len() {
            return None;
        }
        let mut bits = 0u8;
        for (at, flag) in flags.into_iter().enumerate() {
            bits |= u8::from(flag?) << at;
        }
        found.push(Added { content: content?, id: id?, flags: bits });
        Some(())
    })?;
    Some(found)
}

/// The text with other contents in some ranges.
fn without(text: &str, parts: [(Option<Range<usize>>, &str); 3]) -> Option<Vec<u8>> {
    let mut parts: Vec<_> =
        parts.into_iter().filter_map(|(range, with)| Some((range?, with))).collect();
    parts.sort_by_key(|(range, _)| range.start);
    let (mut rest, mut at) = (Vec::new(), 0);
    for (range, with) in parts {
        rest.extend_from_slice(text.get(at..range.start)?.as_bytes());
        rest.extend_from_slice(with.as_bytes());
        at = range.end;
    }
    rest.extend_from_slice(text.get(at..)?.as_bytes());
    Some(rest)
}

fn read_merges(
    text: &str,
    range: &Range<usize>,
    tokens: &[Cow<'_, str>],
    ids: &[u32],
) -> Option<Vec<(u32, u32)>> {
    let by_token: HashMap<&str, u32> =
        tokens.iter().map(AsRef::as_ref).zip(ids.iter().copied()).collect();
    let mut pairs = Vec::new();
    let mut json = Scanner { text: text.get(..range.end)?, at: range.start };
    json.items(|json| {
        let id = |token: &str| by_token.get(token).copied();
        let pair = if json.peek()? == b'"' {
            let merge = json.string()?;
            let (left, right) = merge.split_once(' ')?;
            (id(left)?, id(right)?)
        } else {
            let (mut found, mut n_found) = ([0; 2], 0);
            json.items(|json| {
                *found.get_mut(n_found)? = id(&json.string()?)?;
                n_found += 1;
                Some(())
            })?;
            if n_found != 2 {
                return None;
            }
            (found[0], found[1])
        };
        pairs.push(pair);
        Some(())
    })?;
    Some(pairs)
}

/// Reads JSON from left to right.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn space(&mut self) {
        while matches!(self.text.as_bytes().get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Call `field` before each value of an object, with its key as it is written.
    fn fields(&mut self, mut field: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.list(b'{', b'}', |json| {
            let key = json.string()?;
            let Cow::Borrowed(key) = key else { return None };
            json.eat(b':')?;
            json.space();
            field(json, key)
        })
    }

    /// Call `item` before each value of an array.
    fn items(&mut self, item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.list(b'[', b']', item)
    }

    /// Call `entry` with each key of an object, all of whose values are ids.
    fn entries(&mut self, mut entry: impl FnMut(Cow<'a, str>, u32)) -> Option<()> {
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

    fn id(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..)?;
        let n = digits.bytes().take_while(u8::is_ascii_digit).count();
        let digits = digits.get(..n)?;
        if n > 10 || (n > 1 && digits.starts_with('0')) {
            return None;
        }
        self.at += n;
        digits.parse().ok()
    }

    fn boolean(&mut self) -> Option<bool> {
        let rest = self.text.get(self.at..)?;
        let (value, word) =
            if rest.starts_with("true") { (true, "true") } else { (false, "false") };
        self.at += rest.starts_with(word).then_some(word.len())?;
        Some(value)
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
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
    fn skip(&mut self) -> Option<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_cut_out() {
        let text = r#"{"a": [1, {"model": 2}], "model": {"vocab": {"x": 3, "\u00e9\ud83d\ude42": 0},
            "merges": ["x x", ["x", "x"]], "z": "\\\""}}"#;
        let found = tables(text).expect("tables");
        let rest = r#"{"a": [1, {"model": 2}], "model": {"vocab": {},
            "merges": [], "z": "\\\""}}"#;
        assert_eq!(String::from_utf8_lossy(&found.rest), rest);
        assert_eq!(found.tokens, ["x", "é🙂"]);
        assert_eq!(found.ids, [3, 0]);
        assert_eq!(found.merges, Some(vec![(3, 3), (3, 3)]));
    }

    #[test]
    fn added_tokens_are_cut_out_where_all_are_whole() {
        let entry = r#"{"id": 7, "content": "<\u00e9>", "single_word": false, "lstrip": true,
            "rstrip": false, "normalized": false, "special": true}"#;
        let file = |added: &str| {
            format!(r#"{{"added_tokens": {added}, "model": {{"vocab": {{"x": 3}}}}}}"#)
        };
        let text = file(&format!("[{entry}]"));
        let found = tables(&text).expect("tables");
        assert_eq!(
            String::from_utf8_lossy(&found.rest),
            r#"{"added_tokens": [], "model": {"vocab": {}}}"#
        );
        assert_eq!(found.added, Some(vec![Added { content: "<é>".into(), id: 7, flags: 0b101 }]));
        for (old, new) in [
            ("\"id\": 7", "\"id\": -7"),
            ("\"id\": 7,", ""),
            ("\"id\"", "\"special\""),
            ("true", "null"),
            ("\"lstrip\"", "\"strip\""),
            ("\"<", "\"\\ud800<"),
        ] {
            assert!(entry.contains(old), "{old}");
            let text = file(&format!("[{}]", entry.replacen(old, new, 1)));
            let found = tables(&text).expect("tables");
            assert_eq!(found.added, None, "{new}");
            assert!(String::from_utf8_lossy(&found.rest).contains("single_word"));
        }
    }

    #[test]
    fn what_is_out_of_the_ordinary_is_left() {
        for text in [
            "",
            "{",
            "[]",
            r#"{"model": {}}"#,
            r#"{"model": {"vocab": []}}"#,
            r#"{"model": {"vocab": {"a": -1}}}"#,
            r#"{"model": {"vocab": {"a": 01}}}"#,
            r#"{"model": {"vocab": {"a": 1.0}}}"#,
            r#"{"model": {"vocab": {"a": 4294967296}}}"#,
            r#"{"model": {"vocab": {"a": 1,}}}"#,
            r#"{"model": {"vocab": {"\ud800": 1}}}"#,
            r#"{"model": {"vocab": {"a": 1}, "vocab": {}}}"#,
            r#"{"model": {"vocab": {"a": 1}}, "model": {"vocab": {}}}"#,
            r#"{"model": {"vocab": {"a": 1}, "merges": ["a"]}}"#,
            r#"{"model": {"vocab": {"a": 1}, "merges": [["a", "b"]]}}"#,
            r#"{"model": {"vocab": {"a": 1}, "merges": [["a"]]}}"#,
            r#"{"model": {"vocab": {"a": 1}}} x"#,
            r#"{"added_tokens": [], "added_tokens": [], "model": {"vocab": {"a": 1}}}"#,
            r#"{"mod\u0065l": {"vocab": {"a": 1}}}"#,
        ] {
            assert_eq!(tables(text), None, "{text}");
        }
    }
}
