"""Subword tokenizers: train, run, inspect and adapt them."""

from importlib.metadata import version as _version

__version__ = _version("subword")
