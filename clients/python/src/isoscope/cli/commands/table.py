"""`isoscope table SOURCE`: each function once, with its callers and callees."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from typing import Any, Callable, NamedTuple

from ...errors import IsoscopeError
from ...model import BYTES, COUNT, KINDS, MS
from ...text import Style, fit_function, shorten_left
from ...trees import CallTree, FunctionRow, Item, Table, call_tree
from ...trees.data import table_json
from ...trees.text import render_summary
from .. import options
from ..source import read
from ..terminal.page import Column, Page, Row, text_of
from ..terminal.style import style_here
from . import shown

_ORDERS: dict[str, Callable[[FunctionRow], Any]] = {
    "self": lambda row: -row.self_weight,
    "total": lambda row: -row.total_weight,
    "cpu": lambda row: -row.self_us,
    "name": lambda row: row.name,
}


class _Unit(NamedTuple):
    """Of a kind's weights, in a column."""

    word: str
    parts: int  # of a weight
    digits: int


_UNITS = {MS: _Unit("ms", 1000, 1), BYTES: _Unit("KiB", 1024, 1), COUNT: _Unit("count", 1, 0)}
_HOT = 0.1  # of all in one function itself: worth a look
_CALL = re.compile(r"(  (?:called by|calls) )?(.*)", re.DOTALL)


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "table",
        run,
        help="print a table of functions, callers and callees",
        description="Print each function once. self: time in the function itself. total: time in it and "
                    "in all that it calls. samples: samples with the function on the stack.",
        examples=[
            "isoscope table here.json",
            "isoscope table --sort total --rows 20 profile.pb.gz",
            "isoscope table --of malloc -- ./program",
        ],
    )
    options.add_options(parser)
    shown.add_merge(parser, group=False)
    parser.add_argument("--sort", choices=tuple(_ORDERS), default="self",
                        help="column to sort by (default: self)")
    parser.add_argument("--rows", metavar="N", type=options.positive, help="print at most N rows")
    parser.add_argument("--of", metavar="FUNCTION", help="print only this function, its callers and its "
                                                         "callees")


def run(args: argparse.Namespace) -> int:
    source = read(args, empty_ok=args.json)
    tree = call_tree(source.profile, merge=args.by, weight=shown.weight(args))
    table = tree.table()
    rows = named_rows(table, args.of) if args.of else table.rows
    rows = sorted(rows, key=_ORDERS[args.sort])  # stable
    if not args.json and not args.of:
        least = shown.min_share(args) * tree.weight
        rows = [row for row in rows if row.total_weight >= least]
    rows = rows[: args.rows]
    return shown.tell(
        args,
        source,
        lambda: table_json(tree, rows),
        lambda: [render_summary(tree), _page(tree, rows, args)],
    )


def named_rows(table: Table, name: str) -> list[FunctionRow]:
    rows = table.named(name)
    if not rows and table.rows:
        near = [row.name for row in table.rows if name.casefold() in row.name.casefold()][:8]
        tail = f"similar: {', '.join(near)}" if near else f"the profile has {len(table.rows):,} functions"
        raise IsoscopeError(f"no function '{name}'; {tail}")
    return rows


def _numbers(tree: CallTree) -> tuple[str, ...]:
    unit = _UNITS[KINDS[tree.kind].unit].word
    return ("self", "total", f"self {unit}", f"total {unit}", "samples")


def _page(tree: CallTree, rows: list[FunctionRow], args: argparse.Namespace) -> list[str]:
    style = style_here(args.shorten)
    numbers = _numbers(tree) if args.unit == "percent" else _numbers(tree)[:2]
    columns = [Column(title, right=True) for title in numbers]
    columns.append(Column("function", grows=True, fit=_fit_call))
    columns.append(Column("library", grows=True, fit=shorten_left))
    cells = _Cells(tree, args.unit, style)
    lines = [line for row in rows for line in cells.calls(row)] if args.of else list(map(cells.row, rows))
    return text_of(Page(columns=columns, rows=lines), style.width, style)


def _fit_call(text: str, width: int) -> str:
    found = _CALL.fullmatch(text)
    before, name = (found[1] or "", found[2]) if found else ("", text)
    return before + fit_function(name, max(width - len(before), 0))


class _Cells:
    """A row's words."""

    def __init__(self, tree: CallTree, unit: str, style: Style) -> None:
        self._tree, self._unit, self._style = tree, unit, style

    def row(self, row: FunctionRow, hot: bool = False) -> Row:
        own = shown.amount(self._tree, row.self_count, row.self_us, self._unit)
        total = shown.amount(self._tree, row.total_count, row.total_us, self._unit)
        times = [self._time(row.self_us), self._time(row.total_us), f"{row.total_count:,}"]
        name = self._style.function(row.name)
        hot = hot or row.self_weight >= _HOT * self._tree.weight
        return Row([own, total, *self._more(times), name, row.library], hot=hot)

    def calls(self, row: FunctionRow) -> list[Row]:
        """Callers above it, callees below, each with the samples in which that call is on the stack."""
        return [
            *self._calls("called by", row.callers, row.callers_us),
            self.row(row, hot=True),
            *self._calls("calls", row.callees, row.callees_us),
        ]

    def _calls(self, words: str, counts: Counter[Item], times_us: Counter[Item]) -> list[Row]:
        weights = times_us if self._tree.by_time else counts
        return [
            Row([
                "",
                shown.amount(self._tree, counts[item], times_us[item], self._unit),
                *self._more(["", self._time(times_us[item]), f"{counts[item]:,}"]),
                f"  {words} {self._style.function(item.label)}",
                item.library,
            ])
            for item, _ in weights.most_common()
        ]  # fmt: skip

    def _time(self, us: int) -> str:
        unit = _UNITS[KINDS[self._tree.kind].unit]
        return f"{us / unit.parts:,.{unit.digits}f}"

    def _more(self, cells: list[str]) -> list[str]:
        """With --unit there is only that."""
        return cells if self._unit == "percent" else []
