"""Profiles at a real OpenTelemetry Collector, on this machine alone: `./dev engines`.

    engines.py FOLDER COLLECTOR PYTHON [--seconds N]

FOLDER: where sessions and what the Collector wrote go. PYTHON: one that has opentelemetry-proto, duckdb and pyarrow.
Totals of each function are those of the Python client on the session of the same run, or it fails.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Iterator, Optional

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "live"), str(HERE.parents[1] / "clients/python/src")]

from harness import ISOSCOPE, Client, end, serving, until, workload  # noqa: E402
from mock_engine import Engine, dead_port  # noqa: E402
from otlp import Otlp  # noqa: E402
from pulled import sums_of  # noqa: E402

PROGRAM = """
timeout {seconds} {spin} 1000 & {allocates} leaks & {waits} kinds &
/usr/bin/python3 -c 'import time
end = time.time() + {seconds}
while time.time() < end: sum(range(1000))'
wait
"""
CONFIG = """
receivers:
  otlp:
    protocols:
      http: {{ endpoint: "{address}" }}
exporters:
  file: {{ path: "{file}" }}
service:
  telemetry: {{ metrics: {{ level: none }} }}
  pipelines:
    profiles: {{ receivers: [otlp], exporters: [file] }}
"""
Sums = dict[str, Counter]  # of each kind of values, total by function


def program(seconds: float) -> list[str]:
    return ["sh", "-c", PROGRAM.format(spin=workload("spin_two_to_one"), allocates=workload("allocates"),
                                       waits=workload("waits_for_locks"), seconds=seconds)]


@contextlib.contextmanager
def collector(binary: Path, file: Path, host: str, port: int, within: Optional[list[str]] = None) -> Iterator[None]:
    """within: words that begin a command in another network namespace."""
    config = file.with_suffix(".yaml")
    config.write_text(CONFIG.format(address=f"{host}:{port}", file=file))
    log = file.with_suffix(".log").open("a")
    words = [*(within or []), str(binary), "--config", str(config), "--feature-gates", "service.profilesSupport"]
    running = subprocess.Popen(words, stdout=log, stderr=log)
    try:
        until(lambda: "Everything is ready" in file.with_suffix(".log").read_text() or running.poll() is not None,
              "the Collector")
        assert running.poll() is None, f"the Collector has ended; see {log.name}"
        yield
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(30)
        log.close()
        os.rename(log.name, f"{log.name}.{time.monotonic_ns()}")


def value_of(strings: list[str], value: dict):
    (kind, content), = value.items()
    return strings[content] if kind == "stringValueStrindex" else int(content) if kind == "intValue" else content


class Received:
    """What the Collector's exporter wrote."""

    def __init__(self, file: Path) -> None:
        self.sums: dict[str, Sums] = defaultdict(lambda: defaultdict(Counter))  # by host
        self.requests = 0
        for line in file.read_text().splitlines():
            self._take(json.loads(line))

    def _take(self, request: dict) -> None:
        tables = request["dictionary"]
        strings = tables["stringTable"]
        functions = [strings[one.get("nameStrindex", 0)] for one in tables["functionTable"]]
        locations = [[functions[line["functionIndex"]] for line in one.get("lines", [])]
                     for one in tables["locationTable"]]
        stacks = [[name for place in one.get("locationIndices", []) for name in locations[place]]
                  for one in tables["stackTable"]]
        self.requests += 1
        for resource_profiles in request["resourceProfiles"]:
            resource = {one.get("key") or strings[one["keyStrindex"]]: value_of(strings, one["value"])
                        for one in resource_profiles["resource"]["attributes"]}
            sums = self.sums[resource["host.name"]]
            for scope_profiles in resource_profiles["scopeProfiles"]:
                for profile in scope_profiles["profiles"]:
                    kind = strings[profile["sampleType"]["typeStrindex"]]
                    if kind == "samples" and "typeStrindex" not in profile.get("periodType", {}):
                        kind = "off_cpu samples"
                    for sample in profile["samples"]:
                        for name in set(stacks[sample["stackIndex"]]):
                            sums[kind][name] += int(sample["values"][0])


def pushed(session: Path, url: str, command: list[str], *more: str, within: Optional[list[str]] = None) -> str:
    """What isoscope said."""
    words = [*(within or []), ISOSCOPE, "run", "--quiet", "--stats", "-o", str(session), "--push", url, "--push-window",
             "2", "--push-queue", str(session.with_suffix(".queue")), *more, "--", *command]
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return next(line for line in done.stderr.splitlines() if "profiles sent" in line).partition("--push: ")[2]


