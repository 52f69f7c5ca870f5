"""How a command ends: exit codes, and one line for what was refused."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import ParamSpec

import typer

from subword.errors import SubwordError

__all__ = ["guarded", "say"]

P = ParamSpec("P")

REFUSED = 1
INTERRUPTED = 130


def say(message: str) -> None:
    """Print one line to standard error."""
    with suppress(OSError):
        print(f"subword: {' '.join(message.split())}", file=sys.stderr, flush=True)


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Make a command that ends as the command line promises, without a traceback.

    A reader that closes its pipe early has what it wanted: that is not an error.
    """

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        code = 0
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            _discard_output()
        except KeyboardInterrupt:
            _discard_output()
            code = INTERRUPTED
        except (SubwordError, OSError, MemoryError) as error:
            _discard_output()
            say(_message(error))
            code = REFUSED
        if code:
            raise typer.Exit(code)

    return run


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        place = (
            f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        )
        return f"{place}{error.strerror}"
    return str(error) or ("out of memory" if isinstance(error, MemoryError) else repr(error))


def _discard_output() -> None:
    """Write what can be written, and let nothing fail again when the interpreter ends."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)
