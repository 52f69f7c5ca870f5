"""How each library is called: one small adapter a peer, imported only in its own process.

Each adapter takes the call of its library that comes nearest to "one str in, array of ids
out, special tokens not looked for", and the nearest to "list of int out". What turns a result
into a plain array for the comparison runs after the clock has stopped.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.vocabularies import VocabularyFiles, byte_characters

__all__ = ["PEERS", "Encoder", "Merges", "Peer", "Training", "TrainingJob"]

Merges = list[tuple[bytes, bytes]]
SEPARATOR = "<|endoftext|>"
# As HF's BpeTrainer and gigabpe split; rustbpe takes the regex.
GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


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


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """What a trainer is asked for.

    Attributes:
        documents: File of documents with a separator between them.
        text: File of the same bytes without separators, for trainers that read lines.
        vocab_size: The 256 bytes and one special token included.
        n_threads: For trainers that take it; the worker sets the environment for the others.
    """

    documents: str
    text: str
    vocab_size: int
    n_threads: int


@dataclass(frozen=True, slots=True)
class Training:
    """A prepared training, inputs that must be in memory already there.

    Attributes:
        call: The measured call.
        merges: Its result as merges in rank order; None where they mean something else.
    """

    call: Callable[[], Any]
    merges: Callable[[Any], Merges | None]


@dataclass(frozen=True, slots=True)
class Peer:
    """One library, as it takes part in the suites.

    Attributes:
        distribution: Its name on the package index.
        load: Loads a ``.tiktoken`` or ``tokenizer.json`` file; keyed by ``file`` option.
        encode_from: Which of the files the ``encode`` and ``latency`` suites load.
        train: Prepares a byte-level BPE training.
        compare: Trainers with the same word here see the same documents and break ties alike,
            so their merges must be equal.
        vocabularies: The ones it can load; None for all.
        note: Shown under the tables.
    """

    distribution: str
    load: dict[str, Callable[[VocabularyFiles], Encoder]]
    encode_from: str = ""
    train: Callable[[TrainingJob], Training] | None = None
    compare: str = ""
    vocabularies: tuple[str, ...] | None = None
    note: str = ""

    @property
    def version(self) -> str:
        """The installed version."""
        return version(self.distribution)

    def supports(self, suite: str, vocabulary: str = "", file: str = "") -> bool:
        """Say whether the peer has a call for this cell."""
        if suite.startswith("train"):
            return self.train is not None
        known = self.vocabularies is None or vocabulary in self.vocabularies
        return known and (file or self.encode_from) in self.load


# --- subword -------------------------------------------------------------------------------


def subword_encoder(tokenizer: Any) -> Encoder:
    return Encoder(tokenizer.encode_array, tokenizer.encode)


def subword_ranks(files: VocabularyFiles) -> Encoder:
    import subword

    return subword_encoder(
        subword.load(
            files.ranks,
            format="tiktoken",
            pattern=files.name,
            special_tokens=files.special_tokens,
        )
    )


def subword_json(files: VocabularyFiles) -> Encoder:
    import subword

    return subword_encoder(subword.load(files.tokenizer_json))


def subword_train(ties: str) -> Callable[[TrainingJob], Training]:
    def prepare(job: TrainingJob) -> Training:
        import subword

        def call() -> Any:
            return subword.train_bpe(
                job.documents,
                vocab_size=job.vocab_size,
                pattern="gpt2",
                ties=ties,
                special_tokens=[SEPARATOR],
                n_threads=job.n_threads,
            )

        return Training(call, subword_merges)

    return prepare


def subword_merges(tokenizer: Any) -> Merges:
    """Give merges as bytes, whether the tokenizer holds them as bytes or as ids."""
    merges = list(tokenizer.merges)
    if merges and not isinstance(merges[0][0], bytes):
        text = tokenizer.token_bytes
        return [(text(left), text(right)) for left, right in merges]
    return merges


# --- the libraries people know -------------------------------------------------------------


def tiktoken_ranks(files: VocabularyFiles) -> Encoder:
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    encoding = tiktoken.Encoding(
        files.name,
        pat_str=files.pattern,
        mergeable_ranks=load_tiktoken_bpe(files.ranks),
        special_tokens=files.special_tokens,
    )
    return Encoder(
        lambda text: encoding.encode_to_numpy(text, disallowed_special=()),
        encoding.encode_ordinary,
    )


def tokenizers_json(files: VocabularyFiles) -> Encoder:
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(files.tokenizer_json)

    def ids(text: str) -> list[int]:
        return tokenizer.encode(text, add_special_tokens=False).ids  # type: ignore[no-any-return]

    return Encoder(ids, ids)


def tokenizers_train(*, by_lines: bool) -> Callable[[TrainingJob], Training]:
    def prepare(job: TrainingJob) -> Training:
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers

        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(
            vocab_size=job.vocab_size,
            special_tokens=[SEPARATOR],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        documents = [] if by_lines else read_documents(job)

        def call() -> Any:
            if by_lines:
                tokenizer.train([job.text], trainer)
            else:
                tokenizer.train_from_iterator(documents, trainer)
            return tokenizer

        return Training(call, lambda result: spelled_merges(json.loads(result.to_str())["model"]))

    return prepare


def spelled_merges(model: dict[str, Any]) -> Merges:
    """Give the merges of a ``tokenizer.json`` model as bytes."""
    return unspelled(
        merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]
    )


def unspelled(merges: Any) -> Merges:
    """Turn merges of printable characters into merges of bytes."""
    to_byte = {character: byte for byte, character in enumerate(byte_characters())}
    return [
        (bytes(to_byte[c] for c in left), bytes(to_byte[c] for c in right))
        for left, right in merges
    ]


def read_documents(job: TrainingJob) -> list[str]:
    return Path(job.documents).read_bytes().decode().split(SEPARATOR)


def sentencepiece_train(job: TrainingJob) -> Training:
    import io

    import sentencepiece

    def call() -> bytes:
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            input=job.text,
            model_writer=model,
            model_type="bpe",
            vocab_size=job.vocab_size,
            byte_fallback=True,
            normalization_rule_name="identity",
            max_sentence_length=1 << 26,
            num_threads=job.n_threads,
            minloglevel=2,
        )
        return model.getvalue()

    return Training(call, lambda _: None)


# --- the fast ones -------------------------------------------------------------------------


def gigatoken_encoder(tokenizer: Any) -> Encoder:
    def to_list(text: str) -> list[int]:
        return tokenizer.encode(text).tolist()  # type: ignore[no-any-return]

    return Encoder(tokenizer.encode, to_list)


def gigatoken_ranks(files: VocabularyFiles) -> Encoder:
    import gigatoken

    return gigatoken_encoder(
        gigatoken.Tokenizer.from_tiktoken(
            files.ranks, pretokenizer=files.name, special_tokens=files.special_tokens
        )
    )


def gigatoken_json(files: VocabularyFiles) -> Encoder:
    import gigatoken

    return gigatoken_encoder(gigatoken.Tokenizer(files.tokenizer_json))


def gigatoken_train(job: TrainingJob) -> Training:
    import gigatoken

    source = gigatoken.TextFileSource([job.documents], separator=SEPARATOR)
    return Training(
        lambda: gigatoken.train_bpe(source, job.vocab_size, [SEPARATOR]), lambda result: result[1]
    )


def gigabpe_train(job: TrainingJob) -> Training:
    import gigabpe

    def call() -> Any:
        return gigabpe.train_bpe(
            [job.text],
            job.vocab_size,
            special_tokens=[SEPARATOR],
            pretokenizer="bytelevel",
            threads=job.n_threads,
        )

    return Training(call, lambda result: unspelled(result[1]))


def rustbpe_train(job: TrainingJob) -> Training:
    import rustbpe

    documents = read_documents(job)

    def call() -> Any:
        tokenizer = rustbpe.Tokenizer()
        tokenizer.train_from_iterator(iter(documents), job.vocab_size - 1, pattern=GPT2_PATTERN)
        return tokenizer

    return Training(call, lambda _: None)


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
    tokenizer = splintr.Tokenizer(files.ranks, patterns[files.name], files.special_tokens)
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


PEERS: dict[str, Peer] = {
    "tiktoken": Peer("tiktoken", {"tiktoken": tiktoken_ranks}, "tiktoken"),
    "subword": Peer(
        "subword",
        {"tiktoken": subword_ranks, "tokenizer.json": subword_json},
        "tiktoken",
        subword_train("greatest"),
        "documents, greatest",
        note='training with the default tie rule, `ties="greatest"`',
    ),
    "subword-hf": Peer(
        "subword",
        {},
        train=subword_train("hf"),
        compare="documents, hf",
        note='training with `ties="hf"`',
    ),
    "gigatoken": Peer(
        "gigatoken",
        {"tiktoken": gigatoken_ranks, "tokenizer.json": gigatoken_json},
        "tiktoken",
        gigatoken_train,
        "documents, hf",
        note="training takes no number of threads; it is set by the environment",
    ),
    "fastokens": Peer(
        "fastokens",
        {"tiktoken": fastokens_ranks, "tokenizer.json": fastokens_json},
        "tokenizer.json",
    ),
    "snaptokens": Peer("snaptokens", {"tokenizer.json": snaptokens_json}, "tokenizer.json"),
    "splintr": Peer(
        "splintr-rs", {"tiktoken": splintr_ranks, "tokenizer.json": splintr_json}, "tiktoken"
    ),
    "quicktok": Peer(
        "quicktok-v1",
        {"tiktoken": quicktok_bundled},
        "tiktoken",
        vocabularies=("cl100k", "o200k"),
        note="loads its own bundled copy of the vocabulary; it has none for gpt2",
    ),
    "tokie": Peer(
        "tokie",
        {"tokenizer.json": tokie_json},
        "tokenizer.json",
        note="gives a list of ids inside an Encoding, not an array",
    ),
    "tokenizers": Peer(
        "tokenizers",
        {"tokenizer.json": tokenizers_json},
        "tokenizer.json",
        tokenizers_train(by_lines=False),
        "documents, hf",
        note="encoding gives a list of ids inside an Encoding, not an array",
    ),
    "tokenizers-lines": Peer(
        "tokenizers",
        {},
        train=tokenizers_train(by_lines=True),
        compare="lines, hf",
        note="`Tokenizer.train(files)`, which reads lines as documents",
    ),
    "gigabpe": Peer(
        "gigabpe",
        {},
        train=gigabpe_train,
        compare="lines, hf",
        note="reads files by lines; its alphabet is the bytes seen, so it learns more merges "
        "for the same size: the ones that all have are compared",
    ),
    "rustbpe": Peer(
        "rustbpe",
        {},
        train=rustbpe_train,
        note="ties by smallest raw ids, and no special token: its merges are not compared",
    ),
    "sentencepiece": Peer(
        "sentencepiece",
        {},
        train=sentencepiece_train,
        note="another algorithm's BPE (characters with byte fallback): merges not compared",
    ),
}


def distributions(names: Sequence[str]) -> set[str]:
    """Give the distributions that some peers need."""
    return {PEERS[name].distribution for name in names}
