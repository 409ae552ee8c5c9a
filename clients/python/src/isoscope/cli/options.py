"""The words that the commands share, and what is a right one.

    add_options(parser): SOURCE, filters, --json, --min; or its parts, for commands that take less

Units   Times come out in microseconds, shares in percent.
"""

from __future__ import annotations

import argparse
import os
import re
from typing import Any, Callable, Optional

from ..model import KINDS, TIME
from ..trees.runtime_frames import ALL, FRAMES
from . import place as places
from .exits import UsageError, epilog


def add_command(
    commands: Any,
    word: str,
    run: Callable[[argparse.Namespace], int],
    *,
    help: str,
    description: str,
    examples: list[str],
    more: str = "",
) -> Any:
    """Its parser, which has no options yet. help: its row in the list of commands.
    more: paragraphs below the examples."""
    parser = commands.add_parser(
        word,
        help=help,
        description=description,
        epilog=epilog(*examples, more=more),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_options(parser: Any, *, shares: bool = True, kind: bool = True) -> None:
    """shares: the command shows rows that can be too small (--min). kind: what it shows may be of memory."""
    add_place(parser)
    if kind:
        add_kind(parser)
    add_filters(parser)
    if shares:
        parser.add_argument("--min", metavar="PERCENT", type=percent,
                            help="smallest share to show (default: 1)")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def add_place(parser: Any, *, files: bool = True) -> None:
    """SOURCE, a process, or `-- COMMAND` with what `isoscope run` takes."""
    add_source(parser, files=files)
    parser.add_argument("-p", "--pid", metavar="PID", type=positive,
                        help="a process that runs already, instead of SOURCE: samples it from outside, for --last "
                             "SECONDS (default: 5) where the command shows a whole profile")
    parser.add_argument("--via", choices=("auto", "perf", "suspend"),
                        help="with -p: see isoscope attach --via; suspend also shows the functions that an "
                             "interpreter runs")
    parser.add_argument("--kernel", action="store_true",
                        help="with -p: the kernel's frames, too; see isoscope attach --kernel")
    add_run_options(parser)


def add_source(parser: Any, *, files: bool) -> None:
    what = (
        "a service's info file (isoscope run --write-service-info) or its URI; - reads either from "
        f"standard input; default: ${places.VARIABLE}" + ("; or a profile file" if files else "")
    )
    parser.add_argument(
        "source", metavar="SOURCE", nargs="?", type=place if files else uri, help=what
    )


RUN_FLAGS = ("gil", "tasks", "no-runtimes")


def add_run_options(parser: Any) -> None:
    parser.set_defaults(takes_command=True)
    run = parser.add_argument_group("with -- COMMAND ARGS instead of SOURCE; --period and --mode with -p, too")
    run.add_argument("--period", metavar="US", type=positive, help="see isoscope run --period")
    run.add_argument("--mode", choices=("cpu", "wall"), help="see isoscope run --mode")
    run.add_argument("--runtime-options", choices=("auto", "off"), help="see isoscope run --runtime-options")
    for name in RUN_FLAGS:
        run.add_argument(f"--{name}", action="store_true", help=f"see isoscope run --{name}")


def attach_options(args: argparse.Namespace) -> list[str]:
    """Those of `isoscope attach` that were given."""
    return [*(["--via", args.via] if args.via else []), *(["--kernel"] if args.kernel else [])]


def run_options(args: argparse.Namespace) -> list[str]:
    """Those of `isoscope run` that were given; none to a command that has none."""
    given = vars(args)
    words = [word for name in ("period", "mode", "runtime-options") if given.get(name.replace("-", "_"))
             for word in (f"--{name}", str(given[name.replace("-", "_")]))]
    return words + [f"--{name}" for name in RUN_FLAGS if given.get(name.replace("-", "_"))]


def kind_options(args: argparse.Namespace) -> list[str]:
    """What a command needs to be run with for the kind that is asked for."""
    option = KINDS[getattr(args, "kind", TIME)].option
    return [f"--{option}"] if option else []


def add_kind(parser: Any) -> None:
    parser.add_argument("--kind", choices=tuple(KINDS), default=TIME,
                        help="time: CPU time, and in wall mode all of it (default); alloc: allocations, of programs "
                             "started with --alloc; live: those that have not been freed; lock: waits for locks "
                             "that another thread had, of programs started with --lock; wait: those for condition "
                             "variables, semaphores and futexes, and with -p PID all time off the processor; fault: page faults, of programs started with "
                             "--faults. Samples of alloc and live stand for bytes, and "
                             "--from and --to say when they were allocated; those of lock and wait for time waited")


def add_choice(parser: Any) -> Any:
    """What chooses samples as they are; returns the group, for filters that change them."""
    group = parser.add_argument_group("filters")
    group.add_argument("--process", metavar="NAME|ID", help="only this process")
    group.add_argument("--thread", metavar="NAME|TID", help="only this thread")
    group.add_argument("--tag", metavar="TAG", help="only samples with this user tag")
    group.add_argument("--from", metavar="SECONDS", type=seconds, dest="from_us",
                       help="start of the range, counted from the first sample")
    group.add_argument("--to", metavar="SECONDS", type=seconds, dest="to_us",
                       help="end of the range, counted from the first sample")
    group.add_argument("--last", metavar="SECONDS", type=seconds, dest="last_us",
                       help="only the last SECONDS before the newest sample")
    return group


def add_filters(parser: Any) -> None:
    group = add_choice(parser)
    group.add_argument("--focus", metavar="REGEX", type=regex,
                       help="keep only samples with a function that matches, as whole stacks")
    group.add_argument("--ignore", metavar="REGEX", type=regex,
                       help="leave out samples with a function that matches (`h` on the page)")
    group.add_argument("--hide", metavar="REGEX", type=regex,
                       help="merge functions that match into their callers (`m` on the page), whose self "
                            "time grows by theirs. Samples of nothing else are left out")
    group.add_argument("--system", action=argparse.BooleanOptionalAction, default=True,
                       help="show or hide functions of system libraries (default: show)")
    add_frames(group)
    add_inline(group)
    add_name_here(group)


def add_name_here(group: Any) -> None:
    group.add_argument("--name-here", action="store_true",
                       help="resolve the names of a --no-symbols profile with this machine's files")


def add_frames(parser: Any) -> None:
    parser.add_argument("--frames", choices=FRAMES, default=ALL,
                        help="of programs that an interpreter runs: mine: only functions of your own, neither "
                             "the system's nor the interpreter's; folded: the interpreter's native code as one "
                             "frame (default: all)")


def add_inline(parser: Any) -> None:
    parser.add_argument("--inline", action=argparse.BooleanOptionalAction, default=True,
                        help="show inlined functions, or count them as the function they are inlined into "
                             "(default: show)")


# Types.


def uri(text: str) -> str:
    """Of what stands for it too (place.py)."""
    try:
        return places.checked(places.place(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def checked_uri(text: str) -> str:
    """For words that argparse has taken already."""
    try:
        return uri(text)
    except argparse.ArgumentTypeError as error:
        raise UsageError(str(error)) from error


def checked_place(text: str) -> str:
    """For words that argparse has taken for another."""
    try:
        return place(text)
    except argparse.ArgumentTypeError as error:
        raise UsageError(str(error)) from error


class Typed(str):
    """What a word leads to, and the word itself."""

    word: str


def place(text: str) -> str:
    """A URI, or a profile's path."""
    found = Typed(_place(text))
    found.word = text
    return found


def _place(text: str) -> str:
    if text == "-" or places.is_uri(text):
        return uri(text)
    if not os.path.exists(text):
        raise argparse.ArgumentTypeError(
            f"no such file: '{text}'. A service's URI looks like http://127.0.0.1:8181/TOKEN=/"
        )
    try:
        return places.place(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least 1")
    return int(text)


def percent(text: str) -> float:
    value = _number(text.rstrip("%"))
    if value is None or not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not a percentage from 0 to 100")
    return value


def seconds(text: str) -> int:
    """In microseconds."""
    unit = 1e3 if text.endswith("ms") else 1e6
    value = _number(text[:-2] if text.endswith("ms") else text.rstrip("s"))
    if value is None or not 0 <= value <= 1e9:
        raise argparse.ArgumentTypeError(f"'{text}' is not a time, such as 2.5 or 300ms")
    return round(value * unit)


def regex(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a regular expression: {error}") from error
    return text


def _number(text: str) -> Optional[float]:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value else None
