"""WordPiece, and BPE over characters, learnt step by step."""

from collections.abc import Sequence
from typing import Final, Literal

from subword.reference.bpe import Ties
from subword.reference.wordpiece import learn_wordpiece, spell
from subword.special_tokens import check_special_tokens
from subword.trace.records import MergeTrace
from subword.trace.replay import Rules, check_steps, named, replay
from subword.trace.sources import Counted, TraceSource, check_work, read_words
from subword.types import Pair

__all__ = ["learn_characters", "wordpiece"]

# As many tokens as no source of a trace can need.
_NO_LIMIT: Final = 1 << 40


def wordpiece(
    source: TraceSource,
    n_merges: int,
    *,
    score: Literal["likelihood", "frequency"] = "likelihood",
    ties: Ties = "greatest",
    prefix: str = "##",
    pattern: str | Sequence[str] | None = "whitespace",
    special_tokens: Sequence[str] = (),
    min_frequency: int = 1,
    top: int = 10,
) -> MergeTrace:
    """Learn a WordPiece vocabulary from a small source and keep every step.

    Whitespace is no part of a WordPiece vocabulary: pre-tokens that are nothing else are left
    out. Ids are the special tokens, then the characters that begin a word by code point, then
    those inside one, then merges.

    Args:
        source: A text (a ``str`` is not a path here), documents, or words with their counts.
        n_merges: Merges wanted.
        score: ``"likelihood"``, n(ab) / (n(a) n(b)), compared exactly, or ``"frequency"``, n(ab).
        ties: The rule for equal scores; ``"greatest"`` compares the tokens with their prefix.
        prefix: What stands before each character inside a word; may be empty.
        pattern: The split pattern for texts; words of a mapping are not split again.
        special_tokens: Reserved strings; texts are cut at them.
        min_frequency: The count below which no pair is merged.
        top: Candidates that each step keeps.

    Returns:
        The trace; it has fewer steps than asked for when no pair is left.

    Raises:
        ArgumentError: An argument out of range, or a source that is too large.
        EmptyCorpusError: No word in the source.
        SpecialTokenError: An empty or repeated special token, or one that is a character.

    Source: Schuster and Nakajima 2012, "Japanese and Korean Voice Search", section 3; the score
    as the Hugging Face course, chapter 6.6, has it.

    Examples:
        >>> counts = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
        >>> step = wordpiece(counts, 1).steps[0]
        >>> str(step.chosen), step.merged, step.words[4].symbols
        ('##g + ##s (1/20)', '##gs', ('h', '##u', '##gs'))
    """
    check_steps(n_merges, top)
    tokens = check_special_tokens(special_tokens)
    return learn_characters(
        read_words(source, pattern, tokens, keep_whitespace=False),
        algorithm="wordpiece",
        vocab_size=None,
        n_merges=n_merges,
        score=score,
        ties=ties,
        special_tokens=tokens,
        continuing_prefix=prefix,
        end_of_word_suffix="",
        min_frequency=min_frequency,
        top=top,
    )


def learn_characters(
    counted: Sequence[Counted],
    *,
    algorithm: str,
    vocab_size: int | None,
    n_merges: int | None,
    score: str,
    ties: Ties,
    special_tokens: tuple[str, ...],
    continuing_prefix: str,
    end_of_word_suffix: str,
    min_frequency: int,
    top: int,
) -> MergeTrace:
    """Learn merges of characters; ``vocab_size`` or ``n_merges`` says how many."""
    rows = [(word.pretoken, word.occurrences) for word in counted]
    possible = check_work(counted, max(vocab_size or n_merges or 0, 0))
    learned = learn_wordpiece(
        rows,
        vocab_size=_NO_LIMIT if vocab_size is None else vocab_size,
        max_merges=possible if vocab_size is None else None,
        score=score,
        ties=ties,
        min_frequency=min_frequency,
        continuing_prefix=continuing_prefix,
        end_of_word_suffix=end_of_word_suffix,
        special_tokens=special_tokens,
        first_seen=[word.first_seen for word in counted],
    )
    tokens = [token.decode() for token in learned.tokens]
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    marks = (continuing_prefix, end_of_word_suffix)
    words = [
        # The alphabet is whole, so a word is one run.
        (count, tuple(ids[symbol] for run in spell(word, marks, alphabet) for symbol in run))
        for alphabet in [set(learned.alphabet)]
        for word, count in rows
    ]

    def may_merge(pair: Pair, count: int) -> bool:
        merged = tokens[pair[0]] + tokens[pair[1]].removeprefix(continuing_prefix)
        return count >= max(min_frequency, 1) and merged not in special_tokens

    merges = [((merge.left, merge.right), merge.merged) for merge in learned.merges]
    rules = Rules(score, ties, may_merge, lambda token_id: token_id, top)
    return MergeTrace(
        algorithm=algorithm,
        alphabet="characters",
        score=score,
        ties=ties,
        n_merges=(vocab_size - learned.n_initial) if vocab_size is not None else n_merges or 0,
        special_tokens=special_tokens,
        words=named(words, tokens),
        tokens=tuple(tokens),
        n_initial=learned.n_initial,
        steps=replay(words, merges, tokens, rules, learned.n_initial),
    )
