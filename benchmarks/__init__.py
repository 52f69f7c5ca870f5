"""Measure subword against the other tokenizers of the Python package index.

``python -m benchmarks`` builds the corpora, sets up an environment of pinned peers, runs every
cell in a fresh process and writes ``results/*.json`` and the table made from them.

Rooms, in the order of the work: ``corpora``, ``vocabularies`` and ``published`` make the inputs,
``suites`` says what is measured, ``peers`` with ``encoders``, ``file_encoders``, ``trainers`` and
``piece_trainers`` how each library is called,
``environment`` installs them, ``worker`` measures one cell, ``runner`` starts the workers,
``columns`` and ``report`` write the tables.
"""
