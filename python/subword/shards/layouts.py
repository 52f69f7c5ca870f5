"""The formats by name."""

from types import ModuleType
from typing import Final

from subword.errors import ArgumentError
from subword.shards import datatrove, dolma, llmc, mds, megatron, nanogpt, npy, parquet

__all__ = ["FORMATS", "module_of"]

FORMATS: Final[dict[str, ModuleType]] = {
    "npy": npy,
    "megatron": megatron,
    "datatrove": datatrove,
    "dolma": dolma,
    "llmc": llmc,
    "nanogpt": nanogpt,
    "parquet": parquet,
    "mds": mds,
}
"""NumPy arrays; Megatron's indexed datasets; datatrove's and nanotron's files; Dolma's and OLMo's;
llm.c's; nanoGPT's; Parquet; MosaicML's streaming shards."""


def module_of(format: str) -> ModuleType:  # noqa: A002
    """Give the module of a format.

    Raises:
        ArgumentError: A format that is unknown.
    """
    if format not in FORMATS:
        raise ArgumentError(f"format is {format!r:.40}; expected one of {', '.join(FORMATS)}")
    return FORMATS[format]