def client_sums(session: Path) -> tuple[Sums, dict[str, float]]:
    """And by how much a rounded one may differ."""
    with serving(session) as service, Client(service.uri) as client:
        time_ = client.profile()
        sums: Sums = {"samples": sums_of(time_, lambda _: 1)[1],
                      "cpu": Counter({name: us * 1000 for name, us in
                                      sums_of(time_, time_.weights_us.__getitem__)[1].items()})}
        rounding = {"cpu": len(time_) * 500.0}
        for kind, column in (("alloc", "alloc_space"), ("lock", "delay"), ("wait", "delay")):
            profile = client.profile(kind=kind)
            if len(profile):
                factor = 1 if kind == "alloc" else 1000
                found = Counter({name: value * factor for name, value in
                                 sums_of(profile, profile.weights_us.__getitem__)[1].items()})
                sums[column] = sums.get(column, Counter()) + found
                rounding[column] = rounding.get(column, 0) + (0 if kind == "alloc" else len(profile) * 500)
    return sums, rounding


def compare(received: Sums, session: Path) -> str:
    expected, rounding = client_sums(session)
    told = []
    for kind, counts in expected.items():
        allowed = rounding.get(kind, 0)
        names = set(counts) | set(received[kind])
        wrong = {name: (received[kind][name], counts[name]) for name in names
                 if abs(received[kind][name] - counts[name]) > allowed}
        assert not wrong, f"{kind}: {wrong}"
        told.append(f"{kind} of {len(counts)} functions")
    return ", ".join(told)


def tell(part: str, text: str) -> None:
    print(f"{part:10} {text}", flush=True)


def totals(args: argparse.Namespace) -> None:
    file, port = args.folder / "totals.json", dead_port()
    with collector(args.collector, file, "127.0.0.1", port):
        said = pushed(args.folder / "totals.isoscope", f"otlp+http://127.0.0.1:{port}", program(args.seconds),
                      "--alloc=4096", "--lock=10")
    received = Received(file)
    tell("totals", f"{args.seconds:g} s, {received.requests} requests, equal: "
         f"{compare(received.sums[os.uname().nodename], args.folder / 'totals.isoscope')}; {said}")


def down(args: argparse.Namespace) -> None:
    """The Collector is away in the middle; what waits is sent when it is back."""
    file, port = args.folder / "down.json", dead_port()
    session = args.folder / "down.isoscope"
    words = [ISOSCOPE, "run", "--quiet", "--stats", "-o", str(session), "--push", f"otlp+http://127.0.0.1:{port}",
             "--push-window", "2", "--push-queue", str(session.with_suffix(".queue")), "--",
             *program(3 * args.seconds)]
    begun = time.monotonic()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        with collector(args.collector, file, "127.0.0.1", port):
            until(lambda: time.monotonic() > begun + args.seconds / 2, "some windows", 60 + args.seconds)
        until(lambda: time.monotonic() > begun + args.seconds * 1.5, "some more", 60 + 3 * args.seconds)
        with collector(args.collector, file.with_name("again.json"), "127.0.0.1", port):
            _, stderr = running.communicate(timeout=60 + 4 * args.seconds)
    assert running.returncode == 0, stderr
    received: Sums = defaultdict(Counter)
    for part in (Received(file), Received(file.with_name("again.json"))):
        for kind, counts in part.sums[os.uname().nodename].items():
            received[kind] += counts
    said = next(line for line in stderr.splitlines() if "profiles sent" in line).partition("--push: ")[2]
    tell("down", f"for {args.seconds:g} s, equal: {compare(received, session)}; {said}")


@contextlib.contextmanager
def host(name: str, other: str, address: str, end_: str) -> Iterator[list[str]]:
    """A network of its own, of which one end of a pair of links is in that of the process `other`. Yields what begins a
    command there. other "": the link's far end comes later."""
    holder = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c", f"hostname {name}; echo; exec sleep infinity"],
                              stdout=subprocess.PIPE)
    try:
        assert holder.stdout
        holder.stdout.readline()
        within = ["nsenter", "--target", str(holder.pid), "--net", "--uts"]
        run = lambda *words: subprocess.run(words, check=True)  # noqa: E731
        run(*within, "ip", "link", "set", "lo", "up")
        if other:
            run(*within, "ip", "link", "add", "eth0", "type", "veth", "peer", "name", name, "netns", other)
            run(*within, "ip", "address", "add", f"{address}/30", "dev", "eth0")
            run(*within, "ip", "link", "set", "eth0", "up")
            far = ["nsenter", "--target", other, "--net"]
            run(*far, "ip", "address", "add", f"{end_}/30", "dev", name)
            run(*far, "ip", "link", "set", name, "up")
        yield within
    finally:
        end(holder)


