"""How the place where text goes can show it: its width, and whether it has colours."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Optional

from ...text import Style

__all__ = ["Style", "style_here"]


def style_here(names: Optional[int] = None) -> Style:
    """Of stdout. NO_COLOR and a dumb terminal take the colours. names: --shorten."""
    if not sys.stdout.isatty():
        return Style(names=names)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return Style(shutil.get_terminal_size().columns, colour=not plain, names=names)
