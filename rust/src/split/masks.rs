//! Classify 64 bytes at a time into bit masks; continuation bytes inherit their lead's class.
//!
//! A byte that belongs to no valid UTF-8 counts as one character without any class. ASCII goes
//! through AVX2 where the CPU has it and a loop elsewhere; other characters are looked up one
//! by one. `tests` holds the two to each other.

use super::classes::{ClassTable, bit, decode_utf8};

/// Beside the bits of `classes::bit`, for `Algebra::NEEDS`: newlines and slashes.
pub const NEWLINE: u16 = 1 << 14;
/// See `NEWLINE`.
pub const SLASH: u16 = 1 << 15;

/// Bytes of a block.
pub const BLOCK: usize = 64;

/// Bit `i` of each mask speaks of byte `i` of the block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Masks {
    /// `\p{L}`.
    pub letter: u64,
    /// `\p{Lu}`, `\p{Lt}`.
    pub upper: u64,
    /// `\p{Ll}`.
    pub lower: u64,
    /// `\p{M}`.
    pub mark: u64,
    /// `\p{N}`.
    pub number: u64,
    /// `\s`.
    pub space: u64,
    /// `\p{P}`.
    pub punctuation: u64,
    /// `\p{S}`.
    pub symbol: u64,
    /// `[一-龥]`.
    pub han: u64,
    /// `[぀-ゟ゠-ヿ]`.
    pub kana: u64,
    /// `\p{Grapheme_Cluster_Break=Prepend}`.
    pub joins_next: u64,
    /// U+0020 alone.
    pub blank: u64,
    /// `\r` or `\n`.
    pub newline: u64,
    /// `'`.
    pub apostrophe: u64,
    /// `/`.
    pub slash: u64,
    /// Bytes below 0x80.
    pub ascii: u64,
    /// First byte of a character.
    pub lead: u64,
    /// Bytes that are inside the text.
    pub valid: u64,
}

impl Masks {
    /// Add the bits of other masks of the same block.
    #[inline(always)]
    fn join(&mut self, other: &Self) {
        self.letter |= other.letter;
        self.upper |= other.upper;
        self.lower |= other.lower;
        self.mark |= other.mark;
        self.number |= other.number;
        self.space |= other.space;
        self.punctuation |= other.punctuation;
        self.symbol |= other.symbol;
        self.han |= other.han;
        self.kana |= other.kana;
        self.joins_next |= other.joins_next;
        self.lead |= other.lead;
    }
}

/// What the block before leaves: a character that reaches over the border.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spill {
    flags: u16,
    n_bytes: usize,
}

/// How the ASCII part of a block is classified.
pub trait Classify {
    /// Masks of the ASCII bytes of `block`, and the mask of the others. Only the classes of
    /// `needs` (bits of `classes::bit`) are right; the rest may be left out.
    fn ascii(block: &[u8; BLOCK], needs: u16) -> (Masks, u64);

    /// First bytes of some ideographs of `[一-龥]` that lie wholly in the block: of none, or of as
    /// many as can be told at once. All are of one class, so none of them need be looked up.
    fn ideographs(_block: &[u8; BLOCK]) -> u64 {
        0
    }
}

/// The loop that runs on every CPU.
#[derive(Debug)]
pub struct Portable;

impl Classify for Portable {
    #[inline(always)]
    fn ascii(block: &[u8; BLOCK], _needs: u16) -> (Masks, u64) {
        let mut masks = Masks::default();
        let mut other = 0;
        for (i, &byte) in block.iter().enumerate() {
            let at = 1u64 << i;
            match byte {
                b'A'..=b'Z' => masks.upper |= at,
                b'a'..=b'z' => masks.lower |= at,
                b'0'..=b'9' => masks.number |= at,
                b' ' => masks.blank |= at,
                b'\r' | b'\n' => masks.newline |= at,
                b'\t' | 0x0B | 0x0C => masks.space |= at,
                b'\'' => masks.apostrophe |= at,
                b'/' => masks.slash |= at,
                b'$' | b'+' | b'<' | b'=' | b'>' | b'^' | b'`' | b'|' | b'~' => masks.symbol |= at,
                0x80.. => other |= at,
                byte if byte.is_ascii_punctuation() => masks.punctuation |= at,
                _ => {}
            }
        }
        masks.letter = masks.upper | masks.lower;
        masks.space |= masks.blank | masks.newline;
        masks.punctuation |= masks.apostrophe | masks.slash;
        masks.lead = !other;
        masks.ascii = !other;
        (masks, other)
    }
}

