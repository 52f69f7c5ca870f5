"""Tokenizers by their names in the course: ``Tokenizer`` with another constructor each."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike

from subword.formats.vocab_merges import read_files
from subword.models import bpe_from_tokens
from subword.patterns import resolve_pattern
from subword.special_tokens import assign_ids, check_special_tokens
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["BPETokenizer"]


class BPETokenizer(Tokenizer):
    """Byte-level BPE from a vocabulary and merges, as Stanford CS336 has them.

    Examples:
        >>> tok = BPETokenizer({0: b"a", 1: b"b", 2: b"ab"}, [(b"a", b"b")], ["<|end|>"])
        >>> tok.encode("abba<|end|>"), tok.decode([2, 1, 0, 3])
        ([2, 1, 0, 3], 'abba<|end|>')
    """

    def __init__(
        self,
        vocab: Mapping[TokenId, bytes],
        merges: Sequence[tuple[bytes, bytes]],
        special_tokens: Iterable[str] | None = None,
        *,
        pattern: str | Sequence[str] = "gpt2",
    ) -> None:
        """Make a tokenizer.

        Args:
            vocab: Token of each id. A byte may be missing; text that needs it is refused.
            merges: Pairs of tokens in rank order.
            special_tokens: Reserved strings; those that are no tokens get the next free ids.
            pattern: The split pattern the merges were learnt with.

        Raises:
            VocabularyError: Duplicate ids or tokens, or merges that name unknown tokens.
            SpecialTokenError: An empty or repeated special token.
            PatternError: The pattern does not compile.
        """
        model = bpe_from_tokens(vocab, merges)
        known = {token: token_id for token_id, token in model.vocab.items()}
        special = assign_ids(
            check_special_tokens(special_tokens or ()), known, max(model.vocab, default=-1) + 1
        )
        super().__init__(model, special, resolve_pattern(pattern))

    @classmethod
    def from_files(
        cls,
        vocab_path: str | PathLike[str],
        merges_path: str | PathLike[str],
        special_tokens: Iterable[str] | None = None,
        *,
        pattern: str | Sequence[str] = "gpt2",
    ) -> "BPETokenizer":
        """Read a vocabulary and merges as GPT-2 writes them; see ``subword.formats.vocab_merges``.

        Raises:
            FormatError: A file that is damaged, with its place.
            SubwordError: As the constructor.
        """
        vocab, merges = read_files(vocab_path, merges_path)
        return cls(vocab, merges, special_tokens, pattern=pattern)
