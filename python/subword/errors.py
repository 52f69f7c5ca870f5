"""Every exception subword raises.

SubwordError
├── ArgumentError            an argument outside its range, such as ``n_threads=0``
├── TextError                a text that no UTF-8 can hold (a lone surrogate)
│   └── UnencodableTextError   a text that needs a byte or character the vocabulary lacks
├── SpecialTokenError        an empty or repeated special token, or one that collides
├── SpecialTokenInTextError  text that spells a special token, where that was not allowed
├── PatternError             a split pattern that does not compile, or passed its step limit
├── EmptyCorpusError         sources that hold no text to learn from
├── CorpusError              a source whose content cannot be read as it was declared
├── SourceError              a source that cannot be opened (also an ``OSError``)
│   ├── SourceNotFoundError    … because nothing is there (also a ``FileNotFoundError``)
│   └── SourceIsDirectoryError … because it is a directory (also an ``IsADirectoryError``)
├── EngineError              no cluster to run on, or a task lost there (also a ``ConnectionError``)
├── CountOverflowError       a sum of counts that passes 64 bits
├── CountsError              a count table that is damaged or does not fit the call
├── VocabSizeError           a ``vocab_size`` that the required tokens do not fit in
├── VocabularyError          duplicate tokens or ids, merges that name unknown tokens
├── BrokenLawError           a changed tokenizer that breaks a law of its certificate
├── UnknownTokenIdError      an id outside the vocabulary
├── UnknownTokenError        a byte string that is no token
├── ResumeError              a run that cannot go on: what is there is of another run
├── FormatError              a tokenizer file that is damaged, or cannot hold this tokenizer
├── ChatTemplateError        a chat template that fails, refuses the messages, or takes too long
└── MissingExtraError        an optional dependency that is not installed

The warnings: ``StoppedEarlyWarning``, training ran out of pairs, words or characters;
``TextLeftOutWarning``, part of the training text was not learnt from; ``BadRecordsWarning``,
records of a corpus were skipped or replaced, as was asked for.
"""

__all__ = [
    "ArgumentError",
    "BadRecordsWarning",
    "BrokenLawError",
    "ChatTemplateError",
    "CorpusError",
    "CountOverflowError",
    "CountsError",
    "EmptyCorpusError",
    "EngineError",
    "FormatError",
    "MissingExtraError",
    "PatternError",
    "ResumeError",
    "SourceError",
    "SourceIsDirectoryError",
    "SourceNotFoundError",
    "SpecialTokenError",
    "SpecialTokenInTextError",
    "StoppedEarlyWarning",
    "SubwordError",
    "TextError",
    "TextLeftOutWarning",
    "UnencodableTextError",
    "UnknownTokenError",
    "UnknownTokenIdError",
    "VocabSizeError",
    "VocabularyError",
]


class SubwordError(Exception):
    """Base class: ``except SubwordError`` catches whatever subword raises on purpose."""


class ArgumentError(SubwordError, ValueError):
    """An argument outside its range, such as ``n_threads=0``."""


class TextError(SubwordError, ValueError):
    """A text that no UTF-8 can hold: it has a lone surrogate; the message gives its offset."""


class UnencodableTextError(TextError):
    """A text that needs a byte or character which the vocabulary lacks."""


class SpecialTokenError(SubwordError, ValueError):
    """An empty or repeated special token, or one that collides with another token."""


class SpecialTokenInTextError(SubwordError, ValueError):
    """A text that spells a special token, encoded with ``special="forbid"``."""


class PatternError(SubwordError, ValueError):
    """A split pattern that does not compile, or that passed its step limit on a text."""


class EmptyCorpusError(SubwordError, ValueError):
    """Sources that hold no text to learn from."""


class CorpusError(SubwordError, ValueError):
    """A source whose content cannot be read as declared, such as a truncated ``.gz``."""


class SourceError(SubwordError, OSError):
    """A source that cannot be opened."""


class SourceNotFoundError(SourceError, FileNotFoundError):
    """A path or glob at which there is no file."""


class SourceIsDirectoryError(SourceError, IsADirectoryError):
    """A path that is a directory where a file was expected."""


class EngineError(SubwordError, ConnectionError):
    """No cluster that can be reached, or one that lost a task again and again."""


class CountOverflowError(SubwordError, OverflowError):
    """A sum of counts that passes 64 bits."""


class CountsError(SubwordError, ValueError):
    """A count table that is damaged, or that does not fit the call it was given to."""


class VocabSizeError(SubwordError, ValueError):
    """A ``vocab_size`` that the required tokens do not fit in."""


class VocabularyError(SubwordError, ValueError):
    """Duplicate tokens or ids, or merges that name tokens the vocabulary lacks."""


class BrokenLawError(SubwordError, ValueError):
    """A changed tokenizer that breaks a law of its certificate; the message names the law."""


class UnknownTokenIdError(SubwordError, ValueError):
    """An id outside the vocabulary."""


class UnknownTokenError(SubwordError, LookupError):
    """A byte string that is no token of the vocabulary."""


class ResumeError(SubwordError, ValueError):
    """A run that cannot go on: other input, tokenizer or options, or an output of another run."""


class FormatError(SubwordError, ValueError):
    """A tokenizer file that is damaged, or a format that cannot hold this tokenizer."""


class ChatTemplateError(SubwordError, ValueError):
    """A chat template that fails, refuses the messages, or passes a bound on steps or text."""


class MissingExtraError(SubwordError, ImportError):
    """An optional dependency that is not installed; the message has the command."""


class StoppedEarlyWarning(UserWarning):
    """Training ran out of pairs, words or characters: the vocabulary is smaller than asked for."""


class TextLeftOutWarning(UserWarning):
    """Training text that was not learnt from, counted: characters outside the alphabet, bytes."""


class BadRecordsWarning(UserWarning):
    """Records that could not be read as declared were skipped or replaced.

    Attributes:
        n_records: How many.
        places: Where the first twenty stand, and what is wrong with them.
    """

    n_records: int = 0
    places: tuple[str, ...] = ()
