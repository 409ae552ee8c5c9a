"""One page of rows, for whoever shows it: a terminal with rich, one without, or a pipe.

    Page -> text_of -> lines, none wider than asked; plain text unless style has colours
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Callable, Optional, Sequence

from ...text import Style, printable, shorten

GAP = "  "


@dataclass(frozen=True)
class Column:
    title: str
    right: bool = False  # aligned: a number
    grows: bool = False  # shortened where there is too little room
    least: int = 0  # characters, so that the columns after it stand still
    marked: bool = False  # the page is sorted by it
    fit: Callable[[str, int], str] = shorten  # how it is shortened


@dataclass(frozen=True)
class Row:
    cells: Sequence[str]
    hot: bool = False  # worth a look
    change: float = 0.0  # of the first cell's number: above 0 it has grown


@dataclass(frozen=True)
class Page:
    head: list[str] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    foot: list[str] = field(default_factory=list)
    selected: Optional[int] = None  # a row


def laid_out(page: Page, width: Optional[int], height: Optional[int] = None) -> Page:
    """The same with cells of equal width in each column, no line wider, and no more lines.
    None: as much as it takes."""
    rows = page.rows
    if height is not None:
        room = max(1, height - len(page.head) - len(page.foot) - 1)
        first = max(0, (page.selected or 0) - room + 1)
        rows = rows[first : first + room]
    else:
        first = 0
    widths = _widths(page.columns, rows, width)
    cut = [line if width is None else shorten(line, width) for line in page.head]
    return Page(
        cut,
        [
            replace(column, title=_fit(column.title, room, column.right), least=room)
            for column, room in zip(page.columns, widths)
        ],
        [
            Row(
                [
                    _fit(printable(cell), room, column.right, column.fit)
                    for cell, room, column in zip(row.cells, widths, page.columns)
                ],
                row.hot,
                row.change,
            )
            for row in rows
        ],
        [line if width is None else shorten(line, width) for line in page.foot],
        None if page.selected is None else page.selected - first,
    )


def text_of(page: Page, width: Optional[int] = None, style: Style = Style()) -> list[str]:
    page = laid_out(page, width)
    title = GAP.join(column.title for column in page.columns)[:width].rstrip()
    table = [style.dim(title)] if page.rows else []
    table += [_painted(row, width, style) for row in page.rows]
    return page.head + table + page.foot


def _painted(row: Row, width: Optional[int], style: Style) -> str:
    line = GAP.join(row.cells)[:width].rstrip()
    if row.change:
        first = len(row.cells[0])
        paint = style.more if row.change > 0 else style.fewer
        return paint(line[:first]) + line[first:]
    return style.bold(line) if row.hot else line


def _widths(columns: list[Column], rows: list[Row], width: Optional[int]) -> list[int]:
    widths = [
        max([len(column.title), column.least] + [len(row.cells[place]) for row in rows])
        for place, column in enumerate(columns)
    ]
    if width is None:
        return widths
    room = width - len(GAP) * (len(columns) - 1)
    fixed = sum(w for w, column in zip(widths, columns) if not column.grows)
    growing = [place for place, column in enumerate(columns) if column.grows]
    # The first one that grows has the name: it keeps two thirds of what is left.
    for rank, place in enumerate(reversed(growing)):
        left = max(room - fixed, 0)
        needed = sum(widths[other] for other in growing[: len(growing) - 1 - rank])
        share = max(left // 3, left - needed) if rank < len(growing) - 1 else left
        widths[place] = min(widths[place], max(share, 8))
        fixed += widths[place]
    return widths


def _fit(
    text: str, width: int, right: bool, fit: Callable[[str, int], str] = shorten
) -> str:
    text = fit(text, width)
    return text.rjust(width) if right else text.ljust(width)
