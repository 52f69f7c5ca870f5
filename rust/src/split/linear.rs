//! Rewrite a pattern so that an engine without look-around and possessive quantifiers runs it.
//!
//! Two rewritings keep the language of a top-level alternative exactly:
//! `\s+(?!\S)` matches a whitespace run up to the end of the text, or all but its last
//! character: the same as `\s+$`, or `\s+\s` less its last character. And a possessive
//! quantifier at the end of an alternative never has anything to give back.

/// One alternative in the order of the pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternative {
    /// A regular expression.
    pub expression: String,
    /// Whether the last character of a match is not part of the pre-token.
    pub drop_last: bool,
}

/// Alternatives without possessive quantifiers whose classes exclude what follows them, as the
/// patterns of tiktoken 0.14.0 write them, and what they equal.
const POSSESSIVE: [(&str, &str); 3] = [
    (r"[^\r\n\p{L}\p{N}]?+\p{L}++", r"[^\r\n\p{L}\p{N}]?\p{L}+"),
    (r" ?[^\s\p{L}\p{N}]++[\r\n]*+", r" ?[^\s\p{L}\p{N}]+[\r\n]*"),
    (r" ?[^\s\p{L}\p{N}]++[\r\n]*", r" ?[^\s\p{L}\p{N}]+[\r\n]*"),
];

/// The alternatives of `pattern` as a linear engine can run them, if the rewritings suffice.
#[must_use]
pub fn alternatives(pattern: &str) -> Option<Vec<Alternative>> {
    let keep = |expression: &str| Alternative { expression: expression.into(), drop_last: false };
    let mut rewritten = Vec::new();
    for part in top_level_parts(pattern)? {
        if part == r"\s+(?!\S)" {
            rewritten.push(keep(r"\s+$"));
            rewritten.push(Alternative { expression: r"\s+\s".into(), drop_last: true });
        } else if let Some((_, equal)) = POSSESSIVE.iter().find(|(text, _)| *text == part) {
            rewritten.push(keep(equal));
        } else {
            let greedy = without_final_possessive(part);
            if has_possessive(greedy) {
                return None;
            }
            rewritten.push(keep(greedy));
        }
    }
    Some(rewritten)
}

/// The parts between the `|` that stand outside every group and class; `None` when a flag such
/// as `(?i)` reaches over them.
fn top_level_parts(pattern: &str) -> Option<Vec<&str>> {
    let bytes = pattern.as_bytes();
    let (mut parts, mut begin, mut group_depth, mut class_depth) = (Vec::new(), 0, 0usize, 0usize);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => class_depth += 1,
            b']' => class_depth = class_depth.saturating_sub(1),
            _ if class_depth > 0 => {}
            b'(' => {
                if group_depth == 0 && sets_flags(bytes.get(at..)?) {
                    return None;
                }
                group_depth += 1;
            }
            b')' => group_depth = group_depth.saturating_sub(1),
            b'|' if group_depth == 0 => {
                parts.push(pattern.get(begin..at)?);
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(pattern.get(begin..)?);
    Some(parts)
}

/// Whether a group that starts here is `(?flags)`.
fn sets_flags(group: &[u8]) -> bool {
    let Some(rest) = group.strip_prefix(b"(?") else { return false };
    let flags = rest.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'-').count();
    flags > 0 && rest.get(flags) == Some(&b')')
}

fn without_final_possessive(part: &str) -> &str {
    let Some(greedy) = part.strip_suffix('+') else { return part };
    if ends_with_quantifier(greedy) { greedy } else { part }
}

/// Whether a quantifier is followed by `+`, which the linear engine would read as a repeat of
/// the repeat.
#[must_use]
pub fn has_possessive(pattern: &str) -> bool {
    signs(pattern)
        .filter(|&(_, c)| c == '+')
        .any(|(at, _)| pattern.get(..at).is_some_and(ends_with_quantifier))
}

/// The characters that are neither escaped nor in a class, with their places.
fn signs(pattern: &str) -> impl Iterator<Item = (usize, char)> {
    let mut class_depth = 0usize;
    let mut escaped = false;
    pattern.char_indices().filter(move |&(_, c)| {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class_depth += 1,
            ']' => class_depth = class_depth.saturating_sub(1),
            _ => return class_depth == 0,
        }
        false
    })
}

