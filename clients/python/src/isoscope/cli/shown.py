"""What the commands that show trees and tables have in common."""

from __future__ import annotations

import argparse
import json
from typing import Any, Callable

from ..trees.items import GROUPS, MERGES
from ..trees.text import UNITS
from .exits import NothingToShow
from .source import Source

_MIN_SHARE = 0.01


def add_merge(parser: Any, *, group: bool = True, unit: bool = False) -> None:
    parser.add_argument("--by", choices=MERGES, default="function",
                        help="what is one row: a function (as without it), a line, a library")
    if unit:
        parser.add_argument("--unit", choices=UNITS, default="percent",
                            help="what total and self are in (percent)")
    if group:
        parser.add_argument("--group", choices=GROUPS, default="process",
                            help="what the roots are (process)")


def min_share(args: argparse.Namespace) -> float:
    return _MIN_SHARE if args.min is None else float(args.min) / 100


def tell(
    args: argparse.Namespace,
    source: Source,
    data: Callable[[], dict[str, Any]],
    parts: Callable[[], list[list[str]]],
) -> int:
    """Prints it, as --json says; parts with an empty line between. JSON is printed of nothing, too,
    and then fails like the text."""
    if args.json:
        print(json.dumps(data()))
    else:
        print("\n\n".join("\n".join(part) for part in parts()))
    if source.why_empty:
        raise NothingToShow(source.why_empty)
    return source.status
