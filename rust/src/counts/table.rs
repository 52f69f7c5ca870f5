//! The table of pre-token counts: sorted, added, scaled, pruned.

use crate::error::{Error, Kind, Result};
use crate::parallel::Control;
use crate::runs::Merge;

/// Pre-tokens sorted by their bytes, with how often and where first each was seen.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CountTable {
    /// The pre-tokens, one after another.
    pub bytes: Vec<u8>,
    /// `ends[i]`: where pre-token `i` ends in `bytes`.
    pub ends: Vec<u64>,
    /// Occurrences.
    pub counts: Vec<u64>,
    /// Byte position of the first occurrence in the corpus.
    pub first_seen: Vec<u64>,
}

impl CountTable {
    /// Number of distinct pre-tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Pre-token `row`; empty past the end.
    #[inline]
    #[must_use]
    pub fn pretoken(&self, row: usize) -> &[u8] {
        let start =
            row.checked_sub(1).and_then(|r| self.ends.get(r)).map_or(0, |&end| end as usize);
        let end = self.ends.get(row).map_or(start, |&end| end as usize);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The row of a pre-token.
    #[must_use]
    pub fn find(&self, pretoken: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.pretoken(middle) < pretoken { low = middle + 1 } else { high = middle }
        }
        (low < self.len() && self.pretoken(low) == pretoken).then_some(low)
    }

    pub(super) fn reserve(&mut self, n_rows: usize) -> Result<()> {
        self.ends.try_reserve_exact(n_rows)?;
        self.counts.try_reserve_exact(n_rows)?;
        self.first_seen.try_reserve_exact(n_rows)?;
        Ok(())
    }

    /// Append a row; pre-tokens have to come in their order.
    pub(super) fn push(&mut self, pretoken: &[u8], count: u64, first_seen: u64) -> Result<()> {
        self.bytes.try_reserve(pretoken.len())?;
        self.bytes.extend_from_slice(pretoken);
        self.ends.push(self.bytes.len() as u64);
        self.counts.push(count);
        self.first_seen.push(first_seen);
        Ok(())
    }

    /// The table of rows in any order; equal pre-tokens are added up, counts of 0 left out.
    ///
    /// # Errors
    ///
    /// `CountOverflow`, `Memory`.
    pub fn from_rows(mut rows: Vec<(&[u8], u64, u64)>) -> Result<Self> {
        rows.sort_unstable();
        let mut table = Self::default();
        table.reserve(rows.len())?;
        for (pretoken, count, first_seen) in rows {
            let last = table.len().wrapping_sub(1);
            if count == 0 {
            } else if last < table.len() && table.pretoken(last) == pretoken {
                table.counts[last] = add(table.counts[last], count)?;
                table.first_seen[last] = table.first_seen[last].min(first_seen);
            } else {
                table.push(pretoken, count, first_seen)?;
            }
        }
        Ok(table)
    }

    /// The table that runs add up to.
    ///
    /// # Errors
    ///
    /// As [`Merge::next_row`]; `Interrupted`.
    pub fn from_merge(merge: &mut Merge, control: &Control) -> Result<Self> {
        let mut table = Self::default();
        while let Some((pretoken, count, first_seen)) = merge.next_row()? {
            if table.len() % 1024 == 0 {
                control.check()?;
            }
            table.append(pretoken, count, first_seen)?;
        }
        Ok(table)
    }

    /// Append a row behind the last.
    ///
    /// # Errors
    ///
    /// `Counts` for a pre-token that does not come after the last one; `Memory`.
    pub fn append(&mut self, pretoken: &[u8], count: u64, first_seen: u64) -> Result<()> {
        if pretoken <= self.len().checked_sub(1).map_or(&b""[..], |last| self.pretoken(last)) {
            return Err(Error::new(
                Kind::Counts,
                "the pre-tokens are not sorted by their bytes, or one is empty or stands twice",
            ));
        }
        self.ends.try_reserve(1)?;
        self.counts.try_reserve(1)?;
        self.first_seen.try_reserve(1)?;
        self.push(pretoken, count, first_seen)
    }

    /// This table with all counts multiplied.
    ///
    /// # Errors
    ///
    /// `CountOverflow`, `Memory`.
    pub fn scaled(&self, factor: u64) -> Result<Self> {
        let mut scaled = Self::default();
        scaled.reserve(self.len())?;
        scaled.bytes.try_reserve_exact(self.bytes.len())?;
        for row in 0..self.len() {
            let count = multiply(self.counts[row], factor)?;
            scaled.push(self.pretoken(row), count, self.first_seen[row])?;
        }
        Ok(scaled)
    }

    /// The rows whose counts are at least `min_count`.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn at_least(&self, min_count: u64) -> Result<Self> {
        let mut kept = Self::default();
        kept.reserve(self.counts.iter().filter(|&&count| count >= min_count).count())?;
        for row in (0..self.len()).filter(|&row| self.counts[row] >= min_count) {
            kept.push(self.pretoken(row), self.counts[row], self.first_seen[row])?;
        }
        Ok(kept)
    }

    /// This table and `other`, whose corpus begins at `offset` of the joined one.
    ///
    /// # Errors
    ///
    /// `CountOverflow`, `Memory`.
    pub fn added(&self, other: &Self, offset: u64) -> Result<Self> {
        let mut sum = Self::default();
        sum.reserve(self.len().saturating_add(other.len()))?;
        let (mut i, mut j) = (0, 0);
        while i < self.len() || j < other.len() {
            let (left, right) = (self.pretoken(i), other.pretoken(j));
            let order = match (i < self.len(), j < other.len()) {
                (true, true) => left.cmp(right),
                (true, false) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Greater,
            };
            let theirs =
                |j: usize| Ok::<_, Error>((other.counts[j], add(other.first_seen[j], offset)?));
            match order {
                std::cmp::Ordering::Less => {
                    sum.push(left, self.counts[i], self.first_seen[i])?;
                    i += 1;
                }
                std::cmp::Ordering::Greater => {
                    let (count, first_seen) = theirs(j)?;
                    sum.push(right, count, first_seen)?;
                    j += 1;
                }
                std::cmp::Ordering::Equal => {
                    let (count, first_seen) = theirs(j)?;
                    let count = add(self.counts[i], count)?;
                    sum.push(left, count, self.first_seen[i].min(first_seen))?;
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
        Ok(sum)
    }
}

/// A sum of counts.
///
/// # Errors
///
/// `CountOverflow`.
#[inline(always)]
pub fn add(a: u64, b: u64) -> Result<u64> {
    a.checked_add(b).ok_or_else(|| {
        Error::new(Kind::CountOverflow, format!("the sum of {a} and {b} does not fit in 64 bits"))
    })
}

/// A count times a factor.
///
/// # Errors
///
/// `CountOverflow`.
pub fn multiply(count: u64, factor: u64) -> Result<u64> {
    count.checked_mul(factor).ok_or_else(|| {
        Error::new(Kind::CountOverflow, format!("{count} times {factor} does not fit in 64 bits"))
    })
}
