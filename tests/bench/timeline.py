"""What events cost the program that tells them, and whether many of them are lost.

    timeline.py [BUILD_FOLDER] [--seconds S] [--rounds N] [--flood RATE] [--threads N]
                [--tracy SOURCES] [--perfetto SOURCES] [--wire EVENTS]

ns a begin/end pair, medians of interleaved slices less the empty loop's (`nothing`; `nothing_again`
is the noise): without a sampler, with one, with one and the streams off; beside a read of
CLOCK_MONOTONIC. Peers, where they can be had: a USDT probe (sys/sdt.h), with nobody there, and with
a uprobe on it where tracefs lets us; LTTng's user-space tracer, without a session and with one;
Tracy's client and Perfetto's C SDK where their sources are told (the folders of TracyClient.cpp and
of perfetto_c.cc, as the crates tracy-client-sys and perfetto-sdk-sys have them).
Then a flood of events, with the real service reading: how many were told, came, and were lost.
With --wire: so many events are told, and getVMTimeline is asked for windows of a second.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Callable, Iterator, Optional
from contextlib import contextmanager

ROOT = Path(__file__).resolve().parents[2]
TRACING = Path("/sys/kernel/tracing")
WAYS = ("pair", "pair_with", "sdt", "lttng", "peer")


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


def built_peer(name: str, sources: Path, out: str) -> str:
    """The library of a peer in event_peers/, with its client compiled in; that of Perfetto takes two minutes."""
    client, extra = {"tracy": ("TracyClient.cpp", ["-DTRACY_ENABLE"]), "perfetto": ("perfetto_c.cc", ["-w"])}[name]
    folder, made, library = f"-I{sources}", f"{out}/{name}.o", f"{out}/{name}.so"
    own = str(ROOT / f"tests/bench/event_peers/{name}.c")
    subprocess.run(["gcc", "-O2", "-fPIC", "-w", folder, "-c", own, "-o", made], check=True)
    subprocess.run(["g++", "-std=c++17", "-O2", "-fPIC", "-shared", *extra, folder, str(sources / client), made,
                    "-o", library, "-lpthread", "-ldl"], check=True)
    return library


def report_peer(title: str, name: str, sources: str, program: str, seconds: float) -> None:
    if not sources:
        return
    with tempfile.TemporaryDirectory() as out:
        library = built_peer(name, Path(sources), out)
        # Ended, not closed in order: a client that nobody listened to waits for somebody.
        with subprocess.Popen([program, "pairs", str(seconds), library], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as child:
            assert child.stdout
            told = less_the_loop(json.loads(child.stdout.readline()))
            child.kill()
    print(shown(title, [told], "peer"))


def windows_over_the_wire(program: str, threads: int, events: int) -> dict[str, Any]:
    """Asked of a service that has so many events: begins and ends at 400,000 a second."""
    from harness import Client, service_of, service_pid
    from isoscope.transport import WebSocketTransport

    rate, windows = 400_000, 9
    command = [program, "flood", str(threads), str(rate), str(events / rate)]
    with service_of(command, "--quiet", "--history", "2048", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as service, \
            Client(service.uri) as client:
        service.process.stdout.readline()
        history = client.call("_getTimeline", count=1)["history"]
        whole = client.call("getVMTimelineMicros")["timestamp"]
        took, came, sizes = [], [], []
        wire = WebSocketTransport(service.uri, 60)
        for window in range(windows):
            origin = whole - int(events / rate * 1e6 * (window + 1) / (windows + 1))
            request = {"jsonrpc": "2.0", "id": str(window), "method": "getVMTimeline",
                       "params": {"timeOriginMicros": origin, "timeExtentMicros": 1_000_000}}
            began = time.perf_counter()
            wire.send(json.dumps(request))
            reply = wire.receive()  # as bytes: what a client makes of them is its own
            took.append((time.perf_counter() - began) * 1000)
            came.append(len(json.loads(reply)["result"]["traceEvents"]))
            sizes.append(len(reply) / 2**20)
        status = Path(f"/proc/{service_pid(service.process.pid)}/status").read_text()
    resident_kib = int(status.split("VmRSS:")[1].split()[0])
    return {"slices": history["events"], "evicted": history["evicted"], "resident_mib": resident_kib // 1024,
            "events_of_1_s": median(came), "reply_mib": round(median(sizes), 1), "ms_median": round(median(took)),
            "ms_worst": round(max(took))}


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


def report_pairs(program: str, seconds: float, rounds: int) -> None:
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
    parser.add_argument("--tracy", default="", metavar="SOURCES", help="the folder of TracyClient.cpp")
    parser.add_argument("--perfetto", default="", metavar="SOURCES", help="the folder of perfetto_c.cc")
    parser.add_argument("--wire", type=int, default=0, metavar="EVENTS", help="then ask for windows of so many")
    options = parser.parse_args()

    os.environ["ISOSCOPE_BUILD"] = options.build
    sys.path[:0] = [str(ROOT / "tests/live"), str(ROOT / "clients/python/src")]
    program = f"{options.build}/tests/bench/event_bench"
    report_pairs(program, options.seconds, options.rounds)
    report_peer("Tracy's client, nobody connected", "tracy", options.tracy, program, options.seconds)
    report_peer("Perfetto's C SDK, in a session", "perfetto", options.perfetto, program, options.seconds)
    print(json.dumps(flooded(program, options.threads, options.flood, options.flood_seconds)))
    if options.wire:
        print(json.dumps(windows_over_the_wire(program, options.threads, options.wire)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
