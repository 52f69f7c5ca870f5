"""GPT-2's ``vocab.json`` and ``merges.txt``: bytes as printable characters."""
