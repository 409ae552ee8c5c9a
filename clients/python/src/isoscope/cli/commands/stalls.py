"""`isoscope stalls SOURCE [NUMBER]`: loops that were late, for how long, why, and which function did it."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from contextlib import contextmanager
from typing import Any, Iterator, Optional

from ... import filters
from ...client import Client
from ...errors import RpcError, ServiceEnded
from ...model import Process
from ...operations import METHOD_NOT_FOUND
from ...stalls import BEGIN, END, STREAM, LoopStats, Stall, StallEvent, stall_event, words
from ...text import printable
from .. import following, options, source
from ..exits import DONE, NothingToShow, UsageError
from ..place import is_uri
from ..recording import Recording
from ..served import is_session, served
from ..settled import settled_stalls
from ..terminal.page import text_of
from ..terminal.style import style_here
from .pages import loops_page, stalls_page

_LEVELS = ("stall", "hang", "dead")
_CAUSES = ("busy", "lock", "io", "page-fault", "sleep", "child", "starved", "host", "stopped", "unknown")
_BACK = "\n  "


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "stalls",
        run,
        help="print when loops were late, why, and which function did it",
        description="List the stalls: dispatches of a loop that took longer than its limit, with their "
                    "cause and the function that did it. With NUMBER, print all of one: its story, its "
                    "stacks, and how to look closer. Loops that wait in epoll_wait, poll, select and their "
                    "like are watched without a change to the program.",
        examples=[
            "isoscope stalls here.json",
            "isoscope stalls here.json 3",
            "isoscope stalls --follow here.json",
            "isoscope stalls --loops server.isoscope",
            "isoscope stalls --stall-limit 100ms -- ./tests",
        ],
    )
    parser.add_argument("words", metavar="[SOURCE] [NUMBER]", nargs="*",
                        help="a service's info file, its URI or a session file (not with `-- COMMAND`), then a "
                             "stall's number")
    options.add_run_options(parser)
    run_group = parser.add_argument_group("with -- COMMAND ARGS, too")
    run_group.add_argument("--watch-loops", metavar="LOOPS", help="see isoscope run --watch-loops")
    run_group.add_argument("--stall-limit", metavar="TIME", help="see isoscope run --stall-limit")
    group = parser.add_argument_group("filters")
    group.add_argument("--process", metavar="NAME|ID", help="only this process")
    group.add_argument("--thread", metavar="NAME|TID", help="only loops of this thread")
    group.add_argument("--loop", metavar="NAME", help="only loops of this name")
    group.add_argument("--level", choices=_LEVELS, help="only those that reached this level or a higher one")
    group.add_argument("--cause", metavar="CAUSE", choices=_CAUSES,
                       help=f"only those with this cause: {', '.join(_CAUSES)}")
    group.add_argument("--from", metavar="SECONDS", type=options.seconds, dest="from_us",
                       help="start of the range, counted from the first sample; what overlaps it is in it")
    group.add_argument("--to", metavar="SECONDS", type=options.seconds, dest="to_us",
                       help="end of the range, counted from the first sample")
    group.add_argument("--last", metavar="SECONDS", type=options.seconds, dest="last_us",
                       help="only the last SECONDS before the newest stall's end")
    parser.add_argument("--follow", action="store_true",
                        help="print a line when a stall is told, and one at its end, as they come")
    parser.add_argument("--for", metavar="SECONDS", type=options.seconds, dest="for_us",
                        help="with --follow: stop after this time")
    parser.add_argument("--loops", action="store_true",
                        help="print the loops instead: how long their dispatches took, how often each was late, and "
                             "which threads cannot be watched")
    parser.add_argument("--json", action="store_true", help="print everything as JSON, as the protocol has it")


def run(args: argparse.Namespace) -> int:
    _take_words(args)
    source.check(args)
    _check(args)
    if args.command is None:
        with _place(args) as uri:
            return _tell(args, uri, None)
    with source.record(args, more=_run_options(args)) as recording:
        if not args.follow:
            recording.wait()
        shown = _tell(args, recording.uri, recording)
    return shown or recording.status


def _take_words(args: argparse.Namespace) -> None:
    given = list(args.words)
    args.number = None
    if given and given[-1].isdecimal() and not os.path.exists(given[-1]):
        args.number = int(given.pop())
    if len(given) > 1:
        raise UsageError(f"stalls takes one SOURCE and one NUMBER; unexpected: '{given[1]}'")
    args.source = options.checked_place(given[0]) if given else None


def _check(args: argparse.Namespace) -> None:
    kinds = [name for name, given in (("NUMBER", args.number is not None), ("--follow", args.follow),
                                      ("--loops", args.loops)) if given]  # fmt: skip
    if len(kinds) > 1:
        raise UsageError(f"{' and '.join(kinds)} exclude each other")
    if args.for_us is not None and not args.follow:
        raise UsageError("--for needs --follow")
    if args.command is None and (args.watch_loops or args.stall_limit):
        raise UsageError("--watch-loops and --stall-limit need `-- COMMAND`; a running service has its own "
                         "(setFlag stall_watch, stall_limit)")  # fmt: skip
    if args.follow and args.command is None and not is_uri(args.source):
        raise UsageError(f"--follow needs a service: nothing comes in {args.source}")
    window = args.from_us, args.to_us, args.last_us
    if (args.follow or args.loops) and window != (None, None, None):
        raise UsageError(f"{kinds[0]} takes no --from, --to and --last")


def _run_options(args: argparse.Namespace) -> list[str]:
    told = [("--watch-loops", args.watch_loops), ("--stall-limit", args.stall_limit)]
    return [f"{name}={value}" for name, value in told if value is not None]


@contextmanager
def _place(args: argparse.Namespace) -> Iterator[str]:
    """Of a service that has it."""
    if is_uri(args.source):
        yield args.source
        return
    if not is_session(args.source):
        raise NothingToShow(f"{args.source} has no stalls: session files keep them (isoscope record, isoscope save)")
    with served(args.source) as uri:
        yield uri


def _tell(args: argparse.Namespace, uri: str, recording: Optional[Recording]) -> int:
    with source.connect(args, uri) as client:
        process = source.processes(client, args)[0] if args.process is not None else None
        try:
            if args.follow:
                return _follow(args, client, process, recording)
            lines = _loops(args, client, process) if args.loops else _list(args, client, process)
        except RpcError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            raise NothingToShow("this service has no _getStalls: it is another's, or older") from error
    print("\n".join(lines))
    return DONE


# The list, and one of it.


def _list(args: argparse.Namespace, client: Client, process: Optional[Process]) -> list[str]:
    stalls = settled_stalls(client, process) if args.command is not None else client.stalls(process=process)
    stalls.sort(key=lambda stall: stall["number"])
    if not stalls:
        raise NothingToShow(_why_none(client.loop_stats(process=process)))
    origin_us = _origin_us(client, stalls)
    if args.number is not None:
        stall = _numbered(args, stalls)
        where = stalls_page.Where(origin_us, _shown_source(args), _process_of(client, stall))
        return [json.dumps(stall)] if args.json else stalls_page.one(stall, where, style_here())
    chosen = _window(args, [stall for stall in stalls if _matches(args, stall)], origin_us)
    if not chosen:
        raise NothingToShow(f"no stalls match the filters; there are {len(stalls):,} without them")
    if args.json:
        told = {"type": "isoscope.stalls", "originMicros": origin_us, "stalls": chosen}
        return [json.dumps(told)]
    style = style_here()
    return text_of(stalls_page.listed(chosen, origin_us), style.width, style)


def _numbered(args: argparse.Namespace, stalls: list[Stall]) -> Stall:
    for stall in stalls:
        if stall["number"] == args.number:
            return stall
    numbers = [stall["number"] for stall in stalls]
    raise NothingToShow(f"no stall {args.number}; there are {len(stalls):,}, from {numbers[0]} to {numbers[-1]}")


def _origin_us(client: Client, stalls: list[Stall]) -> int:
    """Where --from and --to count from, in all commands: the first sample. Without any, the first stall."""
    samples = client.profile(count=1)
    return samples.first_us if len(samples) else min(stall["timeOriginMicros"] for stall in stalls)


def _process_of(client: Client, stall: Stall) -> str:
    """As --process takes it; "": there is no other."""
    others = [process for process in client.processes() if process.id != stall["isolateId"]]
    return stall["isolateId"] if others else ""


def _shown_source(args: argparse.Namespace) -> str:
    """Of a command to type: the token is nobody's business."""
    given = [word for word in args.words if args.number is None or word != str(args.number)]
    return str(given[0]) if given and given[0] != "-" and not is_uri(given[0]) else "SOURCE"


