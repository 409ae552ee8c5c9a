"""`isoscope disassemble SOURCE`: a function's machine code, and what each instruction weighs."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import Any, Optional, cast

from ... import filters
from ...client import Client
from ...model import Function
from ...profile import Profile
from ...protocol import PrivateDisassembly, PrivateInstruction
from ...trees import CallTree, Table, call_tree
from ...trees.data import instructions_json
from ...trees.instructions import Instruction, weigh
from ...trees.text import render_summary
from .. import options
from ..exits import NothingToShow, UsageError
from ..place import is_uri
from ..source import check, read
from ..terminal.page import Column, Page, Row, text_of
from ..terminal.style import style_here
from . import shown
from .table import named_rows

_HOT = 0.1  # of all in one instruction itself: worth a look


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "disassemble",
        run,
        help="print a function's instructions, with the time spent in each",
        description="Print the machine code of a function as text (x86-64 in Intel's syntax, aarch64), with "
                    "source lines and the names of called functions. self: time in the instruction. total: "
                    "for a call, also time in what it calls. The service reads the code from the function's "
                    "file, so a profile file cannot be SOURCE. A processor often reports the instruction "
                    "after the slow one.",
        examples=[
            "isoscope disassemble here.json",
            "isoscope disassemble --of compress here.json",
            "isoscope disassemble -- ./program",
        ],
    )  # fmt: skip
    options.add_options(parser, kind=False)
    shown.add_weight(parser)
    parser.add_argument("--of", metavar="FUNCTION",
                        help="the function (default: the one with the most self time)")
    parser.set_defaults(pcs=True)


@dataclass(frozen=True)
class _Listing:
    tree: CallTree
    function: Function
    instructions: list[Instruction]


def run(args: argparse.Namespace) -> int:
    check(args)
    if args.source is not None and not is_uri(args.source):
        raise UsageError("disassemble needs a service: a profile file does not contain machine code")
    listings: list[_Listing] = []
    source = read(args, ask=lambda client, profile: listings.append(_listing(client, profile, args)))
    listing = listings[0]
    return shown.tell(
        args,
        source,
        lambda: instructions_json(listing.tree, listing.function, listing.instructions),
        lambda: [render_summary(listing.tree), _page(listing, args)],
    )


def _listing(client: Client, profile: Profile, args: argparse.Namespace) -> _Listing:
    tree = call_tree(profile, weight=shown.weight(args))
    function = _function(tree, profile, args.of)
    code = _code(client, function)
    if function.library is None:
        raise NothingToShow(f"cannot disassemble {function.name}: its code is in no file")
    return _Listing(tree, function, weigh(profile, function.library, code))


def _function(tree: CallTree, profile: Profile, name: Optional[str]) -> Function:
    """What is inlined has no code of its own: without a name, the hottest that has."""
    if name is not None:
        rows = named_rows(tree.table(), name)
    else:
        rows = Table.of(call_tree(filters.by_stack(profile, inline=False))).rows
    return max(rows, key=lambda row: (row.self_weight, row.total_weight)).function


def _code(client: Client, function: Function) -> list[PrivateInstruction]:
    code: list[PrivateInstruction] = []
    offset = 0
    while True:
        told = client.call("_getDisassembly", functionId=function.id, offset=offset)
        reply = cast(PrivateDisassembly, told)
        if "reason" in reply:
            raise NothingToShow(f"cannot disassemble {function.name}: {reply['reason']}")
        code += reply["instructions"]
        offset = reply.get("next", 0)
        if not offset:
            return code


def _page(listing: _Listing, args: argparse.Namespace) -> list[str]:
    style, tree, function = style_here(args.shorten), listing.tree, listing.function
    columns = [
        Column("self", right=True),
        Column("total", right=True),
        Column("offset", right=True),
        Column("instruction", grows=True),
        Column("line", grows=True),
    ]
    least = shown.min_share(args) * tree.weight if args.min is not None else 0
    rows = [_row(one, tree, args.unit) for one in listing.instructions if _weight(one, tree) >= least]
    head = f"{style.function(function.name)}  {function.library.path if function.library else ''}"
    return [head.rstrip(), *text_of(Page(columns=columns, rows=rows), style.width, style)]


def _weight(one: Instruction, tree: CallTree) -> int:
    return one.total_us if tree.by_time else one.total_count


def _row(one: Instruction, tree: CallTree, unit: str) -> Row:
    own = shown.amount(tree, one.self_count, one.self_us, unit) if one.self_count else ""
    total = shown.amount(tree, one.total_count, one.total_us, unit) if one.total_count else ""
    text = f"{one.text}  <{one.called}>" if one.called else one.text
    line = f"{os.path.basename(one.file)}:{one.line}" if one.line else ""
    inlined = f"  in {one.function}" if one.function else ""
    weight = one.self_us if tree.by_time else one.self_count
    return Row([own, total, f"{one.offset:x}", text, line + inlined], hot=weight >= _HOT * tree.weight)
