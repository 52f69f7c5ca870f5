//! The best pair without a scan of all pairs, for scores that change under other merges.
//!
//! By frequency there is one group of pairs, ordered by count. By likelihood,
//! `n(ab) / (n(a) n(b))`, a merge changes the score of every pair of two symbols. So each pair
//! belongs to the group of one of its symbols, the one with more pairs, and is ordered there by
//! `n(ab) / n(other)`, which the group's own count cannot change; a second heap orders the groups
//! by their best pairs. When a symbol's count changes, one entry changes for its group, and one
//! for each pair in which it is the other symbol: those are few unless both symbols have many.
//! To spare even these, a symbol that is the other one of many pairs is ordered by a level, its
//! count rounded down to a few leading bits, and its pairs are moved only when the level
//! changes. A level makes scores too great, never too small: pairs at the top with a rounded
//! score are tried one by one against the best exact score.
//!
//! All comparisons are exact, by cross products of up to 192 bits. Entries are not updated in
//! place: an old one is known by its stamp, and one that is better than its pair now deserves is
//! put right when it comes to the top.

use std::cmp::Ordering;

use super::heap::Heap;
use super::pairs::{Pair, Pairs, Place};
use super::symbols::Symbols;
use super::train::Ties;
use super::words::Words;

/// When to round; the result is the same for every choice.
#[derive(Debug, Clone, Copy)]
pub struct Tuning {
    /// Counts of symbols that are the other one of at most so many pairs are never rounded.
    pub exact_degree: usize,
    /// Leading bits that rounding keeps; at least 1.
    pub level_bits: u32,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { exact_degree: 64, level_bits: 8 }
    }
}

/// What the pairs are made of.
pub struct Context<'a> {
    /// The pairs.
    pub pairs: &'a mut Pairs,
    /// Their symbols.
    pub symbols: &'a Symbols,
    /// Where they stand.
    pub words: &'a Words,
}

/// A pair in its group, with what it was ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    count: u64,
    level: u64,
    pair: u32,
    stamp: u32,
    first: u32,
}

/// A group by its best entry, with what it was ordered by.
#[derive(Debug, Clone, Copy)]
struct Top {
    entry: Entry,
    group_count: u64,
    group: u32,
    stamp: u32,
}

#[derive(Debug, Default)]
struct Group {
    heap: Heap<Entry>,
    n_pairs: usize,
    stamp: u32,
    is_raised: bool,
}

/// A symbol: its count, its group, and the pairs ranked elsewhere whose other symbol it is.
#[derive(Debug, Default)]
struct Symbol {
    count: u64,
    level: u64,
    degree: usize,
    others: Vec<u32>,
    group: Group,
}

/// The order of all pairs.
pub struct Ranking {
    by_likelihood: bool,
    min_count: u64,
    ties: Ties,
    tuning: Tuning,
    symbols: Vec<Symbol>,
    tops: Heap<Top>,
    raised: Vec<u32>,
}

/// The pair chosen.
#[derive(Debug, Clone, Copy)]
pub struct Best {
    /// Its number.
    pub pair: u32,
    /// Its count, over `left_count * right_count`, is its score.
    pub count: u64,
    /// Occurrences of its left symbol; 1 by frequency.
    pub left_count: u64,
    /// Occurrences of its right symbol; 1 by frequency.
    pub right_count: u64,
}

impl Best {
    fn denominator(&self) -> u128 {
        u128::from(self.left_count) * u128::from(self.right_count)
    }
}

impl Ranking {
    /// Rank all `pairs`; `symbol_counts` gives the order by likelihood, none that by frequency.
    pub fn new(
        symbol_counts: Option<Vec<u64>>,
        min_count: u64,
        ties: Ties,
        tuning: Tuning,
        context: &mut Context<'_>,
    ) -> Self {
        let by_likelihood = symbol_counts.is_some();
        let symbols = symbol_counts.unwrap_or_else(|| vec![1]);
        let symbols =
            symbols.into_iter().map(|count| Symbol { count, level: count, ..Symbol::default() });
        let mut this = Self {
            by_likelihood,
            min_count: min_count.max(1),
            ties,
            tuning,
            symbols: symbols.collect(),
            tops: Heap::default(),
            raised: Vec::new(),
        };
        if by_likelihood {
            // Degrees first, so that the symbols with the most pairs get the groups.
            for pair in (0..).take(context.pairs.len()).filter_map(|at| context.pairs.get(at)) {
                for symbol in [pair.left, pair.right] {
                    this.change(symbol, |symbol| symbol.degree += 1);
                }
            }
        }
        for number in (0..).take(context.pairs.len()) {
            this.push(number, context);
        }
        for symbol in &mut this.symbols {
            // Every pair was counted above and again as it was put into its group.
            symbol.degree /= 2;
        }
        this
    }

