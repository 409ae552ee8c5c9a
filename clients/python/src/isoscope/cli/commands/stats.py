"""`isoscope stats SOURCE`: what the sampling itself does and costs."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from typing import Any, Mapping

from ...client import Client
from ...errors import RpcError, ServiceEnded
from ...model import Process
from ...operations import METHOD_NOT_FOUND
from ...protocol import PrivateCpuTime, PrivateHistory
from ...stalls import LoopStats
from ...text import counted, duration
from .. import options, source
from ..ending import UNKNOWN, how
from ..exits import NothingToShow
from ..place import is_uri
from ..recording import Recording
from . import file_stats

# As the sampler has them; others are shown by their name on the wire.
_LOSSES = {
    "lost_ring_full": "the thread's ring was full: the service reads too slowly",
    "lost_no_slot": "no free slot or memory for another thread",
    "lost_no_tables": "the unwind tables were not built yet",
    "lost_overrun": "a thread ran without being interrupted: it blocks signals, or is in the kernel",
    "lost_no_timer": "the kernel refused a timer for a thread (ulimit -i is too low, or seccomp "
    "forbids timer_create)",
    "lost_no_signal": "the program uses or ignores every signal that sampling could use",
    "lost_busy": "a thread was in the middle of writing something else into its ring",
    "lost_modules_full": "no room for another library or its name",
    "lost_awake": "a sleeping thread woke up while its stack was read",
    "lost_late": "the service was too late for a round of wall mode",
    "lost_sandboxed": "the program sandboxed itself (seccomp), which ended sampling",
    "lost_throttled": "throttled: sampling took too much of a thread's time, so its period was made longer",
    "lost_no_rights": "a thread slept, and the kernel does not let isoscope read its stack (rights, or a "
                      "pid namespace)",
    "evicted": "old samples dropped to make room",
    "corrupt": "invalid records",
    "unstored": "samples without memory, or after their thread's end",
    "names_full": "tags and functions without room for their names",
    "codes_full": "functions of runtimes without room for their names",
    "loops_lost": "loops that are not watched: there are too many",
}
_ALONE = {  # why there is no perf event
    "asked": " (--timer cpu)",
    "refused": ": the kernel refused perf events (see kernel.perf_event_paranoid)",
    "kernel": ": the kernel is older than 5.18",
    "traced": ", while a debugger is attached",
    "signal": ": the program ignores SIGTRAP, or sets signal handlers without libc",
    "switches": ": perf events would slow the program down: it switches very often",
    "filtered": ": the kernel refused perf events (a seccomp filter forbids them)",
    "absent": ": the kernel refused perf events (it has none that trap, or seccomp)",
    "no_room": ": the kernel refused perf events (no descriptor or memory was free)",
    "rights": ": isoscope is not allowed to open perf events for it: it has other rights, or is not "
              "dumpable",
}
_LOOK_S = 0.05


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "stats",
        run,
        help="print counters and cost of the sampling itself",
        description="Print each process's timer and period, its lost samples by cause, and the cost of "
                    "the sampler. Rates are measured over --interval; 0 omits them. For a file, print its "
                    "period, its losses and the samples of each thread.",
        examples=[
            "isoscope stats here.json",
            "isoscope stats --interval 0 --json here.json",
            "isoscope stats -- make -j4",
            "isoscope stats profile.pb.gz",
        ],
    )
    options.add_place(parser)
    parser.add_argument("--process", metavar="NAME|ID", help="only this process")
    parser.add_argument("--interval", metavar="SECONDS", type=options.seconds, default=1_000_000,
                        help="length of the measurement of rates (default: 1)")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def run(args: argparse.Namespace) -> int:
    source.check(args, live=True)
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
            raise NothingToShow(source.PROFILER_OFF if off else source.no_process(client))
        first = _read(client, chosen)
        began = time.monotonic()
        if args.interval:
            time.sleep(args.interval / 1e6)
        elapsed_s, second = time.monotonic() - began, first
        if args.interval:
            second = _read(client, chosen)
        vm = client.vm()
        loops = _loop_stats(client, chosen[0] if args.process is not None else None)
    reports = [
        _Report(process, first[process.id], second[process.id], elapsed_s if args.interval else 0.0)
        for process in chosen
        if process.id in first and process.id in second
    ]
    if args.json:
        processes = [report.json() for report in reports]
        told = {"type": "isoscope.stats", "flags": flags, "history": vm.get("_history"),
                "cpuTime": vm.get("_cpuTime"), "unsampled": vm.get("_unsampled", []), "loops": loops}  # fmt: skip
        print(json.dumps({**told, "processes": processes}))
    else:
        off = flags.get("profiler") != "true"
        mode = f"{flags.get('profile_mode', 'cpu')} mode, {'off' if off else 'on'}"
        head = "\n".join([f"profiler: {mode}", *_cpu_time(vm.get("_cpuTime")),
                          *_history(vm.get("_history")),
                          *_stalls(loops),
                          *source.unsampled(vm)])  # fmt: skip
        print("\n\n".join([head] + ["\n".join(report.text()) for report in reports]))
    return 0


def _history(told: PrivateHistory | None) -> list[str]:
    """How far back the samples go, and how far they will at this rate. None: a service that does
    not tell (a Dart VM, say)."""
    if not told or not told["bytes"] or not told["spanMicros"]:
        return []
    so_far_us = told["spanMicros"]
    whole_us = so_far_us * told["bytesMax"] / told["bytes"]
    return [f"history: the last {_minutes(so_far_us)} in {told['bytes'] / 2**20:.1f} of "
            f"{told['bytesMax'] / 2**20:,.0f} MiB, enough for about {_minutes(whole_us)} at this rate"]


def _cpu_time(told: PrivateCpuTime | None) -> list[str]:
    """How much of all CPU time is in samples. None: a service that does not tell."""
    if not told:
        return []
    rest_us = told["notSampledMicros"] + told.get("withoutSamplerMicros", 0)
    whole_us = told["sampledMicros"] + rest_us
    if not whole_us:
        return []
    line = f"CPU time: {whole_us / 1e6:,.2f} s, {told['sampledMicros'] / whole_us:.1%} of it in samples"
    if told.get("withoutSamplerMicros"):
        line += (f"; {told['withoutSamplerMicros'] / 1e6:,.2f} s in processes that ended before their "
                 "first sample or have no sampler")  # fmt: skip
    return [line]


def _loop_stats(client: Client, process: Process | None) -> LoopStats | None:
    """None: the service is another's, or older."""
    try:
        return client.loop_stats(process=process)
    except RpcError as error:
        if error.code != METHOD_NOT_FOUND:
            raise
        return None


