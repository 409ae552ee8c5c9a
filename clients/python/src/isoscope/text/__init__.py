"""Text for terminals: names as other people's symbol tables have them, made to fit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

from .short_name import short_name

# What stands behind a function's name and is not shortened: a line, " (inlined)".
_TAIL = re.compile(r"(.*?)((?::[0-9]+)?(?: \(inlined\))?)", re.DOTALL)


@dataclass(frozen=True)
class Style:
    """How the place where the text goes can show it."""

    width: Optional[int] = None  # columns; None: any
    colour: bool = False
    names: Optional[int] = None  # characters of a function's name, at most

    def dim(self, text: str) -> str:
        return self._painted("2", text)

    def bold(self, text: str) -> str:
        return self._painted("1", text)

    def hot(self, text: str) -> str:
        """A number that is worth a look."""
        return self._painted("1;33", text)

    def more(self, text: str) -> str:
        return self._painted("31", text)

    def fewer(self, text: str) -> str:
        return self._painted("32", text)

    def function(self, name: str, room: Optional[int] = None) -> str:
        """As it was asked for, and as there is room."""
        most = [width for width in (self.names, room) if width is not None]
        return fit_function(printable(name), min(most)) if most else printable(name)

    def _painted(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text.strip() else text


def printable(text: str) -> str:
    """No control characters to the terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def shorten(text: str, width: int) -> str:
    """Cut in the middle: a C++ name begins with its namespace and ends with its function."""
    if len(text) <= width:
        return text
    if width < 4:
        return text[: max(width, 0)]
    tail = (width - 3) * 2 // 3
    return text[: width - 3 - tail] + "..." + text[len(text) - tail :]


def shorten_left(text: str, width: int) -> str:
    """Of a library or a path the end tells most."""
    if len(text) <= width:
        return text
    return "..." + text[len(text) - width + 3 :] if width > 3 else text[len(text) - max(width, 0) :]


def fit_function(text: str, width: int) -> str:
    """A name, perhaps with a line and "(inlined)" behind it."""
    if len(text) <= width:
        return text
    found = _TAIL.fullmatch(text)
    name, tail = found.groups() if found else (text, "")
    return (short_name(name, max(width - len(tail), 0)) + tail)[: max(width, 0)]


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration(us: int) -> str:
    return f"{us / 1000:g} ms" if us >= 1000 else f"{us} us"


def weight_text(weight: float, unit: str) -> str:
    """A kind's weight in its unit: bytes, count, or time in microseconds."""
    if unit == "bytes":
        return size(weight)
    return f"{weight:,.0f}" if unit == "count" else f"{weight / 1000:,.1f} ms"


def size(count: float) -> str:
    """Bytes, in the unit that suits them."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            break
        count /= 1024
    else:
        unit = "TiB"
    return f"{count:,.0f} {unit}" if unit == "B" else f"{count:,.1f} {unit}"
