"""The public names: complete, sorted, described; errors that pickle."""

import inspect
import pickle
import re
from pathlib import Path

import pytest

import subword
from subword import errors

PACKAGE = Path(subword.__file__).parent
EXCEPTIONS = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, BaseException)
]
BUILTINS = (ValueError, OSError, OverflowError, LookupError, ImportError, UserWarning)


def test_all_is_sorted_and_holds_every_public_name() -> None:
    assert subword.__all__ == sorted(set(subword.__all__))
    assert all(hasattr(subword, name) for name in subword.__all__)
    rooms = {path.stem for path in PACKAGE.iterdir()}
    public = {name for name in vars(subword) if not name.startswith("_")}
    assert public - rooms == set(subword.__all__) - rooms


@pytest.mark.parametrize("name", subword.__all__)
def test_every_public_name_says_what_it_is(name: str) -> None:
    assert (inspect.getdoc(getattr(subword, name)) or "").strip()


@pytest.mark.parametrize("name", subword.__all__)
def test_every_public_method_says_what_it_does(name: str) -> None:
    value = getattr(subword, name)
    if not isinstance(value, type) or issubclass(value, BaseException):
        return
    for method, function in vars(value).items():
        if not method.startswith("_") and (callable(function) or isinstance(function, property)):
            assert inspect.getdoc(function), f"{name}.{method}"


def test_the_docstring_names_every_room_once() -> None:
    docstring = subword.__doc__ or ""
    for path in PACKAGE.iterdir():
        if path.name.startswith(("_", ".")) or path.suffix in (".so", ".pyd", ".typed"):
            continue
        lines = re.findall(rf"^{path.stem} +\S", docstring, re.MULTILINE)
        assert len(lines) == 1, path.stem


def test_errors_all_is_what_it_defines() -> None:
    assert sorted(errors.__all__) == sorted(exception.__name__ for exception in EXCEPTIONS)
    assert set(errors.__all__) <= set(subword.__all__)
    assert all(exception.__name__ in (errors.__doc__ or "") for exception in EXCEPTIONS)


@pytest.mark.parametrize("exception", EXCEPTIONS, ids=lambda exception: exception.__name__)
def test_every_exception_pickles_and_is_a_builtin_too(exception: type[BaseException]) -> None:
    assert exception is errors.SubwordError or issubclass(exception, BUILTINS)
    is_warning = issubclass(exception, Warning)
    assert issubclass(exception, errors.SubwordError) != is_warning
    arguments = (2, "said", "path") if issubclass(exception, OSError) else ("said",)
    again = pickle.loads(pickle.dumps(exception(*arguments)))  # noqa: S301
    assert type(again) is exception
    assert str(again) == str(exception(*arguments))
