"""`isoscope tree SOURCE` and `isoscope bottomup SOURCE`: the calls of a profile as a tree."""

from __future__ import annotations

import argparse
from typing import Any

from ..trees import CallTree, bottom_up, call_tree
from ..trees.data import bottom_up_json, call_tree_json
from ..trees.text import render_hot, render_path, render_summary, render_tree
from . import options, shown
from .exits import UsageError, epilog
from .source import read
from .style import style_here


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "tree",
        help="print the call tree",
        description="Print the call tree of a profile, with total and self shares. "
        "total: the function is anywhere on the stack; self: it is executing itself.",
        epilog=epilog(
            "isoscope tree here.json",
            "isoscope tree --thread worker-3 --last 10 here.json",
            "isoscope tree --hot 10 --path -- python3 script.py",
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    options.add_options(parser)
    shown.add_merge(parser, unit=True)
    parser.add_argument("--count", metavar="N", type=options.positive,
                        help="at most N samples a process")
    parser.add_argument("--depth", metavar="N", type=options.positive, help="at most N calls deep")
    parser.add_argument("--hot", metavar="N", type=options.positive, help="the N hottest functions")
    parser.add_argument("--path", action="store_true", help="only the hot path")


def add_bottom_up(commands: Any) -> None:
    parser = commands.add_parser(
        "bottomup",
        help="print who calls the functions that execute",
        description="Print the functions that executed, the busiest first, and below each the ways "
        "on which it was called: a line's share is of the samples that came by it.",
        epilog=epilog(
            "isoscope bottomup here.json",
            "isoscope bottomup --depth 3 profile.pb.gz",
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run_bottom_up)
    options.add_options(parser)
    shown.add_merge(parser, group=False, unit=True)
    parser.add_argument("--depth", metavar="N", type=options.positive, help="at most N callers up")


def run(args: argparse.Namespace) -> int:
    if args.json and (args.min is not None or args.depth or args.hot or args.path):
        raise UsageError("--json holds everything; it takes no --min, --depth, --hot or --path")
    source = read(args, empty_ok=args.json)
    tree = call_tree(source.profile, merge=args.by, group=args.group)
    return shown.tell(args, source, lambda: call_tree_json(tree), lambda: _parts(tree, args))


def _parts(tree: CallTree, args: argparse.Namespace) -> list[list[str]]:
    style = style_here()
    parts = [render_summary(tree)]
    if args.hot:
        parts.append(render_hot(tree, style, args.hot, args.unit))
    if args.path:
        parts.append(render_path(tree, style, args.unit))
    if not args.hot and not args.path:
        share = shown.min_share(args)
        text = render_tree(tree, style, min_share=share, depth=args.depth, unit=args.unit)
        parts.append(text)
    return parts


def run_bottom_up(args: argparse.Namespace) -> int:
    source = read(args, empty_ok=args.json)
    tree, share = call_tree(source.profile, merge=args.by), shown.min_share(args)
    turned = bottom_up(tree)
    depth = args.depth and args.depth - 1  # as many lines as calls: the first is the function
    return shown.tell(
        args,
        source,
        lambda: bottom_up_json(turned, share),
        lambda: [
            render_summary(tree),
            render_tree(turned, style_here(), min_share=share, depth=depth, unit=args.unit),
        ],
    )
