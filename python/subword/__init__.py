"""Subword tokenizers: train, run, inspect and adapt them.

    documents → count → PretokenCounts → train → Tokenizer → encode, decode, save

The rooms, each of which imports only from those above it:

errors            every exception, as a tree
types             token ids, pairs, spans, ragged batches
surrogates        code points that no UTF-8 can hold, refused or replaced
patterns          named split patterns: data, each with its source
byte_characters   bytes as the printable characters that GPT-2's files use
normalizers       named normalizers: data
special_tokens    reserved strings, and the ids they get
pretokens         text and pattern to pre-tokens and spans
reference         slow, readable twins of every kernel: the specification and the oracle
atomic_write      files that appear whole or not at all
engines           where counting and tokenizing run: here, or on a Ray cluster
hub               tokenizers by name: files of two caches, or fetched
manifest          records of long runs: what is done, and whether the same run goes on
corpus            files, globs, URLs, columns, streams to documents, in a fixed order
counts_parquet    count tables as files
counts_runs       count tables in sorted parts on disk
pretoken_counts   ``PretokenCounts``
counted_inputs    inputs that were counted, and whether they still are what they were
counting          a counter, and what is fed to it
counts            documents to ``PretokenCounts``
counts_on_disk    corpora of any size to count tables on disk, resumable
mixtures          count tables mixed by shares of bytes, and merged on disk
decoders          how tokens become text again: data
decoding          tokens to bytes, by those data
compression       how densely texts are written: sizes and ratios
templates         which special tokens stand around a text: data
compiled          what compiled models hold, seen as data
models            what a tokenizer knows, as data
bpe_models        byte-level BPE models made of ranks, tokens, or larger ones
padding           how the rows of a batch are cut and filled up: data
sandbox           Jinja for templates from strangers
chat              messages to text
display           tokens as people see them: terminal and notebook
stream_decoder    ids that arrive one at a time to text
tokenizer         ``Tokenizer``: encode, decode, batches, streams, spans
shards            ids to files that training frameworks read, one module a format
tokenizing        sources to shards, resumable: ``tokenize``
training          counts to tokenizers, one module an algorithm
formats           tokenizer files, one module a format: ``load`` and ``save``
vocabulary        tokenizers extended, merged and pruned, with a certificate; rows for new ids
named             tokenizers by the names they have in courses
compat            stand-ins for other libraries' classes
downloads         corpora of a course, fetched and checked
trace             every algorithm step by step, for people
playground        a page that shows what tokenizers do
cli               the command line, one module a subcommand
"""

from importlib.metadata import version as _version

from subword import errors, shards, trace
from subword.compat.hf import from_hf, to_hf
from subword.compat.tiktoken import from_tiktoken
from subword.compression import Compression
from subword.counts import PretokenCounts, count
from subword.counts_on_disk import CountSummary, count_to_parquet
from subword.display import ShownTokens
from subword.errors import (
    ArgumentError,
    BadRecordsWarning,
    BrokenLawError,
    ChatTemplateError,
    CorpusError,
    CountOverflowError,
    CountsError,
    EmptyCorpusError,
    EngineError,
    FormatError,
    MissingExtraError,
    PatternError,
    ResumeError,
    SourceError,
    SourceIsDirectoryError,
    SourceNotFoundError,
    SpecialTokenError,
    SpecialTokenInTextError,
    StoppedEarlyWarning,
    SubwordError,
    TextError,
    TextLeftOutWarning,
    UnencodableTextError,
    UnknownTokenError,
    UnknownTokenIdError,
    VocabSizeError,
    VocabularyError,
)
from subword.formats import load, save
from subword.formats.conversion import ConversionReport
from subword.formats.convert import convert
from subword.mixtures import MergeSummary, merge_tables, mix
from subword.named import (
    BPETokenizer,
    ByteTokenizer,
    CharacterTokenizer,
    UnigramTokenizer,
    WordPieceTokenizer,
    WordTokenizer,
)
from subword.special_tokens import TokenFlags
from subword.stream_decoder import StreamDecoder
from subword.templates import Template
from subword.tokenizer import Tokenizer
from subword.tokenizing import tokenize
from subword.training.baselines import train_characters, train_words
from subword.training.bpe import train_bpe
from subword.training.unigram import train_unigram
from subword.training.wordpiece import train_wordpiece
from subword.types import Encoding, Ragged
from subword.vocabulary.adapted import Adapted
from subword.vocabulary.certificate import Certificate
from subword.vocabulary.donor import Donor
from subword.vocabulary.embeddings import EmbeddingSummary, init_embeddings
from subword.vocabulary.extend import extend
from subword.vocabulary.id_map import IdMap
from subword.vocabulary.merging import merge
from subword.vocabulary.prune import prune

__version__ = _version("subword")

__all__ = [
    "Adapted",
    "ArgumentError",
    "BPETokenizer",
    "BadRecordsWarning",
    "BrokenLawError",
    "ByteTokenizer",
    "Certificate",
    "CharacterTokenizer",
    "ChatTemplateError",
    "Compression",
    "ConversionReport",
    "CorpusError",
    "CountOverflowError",
    "CountSummary",
    "CountsError",
    "Donor",
    "EmbeddingSummary",
    "EmptyCorpusError",
    "Encoding",
    "EngineError",
    "FormatError",
    "IdMap",
    "MergeSummary",
    "MissingExtraError",
    "PatternError",
    "PretokenCounts",
    "Ragged",
    "ResumeError",
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
    "TextLeftOutWarning",
    "TokenFlags",
    "Tokenizer",
    "UnencodableTextError",
    "UnigramTokenizer",
    "UnknownTokenError",
    "UnknownTokenIdError",
    "VocabSizeError",
    "VocabularyError",
    "WordPieceTokenizer",
    "WordTokenizer",
    "convert",
    "count",
    "count_to_parquet",
    "errors",
    "extend",
    "from_hf",
    "from_tiktoken",
    "init_embeddings",
    "load",
    "merge",
    "merge_tables",
    "mix",
    "prune",
    "save",
    "shards",
    "to_hf",
    "tokenize",
    "trace",
    "train_bpe",
    "train_characters",
    "train_unigram",
    "train_wordpiece",
    "train_words",
]
