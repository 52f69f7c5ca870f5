//! A heap whose order needs more than its entries: the comparison is given with each call.

/// Children of an entry; four share a cache line or two.
const ARITY: usize = 4;

/// The first entry, in the order of the `before` given with each call, is at the top.
#[derive(Debug)]
pub struct Heap<E> {
    entries: Vec<E>,
}

impl<E> Default for Heap<E> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<E: Copy> Heap<E> {
    /// Entries, stale ones included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The top entry.
    pub fn peek(&self) -> Option<E> {
        self.entries.first().copied()
    }

    /// Add an entry.
    pub fn push(&mut self, entry: E, before: impl Fn(&E, &E) -> bool) {
        self.entries.push(entry);
        let mut at = self.entries.len() - 1;
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if !self.is_before(at, parent, &before) {
                break;
            }
            self.entries.swap(at, parent);
            at = parent;
        }
    }

    /// Take the top entry.
    pub fn pop(&mut self, before: impl Fn(&E, &E) -> bool) -> Option<E> {
        if self.entries.is_empty() {
            return None;
        }
        let top = self.entries.swap_remove(0);
        self.sift_down(0, &before);
        Some(top)
    }

    /// Keep only the entries that `keep` wants.
    pub fn retain(&mut self, keep: impl Fn(&E) -> bool, before: impl Fn(&E, &E) -> bool) {
        self.entries.retain(keep);
        for at in (0..self.entries.len().div_ceil(ARITY)).rev() {
            self.sift_down(at, &before);
        }
    }

    fn sift_down(&mut self, mut at: usize, before: &impl Fn(&E, &E) -> bool) {
        loop {
            let mut first = at;
            let children = ARITY * at + 1;
            for child in children..(children + ARITY).min(self.entries.len()) {
                if self.is_before(child, first, before) {
                    first = child;
                }
            }
            if first == at {
                return;
            }
            self.entries.swap(at, first);
            at = first;
        }
    }

    fn is_before(&self, at: usize, other: usize, before: &impl Fn(&E, &E) -> bool) -> bool {
        match (self.entries.get(at), self.entries.get(other)) {
            (Some(entry), Some(other)) => before(entry, other),
            _ => false,
        }
    }
}
