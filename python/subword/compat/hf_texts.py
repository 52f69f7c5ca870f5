"""What HF ``tokenizers`` tells of a text besides its ids, worked out when it is asked for.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/tokenizer/pre_tokenizer.rs (words),
pre_tokenizers/byte_level.rs (``process_offsets``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from subword import _core
from subword.byte_characters import BYTE_CHARACTERS
from subword.errors import UnencodableTextError
from subword.models import Unigram, unknown_id
from subword.special_tokens import TokenFlags
from subword.tokenizer import Tokenizer
from subword.types import Span, TokenId

__all__ = ["EncodedText", "Trim", "Vocabulary", "trim_of"]


@dataclass(frozen=True, slots=True)
class Trim:
    """The post-processor ``ByteLevel``: whether offsets leave the spaces of a token out.

    Attributes:
        add_prefix_space: Whether the first space of a text is one that was added.
        trims: Whether they do.
    """

    add_prefix_space: bool
    trims: bool = True


def trim_of(found: Mapping[str, Any] | None) -> Trim | None:
    """Give the post-processor that leaves spaces out of offsets, where there is one."""
    steps = [] if not found else found.get("processors", [found])
    for step in steps:
        if step["type"] in ("ByteLevel", "RobertaProcessing"):
            return Trim(step.get("add_prefix_space", True), step.get("trim_offsets", True))
    return None


class Vocabulary:
    """A tokenizer, the spelling of its tokens, and its model by itself."""

    def __init__(self, tokenizer: Tokenizer, ids: dict[str, TokenId], trim: Trim | None) -> None:
        """Keep the parts."""
        self.tokenizer = tokenizer
        self.ids = ids
        self.trim = trim

    @cached_property
    def spellings(self) -> dict[TokenId, str]:
        """The token of each id, as HF spells it."""
        return {token_id: token for token, token_id in self.ids.items()}

    @cached_property
    def special(self) -> dict[TokenId, str]:
        """The added tokens by id."""
        return {token_id: text for text, token_id in self.tokenizer.special_tokens.items()}

    @cached_property
    def bare(self) -> Tokenizer:
        """The model alone: what it does with a pre-token."""
        return Tokenizer(self.tokenizer.model)

    def pieces(self, segment: bytes, *, at_start: bool) -> list[bytes]:
        """Give the pre-tokens of what lies between added tokens."""
        tok = self.tokenizer
        if tok.normalizer:
            segment, _ = self._normalizer.normalize(segment)
        if tok.pretokenizer is not None:
            found = [piece for piece, _, _ in self._steps.split(segment, at_start=at_start)]
        elif tok.pattern:
            found = _core.split(segment, list(tok.pattern))
        else:
            found = [segment]
        return [piece for piece in found if piece]

    @cached_property
    def _normalizer(self) -> _core.Normalizer:
        return _core.Normalizer(list(self.tokenizer.normalizer))

    @cached_property
    def _steps(self) -> _core.Steps:
        return _core.Steps(list(self.tokenizer.pretokenizer or ()))


class EncodedText:
    """Ids of a text, or of words given one by one, and what is known of each."""

    def __init__(
        self, vocabulary: Vocabulary, texts: Sequence[str], ids: list[list[TokenId]], *, cut: bool
    ) -> None:
        """Keep the parts.

        Args:
            vocabulary: Of the tokenizer.
            texts: One text, or its words.
            ids: Of each of them.
            cut: Whether the texts are words.
        """
        self._vocabulary = vocabulary
        self._texts = texts
        self._parts = ids
        self._is_cut = cut

    @cached_property
    def ids(self) -> list[TokenId]:
        """All ids."""
        return [token_id for part in self._parts for token_id in part]

    @cached_property
    def spans(self) -> list[Span]:
        """The characters of each id, in its text or word."""
        tok = self._vocabulary.tokenizer
        return [span for text in self._texts for span in tok.encode_spans(text).char_spans]

    def offsets(self, at: int, *, is_first: bool) -> Span:
        """Give the span of an id, its spaces left out where the file asks for that."""
        span, trim = self.spans[at], self._vocabulary.trim
        if trim is None or not trim.trims:
            return span
        return _trimmed(self.tokens[at], span, trim, is_first=is_first)

    @cached_property
    def tokens(self) -> list[str]:
        """The token of each id; of a Unigram model, unknown text itself."""
        spellings, model = self._vocabulary.spellings, self._vocabulary.tokenizer.model
        tokens = [spellings[token_id] for token_id in self.ids]
        if isinstance(model, Unigram) and model.unk_id in self.ids:
            for at, (token_id, (_, text)) in enumerate(zip(self.ids, self._words, strict=True)):
                if token_id == model.unk_id and text is not None:
                    tokens[at] = text
        return tokens

    @cached_property
    def word_ids(self) -> list[int]:
        """The number of the pre-token, or given word, that each id is part of.

        Raises:
            UnencodableTextError: The pre-tokens do not give the text's ids one by one, so that
                their numbers cannot be told.
        """
        if self._is_cut:
            return [at for at, part in enumerate(self._parts) for _ in part]
        return [word for word, _ in self._words]

    @cached_property
    def _words(self) -> list[tuple[int, str | None]]:
        return [
            word
            for text, ids in zip(self._texts, self._parts, strict=True)
            for word in _words(self._vocabulary, text, ids)
        ]


def _words(vocabulary: Vocabulary, text: str, ids: list[TokenId]) -> list[tuple[int, str | None]]:
    """Give the pre-token of each id, and its text where the model has it."""
    data = text.encode()
    spans = vocabulary.tokenizer.encode_spans(text).byte_spans
    added = [
        at for at, token_id in enumerate(ids) if _is_added(vocabulary, token_id, data, spans[at])
    ]
    words: list[tuple[int, str | None]] = []
    made: list[TokenId] = []
    n_words = end = 0
    for at in [*added, None]:
        start = len(data) if at is None else spans[at][0]
        pieces = vocabulary.pieces(data[end:start], at_start=end == 0) if end < start else []
        for piece in pieces:
            encoding = vocabulary.bare.encode_spans(piece)
            for token_id, (first, last) in zip(encoding.ids, encoding.byte_spans, strict=True):
                made.append(token_id)
                words.append((n_words, piece[first:last].decode("utf-8", "replace")))
            n_words += 1
        if at is not None:
            made.append(ids[at])
            words.append((n_words, None))
            n_words += 1
            end = spans[at][1]
    if made != ids:
        raise UnencodableTextError(
            f"the words of {text!r:.60} cannot be told: its pre-tokens by themselves give other "
            "ids than the text; use offsets in their place"
        )
    return words


def _is_added(vocabulary: Vocabulary, token_id: TokenId, data: bytes, span: Span) -> bool:
    """Tell whether an id is an added token's that was found in the text, not one of the model."""
    token = vocabulary.special.get(token_id)
    if token is None:
        return False
    tok = vocabulary.tokenizer
    if tok.token_flags.get(token, TokenFlags()).normalized and tok.normalizer:
        return token_id != unknown_id(tok.model)
    return data[span[0] : span[1]].strip() == token.encode().strip()


_SPACES = frozenset((BYTE_CHARACTERS[ord(" ")], *" \t\n\r\x0b\x0c\x85\xa0\u1680\u2028\u2029"))


def _is_space(character: str) -> bool:
    return character in _SPACES or (character.isspace() and not "\x1c" <= character <= "\x1f")


def _trimmed(token: str, span: Span, trim: Trim, *, is_first: bool) -> Span:
    start, end = span
    n_left = next((at for at, char in enumerate(token) if not _is_space(char)), len(token))
    n_right = next((at for at, c in enumerate(reversed(token)) if not _is_space(c)), len(token))
    if n_left and trim.add_prefix_space and (is_first or start == 0):
        n_left -= 1
    start = min(start + n_left, end)
    if n_right and end >= n_right:
        end = max(end - n_right, start)
    return start, end
