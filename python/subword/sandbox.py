"""Jinja for templates from strangers: no access to Python, and bounds on steps and text.

The sandbox is jinja2's own; the bounds are counted in loops, calls, filters and operators. What
jinja2 cannot bound is memory that a template's own literals take, so their size is bounded too.

Source: jinja2 3.1, ``jinja2.sandbox``; what templates may use is what transformers 5 gives them
(utils/chat_template_utils.py): ``raise_exception``, ``strftime_now``, ``tojson``, ``generation``
blocks, ``break`` and ``continue``.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, wraps
from typing import Any, Final

from jinja2 import Template, TemplateError, TemplateRuntimeError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from subword.errors import ChatTemplateError

__all__ = ["MAX_CHARACTERS", "MAX_SOURCE", "MAX_STEPS", "render"]

MAX_SOURCE: Final = 1 << 20
"""Characters of a template."""
MAX_STEPS: Final = 1_000_000
"""Rounds of loops, calls, and items that filters read, of one rendering."""
MAX_CHARACTERS: Final = 1 << 26
"""Characters that one rendering may write, and that any string in it may have."""
_MAX_BITS: Final = 1 << 12
_MAX_WIDTH: Final = 10_000
# Steps that a call of a macro counts for.
_MACRO: Final = 10
# Strings that are made on the way count less than those that are written.
_MADE: Final = 8
_WIDTH = re.compile(r"\d{5,}|%[^a-zA-Z%]*\*")


@dataclass(slots=True)
class _Budget:
    """What is left of one rendering's bounds."""

    n_steps: int
    n_characters: int
    source_length: int

    def step(self, n: int = 1) -> None:
        self.n_steps -= n
        if self.n_steps < 0:
            raise TemplateRuntimeError(f"it takes more than {MAX_STEPS} steps")

    def write(self, n: int) -> None:
        self.n_characters -= n
        if self.n_characters < 0:
            raise TemplateRuntimeError(f"it makes more than {MAX_CHARACTERS} characters")


_BUDGET: ContextVar[_Budget] = ContextVar("budget")


def render(source: str, variables: Mapping[str, Any]) -> str:
    """Render a template.

    Args:
        source: The template.
        variables: What it may name.

    Raises:
        ChatTemplateError: It does not compile, refuses the variables (``raise_exception``),
            reaches for what the sandbox forbids, or passes a bound.
    """
    if len(source) > MAX_SOURCE:
        raise ChatTemplateError(
            f"the template has {len(source)} characters; at most {MAX_SOURCE} are read"
        )
    token = _BUDGET.set(_Budget(MAX_STEPS, MAX_CHARACTERS, len(source)))
    try:
        return _compiled(source).render(variables)
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        place = "" if line is None else f" at line {line}"
        raise ChatTemplateError(f"the chat template fails{place}: {error}") from error
    except RecursionError as error:
        raise ChatTemplateError("the chat template is nested or calls itself too deep") from error
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,
        TypeError,
        ValueError,
    ) as error:
        # What the template's own expressions raise on the variables.
        raise ChatTemplateError(f"the chat template fails: {error}") from error
    finally:
        _BUDGET.reset(token)


@lru_cache(maxsize=16)
def _compiled(source: str) -> Template:
    return _environment().from_string(source)


