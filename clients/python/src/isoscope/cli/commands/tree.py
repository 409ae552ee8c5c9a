"""`isoscope tree SOURCE` and `isoscope bottomup SOURCE`: the calls of a profile as a tree."""

from __future__ import annotations

import argparse
from typing import Any

from ...trees import CallTree, bottom_up, call_tree
from ...trees.data import bottom_up_json, call_tree_json
from ...trees.text import render_hot, render_path, render_summary, render_tree
from .. import options
from ..exits import UsageError
from ..source import read
from ..terminal.style import style_here
from . import shown


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "tree",
        run,
        help="print the call tree",
        description="Print the call tree of a profile. self: time in the function itself. total: time in "
                    "it and in all that it calls. Percentages are of CPU time.",
        examples=[
            "isoscope tree here.json",
            "isoscope tree --thread worker-3 --last 10 here.json",
            "isoscope tree --hot 10 --path -- python3 script.py",
        ],
    )
    options.add_options(parser)
    shown.add_merge(parser)
    parser.add_argument("--count", metavar="N", type=options.positive,
                        help="read at most N samples per process")
    parser.add_argument("--depth", metavar="N", type=options.positive,
                        help="show at most N levels of calls")
    parser.add_argument("--hot", metavar="N", type=options.positive,
                        help="print the N hottest functions instead of the tree")
    parser.add_argument("--path", action="store_true", help="print the hot path instead of the tree")


def add_bottom_up(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "bottomup",
        run_bottom_up,
        help="print functions by self time, with their callers",
        description="List functions by self time, with their callers below. A caller's percentage counts "
                    "the samples of the function that went through that caller.",
        examples=[
            "isoscope bottomup here.json",
            "isoscope bottomup --depth 3 profile.pb.gz",
        ],
    )
    options.add_options(parser)
    shown.add_merge(parser, group=False)
    parser.add_argument("--depth", metavar="N", type=options.positive,
                        help="show at most N levels of callers")


def run(args: argparse.Namespace) -> int:
    if args.json and (args.min is not None or args.depth or args.hot or args.path):
        raise UsageError("--json prints everything; it excludes --min, --depth, --hot and --path")
    source = read(args, empty_ok=args.json)
    tree = call_tree(
        source.profile, merge=args.by, group=args.group, weight=shown.weight(args)
    )
    return shown.tell(args, source, lambda: call_tree_json(tree), lambda: _parts(tree, args))


def _parts(tree: CallTree, args: argparse.Namespace) -> list[list[str]]:
    style = style_here(args.shorten)
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
    tree = call_tree(source.profile, merge=args.by, weight=shown.weight(args))
    share = shown.min_share(args)
    turned = bottom_up(tree)
    depth = args.depth and args.depth - 1  # as many lines as calls: the first is the function
    return shown.tell(
        args,
        source,
        lambda: bottom_up_json(turned, share),
        lambda: [
            render_summary(tree),
            render_tree(turned, style_here(args.shorten), min_share=share, depth=depth, unit=args.unit),
        ],
    )
