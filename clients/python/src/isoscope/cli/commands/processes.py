"""`isoscope ps`, `ctl` and `open`: the programs that a host service samples, whether it does, and their page."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple, Union

from ...client import Client
from ...errors import RpcError
from ...protocol import PrivateProcessList
from ...text import printable
from .. import host, options, source
from ..exits import DONE, FAILED, NothingToShow, UsageError
from .view import show

_ACTIONS = ("on", "off", "default", "attach", "detach")
_TIMERS = {"sigtrap": "preload", "cpu-timer": "preload", "none": "-", "perf": "perf", "suspend": "suspend"}


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "ps",
        run,
        help="list the programs that a host service samples",
        description="List the programs that a host service samples: yours, and for admins everybody's. "
        "BY is how: by the preloaded sampler, or from outside (isoscope ctl PID attach). PLACE is the container or the "
        "systemd unit that it runs in.",
        examples=["isoscope ps", "isoscope ps postgres --json", "isoscope ps --others"],
    )
    parser.add_argument("search", metavar="TEXT", nargs="?",
                        help="only those whose pid, name, path, container or systemd unit has it")
    host.add_socket(parser)
    parser.add_argument("--user", metavar="NAME", help="for admins: only this user's")
    parser.add_argument("--others", action="store_true",
                        help="also those that are not sampled, and could be attached to")
    parser.add_argument("--programs", action="store_true",
                        help="instead: what isoscope ctl PROGRAM has asked of programs")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def add_ctl(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "ctl",
        run_ctl,
        help="switch the sampling of one process or program on or off",
        description="Switch the sampling of processes of a host service. on and off are of these "
        "processes alone, until they end; of a program, which is a path or the last part of one, they are "
        "of all its processes, also of those that start later. default is what the service does with all. "
        "attach begins to sample a process that was not started with the sampler, detach leaves it.",
        examples=["isoscope ctl 1234 off", "isoscope ctl 1234 5678 on --period 1000",
                  "isoscope ctl postgres off", "isoscope ctl 1234 attach"],
    )
    parser.add_argument("targets", metavar="PID", nargs="+", type=_target, help="processes, or programs")
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS,
                        help=f"one of {', '.join(_ACTIONS)}")
    parser.add_argument("--period", metavar="US", type=options.positive,
                        help="with on: microseconds of CPU time between two samples")
    parser.add_argument("--via", choices=("auto", "perf", "suspend"),
                        help="with attach: see isoscope attach --via")
    host.add_socket(parser)
    parser.add_argument("--user", metavar="NAME", help="for admins: whose processes or programs")


def add_open(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "open",
        run_open,
        help="open your page of a host service",
        description="Open your page of a host service (isoscope serve --socket). The service tells each "
        "user the address of his own, which has a token in it; admins can have those of others.",
        examples=[
            "isoscope open",
            "isoscope open --user www-data",
            "isoscope tree \"$(isoscope open --print)\"",
        ],
    )
    host.add_socket(parser)
    parser.add_argument("--user", metavar="NAME", help="for admins: whose programs")
    parser.add_argument("--print", action="store_true", dest="print_only",
                        help="print the address, and nothing else")
    parser.add_argument("--no-browser", action="store_false", dest="browser",
                        help="print the address, and leave it to you to open it")


def run(args: argparse.Namespace) -> int:
    lists = list(_lists(args))
    found = [entry for one in lists for entry in (_programs(one) if args.programs else _processes(one))]
    if args.json:
        print(json.dumps(found, indent=2))
        return DONE
    _say_earlier(lists)
    if args.programs:
        if not found:
            raise NothingToShow("nothing is asked of programs; `isoscope ctl PROGRAM off`, for one, does")
        _print(("USER", "SAMPLING", "PERIOD US", "PROGRAM"), (0, 1, 3), [_program_row(one) for one in found])
        return DONE
    if not found:
        wanted = f" that have '{args.search}'" if args.search else ""
        raise NothingToShow(f"no programs{wanted} are sampled")
    _print(("PID", "USER", "SAMPLING", "PERIOD US", "BY", "CPU S", "SAMPLES", "PLACE", "PROGRAM"), (1, 2, 4, 7, 8),
           [_row(one) for one in found])
    return DONE


def run_ctl(args: argparse.Namespace) -> int:
    failed = 0
    where = host.path(args.socket)
    if args.action in ("attach", "detach") and any(isinstance(one, str) for one in args.targets):
        raise UsageError(f"{args.action} takes processes, by their pids; `isoscope ps --others` lists them")
    rooms = [host.room_of(where, args.user)] if args.user else host.rooms(where)
    for target in args.targets:
        said = ""
        # A process is somebody's; a program may be anybody's: without --user it is the asker's own.
        for room in rooms[:1] if isinstance(target, str) else rooms:
            with source.connect(args, room.uri) as client:
                said = _act(client, target, args)
            if not said:
                break
        if said:
            print(f"isoscope: ctl: {printable(said)}", file=sys.stderr)
            failed += 1
    return FAILED if failed else DONE


def run_open(args: argparse.Namespace) -> int:
    room = host.room_of(host.path(args.socket), args.user)
    if args.print_only:
        print(room.uri)
    else:
        show(args, room.uri)
    return DONE


def _target(word: str) -> Union[int, str]:
    return options.positive(word) if word.isdigit() else word


def _act(client: Client, target: Union[int, str], args: argparse.Namespace) -> str:
    """What was wrong; empty: nothing."""
    try:
        if isinstance(target, str):
            client.methods.private_set_program_sampling(
                program=target, sampling=args.action, period_micros=args.period)
        elif args.action == "attach":
            client.methods.private_attach(pid=target, via=args.via)
        elif args.action == "detach":
            client.methods.private_detach(pid=target)
        else:
            client.methods.private_set_process_sampling(
                pid=target, sampling=args.action, period_micros=args.period)
    except RpcError as error:
        return error.details or error.message
    return ""


class _List(NamedTuple):
    user: str
    reply: PrivateProcessList


def _lists(args: argparse.Namespace) -> Iterator[_List]:
    where = host.path(args.socket)
    rooms = [host.room_of(where, args.user)] if args.user else host.rooms(where)
    for room in rooms:
        with source.connect(args, room.uri) as client:
            reply = client.methods.private_get_process_list(search=args.search, others=args.others)
        yield _List(room.user, reply)


def _processes(one: _List) -> List[Dict[str, Any]]:
    return [{"user": one.user, **process} for process in (*one.reply["processes"], *one.reply["others"])]


def _programs(one: _List) -> List[Dict[str, Any]]:
    return [{"user": one.user, **program} for program in one.reply.get("programs", [])]


def _say_earlier(lists: List[_List]) -> None:
    for one in lists:
        files = one.reply.get("sessions", [])
        if files:
            more = f"; {len(files) - 1} more beside it" if len(files) > 1 else ""
            print(f"isoscope: what the service of {printable(one.user)} had stored before it was started again: "
                  f"isoscope tree {printable(shlex.quote(files[0]))}{more}", file=sys.stderr)


def _row(process: Dict[str, Any]) -> Tuple[str, ...]:
    if "sampling" not in process:
        return (str(process["pid"]), process["user"], "no", "-", "-", "-", "-", process.get("place", "-"), process["name"])
    return (
        str(process["pid"]),
        process["user"],
        _switch(process),
        f"{process['periodMicros']:,}",
        _TIMERS.get(process["timer"], process["timer"]),
        f"{process['cpuMicros'] / 1e6:,.2f}",
        f"{process['samples']:,}",
        process.get("place", "-"),
        process["exe"],
    )


def _program_row(program: Dict[str, Any]) -> Tuple[str, ...]:
    period = program["periodMicros"]
    return (program["user"], _switch(program), f"{period:,}" if period else "-", program["program"])


def _switch(one: Dict[str, Any]) -> str:
    return "on" if one["sampling"] else "off"


def _print(heads: Tuple[str, ...], left: Tuple[int, ...], rows: List[Tuple[str, ...]]) -> None:
    shown = [heads] + [tuple(map(printable, row)) for row in rows]
    widths = [max(len(row[i]) for row in shown) for i in range(len(heads))]
    for row in shown:
        print("  ".join(text.ljust(width) if i in left else text.rjust(width)
                        for i, (text, width) in enumerate(zip(row, widths))).rstrip())
