//! One field of a JSON object, without building the others.
//!
//! Source: RFC 8259; jsonlines.org (one value a line, UTF-8).

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess};
use serde::de::{Unexpected, Visitor};

use super::bad::append_lossy;
use crate::error::Result;

/// What a line held.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// The field's text was appended.
    Text,
    /// Nothing of use, and why.
    Bad(String),
}

/// Append the text of `field` of the object on `line` to `out`.
///
/// The last of several fields of the name counts, as in other readers. Nothing is appended for a
/// line that is bad.
///
/// # Errors
///
/// `Memory`.
pub fn append_field(line: &[u8], field: &str, out: &mut Vec<u8>) -> Result<Found> {
    // No text is longer than the line that spells it, so what follows does not allocate more.
    out.try_reserve(line.len())?;
    let start = out.len();
    let mut found = None;
    let outcome = read(line, Object { field, start, out, found: &mut found, is_strict: true });
    let why = match (outcome, found) {
        (Ok(()), Some(Value::Text)) => return Ok(Found::Text),
        (Ok(()), Some(Value::Other(kind))) => format!("{field:?} is {kind}, no text"),
        (Ok(()), None) => format!("no field {field:?}"),
        (Err(error), _) => match std::str::from_utf8(line) {
            Err(error) => format!("not UTF-8 at its byte {}", error.valid_up_to()),
            Ok(_) => broken(&error),
        },
    };
    out.truncate(start);
    Ok(Found::Bad(why))
}

/// As [`append_field`], with U+FFFD for what is no UTF-8 and for lone surrogates.
///
/// # Errors
///
/// `Memory`.
pub fn append_field_lossy(line: &[u8], field: &str, out: &mut Vec<u8>) -> Result<Found> {
    let (mut mended, mut text) = (Vec::new(), Vec::new());
    append_lossy(line, &mut mended)?;
    text.try_reserve(mended.len())?;
    let mut found = None;
    let object = Object { field, start: 0, out: &mut text, found: &mut found, is_strict: false };
    match (read(&mended, object), found) {
        (Ok(()), Some(Value::Text)) => {}
        _ => return append_field(line, field, out),
    }
    append_lossy(&text, out)?;
    Ok(Found::Text)
}

fn read(line: &[u8], object: Object<'_>) -> serde_json::Result<()> {
    let mut reader = serde_json::Deserializer::from_slice(line);
    reader.deserialize_map(object)?;
    reader.end()
}

fn broken(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let what = message.split(" at line ").next().unwrap_or_default();
    format!("no JSON object at its byte {}: {what}", error.column())
}

enum Value {
    Text,
    Other(&'static str),
}

struct Object<'a> {
    field: &'a str,
    start: usize,
    out: &'a mut Vec<u8>,
    found: &'a mut Option<Value>,
    is_strict: bool,
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(is_wanted) = map.next_key_seed(KeyIs(self.field))? {
            if is_wanted {
                self.out.truncate(self.start);
                let text = Text { out: self.out, is_strict: self.is_strict };
                *self.found = Some(map.next_value_seed(text)?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct KeyIs<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for KeyIs<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> std::result::Result<bool, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyIs<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> std::result::Result<bool, E> {
        Ok(name == self.0)
    }
}

struct Text<'a> {
    out: &'a mut Vec<u8>,
    is_strict: bool,
}

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> std::result::Result<Value, D::Error> {
        if self.is_strict { reader.deserialize_any(self) } else { reader.deserialize_bytes(self) }
    }
}

impl<'de> Visitor<'de> for Text<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Value, E> {
        self.out.extend_from_slice(text.as_bytes());
        Ok(Value::Text)
    }

    fn visit_bytes<E>(self, text: &[u8]) -> std::result::Result<Value, E> {
        self.out.extend_from_slice(text);
        Ok(Value::Text)
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Other("null"))
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<Value, E> {
        Ok(Value::Other("a boolean"))
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<Value, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<Value, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<Value, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Value, A::Error> {
        if !self.is_strict {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Other("an array"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Other("an object"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(line: &str) -> std::result::Result<String, String> {
        let mut out = b"before ".to_vec();
        match append_field(line.as_bytes(), "text", &mut out).unwrap() {
            Found::Text => Ok(String::from_utf8(out.split_off(7)).unwrap()),
            Found::Bad(why) => {
                assert_eq!(out, b"before ");
                Err(why)
            }
        }
    }

    #[test]
    fn the_field_is_found_among_others() {
        assert_eq!(field(r#"{"id":[1,{"text":"no"}],"text":"yes","z":null}"#).unwrap(), "yes");
        assert_eq!(field(r#" {"text" : "a\n\u00e9\ud83d\ude00\"" } "#).unwrap(), "a\né😀\"");
        assert_eq!(field(r#"{"t\u0065xt":"escaped name"}"#).unwrap(), "escaped name");
        assert_eq!(field(r#"{"text":"first","text":"last"}"#).unwrap(), "last");
        assert_eq!(field(r#"{"text":1,"text":""}"#).unwrap(), "");
    }

    #[test]
    fn bad_lines_say_why() {
        assert_eq!(field(r#"{"a":1}"#).unwrap_err(), "no field \"text\"");
        assert_eq!(field(r#"{"text":null}"#).unwrap_err(), "\"text\" is null, no text");
        assert_eq!(field(r#"{"text":{"a":1}}"#).unwrap_err(), "\"text\" is an object, no text");
        assert_eq!(field(r#"{"text":[1]}"#).unwrap_err(), "\"text\" is an array, no text");
        for line in [r#"{"text":"a""#, r#"{"text":"a"} x"#, "[1]", "\"text\"", "{", "nul"] {
            assert!(field(line).unwrap_err().contains("no JSON object at its byte"), "{line}");
        }
        assert!(field(r#"{"text":"\ud800"}"#).is_err());
        assert!(field(&format!("{{\"a\":{}", "[".repeat(1 << 20))).is_err());
    }

    #[test]
    fn what_is_no_utf8_can_be_mended() {
        let mut out = Vec::new();
        let line = b"{\"text\":\"a\xff \\ud800b\"}";
        assert_eq!(
            append_field(line, "text", &mut out).unwrap(),
            Found::Bad("not UTF-8 at its byte 10".to_owned())
        );
        assert_eq!(append_field_lossy(line, "text", &mut out).unwrap(), Found::Text);
        assert_eq!(String::from_utf8(out).unwrap(), "a\u{fffd} \u{fffd}b");
    }
}