fn ends_with_quantifier(part: &str) -> bool {
    if let Some(counted) = part.strip_suffix('}') {
        // `{2,3}` repeats; `\p{L}` is a class, `\x{12}` a character and `\{2}` text.
        let digits = counted.trim_end_matches(|c: char| c.is_ascii_digit() || c == ',');
        let Some(before) = digits.strip_suffix('{').filter(|_| digits.len() < counted.len()) else {
            return false;
        };
        let escaped = before.trim_end_matches(['x', 'u', 'U']);
        let is_code = before.len() - escaped.len() == 1 && is_odd_escape(escaped);
        return !is_code && !is_odd_escape(before);
    }
    let Some(before) = part.strip_suffix(['+', '*', '?']) else { return false };
    !is_odd_escape(before)
}

/// Whether the character behind `part` is escaped.
fn is_odd_escape(part: &str) -> bool {
    part.bytes().rev().take_while(|&b| b == b'\\').count() % 2 == 1
}

/// A counted repeat outside of a class whose most is below its least, such as `{3,2}`.
#[must_use]
pub fn inverted_repeat(pattern: &str) -> Option<&str> {
    signs(pattern).filter(|&(_, c)| c == '{').find_map(|(at, _)| {
        let (counts, _) = pattern.get(at + 1..)?.split_once('}')?;
        let (least, most) = counts.split_once(',')?;
        let (Ok(least), Ok(most)) = (least.parse::<u64>(), most.parse::<u64>()) else {
            return None;
        };
        if least > most { pattern.get(at..at + counts.len() + 2) } else { None }
    })
}

/// A name that two groups of the pattern have.
#[must_use]
pub fn repeated_name(pattern: &str) -> Option<&str> {
    let mut names: Vec<&str> = Vec::new();
    signs(pattern).filter(|&(_, c)| c == '(').find_map(|(at, _)| {
        let name = pattern.get(at..).and_then(group_name)?;
        if names.contains(&name) {
            return Some(name);
        }
        names.push(name);
        None
    })
}

/// The name in `(?<name>` or `(?P<name>`; `(?<=` and `(?<!` look behind.
fn group_name(group: &str) -> Option<&str> {
    let named = group.strip_prefix("(?P<").or_else(|| group.strip_prefix("(?<"))?;
    let (name, _) = named.split_once('>')?;
    Some(name).filter(|name| !name.starts_with(['=', '!']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_are_seen() {
        assert_eq!(repeated_name("(?<a>x)(?P<b>y)|(?P<a>z)"), Some("a"));
        for pattern in ["(?<=a)x(?<=a)y", "(?<a>x)(?<b>x)", r"(?<a>x)\(?<a>", "(?<a>x)[(?<a>]"] {
            assert_eq!(repeated_name(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn only_top_level_bars_part_alternatives() {
        assert_eq!(
            top_level_parts(r"a|(b|c)|[|]|\||d"),
            Some(vec!["a", "(b|c)", "[|]", r"\|", "d"])
        );
        assert_eq!(top_level_parts("(?i)a|b"), None);
        assert_eq!(top_level_parts("(?i:a)|b"), Some(vec!["(?i:a)", "b"]));
    }

    #[test]
    fn possessive_quantifiers_are_seen() {
        for pattern in
            ["a++b", "a?+b", "a{2,3}+b", r"\\++", "(a++)b", "x{12}+", r"\\x{12}+", r"xx{1}+"]
        {
            assert!(has_possessive(pattern), "{pattern}");
        }
        for pattern in
            ["a+b", r"\++b", "[+*]+", r"\p{L}+", "a+?", r"[^\]+]+x", r"\x{12}+", r"\{2}+"]
        {
            assert!(!has_possessive(pattern), "{pattern}");
        }
    }

    #[test]
    fn inverted_repeats_are_seen() {
        assert_eq!(inverted_repeat("(?=b)a{3,2}"), Some("{3,2}"));
        for pattern in ["a{2,3}", "a{2,}", "a{2}", r"a\{3,2}", "[{3,2}]", "{", "a{3,2"] {
            assert_eq!(inverted_repeat(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn possessive_quantifiers_go_only_at_the_end() {
        assert_eq!(without_final_possessive("a++"), "a+");
        assert_eq!(without_final_possessive(r"\++"), r"\++");
        assert_eq!(without_final_possessive(r"\\++"), r"\\+");
        assert_eq!(without_final_possessive(r"\p{N}{1,3}+"), r"\p{N}{1,3}");
        assert_eq!(without_final_possessive("a+"), "a+");
        assert_eq!(without_final_possessive(r"\p{L}+"), r"\p{L}+");
    }
}
