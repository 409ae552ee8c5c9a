"""`isoscope diff BEFORE AFTER`: what changed between two profiles, or two windows of one."""

from __future__ import annotations

import argparse
from typing import Any, Optional

from ...model import KINDS
from ...text import counted, fit_function, shorten_left, weight_text
from ...trees import Change, Difference, Tree, call_tree, difference
from ...trees.data import difference_json
from .. import options
from ..exits import UsageError
from ..source import Source, read
from ..terminal.page import Column, Page, Row, text_of
from ..terminal.style import Style, style_here
from . import shown

_COLUMNS = [Column(title, right=True) for title in ("change", "before", "after", "total change")]


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "diff",
        run,
        help="print what changed between two profiles",
        description="Compare two profiles, or two time ranges of one (--before and --after). Percentages "
                    "are of each side's own CPU time, so the sides may differ in length. change: of self, "
                    "in percentage points. total change: of total.",
        examples=[
            "isoscope diff old.pb.gz new.pb.gz",
            "isoscope diff old.json here.json",
            "isoscope diff profile.json --before 0,2.5 --after 10,12.5",
        ],
    )
    parser.add_argument("before", metavar="BEFORE", type=options.place,
                        help="a service's info file or URI, or a profile file")
    parser.add_argument("after", metavar="AFTER", nargs="?", type=options.place,
                        help="the same, of the other side")
    parser.add_argument("--before", metavar="FROM,TO", type=_window, dest="before_window",
                        help="first range, in seconds from the first sample")
    parser.add_argument("--after", metavar="FROM,TO", type=_window, dest="after_window")
    options.add_kind(parser)
    options.add_filters(parser)
    shown.add_merge(parser, group=False)
    parser.add_argument("--min", metavar="PERCENT", type=options.percent,
                        help="smallest change to show, in percentage points (default: 0.5)")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def run(args: argparse.Namespace) -> int:
    windows = (args.before_window, args.after_window)
    if (args.after is None) != all(windows) or (args.after is not None and any(windows)):
        raise UsageError("diff needs two profiles, or one profile with --before and --after")
    if any(windows) and (args.from_us, args.to_us, args.last_us) != (None, None, None):
        raise UsageError("--before and --after exclude --from, --to and --last")
    before = _read(args, args.before, args.before_window)
    after = _read(args, args.after or args.before, args.after_window)
    sides = [source.profile for source in (before, after)]
    # Where one has no CPU time, both are counted.
    weight = shown.weight(args) or max(side.weight for side in sides)
    changes = difference(
        *[call_tree(side, merge=args.by, group="all", weight=weight) for side in sides]
    )
    return shown.tell(
        args, after, lambda: difference_json(changes), lambda: _parts(changes, args)
    )


def _read(
    args: argparse.Namespace, place: str, window: Optional[tuple[int, int]]
) -> Source:
    words = argparse.Namespace(**{**vars(args), "source": place, "period": None, "mode": None})
    if window is not None:
        words.from_us, words.to_us = window
    return read(words)


def _parts(changes: Difference, args: argparse.Namespace) -> list[list[str]]:
    least_share = (0.5 if args.min is None else args.min) / 100
    style = style_here(args.shorten)
    shown_rows = [
        change
        for change in changes.rows
        if max(abs(change.self_change), abs(change.total_change)) >= least_share
    ]
    head = f"{_amount(changes.before)} before, {_amount(changes.after)} after"
    if not shown_rows:
        return [[head], [f"nothing changed by {100 * least_share:g} percentage points or more"]]
    columns = [
        *_COLUMNS,
        Column("function", grows=True, fit=fit_function),
        Column("library", grows=True, fit=shorten_left),
    ]
    page = Page(columns=columns, rows=[_row(changes, one, args.unit, style) for one in shown_rows])
    return [[head], text_of(page, style.width, style)]


def _amount(tree: Tree) -> str:
    samples = counted(tree.sample_count, "sample")
    if not tree.by_time:
        return samples
    amount = weight_text(tree.cpu_us, KINDS[tree.kind].unit)
    return f"{amount} ({samples})"


def _row(changes: Difference, change: Change, unit: str, style: Style) -> Row:
    """In percent, of each one's own; else the amounts themselves."""
    wholes = [1.0, 1.0]
    if unit != "percent":
        wholes = [tree.weight / (1000 if unit == "ms" else 1) for tree in (changes.before, changes.after)]
    own = [share * whole for share, whole in zip((change.self_before, change.self_after), wholes)]
    total = [share * whole for share, whole in zip((change.total_before, change.total_after), wholes)]
    grown = own[1] - own[0]
    cells = [_change(grown, unit), _value(own[0], unit), _value(own[1], unit)]
    cells += [_change(total[1] - total[0], unit), style.function(change.item.label)]
    return Row([*cells, change.item.library], change=grown if cells[0].strip("+-0. ms") else 0.0)


def _value(value: float, unit: str) -> str:
    if unit == "percent":
        return f"{value:.1%}"
    return f"{value:,.1f} ms" if unit == "ms" else f"{value:,.0f}"


def _change(value: float, unit: str) -> str:
    if unit == "percent":
        return f"{100 * value:+.1f}"
    return f"{value:+,.1f} ms" if unit == "ms" else f"{value:+,.0f}"


def _window(text: str) -> tuple[int, int]:
    first, comma, last = text.partition(",")
    if not comma:
        raise argparse.ArgumentTypeError(f"'{text}' is not a range such as 0,2.5")
    window = (options.seconds(first), options.seconds(last))
    if window[0] > window[1]:
        raise argparse.ArgumentTypeError(f"'{text}' ends before it begins")
    return window
