//! Tokens and merges as tables: ids to bytes, bytes to ids, pairs to what they join to.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::BuildHasher;
use std::sync::OnceLock;

use crate::error::{Error, Kind, Result};
use crate::key::prefetch;
use crate::memory::ask_for_huge_pages;

/// Ids may have gaps, but not so many that a small file asks for gigabytes.
const MOST_GAPS: usize = 1 << 24;

/// No token has this id.
pub const NO_ID: u32 = u32::MAX;

/// Byte strings by id, and ids by byte string.
#[derive(Debug)]
pub struct Vocabulary {
    bytes: Vec<u8>,
    /// Start and length in `bytes`; a length of `NO_ID` marks a gap.
    spans: Vec<(u32, u32)>,
    n_tokens: usize,
    hasher: RandomState,
    by_bytes: HashTable<u32>,
}

impl Vocabulary {
    /// A vocabulary of tokens and their ids.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for a repeated id or token, an empty token, or ids too far apart; `Memory`.
    pub fn new<'a>(tokens: impl ExactSizeIterator<Item = (u32, &'a [u8])> + Clone) -> Result<Self> {
        let n_tokens = tokens.len();
        let n_ids = tokens.clone().map(|(id, _)| id as usize + 1).max().unwrap_or(0);
        if n_ids > n_tokens.saturating_mul(64).saturating_add(MOST_GAPS) {
            return Err(Error::new(
                Kind::Vocabulary,
                format!(
                    "{n_tokens} tokens reach up to id {}; ids must lie closer together",
                    n_ids - 1
                ),
            ));
        }
        let n_bytes: usize = tokens.clone().map(|(_, token)| token.len()).sum();
        if u32::try_from(n_bytes).is_err() {
            return Err(Error::new(Kind::Vocabulary, "the tokens are longer than 4 GiB together"));
        }
        let mut this = Self {
            bytes: Vec::new(),
            spans: Vec::new(),
            n_tokens,
            hasher: RandomState::default(),
            by_bytes: HashTable::new(),
        };
        this.bytes.try_reserve_exact(n_bytes)?;
        this.spans.try_reserve_exact(n_ids)?;
        this.spans.resize(n_ids, (0, NO_ID));
        let hasher = this.hasher.clone();
        this.by_bytes
            .try_reserve(n_tokens, |_| 0)
            .map_err(|_| Error::new(Kind::Memory, "not enough memory for the vocabulary"))?;
        for (id, token) in tokens {
            this.insert(id, token, &hasher)?;
        }
        Ok(this)
    }

    fn insert(&mut self, id: u32, token: &[u8], hasher: &RandomState) -> Result<()> {
        let shown = || String::from_utf8_lossy(token.get(..40).unwrap_or(token)).into_owned();
        if token.is_empty() {
            return Err(Error::new(Kind::Vocabulary, format!("the token of id {id} is empty")));
        }
        let (bytes, spans) = (&self.bytes, &self.spans);
        let of = |id: u32| {
            let (start, n) = spans.get(id as usize).copied().unwrap_or_default();
            bytes.get(start as usize..(start + n) as usize).unwrap_or_default()
        };
        let hash = hasher.hash_one(token);
        let place =
            match self.by_bytes.entry(hash, |&id| of(id) == token, |&id| hasher.hash_one(of(id))) {
                Entry::Vacant(place) => place,
                Entry::Occupied(other) => {
                    let other = other.get();
                    let message = format!("token {:?} has two ids, {other} and {id}", shown());
                    return Err(Error::new(Kind::Vocabulary, message));
                }
            };
        if self.spans[id as usize].1 != NO_ID {
            let message = format!("id {id} is given twice, the second time to {:?}", shown());
            return Err(Error::new(Kind::Vocabulary, message));
        }
        place.insert(id);
        self.spans[id as usize] = (self.bytes.len() as u32, token.len() as u32);
        self.bytes.extend_from_slice(token);
        Ok(())
    }

    /// The bytes of a token.
    #[inline]
    #[must_use]
    pub fn token(&self, id: u32) -> Option<&[u8]> {
        let &(start, n_bytes) = self.spans.get(id as usize)?;
        let start = start as usize;
        if n_bytes == NO_ID { None } else { self.bytes.get(start..start + n_bytes as usize) }
    }

    /// The id of a token.
    #[inline]
    #[must_use]
    pub fn id_of(&self, token: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(token);
        self.by_bytes.find(hash, |&id| self.token(id) == Some(token)).copied()
    }

    /// Ids and tokens, by id.
    pub fn tokens(&self) -> impl Iterator<Item = (u32, &[u8])> {
        (0..self.spans.len() as u32).filter_map(|id| Some((id, self.token(id)?)))
    }

    /// Number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n_tokens
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n_tokens == 0
    }

    /// One more than the greatest id.
    #[must_use]
    pub fn n_ids(&self) -> usize {
        self.spans.len()
    }
}

