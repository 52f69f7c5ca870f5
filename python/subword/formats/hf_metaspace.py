"""``Metaspace`` of a ``tokenizer.json``, which is a pre-tokenizer and a decoder.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/pre_tokenizers/metaspace.rs.
"""

from collections.abc import Mapping
from typing import Any, get_args

from subword.errors import FormatError
from subword.formats.json_file import checked, flag, refuse_others
from subword.pretokens import Metaspace, PrependScheme

__all__ = ["read_metaspace", "write_metaspace"]

_FIELDS = {"type", "replacement", "prepend_scheme", "split", "str_rep", "add_prefix_space"}


def read_metaspace(fields: Mapping[str, Any], place: str) -> Metaspace:
    """Read a ``Metaspace``, of today or with the ``add_prefix_space`` of old files.

    Raises:
        FormatError: An unknown field or value, or two that contradict each other.
    """
    refuse_others(fields, _FIELDS, place)
    scheme = fields.get("prepend_scheme")
    if scheme is not None and scheme not in get_args(PrependScheme):
        raise FormatError(
            f"{place}.prepend_scheme is {scheme!r:.40}; expected one of {get_args(PrependScheme)}"
        )
    adds = fields.get("add_prefix_space")
    if adds is not None:
        adds = flag(fields, "add_prefix_space", place)
        if scheme is not None and adds != (scheme != "never"):
            raise FormatError(
                f"{place}: prepend_scheme is {scheme!r} but add_prefix_space is {adds}; which is "
                "meant cannot be told"
            )
    mark = checked(fields.get("replacement"), str, f"{place}.replacement")
    if len(mark) != 1 or fields.get("str_rep", mark) != mark:
        raise FormatError(
            f"{place}: replacement is {mark!r:.40} and str_rep "
            f"{fields.get('str_rep', mark)!r:.40}; expected one character"
        )
    chosen: PrependScheme = scheme or ("never" if adds is False else "always")
    return Metaspace(mark, chosen, flag(fields, "split", place, default=True))


def write_metaspace(step: Metaspace) -> dict[str, object]:
    """Give the fields of a ``Metaspace``."""
    return {
        "type": "Metaspace",
        "replacement": step.replacement,
        "prepend_scheme": step.prepend_scheme,
        "split": step.split,
    }