    /// Occurrences of a symbol now; 1 by frequency.
    pub fn symbol_count(&self, symbol: u32) -> u64 {
        if self.by_likelihood { self.symbol(symbol).map_or(0, |symbol| symbol.count) } else { 1 }
    }

    /// A symbol's occurrences have changed; by frequency this means nothing.
    pub fn set_symbol_count(&mut self, symbol: u32, count: u64, context: &mut Context<'_>) {
        if !self.by_likelihood {
            return;
        }
        while self.symbols.len() <= symbol as usize {
            self.symbols.push(Symbol::default());
        }
        let Tuning { exact_degree, level_bits } = self.tuning;
        let Some(state) = self.symbols.get_mut(symbol as usize) else { return };
        let is_exact = state.others.len() <= exact_degree;
        let level = if is_exact { count } else { round_down(count, level_bits) };
        state.count = count;
        self.raise(symbol);
        if self.symbol(symbol).is_some_and(|state| state.level != level) {
            self.change(symbol, |state| state.level = level);
            self.rank_others_again(symbol, context);
        }
    }

    /// Rank a pair that is new or has become more frequent.
    pub fn push(&mut self, number: u32, context: &mut Context<'_>) {
        let Some(&pair) = context.pairs.get(number) else { return };
        if pair.count < self.min_count || pair.is_refused {
            return;
        }
        if pair.place == Place::Nowhere {
            let degree = |symbol| self.symbol(symbol).map_or(0, |symbol| symbol.degree);
            let place =
                if degree(pair.left) >= degree(pair.right) { Place::Left } else { Place::Right };
            self.put(number, place, context);
        }
        self.push_entry(number, context);
    }

    /// The best pair, which leaves the ranking. None when no pair is frequent enough.
    pub fn take_best(&mut self, context: &mut Context<'_>) -> Option<Best> {
        while let Some(group) = self.raised.pop() {
            self.refresh(group, context);
        }
        let mut tried: Vec<(u32, Entry)> = Vec::new();
        let mut best: Option<Best> = None;
        while let Some((top, is_exact)) = self.next_top(context) {
            if best.is_some_and(|best| !self.can_beat(&top, &best, context)) {
                break;
            }
            let _ = self.tops.pop(|one, two| is_top_before(one, two, self.ties, context));
            let ties = self.ties;
            self.change(top.group, |state| {
                let _ = state.group.heap.pop(|one, two| is_before(one, two, ties, context));
            });
            tried.push((top.group, top.entry));
            if best.is_none_or(|best| self.is_better(&top.entry, &best, context)) {
                best = Some(self.scored(&top.entry, context));
            }
            if is_exact {
                break;
            }
            self.refresh(top.group, context);
        }
        for (group, entry) in tried {
            if best.is_none_or(|best| best.pair != entry.pair) {
                let ties = self.ties;
                self.change(group, |state| {
                    state.group.heap.push(entry, |one, two| is_before(one, two, ties, context));
                });
            }
            self.raise(group);
        }
        if let Some(best) = best {
            self.remove(best.pair, context);
        }
        best
    }

    /// The group that comes first, with its entry put right, and whether its score is exact.
    fn next_top(&mut self, context: &mut Context<'_>) -> Option<(Top, bool)> {
        loop {
            let top = self.tops.peek()?;
            let (group_count, stamp) =
                self.symbol(top.group).map(|state| (state.count, state.group.stamp))?;
            let is_latest = stamp == top.stamp;
            if is_latest
                && group_count == top.group_count
                && self.settle(top.group, context) == Some(top.entry)
            {
                let bound = u128::from(top.entry.level) * u128::from(top.group_count);
                return Some((top, self.scored(&top.entry, context).denominator() == bound));
            }
            let _ = self.tops.pop(|one, two| is_top_before(one, two, self.ties, context));
            if is_latest {
                self.refresh(top.group, context);
            }
        }
    }

    /// Whether the group at the top, or one after it, may hold a better pair than `best`.
    ///
    /// A rounded score equal to the best exact one cannot win itself, but pairs after it in the
    /// order of ties can.
    fn can_beat(&self, top: &Top, best: &Best, context: &mut Context<'_>) -> bool {
        let bound = u128::from(top.entry.level) * u128::from(top.group_count);
        let order = compare_scores(top.entry.count, bound, best.count, best.denominator());
        order.is_gt() || order.is_eq() && self.wins_tie(&top.entry, best, context)
    }

    fn is_better(&self, entry: &Entry, best: &Best, context: &mut Context<'_>) -> bool {
        let score = self.scored(entry, context);
        let order =
            compare_scores(score.count, score.denominator(), best.count, best.denominator());
        order.is_gt() || order.is_eq() && self.wins_tie(entry, best, context)
    }

