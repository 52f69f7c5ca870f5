//! The large tables of a `tokenizer.json`, its vocabulary, merges and added tokens, read without a
//! value for each entry.
//!
//! Whatever is out of the ordinary gives `None`: the whole file is then left to a JSON parser,
//! which names what is wrong.

use std::borrow::Cow;
use std::ops::Range;

use crate::bpe::spelt::SpeltVocabulary;
use crate::json_scanner::Scanner;

/// Tokens and their ids, in the order of the file.
pub type Entries<'a> = Vec<(Cow<'a, str>, u32)>;

/// Where the tables stand, and the file without them.
#[derive(Debug, PartialEq, Eq)]
pub struct Tables {
    /// The file, with an empty vocabulary, empty merges and, where they were read, no added tokens.
    pub rest: Vec<u8>,
    /// The added tokens, where all have all fields of one and no others.
    pub added: Option<Vec<Added>>,
    vocab: Range<usize>,
    merges: Option<Range<usize>>,
}

/// The names of an added token's flags.
const FLAGS: [&str; 5] = ["special", "normalized", "lstrip", "rstrip", "single_word"];

/// An added token.
#[derive(Debug, PartialEq, Eq)]
pub struct Added {
    /// Its text.
    pub content: String,
    /// Its id, as the file gives it.
    pub id: u32,
    /// A bit for each of `FLAGS` that is true.
    pub flags: u8,
}

impl Tables {
    /// Find `model.vocab` and `model.merges` in a file, and read its added tokens.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
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
        let vocab: Range<usize> = vocab?;
        let found = added.clone().and_then(|range| read_added(text, &range));
        let added = added.filter(|_| found.is_some());
        let empty = [(Some(vocab.clone()), "{}"), (merges.clone(), "[]"), (added, "[]")];
        Some(Self { rest: without(text, empty)?, added: found, vocab, merges })
    }

    /// Whether the model has merges.
    #[must_use]
    pub fn has_merges(&self) -> bool {
        self.merges.is_some()
    }

    /// The vocabulary.
    #[must_use]
    pub fn entries<'a>(&self, text: &'a str) -> Option<Entries<'a>> {
        let mut entries = Vec::new();
        let mut json = Scanner { text: text.get(..self.vocab.end)?, at: self.vocab.start };
        json.entries(|token, id| entries.push((token, id)))?;
        Some(entries)
    }

    /// The ids of the pairs that merge; none for a model without merges.
    #[must_use]
    pub fn pairs(&self, text: &str, vocabulary: &SpeltVocabulary) -> Option<Vec<(u32, u32)>> {
        let mut pairs = Vec::new();
        let Some(range) = &self.merges else { return Some(pairs) };
        let mut json = Scanner { text: text.get(..range.end)?, at: range.start };
        let mut buffer = Vec::new();
        json.items(|json| {
            let mut id = |token: &str| vocabulary.id_of(token, &mut buffer);
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
}

fn read_added(text: &str, range: &Range<usize>) -> Option<Vec<Added>> {
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
        found.push(Added { content: content?.into_owned(), id: id?, flags: bits });
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<(u32, u32)>> {
        let found = Tables::find(text)?;
        let entries = found.entries(text)?;
        found.pairs(text, &SpeltVocabulary::new(&entries).ok()?)
    }

    #[test]
    fn tables_are_cut_out() {
        let text = r#"{"a": [1, {"model": 2}], "model": {"vocab": {"x": 3, "\u00e9\ud83d\ude42": 0},
            "merges": ["x x", ["x", "x"]], "z": "\\\""}}"#;
        let found = Tables::find(text).expect("tables");
        let rest = r#"{"a": [1, {"model": 2}], "model": {"vocab": {},
            "merges": [], "z": "\\\""}}"#;
        assert_eq!(String::from_utf8_lossy(&found.rest), rest);
        let entries = found.entries(text).expect("entries");
        assert_eq!(entries, [("x".into(), 3), ("é🙂".into(), 0)]);
        let vocabulary = SpeltVocabulary::new(&entries).expect("a vocabulary");
        assert_eq!(found.pairs(text, &vocabulary), Some(vec![(3, 3), (3, 3)]));
    }

    #[test]
    fn added_tokens_are_cut_out_where_all_are_whole() {
        let entry = r#"{"id": 7, "content": "<\u00e9>", "single_word": false, "lstrip": true,
            "rstrip": false, "normalized": false, "special": true}"#;
        let file = |added: &str| {
            format!(r#"{{"added_tokens": {added}, "model": {{"vocab": {{"x": 3}}}}}}"#)
        };
        let text = file(&format!("[{entry}]"));
        let found = Tables::find(&text).expect("tables");
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
            let found = Tables::find(&text).expect("tables");
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
            assert!(read(text).is_none(), "{text}");
        }
    }
}
