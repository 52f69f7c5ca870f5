"""HF ``tokenizers``' ``Tokenizer``, for use, over a ``Tokenizer`` of this library.

    from subword.compat.hf import Tokenizer   # in place of: from tokenizers import Tokenizer

What it has is what programs use: reading, encoding, decoding, padding, truncation, saving. To
build or train a tokenizer use ``subword`` itself; ``from_hf`` and ``to_hf`` move one across.

Source: huggingface/tokenizers 0.23.3, bindings/python/src/tokenizer.rs, tokenizer/mod.rs,
processors/template.rs.
"""

import json
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from subword.atomic_write import write_atomically
from subword.compat.hf_encoding import Encoding, both_truncated, joined, padded
from subword.compat.hf_texts import EncodedText, Trim, Vocabulary, trim_of
from subword.errors import ArgumentError
from subword.formats import load
from subword.formats.json_file import read_bytes
from subword.formats.tokenizer_json import from_json, to_json, vocabulary_of
from subword.hub import hugging_face_folder
from subword.padding import Padding, Side, Strategy, Truncation
from subword.templates import Template, TemplatePart
from subword.tokenizer import Tokenizer as SubwordTokenizer
from subword.types import TokenId, require_extra

__all__ = ["Encoding", "Tokenizer", "from_hf", "to_hf"]

Input: TypeAlias = str | Sequence[str]
"""A text; its words where ``is_pretokenized``."""


