"""Decoders of a ``tokenizer.json``.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/decoders, and ``Tokenizer.decode``.
"""

from collections.abc import Mapping
from typing import Any, Final

from subword import decoders
from subword.decoders import Decoder, DecoderStep
from subword.errors import FormatError
from subword.formats.hf_metaspace import read_metaspace
from subword.formats.json_file import checked, flag, read_sequence, refuse_others

__all__ = ["read_decoder", "write_decoder"]

_BYTE_LEVEL: Final[dict[str, object]] = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}
# What a token becomes where a file names no decoder.
_NONE: Final[Decoder] = (decoders.Join(" "),)


def read_decoder(found: Any, place: str, *, is_byte_level: bool) -> Decoder:
    """Read decoders.

    Args:
        found: The field.
        place: Where it stands.
        is_byte_level: Whether the model's tokens are bytes, which ``ByteLevel`` has to decode.

    Raises:
        FormatError: A decoder or a setting that subword does not know.
    """
    parts = list(read_sequence(found, "decoders", place))
    if is_byte_level:
        kinds = [fields.get("type") for fields, _ in parts]
        if kinds not in (["ByteLevel"], ["ByteLevel", "Fuse"]):
            raise FormatError(
                f"{place} is {', '.join(map(repr, kinds)) or 'null':.80}; the decoder of a "
                "byte-level BPE is ByteLevel"
            )
        return ()
    if not parts:
        return _NONE
    return tuple(_read(fields, step_place) for fields, step_place in parts)


def write_decoder(decoder: Decoder, *, is_byte_level: bool) -> dict[str, object] | None:
    """Give the decoder of steps.

    Raises:
        FormatError: Steps that HF does not have.
    """
    if is_byte_level:
        if decoder:
            raise FormatError(
                "tokenizer.json cannot hold a byte-level BPE with a decoder of its own"
            )
        return dict(_BYTE_LEVEL)
    if decoder == _NONE:
        return None
    # Without steps the tokens are joined as they are, which is HF's Fuse.
    parts = [_write(step) for step in decoder] or [{"type": "Fuse"}]
    return parts[0] if len(parts) == 1 else {"type": "Sequence", "decoders": parts}


def _read(fields: Mapping[str, Any], place: str) -> DecoderStep:  # noqa: C901
    kind = fields.get("type")

    def text(name: str, default: str) -> str:
        return checked(fields.get(name, default), str, f"{place}.{name}")

    def only(*names: str) -> None:
        refuse_others(fields, {"type", *names}, place)

    match kind:
        case "WordPiece":
            only("prefix", "cleanup")
            return decoders.WordPiece(text("prefix", "##"), flag(fields, "cleanup", place, True))
        case "Metaspace":
            metaspace = read_metaspace(fields, place)
            return decoders.Metaspace(metaspace.replacement, metaspace.prepend_scheme != "never")
        case "ByteFallback" | "Fuse":
            only()
            return decoders.ByteFallback() if kind == "ByteFallback" else decoders.Fuse()
        case "ByteLevel":
            only(*_BYTE_LEVEL)
            return decoders.Printable()
        case "Strip":
            only("content", "start", "stop")
            content = text("content", " ")
            if len(content) != 1:
                raise FormatError(f"{place}.content is {content!r:.40}; expected one character")
            n_ends = [
                checked(fields.get(name), int, f"{place}.{name}") for name in ("start", "stop")
            ]
            if not all(0 <= n < 1 << 16 for n in n_ends):
                raise FormatError(f"{place}: start and stop are {n_ends}; expected 0 to 65535")
            return decoders.Strip(content, *n_ends)
        case "Replace":
            only("pattern", "content")
            pattern = checked(fields.get("pattern"), dict, f"{place}.pattern")
            if list(pattern) != ["String"] or not pattern["String"]:
                raise FormatError(
                    f"{place}.pattern is {pattern!r:.60}; a decoder of subword replaces a 'String'"
                )
            found = checked(pattern["String"], str, f"{place}.pattern.String")
            return decoders.Replace(found, text("content", ""))
        case "BPEDecoder":
            only("suffix")
            return decoders.BpeSuffix(text("suffix", "</w>"))
        case "CTC":
            only("pad_token", "word_delimiter_token", "cleanup")
            return decoders.Ctc(
                text("pad_token", "<pad>"),
                text("word_delimiter_token", "|"),
                flag(fields, "cleanup", place, True),
            )
        case _:
            raise FormatError(f"{place} is {kind!r:.40}, which is no decoder that subword knows")


def _write(step: DecoderStep) -> dict[str, object]:
    match step:
        case decoders.WordPiece():
            return {"type": "WordPiece", "prefix": step.prefix, "cleanup": step.cleanup}
        case decoders.Metaspace():
            return {
                "type": "Metaspace",
                "replacement": step.replacement,
                "prepend_scheme": "always" if step.add_prefix_space else "never",
                "split": True,
            }
        case decoders.ByteFallback() | decoders.Fuse():
            return {"type": type(step).__name__}
        case decoders.Printable():
            return dict(_BYTE_LEVEL)
        case decoders.Strip():
            return {
                "type": "Strip",
                "content": step.content,
                "start": step.start,
                "stop": step.stop,
            }
        case decoders.Replace():
            return {"type": "Replace", "pattern": {"String": step.pattern}, "content": step.content}
        case decoders.BpeSuffix():
            return {"type": "BPEDecoder", "suffix": step.suffix}
        case decoders.Ctc():
            return {
                "type": "CTC",
                "pad_token": step.pad_token,
                "word_delimiter_token": step.word_delimiter_token,
                "cleanup": step.cleanup,
            }
        case _:
            raise FormatError(
                f"tokenizer.json cannot hold the decoder {type(step).__name__}; HF tokenizers has "
                "no such step"
            )
