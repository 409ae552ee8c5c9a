"""What the commands that show trees and tables have in common."""

from __future__ import annotations

import argparse
import json
from typing import Any, Callable

from ...formats import MICROS, SAMPLES
from ...model import ALLOC, KINDS, LIVE, TIME
from ...profile import CPU
from ...text import size
from ...trees.items import GROUPS, MERGES
from ...trees.nodes import Tree
from ...trees.text import UNITS
from ..exits import NothingToShow, UsageError
from ..options import positive
from ..source import Source

_MIN_SHARE = 0.01


def add_merge(parser: Any, *, group: bool = True) -> None:
    add_weight(parser)
    parser.add_argument("--by", choices=MERGES, default="function",
                        help="what a row is: a function, a line or a library (default: function)")
    if group:
        parser.add_argument("--group", choices=GROUPS, default="process",
                            help="what the roots are (default: process)")


def add_weight(parser: Any) -> None:
    parser.add_argument("--weight", choices=(MICROS, SAMPLES),
                        help="what percentages are of: microseconds of CPU time, or samples (default: us; in "
                        "wall mode samples)")
    add_unit(parser)
    add_shorten(parser)


def add_unit(parser: Any) -> None:
    parser.add_argument("--unit", choices=UNITS, default="percent",
                        help="unit of self and total (default: percent)")


def add_shorten(parser: Any) -> None:
    parser.add_argument("--shorten", metavar="N", type=positive,
                        help="shorten function names to N characters: parameters go first, then template "
                        "arguments, then leading namespaces (default: the terminal's width)")


def weight(args: argparse.Namespace) -> str:
    """As trees take it."""
    check_unit(args)
    chosen = args.weight or {"samples": SAMPLES, "ms": MICROS, "bytes": MICROS}.get(getattr(args, "unit", ""), "")
    return CPU if chosen == MICROS else str(chosen)


def check_unit(args: argparse.Namespace) -> None:
    unit, kind = getattr(args, "unit", ""), KINDS[getattr(args, "kind", TIME)]
    if unit == "bytes" and not kind.in_bytes:
        raise UsageError(f"--unit bytes needs --kind {ALLOC} or {LIVE}: these samples stand for time")
    if kind.in_bytes and (unit == "ms" or getattr(args, "weight", "") == MICROS):
        raise UsageError(f"--kind {args.kind} has bytes, not time: use --unit bytes")
    if kind.is_counted and (unit == "ms" or getattr(args, "weight", "") == MICROS):
        raise UsageError(f"--kind {args.kind} has {kind.many}, not time: leave --unit out, or use --unit samples")


def amount(tree: Tree, samples: int, us: int, unit: str) -> str:
    """A number of a row, in the unit."""
    if unit == "samples":
        return f"{samples:,}"
    if unit == "ms":
        return f"{us / 1000:,.1f} ms"
    if unit == "bytes":
        return size(us)
    return f"{tree.share(us if tree.by_time else samples):.1%}"


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
