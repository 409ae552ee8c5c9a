"""What events cost the program that tells them, and whether many of them are lost.

    timeline.py [BUILD_FOLDER] [--seconds S] [--rounds N] [--flood RATE] [--threads N]

ns a begin/end pair, medians of interleaved slices less the empty loop's (`nothing`; `nothing_again`
is the noise): without a sampler, with one, with one and the streams off; beside a read of
CLOCK_MONOTONIC. Peers, where they can be had: a USDT probe (sys/sdt.h), with nobody there, and with
a uprobe on it where tracefs lets us; LTTng's user-space tracer, without a session and with one.
Then a flood of events, with the real service reading: how many were told, came, and were lost.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any, Callable, Iterator, Optional
from contextlib import contextmanager

ROOT = Path(__file__).resolve().parents[2]
TRACING = Path("/sys/kernel/tracing")
WAYS = ("pair", "pair_with", "sdt", "lttng")


def figures(command: list[str], **options: Any) -> dict[str, float]:
    """What the program says; it ends with its input."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options) as child:
        assert child.stdin and child.stdout
        line = child.stdout.readline()
        child.stdin.close()
    return json.loads(line)


def less_the_loop(told: dict[str, float]) -> dict[str, float]:
    return {name: told[name] - told["nothing"] for name in (*WAYS, "clock", "nothing_again") if name in told}


def alone(program: str, seconds: float) -> dict[str, float]:
    return less_the_loop(figures([program, "pairs", str(seconds)]))


def sampled(program: str, seconds: float, *, off: bool = False) -> dict[str, float]:
    """off: with no stream recorded."""
    from harness import Client, service_of

    with service_of([program, "pairs", str(seconds)], "--quiet", stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE) as service, Client(service.uri) as client:
        if off:
            client.call("setVMTimelineFlags", recordedStreams=[])
        line = service.process.stdout.readline()
        lost = client.call("_getTimeline", count=1)["history"]["lost"]
    return {**less_the_loop(json.loads(line)), "lost": lost}


def _sh(*words: str) -> bool:
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


@contextmanager
def lttng_session(out: str) -> Iterator[bool]:
    """False: there is no LTTng here, or it does not start."""
    works = bool(shutil.which("lttng")) and (_sh("lttng", "list") or _sh("lttng-sessiond", "--daemonize"))
    name = "isoscope-bench"
    works = (works and _sh("lttng", "create", name, f"--output={out}")
             and _sh("lttng", "enable-event", "--userspace", "isoscope_bench:*") and _sh("lttng", "start"))
    try:
        yield works
    finally:
        if works:
            _sh("lttng", "destroy", name)


def _probe_places(program: str) -> list[int]:
    """File offsets of its USDT probes: readelf's addresses, moved as its code is."""
    notes = subprocess.run(["readelf", "-nW", program], capture_output=True, text=True, check=True).stdout
    headers = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    loads = [[int(word, 16) for word in line.split()[1:5]] for line in headers.splitlines()
             if line.split()[:1] == ["LOAD"]]
    addresses = [int(line.split("Location: ")[1].split(",")[0], 16) for line in notes.splitlines()
                 if "Location: " in line]
    return [address - load[1] + load[0] for address in addresses for load in loads
            if load[1] <= address < load[1] + load[3]]


@contextmanager
def uprobes(program: str) -> Iterator[bool]:
    """A uprobe on each of its USDT probes; False: tracefs does not let us."""
    names = []
    try:
        for number, place in enumerate(_probe_places(program)):
            with (TRACING / "uprobe_events").open("a") as events:
                events.write(f"p:isoscope_bench/at{number} {program}:{place:#x}\n")
            names.append(number)
        for number in names:
            (TRACING / f"events/isoscope_bench/at{number}/enable").write_text("1")
        works = bool(names)
    except OSError:
        works = False
    try:
        yield works
    finally:
        for number in names:
            try:
                (TRACING / f"events/isoscope_bench/at{number}/enable").write_text("0")
                with (TRACING / "uprobe_events").open("a") as events:
                    events.write(f"-:isoscope_bench/at{number}\n")
            except OSError:
                pass


def flooded(program: str, threads: int, rate: int, seconds: float) -> dict[str, Any]:
    from harness import Client, service_of

    command = [program, "flood", str(threads), str(rate), str(seconds)]
    with service_of(command, "--quiet", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as service, \
            Client(service.uri) as client:
        told = json.loads(service.process.stdout.readline())
        history = client.call("_getTimeline", count=1)["history"]
    return {**told, **{name: history[name] for name in ("events", "evicted", "lost", "unstored", "unmatched",
                                                         "cutOff")}}


def shown(name: str, rounds: list[dict[str, float]], way: str) -> Optional[str]:
    values = [told[way] for told in rounds if way in told]
    if not values:
        return None
    clock = median(told["clock"] for told in rounds)
    noise = max(abs(told["nothing_again"]) for told in rounds)
    return (f"{name:<44} {median(values):8.1f} ns  {median(values) / clock:6.2f} clock reads"
            f"   noise {noise:.2f} ns")


def rounds_of(count: int, measure: Callable[[], dict[str, float]]) -> list[dict[str, float]]:
    return [measure() for _ in range(count)]


def report_pairs(isoscope: str, program: str, seconds: float, rounds: int) -> None:
    off, on, streams = [], [], []
    for _ in range(rounds):  # in turn
        off.append(alone(program, seconds))
        on.append(sampled(program, seconds))
        streams.append(sampled(program, seconds, off=True))
    lines = [shown("a read of CLOCK_MONOTONIC", off, "clock"),
             shown("isoscope, no sampler", off, "pair"),
             shown("isoscope, its stream off", streams, "pair"),
             shown("isoscope, on", on, "pair"),
             shown("isoscope, on, with two arguments", on, "pair_with"),
             shown("USDT, nobody there", off, "sdt"),
             shown("LTTng, no session", off, "lttng")]
    with uprobes(program) as works:
        lines.append(shown("USDT, a uprobe on each", rounds_of(1, lambda: alone(program, seconds)), "sdt") if works
                     else "USDT with uprobes: tracefs does not let us here")
    with tempfile.TemporaryDirectory() as out, lttng_session(out) as works:
        lines.append(shown("LTTng, in a session", rounds_of(1, lambda: alone(program, seconds)), "lttng") if works
                     else "LTTng in a session: there is none to be had here")
    lines.append(f"events lost while it was on: {sum(int(told['lost']) for told in on)}")
    print("\n".join(line for line in lines if line))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default=str(ROOT / "build"))
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--flood", type=int, default=1_000_000, help="events a second, in all")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--flood-seconds", type=float, default=10)
    options = parser.parse_args()

    os.environ["ISOSCOPE_BUILD"] = options.build
    sys.path[:0] = [str(ROOT / "tests/live"), str(ROOT / "clients/python/src")]
    isoscope, program = f"{options.build}/bin/isoscope", f"{options.build}/tests/bench/event_bench"
    report_pairs(isoscope, program, options.seconds, options.rounds)
    print(json.dumps(flooded(program, options.threads, options.flood, options.flood_seconds)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