class _Limited(ImmutableSandboxedEnvironment):
    """The sandbox, which counts."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Apply an operator whose result could be huge."""
        _BUDGET.get().step()
        _check_operands(operator, left, right)
        return _made(super().call_binop(context, operator, left, right))

    def call(self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call what a template calls."""
        budget = _BUDGET.get()
        budget.step()
        if isinstance(__obj, Macro):
            budget.step(_MACRO)
            budget.write(budget.source_length)
            return super().call(__context, __obj, *args, **kwargs)
        # The sandbox has put a function of its own before ``str.format``.
        owner = getattr(getattr(__obj, "__wrapped__", __obj), "__self__", None)
        if isinstance(owner, str | list | tuple | dict):
            _check_arguments(owner, getattr(__obj, "__name__", ""), (*args, *kwargs.values()))
            budget.step(len(owner) // 16)
        return _made(super().call(__context, __obj, *args, **kwargs))

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return _Counting().visit(super()._parse(source, name, filename))  # type: ignore[no-any-return]


class _Counting(NodeTransformer):
    """Puts the counters into a template: loops go through one, ``~`` through another."""

    def visit_For(self, node: nodes.For) -> nodes.For:  # noqa: N802
        size = sum(len(data.data) for data in node.find_all(nodes.TemplateData))
        self.generic_visit(node)
        node.iter = nodes.Filter(
            node.iter, "_counted", [nodes.Const(size)], [], None, None, lineno=node.lineno
        )
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802
        self.generic_visit(node)
        parts = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(parts, "_concat", [], [], None, None, lineno=node.lineno)


class _Generation(Extension):
    """``{% generation %}``: marks what the assistant said; the text is the same without it."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Give the statements inside."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


@lru_cache(maxsize=1)
def _environment() -> _Limited:
    environment = _Limited(
        trim_blocks=True,
        lstrip_blocks=True,
        optimized=False,
        finalize=_written,
        extensions=[_Generation, "jinja2.ext.loopcontrols"],
    )
    for name, function in list(environment.filters.items()):
        environment.filters[name] = _limited(function)
    environment.filters.update(tojson=_limited(_to_json), _counted=_counted, _concat=_concat)
    del environment.globals["lipsum"]
    environment.globals.update(
        range=_range, raise_exception=_raise_exception, strftime_now=_strftime_now
    )
    return environment


def _counted(items: Iterable[Any], size: int) -> Iterator[Any]:
    budget = _BUDGET.get()
    for item in items:
        budget.step()
        budget.write(size)
        yield item


def _concat(parts: list[Any]) -> str:
    texts = [str(part) for part in parts]
    _BUDGET.get().write(sum(map(len, texts)) // _MADE)
    return "".join(texts)


def _written(value: Any) -> Any:
    text = value if isinstance(value, str) else str(value)
    _BUDGET.get().write(len(text))
    return text


def _made(value: Any) -> Any:
    if isinstance(value, str | list | tuple | dict):
        _BUDGET.get().write(len(value) // _MADE)
    return value


def _limited(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a filter that counts what it reads and makes, and takes no huge width."""

    @wraps(function)
    def limited(*args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        for value in given:
            if isinstance(value, int) and abs(value) > _MAX_WIDTH and value is not args[0]:
                raise TemplateRuntimeError(f"a filter is given a number beyond {_MAX_WIDTH}")
            if isinstance(value, str) and _WIDTH.search(value) and function.__name__ == "do_format":
                raise TemplateRuntimeError("a format asks for a width of five digits")
        sizes = [len(value) for value in given if isinstance(value, str | list | tuple | dict)]
        _BUDGET.get().step(1 + sum(sizes) // 16)
        if sizes and function.__name__ in ("do_join", "do_replace"):
            _BUDGET.get().write(_joined(args, sizes) // _MADE)
        return _made(function(*args, **kwargs))

    return limited


def _joined(args: tuple[Any, ...], sizes: list[int]) -> int:
    """Give an upper bound of what joining or replacing makes."""
    items = next((value for value in args if isinstance(value, list | tuple)), ())
    own = sum(len(item) for item in items if isinstance(item, str))
    return own + (sizes[0] + 1) * (1 + sizes[-1])


def _check_operands(operator: str, left: Any, right: Any) -> None:
    sized = (str, list, tuple)
    if operator == "*":
        for value, times in ((left, right), (right, left)):
            if isinstance(value, sized) and isinstance(times, int):
                _BUDGET.get().write(max(times, 0) * len(value))
        both = isinstance(left, int) and isinstance(right, int)
        if both and left.bit_length() + right.bit_length() > _MAX_BITS:
            raise TemplateRuntimeError("a product is too large")
    elif operator == "**":
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        size = left.bit_length() if isinstance(left, int) else 64
        if not numbers or size * abs(right) > _MAX_BITS:
            raise TemplateRuntimeError("a power is too large")
    elif operator == "+" and isinstance(left, sized) and isinstance(right, sized):
        _BUDGET.get().write((len(left) + len(right)) // _MADE)
    elif operator == "%" and isinstance(left, str) and _WIDTH.search(left):
        raise TemplateRuntimeError("a format asks for a width of five digits")


def _check_arguments(owner: Any, name: str, args: tuple[Any, ...]) -> None:
    """Refuse what makes a method of a string or list huge."""
    if any(isinstance(value, int) and abs(value) > _MAX_WIDTH for value in args):
        raise TemplateRuntimeError(f"{name} is given a number beyond {_MAX_WIDTH}")
    if name in ("format", "format_map") and _WIDTH.search(str(owner)):
        raise TemplateRuntimeError("a format asks for a width of five digits")
    if name == "replace" and len(args) > 1 and isinstance(owner, str):
        n_found = owner.count(str(args[0]))
        _BUDGET.get().write((len(owner) + n_found * len(str(args[1]))) // _MADE)
    if name == "join" and args and isinstance(args[0], list | tuple):
        total = sum(len(owner) + len(item) for item in args[0] if isinstance(item, str))
        _BUDGET.get().write(total // _MADE)
    if name == "translate":
        raise TemplateRuntimeError("translate is not to be had")


def _range(*args: int) -> range:
    made = range(*args)
    _BUDGET.get().step(len(made[: MAX_STEPS + 1]))
    return made


def _raise_exception(message: str) -> None:
    raise TemplateError(message)


def _strftime_now(format: str) -> str:  # noqa: A002
    if _WIDTH.search(format):
        raise TemplateRuntimeError("a format asks for a width of five digits")
    return datetime.now().strftime(format)


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Unlike jinja2's own, it leaves what HTML would escape."""
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )
