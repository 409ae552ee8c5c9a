"""`isoscope hot SOURCE`: functions over a threshold, the lines in them, the way there."""

from __future__ import annotations

import argparse
from typing import Any

from ..text import Style, printable, shorten
from ..trees import HotSpot, hot_spots
from ..trees.data import hot_json
from ..trees.text import render_summary
from . import options, shown
from .exits import epilog
from .source import read
from .style import style_here

_THRESHOLD = 5.0  # percent
_LINES = 3  # of a function
_WAY = 6  # calls of the way there that are printed: the last ones


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "hot",
        help="print hot spots: functions over a threshold",
        description="Print the functions that have more than a share of all samples, the hottest "
        "first; of each the hottest lines, and the busiest way on which it was called.",
        epilog=epilog(
            "isoscope hot here.json",
            "isoscope hot --threshold 1 --by total profile.json",
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    options.add_options(parser, shares=False)
    parser.add_argument("--threshold", metavar="PERCENT", type=options.percent,
                        default=_THRESHOLD, help=f"from which on it is hot ({_THRESHOLD:g})")
    parser.add_argument("--by", choices=("self", "total"), default="self",
                        help="of which share (self)")


def run(args: argparse.Namespace) -> int:
    source = read(args, empty_ok=args.json)
    spots = hot_spots(source.profile, threshold=args.threshold / 100, by=args.by)
    style = style_here()

    def parts() -> list[list[str]]:
        found = [_spot(spot, spots.sample_count, style) for spot in spots.spots]
        none = [[f"no function has {args.threshold:g} % of the samples {_WORDS[args.by]}"]]
        return [render_summary(spots.tree)] + (found or none)

    return shown.tell(args, source, lambda: hot_json(spots), parts)


_WORDS = {"self": "in itself", "total": "in all"}


def _spot(spot: HotSpot, count: int, style: Style) -> list[str]:
    row, function = spot.row, spot.row.function
    place = f"  {function.file}" + (f":{function.line}" if function.line else "")
    library = f"  {row.library}" if row.library else ""
    head = f"{spot.share:6.1%}  {printable(row.name)}{library}{place if function.file else ''}"
    known = [(line, own) for line, own in spot.lines if line][:_LINES]
    lines = [f"{own / count:6.1%}    line {line}" for line, own in known]
    way = [printable(node.name) for node in spot.path[1:-1]]
    if way:
        ellipsis = "... > " if len(way) > _WAY else ""
        lines.append(f"{'':8}called by {ellipsis}{' > '.join(way[-_WAY:])}")
    told = [head, *lines]
    if style.width is not None:
        told = [shorten(line, style.width) for line in told]
    return [style.bold(told[0]), *told[1:]]