/// 32 bytes an instruction, on x86-64 with AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Debug)]
pub struct Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8, _mm256_sub_epi8,
    };

    use super::super::classes::bit;
    use super::{Avx2, BLOCK, Classify, Masks, NEWLINE, SLASH};

    impl Classify for Avx2 {
        #[inline(always)]
        fn ascii(block: &[u8; BLOCK], needs: u16) -> (Masks, u64) {
            // SAFETY: `Avx2` is only named by code that runs after the CPU was asked for AVX2,
            // and both loads lie inside the 64 bytes of `block`.
            unsafe { classify(block, needs) }
        }

        #[inline(always)]
        fn ideographs(block: &[u8; BLOCK]) -> u64 {
            // SAFETY: as above.
            unsafe { ideographs(block) }
        }
    }

    /// From U+4E00 up to U+9F7F: three bytes, of which the second tells the ends of the range.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn ideographs(block: &[u8; BLOCK]) -> u64 {
        let halves = halves_of(block);
        let within = |first, last| both(halves, |half| in_range(half, first, last));
        let (first, last) = (within(0xE4, 0xE4), within(0xE9, 0xE9));
        let second = within(0x80, 0xBF);
        let leads =
            within(0xE5, 0xE8) | first & within(0xB8, 0xBF) >> 1 | last & within(0x80, 0xBD) >> 1;
        leads & second >> 1 & second >> 2
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn halves_of(block: &[u8; BLOCK]) -> [__m256i; 2] {
        // SAFETY: 32 bytes from 0 and from 32 lie inside the 64 of `block`; unaligned loads.
        unsafe {
            [
                _mm256_loadu_si256(block.as_ptr().cast()),
                _mm256_loadu_si256(block.as_ptr().add(32).cast()),
            ]
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn classify(block: &[u8; BLOCK], needs: u16) -> (Masks, u64) {
        let halves = halves_of(block);
        let within = |first, last| both(halves, |half| in_range(half, first, last));
        let is = |byte: u8| both(halves, |half| _mm256_cmpeq_epi8(half, splat(byte)));
        let other = both(halves, |half| half);
        let cased = needs & (bit::UPPER | bit::LOWER) != 0;
        let upper = if cased { within(b'A', b'Z') } else { 0 };
        let lower = if cased { within(b'a', b'z') } else { 0 };
        let letter = if cased { upper | lower } else { either_case(halves) };
        let number = within(b'0', b'9');
        let (blank, apostrophe) = (is(b' '), is(b'\''));
        let signs = needs & (bit::PUNCTUATION | bit::SYMBOL) != 0;
        let (symbol, marks) = if signs { (symbols(halves), punctuation(halves)) } else { (0, 0) };
        let newline = if needs & NEWLINE == 0 { 0 } else { is(b'\n') | is(b'\r') };
        let slash = if needs & SLASH == 0 { 0 } else { is(b'/') };
        let masks = Masks {
            letter,
            upper,
            lower,
            number,
            space: blank | within(b'\t', b'\r'),
            punctuation: marks & !symbol,
            symbol,
            blank,
            newline,
            apostrophe,
            slash,
            ascii: !other,
            lead: !other,
            ..Masks::default()
        };
        (masks, other)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn in_range(half: __m256i, first: u8, last: u8) -> __m256i {
        let offset = _mm256_sub_epi8(half, splat(first));
        _mm256_cmpeq_epi8(_mm256_min_epu8(offset, splat(last - first)), offset)
    }

    /// ASCII's members of `\p{S}`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn symbols(halves: [__m256i; 2]) -> u64 {
        let ranges = [b"$$", b"++", b"<>", b"^^", b"``", b"||", b"~~"];
        ranges
            .iter()
            .fold(0, |all, range| all | both(halves, |half| in_range(half, range[0], range[1])))
    }

    /// ASCII's punctuation and symbols.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn punctuation(halves: [__m256i; 2]) -> u64 {
        [b"!/", b":@", b"[`", b"{~"]
            .iter()
            .fold(0, |all, range| all | both(halves, |half| in_range(half, range[0], range[1])))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn either_case(halves: [__m256i; 2]) -> u64 {
        both(halves, |half| {
            let offset = _mm256_sub_epi8(_mm256_or_si256(half, splat(0x20)), splat(b'a'));
            _mm256_cmpeq_epi8(_mm256_min_epu8(offset, splat(25)), offset)
        })
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn splat(byte: u8) -> __m256i {
        _mm256_set1_epi8(byte.cast_signed())
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn both(halves: [__m256i; 2], test: impl Fn(__m256i) -> __m256i) -> u64 {
        let low = _mm256_movemask_epi8(test(halves[0])).cast_unsigned();
        let high = _mm256_movemask_epi8(test(halves[1])).cast_unsigned();
        opaque(u64::from(low) | u64::from(high) << 32)
    }

    /// The same mask, of which the compiler does not know where it comes from.
    ///
    /// Else LLVM 22 takes the shifts and sums of masks for work on 64 vectors of one bit and does
    /// it byte by byte, in three times as many instructions.
    #[inline(always)]
    fn opaque(mut mask: u64) -> u64 {
        // SAFETY: no instruction is run.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags));
        }
        mask
    }
}

/// Masks of the block of `text` at `start`; all zero past the end.
///
/// Only the classes of `needs` are right. It is a constant to each caller, so that the code for
/// the others falls away.
#[inline(always)]
pub fn masks_at<C: Classify>(text: &[u8], start: usize, needs: u16, spill: &mut Spill) -> Masks {
    let mut end = [0; BLOCK];
    let (block, valid) = match text.get(start..).and_then(|t| t.first_chunk()) {
        Some(block) => (block, u64::MAX),
        None => {
            let rest = text.get(start..).unwrap_or_default();
            end[..rest.len()].copy_from_slice(rest);
            (&end, (1u64 << rest.len()) - 1)
        }
    };
    let (mut masks, mut other) = C::ascii(block, needs);
    if other != 0 {
        if spill.n_bytes > 0 {
            let reached = (1u64 << spill.n_bytes) - 1;
            add(&mut masks, spill.flags & needs, reached);
            other &= !reached;
        }
        let ideographs = C::ideographs(block);
        let reached = ideographs | ideographs << 1 | ideographs << 2;
        masks.lead |= ideographs;
        masks.letter |= reached;
        masks.han |= reached;
        other &= !reached;
        *spill = Spill::default();
        if other != 0 {
            let (others, reaches_over) = look_up(text, start, other, needs);
            masks.join(&others);
            *spill = reaches_over;
        }
    } else {
        *spill = Spill::default();
    }
    masks.valid = valid;
    masks.lead &= valid;
    masks
}

/// Look up the characters that start at the bits of `other`.
///
/// Neighbours are mostly of the same classes: their bytes are added together.
#[inline(never)]
fn look_up(text: &[u8], start: usize, mut other: u64, needs: u16) -> (Masks, Spill) {
    let mut masks = Masks::default();
    let table = ClassTable::shared();
    let (mut class, mut run, mut end) = (0, 0u64, 0);
    while other != 0 {
        let at = other.trailing_zeros() as usize;
        let bytes = text.get(start + at..).unwrap_or_default();
        let (flags, n_bytes) = match decode_utf8(bytes) {
            Some((code_point, n_bytes)) => (table.of(code_point), n_bytes),
            None => (0, 1),
        };
        if flags != class {
            add(&mut masks, class & needs, run);
            (class, run) = (flags, 0);
        }
        let reached = ((1u64 << n_bytes) - 1) << at;
        run |= reached;
        masks.lead |= 1 << at;
        other &= !reached;
        end = at + n_bytes;
    }
    add(&mut masks, class & needs, run);
    let n_over = end.saturating_sub(BLOCK);
    (masks, if n_over > 0 { Spill { flags: class, n_bytes: n_over } } else { Spill::default() })
}

#[inline(always)]
fn add(masks: &mut Masks, flags: u16, reached: u64) {
    let with = |class: u16| if flags & class != 0 { reached } else { 0 };
    masks.letter |= with(bit::LETTER);
    masks.upper |= with(bit::UPPER);
    masks.lower |= with(bit::LOWER);
    masks.mark |= with(bit::MARK);
    masks.number |= with(bit::NUMBER);
    masks.space |= with(bit::SPACE);
    masks.punctuation |= with(bit::PUNCTUATION);
    masks.symbol |= with(bit::SYMBOL);
    masks.han |= with(bit::HAN);
    masks.kana |= with(bit::KANA);
    masks.joins_next |= with(bit::JOINS_NEXT);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(seed: u64) -> Vec<u8> {
        let mut state = seed;
        let mut text = String::new();
        while text.len() < 3 * BLOCK {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let range = [0x80, 0x3000, 0xA000, 0x11_0000][(state >> 60) as usize % 4];
            if let Some(c) = char::from_u32((state >> 33) as u32 % range) {
                text.push(c);
            }
        }
        let mut bytes = text.into_bytes();
        bytes[(seed % 100) as usize] = (state >> 40) as u8;
        bytes
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn avx2_gives_the_masks_of_the_portable_loop() {
        if !is_x86_feature_detected!("avx2") {
            return;
        }
        for seed in 0..2000 {
            let text = sample(seed);
            let (mut one, mut two) = (Spill::default(), Spill::default());
            for start in (0..text.len()).step_by(BLOCK) {
                let portable = masks_at::<Portable>(&text, start, u16::MAX, &mut one);
                assert_eq!(masks_at::<Avx2>(&text, start, u16::MAX, &mut two), portable);
            }
        }
    }

    #[test]
    fn masks_are_the_classes_of_the_characters() {
        let table = ClassTable::shared();
        for c in (0..0x11_0000).filter_map(char::from_u32) {
            let text = format!("{}{c}x", "a".repeat(62));
            let mut spill = Spill::default();
            let masks = masks_at::<Portable>(text.as_bytes(), 0, u16::MAX, &mut spill);
            let next = masks_at::<Portable>(text.as_bytes(), BLOCK, u16::MAX, &mut spill);
            let flags = table.of(u32::from(c));
            let is = |mask: u64| mask >> 62 & 1 == 1;
            assert_eq!(is(masks.letter), flags & bit::LETTER != 0, "{c:?}");
            assert_eq!(is(masks.upper), flags & bit::UPPER != 0, "{c:?}");
            assert_eq!(is(masks.lower), flags & bit::LOWER != 0, "{c:?}");
            assert_eq!(is(masks.number), flags & bit::NUMBER != 0, "{c:?}");
            assert_eq!(is(masks.space), flags & bit::SPACE != 0, "{c:?}");
            assert_eq!(is(masks.punctuation), flags & bit::PUNCTUATION != 0, "{c:?}");
            assert_eq!(is(masks.symbol), flags & bit::SYMBOL != 0, "{c:?}");
            assert!(is(masks.lead), "{c:?}");
            if c.len_utf8() > 2 {
                assert_eq!(next.letter & 1 == 1, flags & bit::LETTER != 0, "{c:?}");
                assert_eq!(next.lead & 1, 0);
            }
        }
    }
}
