"""`isoscope diff BEFORE AFTER`: what changed between two profiles, or two windows of one."""

from __future__ import annotations

import argparse
from typing import Any, Optional

from ..trees import Change, Difference, call_tree, difference
from ..trees.data import difference_json
from . import options, shown
from .exits import UsageError, epilog
from .page import Column, Page, Row, text_of
from .source import Source, read
from .style import style_here

_COLUMNS = [Column(title, right=True) for title in ("change", "before", "after", "total change")]


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "diff",
        help="print what changed between two profiles",
        description="Compare two profiles, or two windows of one (--before and --after). Shares are of "
        "each one's own samples, so they may be of different lengths. change is that of the function "
        "itself, in percent points; total change is that with all it calls.",
        epilog=epilog(
            "isoscope diff old.pb.gz new.pb.gz",
            "isoscope diff old.json here.json",
            "isoscope diff profile.json --before 0,2.5 --after 10,12.5",
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("before", metavar="BEFORE", type=options.place, help="a URI or a file")
    parser.add_argument("after", metavar="AFTER", nargs="?", type=options.place, help="another one")
    parser.add_argument("--before", metavar="FROM,TO", type=_window, dest="before_window",
                        help="seconds from the first sample on")
    parser.add_argument("--after", metavar="FROM,TO", type=_window, dest="after_window")
    options.add_filters(parser)
    shown.add_merge(parser, group=False)
    parser.add_argument("--min", metavar="PERCENT", type=options.percent,
                        help="smallest change, in percent points (0.5)")
    parser.add_argument("--json", action="store_true", help="everything, as JSON")


def run(args: argparse.Namespace) -> int:
    windows = (args.before_window, args.after_window)
    if (args.after is None) != all(windows) or (args.after is not None and any(windows)):
        raise UsageError("diff needs two profiles, or one with both --before and --after")
    if any(windows) and (args.from_us, args.to_us, args.last_us) != (None, None, None):
        raise UsageError("--before and --after are windows; they take no --from, --to or --last")
    before = _read(args, args.before, args.before_window)
    after = _read(args, args.after or args.before, args.after_window)
    changes = difference(
        *[call_tree(source.profile, merge=args.by, group="all") for source in (before, after)]
    )
    return shown.tell(
        args, after, lambda: difference_json(changes), lambda: _parts(changes, args.min)
    )


def _read(
    args: argparse.Namespace, place: str, window: Optional[tuple[int, int]]
) -> Source:
    words = argparse.Namespace(**{**vars(args), "source": place, "period": None, "mode": None})
    if window is not None:
        words.from_us, words.to_us = window
    return read(words)


def _parts(changes: Difference, least: Optional[float]) -> list[list[str]]:
    least_share = (0.5 if least is None else least) / 100
    shown_rows = [
        change
        for change in changes.rows
        if max(abs(change.self_change), abs(change.total_change)) >= least_share
    ]
    head = f"{changes.before_count:,} samples before, {changes.after_count:,} after"
    if not shown_rows:
        return [[head], [f"nothing changed by {100 * least_share:g} percent points or more"]]
    columns = [*_COLUMNS, Column("function", grows=True), Column("library", grows=True)]
    page = Page(columns=columns, rows=[_row(change) for change in shown_rows])
    return [[head], text_of(page, style_here().width)]


def _row(change: Change) -> Row:
    return Row([
        f"{100 * change.self_change:+.1f}",
        f"{change.self_before:.1%}",
        f"{change.self_after:.1%}",
        f"{100 * change.total_change:+.1f}",
        change.item.label,
        change.item.library,
    ])  # fmt: skip


def _window(text: str) -> tuple[int, int]:
    first, comma, last = text.partition(",")
    if not comma:
        raise argparse.ArgumentTypeError(f"'{text}' is not a window, such as 0,2.5")
    window = (options.seconds(first), options.seconds(last))
    if window[0] > window[1]:
        raise argparse.ArgumentTypeError(f"'{text}': it ends before it begins")
    return window
