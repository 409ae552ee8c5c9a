"""`isoscope tree URI`: the call tree of all processes of a service."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from typing import Any

from ..client import Client
from ..errors import IsoscopeError
from ..model import Process
from ..naming import named
from ..transport import websocket_uri
from ..trees import CallTree, call_tree
from ..trees.data import call_tree_json
from ..trees.text import Style, render_hot, render_path, render_summary, render_tree

_NOTHING_TO_SHOW, _USAGE = 1, 2


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "tree",
        help="print the call tree",
        description="Print the call tree of a profile, with total and self shares. "
        "total: the function is anywhere on the stack; self: it is executing itself.",
        epilog="Exit status: 0 done, 1 failed or no samples, 2 usage, 3 cannot connect, "
        "4 protocol error.",
    )
    parser.set_defaults(run=run)
    parser.add_argument("uri", metavar="URI", type=_uri, help='after "listening on" in the line')
    parser.add_argument("--process", metavar="NAME|ID", help="only this process; may be many")
    parser.add_argument("--count", metavar="N", type=_positive, help="at most N samples a process")
    parser.add_argument("--min", metavar="PERCENT", type=_percent, help="smallest share (1)")
    parser.add_argument("--depth", metavar="N", type=_positive, help="at most N calls deep")
    parser.add_argument("--hot", metavar="N", type=_positive, help="the N hottest functions")
    parser.add_argument("--path", action="store_true", help="only the hot path")
    parser.add_argument(
        "--name-here", action="store_true", help="name a --no-symbols profile by this machine's files"
    )
    parser.add_argument("--json", action="store_true", help="everything, as one JSON object")


def run(args: argparse.Namespace) -> int:
    if args.json and (args.min is not None or args.depth or args.hot or args.path):
        message = "--json holds everything; it takes no --min, --depth, --hot or --path"
        print(f"isoscope: {message}", file=sys.stderr)
        return _USAGE
    with Client(args.uri, name=named if args.name_here else None) as client:
        tree = _pull(client, args)
        reason = "" if tree.sample_count else _why_empty(client)
    if args.json:
        print(json.dumps(call_tree_json(tree)))
    elif tree.sample_count:
        print("\n".join(_text(tree, args)))
    if reason:
        print(f"isoscope: {reason}", file=sys.stderr)
    return _NOTHING_TO_SHOW if reason else 0


def _pull(client: Client, args: argparse.Namespace) -> CallTree:
    processes = client.processes()
    if args.process is not None:
        processes = _chosen(processes, args.process)
    return call_tree(client.profile(processes=processes, count=args.count or 0))


def _chosen(processes: list[Process], wanted: str) -> list[Process]:
    chosen = [p for p in processes if wanted in (p.name, p.number, p.id)]
    if not chosen:
        there = ", ".join(p.label for p in processes) or "none"
        raise IsoscopeError(f"there is no process '{wanted}'; there are: {there}")
    return chosen


def _why_empty(client: Client) -> str:
    if client.flags().get("profiler") != "true":
        return "no samples: the profiler is off (the program was started with --paused?)"
    if not client.processes():
        return (
            "no samples: no process has reported to the service yet; "
            "a static or privileged program never will"
        )
    return "no samples yet: they are taken while the program uses the CPU, and it used none"


def _text(tree: CallTree, args: argparse.Namespace) -> list[str]:
    style = _style()
    parts = [render_summary(tree)]
    if args.hot:
        parts.append(render_hot(tree, style, args.hot))
    if args.path:
        parts.append(render_path(tree, style))
    if not args.hot and not args.path:
        share = 0.01 if args.min is None else args.min / 100
        parts.append(render_tree(tree, style, min_share=share, depth=args.depth))
    return "\n\n".join("\n".join(part) for part in parts).split("\n")


def _style() -> Style:
    if not sys.stdout.isatty():
        return Style()
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return Style(width=shutil.get_terminal_size().columns, colour=not plain)


def _uri(text: str) -> str:
    try:
        websocket_uri(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 on")
    return int(text)


def _percent(text: str) -> float:
    try:
        percent = float(text.rstrip("%"))
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share from 0 to 100")
    return percent
