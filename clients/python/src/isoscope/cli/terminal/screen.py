"""A whole terminal for one page at a time, and the keys that are pressed meanwhile.

    with Screen() as screen:
        screen.show(page)
        key = screen.key(timeout_s)    "q", "up", "escape", ...; "": time is up, or the size is new

Drawn by rich where it is installed, else by plain escape sequences. NO_COLOR takes the colours, not
bold and reverse.

Signals  SIGTERM and SIGHUP raise SystemExit inside the with block, so that the terminal is put
         right on every way out. Ctrl-Z does nothing: a shell would get the terminal as it is.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import sys
import termios
import tty
from types import FrameType, TracebackType
from typing import Any, Callable, NamedTuple, Optional

from .page import GAP, Page, laid_out

_KEYS = {
    "\x1b[A": "up", "\x1b[B": "down", "\x1bOA": "up", "\x1bOB": "down", "\x1b": "escape",
    "\r": "enter", "\n": "enter", "\t": "tab", "\x0c": "redraw", "\x1b[5~": "page up",
    "\x1b[6~": "page down", "\x1b[H": "home", "\x1b[F": "end",
}  # fmt: skip
_ONE_KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])|.", re.DOTALL)
_BOLD, _DIM, _REVERSE, _ACCENT = "1", "2", "7", "36"


class Part(NamedTuple):
    """Text that looks the same all along."""

    text: str
    looks: tuple[str, ...] = ()


class Screen:
    def __init__(self, *, rich: Optional[bool] = None) -> None:
        """rich False: plain even where it is installed."""
        self._painter = _plain if rich is False else (_rich_painter() or _plain)
        self._before: dict[int, Any] = {}
        self._pressed: list[str] = []  # and not asked for yet

    def __enter__(self) -> Screen:
        self._terminal = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        quiet = termios.tcgetattr(sys.stdin)
        quiet[6][termios.VSUSP] = b"\0"
        termios.tcsetattr(sys.stdin, termios.TCSANOW, quiet)
        self._wake, self._woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        self._on(signal.SIGWINCH, lambda number, frame: None)
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._on(number, _leave)
        _write("\x1b[?1049h\x1b[?25l\x1b[?7l")  # what is too wide is cut, not wrapped
        return self

    def _on(self, number: int, act: Callable[[int, Optional[FrameType]], None]) -> None:
        self._before[number] = signal.signal(number, act)

    def __exit__(
        self,
        exc_type: Optional[type[BaseException]],
        exc: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        try:
            _write("\x1b[?7h\x1b[?25h\x1b[?1049l")
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._terminal)
        except (OSError, termios.error):
            pass  # the terminal has gone
        signal.set_wakeup_fd(-1)
        for number, act in self._before.items():
            signal.signal(number, act)
        os.close(self._wake)
        os.close(self._woken)

    def show(self, page: Page) -> None:
        size = shutil.get_terminal_size()
        _write("\x1b[H")
        lines = _lines(laid_out(page, size.columns, size.lines), size.columns)
        below = len(lines) - len(page.foot)
        lines[below:below] = [[]] * max(0, size.lines - len(lines))
        self._painter(lines)
        _write("\x1b[J")

    def key(self, timeout_s: float) -> str:
        if self._pressed:
            return self._pressed.pop(0)
        ready, _, _ = select.select([sys.stdin, self._wake], [], [], max(0.0, timeout_s))
        if self._wake in ready:
            os.read(self._wake, 4096)
        if sys.stdin not in ready:
            return ""
        text = os.read(sys.stdin.fileno(), 64).decode("utf-8", "replace")
        self._pressed = [_KEYS.get(key, key) for key in _ONE_KEY.findall(text)]
        return self._pressed.pop(0) if self._pressed else "q"  # the terminal has gone


def _lines(page: Page, width: int) -> list[list[Part]]:
    """Of a page that is laid out."""
    lines = [[Part(line, (_BOLD,) if not number else ())] for number, line in enumerate(page.head)]
    titles: list[Part] = []
    for column in page.columns:
        titles += [Part(column.title, (_ACCENT, _BOLD) if column.marked else (_DIM,)), Part(GAP)]
    if page.rows:
        lines.append(titles[:-1])
    for number, row in enumerate(page.rows):
        text = GAP.join(row.cells)
        if number == page.selected:
            lines.append([Part(text.ljust(width)[:width], (_REVERSE,))])
        else:
            lines.append([Part(text, (_BOLD,) if row.hot else ())])
    return lines + [[Part(line, (_DIM,))] for line in page.foot]


def _plain(lines: list[list[Part]]) -> None:
    painted = ["".join(_painted(part) for part in line) for line in lines]
    _write("\x1b[K\n".join(painted) + "\x1b[K")


def _painted(part: Part) -> str:
    looks = [look for look in part.looks if look != _ACCENT or not os.environ.get("NO_COLOR")]
    return f"\x1b[{';'.join(looks)}m{part.text}\x1b[0m" if looks else part.text


def _rich_painter() -> Optional[Callable[[list[list[Part]]], None]]:
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError:
        return None
    console = Console(highlight=False, soft_wrap=True)
    styles = {_BOLD: "bold", _DIM: "dim", _REVERSE: "reverse", _ACCENT: "cyan"}

    def paint(lines: list[list[Part]]) -> None:
        whole = Text(no_wrap=True, end="")
        for number, line in enumerate(lines):
            whole.append("\n" if number else "")
            for part in line:
                whole.append(part.text, " ".join(styles[look] for look in part.looks))
        with console.capture() as capture:
            console.print(whole, end="")
        _write(capture.get().replace("\n", "\x1b[K\n") + "\x1b[K")

    return paint


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _leave(number: int, frame: Optional[FrameType]) -> None:
    raise SystemExit(128 + number)
