"""The libraries that take part, as data: what each can load, encode and train.

Of the fast libraries for other vocabularies than byte-level BPE, three are in no suite: iree
gives other ids for ordinary words, kitoken takes minutes for Chinese, and tokie gives other ids
for Unigram. Those that refuse a vocabulary are in its tables with what they say.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version

from benchmarks.encoders import (
    Encoder,
    fastokens_json,
    fastokens_ranks,
    gigatoken_json,
    gigatoken_model,
    gigatoken_ranks,
    nanotoken_json,
    quicktok_bundled,
    sentencepiece_model,
    snaptokens_json,
    splintr_json,
    splintr_ranks,
    subword_drop_in,
    subword_json,
    subword_model,
    subword_ranks,
    tiktoken_drop_in,
    tiktoken_ranks,
    tokenizers_json,
    tokie_json,
)
from benchmarks.file_encoders import (
    FilesEncoding,
    FilesJob,
    datasets_map,
    datatrove_files,
    gigatoken_files,
    subword_in_memory,
    subword_shards,
)
from benchmarks.piece_trainers import (
    PieceTraining,
    sentencepiece_unigram,
    subword_unigram,
    subword_wordpiece,
    tokenizers_unigram,
    tokenizers_wordpiece,
)
from benchmarks.published import files_of
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
        load: Loads a ``.tiktoken``, ``tokenizer.json`` or ``.model``; keyed by ``file`` option.
        encode_from: Which of the files the encoding suites load where the vocabulary has it.
        train: Prepares a byte-level BPE training.
        train_pieces: Prepares the other trainings; keyed by suite.
        drop_in: Loads what is called as tiktoken's ``Encoding``.
        encode_files: Prepares the encoding of a file of documents.
        compare: Trainers with the same word here see the same documents and break ties alike,
            so their merges must be equal.
        vocabularies: The ones it can load; None for all.
        note: Shown under the tables.
    """

    distribution: str
    load: dict[str, Callable[[VocabularyFiles], Encoder]]
    encode_from: str = ""
    train: Callable[[TrainingJob], Training] | None = None
    train_pieces: dict[str, Callable[[TrainingJob], PieceTraining]] = field(default_factory=dict)
    drop_in: Callable[[VocabularyFiles], Encoder] | None = None
    encode_files: Callable[[VocabularyFiles, FilesJob], FilesEncoding] | None = None
    compare: str = ""
    vocabularies: tuple[str, ...] | None = None
    note: str = ""

    @property
    def version(self) -> str:
        """The installed version."""
        return version(self.distribution)

    def supports(self, suite: str, vocabulary: str = "", file: str = "") -> bool:
        """Say whether the peer has a call for this cell."""
        if suite == "train-bpe":
            return self.train is not None
        if suite.startswith("train"):
            return suite in self.train_pieces
        if suite == "drop-in":
            return self.drop_in is not None
        if suite == "files":
            return self.encode_files is not None
        known = self.vocabularies is None or vocabulary in self.vocabularies
        return known and bool(self.file_for(vocabulary, file))

    def file_for(self, vocabulary: str, file: str = "") -> str:
        """Name the kind of file to load: the one asked for, or the one the peer is best at.

        Returns:
            ``"tiktoken"``, ``"tokenizer.json"`` or ``"model"``; nothing where there is none.
        """
        kinds = (file,) if file else (self.encode_from, "model", "tokenizer.json")
        there = files_of(vocabulary)
        return next((kind for kind in kinds if kind in self.load and kind in there), "")


PEERS: dict[str, Peer] = {
    "tiktoken": Peer(
        "tiktoken", {"tiktoken": tiktoken_ranks}, "tiktoken", drop_in=tiktoken_drop_in
    ),
    "subword": Peer(
        "subword",
        {"tiktoken": subword_ranks, "tokenizer.json": subword_json, "model": subword_model},
        "tiktoken",
        subword_train("greatest"),
        {
            "train-wordpiece": subword_wordpiece("likelihood", "greatest"),
            "train-unigram": subword_unigram,
        },
        subword_drop_in,
        subword_shards,
        compare="documents, greatest",
        note='training with the default tie rule, `ties="greatest"`; WordPiece by '
        '`score="likelihood"`; the `files` suite writes `npy` shards',
    ),
    "subword-hf": Peer(
        "subword",
        {},
        train=subword_train("hf"),
        train_pieces={"train-wordpiece": subword_wordpiece("frequency", "hf")},
        compare="documents, hf",
        note='training with `ties="hf"`, WordPiece by `score="frequency"`, which is what HF does',
    ),
    "subword-memory": Peer(
        "subword",
        {},
        encode_files=subword_in_memory,
        note="the same documents as `str` in memory, encoded by `encode_batch`; nothing is read "
        "or written",
    ),
    "datasets": Peer(
        "datasets",
        {},
        encode_files=datasets_map,
        note="`Dataset.from_generator` of the file's documents, then `map` with HF `tokenizers` "
        "in batches of 1,000; both write Arrow files",
    ),
    "datatrove": Peer(
        "datatrove",
        {},
        encode_files=datatrove_files,
        note="`DocumentTokenizer` with HF `tokenizers`, unshuffled, in one process; writes `.ds` "
        "files, whose ids are uint16 or uint32 as here",
    ),
    "gigatoken": Peer(
        "gigatoken",
        {"tiktoken": gigatoken_ranks, "tokenizer.json": gigatoken_json, "model": gigatoken_model},
        "tiktoken",
        gigatoken_train,
        encode_files=gigatoken_files,
        compare="documents, hf",
        note="training takes no number of threads; it is set by the environment. "
        "`encode_files` gives the ids in memory and writes nothing",
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
    "nanotoken": Peer("nanotoken", {"tokenizer.json": nanotoken_json}, "tokenizer.json"),
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
        {"train-wordpiece": tokenizers_wordpiece, "train-unigram": tokenizers_unigram},
        compare="documents, hf",
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
        {"model": sentencepiece_model},
        "model",
        train=sentencepiece_train,
        train_pieces={"train-unigram": sentencepiece_unigram},
        note="another algorithm's BPE (characters with byte fallback): merges not compared; "
        "reads lines as documents; gives a list of ids",
    ),
}
