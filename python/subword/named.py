"""Tokenizers by their names in the course: ``Tokenizer`` with another constructor each."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike

from subword.bpe_models import bpe_from_tokens
from subword.decoders import ByteFallback
from subword.decoders import WordPiece as WordPieceDecoder
from subword.errors import ArgumentError, VocabularyError
from subword.formats.vocab_files import read_files
from subword.models import (
    AllCharacters,
    Bpe,
    Characters,
    Piece,
    PieceKind,
    Unigram,
    WordPiece,
    Words,
)
from subword.normalizers import NormalizerStep, resolve_normalizer
from subword.patterns import resolve_pattern
from subword.pretokens import Bert, PretokenStep
from subword.special_tokens import TokenFlags, assign_ids, check_special_tokens
from subword.templates import Template
from subword.tokenizer import Tokenizer
from subword.training.baselines import WORD_PATTERN
from subword.types import TokenId

__all__ = [
    "BPETokenizer",
    "ByteTokenizer",
    "CharacterTokenizer",
    "UnigramTokenizer",
    "WordPieceTokenizer",
    "WordTokenizer",
]


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
        """Read a vocabulary and merges; ``subword.formats.vocab_files`` has their shapes.

        Raises:
            FormatError: A file that is damaged, with its place.
            SubwordError: As the constructor.
        """
        vocab, merges = read_files(vocab_path, merges_path)
        return cls(vocab, merges, special_tokens, pattern=pattern)


_BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class WordPieceTokenizer(Tokenizer):
    """WordPiece from a vocabulary, split as BERT does.

    Examples:
        >>> tok = WordPieceTokenizer(["[UNK]", "play", "##ing", "!"])
        >>> tok.encode("playing!"), tok.decode([1, 2, 3])
        ([1, 2, 3], 'playing !')
    """

    def __init__(
        self,
        vocab: Sequence[str] | Mapping[str, TokenId],
        *,
        unk_token: str = "[UNK]",
        prefix: str = "##",
        max_input_chars_per_word: int = 100,
        special_tokens: Iterable[str] | None = None,
        normalizer: str | Sequence[NormalizerStep] | None = None,
        pretokenizer: Sequence[PretokenStep] = (Bert(),),
    ) -> None:
        """Make a tokenizer.

        Args:
            vocab: Tokens in the order of their ids, or the id of each.
            unk_token: What words become that cannot be spelled.
            prefix: What tokens inside a word start with.
            max_input_chars_per_word: Words of more characters are unknown as they stand.
            special_tokens: Reserved strings; those of BERT that are in the vocabulary by default.
            normalizer: What changes the text first: a name, as ``"bert"``, or steps.
            pretokenizer: What cuts it into words.

        Raises:
            VocabularyError: Duplicate ids or tokens, or a vocabulary without its unknown token.
            SpecialTokenError: An empty or repeated special token.
        """
        ids = _ids_of(vocab)
        chosen = special_tokens
        if chosen is None:
            chosen = [token for token in _BERT_TOKENS if token in ids]
        special = check_special_tokens(chosen)
        known = {token.encode(): token_id for token, token_id in ids.items()}
        reserved = assign_ids(special, known, max(ids.values(), default=-1) + 1)
        template = Template()
        if {"[CLS]", "[SEP]"} <= reserved.keys():
            template = Template.parse("[CLS] A [SEP]", "[CLS] A [SEP] B:1 [SEP]:1")
        super().__init__(
            WordPiece(
                {token_id: token.encode() for token, token_id in ids.items()},
                unk_token,
                prefix,
                max_input_chars_per_word,
            ),
            reserved,
            normalizer=resolve_normalizer(normalizer),
            pretokenizer=tuple(pretokenizer),
            template=template,
            decoder=(WordPieceDecoder(prefix, cleanup=False),),
        )


class UnigramTokenizer(Tokenizer):
    """Unigram from pieces and their log probabilities.

    Examples:
        >>> tok = UnigramTokenizer([("<unk>", 0.0), ("a", -1.0), ("b", -2.0), ("ab", -2.5)])
        >>> tok.encode("abba")
        [3, 2, 1]
    """

    def __init__(
        self,
        pieces: Sequence[tuple[str, float]],
        *,
        unk_id: TokenId = 0,
        byte_fallback: bool = False,
        special_tokens: Iterable[str] | None = None,
        pattern: str | Sequence[str] = "none",
        normalizer: str | Sequence[NormalizerStep] | None = None,
        pretokenizer: Sequence[PretokenStep] | None = None,
    ) -> None:
        """Make a tokenizer.

        Args:
            pieces: Text and score of each id.
            unk_id: The id of what no piece covers; its piece is never matched.
            byte_fallback: Such characters become the pieces ``<0x00>`` … ``<0xFF>``.
            special_tokens: Reserved strings; those that are no pieces get the next free ids.
            pattern: The split pattern.
            normalizer: What changes the text first: a name, or steps.
            pretokenizer: Steps that cut in place of the pattern.

        Raises:
            VocabularyError: Duplicate pieces, scores that are no numbers, or an ``unk_id`` that
                is no piece.
            SpecialTokenError: An empty or repeated special token.
        """
        special = check_special_tokens(special_tokens or ())
        names = {f"<0x{byte:02X}>" for byte in range(256)} if byte_fallback else set()
        made = []
        for at, (text, score) in enumerate(pieces):
            kind: PieceKind = "normal"
            if at == unk_id:
                kind = "unknown"
            elif text in special:
                kind = "control"
            elif text in names:
                kind = "byte"
            made.append(Piece(text.encode(), score, kind))
        known = {piece.text: at for at, piece in enumerate(made)}
        super().__init__(
            Unigram(tuple(made), unk_id, byte_fallback),
            assign_ids(special, known, len(made)),
            resolve_pattern(pattern),
            normalizer=resolve_normalizer(normalizer),
            pretokenizer=None if pretokenizer is None else tuple(pretokenizer),
            decoder=(ByteFallback(),) if byte_fallback else (),
        )


class ByteTokenizer(Tokenizer):
    """Every byte is a token: ids 0 to 255.

    Examples:
        >>> tok = ByteTokenizer()
        >>> tok.encode("né"), tok.vocab_size
        ([110, 195, 169], 256)
    """

    def __init__(self, special_tokens: Iterable[str] | None = None) -> None:
        """Make the tokenizer; special tokens get the ids from 256 on."""
        tokens = check_special_tokens(special_tokens or ())
        vocab = {byte: bytes([byte]) for byte in range(256)}
        super().__init__(Bpe(vocab, ()), {token: 256 + at for at, token in enumerate(tokens)})


class CharacterTokenizer(Tokenizer):
    """Every character (code point) is a token.

    Examples:
        >>> tok = CharacterTokenizer()
        >>> tok.encode("h你🌍"), tok.decode([20320])
        ([104, 20320, 127757], '你')
        >>> CharacterTokenizer("abc", unk_token="?").encode("cabz")
        [2, 0, 1, 3]
    """

    def __init__(
        self,
        alphabet: Sequence[str] | Mapping[str, TokenId] | None = None,
        *,
        unk_token: str | None = None,
        special_tokens: Iterable[str] | None = None,
    ) -> None:
        """Make a tokenizer; ``subword.train_characters`` learns an alphabet.

        Args:
            alphabet: The characters in the order of their ids, as a string or a list; or the id
                of each. None for all of Unicode: a character's id is its code point.
            unk_token: What other characters become; None refuses them. Where the alphabet does
                not hold it, it gets the next free id.
            special_tokens: Reserved strings; those that are no tokens get the next free ids.

        Raises:
            VocabularyError: A repeated character or id, or an entry that is no one character.
            SpecialTokenError: An empty or repeated special token.
            ArgumentError: An ``unk_token`` for all of Unicode, where no character is unknown.
        """
        special = check_special_tokens(special_tokens or ())
        if alphabet is None:
            if unk_token is not None:
                raise ArgumentError(
                    f"unk_token is {unk_token!r:.40}, but no character is unknown to all of "
                    "Unicode; leave it out, or give an alphabet"
                )
            ids = {token: 0x110000 + at for at, token in enumerate(special)}
            super().__init__(Characters(AllCharacters()), ids)
            return
        known = _ids_of(alphabet)
        for character in known:
            if len(character) != 1 and character != unk_token:
                raise VocabularyError(
                    f"the alphabet holds {character!r:.40}; expected single characters"
                )
        vocab, ids, flags = _with_unknown(known, unk_token, special)
        super().__init__(Characters(vocab, unk_token), ids, token_flags=flags)


class WordTokenizer(Tokenizer):
    """Every word is a token, and what is not in the vocabulary is unknown.

    Examples:
        >>> tok = WordTokenizer(["[UNK]", "the", " ", "cat"])
        >>> tok.encode("the cat!"), tok.decode([1, 2, 3])
        ([1, 2, 3, 0], 'the cat')
    """

    def __init__(
        self,
        vocab: Sequence[str] | Mapping[str, TokenId],
        *,
        pattern: str | Sequence[str] = WORD_PATTERN,
        unk_token: str | None = "[UNK]",
        special_tokens: Iterable[str] | None = None,
    ) -> None:
        r"""Make a tokenizer; ``subword.train_words`` learns a vocabulary.

        Args:
            vocab: Words in the order of their ids, or the id of each.
            pattern: What a word is: a split pattern such as ``"gpt2"``, or ``(?s)\w+|.``, runs of
                word characters and every other character on its own.
            unk_token: What unknown words become, one of the words; None refuses them. Text that
                spells it is text.
            special_tokens: Reserved strings; those that are no words get the next free ids.

        Raises:
            VocabularyError: Duplicate ids or words, or a vocabulary without its unknown token.
            SpecialTokenError: An empty or repeated special token.
            PatternError: The pattern does not compile.
        """
        known = _ids_of(vocab)
        if unk_token is not None and unk_token not in known:
            raise VocabularyError(
                f"the unknown token {unk_token!r:.40} is not in the vocabulary; add it, or pass "
                "unk_token=None to refuse what is unknown"
            )
        special = check_special_tokens(special_tokens or ())
        words, ids, flags = _with_unknown(known, unk_token, special)
        super().__init__(Words(words, unk_token), ids, resolve_pattern(pattern), token_flags=flags)


def _with_unknown(
    known: dict[str, TokenId], unk_token: str | None, special_tokens: tuple[str, ...]
) -> tuple[dict[TokenId, bytes], dict[str, TokenId], dict[str, TokenFlags]]:
    """Give the vocabulary with its unknown token, the ids of reserved tokens, and their flags."""
    flags: dict[str, TokenFlags] = {}
    reserved = list(special_tokens)
    if unk_token is not None and unk_token not in special_tokens:
        reserved.insert(0, unk_token)
        flags[unk_token] = TokenFlags(control=True)
    taken = {_utf8(token): token_id for token, token_id in known.items()}
    ids = assign_ids(reserved, taken, max(known.values(), default=-1) + 1)
    vocab = {token_id: token for token, token_id in taken.items()}
    if len(vocab) < len(taken):
        twice = next(t for t, token_id in taken.items() if vocab[token_id] != t)
        raise VocabularyError(f"id {taken[twice]} of {twice!r:.40} is another token's id too")
    if unk_token is not None:
        vocab[ids[unk_token]] = unk_token.encode()
    return vocab, ids, flags


def _utf8(token: str) -> bytes:
    try:
        return token.encode()
    except UnicodeEncodeError as error:
        raise VocabularyError(
            f"token {token!r:.40} has a lone surrogate at character {error.start}"
        ) from error


def _ids_of(vocab: Sequence[str] | Mapping[str, TokenId]) -> dict[str, TokenId]:
    if isinstance(vocab, Mapping):
        return dict(vocab)
    ids: dict[str, TokenId] = {}
    for token_id, token in enumerate(vocab):
        if token in ids:
            raise VocabularyError(f"token {token!r:.40} has two ids, {ids[token]} and {token_id}")
        ids[token] = token_id
    return ids
