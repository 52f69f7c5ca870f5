//! Documents to pre-token counts: one table a thread, added up in the end.

mod table;

pub use table::{CountTable, add, multiply};

use std::path::PathBuf;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

use crate::error::{Error, Kind, Result};
use crate::key::{Key, KeyHash, prefetch};
use crate::memory::ask_for_huge_pages;
use crate::parallel::{Control, sort_by};
use crate::runs::RunWriter;
use crate::special::SpecialTokens;
use crate::split::Splitter;

/// Rows between two looks at the stop flag.
const ROWS_A_CHECK: usize = 1 << 14;

/// Pre-tokens probed together, so that their cache misses overlap.
const PROBES: usize = 32;

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    key: Key,
    count: u64,
    first_seen: u64,
}

#[derive(Debug)]
struct Long {
    start: usize,
    n_bytes: usize,
    count: u64,
    first_seen: u64,
}

/// A growing table of pre-tokens, for one thread.
#[derive(Debug)]
pub struct Counter {
    hash: KeyHash,
    slots: Vec<Slot>,
    n_used: usize,
    long_hash: RandomState,
    long: HashTable<Long>,
    long_bytes: Vec<u8>,
    spill: Option<Spill>,
}

/// Where a table that has grown to its limit is written as a run.
#[derive(Debug, Clone)]
pub struct Spill {
    /// The front of the runs' paths, another one for each counter.
    pub stem: PathBuf,
    /// The most memory of the table, in bytes.
    pub max_bytes: usize,
    /// The runs that were written and not yet taken.
    pub runs: Vec<PathBuf>,
    /// How many runs were written.
    pub n_written: usize,
}

