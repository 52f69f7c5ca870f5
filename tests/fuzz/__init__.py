"""Fuzzing: mutated files through every reader, and kernels against their twins; ``make fuzz``."""
