//! Encode a long `str` part by part, without its whole UTF-8 in memory.
//!
//! Python makes the UTF-8 of a `str` that is not ASCII in one buffer and keeps it with the `str`:
//! for a long text the first touch of that memory costs as much as encoding it. The UTF-8 of a
//! part is made, used and given back while it is in the cache.

use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString};

use super::border::to_py_err;
use crate::error::Kind;
use crate::memory::ask_for_huge_pages;
use crate::parallel::Control;
use crate::tokenizer::{Policy, Tokenizer};

/// Characters from which on a text is worth the detour.
const LONG: usize = 1 << 20;

/// Characters whose UTF-8 is made at once: of few, many are all ASCII, which costs a copy alone.
const PART: usize = 1 << 11;

/// Bytes that are worth a call of the kernel.
const ENOUGH: usize = 1 << 16;

/// Bytes that may wait for a place to cut; a text without such places is encoded whole.
const MOST_WAITING: usize = 1 << 22;

/// The ids of a text; `None` when it has to be encoded whole, to be right or to fail right.
pub fn encode_in_parts(
    py: Python<'_>,
    kernel: &Tokenizer,
    text: &Bound<'_, PyString>,
    policy: &Policy,
) -> PyResult<Option<Vec<u32>>> {
    let n_characters = text.len()?;
    let is_forbidding = matches!(policy, Policy::Forbid);
    if n_characters < LONG || is_forbidding || text.call_method0("isascii")?.is_truthy()? {
        return Ok(None);
    }
    let control = Control::default();
    let (mut worker, mut ids) = (kernel.worker(), Vec::new());
    let (mut waiting, mut enough): (Vec<u8>, usize) = (Vec::new(), ENOUGH);
    if ids.try_reserve(n_characters / 4).is_err() {
        return Ok(None);
    }
    ask_for_huge_pages(&mut ids);
    for start in (0..n_characters).step_by(PART) {
        let end = (start + PART).min(n_characters);
        let part = text.get_item(PySlice::new(py, start as isize, end as isize, 1))?;
        let part = part.cast::<PyString>()?;
        let Ok(utf8) = part.to_str() else { return Ok(None) };
        if waiting.try_reserve(utf8.len()).is_err() {
            return Ok(None);
        }
        waiting.extend_from_slice(utf8.as_bytes());
        if waiting.len() < enough && end < n_characters {
            continue;
        }
        py.check_signals()?;
        let cut = if end == n_characters {
            Some(waiting.len())
        } else {
            kernel.safe_cut(&waiting, waiting.len())
        };
        let Some(front) = cut.and_then(|cut| waiting.get(..cut)) else {
            if waiting.len() > MOST_WAITING {
                return Ok(None);
            }
            // Looked through for each part, a text with few places to cut takes the square.
            enough = 2 * waiting.len();
            continue;
        };
        enough = ENOUGH;
        match py.detach(|| worker.encode(front, policy, &mut ids, &control)) {
            // Its place is that in the part; the whole gives the right one.
            Err(error) if error.kind == Kind::UnencodableText => return Ok(None),
            Err(error) => return Err(to_py_err(py, &error)),
            Ok(()) => {
                let n_bytes = front.len();
                waiting.drain(..n_bytes);
            }
        }
    }
    Ok(Some(ids))
}