/// What a pair joins to, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joined {
    /// Lower ranks merge first; `u32::MAX`: never.
    pub rank: u32,
    /// The token it makes.
    pub id: u32,
}

impl Joined {
    /// A pair that does not merge.
    pub const NEVER: Self = Self { rank: u32::MAX, id: NO_ID };
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    pair: u64,
    joined: Joined,
}

const EMPTY: u64 = u64::MAX;

/// Bits of the sieve a slot; a power of two.
const SIEVE_BITS: usize = 4;

/// Pairs of ids to what they join to: open addressing, at most half full.
#[derive(Debug)]
pub struct PairTable {
    slots: Vec<Slot>,
    shift: u32,
    /// A bit for what pairs may be there, by their hash: most pairs asked for are not, and the
    /// bits stay in the cache where the slots do not.
    sieve: Vec<u64>,
    n_merges: u32,
    n_ranks: u32,
    is_in_order: OnceLock<bool>,
}

impl PairTable {
    /// An empty table for up to `n_merges`.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn with_room(n_merges: usize) -> Result<Self> {
        let n_slots = n_merges.saturating_mul(2).saturating_add(2).next_power_of_two();
        let mut slots = Vec::new();
        slots.try_reserve_exact(n_slots)?;
        ask_for_huge_pages(&mut slots);
        slots.resize(n_slots, Slot { pair: EMPTY, joined: Joined::NEVER });
        let mut sieve = Vec::new();
        let n_words = n_slots.div_ceil(64 / SIEVE_BITS);
        sieve.try_reserve_exact(n_words)?;
        sieve.resize(n_words, 0);
        Ok(Self {
            slots,
            sieve,
            shift: 64 - n_slots.trailing_zeros(),
            n_merges: 0,
            n_ranks: 0,
            is_in_order: OnceLock::new(),
        })
    }

    /// Add the merge that comes after all others.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for a pair given before, or more merges than there is room for.
    pub fn push(&mut self, left: u32, right: u32, id: u32) -> Result<()> {
        self.push_ranked(left, right, id, self.n_ranks)
    }

    /// Add a merge of a given rank, at least that of the one before; the leftmost of the merges
    /// of one rank comes first.
    ///
    /// # Errors
    ///
    /// `Vocabulary` for a pair given before, or more merges than there is room for.
    pub fn push_ranked(&mut self, left: u32, right: u32, id: u32, rank: u32) -> Result<()> {
        let (pair, mask) = (key(left, right), self.slots.len() - 1);
        if 2 * self.n_merges as usize >= self.slots.len() {
            let message = format!("more than {} merges", self.n_merges);
            return Err(Error::new(Kind::Vocabulary, message));
        }
        let mut at = self.home(pair);
        while self.slots[at & mask].pair != EMPTY {
            if self.slots[at & mask].pair == pair {
                let first = self.slots[at & mask].joined.rank;
                let message = format!(
                    "merges {first} and {rank} both join ids {left} and {right}; give each pair once"
                );
                return Err(Error::new(Kind::Vocabulary, message));
            }
            at += 1;
        }
        self.slots[at & mask] = Slot { pair, joined: Joined { rank, id } };
        let bit = self.sieve_bit(pair);
        if let Some(word) = self.sieve.get_mut(bit / 64) {
            *word |= 1 << (bit % 64);
        }
        self.n_merges += 1;
        self.n_ranks = self.n_ranks.max(rank.saturating_add(1));
        self.is_in_order = OnceLock::new();
        Ok(())
    }

    /// The merges in the order of their ranks: left and right id, and what they join to.
    ///
    /// # Errors
    ///
    /// `Memory`.
    pub fn in_rank_order(&self) -> Result<Vec<(u32, u32, Joined)>> {
        let mut merges = Vec::new();
        merges.try_reserve_exact(self.len())?;
        merges.extend(self.merges());
        merges.sort_unstable_by_key(|&(left, right, joined)| (joined.rank, left, right));
        Ok(merges)
    }

    fn merges(&self) -> impl Iterator<Item = (u32, u32, Joined)> {
        let there = self.slots.iter().filter(|slot| slot.pair != EMPTY);
        there.map(|slot| ((slot.pair >> 32) as u32, slot.pair as u32, slot.joined))
    }

    /// Whether each token is made by one merge, which comes before all merges that use it.
    ///
    /// Found out by the first that asks: what is short never does.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        *self.is_in_order.get_or_init(|| self.find_order().unwrap_or(false))
    }

    fn find_order(&self) -> Result<bool> {
        const NOT_MADE: u32 = u32::MAX;
        let n_ids = self.merges().map(|(left, right, joined)| left.max(right).max(joined.id)).max();
        let mut made_at = Vec::new();
        let n_ids = n_ids.map_or(0, |greatest| greatest as usize + 1);
        made_at.try_reserve_exact(n_ids)?;
        made_at.resize(n_ids, NOT_MADE);
        for (_, _, joined) in self.merges() {
            let made_at = &mut made_at[joined.id as usize];
            if *made_at != NOT_MADE {
                return Ok(false);
            }
            *made_at = joined.rank;
        }
        let is_before =
            |part: u32, rank| matches!(made_at[part as usize], at if at == NOT_MADE || at < rank);
        Ok(self.merges().all(|(left, right, joined)| {
            is_before(left, joined.rank) && is_before(right, joined.rank)
        }))
    }

    /// Number of merges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n_merges as usize
    }

    /// One more than the greatest rank.
    #[must_use]
    pub fn n_ranks(&self) -> usize {
        self.n_ranks as usize
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n_merges == 0
    }

    #[inline(always)]
    fn home(&self, pair: u64) -> usize {
        (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    #[inline(always)]
    fn sieve_bit(&self, pair: u64) -> usize {
        let n_bits = self.slots.len() * SIEVE_BITS;
        (pair.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 32) as usize & (n_bits - 1)
    }

    /// Fetch the slot of a pair ahead of its `push`.
    #[inline(always)]
    pub fn prefetch(&self, left: u32, right: u32) {
        prefetch(&self.slots, self.home(key(left, right)));
    }

    /// What `left` and `right` join to.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, left: u32, right: u32) -> Joined {
        let pair = key(left, right);
        let bit = self.sieve_bit(pair);
        if self.sieve.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 0) {
            return Joined::NEVER;
        }
        let mask = self.slots.len() - 1;
        let mut at = self.home(pair);
        loop {
            let slot = &self.slots[at & mask];
            if slot.pair == pair {
                return slot.joined;
            }
            if slot.pair == EMPTY {
                return Joined::NEVER;
            }
            at += 1;
        }
    }
}

#[inline(always)]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}
