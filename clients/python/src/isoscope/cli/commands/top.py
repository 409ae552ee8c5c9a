"""`isoscope top SOURCE`: what the program does now, again and again."""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from typing import IO, Any, Optional

from ... import filters
from ...client import Client
from ...errors import ServiceEnded
from ...model import LIVE, TIME
from ...live import LiveWindow, StillWindow
from .. import options, source
from ..ending import ended
from ..exits import DONE, FAILED, UsageError
from ..place import is_uri
from ..recording import Recording
from ..terminal.page import text_of
from ..terminal.progress import working
from ..terminal.screen import Screen
from . import shown
from .pages.top_page import FUNCTIONS, KEYS, SORTS, THREADS, View, json_of, page_of, thread_rows

_ROWS = 20  # printed, where there is no screen to fill
_KEYS_NOTE = "h help  q quit  f functions  t threads  s sort  space pause"
_LONG_US = 1 << 62
_LOOK_S = 0.25  # for the end of a command


def add(commands: Any) -> None:
    keys = "\n".join(f"  {key:<8} {does}" for key, does in KEYS)
    parser = options.add_command(
        commands,
        "top",
        run,
        help="show the hottest functions, live",
        description="Show the hottest functions or threads of the last seconds, live. Without a terminal, "
                    "one page per interval is printed. On a terminal, the output of `-- COMMAND` follows "
                    "when top has ended. For a file, one page is printed: the last seconds before its "
                    "newest sample.",
        examples=[
            "isoscope top here.json",
            "isoscope top -n 1 --threads here.json | head",
            "isoscope top --window 10 profile.pb.gz",
            "isoscope top -- python3 script.py",
        ],
        more=f"keys on a terminal:\n{keys}",
    )
    options.add_place(parser)
    parser.add_argument("--process", metavar="NAME|ID", help="only this process")
    parser.add_argument("--interval", metavar="SECONDS", type=options.seconds, default=1_000_000,
                        help="time between two updates (default: 1)")
    parser.add_argument("--window", metavar="SECONDS", type=options.seconds, default=5_000_000,
                        help="length of the range shown (default: 5)")
    parser.add_argument("-n", metavar="N", type=options.positive, dest="pages",
                        help="stop after N updates; COMMAND is stopped too")
    parser.add_argument("--threads", action="store_true", help="start with the threads view")
    parser.add_argument("--sort", choices=("self", "total", "name", "CPU", "samples"),
                        help="start with this order")
    parser.add_argument("--rows", metavar="N", type=options.positive, default=_ROWS,
                        help=f"rows to print without a terminal (default: {_ROWS})")
    shown.add_unit(parser)
    shown.add_shorten(parser)
    options.add_kind(parser)
    options.add_frames(parser)
    options.add_inline(parser)
    parser.add_argument("--plain", action="store_true", help="print pages on a terminal too")
    parser.add_argument("--json", action="store_true", help="print one JSON object per interval and line")


def run(args: argparse.Namespace) -> int:
    if args.kind == LIVE:
        raise UsageError("top: --kind live is of one moment; `isoscope tree --kind live` shows it, and top --kind alloc "
                         "what is allocated")
    shown.check_unit(args)
    source.check(args, live=True)
    view = _first_view(args)
    if args.command is None and not is_uri(args.source):
        return _of_file(args, view)
    live = sys.stdin.isatty() and sys.stdout.isatty() and not (args.plain or args.json)
    with ExitStack() as stack:
        recording, written, uri = None, None, args.source
        if args.command is not None:
            if live:
                written = stack.enter_context(tempfile.TemporaryFile())
                stack.callback(_pass_on, written)  # when the command has ended
            recording = stack.enter_context(source.record(args, written))
            uri = recording.uri
        with source.connect(args, uri) as client:
            look = _Look(client, args)
            show = _on_screen if live else _printed
            status = show(look, view, args, recording)
    return status if recording is None else recording.status


def _of_file(args: argparse.Namespace, view: View) -> int:
    profile = filters.by_stack(source.file_profile(args), inline=args.inline, frames=args.frames)
    window = StillWindow(profile, args.window)
    if args.json:
        print(json.dumps(json_of(window, view)))
    else:
        title = f"isoscope top: {args.source}"
        print("\n".join(text_of(page_of(window, view, title=title, rows_max=args.rows), _width())))
    return DONE


def _first_view(args: argparse.Namespace) -> View:
    view = THREADS if args.threads else FUNCTIONS
    if args.sort and args.sort not in SORTS[view]:
        there = ", ".join(SORTS[view])
        raise UsageError(f"top: {view} can be sorted by {there}, not by {args.sort}")
    return View(view, args.sort or SORTS[view][0], unit=args.unit, names=args.shorten)


