"""`isoscope explain SOURCE`: a reading of a profile: what matters, what shows it, what to do next; and budgets."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import Any, Callable, Optional

from ... import formats
from ...client import Client
from ...errors import CannotWrite, RpcError
from ...explain import budgets, facts, report
from ...explain.commands import From
from ...explain.facts import Facts
from ...explain.reading import reading_of
from ...filters import NoMatch
from ...model import Process
from ...operations import METHOD_NOT_FOUND
from ...profile import Profile
from ...stalls import Stall
from ...trees.runtime_frames import ALL
from .. import options, source
from ..exits import DONE, FAILED, OVER_BUDGET, NothingToShow, UsageError
from ..place import is_uri
from ..served import is_session, served
from ..settled import settled_stalls
from ..terminal.style import style_here

_MORE = (
    "With `-- COMMAND` and -p it samples threads that wait, too (--mode wall), unless --mode says otherwise.\n"
    "With --budget, the exit status is 5 when a budget is exceeded and COMMAND ended with 0, and 1 when one\n"
    "could not be checked."
)
_STALL_WORDS = ("--process", "--thread", "--from", "--to", "--last")  # that `isoscope stalls` has, too


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "explain",
        run,
        help="say what is wrong with a program, and compare it with budgets",
        description="Read a profile: the five findings that matter at most (hot functions, waits for locks, for files "
                    "and peers, stalls, too many allocations), each with its share and error, where it is, why, what "
                    "to do next, and a command to check it. It says so when nothing stands out.",
        examples=[
            "isoscope explain here.json",
            "isoscope explain -- ./server --once",
            "isoscope explain --budget budgets.toml -o report.md -o report.xml -- ./tests",
            "isoscope explain --format markdown server.isoscope",
        ],
        more=_MORE,
    )
    options.add_place(parser)
    parser.add_argument("--alloc", action="store_true", help="with -- COMMAND: sample allocations, too; see isoscope "
                                                             "run --alloc")
    parser.add_argument("--lock", action="store_true", help="with -- COMMAND: sample waits for locks, too, which names "
                                                            "the locks and who had them; see isoscope run --lock")
    parser.add_argument("--faults", action="store_true", help="with -- COMMAND: sample page faults, too; see isoscope "
                                                              "run --faults")
    group = options.add_choice(parser)
    options.add_name_here(group)
    # What changes stacks would change what is found.
    parser.set_defaults(focus=None, ignore=None, hide=None, system=True, inline=True, frames=ALL)
    parser.add_argument("--budget", metavar="FILE", help="compare with the budgets in FILE, which is TOML: sections "
                        "[function], [library], [stall], [allocation]; see docs/explain.md")
    parser.add_argument("--format", choices=tuple(report.FORMATS), default="text",
                        help="what is printed (default: text)")
    parser.add_argument("--json", dest="format", action="store_const", const="json", help="the same as --format json")
    parser.add_argument("-o", "--output", metavar="FILE", action="append", default=[], type=_output,
                        help="write the report to FILE, too, in the format of its ending: .txt, .md (for pull "
                             "requests), .xml (JUnit), .json; can be given more than once")


def _output(text: str) -> Path:
    if Path(text).suffix not in report.ENDINGS:
        endings = ", ".join(report.ENDINGS)
        raise argparse.ArgumentTypeError(f"'{text}': its ending says no format; there are: {endings}")
    return Path(text)


def run(args: argparse.Namespace) -> int:
    for path in args.output:
        formats.check_place(path)
    limits = _budgets(args.budget)
    wanted = (("--alloc", args.alloc), ("--lock", args.lock), ("--faults", args.faults))
    more = [option for option, is_wanted in wanted if is_wanted]
    if more and args.command is None:
        raise UsageError(f"{more[0]} needs `-- COMMAND`: this is sampled from a program's start on")
    if (args.command is not None or args.pid is not None) and args.mode is None:
        args.mode = "wall"
    source.check(args)
    if args.command is None:
        return _tell(args, *_read(args), limits)
    with source.record(args, more=more) as recording:
        recording.wait()
        told = _of_service(args, recording.uri)
    shown = _tell(args, *told, limits)
    return recording.status or shown


def _budgets(path: Optional[str]) -> list[budgets.Budget]:
    try:
        return [] if path is None else budgets.read(path)
    except budgets.BadBudgets as error:
        raise UsageError(str(error)) from error


# Facts.


def _read(args: argparse.Namespace) -> tuple[Facts, str]:
    """With a name for it."""
    if is_uri(args.source):
        return _of_service(args, args.source)
    if not is_session(args.source):
        return _of_file(args)
    with served(args.source) as uri:
        found, _ = _of_service(args, uri)
    return found, os.path.basename(args.source)


def _of_file(args: argparse.Namespace) -> tuple[Facts, str]:
    found = source.read(args)
    return facts.of_file(found.profile), found.name


def _of_service(args: argparse.Namespace, uri: str) -> tuple[Facts, str]:
    args = argparse.Namespace(**{**vars(args), "source": uri})
    with source.connect(args, uri) as client:
        chosen = source.processes(client, args)
        whole = source.pull(client, args)
        stalls = _stalls(client, args, chosen[0] if args.process is not None else None, whole)
        why_empty = "" if len(whole) else source.why_no_samples(client, whole)
        shown = source.filtered(args, source.Source(whole, uri, why_empty=why_empty))
        if shown.why_empty and not stalls:
            raise NothingToShow(shown.why_empty)
        found = facts.of_service(
            client, shown.profile, chosen, ask=_asking(client, args), stalls=stalls, whole=not _is_part(args)
        )
    names = [process.label for process in shown.profile.processes or chosen]
    return found, ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def _is_part(args: argparse.Namespace) -> bool:
    return any(getattr(args, name) is not None for name in ("thread", "tag", "from_us", "to_us", "last_us"))


def _asking(client: Client, args: argparse.Namespace) -> Callable[[str], Profile]:
    """Of another kind, what the filters leave."""

    def ask(kind: str) -> Profile:
        profile = source.pull(client, argparse.Namespace(**{**vars(args), "kind": kind}))
        try:
            return source.filtered(args, source.Source(profile, "")).profile if len(profile) else profile
        except NoMatch:
            return profile.choose([])

    return ask


def _stalls(
    client: Client, args: argparse.Namespace, process: Optional[Process], profile: Profile
) -> Optional[list[Stall]]:
    """profile: before anything is left out of it, whose first sample the window counts from."""
    try:
        stalls = settled_stalls(client, process) if args.command is not None else client.stalls(process=process)
    except RpcError as error:
        if error.code != METHOD_NOT_FOUND:
            raise
        return None
    first, last = profile.first_us + (args.from_us or 0), profile.last_us
    if args.last_us is not None:
        first = last - args.last_us
    if args.to_us is not None:
        last = profile.first_us + args.to_us
    part = (args.from_us, args.to_us, args.last_us) != (None, None, None)
    return [
        stall
        for stall in stalls
        if (not part or (stall["timeOriginMicros"] <= last
                         and stall["timeOriginMicros"] + stall["timeExtentMicros"] >= first))
        and (args.thread is None or args.thread in (stall["thread"], str(stall["tid"])))
        and (args.tag is None or args.tag == stall.get("tag"))
    ]  # fmt: skip


# The report.


def _tell(args: argparse.Namespace, found: Facts, name: str, limits: list[budgets.Budget]) -> int:
    title = shlex.join(args.command) if args.command else name
    verdicts = budgets.judged(limits, found)
    told = report.Report(
        title, reading_of(found), _where(args), verdicts,
        sampled_waits=found.has_waits, sampled_locks=found.locks is not None, told_stalls=found.stalls is not None,
        hint=_HINT if getattr(args.source, "word", None) and _shown(args) == () else "",
    )  # fmt: skip
    style = style_here() if args.format == "text" else report.PLAIN
    sys.stdout.write(report.FORMATS[args.format](told, style))
    for path in args.output:
        _write(path, report.FORMATS[report.ENDINGS[path.suffix]](told, report.PLAIN))
    states = {verdict.state for verdict in verdicts}
    if budgets.EXCEEDED in states:
        return OVER_BUDGET
    return FAILED if budgets.UNKNOWN in states else DONE


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror or error}") from error


_HINT = "The commands take the service from $ISOSCOPE_URI: set it to the URI, whose token is not printed here."


def _where(args: argparse.Namespace) -> From:
    told = [
        ("--process", args.process), ("--thread", args.thread), ("--tag", args.tag), ("--from", _seconds(args.from_us)),
        ("--to", _seconds(args.to_us)), ("--last", _seconds(args.last_us)),
    ]  # fmt: skip
    given = [(name, f"{name}={value}") for name, value in told if value is not None]
    filters = tuple(word for _, word in given) + (("--name-here",) if args.name_here else ())
    of_stalls = tuple(word for name, word in given if name in _STALL_WORDS)
    command: tuple[str, ...] = ()
    if args.command is not None:
        command = (*options.run_options(args), "--", *args.command)
    return From(_shown(args), filters, of_stalls, command)


def _shown(args: argparse.Namespace) -> tuple[str, ...]:
    """The source for a command to type. A URI's token is nobody's business."""
    if args.command is not None:
        return ()
    if args.pid is not None:
        return ("-p", str(args.pid), *options.attach_options(args), *options.run_options(args))
    word = getattr(args.source, "word", "")
    if not word or word == "-" or is_uri(word):
        return ()
    return (os.path.join(".", word) if word.startswith("-") else word,)


def _seconds(us: Optional[int]) -> Optional[str]:
    return None if us is None else f"{us / 1e6:.6f}".rstrip("0").rstrip(".")
