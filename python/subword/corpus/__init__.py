"""Sources → documents, in a fixed order.

sources   paths, globs, URLs and iterables: files or documents, checked before any work starts
reading   how files are read: format, field, cut, and what a bad record does
columns   Parquet, Arrow and CSV: texts of a column, many at a time
warc      web archives: texts of records
remote    files behind URLs, through fsspec
documents documents one by one
"""

from subword.corpus.documents import read_documents
from subword.corpus.reading import InputFormat, OnBad, Reading, document_cut
from subword.corpus.sources import STDIN, Documents, Files, Url, resolve_sources

__all__ = [
    "STDIN",
    "Documents",
    "Files",
    "InputFormat",
    "OnBad",
    "Reading",
    "Url",
    "document_cut",
    "read_documents",
    "resolve_sources",
]