class _Look:
    """The service, looked at again and again."""

    def __init__(self, client: Client, args: argparse.Namespace) -> None:
        self._client = client
        self._args = args
        self._offset_us = source.now_us(client) - _clock_us()
        self.processes = source.processes(client, args)
        # A program younger than the window has not used the CPU before it was there.
        begin_us = max(self._now_us() - min(args.window, _age_us(client)), 0)
        self._updates = client.samples_table(since_us=begin_us, kind=args.kind)
        shown = {"inline": args.inline, "frames": args.frames, "kind": args.kind}
        self._recent = LiveWindow(begin_us, args.window, **shown)
        self._all = LiveWindow(begin_us, None, **shown)
        self.ended = ""  # why no more comes

    def _now_us(self) -> int:
        return _clock_us() + self._offset_us

    def step(self) -> None:
        try:
            update = next(self._updates)
            now_us = self._now_us()
            self.processes = source.processes(self._client, self._args)
            only = None
            if self._args.process is not None:
                only = {process.id for process in self.processes}
            self._recent.add(update, self.processes, now_us, only)
            self._all.add(update, self.processes, now_us, only)
        except ServiceEnded as error:
            self.ended = str(error)

    def end(self) -> None:
        """The command is over; unless it was known already why no more comes."""
        if not self.ended:
            try:
                self.ended = ended("the command", source.exit_of(self._client))
            except ServiceEnded as error:
                self.ended = str(error)

    def window(self, view: View) -> LiveWindow:
        return self._all if view.whole else self._recent

    @property
    def title(self) -> str:
        names = [process.label for process in self.processes[:4]]
        more = len(self.processes) - len(names)
        return "isoscope top: " + ", ".join(names) + (f" and {more} more" if more > 0 else "")

    def why_empty(self) -> str:
        """Of the last step."""
        if self.ended:
            return self.ended
        try:
            flags = self._client.flags()
            if flags.get("profiler") != "true":
                return source.PROFILER_OFF
            if not self.processes:
                return source.no_process(self._client)
            if not any(source.is_live(self._client, process) for process in self.processes):
                over = ended("no samples: the program", source.exit_of(self._client))
                return f"{over}; `isoscope tree` shows its profile"
        except ServiceEnded as error:
            return str(error)
        if self._args.kind != TIME:
            return source.why_no_samples(self._client, self._recent.profile)
        hint = "" if flags.get("profile_mode") == "wall" else "; wall mode also samples threads that sleep"
        return f"no samples in this range: the program used no CPU, or too little for one{hint}"


def _on_screen(
    look: _Look, view: View, args: argparse.Namespace, recording: Optional[Recording]
) -> int:
    interval_s = args.interval / 1e6
    with working("reading samples and names"):
        look.step()
    looks, due = 1, time.monotonic() + interval_s
    with Screen() as screen:
        while True:
            window = look.window(view)
            screen.show(page_of(window, view, title=look.title, note=_note(look, view)))
            if looks == args.pages:
                return DONE
            key = screen.key(due - time.monotonic())
            if key == "q":
                return DONE
            view.press(key, thread_rows(window, view))
            if time.monotonic() < due:
                continue
            due = time.monotonic() + interval_s
            # The service keeps what comes during a pause; the next look has it all.
            if not look.ended and not view.paused:
                over = recording is not None and recording.over
                look.step()
                looks += 1
                if over:
                    look.end()


def _note(look: _Look, view: View) -> str:
    if look.ended:
        return f"{look.ended}  (q quits)"
    empty = not look.window(view).threads()
    return look.why_empty() if empty else _KEYS_NOTE


def _printed(
    look: _Look, view: View, args: argparse.Namespace, recording: Optional[Recording]
) -> int:
    shown = False
    for looks in itertools.count(1):
        over = recording is not None and _wait(recording, args)
        look.step()
        if over:
            look.end()
        shown = _print_page(look, view, args) or shown
        if look.ended or looks == args.pages:
            break
        if recording is None:
            time.sleep(args.interval / 1e6)
    return DONE if shown else FAILED


def _print_page(look: _Look, view: View, args: argparse.Namespace) -> bool:
    """Was there anything to show?"""
    window = look.window(view)
    filled = bool(window.threads())
    reason = "" if filled else look.why_empty()
    if args.json:
        print(json.dumps(json_of(window, view, reason=reason)), flush=True)
    elif filled:
        page = page_of(window, view, title=look.title, rows_max=args.rows)
        print("\n".join(text_of(page, _width())) + "\n", flush=True)
    if reason or look.ended:
        print(f"isoscope: {reason or look.ended}", file=sys.stderr)
    return filled


def _wait(recording: Recording, args: argparse.Namespace) -> bool:
    """For the interval's end or the command's. True: the command's."""
    deadline = time.monotonic() + args.interval / 1e6
    while not recording.over and time.monotonic() < deadline:
        time.sleep(min(_LOOK_S, args.interval / 1e6))
    return recording.over


def _width() -> Optional[int]:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _age_us(client: Client) -> int:
    """Of the service, by its machine's clock of the day and ours."""
    age_us = round(time.time() * 1e6) - 1000 * int(client.call("getVM").get("startTime", 0))
    return age_us if age_us > 0 else _LONG_US


def _clock_us() -> int:
    return time.monotonic_ns() // 1000


def _pass_on(written: IO[bytes]) -> None:
    written.seek(0)
    sys.stdout.flush()
    shutil.copyfileobj(written, sys.stdout.buffer)
    sys.stdout.flush()
