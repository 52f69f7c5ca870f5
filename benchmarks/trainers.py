"""How each library trains a byte-level BPE: imported only in the library's own process."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.vocabularies import byte_characters

Merges = list[tuple[bytes, bytes]]
SEPARATOR = "<|endoftext|>"
# As HF's BpeTrainer and gigabpe split; rustbpe takes the regex.
GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


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