def _stalls(told: LoopStats | None) -> list[str]:
    if told is None or not told["loops"]:
        return []
    watched = sum(loop["watched"] for loop in told["loops"])
    causes: Counter[str] = Counter()
    for loop in told["loops"]:
        causes.update(loop["causes"])
    line = f"loops: {watched:,} watched, {counted(sum(causes.values()), 'stall')}"
    why = ", ".join(f"{cause} {count:,}" for cause, count in causes.most_common())
    return [f"{line} ({why}); `isoscope stalls` lists them" if why else line]


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
            "no process reports its sampling: all have ended, or this is not an isoscope service"
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
        timer = "none: not sampled yet"
        if told["timer"] != "none":
            alone = _ALONE.get(told.get("timerReason", ""), "")
            timer = f"{told['timer']}, one sample per {duration(told['truePeriodMicros'])}{alone}"
        lines.append(f"  timer       {timer}")
        for name, what in (("ticks", ""), ("delivered", "samples")):
            lines.append(_row(name, counters.get(name, 0), what, self._rate(name)))
        for name, count in self._lost.items():
            lines.append(_row("lost", count, _LOSSES.get(name, name[5:]), self._rate(name)))
        missed = counters.get("not_sampled_ns", 0) / 1e6
        lines.append(f"  not sampled {missed:,.1f} ms of CPU time")
        for name in ("evicted", "corrupt", "unstored", "names_full", "codes_full", "loops_lost"):
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
        share = f"{100 * whole / total:.1f} % complete"
        return [f"  stacks      {share}" + (f"; truncated by: {causes}" if causes else "")]

    def _cost(self) -> str:
        cpu_ms = self._counters.get("upkeep_ns", 0) / 1e6
        line = f"  upkeep      {cpu_ms:,.1f} ms of CPU time"
        if self._elapsed_s:
            share = self._new["upkeep_ns"] / 1e9 / self._elapsed_s
            line += f", now {100 * share:.2f} % of one CPU"
        delivered = self._counters.get("delivered", 0)
        return line + (f"; {1000 * cpu_ms / delivered:.1f} us per sample" if delivered else "")

    def _rate(self, name: str) -> str:
        return f"{self._new[name] / self._elapsed_s:,.0f} per second now" if self._elapsed_s else ""

    def json(self) -> dict[str, Any]:
        rates = {}
        if self._elapsed_s:
            rates = {name: round(n / self._elapsed_s, 3) for name, n in self._new.items()}
        return {"process": self._process.id, "name": self._process.name, **self._told,
                "perSecond": rates}  # fmt: skip


def _row(name: str, count: int, what: str, rate: str = "") -> str:
    told = "; ".join(part for part in (what, rate) if part)
    return f"  {name:<10}{count:>12,}  {told}".rstrip()
