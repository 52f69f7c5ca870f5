"""Convert tokenizer files, and prove that the ids stayed the same."""

import tempfile
from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

from subword.atomic_write import whole_file
from subword.errors import FormatError, SubwordError
from subword.formats import format_of_name, load, save
from subword.formats.check_texts import check_texts
from subword.formats.conversion import ConversionReport, Difference
from subword.formats.own_libraries import OwnLibrary, own_library
from subword.formats.reach import BESIDE
from subword.formats.sentencepiece_parts import model_of
from subword.normalizers import Bert
from subword.special_tokens import TokenFlags
from subword.tokenizer import Special, Tokenizer
from subword.types import Span, TokenId

__all__ = ["convert"]

_MAX_SHOWN: Final = 20
_N_IDS: Final = 8
_PARTS: Final = ("special_tokens", "token_flags", "template", "decoder", *BESIDE)


def convert(
    src: str | PathLike[str],
    dst: str | PathLike[str],
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    check: str | Iterable[str] | None = None,
    allow_different: bool = False,
    **options: Any,
) -> ConversionReport:
    """Write a tokenizer file in another format, if that gives the same ids.

    The file is written elsewhere first, and read back: by subword, and by the library that the
    format is for, where it is installed (tokenizers, tiktoken, sentencepiece, mistral-common;
    gguf compares the vocabulary alone). Each encodes a set of texts on which tokenizers tend to
    differ, texts that spell the special tokens, and those of ``check``. Ids, decoded text and the
    parts around the model have to be equal.

    Args:
        src: What ``load`` reads.
        dst: The new file; or, for ``vocab.json`` and ``merges.txt``, a folder.
        from_format: A name of ``FORMATS``; by default as in ``load``.
        to_format: A name of ``FORMATS``; by default as in ``save``.
        check: Texts to compare besides; one string is one text.
        allow_different: Write the file whatever the comparison finds, and without the roles,
            chat template, padding and truncation that the format cannot hold.
        options: What the source's format takes besides, as in ``load``.

    Returns:
        What was compared and what differs. Without ``allow_different`` nothing does.

    Raises:
        FormatError: A difference, with the first ones: nothing is left at ``dst``. Or as ``load``
            and ``save``.
        SubwordError: As ``load``.
        OSError: The file cannot be written.
    """
    tokenizer = load(src, from_format, **options)
    target = Path(dst)
    to_format = format_of_name(target) if to_format is None else to_format
    texts = _texts(tokenizer, check)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / (target.name or "made")
        try:
            written = _write(tokenizer, made, to_format, allow_different=allow_different)
        except FormatError as error:
            raise FormatError(str(error).replace(str(made), fspath(dst))) from error
        outside = _outside(written, to_format)
        again = load(made, to_format, **outside)
        library = _library(to_format, made, written)
        compared = _Comparison(tokenizer, texts)
        compared.parts(again, to_format)
        compared.reread(again)
        if isinstance(library, OwnLibrary):
            compared.library(library)
        elif isinstance(library, Difference):
            compared.add(library)
        is_written = allow_different or not compared.n_differences
        if is_written:
            _place(made, target, written, to_format)
    report = ConversionReport(
        source=fspath(src),
        target=fspath(dst),
        from_format=from_format,
        to_format=to_format,
        n_texts=len(texts),
        n_tokens=compared.n_tokens,
        n_refused=compared.n_refused,
        readers=tuple(compared.readers),
        not_read_by=library if isinstance(library, str) else "",
        outside=outside,
        differences=tuple(compared.differences),
        n_differences=compared.n_differences,
        is_written=is_written,
    )
    if not is_written:
        raise _refusal(report)
    return report


def _refusal(report: ConversionReport) -> FormatError:
    shown = "; ".join(map(str, report.differences[:3]))
    more = report.n_differences - min(3, len(report.differences))
    return FormatError(
        f"{report.target}: not written, for as {report.to_format} it would not be the same: {shown}"
        + (f"; and {more} more" if more else "")
        + ". Pass allow_different=True (--allow-different) to write it all the same"
    )


def _texts(tokenizer: Tokenizer, check: str | Iterable[str] | None) -> list[str]:
    given = [check] if isinstance(check, str) else list(check or ())
    return [*check_texts(tokenizer.special_tokens), *given]


def _write(tokenizer: Tokenizer, path: Path, format: str, *, allow_different: bool) -> Tokenizer:  # noqa: A002
    """Write the tokenizer, or what of it the format holds; give what was written."""
    try:
        save(tokenizer, path, format)
    except FormatError:
        bare = tokenizer.replace(**BESIDE)
        if not allow_different:
            raise
        save(bare, path, format)
        return bare
    return tokenizer