def _matches(args: argparse.Namespace, stall: Stall) -> bool:
    level = args.level is None or _LEVELS.index(stall["level"]) >= _LEVELS.index(args.level)
    cause = args.cause is None or stall["cause"] == args.cause
    thread = args.thread is None or args.thread in (stall["thread"], str(stall["tid"]))
    return level and cause and thread and (args.loop is None or args.loop == stall["name"])


def _window(args: argparse.Namespace, stalls: list[Stall], origin_us: int) -> list[Stall]:
    first = None if args.from_us is None else origin_us + args.from_us
    last = None if args.to_us is None else origin_us + args.to_us
    if args.last_us is not None and stalls:
        first = max(map(_end_us, stalls)) - args.last_us
    return [
        stall
        for stall in stalls
        if (first is None or _end_us(stall) >= first) and (last is None or stall["timeOriginMicros"] <= last)
    ]


def _end_us(stall: Stall) -> int:
    return stall["timeOriginMicros"] + stall["timeExtentMicros"]


# Why there are none.


def _why_none(stats: Optional[LoopStats]) -> str:
    if stats is None:
        return "no stalls: the process is gone"
    if stats["watch"] == "none":
        return "no stalls: no loop is watched (--watch-loops none, or the flag stall_watch)"
    return _BACK.join([_what_was_watched(stats), *map(words.unwatched, stats["unwatched"]), _REGISTER])


