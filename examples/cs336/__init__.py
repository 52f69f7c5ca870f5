"""The tokenizer chapter of Stanford's CS336, assignment 1, done with ``subword``."""
