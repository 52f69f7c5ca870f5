"""Subword tokenizers: train, run, inspect and adapt them.

    documents → count → PretokenCounts → train → Tokenizer → encode, decode, save

The rooms, each of which imports only from those above it:

errors            every exception, as a tree
types             token ids, pairs, spans, ragged batches
patterns          named split patterns: data, each with its source
byte_characters   bytes as the printable characters that GPT-2's files use
normalizers       named normalizers: data
special_tokens    reserved strings, and the ids they get
pretokens         text and pattern to pre-tokens and spans
reference         slow, readable twins of every kernel: the specification and the oracle
atomic_write      files that appear whole or not at all
corpus            files, globs, streams to documents, in a fixed order
counts_parquet    count tables as files
counts            documents to ``PretokenCounts``
decoders          how tokens become text again: data
templates         which special tokens stand around a text: data
models            what a tokenizer knows, as data
display           tokens as people see them: terminal and notebook
stream_decoder    ids that arrive one at a time to text
tokenizer         ``Tokenizer``: encode, decode, batches, streams, spans
training          counts to tokenizers, one module an algorithm
formats           tokenizer files, one module a format: ``load`` and ``save``
named             tokenizers by the names they have in courses
trace             every algorithm step by step, for people
playground        a page that shows what tokenizers do
cli               the command line, one module a subcommand
"""

from importlib.metadata import version as _version

from subword import errors, trace
from subword.counts import PretokenCounts, count
from subword.display import ShownTokens
from subword.errors import (
    ArgumentError,
    CorpusError,
    CountOverflowError,
    CountsError,
    EmptyCorpusError,
    FormatError,
    MissingExtraError,
    PatternError,
    SourceError,
    SourceIsDirectoryError,
    SourceNotFoundError,
    SpecialTokenError,
    SpecialTokenInTextError,
    StoppedEarlyWarning,
    SubwordError,
    TextError,
    UnencodableTextError,
    UnknownTokenError,
    UnknownTokenIdError,
    VocabSizeError,
    VocabularyError,
)
from subword.formats import load, save
from subword.named import BPETokenizer, ByteTokenizer, UnigramTokenizer, WordPieceTokenizer
from subword.special_tokens import TokenFlags
from subword.stream_decoder import StreamDecoder
from subword.templates import Template
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe
from subword.training.unigram import train_unigram
from subword.training.wordpiece import train_wordpiece
from subword.types import Encoding, Ragged

__version__ = _version("subword")

__all__ = [
    "ArgumentError",
    "BPETokenizer",
    "ByteTokenizer",
    "CorpusError",
    "CountOverflowError",
    "CountsError",
    "EmptyCorpusError",
    "Encoding",
    "FormatError",
    "MissingExtraError",
    "PatternError",
    "PretokenCounts",
    "Ragged",
    "ShownTokens",
    "SourceError",
    "SourceIsDirectoryError",
    "SourceNotFoundError",
    "SpecialTokenError",
    "SpecialTokenInTextError",
    "StoppedEarlyWarning",
    "StreamDecoder",
    "SubwordError",
    "Template",
    "TextError",
    "TokenFlags",
    "Tokenizer",
    "UnencodableTextError",
    "UnigramTokenizer",
    "UnknownTokenError",
    "UnknownTokenIdError",
    "VocabSizeError",
    "VocabularyError",
    "WordPieceTokenizer",
    "count",
    "errors",
    "load",
    "save",
    "trace",
    "train_bpe",
    "train_unigram",
    "train_wordpiece",
]
