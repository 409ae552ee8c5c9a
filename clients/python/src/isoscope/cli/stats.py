"""`isoscope stats SOURCE`: what the sampling itself does and costs."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from typing import Any, Mapping

from ..client import Client
from ..errors import ServiceEnded
from ..model import Process
from ..text import duration
from . import file_stats, options, source
from .ending import UNKNOWN, how
from .exits import NothingToShow, epilog
from .place import is_uri
from .recording import Recording

# As the sampler has them; others are shown by their name on the wire.
_LOSSES = {
    "lost_ring_full": "the thread's ring was full: the service reads too slowly",
    "lost_no_slot": "no thread slot was free, or no memory for one",
    "lost_no_tables": "the unwind tables were not built yet",
    "lost_overrun": "the kernel merged ticks: the timer cannot keep the period",
    "lost_no_timer": "the kernel refused a timer for a thread",
    "lost_modules_full": "the module table was full",
    "lost_awake": "a sleeping thread woke up while its stack was read",
    "lost_late": "the sampler's thread came too late for a round of wall mode",
    "lost_sandboxed": "the program locked itself in (seccomp): sampling of it ended",
    "lost_no_thread": "after unshare or setns the kernel refused the sampler's thread",
    "lost_slowed": "ticks cost a thread too much of its time: its period was made longer",
    "evicted": "older samples that made room for newer ones",
    "corrupt": "records that could not be true",
    "unstored": "samples without memory, or later than their thread's end",
    "names_full": "tags and functions whose name found no room",
}
_ALONE = {  # why there is no perf event
    "asked": ", as --timer cpu asks",
    "refused": ": the kernel refused perf events (see kernel.perf_event_paranoid)",
    "kernel": ": the kernel is older than 5.18",
    "traced": ", while a debugger is attached",
    "signal": ": the program ignores SIGTRAP, or takes signals past libc",
    "switches": ": perf events would slow it, for it switches very often",
}
_LOOK_S = 0.05


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "stats",
        help="tell what the sampling itself does and costs",
        description="Tell of each process its timer and period, what became of the ticks, by cause, "
        "and what the sampler's own thread used. Rates are of --interval; 0 leaves them out. Of a "
        "file: what it tells of how it was sampled, and which threads have how many samples.",
        epilog=epilog(
            "isoscope stats here.json",
            "isoscope stats --interval 0 --json here.json",
            "isoscope stats -- make -j4",
            "isoscope stats profile.pb.gz",
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    options.add_place(parser)
    parser.add_argument("--process", metavar="NAME|ID", help="only this process")
    parser.add_argument("--interval", metavar="SECONDS", type=options.seconds, default=1_000_000,
                        help="for the rates (1)")
    parser.add_argument("--json", action="store_true", help="everything, as JSON")


def run(args: argparse.Namespace) -> int:
    source.check(args)
    if args.command is None and not is_uri(args.source):
        return _of_file(args)
    if args.command is None:
        return _report(args, args.source)
    with source.record(args) as recording:
        _wait(recording)
        args.interval = 0
        shown = _report(args, recording.uri)
    return shown or recording.status


def _of_file(args: argparse.Namespace) -> int:
    profile, name = source.file_profile(args), os.path.basename(args.source)
    if args.json:
        print(json.dumps(file_stats.json_of(profile, name)))
    else:
        print("\n".join(file_stats.text_of(profile, name, _LOSSES)))
    return 0


def _wait(recording: Recording) -> None:
    while not recording.over:
        time.sleep(_LOOK_S)


def _report(args: argparse.Namespace, uri: str) -> int:
    with source.connect(args, uri) as client:
        chosen = source.processes(client, args)
        flags = client.flags()
        if not chosen:
            off = flags.get("profiler") != "true"
            raise NothingToShow(source.PROFILER_OFF if off else source.NO_PROCESS)
        first = _read(client, chosen)
        began = time.monotonic()
        if args.interval:
            time.sleep(args.interval / 1e6)
        elapsed_s, second = time.monotonic() - began, first
        if args.interval:
            second = _read(client, chosen)
        history = client.call("getVM").get("_history")
    reports = [
        _Report(process, first[process.id], second[process.id], elapsed_s if args.interval else 0.0)
        for process in chosen
        if process.id in first and process.id in second
    ]
    if args.json:
        processes = [report.json() for report in reports]
        told = {"type": "isoscope.stats", "flags": flags, "history": history}
        print(json.dumps({**told, "processes": processes}))
    else:
        off = flags.get("profiler") != "true"
        mode = f"{flags.get('profile_mode', 'cpu')} mode, {'off' if off else 'on'}"
        head = "\n".join([f"profiler: {mode}", *_history(history)])
        print("\n\n".join([head] + ["\n".join(report.text()) for report in reports]))
    return 0


def _history(told: Mapping[str, int] | None) -> list[str]:
    """How far back the samples go, and how far they will at this rate. None: a service that does
    not tell (a Dart VM, say)."""
    if not told or not told["bytes"]:
        return []
    so_far_us = told["spanMicros"]
    whole_us = so_far_us * told["bytesMax"] / told["bytes"]
    return [f"history: the last {_minutes(so_far_us)} in {told['bytes'] / 2**20:.1f} of "
            f"{told['bytesMax'] / 2**20:,.0f} MiB, which hold about {_minutes(whole_us)} at this rate"]


def _minutes(us: float) -> str:
    return f"{us / 60e6:.3g} min"


def _read(client: Client, processes: list[Process]) -> dict[str, Mapping[str, Any]]:
    """What the sampler says of itself, by process."""
    told = {}
    for process in processes:
        isolate = client.call("getIsolate", isolateId=process.id)
        if "_process" in isolate:
            told[process.id] = isolate["_process"]
    if not told:
        raise ServiceEnded(
            "no process tells of its sampling: they have gone, or this is another's service"
        )
    return told


class _Report:
    """One process, read twice. elapsed_s 0: only once."""

    def __init__(
        self,
        process: Process,
        first: Mapping[str, Any],
        second: Mapping[str, Any],
        elapsed_s: float,
    ) -> None:
        self._process, self._told, self._elapsed_s = process, second, elapsed_s
        self._counters: Mapping[str, int] = second["counters"]
        self._new = Counter(second["counters"])
        self._new.subtract(first["counters"])

    @property
    def _lost(self) -> dict[str, int]:
        lost = {n: c for n, c in self._counters.items() if n.startswith("lost_") and c}
        return dict(sorted(lost.items(), key=lambda entry: -entry[1]))

    def text(self) -> list[str]:
        told, counters = self._told, self._counters
        ended = "" if told["live"] else f", ended {how(told.get('exit', UNKNOWN))}".rstrip()
        lines = [f"{self._process.name} ({told['pid']}){ended}  {told['exe']}"]
        timer = "none: it was not sampled yet"
        if told["timer"] != "none":
            alone = _ALONE.get(told.get("timerReason", ""), "")
            timer = f"{told['timer']}, one tick per {duration(told['truePeriodMicros'])}{alone}"
        lines.append(f"  timer       {timer}")
        for name, what in (("ticks", ""), ("delivered", "samples")):
            lines.append(_row(name, counters.get(name, 0), what, self._rate(name)))
        for name, count in self._lost.items():
            lines.append(_row("lost", count, _LOSSES.get(name, name[5:]), self._rate(name)))
        missed = counters.get("not_sampled_ns", 0) / 1e6
        lines.append(f"  not sampled {missed:,.1f} ms of CPU time")
        for name in ("evicted", "corrupt", "unstored", "names_full"):
            if counters.get(name):
                lines.append(_row(name.replace("threads_", ""), counters[name], _LOSSES[name]))
        lines += self._ends()
        return lines + [self._cost()]

    def _ends(self) -> list[str]:
        ends = {n[4:]: c for n, c in self._counters.items() if n.startswith("end_") and c}
        total = sum(ends.values())
        if not total:
            return []
        whole = ends.pop("root", 0)
        causes = ", ".join(f"{name} {count:,}" for name, count in ends.items())
        share = f"{100 * whole / total:.1f} % of the stacks reach their root"
        return [f"  stacks      {share}" + (f"; others end at: {causes}" if causes else "")]

    def _cost(self) -> str:
        cpu_ms = self._counters.get("sampler_cpu_ns", 0) / 1e6
        line = f"  own thread  {cpu_ms:,.1f} ms of CPU time"
        if self._elapsed_s:
            share = self._new["sampler_cpu_ns"] / 1e9 / self._elapsed_s
            line += f", now {100 * share:.2f} % of a processor"
        delivered = self._counters.get("delivered", 0)
        return line + (f"; {1000 * cpu_ms / delivered:.1f} us a sample" if delivered else "")

    def _rate(self, name: str) -> str:
        return f"{self._new[name] / self._elapsed_s:,.0f} a second now" if self._elapsed_s else ""

    def json(self) -> dict[str, Any]:
        rates = {}
        if self._elapsed_s:
            rates = {name: round(n / self._elapsed_s, 3) for name, n in self._new.items()}
        return {"process": self._process.id, "name": self._process.name, **self._told,
                "perSecond": rates}  # fmt: skip


def _row(name: str, count: int, what: str, rate: str = "") -> str:
    told = "; ".join(part for part in (what, rate) if part)
    return f"  {name:<10}{count:>12,}  {told}".rstrip()
