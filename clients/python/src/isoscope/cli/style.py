"""How the place where text goes can show it: its width, and whether it has colours."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Style:
    width: Optional[int] = None  # None: any
    colour: bool = False

    def dim(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[0m" if self.colour and text.strip() else text

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self.colour and text.strip() else text


def style_here() -> Style:
    """Of stdout. NO_COLOR and a dumb terminal take the colours."""
    if not sys.stdout.isatty():
        return Style()
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return Style(shutil.get_terminal_size().columns, colour=not plain)