    fn wins_tie(&self, entry: &Entry, best: &Best, context: &mut Context<'_>) -> bool {
        let first_of_best = match self.ties {
            Ties::First => context.pairs.first_position(best.pair, context.words),
            _ => 0,
        };
        tie_order((entry.pair, entry.first), (best.pair, first_of_best), self.ties, context).is_gt()
    }

    fn scored(&self, entry: &Entry, context: &Context<'_>) -> Best {
        let (left, right) =
            context.pairs.get(entry.pair).map_or((0, 0), |pair| (pair.left, pair.right));
        Best {
            pair: entry.pair,
            count: entry.count,
            left_count: self.symbol_count(left),
            right_count: self.symbol_count(right),
        }
    }

    /// Give the group's best entry to the heap of groups, in place of what it gave before.
    fn refresh(&mut self, group: u32, context: &mut Context<'_>) {
        let entry = self.settle(group, context);
        let Some(state) = self.symbols.get_mut(group as usize) else { return };
        state.group.is_raised = false;
        state.group.stamp = state.group.stamp.wrapping_add(1);
        if let Some(entry) = entry {
            let top = Top { entry, group_count: state.count, group, stamp: state.group.stamp };
            self.tops.push(top, |one, two| is_top_before(one, two, self.ties, context));
        }
    }

    /// The group's best entry, after old ones above it have been dropped or put right.
    fn settle(&mut self, group: u32, context: &mut Context<'_>) -> Option<Entry> {
        let ties = self.ties;
        loop {
            let entry = self.symbol(group)?.group.heap.peek()?;
            let pair = *context.pairs.get(entry.pair)?;
            let is_current = pair.stamp == entry.stamp && self.group_of(&pair) == Some(group);
            let now = if is_current && pair.count >= self.min_count {
                let now = self.entry_of(entry.pair, &pair, context);
                if now == entry {
                    return Some(entry);
                }
                Some(now)
            } else {
                None
            };
            self.change(group, |state| {
                let _ = state.group.heap.pop(|one, two| is_before(one, two, ties, context));
            });
            if let Some(now) = now {
                self.change(group, |state| {
                    state.group.heap.push(now, |one, two| is_before(one, two, ties, context));
                });
            } else if is_current {
                self.remove(entry.pair, context);
            }
        }
    }

    fn push_entry(&mut self, number: u32, context: &mut Context<'_>) {
        let Some(pair) = context.pairs.get_mut(number) else { return };
        pair.stamp = pair.stamp.wrapping_add(1);
        let pair = *pair;
        let Some(group) = self.group_of(&pair) else { return };
        let entry = self.entry_of(number, &pair, context);
        let ties = self.ties;
        self.change(group, |state| {
            let group = &mut state.group;
            group.heap.push(entry, |one, two| is_before(one, two, ties, context));
            if group.heap.len() > 64 + 2 * group.n_pairs {
                let is_current = |entry: &Entry| {
                    context.pairs.get(entry.pair).is_some_and(|pair| pair.stamp == entry.stamp)
                };
                group.heap.retain(is_current, |one, two| is_before(one, two, ties, context));
            }
        });
        self.raise(group);
    }

    fn entry_of(&self, number: u32, pair: &Pair, context: &mut Context<'_>) -> Entry {
        let level = self.other_of(pair).and_then(|other| self.symbol(other));
        let first = match self.ties {
            Ties::First => context.pairs.first_position(number, context.words),
            _ => 0,
        };
        Entry {
            count: pair.count,
            level: level.map_or(1, |symbol| symbol.level),
            pair: number,
            stamp: pair.stamp,
            first,
        }
    }

    /// The symbol's level has changed, so its pairs in other groups have other places there.
    fn rank_others_again(&mut self, symbol: u32, context: &mut Context<'_>) {
        let Some(state) = self.symbols.get_mut(symbol as usize) else { return };
        let mut others = std::mem::take(&mut state.others);
        others.retain(|&number| {
            let Some(&pair) = context.pairs.get(number) else { return false };
            if self.other_of(&pair) != Some(symbol) {
                return false;
            }
            if pair.count < self.min_count {
                self.remove(number, context);
                return false;
            }
            let degree = |symbol| self.symbol(symbol).map_or(0, |symbol| symbol.degree);
            let group = self.group_of(&pair).unwrap_or(symbol);
            // Twice as many, so that a pair does not move back and forth.
            let moves = degree(symbol) > 2 * degree(group);
            if moves {
                let place = if pair.place == Place::Left { Place::Right } else { Place::Left };
                self.remove(number, context);
                self.put(number, place, context);
            }
            self.push_entry(number, context);
            !moves
        });
        if let Some(state) = self.symbols.get_mut(symbol as usize) {
            state.others.append(&mut others);
        }
    }

