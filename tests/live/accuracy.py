"""Figures that are known before they are measured, and what isoscope says they are.

    rows(seconds) -> [Row]      for test_accuracy.py in short, for bench/correctness.py in full

The programs are those of tests/bench; they print the CPU time that the kernel says they used.
seconds: CPU time of each program; bands are as wide as that many samples need.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from math import sqrt
from subprocess import PIPE
from typing import Any, Iterator, Mapping, NamedTuple

from harness import BUILD, Client, default_timer, profiled, workload

BAND = 4.5  # standard deviations: a right sampler leaves it in 7 of a million checks
PERIOD_US = 1000
SHARES = {"spin_seventy": 0.70, "spin_twenty": 0.20, "spin_ten": 0.10}
KERNEL_BOUND = 0.03
THREADS, FAIRNESS_BOUND, UNSAMPLED_BOUND = 16, 0.05, 0.05
# What is not seen of a thread is some milliseconds at its begin and end, more on a busy machine: shares of
# less CPU time than this tell of that.
THREAD_S_MIN = 1.0
WEIGHT_BOUND = 0.02


class Row(NamedTuple):
    name: str
    figure: str
    bound: str
    good: bool


class Sample(NamedTuple):
    tid: int
    at_us: int
    cpu_s: float  # its weight
    stack: tuple[str, ...]


class Seen(NamedTuple):
    samples: list[Sample]
    printed: str  # the program's line: a word, its figure, ...
    not_sampled_s: float  # CPU time that is told so

    def figure(self, word: str) -> float:
        words = self.printed.split()
        return float(words[words.index(word) + 1])

    def ticks(self) -> int:
        """A tick that stands for several periods is told as often, and has been seen once."""
        return len({(sample.tid, sample.at_us) for sample in self.samples})

    def weight(self) -> float:
        return sum(sample.cpu_s for sample in self.samples)

    def shares(self, function: str) -> tuple[float, float]:
        """Of those that have it on their stack: by samples, and by the samples' CPU time."""
        inside = [sample for sample in self.samples if function in sample.stack]
        return (len(inside) / len(self.samples),
                sum(sample.cpu_s for sample in inside) / self.weight())


def bench_program(name: str) -> str:
    return str(BUILD / "tests" / "bench" / name)


def see(command: list[str], timer: str = "auto") -> Seen:
    with profiled(command, "--period", str(PERIOD_US), "--timer", timer, stdout=PIPE) as service:
        printed = service.process.stdout.readline().decode()
        service.process.stdout.close()
        with Client(service.uri) as client:
            replies = [client.call("_getCpuSamples", isolateId=process.id, timestamp=0)
                       for process in client.processes()]
    return Seen([sample for reply in replies for sample in samples_of(reply)], printed,
                sum(reply["_counters"]["not_sampled_ns"] for reply in replies) / 1e9)


def samples_of(reply: Mapping[str, Any]) -> Iterator[Sample]:
    names = {function["id"]: function["name"] for function in reply["functions"]}
    for sample in reply["samples"]:
        yield Sample(sample["tid"], sample["timestamp"], sample["cpuNanos"] / 1e9,
                     tuple(names[frame["function"]["id"]] for frame in sample["stack"]))


def band(share: float, samples: int) -> float:
    return BAND * sqrt(share * (1.0 - share) / samples)


def share_row(name: str, seen: Seen, function: str, share: float, bound: float) -> Row:
    by_samples, by_weight = seen.shares(function)
    return Row(name, f"{by_samples:.2%}, by weight {by_weight:.2%}", f"{share:.1%} +- {bound:.2%}",
               max(abs(by_samples - share), abs(by_weight - share)) <= bound)


def weight_row(name: str, weight: float, used: float, unseen: float = 0.0) -> Row:
    bound = WEIGHT_BOUND + unseen
    return Row(name, f"{weight / used:.2%}", f"100% +- {bound:.1%}",
               abs(weight / used - 1.0) <= bound)


