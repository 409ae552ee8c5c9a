"""Text for terminals: names as other people's symbol tables have them, made to fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Style:
    """How the place where the text goes can show it."""

    width: Optional[int] = None  # columns; None: any
    colour: bool = False

    def dim(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[0m" if self.colour and text.strip() else text

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self.colour and text.strip() else text


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


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration(us: int) -> str:
    return f"{us / 1000:g} ms" if us >= 1000 else f"{us} us"
