"""A flame graph as an SVG picture: opens anywhere, needs nothing, holds no script.

The outermost function is on top. Each box says in its tooltip what it is. Lost: time, threads,
tags, lines, and boxes that would be narrower than a fifth of a pixel.
"""

from __future__ import annotations

from typing import BinaryIO
from xml.sax.saxutils import escape

from ..profile import Profile
from ..trees.flame import Box
from ..text.short_name import short_name
from .colours import OTHERS
from .common import AUTO, UTF8, library_path
from .flame_style import Picture, picture

WIDTH = 1200
_MARGIN = 16
_ROW = 17  # height of a box with its gap
_LETTER = 6.63  # width of one, at the font's size of 11
_NARROWEST = 0.2

_STYLE = """
  text { font: 11px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1a1a1a }
  .page { fill: #ffffff } .head { font: bold 17px sans-serif } .note { font: 12px sans-serif }
  .note, .head { fill: #1a1a1a }
  g.box:hover rect { stroke: #000000; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #1e1e1e } .note, .head { fill: #e8e8e8 }
    g.box:hover rect { stroke: #ffffff }
    rect[fill] { fill-opacity: 0.84 }
  }
"""


def write(profile: Profile, out: BinaryIO, *, weight: str = AUTO) -> None:
    drawn = picture(profile, weight)
    head = _head(drawn)
    legend, top = _legend(drawn, 40 + 18 * len(drawn.summary))
    height = top + drawn.rows * _ROW + _MARGIN
    title = _text(drawn.title)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img">\n<title>Flame graph of {title}</title>\n'
        f'<style>{_STYLE}</style>\n<rect class="page" width="100%" height="100%"/>\n',
        *head,
        *legend,
        *_boxes(drawn, top),
        "</svg>\n",
    ]
    out.write("".join(parts).encode(*UTF8))


def _head(drawn: Picture) -> list[str]:
    lines = [f'<text class="head" x="{_MARGIN}" y="26">{_text(_cut(drawn.title, 120))}</text>\n']
    for number, line in enumerate(drawn.summary):
        lines.append(
            f'<text class="note" x="{_MARGIN}" y="{46 + 18 * number}">{_text(line)}</text>\n'
        )
    return lines


def _legend(drawn: Picture, top: int) -> tuple[list[str], int]:
    """Colours with their libraries, and where what is below it begins."""
    entries = [(f"{name} {drawn.share(own)}", colour) for name, own, colour in drawn.libraries]
    entries.append(("others", OTHERS))
    lead = "Self by library:"
    parts = [f'<text class="note" x="{_MARGIN}" y="{top + 10}">{lead}</text>\n']
    x, y = _MARGIN + 7.0 * len(lead), top
    for label, colour in entries:
        label = _cut(label, 60)
        width = 26 + 7 * len(label)
        if x + width > WIDTH - _MARGIN and x > _MARGIN:
            x, y = float(_MARGIN), y + 20
        parts.append(
            f'<rect x="{x:.0f}" y="{y}" width="12" height="12" rx="2" fill="{colour}"/>'
            f'<text class="note" x="{x + 17:.0f}" y="{y + 10}">{_text(label)}</text>\n'
        )
        x += width
    return parts, y + 26


def _boxes(drawn: Picture, top: int) -> list[str]:
    scale = (WIDTH - 2 * _MARGIN) / max(1, drawn.total)
    parts = [_box(drawn, box, top, scale) for box in drawn.boxes if box is not None]
    if drawn.boxes[0] is None:
        parts.insert(0, _group("all", _MARGIN, top, drawn.total * scale, OTHERS, "all"))
    return parts


def _box(drawn: Picture, box: Box, top: int, scale: float) -> str:
    width = box.width * scale
    if width < _NARROWEST:
        return ""
    x, y = _MARGIN + box.start * scale, top + drawn.row(box) * _ROW
    return _group(box.node.name, x, y, width, drawn.fill(box), _tooltip(drawn, box))


def _group(name: str, x: float, y: int, width: float, fill: str, tooltip: str) -> str:
    shown = max(width - 0.5, _NARROWEST)  # a gap between neighbours
    label = short_name(name, int((shown - 5) / _LETTER))
    text = f'<text x="{x + 3:.2f}" y="{y + 12}">{_text(label)}</text>' if label else ""
    return (
        f'<g class="box"><title>{_text(tooltip)}</title>'
        f'<rect x="{x:.2f}" y="{y}" width="{shown:.2f}" height="{_ROW - 1}" rx="1.5" '
        f'fill="{fill}"/>{text}</g>\n'
    )


def _tooltip(drawn: Picture, box: Box) -> str:
    function, own = box.node.function, drawn.own(box)
    lines = [(function.full_name if function else "") or box.node.name]
    if function and function.library:
        lines.append(library_path(function))
    if function and function.file:
        lines.append(f"{function.file}:{function.line}" if function.line else function.file)
    if box.node.inlined:
        lines.append("inlined into its caller")
    lines.append(f"{drawn.share(box.width)}, {drawn.value(box.width)}")
    if own:
        lines.append(f"self {drawn.share(own)}, {drawn.value(own)}")
    return "\n".join(lines)


def _cut(text: str, letters: int) -> str:
    if len(text) <= letters:
        return text
    return f"{text[: letters - 1]}…" if letters >= 3 else ""


def _text(text: str) -> str:
    """XML knows no control characters, escaped or not."""
    return escape("".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text))
