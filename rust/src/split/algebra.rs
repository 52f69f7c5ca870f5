//! Run a pattern's boundary algebra over the blocks of a text.

use super::masks::{BLOCK, Classify, Masks, Portable, Spill, masks_at};
use crate::error::Result;

/// Three neighbouring blocks: the algebra answers for the middle one.
#[derive(Debug)]
pub struct Window<'a> {
    /// Byte offset of the middle block.
    pub start: usize,
    /// The block before; at the start of the text all zero.
    pub before: &'a Masks,
    /// The middle block.
    pub here: &'a Masks,
    /// The block after; past the end of the text all zero.
    pub after: &'a Masks,
}

impl Window<'_> {
    /// Whether byte `at` of the middle block, which may lie in the one after, is of `class`.
    #[inline]
    #[must_use]
    pub fn has(&self, at: usize, class: impl Fn(&Masks) -> u64) -> bool {
        if at < BLOCK {
            class(self.here) >> at & 1 == 1
        } else {
            class(self.after) >> (at - BLOCK) & 1 == 1
        }
    }
}

/// A pattern as a function from class masks to the mask of pre-token starts.
pub trait Algebra: Default {
    /// The classes it reads, bits of `classes::bit`.
    const NEEDS: u16;

    /// Starts in the middle block of `window`; bit 0 of the first block need not be set.
    fn starts(&mut self, text: &[u8], window: &Window<'_>) -> u64;
}

/// The first byte of the last character of each run of `class` that other text follows.
#[inline(always)]
pub fn last_of_runs(window: &Window<'_>, class: impl Fn(&Masks) -> u64) -> u64 {
    let (here, after) = (window.here, window.after);
    let (inside, inside_after) = (class(here), class(after));
    // Characters outside the run that stand right after it; the last one's lead is before.
    let mut last = (here.lead & !inside & inside << 1) >> 1;
    let mut leads = 0;
    while last != 0 {
        leads |= last & here.lead;
        last = (last & !here.lead) >> 1;
    }
    // The first character of the next block answers for the last one of this block.
    let next = after.lead.trailing_zeros();
    if next < 4 && inside_after >> next & 1 == 0 {
        leads |= inside & (1u64 << 63 >> (here.lead | 1).leading_zeros()) & here.lead;
    }
    leads
}

/// Ends of pre-tokens that are handed on together.
const BATCH: usize = 1024;

/// Give the ends of the pre-tokens of `text` to `sink`, in order, some at a time.
///
/// # Errors
///
/// Those of `sink`.
pub fn split_by<A: Algebra>(
    text: &[u8],
    sink: &mut dyn FnMut(&[usize]) -> Result<()>,
) -> Result<()> {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the CPU was just asked for these features.
        return unsafe { split_avx2::<A>(text, sink) };
    }
    split::<A, Portable>(text, sink)
}

/// Whether the CPU has what `split_avx2` is compiled for, and the environment variable
/// `SUBWORD_PORTABLE` does not ask for the code of every CPU. Asked once in a process.
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    static HAS_AVX2: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *HAS_AVX2.get_or_init(|| {
        std::env::var_os("SUBWORD_PORTABLE").is_none_or(|value| value.is_empty())
            && std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("lzcnt")
            && std::arch::is_x86_feature_detected!("popcnt")
    })
}

/// `split` compiled for AVX2.
///
/// # Safety
///
/// `has_avx2()` is true.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn split_avx2<A: Algebra>(
    text: &[u8],
    sink: &mut dyn FnMut(&[usize]) -> Result<()>,
) -> Result<()> {
    split::<A, super::masks::Avx2>(text, sink)
}

#[inline(always)]
fn split<A: Algebra, C: Classify>(
    text: &[u8],
    sink: &mut dyn FnMut(&[usize]) -> Result<()>,
) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut algebra = A::default();
    let mut spill = Spill::default();
    // The blocks take turns in three places, so that none is copied.
    let mut blocks = [Masks::default(); 3];
    let [mut before, mut here, mut after] = blocks.each_mut();
    *here = masks_at::<C>(text, 0, A::NEEDS, &mut spill);
    let mut ends = [0usize; BATCH];
    let mut n_ends = 0;
    for start in (0..text.len()).step_by(BLOCK) {
        *after = masks_at::<C>(text, start + BLOCK, A::NEEDS, &mut spill);
        let window = Window { start, before, here, after };
        let mut starts = algebra.starts(text, &window) & here.valid;
        if start == 0 {
            starts &= !1;
        }
        if n_ends + BLOCK > BATCH {
            sink(&ends[..n_ends])?;
            n_ends = 0;
        }
        while starts != 0 {
            ends[n_ends] = start + starts.trailing_zeros() as usize;
            n_ends += 1;
            starts &= starts - 1;
        }
        (before, here, after) = (here, after, before);
    }
    sink(&ends[..n_ends])?;
    sink(&[text.len()])
}