impl Counter {
    /// An empty table.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn new() -> Result<Self> {
        Ok(Self {
            hash: KeyHash::default(),
            slots: empty_slots(1 << 12)?,
            n_used: 0,
            long_hash: RandomState::default(),
            long: HashTable::new(),
            long_bytes: Vec::new(),
            spill: None,
        })
    }

    /// Write the table as a run whenever it would grow past a limit.
    pub fn spill_to(&mut self, spill: Spill) {
        self.spill = Some(spill);
    }

    /// Write what the table holds as a run, and give the runs written since the last call.
    ///
    /// # Errors
    ///
    /// `Disk`, `Memory`; `Argument` for a counter that was given no place.
    pub fn take_runs(&mut self) -> Result<Vec<PathBuf>> {
        self.write_run()?;
        Ok(self.spill.as_mut().map(|spill| std::mem::take(&mut spill.runs)).unwrap_or_default())
    }

    /// Count the pre-tokens of one document whose first byte is at `position` of the corpus.
    ///
    /// # Errors
    ///
    /// `Pattern`, `Memory`, `Interrupted`.
    pub fn count(
        &mut self,
        text: &[u8],
        position: u64,
        splitter: &Splitter,
        special: &SpecialTokens,
        control: &Control,
    ) -> Result<()> {
        special.cut(text, |start, end, id| {
            if id.is_some() {
                return Ok(());
            }
            let segment = text.get(start..end).unwrap_or_default();
            let position = position + start as u64;
            let mut from = 0;
            splitter.split(segment, control, &mut |ends| {
                control.check()?;
                for ends in ends.chunks(PROBES) {
                    from = self.add_batch(segment, from, ends, position, control)?;
                }
                Ok(())
            })
        })
    }

    #[inline]
    fn add_batch(
        &mut self,
        text: &[u8],
        from: usize,
        ends: &[usize],
        position: u64,
        control: &Control,
    ) -> Result<usize> {
        let mut probes = [(Key::default(), 0u64, 0usize); PROBES];
        let mut start = from;
        let mask = self.slots.len() - 1;
        for (probe, &end) in probes.iter_mut().zip(ends) {
            if let Some(key) = Key::of(text, start, end) {
                let hash = self.hash.of(key);
                prefetch(&self.slots, hash as usize & mask);
                *probe = (key, hash, start);
            }
            start = end;
        }
        start = from;
        for (&(key, hash, _), &end) in probes.iter().zip(ends) {
            let first_seen = position + start as u64;
            if key.is_none() {
                self.add_long(text.get(start..end).unwrap_or_default(), 1, first_seen)?;
            } else {
                self.add_inline(key, hash, 1, first_seen, control)?;
            }
            start = end;
        }
        Ok(start)
    }

    #[inline(always)]
    fn add_inline(
        &mut self,
        key: Key,
        hash: u64,
        count: u64,
        first_seen: u64,
        control: &Control,
    ) -> Result<()> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = &mut self.slots[at & mask];
            if slot.key == key {
                slot.count = add(slot.count, count)?;
                slot.first_seen = slot.first_seen.min(first_seen);
                return Ok(());
            }
            if slot.key.is_none() {
                *slot = Slot { key, count, first_seen };
                self.n_used += 1;
                return if 2 * self.n_used > self.slots.len() {
                    self.make_room(control)
                } else {
                    Ok(())
                };
            }
            at += 1;
        }
    }

    /// Grow, or where the limit forbids it fill up to three quarters and then write a run.
    #[cold]
    fn make_room(&mut self, control: &Control) -> Result<()> {
        let wanted = 4 * self.n_used.next_power_of_two();
        let Some(spill) = &self.spill else { return self.grow(wanted, control) };
        // While it grows, the old table is there beside the new one.
        let n_fitting = spill.max_bytes.saturating_sub(self.long_memory()) / size_of::<Slot>();
        let free = n_fitting.saturating_sub(self.slots.len());
        let largest = free.checked_ilog2().map_or(0, |bits| 1 << bits);
        if largest > self.slots.len() {
            return self.grow(wanted.min(largest), control);
        }
        if 4 * self.n_used > 3 * self.slots.len() { self.write_run() } else { Ok(()) }
    }

    fn long_memory(&self) -> usize {
        self.long_bytes.capacity() + self.long.allocation_size()
    }

    /// Whether the long pre-tokens have to go before `n_bytes` more are taken.
    fn is_full(&self, n_bytes: usize) -> bool {
        let Some(spill) = &self.spill else { return false };
        if self.long.is_empty() {
            return false;
        }
        let (bytes, table) = (&self.long_bytes, &self.long);
        let more_bytes = if bytes.len() + n_bytes > bytes.capacity() {
            bytes.capacity().max(n_bytes)
        } else {
            0
        };
        let more_table =
            if table.len() == table.capacity() { 2 * table.allocation_size() } else { 0 };
        let slots = self.slots.len() * size_of::<Slot>();
        slots + self.long_memory() + more_bytes + more_table > spill.max_bytes
    }

    /// Write the table as a run and empty it; its slots stay, its other memory goes.
    fn write_run(&mut self) -> Result<()> {
        if self.n_used == 0 && self.long.is_empty() {
            return Ok(());
        }
        let Some(spill) = &mut self.spill else {
            return Err(Error::new(Kind::Argument, "the counter was given no place for runs"));
        };
        let mut path = spill.stem.clone().into_os_string();
        path.push(format!("-{:06}.run", spill.n_written));
        let path = PathBuf::from(path);
        spill.n_written += 1;
        spill.runs.try_reserve(1)?;
        let bytes_of = |long: &Long| {
            self.long_bytes.get(long.start..long.start + long.n_bytes).unwrap_or_default()
        };
        // In place, as there is no memory for a copy.
        self.slots.sort_unstable_by_key(|slot| slot.key.order());
        let mut longs: Vec<&Long> = Vec::new();
        longs.try_reserve_exact(self.long.len())?;
        longs.extend(&self.long);
        longs.sort_unstable_by_key(|long| bytes_of(long));
        let mut writer = RunWriter::create(&path)?;
        spill.runs.push(path);
        let mut longs = longs.into_iter().peekable();
        for slot in self.slots.iter().filter(|slot| !slot.key.is_none()) {
            let bytes = slot.key.bytes();
            let pretoken = bytes.get(..slot.key.len()).unwrap_or_default();
            while let Some(long) = longs.next_if(|long| bytes_of(long) < pretoken) {
                writer.push(bytes_of(long), long.count, long.first_seen)?;
            }
            writer.push(pretoken, slot.count, slot.first_seen)?;
        }
        for long in longs {
            writer.push(bytes_of(long), long.count, long.first_seen)?;
        }
        writer.finish()?;
        self.slots.fill(Slot::default());
        self.n_used = 0;
        self.long = HashTable::new();
        self.long_bytes = Vec::new();
        Ok(())
    }

    fn grow(&mut self, n_slots: usize, control: &Control) -> Result<()> {
        let old = std::mem::replace(&mut self.slots, empty_slots(n_slots)?);
        let mask = self.slots.len() - 1;
        for (at, slot) in old.into_iter().filter(|slot| !slot.key.is_none()).enumerate() {
            if at.is_multiple_of(ROWS_A_CHECK) {
                control.check()?;
            }
            let mut at = self.hash.of(slot.key) as usize & mask;
            while !self.slots[at & mask].key.is_none() {
                at += 1;
            }
            self.slots[at & mask] = slot;
        }
        Ok(())
    }

    #[cold]
    fn add_long(&mut self, pretoken: &[u8], count: u64, first_seen: u64) -> Result<()> {
        let (bytes, hasher) = (&mut self.long_bytes, &self.long_hash);
        let of = |bytes: &Vec<u8>, long: &Long| -> u64 {
            hasher.hash_one(bytes.get(long.start..long.start + long.n_bytes).unwrap_or_default())
        };
        let hash = hasher.hash_one(pretoken);
        let found = self.long.find_mut(hash, |long| {
            bytes.get(long.start..long.start + long.n_bytes) == Some(pretoken)
        });
        if let Some(long) = found {
            long.count = add(long.count, count)?;
            long.first_seen = long.first_seen.min(first_seen);
            return Ok(());
        }
        if self.is_full(pretoken.len()) {
            self.write_run()?;
            return self.add_long(pretoken, count, first_seen);
        }
        let bytes = &mut self.long_bytes;
        let start = bytes.len();
        bytes.try_reserve(pretoken.len())?;
        bytes.extend_from_slice(pretoken);
        self.long.try_reserve(1, |long| of(bytes, long)).map_err(|_| no_memory())?;
        let long = Long { start, n_bytes: pretoken.len(), count, first_seen };
        self.long.insert_unique(hash, long, |long| of(bytes, long));
        Ok(())
    }

    /// Add the counts of another table.
    ///
    /// # Errors
    ///
    /// `CountOverflow`, `Memory`.
    pub fn merge(&mut self, other: &Self, control: &Control) -> Result<()> {
        let used = other.slots.iter().filter(|slot| !slot.key.is_none());
        for (at, slot) in used.enumerate() {
            if at.is_multiple_of(ROWS_A_CHECK) {
                control.check()?;
            }
            let hash = self.hash.of(slot.key);
            self.add_inline(slot.key, hash, slot.count, slot.first_seen, control)?;
        }
        for long in &other.long {
            let pretoken = other.long_bytes.get(long.start..long.start + long.n_bytes);
            self.add_long(pretoken.unwrap_or_default(), long.count, long.first_seen)?;
        }
        Ok(())
    }

    /// The finished table, sorted by pre-token.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn finish(self, control: &Control) -> Result<CountTable> {
        let Self { slots, long, long_bytes, n_used, .. } = self;
        let mut rows: Vec<(Row, u64, u64)> = Vec::new();
        rows.try_reserve_exact(n_used + long.len())?;
        let inline = slots.iter().filter(|slot| !slot.key.is_none());
        rows.extend(inline.map(|slot| (Row::Inline(slot.key), slot.count, slot.first_seen)));
        drop(slots);
        rows.extend(long.iter().map(|l| (Row::Long(l.start, l.n_bytes), l.count, l.first_seen)));
        drop(long);
        let order = |(x, ..): &(Row, u64, u64), (y, ..): &(Row, u64, u64)| {
            x.with(&long_bytes, |x| y.with(&long_bytes, |y| x.cmp(y)))
        };
        sort_by(&mut rows, &order, control)?;
        let mut table = CountTable::default();
        table.reserve(rows.len())?;
        for (at, (row, count, first_seen)) in rows.into_iter().enumerate() {
            if at.is_multiple_of(ROWS_A_CHECK) {
                control.check()?;
            }
            row.with(&long_bytes, |pretoken| table.push(pretoken, count, first_seen))?;
        }
        Ok(table)
    }
}

#[derive(Debug, Clone, Copy)]
enum Row {
    Inline(Key),
    Long(usize, usize),
}

impl Row {
    fn with<T>(&self, long_bytes: &[u8], use_bytes: impl FnOnce(&[u8]) -> T) -> T {
        match *self {
            Self::Inline(key) => use_bytes(key.bytes().get(..key.len()).unwrap_or_default()),
            Self::Long(start, n) => use_bytes(long_bytes.get(start..start + n).unwrap_or_default()),
        }
    }
}

fn empty_slots(n: usize) -> Result<Vec<Slot>> {
    let mut slots = Vec::new();
    slots.try_reserve_exact(n)?;
    ask_for_huge_pages(&mut slots);
    slots.resize(n, Slot::default());
    Ok(slots)
}

#[cold]
fn no_memory() -> Error {
    Error::new(Kind::Memory, "not enough memory for the table of pre-tokens")
}