def known_shares(seconds: float) -> list[Row]:
    seen = see([bench_program("known_shares"), str(seconds)])
    rows = [share_row(f"known shares: {function}", seen, function, share,
                      band(share, seen.ticks()))
            for function, share in SHARES.items()]
    return [*rows, weight_row("weight of known_shares, of getrusage", seen.weight(),
                              seen.figure("cpu_seconds"))]


def kernel_time(seconds: float, timer: str = "auto") -> list[Row]:
    """About 45 %: the program's own clock says how much it was in this run. CPU-time timers are the
    kernel's tick, and can tell what that tells the kernel: up to some points less on a busy machine."""
    seen = see([bench_program("kernel_share"), str(seconds)], timer)
    share = seen.figure("kernel_share")
    if timer == "cpu" or not default_timer().is_trap:
        share = seen.figure("system_seconds") / seen.figure("cpu_seconds")
    bound = max(KERNEL_BOUND, band(share, seen.ticks()))
    return [share_row("time in the kernel, 45 % by design", seen, "work_in_kernel", share, bound),
            weight_row("weight of kernel_share, of getrusage", seen.weight(),
                       seen.figure("cpu_seconds"))]


def equal_threads(seconds: float) -> list[Row]:
    """Each thread burns the same CPU time by its own clock. On a busy machine some of it is the
    kernel's, which comes by the kernel's tick: what a thread has used there since the last tick that
    met it there is told as not sampled, and is more in one thread than in another."""
    each = max(THREAD_S_MIN, seconds / THREADS * 2.0)
    seen = see([workload("threads"), str(THREADS), str(each)])
    spinning = [sample for sample in seen.samples if "thread_spin" in sample.stack]
    counts, weights = Counter(s.tid for s in spinning), defaultdict(float)
    for sample in spinning:
        weights[sample.tid] += sample.cpu_s
    told = seen.not_sampled_s / (THREADS * each)
    unseen = unseen_share(each) + told
    rows = [fairness_row("16 equal threads, weight", list(weights.values()), unseen)]
    if default_timer().kept == 1.0:  # else threads share the kernel's ticks as they fall
        rows.append(fairness_row("16 equal threads, samples", list(counts.values()), unseen))
    return [*rows,
            Row("16 equal threads, told as not sampled", f"{told:.2%}", f"at most {UNSAMPLED_BOUND:.0%}",
                told <= UNSAMPLED_BOUND + unseen_share(each)),
            weight_row("weight of 16 threads and what is told, of their CPU time",
                       sum(weights.values()) + seen.not_sampled_s, THREADS * each, unseen_share(each))]


def unseen_share(seconds: float) -> float:
    """Of a thread, at most: what it runs before its first tick and after its last. The kernel's
    tick, where it makes ours, may miss it a few times in a row."""
    return 0.0 if default_timer().is_trap else 10e-6 * default_timer().true_period_us / seconds


def fairness_row(name: str, values: list[float], unseen: float = 0.0) -> Row:
    apart = (max(values) - min(values)) / (sum(values) / len(values))
    bound = FAIRNESS_BOUND + unseen
    return Row(name, f"{len(values)} threads, {apart:.2%} apart", f"at most {bound:.1%}",
               len(values) == THREADS and apart <= bound)


def aliasing(seconds: float) -> list[Row]:
    """Work as periodic as the sampler, and with half and twice its period."""
    rows = []
    for period_us in (PERIOD_US, PERIOD_US // 2, 2 * PERIOD_US):
        seen = see([bench_program("periodic"), str(period_us), str(seconds)])
        share = seen.figure("first_part_share")  # 30 % by design
        rows.append(share_row(f"work with a period of {period_us} us", seen, "first_part", share,
                              band(share, seen.ticks())))
    return rows


def rows(seconds: float) -> Iterator[Row]:
    for measure in (known_shares, equal_threads, kernel_time, aliasing):
        yield from measure(seconds)
