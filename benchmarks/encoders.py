"""How each library loads a vocabulary and encodes: imported only in the library's own process.

Each adapter takes the call of its library that comes nearest to "one str in, array of ids
out, special tokens not looked for", and the nearest to "list of int out". What turns a result
into a plain array for the comparison runs after the clock has stopped.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.vocabularies import VocabularyFiles


@dataclass(frozen=True, slots=True)
class Encoder:
    """A loaded tokenizer, as calls.

    Attributes:
        to_array: The measured call of the ``encode`` suite.
        to_list: The measured call of the ``latency`` suite.
        to_ids: A result of ``to_array`` as anything ``numpy.asarray`` takes; not measured.
    """

    to_array: Callable[[str], Any]
    to_list: Callable[[str], list[int]]
    to_ids: Callable[[Any], Any] = lambda ids: ids


def subword_encoder(tokenizer: Any) -> Encoder:
    return Encoder(tokenizer.encode_array, tokenizer.encode)


def subword_ranks(files: VocabularyFiles) -> Encoder:
    import subword

    return subword_encoder(
        subword.load(
            files.ranks,
            format="tiktoken",
            pattern=files.pattern_name,
            special_tokens=files.special_tokens,
        )
    )


def subword_json(files: VocabularyFiles) -> Encoder:
    import subword

    return subword_encoder(subword.load(files.tokenizer_json))


def subword_model(files: VocabularyFiles) -> Encoder:
    import subword

    return subword_encoder(subword.load(files.model))


def tiktoken_encoding(encoding_class: Any, files: VocabularyFiles) -> Any:
    from tiktoken.load import load_tiktoken_bpe

    return encoding_class(
        files.name,
        pat_str=files.pattern,
        mergeable_ranks=load_tiktoken_bpe(files.ranks),
        special_tokens=files.special_tokens,
    )


def tiktoken_ranks(files: VocabularyFiles) -> Encoder:
    import tiktoken

    encoding = tiktoken_encoding(tiktoken.Encoding, files)
    return Encoder(
        lambda text: encoding.encode_to_numpy(text, disallowed_special=()),
        encoding.encode_ordinary,
    )


def tiktoken_drop_in(files: VocabularyFiles) -> Encoder:
    """Adapt the call that most code makes: special tokens in the text are refused."""
    import tiktoken

    encoding = tiktoken_encoding(tiktoken.Encoding, files)
    return Encoder(encoding.encode, encoding.encode)


def subword_drop_in(files: VocabularyFiles) -> Encoder:
    from subword.compat.tiktoken import Encoding

    encoding = tiktoken_encoding(Encoding, files)
    return Encoder(encoding.encode, encoding.encode)


def tokenizers_json(files: VocabularyFiles) -> Encoder:
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(files.tokenizer_json)

    def ids(text: str) -> list[int]:
        return tokenizer.encode(text, add_special_tokens=False).ids  # type: ignore[no-any-return]

    return Encoder(ids, ids)


def gigatoken_encoder(tokenizer: Any) -> Encoder:
    def to_list(text: str) -> list[int]:
        return tokenizer.encode(text).tolist()  # type: ignore[no-any-return]

    return Encoder(tokenizer.encode, to_list)


def gigatoken_ranks(files: VocabularyFiles) -> Encoder:
    import gigatoken

    return gigatoken_encoder(
        gigatoken.Tokenizer.from_tiktoken(
            files.ranks, pretokenizer=files.pattern_name, special_tokens=files.special_tokens
        )
    )


def gigatoken_json(files: VocabularyFiles) -> Encoder:
    import gigatoken

    return gigatoken_encoder(gigatoken.Tokenizer(files.tokenizer_json))


def gigatoken_model(files: VocabularyFiles) -> Encoder:
    import gigatoken

    return gigatoken_encoder(gigatoken.Tokenizer.from_sentencepiece(files.model))


def sentencepiece_model(files: VocabularyFiles) -> Encoder:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=files.model)
    return Encoder(processor.encode, processor.encode)


def nanotoken_json(files: VocabularyFiles) -> Encoder:
    import nanotoken

    tokenizer = nanotoken.Tokenizer(files.tokenizer_json)

    def ids(text: str) -> Any:
        return tokenizer.encode(text, add_special_tokens=False)

    return Encoder(ids, lambda text: ids(text).tolist())


def flat_encoder(tokenizer: Any) -> Encoder:
    """Adapt the two libraries that give a batch as little-endian bytes."""

    def to_list(text: str) -> list[int]:
        return tokenizer.encode(text).ids  # type: ignore[no-any-return]

    return Encoder(lambda text: tokenizer.encode_batch_flat([text])[0], to_list, from_buffer)


def from_buffer(buffer: bytes) -> Any:
    import numpy

    return numpy.frombuffer(buffer, dtype="<u4")


def fastokens_ranks(files: VocabularyFiles) -> Encoder:
    import fastokens

    return flat_encoder(
        fastokens.Tokenizer.from_tiktoken(
            files.ranks, pattern=files.pattern, special_tokens=files.special_tokens
        )
    )


def fastokens_json(files: VocabularyFiles) -> Encoder:
    import fastokens

    return flat_encoder(fastokens.Tokenizer.from_file(files.tokenizer_json))


def snaptokens_json(files: VocabularyFiles) -> Encoder:
    import snaptokens

    return flat_encoder(snaptokens.Tokenizer.from_file(files.tokenizer_json))


def splintr_ranks(files: VocabularyFiles) -> Encoder:
    import splintr

    patterns = {
        "gpt2": splintr.GPT2_PATTERN,
        "cl100k": splintr.CL100K_BASE_PATTERN,
        "o200k": splintr.O200K_BASE_PATTERN,
    }
    tokenizer = splintr.Tokenizer(files.ranks, patterns[files.pattern_name], files.special_tokens)
    return Encoder(tokenizer.encode_flat, tokenizer.encode_ordinary, from_buffer)


def splintr_json(files: VocabularyFiles) -> Encoder:
    import splintr

    tokenizer = splintr.from_json(files.tokenizer_json)
    return Encoder(tokenizer.encode_flat, tokenizer.encode_ordinary, from_buffer)


def quicktok_bundled(files: VocabularyFiles) -> Encoder:
    import quicktok

    encoding = quicktok.get_encoding(f"{files.name}_base")
    return Encoder(lambda text: encoding.encode_batch([text], 1)[0], encoding.encode_ordinary)


def tokie_json(files: VocabularyFiles) -> Encoder:
    import tokie

    tokenizer = tokie.Tokenizer.from_json(files.tokenizer_json)

    def ids(text: str) -> list[int]:
        return tokenizer.encode(text, add_special_tokens=False).ids  # type: ignore[no-any-return]

    return Encoder(ids, ids)
