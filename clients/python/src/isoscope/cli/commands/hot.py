"""`isoscope hot SOURCE`: functions over a threshold, the lines in them, the way there."""

from __future__ import annotations

import argparse
from typing import Any, Sequence

from ...text import Style, printable, shorten, shorten_left
from ...text.short_name import name_forms
from ...trees import CallTree, FunctionRow, HotSpot, hot_spots
from ...trees.data import hot_json
from ...trees.text import render_summary
from .. import options
from ..source import read
from ..terminal.style import style_here
from . import shown

_THRESHOLD = 5.0  # percent
_LINES = 3  # of a function
_WAY = 6  # calls of the way there that are printed: the last ones
_FORMS = 3  # of a caller's name: without template arguments and the outer namespaces
_WIDTH = 120  # of that line, where there is no terminal


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "hot",
        run,
        help="print the functions over a threshold",
        description="List the functions with at least --threshold of the CPU time, the hottest first. "
                    "Each has its hottest lines and its most frequent callers.",
        examples=[
            "isoscope hot here.json",
            "isoscope hot --threshold 1 --by total profile.json",
        ],
    )
    options.add_options(parser, shares=False)
    shown.add_weight(parser)
    parser.add_argument("--threshold", metavar="PERCENT", type=options.percent,
                        default=_THRESHOLD, help=f"smallest percentage to list (default: {_THRESHOLD:g})")
    parser.add_argument("--by", choices=("self", "total"), default="self",
                        help="rank by self or total (default: self)")


def run(args: argparse.Namespace) -> int:
    source = read(args, empty_ok=args.json)
    spots = hot_spots(
        source.profile, threshold=args.threshold / 100, by=args.by, weight=shown.weight(args)
    )
    style = style_here(args.shorten)

    def parts() -> list[list[str]]:
        found = [_spot(spot, spots.tree, style, args.unit, args.by) for spot in spots.spots]
        of_what = "CPU time" if spots.tree.by_time else "samples"
        none = [[f"no function has {args.threshold:g} % of the {of_what} as {args.by}"]]
        return [render_summary(spots.tree)] + (found or none)

    return shown.tell(args, source, lambda: hot_json(spots), parts)


_WORDS = {"self": "in itself", "total": "in all"}


def _spot(spot: HotSpot, tree: CallTree, style: Style, unit: str, by: str) -> list[str]:
    row, function = spot.row, spot.row.function
    samples, us = (row.self_count, row.self_us) if by == "self" else (row.total_count, row.total_us)
    share = f"{shown.amount(tree, samples, us, unit):>6}"
    place = printable(f"{function.file}:{function.line}" if function.line else function.file)
    head = _head(share, row, place, style)
    known = [own for own in spot.lines if own.line][:_LINES]
    lines = [
        f"{shown.amount(tree, own.self_count, own.self_us, unit):>{len(share)}}    line {own.line}"
        for own in known
    ]
    way = _way([node.name for node in spot.path[1:-1]], style)
    return [head, *lines, *([style.dim(way)] if way else [])]


def _head(share: str, row: FunctionRow, place: str, style: Style) -> str:
    """The name has what the library and the place leave, and at least a half."""
    library, room = printable(row.library), None
    if style.width is not None:
        left = style.width - len(share) - 6
        library = shorten_left(library, max(left // 6, 12))
        place = shorten_left(place, max(left // 3, 12))
        room = max(left - len(library) - len(place), left // 2)
    name = style.function(row.name, room)
    rest = "  ".join(part for part in (library, place) if part)
    whole = shorten(f"{share}  {name}  {rest}".rstrip(), style.width or 1 << 30)
    if whole != f"{share}  {name}  {rest}".rstrip():
        return style.bold(whole)
    return f"{style.hot(share)}  {style.bold(name)}  {style.dim(rest)}".rstrip()


def _way(names: Sequence[str], style: Style) -> str:
    """Callers on one line, the nearest last: at most _WAY, and as many as fit. ""; there are none."""
    width = min(style.width or _WIDTH, _WIDTH)
    before = f"{'':8}called by "
    forms = [name_forms(style.function(name))[-_FORMS:] for name in names[-_WAY:]]
    for count in range(len(forms), 0, -1):
        cut = "... > " if count < len(names) else ""
        room = width - len(before) - len(cut) - 3 * (count - 1)
        spare = room - sum(len(some[-1]) for some in forms[-count:])
        if spare < 0 and count > 1:
            continue
        chosen: list[str] = []
        for some in reversed(forms[-count:]):  # the nearest caller has most of the room
            least = len(some[-1])
            form = next((one for one in some if len(one) <= least + spare), some[-1])
            spare -= len(form) - least
            chosen.insert(0, form)
        return shorten(before + cut + " > ".join(chosen), width)
    return ""
