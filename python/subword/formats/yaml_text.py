"""Read YAML that strangers wrote: the part of it that data needs.

No anchors, aliases, tags or second document are read, so a short file cannot grow into a large
value, and no tag can make an object.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

import yaml

from subword.errors import FormatError

__all__ = ["parse_yaml"]

_MAX_DEPTH: Final = 12
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,19})")
_WORDS: Final = {"true": True, "false": False, "null": None}

# The compiled parser where PyYAML has it; both give the same events.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(text: str, path: str) -> Any:
    r"""Parse YAML into dicts, lists, strings, integers, booleans and None.

    Raises:
        FormatError: No YAML, or more of it than is read, with its line.

    Examples:
        >>> parse_yaml("0: a\n1: [b, 'c d', 2]", "example")
        {0: 'a', 1: ['b', 'c d', 2]}
    """
    try:
        events = yaml.parse(text, Loader=_LOADER)
        return _compose(events, path)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error)
        raise FormatError(f"{path}{line}: not YAML: {problem:.80}") from error


def _compose(events: Iterable[Any], path: str) -> Any:
    """Build the one document of a stream of events, without recursion."""
    root: list[Any] = []
    add: list[Callable[[Any], None]] = [root.append]
    n_documents = 0
    for event in events:
        place = f"{path}:{event.start_mark.line + 1}"
        if isinstance(event, yaml.DocumentStartEvent):
            n_documents += 1
            if n_documents > 1:
                raise FormatError(f"{place}: a second YAML document; expected one")
        elif isinstance(event, yaml.CollectionEndEvent):
            add.pop()
        elif isinstance(event, yaml.NodeEvent):
            value = _node(event, place)
            add[-1](value)
            if isinstance(value, list):
                add.append(value.append)
            elif isinstance(value, dict):
                add.append(_Entries(value, place))
            if len(add) > _MAX_DEPTH:
                raise FormatError(f"{place}: nested too deep; expected at most {_MAX_DEPTH} levels")
    return root[0] if root else None


class _Entries:
    """Puts alternating keys and values into a dict."""

    __slots__ = ("entries", "key", "place", "wants_value")

    def __init__(self, entries: dict[Any, Any], place: str) -> None:
        self.entries, self.place = entries, place
        self.key: Any = None
        self.wants_value = False

    def __call__(self, value: Any) -> None:
        if self.wants_value:
            self.entries[self.key] = value
        elif type(value) not in (str, int):
            raise FormatError(f"{self.place}: a key is {value!r:.40}; expected a name or a number")
        elif value in self.entries:
            raise FormatError(f"{self.place}: the key {value!r:.60} stands twice in one mapping")
        else:
            self.key = value
        self.wants_value = not self.wants_value


def _node(event: Any, place: str) -> Any:
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise FormatError(f"{place}: anchors and aliases are not read; write the value out")
    if event.tag is not None:
        raise FormatError(f"{place}: the tag {event.tag!r:.40} is not read; leave it out")
    if isinstance(event, yaml.SequenceStartEvent):
        return []
    if isinstance(event, yaml.MappingStartEvent):
        return {}
    if event.style or not event.implicit[0]:
        return event.value
    if _INTEGER.fullmatch(event.value):
        return int(event.value)
    return _WORDS.get(event.value, event.value)
