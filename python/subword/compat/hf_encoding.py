"""HF ``tokenizers``' ``Encoding``: rows of ids, cut, joined and filled up.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/tokenizer/encoding.rs,
utils/{truncation,padding}.rs.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from subword.compat.hf_texts import EncodedText
from subword.errors import ArgumentError
from subword.padding import Padding, Truncation
from subword.types import Span, TokenId

__all__ = ["Encoding", "both_truncated", "joined", "lengths", "padded", "truncated"]

Place: TypeAlias = str | tuple[EncodedText, int, bool]
"""A token that stands in no text; or a text, the number of the id in it, and whether it is the
first of its row."""


@dataclass(slots=True)
class Encoding:
    """What HF's class of this name is.

    Attributes:
        ids: Token ids.
        type_ids: The segment number of each.
        special_tokens_mask: 1 where a token was added by the template, or to fill up.
        attention_mask: 0 where a token fills up.
        sequence_ids: Which of the texts each token is of; None for those of the template.
        overflowing: What truncation cut off, as rows of their own.
    """

    ids: list[TokenId] = field(default_factory=list)
    type_ids: list[int] = field(default_factory=list)
    special_tokens_mask: list[int] = field(default_factory=list)
    attention_mask: list[int] = field(default_factory=list)
    sequence_ids: list[int | None] = field(default_factory=list)
    overflowing: list["Encoding"] = field(default_factory=list)
    _places: list[Place] = field(default_factory=list)
    _sequences: frozenset[int] = frozenset()

    @classmethod
    def of_text(cls, text: EncodedText) -> "Encoding":
        """Give the row of a text."""
        n = len(text.ids)
        places: list[Place] = [(text, at, at == 0) for at in range(n)]
        return cls(list(text.ids), [0] * n, [0] * n, [1] * n, [0] * n, [], places)

    @classmethod
    def of_tokens(
        cls, token: str, token_id: TokenId, type_id: int, n: int, *, seen: int = 1
    ) -> "Encoding":
        """Give a row of one token, ``n`` times, that is in no text."""
        return cls([token_id] * n, [type_id] * n, [1] * n, [seen] * n, [None] * n, [], [token] * n)

    def __len__(self) -> int:
        """Give the number of ids."""
        return len(self.ids)

    def __repr__(self) -> str:
        """Give the size and the attributes."""
        return (
            f"Encoding(num_tokens={len(self)}, attributes=[ids, type_ids, tokens, offsets, "
            "attention_mask, special_tokens_mask, overflowing])"
        )

    @property
    def tokens(self) -> list[str]:
        """The tokens, as HF spells them."""
        return [
            place if isinstance(place, str) else place[0].tokens[place[1]] for place in self._places
        ]

    @property
    def offsets(self) -> list[Span]:
        """The characters of each token in its text; (0, 0) for those of no text."""
        return [
            (0, 0) if isinstance(place, str) else place[0].offsets(place[1], is_first=place[2])
            for place in self._places
        ]

    @property
    def word_ids(self) -> list[int | None]:
        """The number of the pre-token, or of the given word, of each token.

        Raises:
            UnencodableTextError: They cannot be told for a text.
        """
        return [
            None if isinstance(place, str) else place[0].word_ids[place[1]]
            for place in self._places
        ]

    words = word_ids

    @property
    def n_sequences(self) -> int:
        """How many texts there are."""
        return max(1, len(self._sequences))

    def token_to_sequence(self, token_index: int) -> int | None:
        """Give the text of a token."""
        return self.sequence_ids[token_index] if 0 <= token_index < len(self) else None

    def token_to_chars(self, token_index: int) -> Span | None:
        """Give the characters of a token."""
        return None if self.token_to_sequence(token_index) is None else self.offsets[token_index]

    def token_to_word(self, token_index: int) -> int | None:
        """Give the word of a token."""
        return None if self.token_to_sequence(token_index) is None else self.word_ids[token_index]

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Give the first token that has a character."""
        for at, (start, end) in enumerate(self.offsets):
            if self.sequence_ids[at] == sequence_index and start <= char_pos < end:
                return at
        return None

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Give the word that has a character."""
        at = self.char_to_token(char_pos, sequence_index)
        return None if at is None else self.word_ids[at]

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """Give the first token of a word and the one after its last."""
        found = [
            at
            for at, word in enumerate(self.word_ids)
            if word == word_index and self.sequence_ids[at] == sequence_index
        ]
        return (found[0], found[-1] + 1) if found else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """Give the characters of a word."""
        found = self.word_to_tokens(word_index, sequence_index)
        if found is None:
            return None
        offsets = self.offsets
        return offsets[found[0]][0], offsets[found[1] - 1][1]

    def part(self, start: int, stop: int) -> "Encoding":
        """Give a row of some of the tokens."""
        at = slice(start, stop)
        places = self._places[at]
        if places and not isinstance(places[0], str):
            places[0] = (places[0][0], places[0][1], True)
        return Encoding(
            self.ids[at],
            self.type_ids[at],
            self.special_tokens_mask[at],
            self.attention_mask[at],
            self.sequence_ids[at],
            [],
            places,
            self._sequences,
        )

    def numbered(self, sequence: int, type_id: int) -> "Encoding":
        """Give the row as text ``sequence``, in a segment; what was cut off likewise."""
        n = len(self)
        rest = [part.numbered(sequence, type_id) for part in self.overflowing]
        return Encoding(
            self.ids,
            [type_id] * n,
            self.special_tokens_mask,
            self.attention_mask,
            [sequence] * n,
            rest,
            self._places,
            frozenset([sequence]),
        )

    def followed(self, other: "Encoding") -> "Encoding":
        """Give both rows as one; each part that was cut off of one is joined with the other's.

        As in HF, a part that is joined has parts of its own: those of what it was joined with.
        """
        rest = []
        for part in self.overflowing:
            rest.append(part.followed(other))
            rest += [part.followed(part_2) for part_2 in other.overflowing]
        rest += [self.followed(part_2) for part_2 in other.overflowing]
        return Encoding(
            self.ids + other.ids,
            self.type_ids + other.type_ids,
            self.special_tokens_mask + other.special_tokens_mask,
            self.attention_mask + other.attention_mask,
            self.sequence_ids + other.sequence_ids,
            rest,
            self._places + other._places,
            self._sequences | other._sequences,
        )

    def _alone(self) -> "Encoding":
        return self.part(0, len(self)) if self.overflowing else self


def joined(parts: list[Encoding]) -> Encoding:
    """Give one row of several."""
    whole = Encoding()
    for part in parts:
        whole = whole.followed(part)
    return whole


def truncated(row: Encoding, n: int, stride: int, side: str) -> Encoding:
    """Cut a row to ``n`` ids; what is cut off follows in rows that repeat ``stride`` ids.

    Raises:
        ArgumentError: ``stride`` is not below ``n``.
    """
    if len(row) <= n:
        return row
    if n == 0:
        return Encoding(overflowing=[row])
    if stride >= n:
        raise ArgumentError(
            f"stride is {stride}, but a text has {n} ids in a row; it has to be less, or "
            "max_length more"
        )
    size, step = len(row), n - stride
    starts = range(0, size - stride, step)
    if side == "right":
        bounds = [(at, min(at + n, size)) for at in starts]
    else:
        bounds = [(max(size - at - n, 0), size - at) for at in starts]
    first, *rest = (row.part(*bound) for bound in bounds)
    first.overflowing = rest
    return first


def lengths(first: int, second: int | None, most: int, strategy: str) -> tuple[int, int]:
    """Give how many ids of two texts stay, so that they are at most ``most`` together.

    Raises:
        ArgumentError: The text that is to be cut is too short, or there is no second one.
    """
    excess = first + (second or 0) - most
    if excess <= 0:
        return first, second or 0
    if strategy == "longest_first":
        if second is None:
            return most, 0
        short, long = sorted((first, second))
        # The longer one gives way until both are equal, then both.
        long = max(short, most - short)
        if short + long > most:
            short, long = most // 2, most - most // 2
        return (short, long) if first <= second else (long, short)
    cut = first if strategy == "only_first" else second
    if cut is None:
        raise ArgumentError("truncation is only_second, and there is no second text")
    # With no room at all HF cuts both to nothing.
    if most == 0:
        return 0, 0
    if cut <= excess:
        raise ArgumentError(
            f"truncation is {strategy}: that text has {cut} ids, and {excess} of them would have "
            "to go; the other is too long for max_length"
        )
    return (first - excess, second or 0) if strategy == "only_first" else (first, cut - excess)


def both_truncated(
    first: Encoding, second: Encoding | None, truncation: Truncation, n_added: int
) -> tuple[Encoding, Encoding | None]:
    """Cut the rows of a text and its pair, so that the template's tokens fit in too.

    Raises:
        ArgumentError: As ``lengths`` and ``truncated``, or the template alone is longer.
    """
    most = truncation.max_length - n_added
    if most < 0:
        raise ArgumentError(
            f"max_length is {truncation.max_length}, and the template alone adds {n_added}"
        )
    n_second = None if second is None else len(second)
    n_1, n_2 = lengths(len(first), n_second, most, truncation.strategy)
    side, stride = truncation.side, truncation.stride
    cut = None if second is None else truncated(second, n_2, stride, side)
    return truncated(first, n_1, stride, side), cut


def padded(rows: list[Encoding], padding: Padding) -> list[Encoding]:
    """Fill rows up to one length, and what was cut off of them too."""
    n = max(map(len, rows), default=0) if padding.length is None else padding.length
    if padding.multiple_of and n:
        n += -n % padding.multiple_of
    return [_filled(row, n, padding) for row in rows]


def _filled(row: Encoding, n: int, padding: Padding) -> Encoding:
    rest = [_filled(part, n, padding) for part in row.overflowing]
    row = row._alone()
    if len(row) < n:
        count = n - len(row)
        fill = Encoding.of_tokens(padding.token, padding.pad_id, padding.type_id, count, seen=0)
        if not row._sequences:
            # A row that no post-processor numbered is of one text, whatever fills it up.
            fill.sequence_ids = [0] * count
        row = row.followed(fill) if padding.side == "right" else fill.followed(row)
    elif rest:
        row = row.part(0, len(row))
    row.overflowing = rest
    return row
