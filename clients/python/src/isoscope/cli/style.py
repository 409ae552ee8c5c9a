"""How the place where text goes can show it: its width, and whether it has colours."""

from __future__ import annotations

import os
import shutil
import sys

from ..text import Style

__all__ = ["Style", "style_here"]


def style_here() -> Style:
    """Of stdout. NO_COLOR and a dumb terminal take the colours."""
    if not sys.stdout.isatty():
        return Style()
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return Style(shutil.get_terminal_size().columns, colour=not plain)
