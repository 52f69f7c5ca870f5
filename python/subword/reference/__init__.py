"""Slow, readable twins of every kernel: the specification, and the oracle of the tests."""
