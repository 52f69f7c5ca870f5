"""The tokenizer: text to ids and back.

A ``Tokenizer`` is frozen: it can be shared by threads, pickled, and used after a fork; what
changes one gives a new one. The named tokenizers are the same class with other constructors.
The module is longer than 400 lines because one class is the whole interface, with its documents.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from subword import _core
from subword.bpe_models import truncated, without_tokens
from subword.chat import ChatTemplate, render_chat
from subword.compression import Compression, measure
from subword.decoders import Decoder
from subword.decoding import decode_tokens
from subword.display import ShownTokens, facts_as_html
from subword.errors import (
    ArgumentError,
    UnknownTokenError,
    UnknownTokenIdError,
    VocabularyError,
)
from subword.models import (
    AllCharacters,
    Bpe,
    CharacterBpe,
    Model,
    Unigram,
    compile_model,
    unknown_id,
)
from subword.normalizers import Normalizer
from subword.padding import Padding, Truncation
from subword.patterns import Pattern, pattern_name, resolve_pattern
from subword.pretokens import PretokenStep
from subword.special_tokens import TokenFlags, assign_ids, check_roles, check_special_tokens
from subword.stream_decoder import StreamDecoder
from subword.surrogates import Errors, checked, checked_parts, is_replacing, spans_as_given
from subword.templates import Template
from subword.types import Encoding, Ragged, Span, TextLike, TokenId, whole_number

__all__ = ["Special", "Tokenizer"]

Special = Literal["recognize", "as_text", "forbid"] | AbstractSet[str]
"""What text that spells a special token becomes: its id, text like any other, a refusal; or a
set of those that become their ids, the others being text."""


@dataclass(frozen=True, eq=False, repr=False)
class Tokenizer:
    """Text to ids and back.

    Attributes:
        model: The vocabulary and how it is applied, as data.
        special_tokens: Reserved strings and their ids, in the order of the ids.
        pattern: The regular expressions that cut text into pre-tokens.
        memo_bytes: Most bytes that each thread may use to remember the ids of pre-tokens.
        normalizer: What changes a text before it is cut.
        pretokenizer: Steps that cut in place of the pattern; None for the pattern.
        token_flags: How special tokens are told from other text, where that is not the default.
        template: Which special tokens stand around a text, or two, under ``template=True``.
        decoder: How tokens become text; empty where they are the bytes of the text.
        truncation: Where ``encode_batch`` may cut texts, on demand.
        padding: How its rows are filled up, on demand.
        roles: Which special token begins a text (``bos``), ends it (``eos``), fills up (``pad``),
            stands for what is unknown (``unk``), classifies (``cls``), separates (``sep``) or is
            to be guessed (``mask``).
        chat_template: The Jinja template that ``apply_chat_template`` renders.
    """

    model: Model
    special_tokens: Mapping[str, TokenId] = field(default_factory=dict)
    pattern: Pattern = ()
    memo_bytes: int = 1 << 26
    normalizer: Normalizer = ()
    pretokenizer: Sequence[PretokenStep] | None = None
    token_flags: Mapping[str, TokenFlags] = field(default_factory=dict)
    template: Template = field(default_factory=Template)
    decoder: Decoder = ()
    truncation: Truncation | None = None
    padding: Padding | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    chat_template: ChatTemplate | None = None
    _kernel: _core.Tokenizer = field(init=False)

    def __post_init__(self) -> None:
        """Compile the kernels."""
        check_special_tokens(self.special_tokens)
        ordered = dict(sorted(self.special_tokens.items(), key=lambda item: item[1]))
        object.__setattr__(self, "special_tokens", ordered)
        self._check_special_ids()
        kept = isinstance(self.model, Bpe) or isinstance(self.model.vocab, AllCharacters)
        vocab = None if kept else self.model.vocab
        steps = self.pretokenizer
        compiled = _core.Tokenizer(
            compile_model(self.model),
            _added_tokens(ordered, self.token_flags),
            list(self.pattern),
            tokens=None if vocab is None else (list(vocab), list(vocab.values())),
            normalizer=_core.Normalizer(list(self.normalizer)) if self.normalizer else None,
            steps=None if steps is None else _core.Steps(list(steps)),
            memo_bytes=self.memo_bytes,
        )
        object.__setattr__(self, "_kernel", compiled)
        self._check_beside()

    def _check_beside(self) -> None:
        self.template.check(self.special_tokens)
        check_roles(self.roles, self._kernel.token_id)

    def _check_special_ids(self) -> None:
        taken: dict[int, str] = {}
        vocab = self.model.vocab
        aliases = {token for token, flags in self.token_flags.items() if flags.alias}
        for token, token_id in self.special_tokens.items():
            if not 0 <= token_id < 2**32 - 1:
                raise VocabularyError(
                    f"id {token_id} of special token {token!r:.40} is not from 0 to 2^32-2"
                )
            if token_id in taken and token in aliases:
                continue
            known = vocab.get(token_id)
            if token_id in taken or (known is not None and known != token.encode()):
                other = taken.get(token_id, known)
                raise VocabularyError(
                    f"special token {token!r:.40} has id {token_id}, which {other!r:.40} has too"
                )
            if token in aliases:
                raise VocabularyError(
                    f"special token {token!r:.40} is an alias, but no special token before it has "
                    f"id {token_id}"
                )
            taken[token_id] = token

    def _is_alias(self, token: str) -> bool:
        return self.token_flags.get(token, TokenFlags()).alias

    def encode(
        self,
        text: TextLike,
        pair: TextLike | None = None,
        *,
        special: Special = "recognize",
        template: bool = False,
        errors: Errors = "strict",
    ) -> list[TokenId]:
        """Encode a text.

        Args:
            text: A ``str``, or bytes of any kind.
            pair: A second text, for tokenizers whose template joins two.
            special: What text that spells a special token becomes.
            template: Whether to add the special tokens of the tokenizer's template.
            errors: What a lone surrogate does: ``"strict"`` refuses it, ``"replace"`` encodes
                U+FFFD in its place.

        Returns:
            The ids; none for an empty text. Those of a pair follow, within the template if asked.

        Raises:
            TextError: A lone surrogate in a ``str``.
            UnencodableTextError: A byte that the vocabulary lacks.
            SpecialTokenInTextError: A special token under ``special="forbid"``.
            PatternError: The pattern passed its step limit.
            ArgumentError: A pair, for a tokenizer without a template for pairs.
        """
        ids = self._kernel.encode(checked(text, errors), special)
        if pair is None and not template:
            return ids
        pair_ids = None if pair is None else self.encode(pair, special=special, errors=errors)
        if not template and pair_ids is not None:
            return ids + pair_ids
        return self.template.apply(ids, pair_ids, self.special_tokens)[0]

    def encode_array(
        self, text: TextLike, *, special: Special = "recognize", errors: Errors = "strict"
    ) -> npt.NDArray[np.uint32]:
        """Encode a text into an array: shape (n_tokens,), uint32. Raises as ``encode``."""
        return self._kernel.encode_array(checked(text, errors), special)

    def encode_batch(
        self,
        texts: Sequence[TextLike],
        *,
        n_threads: int | None = None,
        special: Special = "recognize",
        errors: Errors = "strict",
    ) -> Ragged:
        """Encode many texts.

        Args:
            texts: The texts, in the order of the result.
            n_threads: Threads to work with; None for one a core. Ids do not depend on it.
            special: As in ``encode``.
            errors: As in ``encode``.

        Raises:
            ArgumentError: ``n_threads`` below 1, or a bare string for ``texts``.
            SubwordError: As ``encode``, with the number of the text.
        """
        if isinstance(texts, str | bytes):
            raise ArgumentError("texts is a single text; pass a list of texts, or call encode")
        if n_threads is not None:
            n_threads = whole_number("n_threads", n_threads)
        if is_replacing(errors):
            texts = [checked(text, errors) for text in texts]
        ids, bounds = self._kernel.encode_batch(texts, special, n_threads=n_threads)
        return Ragged(ids, bounds, self._pad_id())

    def _pad_id(self) -> TokenId:
        """Give the id of the padding token: that of its role, of the file's padding, or 0."""
        if "pad" in self.roles:
            return self.token_id(self.roles["pad"])
        return 0 if self.padding is None else self.padding.pad_id

    def encode_iterable(
        self,
        iterable: Iterable[TextLike],
        *,
        special: Special = "recognize",
        errors: Errors = "strict",
    ) -> Iterator[TokenId]:
        """Encode a text that comes in parts, such as an open file.

        Gives exactly the ids of the joined text, each as soon as no later part can change it,
        and holds no more than the part of the text that is not settled.

        Args:
            iterable: The parts; each ``str`` or bytes. Its own exceptions pass through.
            special: As in ``encode``; ``"forbid"`` refuses a token once it is complete.
            errors: As in ``encode``; of two surrogates that are a pair, each may be in a part of
                its own.

        Raises:
            SubwordError: As ``encode``.
        """
        stream = self._kernel.stream(special)
        return _stream_ids(stream, checked_parts(iterable, errors))

    def encode_spans(
        self, text: TextLike, *, special: Special = "recognize", errors: Errors = "strict"
    ) -> Encoding:
        """Encode a text, with the place of each id in the text as given. Raises as ``encode``.

        Under ``errors="replace"`` a lone surrogate is one character, and the three bytes of the
        U+FFFD that it is encoded as; two that are a pair are two characters and four bytes.
        """
        ids, *columns = self._kernel.encode_spans(checked(text, errors), special)
        starts, ends, firsts, lasts = columns
        char_spans = _pairs(firsts, lasts)
        if isinstance(text, str) and is_replacing(errors):
            char_spans = spans_as_given(text, char_spans)
        return Encoding(ids.tolist(), _pairs(starts, ends), char_spans)

    def show(self, text: TextLike, *, special: Special = "recognize") -> ShownTokens:
        """Give the tokens of a text in colours, for a notebook or terminal. Raises as ``encode``.

        Examples:
            >>> from subword import BPETokenizer
            >>> BPETokenizer({0: b"a", 1: b"b", 2: b" ", 3: b"ab"}, [(b"a", b"b")]).show("ab ba")
            ab|·|b|a|
        """
        encoding = self.encode_spans(text, special=special)
        data = text.encode() if isinstance(text, str) else text
        tokens = {token_id: self.token_bytes(token_id) for token_id in encoding.ids}
        return ShownTokens(data, encoding, tokens, frozenset(self.special_tokens.values()))

    def nbest(
        self, text: TextLike, n: int, *, special: Special = "recognize"
    ) -> list[tuple[list[TokenId], float]]:
        """Give the most probable segmentations of a text; for Unigram models.

        Args:
            text: A ``str``, or bytes of any kind.
            n: How many; at least 1.
            special: As in ``encode``.

        Returns:
            Ids and score of each, best first; fewer than ``n`` when there are no more. A score is
            the natural logarithm of the probability of the pieces, summed in 64 bits. Of equal
            ones the one that is better in the earlier pre-tokens comes first, and within a
            pre-token the one whose last differing piece starts first.

        Raises:
            ArgumentError: A model of another kind, or ``n`` below 1.
            SubwordError: As ``encode``.

        Source: Kudo 2018, "Subword Regularization", section 3.2; Huang and Chiang 2005, "Better
        k-best parsing", algorithm 3.

        Examples:
            >>> from subword.named import UnigramTokenizer
            >>> tok = UnigramTokenizer([("<unk>", 0.0), ("a", -1.0), ("b", -2.0), ("ab", -2.5)])
            >>> tok.nbest("ab", 5)
            [([3], -2.5), ([1, 2], -3.0)]
        """
        return self._kernel.n_best(text, special, _at_least_one("n", n))

    def sample(
        self,
        text: TextLike,
        *,
        seed: int,
        dropout: float | None = None,
        alpha: float | None = None,
        nbest_size: int = -1,
        special: Special = "recognize",
    ) -> list[TokenId]:
        """Encode a text in a random way, to train a model on more than one segmentation.

        For BPE of every kind, ``dropout`` passes over each merge with that probability, every
        time that its turn comes; 0 gives what ``encode`` gives, and 1 the bytes or characters.
        For Unigram, each segmentation has a probability proportional to its own to the ``alpha``.
        The same seed gives the same ids on every platform; special tokens stay whole.

        Args:
            text: A ``str``, or bytes of any kind.
            seed: From 0 to 2^64-1. Give each text its own: equal texts with equal seeds are cut
                alike.
            dropout: From 0 to 1; 0.1 by default. BPE alone.
            alpha: Not negative; 0 makes all segmentations equally likely, 1 follows the model;
                0.1 by default. Unigram alone.
            nbest_size: Draw from this many of the best segmentations of the text; -1 draws from
                all of them. Unigram alone.
            special: As in ``encode``.

        Raises:
            ArgumentError: A parameter outside its range, one that the model does not take, or a
                model that has one segmentation of a text alone.
            SubwordError: As ``encode``.

        Source: Provilkov, Emelianenko and Voita 2020, "BPE-Dropout"; Kudo 2018, "Subword
        Regularization", section 3.2.

        Examples:
            >>> from subword.named import BPETokenizer
            >>> tok = BPETokenizer({0: b"a", 1: b"b", 2: b"ab"}, [(b"a", b"b")])
            >>> tok.sample("ab", dropout=0, seed=1), tok.sample("ab", dropout=1, seed=1)
            ([2], [0, 1])
        """
        if not isinstance(seed, int) or not 0 <= seed < 2**64:
            raise ArgumentError(f"seed is {seed!r:.40}; give an int from 0 to 2^64-1")
        if isinstance(self.model, Unigram):
            if dropout is not None:
                raise ArgumentError("dropout is for BPE; a Unigram model samples by alpha")
            return self._kernel.sample(
                text,
                special,
                seed,
                alpha=0.1 if alpha is None else alpha,
                n_best=None if nbest_size == -1 else _at_least_one("nbest_size", nbest_size),
            )
        if alpha is not None or nbest_size != -1:
            raise ArgumentError(
                "alpha and nbest_size are for Unigram; BPE samples by dropout, and other models "
                "have one segmentation alone"
            )
        return self._kernel.sample(text, special, seed, dropout=0.1 if dropout is None else dropout)

    def count_tokens(
        self, text: TextLike, *, special: Special = "recognize", errors: Errors = "strict"
    ) -> int:
        """Give the number of ids of a text, without a list of them. Raises as ``encode``."""
        return self._kernel.count_tokens(checked(text, errors), special)

    def compression(
        self, texts: Iterable[TextLike], *, special: Special = "recognize"
    ) -> Compression:
        """Measure how densely texts are written.

        Args:
            texts: The texts, encoded one at a time; none are kept.
            special: As in ``encode``.

        Returns:
            Documents, bytes, characters, tokens and unknown tokens; the ratios are properties.

        Raises:
            ArgumentError: A bare string for ``texts``.
            SubwordError: As ``encode``.

        Examples:
            >>> from subword.named import BPETokenizer
            >>> tok = BPETokenizer({0: b"a", 1: b"b", 2: b"ab"}, [(b"a", b"b")])
            >>> tok.compression(["abba", "ab"]).bytes_per_token
            1.5
        """
        name = pattern_name(self.pattern) or "custom"
        return measure(
            lambda text: self.encode_array(text, special=special),
            texts,
            unk_id=unknown_id(self.model),
            vocab_size=self.vocab_size,
            signature=(
                f"model={type(self.model).__name__} vocab_size={self.vocab_size} pattern={name} "
                f"subword={version('subword')}"
            ),
        )

    def decode(
        self,
        ids: Iterable[TokenId],
        *,
        errors: str = "replace",
        skip_special: bool = False,
    ) -> str:
        """Give the text of ids.

        Args:
            ids: Token ids: a list, an array, any iterable.
            errors: What bytes that are no UTF-8 become, as in ``bytes.decode``.
            skip_special: Whether to leave special tokens out.

        Raises:
            UnknownTokenIdError: An id outside the vocabulary, with its position.
            UnicodeDecodeError: Bytes that are no UTF-8 under ``errors="strict"``.
        """
        if not self.decoder:
            return self._kernel.decode(ids, errors, skip_special=skip_special)
        return self.decode_bytes(ids, skip_special=skip_special).decode("utf-8", errors)

    def decode_bytes(self, ids: Iterable[TokenId], *, skip_special: bool = False) -> bytes:
        """Give the bytes of ids, whatever they are. Raises as ``decode``."""
        if not self.decoder:
            return self._kernel.decode_bytes(ids, skip_special=skip_special)
        hidden = self._special_ids() if skip_special else frozenset()
        tokens = [self._decoded(token_id) for token_id in ids if token_id not in hidden]
        return decode_tokens(tokens, self.decoder)

    def _special_ids(self) -> frozenset[TokenId]:
        return frozenset(
            token_id
            for token, token_id in self.special_tokens.items()
            if self.token_flags.get(token, TokenFlags()).special
        )

    def decode_batch(
        self,
        batch: Iterable[Iterable[TokenId]],
        *,
        errors: str = "replace",
        skip_special: bool = False,
    ) -> list[str]:
        """Give the text of each list of ids. Raises as ``decode``."""
        return [self.decode(ids, errors=errors, skip_special=skip_special) for ids in batch]

    def apply_chat_template(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        tokenize: bool = True,
        chat_template: ChatTemplate | None = None,
        **variables: Any,
    ) -> list[TokenId] | str:
        """Give the ids of messages, as the model's chat template writes them.

        Special tokens that a message spells become their ids, as those of the template do.

        Args:
            messages: What was said, each a mapping with at least ``role`` and ``content``.
            tools: Descriptions of functions, as JSON schemas.
            add_generation_prompt: Whether the text ends where the model shall answer.
            tokenize: Whether to give ids; the text otherwise.
            chat_template: Another template than the tokenizer's.
            variables: What else the template may name.

        Raises:
            ArgumentError: The tokenizer has no chat template.
            ChatTemplateError: The template fails, refuses the messages, or passes a bound.
            MissingExtraError: jinja2 is not installed.
        """
        text = render_chat(
            self.chat_template if chat_template is None else chat_template,
            messages,
            roles=self.roles,
            tools=tools,
            add_generation_prompt=add_generation_prompt,
            variables=variables,
        )
        return self.encode(text) if tokenize else text

    def stream_decoder(self) -> StreamDecoder:
        """Give a decoder for ids that arrive one at a time."""
        return StreamDecoder(self._decoded, self.decoder)

    @property
    def vocab(self) -> dict[TokenId, bytes]:
        """Token of each id, special tokens included, in the order of the ids."""
        vocab = dict(self.model.vocab)
        vocab.update(
            (token_id, token.encode())
            for token, token_id in self.special_tokens.items()
            if not self._is_alias(token)
        )
        return dict(sorted(vocab.items()))

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The merges in rank order, as byte strings."""
        if not isinstance(self.model, Bpe | CharacterBpe):
            return []
        vocab = self.model.vocab
        return [(vocab[left], vocab[right]) for left, right in self.model.merges]

    @property
    def merge_counts(self) -> list[int] | None:
        """Occurrences of each merge's pair when it was learnt; None where that is not known."""
        training = self.model.training if isinstance(self.model, Bpe | CharacterBpe) else None
        return None if training is None else list(training.merge_counts)

    @property
    def vocab_size(self) -> int:
        """One more than the greatest id: what an embedding matrix needs."""
        vocab = self.model.vocab
        greatest = 0x10FFFF if isinstance(vocab, AllCharacters) else max(vocab, default=-1)
        return 1 + max(greatest, *self.special_tokens.values(), -1)

    def __len__(self) -> int:
        """Give ``vocab_size``."""
        return self.vocab_size

    def token_bytes(self, token_id: TokenId) -> bytes:
        """Give the bytes of an id.

        Raises:
            UnknownTokenIdError: The id has no token.
        """
        return self._known(self._kernel.token_bytes, token_id)

    def _decoded(self, token_id: TokenId) -> bytes:
        return self._known(self._kernel.decoded_bytes, token_id)

    def _known(self, find: Callable[[int], bytes | None], token_id: TokenId) -> bytes:
        token = find(token_id) if 0 <= token_id < 2**32 else None
        if token is None:
            raise UnknownTokenIdError(
                f"id {token_id} is not in the vocabulary of ids below {self.vocab_size}"
            )
        return token

    def token_id(self, token: TextLike) -> TokenId:
        """Give the id of a token.

        Raises:
            UnknownTokenError: The byte string is no token.
        """
        token_id = self.find_id(token)
        if token_id is None:
            raise UnknownTokenError(f"{token[:40]!r} is not a token; encode it to get its ids")
        return token_id

    def find_id(self, token: TextLike) -> TokenId | None:
        """Give the id of a token, or None for what is no token."""
        token = token.encode(errors="surrogatepass") if isinstance(token, str) else token
        return self._kernel.token_id(token)

    def with_special_tokens(self, tokens: Iterable[str]) -> "Tokenizer":
        """Give a tokenizer that reserves these strings too; those new to it get the next ids.

        Raises:
            SpecialTokenError: A token that is empty, or repeated in ``tokens``.
        """
        known = {token: token_id for token_id, token in self.vocab.items()}
        known.update((token.encode(), i) for token, i in self.special_tokens.items())
        added = assign_ids(check_special_tokens(tokens), known, self.vocab_size)
        return self.replace(special_tokens={**self.special_tokens, **added})

    def replace(self, **changes: Any) -> "Tokenizer":
        """Give a tokenizer with other fields; ``pattern`` may be a name."""
        current = {name: getattr(self, name) for name in _FIELDS}
        unknown = changes.keys() - current.keys()
        if unknown:
            raise ArgumentError(
                f"a tokenizer has no {sorted(unknown)[0]!r}; it has {', '.join(current)}"
            )
        if "pattern" in changes:
            changes["pattern"] = resolve_pattern(changes["pattern"])
        if changes.keys() <= _NOT_COMPILED:
            made = object.__new__(Tokenizer)
            made.__dict__.update(self.__dict__, **changes)
            made._check_beside()
            return made
        return Tokenizer(**{**current, **changes})

    def truncate(self, vocab_size: int) -> "Tokenizer":
        """Give the smaller tokenizer of the same training.

        Args:
            vocab_size: Bytes, special tokens and merges together.

        Raises:
            VocabSizeError: More than there are, or fewer than the bytes and special tokens.
            ArgumentError: The tokenizer does not come from a training of this library, so that
                its ids need not be in the order of its merges; or special tokens were added
                behind them.
        """
        model = truncated(self.model, self.special_tokens, self.vocab_size, vocab_size)
        return self.replace(model=model)

    def __eq__(self, other: object) -> bool:
        """Compare everything that ids depend on."""
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        """Hash the sizes and the special tokens."""
        return hash((type(self.model), self.vocab_size, tuple(self.special_tokens.items())))

    def _identity(self) -> tuple[object, ...]:
        model = self.model
        if isinstance(model, Bpe):
            # How it was learnt does not show in the ids.
            model = Bpe(dict(model.vocab), tuple(model.merges), model.whole_first)
            # Nor does an entry that nothing reaches but the special token that it spells.
            model = model if model.whole_first else without_tokens(model, self.special_tokens)
        flags = {token: self.token_flags.get(token, TokenFlags()) for token in self.special_tokens}
        steps = None if self.pretokenizer is None else tuple(self.pretokenizer)
        rest = (self.pattern, tuple(self.normalizer), steps, self.template, self.decoder)
        return (model, self.special_tokens, flags, *rest)

    def __repr__(self) -> str:
        """Give the kind and the sizes."""
        pattern = pattern_name(self.pattern) or self.pattern
        return (
            f"Tokenizer({type(self.model).__name__}, vocab_size={self.vocab_size}, "
            f"{len(self.merges)} merges, {len(self.special_tokens)} special tokens, "
            f"pattern={pattern!r:.60})"
        )

    def _repr_html_(self) -> str:
        """Give the kind and the sizes to a notebook."""
        facts = {
            "model": type(self.model).__name__,
            "vocab_size": f"{self.vocab_size:,}",
            "merges": f"{len(self.merges):,}",
            "special tokens": ", ".join(list(self.special_tokens)[:8]) or "none",
            "pattern": pattern_name(self.pattern) or " | ".join(self.pattern),
        }
        return facts_as_html(type(self).__name__, facts)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the data; the kernels are compiled anew."""
        return Tokenizer, tuple(getattr(self, name) for name in _FIELDS)


# What the kernels are not made of: to change it compiles nothing.
_NOT_COMPILED = frozenset(
    ("template", "decoder", "truncation", "padding", "roles", "chat_template")
)
_FIELDS = tuple(f.name for f in fields(Tokenizer) if f.init)


def _added_tokens(
    special_tokens: Mapping[str, TokenId], token_flags: Mapping[str, TokenFlags]
) -> list[tuple[str, int, bool, bool, bool, bool, bool, bool]]:
    usual = TokenFlags()
    flags = [token_flags.get(token, usual) for token in special_tokens]
    columns = {
        own: (own.special, own.normalized, own.lstrip, own.rstrip, own.single_word, own.control)
        for own in set(flags)
    }
    return [
        (token, token_id, *columns[own])
        for (token, token_id), own in zip(special_tokens.items(), flags, strict=True)
    ]


_PAIRS_AT_ONCE = 1 << 18


def _pairs(starts: npt.NDArray[np.uint64], ends: npt.NDArray[np.uint64]) -> list[Span]:
    """Give the rows as tuples; some at a time, so that Ctrl-C need not wait for all of them."""
    pairs: list[Span] = []
    for at in range(0, len(starts), _PAIRS_AT_ONCE):
        part = slice(at, at + _PAIRS_AT_ONCE)
        pairs.extend(zip(starts[part].tolist(), ends[part].tolist(), strict=True))
    return pairs


def _stream_ids(stream: _core.TextStream, parts: Iterable[TextLike]) -> Iterator[TokenId]:
    for part in parts:
        yield from stream.push(part)
    yield from stream.finish()


def _at_least_one(name: str, value: int) -> int:
    if not isinstance(value, int) or value < 1:
        raise ArgumentError(f"{name} is {value!r:.40}; ask for at least one segmentation")
    return min(value, 2**63)