class Tokenizer:
    """What HF's class of this name is, without what builds or trains one."""

    def __init__(self, tokenizer: SubwordTokenizer) -> None:
        """Make one of a tokenizer of this library."""
        self._made(tokenizer, None)

    def _made(self, tokenizer: SubwordTokenizer, trim: Trim | None) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = Vocabulary(tokenizer, vocabulary_of(tokenizer), trim)

    @classmethod
    def from_str(cls, json: str) -> "Tokenizer":  # the argument's name is HF's
        """Read the text of a ``tokenizer.json``.

        Raises:
            FormatError: As ``subword.load``.
        """
        return cls._from_bytes(json.encode("utf-8", "surrogatepass"), "tokenizer.json")

    @classmethod
    def from_buffer(cls, buffer: bytes) -> "Tokenizer":
        """Read the bytes of a ``tokenizer.json``. Raises as ``from_str``."""
        return cls._from_bytes(buffer, "tokenizer.json")

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> "Tokenizer":
        """Read a ``tokenizer.json``. Raises as ``subword.load``."""
        return cls._from_bytes(read_bytes(path), str(path))

    @classmethod
    def from_pretrained(
        cls, identifier: str, revision: str = "main", token: str | None = None
    ) -> "Tokenizer":
        """Read the tokenizer of a repository of the Hugging Face hub, or of its cache.

        Raises:
            ArgumentError: A ``token``; huggingface_hub takes it from its own settings.
            SourceError: It is not in the cache and cannot be fetched.
            FormatError: As ``subword.load``.
        """
        if token is not None:
            raise ArgumentError(
                "token is not taken here; log in with huggingface_hub, or set HF_TOKEN"
            )
        folder = hugging_face_folder(f"{identifier}@{revision}")
        path = folder / "tokenizer.json"
        return cls.from_file(path) if path.is_file() else cls(load(folder))

    @classmethod
    def _from_bytes(cls, data: bytes, name: str) -> "Tokenizer":
        made = cls.__new__(cls)
        made._made(from_json(data, name), trim_of(json.loads(data).get("post_processor")))
        return made

    @property
    def tokenizer(self) -> SubwordTokenizer:
        """The tokenizer that does the work."""
        return self._tokenizer

    def encode(
        self,
        sequence: Input,
        pair: Input | None = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Encode a text, or two.

        Args:
            sequence: A text; with ``is_pretokenized`` its words, each encoded by itself.
            pair: A second one.
            is_pretokenized: Whether texts are given as words.
            add_special_tokens: Whether to add the special tokens of the template.

        Raises:
            TypeError: Something else than a text, or words.
            ArgumentError: A truncation that cannot be done, or a pair that no template joins.
            SubwordError: As ``subword.Tokenizer.encode``.
        """
        if sequence is None:
            raise TypeError("sequence is None; expected a text")
        (row,) = self._rows([(sequence, pair)], is_pretokenized, add_special_tokens)
        return row

    def encode_batch(
        self,
        input: Sequence[Input | tuple[Input, Input]],  # noqa: A002 - the name is HF's
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """Encode texts, and tuples of a text and its pair. Raises as ``encode``."""
        if isinstance(input, str):
            raise TypeError("input is a text; give a list of texts, or call encode")
        pairs = [_as_pair(item, is_pretokenized) for item in input]
        return self._rows(pairs, is_pretokenized, add_special_tokens)

    encode_batch_fast = encode_batch

    def _rows(
        self, pairs: Sequence[tuple[Input, Input | None]], is_cut: bool, adds: bool
    ) -> list[Encoding]:
        texts = [_words_of(text, is_cut) for pair in pairs for text in pair if text is not None]
        flat = [word for words in texts for word in words]
        ids = iter(
            self._tokenizer.encode_batch(flat).tolist()
            if len(flat) > 1
            else [self._tokenizer.encode(word) for word in flat]
        )
        encoded = iter(
            [
                EncodedText(self._vocabulary, words, [next(ids) for _ in words], cut=is_cut)
                for words in texts
            ]
        )
        rows = []
        for _, pair in pairs:
            first = Encoding.of_text(next(encoded))
            second = None if pair is None else Encoding.of_text(next(encoded))
            rows.append(self._row(first, second, adds))
        padding = self._tokenizer.padding
        return rows if padding is None else padded(rows, padding)

    def _row(self, first: Encoding, second: Encoding | None, adds: bool) -> Encoding:
        parts = self._parts(is_pair=second is not None)
        truncation = self._tokenizer.truncation
        if truncation is not None:
            n_added = sum(part.token is not None for part in parts) if adds else 0
            first, second = both_truncated(first, second, truncation, n_added)
        if second is None and self._vocabulary.trim is None and not self._tokenizer.template.single:
            return first  # HF without a post-processor numbers no texts
        texts, special = (first, second), self._tokenizer.special_tokens
        rows = []
        for part in parts:
            if part.token is None:
                text = texts[part.text]
                if text is not None:
                    rows.append(text.numbered(part.text, part.type_id))
            elif adds:
                token_id = special[part.token]
                rows.append(Encoding.of_tokens(part.token, token_id, part.type_id, 1))
        return joined(rows)

    def _parts(self, *, is_pair: bool) -> tuple[TemplatePart, ...]:
        template: Template = self._tokenizer.template
        if not is_pair:
            return template.single or (TemplatePart(),)
        if template.single and not template.pair:
            raise ArgumentError("this tokenizer has no template that joins a pair of texts")
        return template.pair or (TemplatePart(), TemplatePart(None, 1, 1))

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Give how many tokens the template adds."""
        return sum(part.token is not None for part in self._parts(is_pair=is_pair))

    def decode(self, ids: Sequence[TokenId], skip_special_tokens: bool = True) -> str:
        """Give the text of ids; those outside the vocabulary are left out."""
        if isinstance(ids, str | bytes):
            raise TypeError("ids is a text; give a list of ids")
        known = self._vocabulary.spellings
        kept = [token_id for token_id in ids if token_id in known]
        return self._tokenizer.decode(kept, skip_special=skip_special_tokens)

    def decode_batch(
        self, sequences: Iterable[Sequence[TokenId]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Give the text of each list of ids."""
        return [self.decode(ids, skip_special_tokens) for ids in sequences]

    def token_to_id(self, token: str) -> TokenId | None:
        """Give the id of a token, as HF spells it."""
        return self._vocabulary.ids.get(token)

    def id_to_token(self, id: TokenId) -> str | None:  # noqa: A002 - the name is HF's
        """Give the token of an id, as HF spells it."""
        return self._vocabulary.spellings.get(id)

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, TokenId]:
        """Give the id of each token; without those that are added to the model's, if asked."""
        if with_added_tokens:
            return dict(self._vocabulary.ids)
        model = self._tokenizer.model.vocab
        return {token: at for token, at in self._vocabulary.ids.items() if at in model}

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Give the number of tokens."""
        return len(self.get_vocab(with_added_tokens))

    @property
    def padding(self) -> dict[str, Any] | None:
        """How rows are filled up; None for not."""
        own = self._tokenizer.padding
        if own is None:
            return None
        return {
            "length": own.length,
            "pad_to_multiple_of": own.multiple_of,
            "pad_id": own.pad_id,
            "pad_token": own.token,
            "pad_type_id": own.type_id,
            "direction": own.side,
        }

    @property
    def truncation(self) -> dict[str, Any] | None:
        """How texts are cut; None for not."""
        own = self._tokenizer.truncation
        if own is None:
            return None
        return {
            "max_length": own.max_length,
            "stride": own.stride,
            "strategy": own.strategy,
            "direction": own.side,
        }

    def enable_padding(
        self,
        direction: Side = "right",
        pad_id: TokenId = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
        pad_to_multiple_of: int | None = None,
    ) -> None:
        """Fill rows up from now on: to ``length``, or to the longest of a batch.

        Raises:
            ArgumentError: A direction that is neither ``"right"`` nor ``"left"``.
        """
        _check_side(direction)
        padding = Padding(pad_token, pad_id, pad_type_id, length, pad_to_multiple_of, direction)
        self._changed(padding=padding)

    def no_padding(self) -> None:
        """Fill rows up no longer."""
        self._changed(padding=None)

    def enable_truncation(
        self,
        max_length: int,
        stride: int = 0,
        strategy: Strategy = "longest_first",
        direction: Side = "right",
    ) -> None:
        """Cut texts from now on, to rows of ``max_length`` ids, those of the template among them.

        Raises:
            ArgumentError: A strategy or direction that is unknown, or a stride that leaves no
                room for new ids in a row.
        """
        _check_side(direction)
        if strategy not in ("longest_first", "only_first", "only_second"):
            raise ArgumentError(
                f"strategy is {strategy!r:.40}; expected longest_first, only_first or only_second"
            )
        room = max_length - self.num_special_tokens_to_add(False)
        if stride and stride >= room:
            raise ArgumentError(
                f"stride is {stride}, and a row has room for {room} ids of the text; it has to be "
                "less"
            )
        self._changed(truncation=Truncation(max_length, stride, strategy, direction))

    def no_truncation(self) -> None:
        """Cut texts no longer."""
        self._changed(truncation=None)

    def _changed(self, **changes: Any) -> None:
        self._tokenizer = self._tokenizer.replace(**changes)

    def to_str(self, pretty: bool = False) -> str:
        """Give the text of a ``tokenizer.json``. Raises as ``subword.save``."""
        text, trim = to_json(self._tokenizer), self._vocabulary.trim
        root = json.loads(text)
        if trim is not None:
            step = {
                "type": "ByteLevel",
                "add_prefix_space": trim.add_prefix_space,
                "trim_offsets": trim.trims,
                "use_regex": True,
            }
            own = root["post_processor"]
            steps = [step] if own is None else [step, own]
            root["post_processor"] = {"type": "Sequence", "processors": steps}
        return json.dumps(root, ensure_ascii=False, indent=2 if pretty else None)

    def save(self, path: str | PathLike[str], pretty: bool = True) -> None:
        """Write a ``tokenizer.json``. Raises as ``subword.save``."""
        write_atomically(Path(path), [self.to_str(pretty).encode()])


class _HasText(Protocol):
    """What ``from_hf`` needs of a tokenizer."""

    def to_str(self, pretty: bool = ...) -> str:
        """Give the text of a ``tokenizer.json``."""


def from_hf(tokenizer: _HasText) -> SubwordTokenizer:
    """Give the tokenizer of a live one of HF ``tokenizers``, with its ids.

    Args:
        tokenizer: A ``tokenizers.Tokenizer``; of a ``PreTrainedTokenizerFast``, what its
            ``backend_tokenizer`` is.

    Raises:
        FormatError: It has a part that subword does not have, named.
        ArgumentError: It is no such object.
    """
    if not hasattr(tokenizer, "to_str"):
        raise ArgumentError(
            f"a tokenizers.Tokenizer is needed, got {type(tokenizer).__name__}; of a tokenizer of "
            "transformers pass its backend_tokenizer"
        )
    return from_json(tokenizer.to_str(), "the tokenizer")


def to_hf(tokenizer: SubwordTokenizer) -> Any:
    """Give a live ``tokenizers.Tokenizer`` with the same ids.

    ``transformers.PreTrainedTokenizerFast(tokenizer_object=to_hf(tok))`` takes it.

    Raises:
        MissingExtraError: tokenizers is not installed.
        FormatError: As ``subword.save`` to a ``tokenizer.json``.
    """
    return require_extra("tokenizers", "hf").Tokenizer.from_str(to_json(tokenizer))


def _as_pair(item: Any, is_cut: bool) -> tuple[Input, Input | None]:
    """Tell a pair from a text; a tuple of two strings is two words where words are given."""
    if isinstance(item, str):
        return item, None
    is_pair = isinstance(item, tuple | list) and len(item) == 2
    if is_pair and not (is_cut and all(isinstance(part, str) for part in item)):
        return item[0], item[1]
    return item, None


def _words_of(text: Any, is_cut: bool) -> list[str]:
    if not is_cut:
        if not isinstance(text, str):
            raise TypeError(
                f"a text is a str, got {type(text).__name__}; for a list of words pass "
                "is_pretokenized=True"
            )
        return [text]
    if isinstance(text, str) or not all(isinstance(word, str) for word in text):
        raise TypeError("with is_pretokenized=True a text is a list of words, each a str")
    return list(text)


def _check_side(direction: str) -> None:
    if direction not in ("right", "left"):
        raise ArgumentError(f"direction is {direction!r:.40}; it is 'right' or 'left'")
