"""That something takes long, told on a terminal's stderr and nowhere else.

    with working("reading samples"): ...                 a spinner
    with working("reading", lambda: "3 MB"): ...         and how far it is
    for round in steps(range(10), "measuring"): ...      a bar

With rich where it is installed, else one line that is taken back at the end.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from typing import Callable, Iterator, Sequence, TypeVar

T = TypeVar("T")
_EVERY_S = 0.2


@contextmanager
def working(what: str, how_far: Callable[[], str] = str) -> Iterator[None]:
    """how_far is asked by another thread, now and then."""
    if not _shown():
        yield
        return
    try:
        from rich.console import Console
    except ImportError:
        try:
            with _telling(_write, f"{what} ...", how_far):
                yield
        finally:
            _take_back()
        return
    with Console(stderr=True).status(what) as status, _telling(status.update, what, how_far):
        yield


@contextmanager
def _telling(tell: Callable[[str], None], what: str, how_far: Callable[[], str]) -> Iterator[None]:
    ended = threading.Event()

    def follow() -> None:
        while not ended.wait(_EVERY_S):
            tell(f"{what} {how_far()}".rstrip())

    tell(what)
    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


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
