"""Every algorithm step by step, on a small text, for people to read and pages to draw.

The decisions are those of the twins in ``subword.reference``; a trace replays them and writes
down what was counted, what came second, and which rule broke a tie. ``print`` a trace or any
part of it, or give it to ``as_dict`` for JSON.
"""

from subword.trace.bpe_steps import bpe
from subword.trace.encode_records import (
    EncodedPart,
    EncodeTrace,
    MatchTried,
    MergeApplied,
    PathCandidate,
    PathStep,
)
from subword.trace.encode_steps import encode
from subword.trace.plain import as_dict, readable
from subword.trace.records import (
    Candidate,
    MergeStep,
    MergeTrace,
    Word,
)
from subword.trace.unigram_records import Loss, PieceScore, UnigramStep, UnigramTrace
from subword.trace.unigram_steps import unigram
from subword.trace.wordpiece_steps import wordpiece

__all__ = [
    "Candidate",
    "EncodeTrace",
    "EncodedPart",
    "Loss",
    "MatchTried",
    "MergeApplied",
    "MergeStep",
    "MergeTrace",
    "PathCandidate",
    "PathStep",
    "PieceScore",
    "UnigramStep",
    "UnigramTrace",
    "Word",
    "as_dict",
    "bpe",
    "encode",
    "readable",
    "unigram",
    "wordpiece",
]
