"""The libraries that take part, as data: what each can load, encode and train."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

from benchmarks.encoders import (
    Encoder,
    fastokens_json,
    fastokens_ranks,
    gigatoken_json,
    gigatoken_ranks,
    quicktok_bundled,
    snaptokens_json,
    splintr_json,
    splintr_ranks,
    subword_json,
    subword_ranks,
    tiktoken_ranks,
    tokenizers_json,
    tokie_json,
)
from benchmarks.trainers import (
    Training,
    TrainingJob,
    gigabpe_train,
    gigatoken_train,
    rustbpe_train,
    sentencepiece_train,
    subword_train,
    tokenizers_train,
)
from benchmarks.vocabularies import VocabularyFiles

__all__ = ["PEERS", "Peer"]


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