    fn put(&mut self, number: u32, place: Place, context: &mut Context<'_>) {
        let Some(pair) = context.pairs.get_mut(number) else { return };
        pair.place = place;
        let pair = *pair;
        if let Some(group) = self.group_of(&pair) {
            self.change(group, |state| {
                state.group.n_pairs += 1;
                state.degree += 1;
            });
        }
        if let Some(other) = self.other_of(&pair) {
            self.change(other, |state| {
                state.others.push(number);
                state.degree += 1;
            });
        }
    }

    fn remove(&mut self, number: u32, context: &mut Context<'_>) {
        let Some(pair) = context.pairs.get_mut(number) else { return };
        let was = *pair;
        pair.place = Place::Nowhere;
        pair.stamp = pair.stamp.wrapping_add(1);
        if let Some(group) = self.group_of(&was) {
            self.change(group, |state| {
                state.group.n_pairs = state.group.n_pairs.saturating_sub(1);
                state.degree = state.degree.saturating_sub(1);
            });
        }
        if let Some(other) = self.other_of(&was) {
            self.change(other, |state| state.degree = state.degree.saturating_sub(1));
        }
    }

    fn group_of(&self, pair: &Pair) -> Option<u32> {
        match pair.place {
            Place::Nowhere => None,
            _ if !self.by_likelihood => Some(0),
            Place::Left => Some(pair.left),
            Place::Right => Some(pair.right),
        }
    }

    fn other_of(&self, pair: &Pair) -> Option<u32> {
        match pair.place {
            Place::Left if self.by_likelihood => Some(pair.right),
            Place::Right if self.by_likelihood => Some(pair.left),
            _ => None,
        }
    }

    fn raise(&mut self, group: u32) {
        if let Some(state) = self.symbols.get_mut(group as usize)
            && !state.group.is_raised
        {
            state.group.is_raised = true;
            self.raised.push(group);
        }
    }

    fn symbol(&self, symbol: u32) -> Option<&Symbol> {
        self.symbols.get(symbol as usize)
    }

    fn change(&mut self, symbol: u32, change: impl FnOnce(&mut Symbol)) {
        if let Some(symbol) = self.symbols.get_mut(symbol as usize) {
            change(symbol);
        }
    }
}

fn is_before(one: &Entry, two: &Entry, ties: Ties, context: &Context<'_>) -> bool {
    let order = if one.level == two.level {
        one.count.cmp(&two.count)
    } else {
        let product = |count, level| u128::from(count) * u128::from(level);
        product(one.count, two.level).cmp(&product(two.count, one.level))
    };
    order
        .then_with(|| tie_order((one.pair, one.first), (two.pair, two.first), ties, context))
        .is_gt()
}

fn is_top_before(one: &Top, two: &Top, ties: Ties, context: &Context<'_>) -> bool {
    let bound = |top: &Top| u128::from(top.entry.level) * u128::from(top.group_count);
    compare_scores(one.entry.count, bound(one), two.entry.count, bound(two))
        .then_with(|| {
            let (one, two) = (one.entry, two.entry);
            tie_order((one.pair, one.first), (two.pair, two.first), ties, context)
        })
        .is_gt()
}

/// Greater for the pair that is taken first; each is a number and a first position.
fn tie_order(one: (u32, u32), two: (u32, u32), ties: Ties, context: &Context<'_>) -> Ordering {
    let (Some(first), Some(second)) = (context.pairs.get(one.0), context.pairs.get(two.0)) else {
        return Ordering::Equal;
    };
    match ties {
        Ties::First => two.1.cmp(&one.1),
        Ties::SmallestId => (second.left, second.right).cmp(&(first.left, first.right)),
        Ties::Greatest => {
            let token = |id| context.symbols.token(id);
            let left = || token(first.left).cmp(token(second.left));
            let right = || token(first.right).cmp(token(second.right));
            if first.left == second.left { right() } else { left() }
        }
    }
}

/// `one / one_by` against `two / two_by`, exactly.
fn compare_scores(one: u64, one_by: u128, two: u64, two_by: u128) -> Ordering {
    wide_product(one, two_by).cmp(&wide_product(two, one_by))
}

/// A product of 192 bits, in a form that orders as it does.
fn wide_product(count: u64, by: u128) -> (u128, u64) {
    let low_half = u128::from(by as u64);
    let low = u128::from(count) * low_half;
    // Cannot overflow: at most (2^64 - 1)^2 + 2^64 - 1.
    let high = u128::from(count) * (by >> 64) + (low >> 64);
    (high, low as u64)
}

fn round_down(count: u64, bits: u32) -> u64 {
    let shift = (u64::BITS - count.leading_zeros()).saturating_sub(bits.max(1));
    count >> shift << shift
}
