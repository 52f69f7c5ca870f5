"""What a tokenizer knows, as data: the compiled kernels are built from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from subword import _core
from subword.compiled import CompiledMerges, CompiledVocabulary
from subword.errors import VocabularyError
from subword.types import Pair, TokenId

__all__ = [
    "AllCharacters",
    "Bpe",
    "CharacterBpe",
    "Characters",
    "Model",
    "Piece",
    "PieceKind",
    "Pieces",
    "Ties",
    "Training",
    "Unigram",
    "WordPiece",
    "Words",
    "as_model",
    "compile_model",
    "unknown_id",
]

Ties = Literal["greatest", "first", "hf", "smallest_id"]
"""How equal pair counts are decided; see ``subword.train_bpe``."""


@dataclass(frozen=True, slots=True)
class Training:
    """What a training leaves behind, for the record and for ``Tokenizer.truncate``.

    Attributes:
        ties: The rule for equal counts.
        merge_counts: Occurrences of each merge's pair when it was chosen, in rank order.
        min_frequency: The count below which training would have stopped.
    """

    ties: Ties
    merge_counts: tuple[int, ...]
    min_frequency: int = 1


@dataclass(frozen=True, slots=True)
class Bpe:
    """Byte-pair encoding over bytes.

    Attributes:
        vocab: Token of each id; ids may have gaps.
        merges: Pairs of ids in rank order; the joined bytes are a token.
        whole_first: A pre-token that is a token gets its id without merging, as tiktoken does
            and HF with ``ignore_merges``.
        training: How the merges were learnt, where that is known.
    """

    vocab: Mapping[TokenId, bytes]
    merges: Sequence[Pair]
    whole_first: bool = False
    training: Training | None = field(default=None)


@dataclass(frozen=True, slots=True)
class WordPiece:
    """Greedy longest match from the left.

    Attributes:
        vocab: Token of each id, as UTF-8.
        unk_token: What a word becomes that the vocabulary cannot spell; None refuses it.
        prefix: What tokens inside a word start with.
        max_input_chars_per_word: Words of more characters are unknown as they stand.
        training: How the vocabulary was learnt, where that is known.
    """

    vocab: Mapping[TokenId, bytes]
    unk_token: str | None = "[UNK]"
    prefix: str = "##"
    max_input_chars_per_word: int = 100
    training: Training | None = field(default=None)


PieceKind = Literal["normal", "unknown", "control", "user_defined", "byte", "unused"]
"""How a SentencePiece piece takes part in encoding."""


@dataclass(frozen=True, slots=True)
class Piece:
    """An entry of a Unigram or SentencePiece vocabulary; its id is its place.

    Attributes:
        text: The piece, as UTF-8; spaces as the normalizer writes them.
        score: Natural logarithm of its probability, or the SentencePiece BPE score.
        kind: How it takes part.
    """

    text: bytes
    score: float
    kind: PieceKind = "normal"


@dataclass(frozen=True, slots=True)
class Unigram:
    """The most probable segmentation.

    Attributes:
        pieces: The vocabulary in the order of the ids.
        unk_id: The id of what no piece covers.
        byte_fallback: Such characters become the byte pieces of their UTF-8.
        fuse_unknown: Unknown characters in a row are one id.
        single_precision: Add path scores as sentencepiece does, in 32 bits; HF uses 64.
    """

    pieces: Sequence[Piece]
    unk_id: TokenId = 0
    byte_fallback: bool = False
    fuse_unknown: bool = True
    single_precision: bool = True

    @property
    def vocab(self) -> dict[TokenId, bytes]:
        """Piece of each id."""
        return dict(enumerate(piece.text for piece in self.pieces))


@dataclass(frozen=True, slots=True)
class CharacterBpe:
    """Byte-pair encoding over characters.

    Attributes:
        vocab: Token of each id, as UTF-8.
        merges: Pairs of ids in rank order.
        unk_token: What unknown characters become; None refuses them.
        fuse_unk: Whether unknown characters in a row are one token.
        byte_fallback: Whether they become the tokens ``<0x00>`` … of their bytes, where the
            vocabulary has all of these.
        continuing_subword_prefix: What symbols inside a pre-token start with.
        end_of_word_suffix: What the last symbol of a pre-token ends with.
        whole_first: A pre-token that is a token gets its id without merging.
        byte_level: Whether symbols are bytes, not characters, as in CLIP; tokens are then any
            bytes, with the prefix and the suffix as they are.
        training: How the merges were learnt, where that is known.
    """

    vocab: Mapping[TokenId, bytes]
    merges: Sequence[Pair]
    unk_token: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    continuing_subword_prefix: str = ""
    end_of_word_suffix: str = ""
    whole_first: bool = False
    byte_level: bool = False
    training: Training | None = field(default=None)


@dataclass(frozen=True, slots=True)
class Pieces:
    """SentencePiece's models that are not Unigram.

    Attributes:
        kind: ``"bpe"``, ``"word"`` or ``"char"``.
        pieces: The vocabulary in the order of the ids.
        unk_id: The id of what no piece covers.
        byte_fallback: Such characters become the byte pieces of their UTF-8.
    """

    kind: Literal["bpe", "word", "char"]
    pieces: Sequence[Piece]
    unk_id: TokenId = 0
    byte_fallback: bool = False

    @property
    def vocab(self) -> dict[TokenId, bytes]:
        """Piece of each id."""
        return dict(enumerate(piece.text for piece in self.pieces))


@dataclass(frozen=True, slots=True)
class Words:
    """One token a pre-token.

    Attributes:
        vocab: Word of each id, as UTF-8.
        unk_token: What unknown words become; None refuses them.
    """

    vocab: Mapping[TokenId, bytes]
    unk_token: str | None = "[UNK]"


@dataclass(frozen=True, slots=True)
class Characters:
    """One token a character.

    Attributes:
        vocab: Character of each id, as UTF-8.
        unk_token: What unknown characters become; None refuses them.
    """

    vocab: Mapping[TokenId, bytes]
    unk_token: str | None = None


class AllCharacters(Mapping[TokenId, bytes]):
    """The vocabulary of all of Unicode: the id of a character is its code point."""

    def __getitem__(self, token_id: TokenId) -> bytes:
        """Give the UTF-8 of a code point; a ``KeyError`` for a surrogate or past the end."""
        if not 0 <= token_id < 0x110000 or 0xD800 <= token_id < 0xE000:
            raise KeyError(token_id)
        return chr(token_id).encode()

    def __iter__(self) -> Iterator[TokenId]:
        """Give the code points but the surrogates."""
        yield from range(0xD800)
        yield from range(0xE000, 0x110000)

    def __len__(self) -> int:
        """Give the number of code points that are no surrogates."""
        return 0x110000 - 0x800

    def __eq__(self, other: object) -> bool:
        """Compare without a look at each character."""
        return isinstance(other, AllCharacters) or super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]


def as_model(compiled: _core.Bpe) -> Bpe:
    """Give the model that was compiled; compiled again, it is the same one."""
    vocab, merges = CompiledVocabulary(compiled), CompiledMerges(compiled)
    return Bpe(vocab, merges, whole_first=compiled.whole_first)


def _compiled_already(model: Bpe) -> _core.Bpe | None:
    vocab, merges = model.vocab, model.merges
    if isinstance(vocab, CompiledVocabulary) and isinstance(merges, CompiledMerges):
        compiled = vocab.compiled
        if merges.compiled is compiled and model.whole_first == compiled.whole_first:
            return compiled
    return None


Model = Bpe | WordPiece | Unigram | CharacterBpe | Pieces | Words | Characters
CompiledModel = (
    _core.Bpe
    | _core.WordPiece
    | _core.Unigram
    | _core.CharacterBpe
    | _core.Words
    | _core.Characters
)


def compile_model(model: Model) -> CompiledModel:
    """Compile the kernel of a model.

    Raises:
        VocabularyError: Duplicate tokens or ids, or parts that name unknown tokens.
    """
    try:
        return _compiled(model)
    except OverflowError as error:
        raise VocabularyError(f"an id of the model is not from 0 to 2^32-2 ({error})") from error


def _compiled(model: Model) -> CompiledModel:
    match model:
        case Bpe():
            vocab = model.vocab
            return _compiled_already(model) or _core.Bpe(
                list(vocab), list(vocab.values()), list(model.merges), whole_first=model.whole_first
            )
        case WordPiece():
            return _core.WordPiece(
                _tokens(model.vocab),
                continuing_prefix=model.prefix.encode(),
                unk_id=_unknown_id(model.vocab, model.unk_token),
                max_input_chars_per_word=model.max_input_chars_per_word,
            )
        case Unigram():
            return _core.Unigram(
                [(piece.text, piece.score, piece.kind) for piece in model.pieces],
                unk_id=model.unk_id,
                byte_fallback=model.byte_fallback,
                fuse_unknown=model.fuse_unknown,
                single_precision=model.single_precision,
            )
        case CharacterBpe():
            return _core.CharacterBpe(
                _tokens(model.vocab),
                list(model.merges),
                unk_id=_unknown_id(model.vocab, model.unk_token),
                fuse_unk=model.fuse_unk,
                byte_fallback=model.byte_fallback,
                continuing_subword_prefix=model.continuing_subword_prefix,
                end_of_word_suffix=model.end_of_word_suffix,
                whole_first=model.whole_first,
                byte_level=model.byte_level,
            )
        case Pieces():
            made = [(piece.text, piece.score, piece.kind) for piece in model.pieces]
            if model.kind == "bpe":
                return _core.CharacterBpe.from_pieces(
                    made, unk_id=model.unk_id, byte_fallback=model.byte_fallback
                )
            if model.kind == "word":
                return _core.Words.from_pieces(
                    made, unk_id=model.unk_id, byte_fallback=model.byte_fallback
                )
            return _core.Characters.from_pieces(
                made, unk_id=model.unk_id, byte_fallback=model.byte_fallback
            )
        case Words():
            unk_id = _unknown_id(model.vocab, model.unk_token)
            return _core.Words(_tokens(model.vocab), unk_id=unk_id)
        case Characters():
            tokens = None if isinstance(model.vocab, AllCharacters) else _tokens(model.vocab)
            return _core.Characters(tokens, unk_id=_unknown_id(model.vocab, model.unk_token))


def _tokens(vocab: Mapping[TokenId, bytes]) -> list[tuple[bytes, TokenId]]:
    return [(token, token_id) for token_id, token in vocab.items()]


def _unknown_id(vocab: Mapping[TokenId, bytes], unk_token: str | None) -> TokenId | None:
    """Give the id of the unknown token.

    Raises:
        VocabularyError: The vocabulary lacks it.
    """
    if unk_token is None:
        return None
    wanted = unk_token.encode()
    for token_id, token in vocab.items():
        if token == wanted:
            return token_id
    raise VocabularyError(
        f"the unknown token {unk_token!r:.40} is not in the vocabulary; add it, or pass "
        "unk_token=None to refuse what is unknown"
    )


def unknown_id(model: Model) -> TokenId | None:
    """Give the id of what the model cannot spell; None where it has none, as byte-level BPE."""
    if isinstance(model, Unigram | Pieces):
        return model.unk_id
    return None if isinstance(model, Bpe) else _unknown_id(model.vocab, model.unk_token)