def _outside(tokenizer: Tokenizer, format: str) -> dict[str, Any]:  # noqa: A002
    """Give what the format's file does not hold, as its reader takes it."""
    special = dict(tokenizer.special_tokens)
    match format:
        case "tiktoken":
            return {
                "pattern": list(tokenizer.pattern) if tokenizer.pattern else "none",
                "special_tokens": special,
            }
        case "clip":
            return {"special_tokens": tuple(special)}
        case "bert_vocab":
            step = next((s for s in tokenizer.normalizer if isinstance(s, Bert)), None)
            step = step or Bert(False, False, False, False)
            return {
                "lowercase": step.lowercase,
                "strip_accents": step.strip_accents,
                "handle_chinese_chars": step.handle_chinese_chars,
                "clean_text": step.clean_text,
                "cleanup": all(getattr(part, "cleanup", True) for part in tokenizer.decoder),
            }
        case "subword_nmt":
            unk_token = getattr(tokenizer.model, "unk_token", None)
            first = [token for token in special if token != unk_token or special[token]]
            return {"first_tokens": first, "unk_token": unk_token}
        case "sentencepiece_vocab":
            model = model_of(tokenizer, format)
            return {
                "model_type": model.trainer.model_type,
                "normalizer": model.normalizer,
                "control": [piece.text for piece in model.pieces if piece.type == "control"],
                "user_defined": [p.text for p in model.pieces if p.type == "user_defined"],
                "unk_piece": next((p.text for p in model.pieces if p.type == "unknown"), "<unk>"),
                "byte_fallback": model.trainer.byte_fallback,
            }
    return {}


def _library(format: str, path: Path, tokenizer: Tokenizer) -> OwnLibrary | Difference | str:  # noqa: A002
    try:
        return own_library(format, path, tokenizer)
    except Exception as error:  # noqa: BLE001 - each library refuses a file in its own way
        return Difference(format, "refused", got=_said(error))


def _place(made: Path, target: Path, tokenizer: Tokenizer, format: str) -> None:  # noqa: A002
    """Put what was checked where it is to be."""
    if made.is_dir():
        # The writer knows which files of an older tokenizer have to go; it gives the same bytes.
        save(tokenizer, target, format)
        return
    with whole_file(target) as file:
        file.write(made.read_bytes())


class _Comparison:
    """Differences found so far, and the ids that the tokenizer gives."""

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str]) -> None:
        self.tokenizer = tokenizer
        self.texts = texts
        self.differences: list[Difference] = []
        self.n_differences = 0
        self.n_tokens = 0
        self.n_refused = 0
        self.readers: list[str] = []

    def add(self, difference: Difference) -> None:
        self.n_differences += 1
        if len(self.differences) < _MAX_SHOWN:
            self.differences.append(difference)

    def parts(self, again: Tokenizer, format: str) -> None:  # noqa: A002
        """Compare what stands around the model."""
        for name in _PARTS:
            before, after = getattr(self.tokenizer, name), getattr(again, name)
            # BERT's tokens, and the ids that GGUF names, say what they are for.
            gained = name == "roles" and before.items() <= after.items()
            if before != after and not gained and not _usual_flags(name, before, after):
                shown = (f"{before!r:.60}", f"{after!r:.60}")
                self.add(Difference(format, "field", name, expected=shown[0], got=shown[1]))

    def reread(self, again: Tokenizer) -> None:
        """Compare ids and decoded texts with what subword reads back."""
        self.readers.append("subword")
        for text in self.texts:
            before, after = _encoded(self.tokenizer, text), _encoded(again, text)
            if isinstance(before, list):
                self.n_tokens += len(before)
            elif isinstance(after, str):
                self.n_refused += 1
                continue
            self._ids(text, before, after, "subword", "recognize")
            if before == after and isinstance(before, list):
                ours, theirs = self.tokenizer.decode(before), again.decode(before)
                if ours != theirs:
                    self.add(Difference("subword", "decoded", text, expected=ours, got=theirs))

    def library(self, library: OwnLibrary) -> None:
        """Compare ids with what the format's own library gives."""
        self.readers.append(library.name)
        if library.fault:
            self.add(Difference(library.name, "refused", got=library.fault))
        if library.encode is None:
            return
        for text in self.texts:
            before = _encoded(self.tokenizer, text, library.special)
            if not isinstance(before, list):
                continue
            try:
                after: list[TokenId] | str = list(library.encode(text))
            except Exception as error:  # noqa: BLE001 - each library has its own exceptions
                after = _said(error)
            self._ids(text, before, after, library.name, library.special)

    def _ids(
        self,
        text: str,
        before: list[TokenId] | str,
        after: list[TokenId] | str,
        reader: str,
        special: Special,
    ) -> None:
        if before == after:
            return
        if not isinstance(before, list) or not isinstance(after, list):
            self.add(Difference(reader, "refused", text, expected=_cut(before), got=_cut(after)))
            return
        pairs = zip(before, after, strict=False)
        at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))
        span = _char_span(self.tokenizer, text, at, special)
        self.add(Difference(reader, "ids", text, at, span, _cut(before[at:]), _cut(after[at:])))


def _usual_flags(name: str, before: Any, after: Any) -> bool:
    """Tell whether flags that one of them lists are the ones that both have."""
    if name != "token_flags":
        return False
    tokens = before.keys() | after.keys()
    usual = TokenFlags()
    return all(before.get(token, usual) == after.get(token, usual) for token in tokens)


def _encoded(
    tokenizer: Tokenizer, text: str, special: Special = "recognize"
) -> list[TokenId] | str:
    """Give the ids, or what the refusal says."""
    try:
        return tokenizer.encode(text, special=special)
    except SubwordError as error:
        return _said(error)


def _char_span(tokenizer: Tokenizer, text: str, at: int, special: Special) -> Span:
    spans = tokenizer.encode_spans(text, special=special).char_spans
    return spans[at] if at < len(spans) else (len(text), len(text))


def _cut(value: list[TokenId] | str) -> tuple[TokenId, ...] | str:
    return value if isinstance(value, str) else tuple(value[:_N_IDS])


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]
