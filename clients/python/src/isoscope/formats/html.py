"""A flame graph as one HTML page to zoom and search in. It asks no network for anything, which its
content security policy makes sure of.

The page holds every box, and draws those that are wider than half a pixel where it is zoomed to. Lost:
time, threads, tags, lines but those of definitions.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib import resources
from typing import Any, BinaryIO

from ..model import Function
from ..profile import Profile
from .common import SAMPLES, UTF8, library_path
from .flame_style import OTHERS, Picture, picture
from .svg import box_name


def write(profile: Profile, out: BinaryIO, *, weight: str = SAMPLES) -> None:
    drawn = picture(profile, weight)
    style, script = _part("flame.css"), _part("flame.js")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "POLICY": html.escape(policy),
        "TITLE": html.escape(drawn.title),
        "SUMMARY": "".join(f"<p>{html.escape(line)}</p>" for line in drawn.summary),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": _data(drawn),
    }
    # In one go: what is put in is not looked through again.
    page = re.sub("@([A-Z]+)@", lambda found: parts[found[1]], _part("flame.html"))
    out.write(page.encode(*UTF8))


def _part(name: str) -> str:
    folder = resources.files(__package__)
    return (folder / "page" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _data(drawn: Picture) -> str:
    flame = drawn.flame
    table = _Names(drawn)
    names = [table.number(box) for box in range(len(flame))]
    value = {
        "unit": drawn.unit,
        "legend": [[name, own, colour] for name, own, colour in drawn.libraries],
        "others": OTHERS,
        "names": table.rows,
        "boxes": {
            "name": names,
            "row": flame.rows,
            "start": flame.starts,
            "width": flame.widths,
            "self": flame.selves,
            "inlined": [box for box, inlined in enumerate(flame.inlined) if inlined],
        },
    }
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c")  # no name can end the script element


class _Names:
    """What boxes are called: [name, full name, library, where, colour's number]."""

    def __init__(self, drawn: Picture) -> None:
        self._drawn = drawn
        self._colours = {name: n for n, (name, _, _) in enumerate(drawn.libraries)}
        self._numbers: dict[Any, int] = {}
        self.rows: list[list[Any]] = []

    def number(self, box: int) -> int:
        function = self._drawn.flame.functions[box]
        key = function or self._drawn.flame.processes[box]
        if key not in self._numbers:
            self._numbers[key] = len(self.rows)
            name = box_name(self._drawn, box)
            self.rows.append(self._row(function) if function else [name, "", "", "", -1])
        return self._numbers[key]

    def _row(self, function: Function) -> list[Any]:
        where = f"{function.file}:{function.line}" if function.line else function.file
        full = function.full_name if function.full_name != function.name else ""
        library = function.library.name if function.library else ""
        colour = self._colours.get(library, -1)
        return [function.name, full, library_path(function), where, colour]
