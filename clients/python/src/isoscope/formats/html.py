"""A flame graph as one HTML page to zoom and search in. It asks no network for anything, which its
content security policy makes sure of.

The page holds every box, and draws those that are wider than half a pixel where it is zoomed to.
Lost: time, threads, tags, lines but those of definitions.

The browser page saves the same one, with the same parts (clients/web, data/files/html_write.ts).
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib import resources
from typing import BinaryIO, Callable, Union

from ..profile import Profile
from ..trees.flame import Box
from ..trees.item import Item
from ..text.short_name import name_forms
from .colours import OTHERS, SELF_STEPS, shaded
from .common import AUTO, UTF8, library_path
from .flame_style import Picture, picture


def write(profile: Profile, out: BinaryIO, *, weight: str = AUTO) -> None:
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
    names = _Names(drawn)
    columns: dict[str, list[int]] = {"name": [], "row": [], "start": [], "width": [], "self": []}
    inlined = []
    for number, box in enumerate(drawn.boxes):
        if box is None:
            row = (names.of_all(), 0, 0, drawn.total, 0)
        else:
            row = (names.of(box), drawn.row(box), box.start, box.width, drawn.own(box))
            if box.node.inlined:
                inlined.append(number)
        for column, entry in zip(columns.values(), row):
            column.append(entry)
    value = {
        "unit": drawn.unit,
        "legend": [[name, own, colour] for name, own, colour in drawn.libraries],
        "others": OTHERS,
        "names": names.rows,
        "boxes": {**columns, "inlined": inlined},
    }
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c")  # no name can end the script element


class _Names:
    """What boxes are called: [name, full name, library, where, colours by self, shorter names]."""

    def __init__(self, drawn: Picture) -> None:
        self._drawn = drawn
        self._numbers: dict[Union[Item, str], int] = {}
        self.rows: list[list[Union[str, list[str]]]] = []

    def of_all(self) -> int:
        return self._number("all", lambda: ["all", "", "", "", [OTHERS], []])

    def of(self, box: Box) -> int:
        return self._number(box.node.item.base, lambda: self._row(box))

    def _number(self, key: Union[Item, str], row: Callable[[], list[Union[str, list[str]]]]) -> int:
        number = self._numbers.setdefault(key, len(self.rows))
        if number == len(self.rows):
            self.rows.append(row())
        return number

    def _row(self, box: Box) -> list[Union[str, list[str]]]:
        node, function = box.node, box.node.function
        colour = self._drawn.colour(node.library)
        fills = [shaded(colour, node.name, step) for step in range(SELF_STEPS + 1)]
        shorter = list(name_forms(node.name)[1:])
        if function is None:
            return [node.name, "", "", "", fills, shorter]
        where = f"{function.file}:{function.line}" if function.line else function.file
        full = function.full_name if function.full_name != function.name else ""
        return [function.name, full, library_path(function), where, fills, shorter]
