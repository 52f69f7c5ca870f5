//! Encode a word by greedy longest match, in time linear in its bytes for any vocabulary.
//!
//! Source: Song et al. 2021, "Fast WordPiece Tokenization" (EMNLP), section 3, `LinMaxMatch` for
//! single words. A trie is walked; where it has no way on, the failure link of the node says
//! which tokens ("failure pops") the longest match gives for what was read, and where to go on.
//! Words that begin anew and words that continue have a trie each, so a text that spells the
//! prefix itself ("##a") gives what a plain longest match over the vocabulary gives.

use crate::error::{Error, Kind, Result};
use crate::parallel::Control;

/// Bytes between two looks at the stop flag.
const BYTES_A_CHECK: usize = 1 << 16;

use super::trie::{NO_NODE, NodeId, Placed, Trie};

/// What a vocabulary means.
#[derive(Debug, Clone)]
pub struct Options {
    /// What tokens inside a word start with; may be empty.
    pub continuing_prefix: Vec<u8>,
    /// What a word gets that the vocabulary cannot spell; without it such a word is an error.
    pub unk_id: Option<u32>,
    /// Words of more characters are unknown as they stand.
    pub max_input_chars_per_word: usize,
}

/// One failure pop: a token, and the pop before it in the same list.
#[derive(Debug, Clone, Copy)]
struct Pop {
    id: u32,
    n_bytes: u32,
    before: u32,
}

/// No pop before this one.
const NO_POP: u32 = u32::MAX;

/// Where to go on when a node has no child for the next byte.
#[derive(Debug, Clone, Copy)]
struct Failure {
    /// The node to go on at; `NO_NODE` when the word cannot be spelled.
    node: NodeId,
    /// The last of the tokens to emit first.
    last_pop: u32,
}

const STUCK: Failure = Failure { node: NO_NODE, last_pop: NO_POP };

/// A vocabulary, compiled.
#[derive(Debug)]
pub struct WordPiece {
    trie: Trie,
    failures: Vec<Failure>,
    pops: Vec<Pop>,
    initial_root: NodeId,
    continuing_root: NodeId,
    unk_id: Option<u32>,
    max_input_chars_per_word: usize,
}

impl WordPiece {
    /// Compile `tokens` with their ids.
    ///
    /// Empty tokens, and the bare prefix inside a word, match nothing. Time and memory are
    /// linear in the bytes of all tokens.
    ///
    /// # Errors
    ///
    /// `Vocabulary` when a token or an id stands twice, or `unk_id` is no token's id; `Memory`.
    pub fn new(tokens: &[(Vec<u8>, u32)], options: &Options) -> Result<Self> {
        refuse_repeated_ids(tokens, options.unk_id)?;
        let initial: Vec<(&[u8], u32)> =
            tokens.iter().map(|(token, id)| (token.as_slice(), *id)).collect();
        let mut this = Self {
            trie: Trie::default(),
            failures: Vec::new(),
            pops: Vec::new(),
            initial_root: NO_NODE,
            continuing_root: NO_NODE,
            unk_id: options.unk_id,
            max_input_chars_per_word: options.max_input_chars_per_word,
        };
        let prefix = options.continuing_prefix.as_slice();
        if !prefix.is_empty() {
            let continuing =
                initial.iter().filter_map(|&(token, id)| Some((token.strip_prefix(prefix)?, id)));
            let continuing = sorted_tokens(continuing)?;
            let nodes = this.add(&continuing)?;
            this.continuing_root = root_of(&nodes);
            this.link(&nodes, &continuing)?;
        }
        let initial = sorted_tokens(initial.into_iter())?;
        let nodes = this.add(&initial)?;
        this.initial_root = root_of(&nodes);
        if prefix.is_empty() {
            this.continuing_root = this.initial_root;
        }
        this.link(&nodes, &initial)?;
        Ok(this)
    }

