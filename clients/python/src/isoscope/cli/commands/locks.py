"""`isoscope locks SOURCE`: what threads waited for, who did, and who had it."""

from __future__ import annotations

import argparse
from typing import Any, Optional

from ...client import Client
from ...model import LOCK, OFF_CPU, TIME, WAIT
from ...locks import Holder, Lock, locks_of
from ...profile import Profile
from ...text import Style, counted, printable, shorten
from .. import options
from ..source import read
from ..terminal.style import style_here
from . import shown

_ROWS, _STACKS, _HOLDERS, _WAY = 10, 3, 3, 6
_SOME = 0.01  # of what a lock was waited for: below that a line says nothing


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "locks",
        run,
        help="print which locks threads waited for, and who had them",
        description="List the locks that threads waited for, of a program that was started with --lock: how "
                    "long, the stacks that waited, the threads that had the lock, and what those did "
                    "meanwhile (of threads that slept: with --mode wall).",
        examples=[
            "isoscope locks here.json",
            "isoscope locks --mode wall -- ./program",
            "isoscope locks --waits here.json",
            "isoscope locks --waits -p 4711",
        ],
    )
    options.add_options(parser, shares=False, kind=False)
    shown.add_shorten(parser)
    parser.add_argument("--waits", dest="kind", action="store_const", const=WAIT, default=LOCK,
                        help="waits for condition variables, semaphores and futexes instead: threads that have "
                             "nothing to do wait so, too; with -p PID all waits, and who ended them")
    parser.add_argument("--rows", metavar="N", type=options.positive, default=_ROWS,
                        help=f"at most N locks (default: {_ROWS})")


class _Asked:
    """What is asked of the service besides the samples of waits."""

    def __init__(self) -> None:
        self.time: Optional[Profile] = None
        self.exact_us: Optional[int] = None

    def ask(self, client: Client, waits: Profile) -> None:
        self.time = client.profile(processes=waits.processes, kind=TIME)
        seen = {self.time.threads[thread].tid for thread in set(self.time.sample_threads)}
        if set(waits.holders) - {0} - seen:
            self.time = client.profile(kind=TIME)  # another process may have had it
        self.exact_us = _exact_us(client, waits)


def _exact_us(client: Client, waits: Profile) -> Optional[int]:
    """What the program counted itself, of all its waits for locks."""
    counters = [
        client.call("_getCpuSamples", isolateId=process.id, count=1, kind=LOCK).get("_counters", {})
        for process in waits.processes
    ]
    return sum(int(one.get("lock_ns", 0)) for one in counters) // 1000 if counters else None


def run(args: argparse.Namespace) -> int:
    asked = _Asked()
    source = read(args, empty_ok=args.json, ask=asked.ask)
    locks = locks_of(source.profile, asked.time)
    style = style_here(args.shorten)
    return shown.tell(
        args,
        source,
        lambda: _json(source.profile, locks, asked, args.rows),
        lambda: [[_summary(source.profile, locks, asked)]]
        + [_lock(one, source.profile, asked.time, style) for one in locks[: args.rows]],
    )


def _ms(us: float) -> str:
    return f"{us / 1000:,.1f} ms"


def _summary(waits: Profile, locks: list[Lock], asked: _Asked) -> str:
    total = sum(waits.weights_us)
    what = "lock" if waits.kind == LOCK else "object"
    exact = ""
    if waits.kind == LOCK and asked.exact_us:
        exact = f"; the program itself counted {_ms(asked.exact_us)}"
    return (f"{counted(len(locks), what)}: {_ms(total)} waited (± {100 * waits.error:.1f} %) in about "
            f"{sum(waits.objects):,.0f} waits, of which {len(waits):,} were sampled{exact}")


def _lock(lock: Lock, waits: Profile, time: Optional[Profile], style: Style) -> list[str]:
    kinds = ", ".join(word for word, _ in lock.what.most_common())
    library = f"  {printable(lock.library)}" if lock.library and not lock.library.startswith("[") else ""
    head = (f"{_ms(lock.waited_us)}  {printable(lock.name)}{library}  ({kinds}; {counted(round(lock.waits), 'wait')}, "
            f"longest {_ms(lock.longest_us)})")
    lines = [style.bold(_fit(head, style))]
    for node, us in lock.waiters.most_common(_STACKS):
        if us >= _SOME * lock.waited_us:
            lines.append(_fit(f"{us / lock.waited_us:>8.1%}  waits in {_way(waits, node, style)}", style))
    for holder in lock.holders_by_time()[:_HOLDERS]:
        if holder.tid and holder.waited_us >= _SOME * lock.waited_us:
            lines += _held(lock, holder, time, style)
    return lines


def _held(lock: Lock, holder: Holder, time: Optional[Profile], style: Style) -> list[str]:
    who = f"{printable(holder.name)} ({holder.tid})" if holder.name else f"thread {holder.tid}"
    had = "woken" if OFF_CPU.issuperset(lock.what) else "held"
    lines = [_fit(f"{holder.waited_us / lock.waited_us:>8.1%}  {had} by {who}", style)]
    if time is not None and holder.doing:
        node, us = holder.doing.most_common(1)[0]
        share = us / max(sum(holder.doing.values()), 1)
        lines.append(style.dim(_fit(f"{'':10}{share:.0%} of that in {_way(time, node, style)}", style)))
    return lines


def _fit(line: str, style: Style) -> str:
    return line if style.width is None else shorten(line, style.width)


def _names(profile: Profile, node: int) -> list[str]:
    """Innermost first."""
    names = []
    while node:
        names.append(profile.frames[profile.node_frames[node]].function.name)
        node = profile.callers[node]
    return names


def _way(profile: Profile, node: int, style: Style) -> str:
    names = _names(profile, node)
    return " < ".join(style.function(name) for name in names[:_WAY]) + (" < ..." if len(names) > _WAY else "")


def _json(waits: Profile, locks: list[Lock], asked: _Asked, rows: int) -> dict[str, Any]:
    return {
        "type": "Locks",
        "kind": waits.kind,
        "sampleCount": len(waits),
        "waitedMicros": sum(waits.weights_us),
        "waits": sum(waits.objects),
        "countedMicros": asked.exact_us if waits.kind == LOCK else None,
        "locks": [_lock_json(lock, waits, asked.time) for lock in locks[:rows]],
    }


def _lock_json(lock: Lock, waits: Profile, time: Optional[Profile]) -> dict[str, Any]:
    return {
        "name": lock.name,
        "library": lock.library,
        "kinds": dict(lock.what.most_common()),
        "waitedMicros": lock.waited_us,
        "waits": lock.waits,
        "longestMicros": lock.longest_us,
        "sampleCount": lock.samples,
        "waiters": [{"micros": us, "stack": _names(waits, node)} for node, us in lock.waiters.most_common()],
        "holders": [
            {
                "tid": holder.tid or None,
                "thread": holder.name,
                "waitedMicros": holder.waited_us,
                "doing": [
                    {"micros": us, "stack": _names(time, node) if time else []}
                    for node, us in holder.doing.most_common()
                ],
            }
            for holder in lock.holders_by_time()
        ],
    }
