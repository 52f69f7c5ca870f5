"""Counts to tokenizers, one module an algorithm."""