    /// Append the ids of `word`; an empty word has none.
    ///
    /// # Errors
    ///
    /// `UnencodableText` when the vocabulary cannot spell the word and there is no unknown token;
    /// `ids` is then as it was.
    pub fn encode(&self, word: &[u8], ids: &mut Vec<u32>, control: &Control) -> Result<()> {
        let start = ids.len();
        if self.is_short_enough(word) && self.walk(word, ids, |pop| pop.id, control)? {
            return Ok(());
        }
        ids.truncate(start);
        ids.push(self.unknown(word)?);
        Ok(())
    }

    /// Append `(id, start, end)` for each token of `word`, as offsets of bytes in the word.
    ///
    /// # Errors
    ///
    /// As `encode`.
    pub fn encode_spans(
        &self,
        word: &[u8],
        out: &mut Vec<(u32, u32, u32)>,
        control: &Control,
    ) -> Result<()> {
        let first = out.len();
        if self.is_short_enough(word)
            && self.walk(word, out, |pop| (pop.id, 0, pop.n_bytes), control)?
        {
            let mut at = 0_u32;
            for (_, start, end) in out.iter_mut().skip(first) {
                *start = at;
                // Tokens add up to the word, which is no longer than its tokens' u32 lengths.
                *end = end.saturating_add(at);
                at = *end;
            }
            return Ok(());
        }
        out.truncate(first);
        let end = u32::try_from(word.len()).map_err(|_| {
            Error::new(Kind::Text, format!("a word of {} bytes; 2^32 - 1 is the most", word.len()))
        })?;
        out.push((self.unknown(word)?, 0, end));
        Ok(())
    }