def hosts(args: argparse.Namespace) -> None:
    """Two hosts, as network namespaces, with one Collector in a third."""
    if os.geteuid():
        tell("hosts", "SKIPPED: only root makes network namespaces")
        return
    file, port = args.folder / "hosts.json", 4318
    with contextlib.ExitStack() as stack:
        engine = stack.enter_context(host("engine", "", "", ""))
        ends = [("alpha", "10.213.0.2", "10.213.0.1"), ("beta", "10.213.0.6", "10.213.0.5")]
        networks = [stack.enter_context(host(name, engine[2], mine, far)) for name, mine, far in ends]
        stack.enter_context(collector(args.collector, file, "0.0.0.0", port, engine))
        running = []
        for (name, _, far), within in zip(ends, networks):
            session = args.folder / f"{name}.isoscope"
            running.append(subprocess.Popen(
                [*within, ISOSCOPE, "run", "--quiet", "-o", str(session), "--push", f"otlp+http://{far}:{port}",
                 "--push-window", "2", "--push-queue", str(session.with_suffix(".queue")), "--",
                 *program(args.seconds / 2)], stdout=subprocess.DEVNULL))
        assert [one.wait(60 + 2 * args.seconds) for one in running] == [0, 0]
    received = Received(file)
    assert set(received.sums) == {"alpha", "beta"}, set(received.sums)
    for name in received.sums:
        tell("hosts", f"{name}, equal: {compare(received.sums[name], args.folder / f'{name}.isoscope')}")


def schema(args: argparse.Namespace) -> None:
    """Each request by the classes that opentelemetry-proto's schema gives."""
    with Engine() as engine:
        pushed(args.folder / "schema.isoscope", f"otlp+{engine.url}", program(4), "--alloc=4096", "--lock=10")
        pushed(args.folder / "wall.isoscope", f"otlp+{engine.url}", program(2), "--mode", "wall")
        bodies = [gzip.decompress(one.body) for one in engine.requests]
    for number, body in enumerate(bodies):
        path = args.folder / f"request-{number}.bin"
        path.write_bytes(body)
        theirs = json.loads(subprocess.run([args.python, HERE / "published.py", path], check=True, stdout=subprocess.PIPE,
                                           text=True).stdout)
        assert theirs["unknown"] == 0, f"{path}: fields that the schema does not have"
        ours = Otlp(body)
        assert theirs["totals"] == [[*one.type, dict(one.sums()[1])] for one in ours.profiles]
        assert theirs["resource"] == ours.resource
    tell("schema", f"{len(bodies)} requests, no unknown field, totals as by our own decoder; "
         f"opentelemetry-proto {theirs['version']}")


def recipes() -> list[str]:
    """Of docs/sql.md: statements, each indented and ended by a semicolon."""
    text = (HERE.parents[1] / "docs/sql.md").read_text().partition("## Recipes")[2]
    return [one.group() for one in re.finditer(r"(?m)^    (?:SELECT|PIVOT)\b(?:.*\n)+?.*;$", text)]


def columns(args: argparse.Namespace) -> None:
    """Sessions as Parquet, in DuckDB and pyarrow."""
    folder, files = args.folder / "columns", {}
    folder.mkdir(exist_ok=True)
    for name, session in (("here", "totals"), ("before", "down"), ("after", "totals")):
        files[name] = folder / f"{name}.parquet"
        subprocess.run([ISOSCOPE, "export", "-o", str(files[name]), str(args.folder / f"{session}.isoscope")], check=True,
                       capture_output=True)
    theirs = json.loads(subprocess.run([args.python, HERE / "sql.py", files["here"]], check=True, stdout=subprocess.PIPE,
                                       text=True, cwd=folder, input=json.dumps(recipes())).stdout)
    with serving(args.folder / "totals.isoscope") as service, Client(service.uri) as client:
        profile = client.profile()
    own, total = sums_of(profile, profile.weights_us.__getitem__)
    found = {name: (self_us, total_us) for name, self_us, total_us in theirs["functions"]}
    assert found == {name: (own[name], us) for name, us in total.items()}
    assert theirs["rows"] == len(profile) and theirs["recipes"] == len(recipes()) > 4
    tell("columns", f"{theirs['rows']} rows, self and total CPU time of {len(found)} functions equal in DuckDB "
         f"{theirs['duckdb']}; {theirs['recipes']} recipes of docs/sql.md run; pyarrow {theirs['pyarrow']} reads the same rows")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("collector", type=Path)
    parser.add_argument("python")
    parser.add_argument("--seconds", type=float, default=20)
    args = parser.parse_args()
    args.folder = args.folder.resolve()
    args.folder.mkdir(parents=True, exist_ok=True)
    for old in args.folder.glob("*.json"):
        old.unlink()
    for part in (schema, totals, down, columns, hosts):
        part(args)


if __name__ == "__main__":
    main()
