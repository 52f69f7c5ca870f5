//! Unicode classes, as the pinned `regex-syntax` defines them: one table for kernels and twins.

use regex_syntax::hir::{Class, HirKind};

use crate::error::{Error, Kind, Result};

/// Code point ranges, both ends included, of a class expression such as `\p{L}` or `[\s\d]`.
///
/// # Errors
///
/// `Pattern` when the expression is not one character class.
pub fn class_ranges(expression: &str) -> Result<Vec<(u32, u32)>> {
    let refuse = |detail: String| {
        Error::new(Kind::Pattern, format!("{expression:?} is not a character class{detail}"))
    };
    let hir = regex_syntax::parse(expression).map_err(|error| refuse(format!(": {error}")))?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Ok(class.ranges().iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect())
        }
        HirKind::Class(Class::Bytes(class)) => {
            Ok(class.ranges().iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect())
        }
        _ => Err(refuse(String::new())),
    }
}
