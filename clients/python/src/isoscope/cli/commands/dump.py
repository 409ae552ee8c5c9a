"""`isoscope dump SOURCE`: what each thread is doing now, a stack each."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any, NamedTuple

from ...client import Client
from ...command import isoscope
from ...model import Process, is_thread
from ...profile import Frame, Profile
from ...text import duration, printable, shorten_left
from .. import options, source
from ..ending import ended
from ..exits import DONE, NothingToShow
from ..place import is_uri
from ..terminal.style import Style, style_here
from . import shown


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "dump",
        run,
        help="print a stack of each thread: of a profile, a process or a core file",
        description="Print each thread's newest stack, leaf first. The program is not stopped: the stack "
                    "comes from the newest sample of the last second. Sleeping threads have a stack in "
                    "wall mode only (isoscope run --mode wall). For a file or a command that has ended, "
                    "the last stacks are printed. With the number of a process, or a core file, instead of "
                    "SOURCE: one stack of every thread now, read from outside, of a program that isoscope "
                    "does not profile; `isoscope dump --help PID` lists the options for that.",
        examples=[
            "isoscope dump here.json",
            "isoscope dump --thread worker-3 here.json",
            "isoscope dump --age 10 --json here.json",
            "isoscope dump 4711",
            "isoscope dump core",
        ],
    )
    options.add_options(parser, shares=False, kind=False)
    shown.add_shorten(parser)
    parser.add_argument("--age", metavar="SECONDS", type=options.seconds, default=1_000_000,
                        help="maximum age of a stack (default: 1)")


class _Stack(NamedTuple):
    process: Process
    tid: int
    thread: str
    age_us: int
    state: str
    tag: str
    whole: bool
    frames: tuple[Frame, ...]


def run(args: argparse.Namespace) -> int:
    if args.pid is not None:
        os.execv(isoscope(), ["isoscope", "dump", str(args.pid), *(["--json"] if args.json else [])])
    source.check(args)
    status, asleep = DONE, []
    if args.command is None and is_uri(args.source):
        with source.connect(args, args.source) as client:
            since_us = source.now_us(client) - args.age
            profile = source.pull(client, args, since_us=max(since_us, 0))
            now_us = source.now_us(client)
            asleep = _without_stack(client, args, profile)
            why = "" if len(profile) else _why_empty(client, args)
        read = source.filtered(args, source.Source(profile, args.source, why_empty=why))
        if read.why_empty and not asleep:
            raise NothingToShow(read.why_empty)
        profile = read.profile
    else:
        read = source.read(args)
        profile, status = read.profile, read.status
        now_us = profile.last_us
    stacks = _newest(profile, now_us)
    if args.json:
        print(json.dumps({"type": "isoscope.dump", "threads": [_json(stack) for stack in stacks],
                          "asleep": asleep}))
    else:
        print("\n\n".join(_text(stacks, asleep, style_here(args.shorten))))
    if not stacks:
        raise NothingToShow(read.why_empty)
    return status


def _newest(profile: Profile, now_us: int) -> list[_Stack]:
    newest: dict[int, int] = {}  # thread -> sample
    for place, (thread, time_us) in enumerate(zip(profile.sample_threads, profile.times_us)):
        if thread not in newest or time_us >= profile.times_us[newest[thread]]:
            newest[thread] = place
    stacks = []
    for number, place in newest.items():
        thread_of = profile.threads[number]
        stacks.append(
            _Stack(
                thread_of.process,
                thread_of.tid,
                thread_of.name,
                max(now_us - profile.times_us[place], 0),
                profile.vm_tags[profile.states[place]],
                profile.tags[profile.user_tags[place]],
                place not in profile.cut,
                profile.stack(profile.nodes[place]),
            )
        )
    return sorted(stacks, key=lambda stack: (stack.process.id, stack.tid))


def _without_stack(client: Client, args: argparse.Namespace, profile: Profile) -> list[str]:
    """The threads that the service lists and that were not sampled."""
    if args.thread is not None or args.tag is not None:
        return []
    seen = {thread.tid for thread in map(profile.threads.__getitem__, profile.sample_threads)}
    chosen = {process.number for process in source.processes(client, args)}
    names = []
    for isolate in client.call("getVM")["isolates"]:
        group = str(isolate.get("isolateGroupId", "")).rpartition("/")[2]
        name = str(isolate.get("name", ""))
        if is_thread(isolate) and group in chosen and isolate["_tid"] not in seen:
            names.append(name)
    return names


def _why_empty(client: Client, args: argparse.Namespace) -> str:
    flags = client.flags()
    if flags.get("profiler") != "true":
        return source.PROFILER_OFF
    processes = source.processes(client, args)
    if not processes:
        return source.no_process(client)
    if not any(source.is_live(client, process) for process in processes):
        over = ended("no stacks: the program", source.exit_of(client))
        return f"{over}; --age 3600 shows its last stacks"
    hint = "" if flags.get("profile_mode") == "wall" else "; wall mode also samples threads that sleep"
    return (
        f"no stacks in the last {args.age / 1e6:g} s: no thread used the CPU, or too little for a "
        f"sample{hint}"
    )


def _text(stacks: list[_Stack], asleep: list[str], style: Style) -> list[str]:
    parts = []
    for stack in stacks:
        name = printable(stack.thread) or "?"
        told = [f"{stack.process.name} ({stack.process.pid or stack.process.number})"]
        told += [stack.state] if stack.state else []
        if stack.tag not in ("", "Default", stack.thread):
            told.append(f"tag {printable(stack.tag)}")
        told.append(f"{_rounded(stack.age_us)} ago")
        lines = [style.bold(f"{name} ({stack.tid})") + style.dim("  " + ", ".join(told))]
        lines += [_frame(frame, style) for frame in stack.frames]
        lines += [] if stack.whole else ["    ... truncated: the stack does not reach its root"]
        parts.append("\n".join(lines))
    if asleep:
        parts.append("sleeping, without a stack: " + ", ".join(map(printable, asleep)))
    return parts


def _rounded(us: int) -> str:
    return duration(us // 1000 * 1000) if us >= 1000 else f"{us} us"


def _frame(frame: Frame, style: Style) -> str:
    function = frame.function
    where = function.library.name if function.library else ""
    if function.file and frame.line:
        where = f"{function.file}:{frame.line}"
    inlined = " (inlined)" if frame.inlined else ""
    full, where = f"{function.full_name or function.name}{inlined}", printable(where)
    if style.width is None:
        return f"    {style.function(full)}  {style.dim(where)}"
    where = shorten_left(where, max((style.width - 6) // 3, 12))
    name = style.function(full, max(style.width - 6 - len(where), 12))
    return f"    {name}  {style.dim(where)}"


def _json(stack: _Stack) -> dict[str, Any]:
    return {
        "process": stack.process.id,
        "tid": stack.tid,
        "thread": stack.thread,
        "ageMicros": stack.age_us,
        "state": stack.state,
        "userTag": stack.tag,
        "whole": stack.whole,
        "frames": [
            {
                "function": frame.function.name,
                "library": frame.function.library.name if frame.function.library else "",
                "file": frame.function.file,
                "line": frame.line,
                "inlined": frame.inlined,
            }
            for frame in stack.frames
        ],
    }