_REGISTER = (
    "a loop that waits elsewhere (a condition variable, a frame's time) registers itself: "
    "isoscope_loop_register, see docs/stalls.md"
)


def _what_was_watched(stats: LoopStats) -> str:
    watched = [loop for loop in stats["loops"] if loop["watched"]]
    if not watched:
        names = "" if stats["watch"] in ("auto", "all") else f" (stall_watch is {stats['watch']})"
        return (
            f"no stalls: no loop is watched{names}; a thread is one when it has waited again and again in "
            "epoll_wait, poll, select or their like"
        )
    dispatches = sum(loop["dispatches"] for loop in watched)
    longest = max(loop["dispatch"]["max"][1] for loop in watched)
    names = ", ".join(words.loop(loop) for loop in watched[:8]) + (", ..." if len(watched) > 8 else "")
    limit = words.time(stats["limits"]["stall"] * 1000)
    return (
        f"no stalls: none of {dispatches:,} dispatches took longer than {limit}, the longest {words.time(longest)}; "
        f"watched: {names}"
    )


# Loops.


def _loops(args: argparse.Namespace, client: Client, process: Optional[Process]) -> list[str]:
    stats = client.loop_stats(process=process)
    if stats is None:
        raise NothingToShow(_why_none(stats))
    if args.thread is not None or args.loop is not None:
        stats["loops"] = [loop for loop in stats["loops"] if _is_chosen(args, loop)]
        if not stats["loops"]:
            raise filters.NoMatch("no loop matches --thread and --loop")
    if args.json:
        return [json.dumps(stats)]
    if not stats["loops"] and not stats["unwatched"]:
        raise NothingToShow(_why_none(stats))
    return loops_page.text(stats, style_here())


def _is_chosen(args: argparse.Namespace, loop: Any) -> bool:
    thread = args.thread is None or args.thread in (loop["thread"], str(loop["tid"]))
    return thread and (args.loop is None or args.loop == loop["name"])


# As they come.


def _follow(
    args: argparse.Namespace, client: Client, process: Optional[Process], recording: Optional[Recording]
) -> int:
    deadline = time.monotonic() + args.for_us / 1e6 if args.for_us is not None else None
    client.listen(STREAM)
    now_ms = int(time.time() * 1000)
    lasting = [stall for stall in client.stalls(process=process) if stall["ongoing"] and stall["told"]]
    begun = {stall["number"] for stall in lasting}
    for stall in lasting:
        _print_event(args, StallEvent(BEGIN, now_ms, stall))
    try:
        for event in following.events(client, deadline, recording):
            told = stall_event(event)
            if told is None or (process is not None and told.stall["isolateId"] != process.id):
                continue
            if told.kind == END or (told.kind == BEGIN and told.stall["number"] not in begun):
                _print_event(args, told)
    except ServiceEnded:
        print("isoscope: the service has ended", file=sys.stderr)
    return DONE


def _print_event(args: argparse.Namespace, told: StallEvent) -> None:
    if not _matches(args, told.stall):
        return
    if args.json:
        line = json.dumps({"kind": told.kind, "timestamp": told.time_ms, "stall": told.stall})
    else:
        what = printable(words.sentence(told.stall))
        line = f"{following.clock(told.time_ms)}  {told.kind:<5}  {told.stall['number']:>4}  {what}"
    print(line, flush=True)
