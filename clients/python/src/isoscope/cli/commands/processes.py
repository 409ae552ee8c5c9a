"""`isoscope ps`, `ctl` and `open`: the programs that a host service samples, whether it does, and their page."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Dict, Iterator, List, Tuple

from ...client import Client
from ...errors import RpcError
from ...protocol import PrivateListedProcess
from ...text import printable
from .. import host, options, source
from ..exits import DONE, FAILED, NothingToShow
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
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def add_ctl(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "ctl",
        run_ctl,
        help="switch the sampling of one process on or off",
        description="Switch the sampling of processes of a host service. on and off are of these "
        "processes alone; default is what the service does with all. attach begins to sample one that "
        "was not started with the sampler, detach leaves it.",
        examples=["isoscope ctl 1234 off", "isoscope ctl 1234 5678 on --period 1000",
                  "isoscope ctl 1234 attach"],
    )
    parser.add_argument("pids", metavar="PID", nargs="+", type=options.positive, help="processes")
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS,
                        help=f"one of {', '.join(_ACTIONS)}")
    parser.add_argument("--period", metavar="US", type=options.positive,
                        help="with on: microseconds of CPU time between two samples")
    parser.add_argument("--via", choices=("auto", "perf", "suspend"),
                        help="with attach: see isoscope attach --via")
    host.add_socket(parser)


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
    found: List[Dict[str, Any]] = []
    rows: List[Tuple[str, ...]] = []
    for room, listed, others in _lists(args):
        found += [{"user": room.user, **process} for process in listed]
        rows += [_row(room.user, process) for process in listed]
        found += [{"user": room.user, **process} for process in others]
        rows += [(str(other["pid"]), room.user, "no", "-", "-", "-", "-", "-", other["name"])
                 for other in others]
    if args.json:
        print(json.dumps(found, indent=2))
        return DONE
    if not rows:
        wanted = f" that have '{args.search}'" if args.search else ""
        raise NothingToShow(f"no programs{wanted} are sampled")
    _print(rows)
    return DONE


def run_ctl(args: argparse.Namespace) -> int:
    failed = 0
    rooms = host.rooms(host.path(args.socket))
    for pid in args.pids:
        said = ""
        for room in rooms:
            with source.connect(args, room.uri) as client:
                said = _act(client, pid, args)
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


def _act(client: Client, pid: int, args: argparse.Namespace) -> str:
    """What was wrong; empty: nothing."""
    try:
        if args.action == "attach":
            client.methods.private_attach(pid=pid, via=args.via)
        elif args.action == "detach":
            client.methods.private_detach(pid=pid)
        else:
            client.methods.private_set_process_sampling(
                pid=pid, sampling=args.action, period_micros=args.period)
    except RpcError as error:
        return error.details or error.message
    return ""


def _lists(args: argparse.Namespace) -> Iterator[Tuple[host.Room, List[Any], List[Any]]]:
    where = host.path(args.socket)
    rooms = [host.room_of(where, args.user)] if args.user else host.rooms(where)
    for room in rooms:
        with source.connect(args, room.uri) as client:
            reply = client.methods.private_get_process_list(search=args.search, others=args.others)
        yield room, list(reply["processes"]), list(reply["others"])


def _row(user: str, process: PrivateListedProcess) -> Tuple[str, ...]:
    return (
        str(process["pid"]),
        user,
        "on" if process["sampling"] else "off",
        f"{process['periodMicros']:,}",
        _TIMERS.get(process["timer"], process["timer"]),
        f"{process['cpuMicros'] / 1e6:,.2f}",
        f"{process['samples']:,}",
        process.get("place", "-"),
        process["exe"],
    )


def _print(rows: List[Tuple[str, ...]]) -> None:
    heads = ("PID", "USER", "SAMPLING", "PERIOD US", "BY", "CPU S", "SAMPLES", "PLACE", "PROGRAM")
    left = (1, 2, 4, 7, 8)
    shown = [heads] + [tuple(map(printable, row)) for row in rows]
    widths = [max(len(row[i]) for row in shown) for i in range(len(heads))]
    for row in shown:
        print("  ".join(text.ljust(width) if i in left else text.rjust(width)
                        for i, (text, width) in enumerate(zip(row, widths))).rstrip())
