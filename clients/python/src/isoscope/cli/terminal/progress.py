"""That something takes long, told on a terminal's stderr and nowhere else.

    with working("reading samples"): ...                 a spinner
    for round in steps(range(10), "measuring"): ...      a bar

With rich where it is installed, else one line that is taken back at the end.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import Iterator, Sequence, TypeVar

T = TypeVar("T")


@contextmanager
def working(what: str) -> Iterator[None]:
    if not _shown():
        yield
        return
    try:
        from rich.console import Console
    except ImportError:
        _write(f"{what} ...")
        try:
            yield
        finally:
            _take_back()
        return
    with Console(stderr=True).status(what):
        yield


def steps(items: Sequence[T], what: str) -> Iterator[T]:
    if not _shown():
        yield from items
        return
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        yield from _plain_steps(items, what)
        return
    console = Console(stderr=True)
    yield from track(items, description=what, console=console, transient=True)


def _plain_steps(items: Sequence[T], what: str) -> Iterator[T]:
    try:
        for place, item in enumerate(items):
            _write(f"{what}: {place + 1} of {len(items)}")
            yield item
    finally:
        _take_back()


def _shown() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def _write(text: str) -> None:
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()


def _take_back() -> None:
    _write("")