    /// The walk itself; false when it got stuck, `out` then holds what was matched before.
    #[inline]
    fn walk<T>(
        &self,
        word: &[u8],
        out: &mut Vec<T>,
        make: impl Fn(&Pop) -> T,
        control: &Control,
    ) -> Result<bool> {
        let mut node = self.initial_root;
        for part in word.chunks(BYTES_A_CHECK) {
            control.check()?;
            for &byte in part {
                loop {
                    if let Some(child) = self.trie.child(node, byte) {
                        node = child;
                        break;
                    }
                    match self.fail(node, out, &make) {
                        Some(next) => node = next,
                        None => return Ok(false),
                    }
                }
            }
        }
        if word.is_empty() {
            return Ok(true);
        }
        while node != self.continuing_root {
            match self.fail(node, out, &make) {
                Some(next) => node = next,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    #[inline]
    fn fail<T>(&self, node: NodeId, out: &mut Vec<T>, make: &impl Fn(&Pop) -> T) -> Option<NodeId> {
        let failure = self.failures.get(node as usize).filter(|failure| failure.node != NO_NODE)?;
        let start = out.len();
        let mut at = failure.last_pop;
        while let Some(pop) = self.pops.get(at as usize) {
            out.push(make(pop));
            at = pop.before;
        }
        if let Some(popped) = out.get_mut(start..) {
            popped.reverse();
        }
        Some(failure.node)
    }

    fn is_short_enough(&self, word: &[u8]) -> bool {
        word.len() <= self.max_input_chars_per_word
            || n_characters(word) <= self.max_input_chars_per_word
    }

    fn unknown(&self, word: &[u8]) -> Result<u32> {
        self.unk_id.ok_or_else(|| {
            let start: String = String::from_utf8_lossy(word).chars().take(40).collect();
            Error::new(
                Kind::UnencodableText,
                format!(
                    "the vocabulary cannot spell the word {start:?} ({} bytes) and has no unknown \
                     token; give unk_token, or a vocabulary with these characters",
                    word.len()
                ),
            )
        })
    }

    fn add(&mut self, tokens: &[(&[u8], u32)]) -> Result<Vec<Placed>> {
        let keys: Vec<&[u8]> = tokens.iter().map(|&(token, _)| token).collect();
        let nodes = self.trie.insert_sorted(&keys)?;
        self.failures.try_reserve(self.trie.len() - self.failures.len())?;
        self.failures.resize(self.trie.len(), STUCK);
        Ok(nodes)
    }

    /// Set the failure links and pops of the nodes of one trie, which stand breadth first.
    ///
    /// The pops of a node continue the list of its parent, so all lists together hold at most
    /// one pop for each byte of the vocabulary.
    fn link(&mut self, nodes: &[Placed], tokens: &[(&[u8], u32)]) -> Result<()> {
        for placed in nodes.iter().skip(1) {
            let token = placed.key.and_then(|key| tokens.get(key));
            let failure = match token {
                Some(&(token, id)) => {
                    let n_bytes = u32::try_from(token.len()).unwrap_or(u32::MAX);
                    let last_pop = self.push_pop(Pop { id, n_bytes, before: NO_POP })?;
                    Failure { node: self.continuing_root, last_pop }
                }
                None => self.failure_after(placed)?,
            };
            if let Some(slot) = self.failures.get_mut(placed.node as usize) {
                *slot = failure;
            }
        }
        Ok(())
    }

    fn failure_after(&mut self, placed: &Placed) -> Result<Failure> {
        let mut failure = self.failure(placed.parent);
        let mut pops = Vec::new();
        while failure.node != NO_NODE {
            if let Some(node) = self.trie.child(failure.node, placed.byte) {
                return Ok(Failure { node, last_pop: failure.last_pop });
            }
            let next = self.failure(failure.node);
            failure.node = next.node;
            if next.node == NO_NODE {
                break;
            }
            pops.clear();
            let mut at = next.last_pop;
            while let Some(&pop) = self.pops.get(at as usize) {
                pops.push(pop);
                at = pop.before;
            }
            for pop in pops.iter().rev() {
                failure.last_pop = self.push_pop(Pop { before: failure.last_pop, ..*pop })?;
            }
        }
        Ok(STUCK)
    }

    fn failure(&self, node: NodeId) -> Failure {
        self.failures.get(node as usize).copied().unwrap_or(STUCK)
    }

    fn push_pop(&mut self, pop: Pop) -> Result<u32> {
        let at =
            u32::try_from(self.pops.len()).ok().filter(|&at| at != NO_POP).ok_or_else(|| {
                Error::new(Kind::Vocabulary, "the vocabulary's tokens hold more than 2^32 bytes")
            })?;
        self.pops.try_reserve(1)?;
        self.pops.push(pop);
        Ok(at)
    }
}

/// Characters of `text`; each byte that is no part of UTF-8 counts as one.
#[must_use]
pub fn n_characters(text: &[u8]) -> usize {
    text.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum()
}

fn root_of(nodes: &[Placed]) -> NodeId {
    nodes.first().map_or(NO_NODE, |root| root.node)
}

/// Tokens in byte order, empty ones left out.
fn sorted_tokens<'a>(
    tokens: impl Iterator<Item = (&'a [u8], u32)>,
) -> Result<Vec<(&'a [u8], u32)>> {
    let mut tokens: Vec<(&[u8], u32)> = tokens.filter(|(token, _)| !token.is_empty()).collect();
    tokens.sort_unstable();
    for pair in tokens.windows(2) {
        if let [(token, id), (next, next_id)] = pair
            && token == next
        {
            return Err(Error::new(
                Kind::Vocabulary,
                format!(
                    "the token {:?} stands twice, with ids {id} and {next_id}; each token needs \
                     one id",
                    String::from_utf8_lossy(token)
                ),
            ));
        }
    }
    Ok(tokens)
}

fn refuse_repeated_ids(tokens: &[(Vec<u8>, u32)], unk_id: Option<u32>) -> Result<()> {
    let mut ids: Vec<u32> = tokens.iter().map(|&(_, id)| id).collect();
    ids.sort_unstable();
    for pair in ids.windows(2) {
        if let [id, next] = pair
            && id == next
        {
            return Err(Error::new(
                Kind::Vocabulary,
                format!("the id {id} stands twice; each token needs its own"),
            ));
        }
    }
    match unk_id {
        Some(unk_id) if ids.binary_search(&unk_id).is_err() => Err(Error::new(
            Kind::Vocabulary,
            format!("the unknown token's id {unk_id} is not in the vocabulary"),
        )),
        _ => Ok(()),
    }
}
