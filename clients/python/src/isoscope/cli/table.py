"""`isoscope table SOURCE`: each function once, with its callers and callees."""

from __future__ import annotations

import argparse
from typing import Any, Callable

from ..errors import IsoscopeError
from ..trees import CallTree, FunctionRow, Item, Table, call_tree
from ..trees.data import table_json
from ..trees.text import render_summary
from . import options, shown
from .exits import epilog
from .page import Column, Page, Row, text_of
from .source import read
from .style import style_here

_ORDERS: dict[str, Callable[[FunctionRow], Any]] = {
    "self": lambda row: -row.self_count,
    "total": lambda row: -row.total_count,
    "cpu": lambda row: -row.self_us,
    "name": lambda row: row.name,
}
_NUMBERS = ("self", "total", "self ms", "total ms", "samples")


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "table",
        help="print a table of functions, callers and callees",
        description="Print each function once: shares and CPU time of it alone (self) and of all that "
        "it calls (total), and samples it is on the stack of.",
        epilog=epilog(
            "isoscope table here.json",
            "isoscope table --sort total --rows 20 profile.pb.gz",
            "isoscope table --of malloc -- ./program",
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    options.add_options(parser)
    shown.add_merge(parser, group=False)
    parser.add_argument("--sort", choices=tuple(_ORDERS), default="self", help="by what (self)")
    parser.add_argument("--rows", metavar="N", type=options.positive, help="at most N")
    parser.add_argument("--of", metavar="FUNCTION", help="only this one, its callers and callees")


def run(args: argparse.Namespace) -> int:
    source = read(args, empty_ok=args.json)
    tree = call_tree(source.profile, merge=args.by)
    table = tree.table()
    rows = _named(table, args.of) if args.of else table.rows
    rows = sorted(rows, key=_ORDERS[args.sort])  # stable
    if not args.json and not args.of:
        least = shown.min_share(args) * tree.sample_count
        rows = [row for row in rows if row.total_count >= least]
    rows = rows[: args.rows]
    return shown.tell(
        args,
        source,
        lambda: table_json(tree, rows),
        lambda: [render_summary(tree), _calls(tree, rows) if args.of else _table(tree, rows)],
    )


def _named(table: Table, name: str) -> list[FunctionRow]:
    rows = table.named(name)
    if not rows and table.rows:
        near = [row.name for row in table.rows if name.casefold() in row.name.casefold()][:8]
        tail = f"near it: {', '.join(near)}" if near else f"there are {len(table.rows):,} others"
        raise IsoscopeError(f"no function '{name}' was seen; {tail}")
    return rows


def _table(tree: CallTree, rows: list[FunctionRow]) -> list[str]:
    columns = [Column(title, right=True) for title in _NUMBERS]
    columns += [Column("function", grows=True), Column("library", grows=True)]
    page = Page(columns=columns, rows=[Row(_cells(tree, row)) for row in rows])
    return text_of(page, style_here().width)


def _cells(tree: CallTree, row: FunctionRow) -> list[str]:
    return [
        f"{tree.share(row.self_count):.1%}",
        f"{tree.share(row.total_count):.1%}",
        f"{row.self_us / 1000:,.1f}",
        f"{row.total_us / 1000:,.1f}",
        f"{row.total_count:,}",
        row.name,
        row.library,
    ]


def _calls(tree: CallTree, rows: list[FunctionRow]) -> list[str]:
    """Callers above it, callees below, each with the samples in which that call is on the stack."""
    lines: list[Row] = []
    for row in rows:
        lines += [_call(tree, "called by", *caller) for caller in row.callers.most_common()]
        lines.append(Row(_cells(tree, row), hot=True))
        lines += [_call(tree, "calls", *callee) for callee in row.callees.most_common()]
    columns = [Column(title, right=True) for title in _NUMBERS]
    columns += [Column("function", grows=True), Column("library", grows=True)]
    return text_of(Page(columns=columns, rows=lines), style_here().width)


def _call(tree: CallTree, words: str, item: Item, count: int) -> Row:
    share = f"{tree.share(count):.1%}"
    return Row(["", share, "", "", f"{count:,}", f"  {words} {item.label}", item.library])
