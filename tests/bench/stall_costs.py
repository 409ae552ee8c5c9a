"""What watching loops costs (stalls.py): real servers, and the service with many loops."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Iterator

from harness import ISOSCOPE, Client, service_of, service_pid, workload
from server_programs import Done, Nginx, Redis, Server, Wrong, must
from stall_loop import loops

SERVICE_MAX = 0.006
LOOPS = 16


class RedisOneByOne(Redis):
    """redis-benchmark as it is: 50 clients, no pipeline (-P 1)."""

    KINDS = ["set", "get"]

    def command(self, port: int) -> list[str]:
        return [word for word in super().command(port) if word not in ("--io-threads", "2")]

    def load(self, port: int) -> float:
        said = must(["redis-benchmark", "-p", str(port), "-q", "-c", "50", "-P", "1", "-n", str(self.count),
                     "-t", ",".join(self.KINDS)])
        if said.count("requests per second") != len(self.KINDS):
            raise Wrong(said)
        return self.count * len(self.KINDS)

    def check(self, port: int) -> None:
        if "PONG" not in must(["redis-cli", "-p", str(port), "ping"]):
            raise Wrong("redis does not answer")


def servers(rounds: int, seconds: float) -> None:
    """Rounds of none, auto, none: the ratio of the second to the mean of its neighbours, and of those to each
    other."""
    print("\nreal servers, watched by none: requests a second and CPU time a request, medians of "
          f"{rounds} rounds")
    for kind in (RedisOneByOne, Nginx):
        if not kind.is_here():
            print(f"    {kind.name}: not here; its package is {kind.package}")
            continue
        with tempfile.TemporaryDirectory() as name:
            os.chmod(name, 0o755)
            server_row(kind(Path(name), seconds), rounds)


def server_row(server: Server, rounds: int) -> None:
    def under(watch: str) -> Done:
        return server.run([ISOSCOPE, "run", "--quiet", "--watch-loops", watch, "--"])

    ratios: dict[str, list[float]] = {"rate": [], "rate, noise": [], "CPU": [], "CPU, noise": []}
    for _ in range(rounds):
        before, watched, after = under("none"), under("auto"), under("none")
        for name, figure in (("rate", lambda d: d.work / d.seconds), ("CPU", lambda d: d.cpu_s / d.work)):
            first, second, third = map(figure, (before, watched, after))
            ratios[name].append(2 * second / (first + third))
            ratios[f"{name}, noise"].append(third / first)
    print(f"    {server.name:<18} " + "   ".join(
        f"{name} {median(values):.3f} ({min(values):.3f} to {max(values):.3f})" for name, values in ratios.items())
        + f"   {before.work / before.seconds:,.0f} a second", flush=True)


def thread_cpu_ns(pid: int, name: str = "") -> int:
    """By the kernel's clock, of its threads (of that name)."""
    used = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        task = Path(f"/proc/{pid}/task/{tid}")
        if not name or task.joinpath("comm").read_text().strip() == name:
            used += int(task.joinpath("schedstat").read_text().split()[0])
    return used


@contextmanager
def many_loops(*options: str) -> Iterator[tuple[int, Client]]:
    """The service's pid, beside a program of LOOPS loops that each go round 200 times a second."""
    words = ["ticks", *["+", "ticks"] * (LOOPS - 1)]
    with service_of([workload("stall_loop"), *words], "--quiet", *options) as service:
        with Client(service.uri) as client:
            yield service_pid(service.process.pid), client


def many(seconds: float) -> None:
    print(f"\nthe service beside {LOOPS} loops that go round 200 times a second, percent of a processor")
    for watch in ("none", "auto"):
        with many_loops("--watch-loops", watch) as (pid, client):
            end = time.monotonic() + 30
            while watch == "auto" and sum(not loop["ended"] for loop in loops(client)) < LOOPS:
                if time.monotonic() > end:
                    raise SystemExit(f"only {len(loops(client))} loops are known")
                time.sleep(0.1)
            before, since = (thread_cpu_ns(pid), thread_cpu_ns(pid, "iso-loops")), time.monotonic_ns()
            time.sleep(seconds)
            took = time.monotonic_ns() - since
            whole, watcher = ((now - then) / took for now, then in
                              zip((thread_cpu_ns(pid), thread_cpu_ns(pid, "iso-loops")), before))
        bound = ""
        if watch == "auto":
            bound = f"   at most {SERVICE_MAX:.1%}: {'kept' if watcher <= SERVICE_MAX else 'MISSED'}"
        print(f"    {watch:<6} iso-loops {watcher:.2%}   all threads {whole:.2%}{bound}", flush=True)
