"""Programs that do what breaks samplers, under isoscope at 5 kHz.

    torture.py [--minutes 30] [--short] [--quiet] [--mode cpu|wall|both] [WORD...]

WORD: rows whose name holds it. --mode: in CPU mode, in wall mode, or (as is the default) in CPU mode
and, of the rows that say so, in wall mode too. --quiet: prints the rows that fail, and the sum.

The rows (rows.py) run in turn until the time is over; --short runs each once. Each is run once
without isoscope, which shows that the program itself is right, and then under it. The program
checks its own results; here its samples are checked, that it ends in time, and that nothing of it
is left. What hangs is shown by the kernel's view of its threads. Ends with status 1 when a row
failed.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Callable, Iterator, Optional

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "live"))

from harness import ISOSCOPE, CallTree, Client, children, default_timer  # noqa: E402

from isoscope.profile import Profile  # noqa: E402

from rows import PERIOD_US, ROWS, Row  # noqa: E402

DEADLINE_S = 60.0  # of a row that takes two seconds at most on an idle machine
LONG_DEADLINE_S = 300.0  # of a long one
ENDING_S = 15.0
STATUS_NOT_HERE = 77  # the program says that this machine or user cannot run it
PR_SET_CHILD_SUBREAPER = 36
WALL_PERIOD_US = 1000  # the shortest there
NOT_HERE = re.compile(r"^not here: (.+)$", re.MULTILINE)
UNDER = re.compile(r"(?:^|\.)([^.]+)__under__([^.]+)$")
ENDED = re.compile(r"^isoscope: the program (ended with status|was ended by signal) (\d+)",
                   re.MULTILINE)


class Failure(Exception):
    pass


class ShareMissed(Failure):
    """A share of the samples is below its band."""


class NotHere(Exception):
    """Why."""


def main() -> int:
    options = parse()
    rows = [row for row in ROWS if all(word in row.name for word in options.words)
            and not (row.long and options.short)]
    if not rows:
        sys.exit(f"torture: no row's name holds {' '.join(options.words)}")
    # What a row leaves behind becomes ours, so that it is seen.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    book = Book(options.quiet)
    end = book.began + 60 * options.minutes
    runs = [(row, mode) for row in rows for mode in modes(row, options.mode)]
    for row in rows:
        book.run(row, alone, " (without isoscope)")
    while True:
        for row, mode in runs:
            if mode == "wall":
                book.run(row, sampled_in_wall_mode, " (wall mode)")
            else:
                book.run(row, sampled)
            if not options.short and time.monotonic() > end:
                return book.close(len(runs))
        if options.short:
            return book.close(len(runs))


def modes(row: Row, asked: str) -> list[str]:
    if asked == "both":
        return ["cpu", "wall"] if row.wall else ["cpu"]
    return [asked]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="torture")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--short", action="store_true", help="each row once")
    parser.add_argument("--quiet", action="store_true", help="print only the rows that fail")
    parser.add_argument("--mode", choices=("cpu", "wall", "both"), default="both")
    parser.add_argument("words", nargs="*", metavar="WORD", help="rows whose name holds it")
    return parser.parse_args()


class Book:
    """What came of the runs."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.began = time.monotonic()
        self.passes: Counter[str] = Counter()
        self.skipped: dict[str, str] = {}
        self.failures: list[tuple[str, str]] = []

    def run(self, row: Row, how: Callable[[Row, Path], str], note: str = "") -> None:
        began = time.monotonic()
        name = row.name + note
        try:
            said = measured(row, how)
            self.passes[name] += 1
            verdict = "pass"
        except NotHere as why:
            verdict, said = "skipped", str(why)
            self.skipped[name] = said
        except Failure as failure:
            verdict, said = "FAIL", str(failure)
            self.failures.append((name, said))
        if verdict == "FAIL" or not self.quiet:
            print(f"{verdict}  {name}  {time.monotonic() - began:.1f} s  {said}", flush=True)

    def close(self, row_count: int) -> int:
        minutes = (time.monotonic() - self.began) / 60
        print(f"\n{row_count} rows, {self.passes.total()} passes, {len(self.failures)} failures, "
              f"{minutes:.1f} minutes at a period of {PERIOD_US} us")
        for name, why in self.skipped.items():
            print(f"SKIPPED {name}: {why}")
        for name, count in Counter(name for name, _ in self.failures).items():
            print(f"    FAILED {count} times, passed {self.passes[name]} times: {name}")
        return 1 if self.failures else 0


# The runs


def measured(row: Row, how: Callable[[Row, Path], str]) -> str:
    """A share that is missed is measured once more: the bands take samples to be independent of each
    other, and those of one moment are not. (A clone that a tick interrupts begins anew: beside
    others it may need twenty ticks, all in one place.)"""
    if row.needs and not Path(row.needs).exists():
        raise NotHere(f"{row.needs} is not installed")
    try:
        with tempfile.TemporaryDirectory() as folder:
            return how(row, Path(folder))
    except ShareMissed as missed:
        with tempfile.TemporaryDirectory() as folder:
            return f"{how(row, Path(folder))}; at first {missed}"


def alone(row: Row, folder: Path) -> str:
    if row.refused:
        return ""
    with Running(row, row.command, folder) as running:
        running.wait(lambda: running.process.poll() is not None)
        running.check_status(running.process.returncode)
        running.check_nothing_left()
    return running.said()


def sampled_in_wall_mode(row: Row, folder: Path) -> str:
    """Rounds are a millisecond apart at least, and most of a program sleeps: what is asked for is
    that the program stays right, that it is seen at all, and that its stacks are whole."""
    few = 20 if row.samples else 0
    return sampled(row._replace(samples=few, hot="", processes=1, period_us=WALL_PERIOD_US,
                                whole=row.wall or row.whole), folder, "wall")


def sampled(row: Row, folder: Path, mode: str = "cpu") -> str:
    info = folder / "service.json"
    words = [ISOSCOPE, "run", "--keep", "--period", str(row.period_us), "--mode", mode,
             *row.options, "--write-service-info", str(info), "--", *row.command]
    with Running(row, words, folder) as running:
        running.wait(lambda: running.ended_as() is not None)
        if row.refused:
            return running.check_refused()
        running.check_status(running.ended_as())
        running.check_nothing_left()
        uri = json.loads(info.read_text())["uri"]
        figures = check_samples(row, uri)
        if row.options:
            figures += check_memory(row, uri)
        running.process.terminate()
        running.wait(lambda: running.process.poll() is not None, ENDING_S)
    return " ".join([figures, running.said()]).strip()


class Running:
    """A command, its output, and what it leaves behind."""

    def __init__(self, row: Row, words: list[str], folder: Path) -> None:
        self.row = row
        self.out, self.errors = folder / "out", folder / "errors"
        with open(self.out, "w") as out, open(self.errors, "w") as errors:
            self.process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, cwd="/",
                env={**os.environ, **row.environment})

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *unused: object) -> None:
        """The whole family, the youngest first: nobody is left to start more."""
        for pid in reversed(list(family(self.process.pid))):
            kill(pid)
        self.process.wait()
        for pid in children(os.getpid()):
            kill(pid)
            os.waitpid(pid, 0)

    def wait(self, condition: Callable[[], bool], seconds: float = 0.0) -> None:
        """Of 0 s: as long as the row may take."""
        seconds = seconds or (LONG_DEADLINE_S if self.row.long else DEADLINE_S)
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                views = [view_of(pid) for pid in family(self.process.pid)]
                raise Failure("\n".join([f"hangs after {seconds:.0f} s", *views, self.output()]))
            time.sleep(0.01)

    def ended_as(self) -> Optional[int]:
        """The program's status, or isoscope's own when it is through."""
        match = ENDED.search(self.errors.read_text(errors="replace"))
        if match:
            return int(match[2]) if "status" in match[1] else -int(match[2])
        return self.process.poll()

    def check_status(self, status: Optional[int]) -> None:
        if status == STATUS_NOT_HERE:
            why = NOT_HERE.search(self.out.read_text(errors="replace"))
            raise NotHere(why[1] if why else "it gives no reason")
        if status != 0 or "fine" not in self.out.read_text(errors="replace"):
            raise Failure(f"status {status}\n{self.output()}")

    def check_refused(self) -> str:
        said = self.errors.read_text(errors="replace")
        if self.process.poll() != 125 or self.row.refused not in said:
            raise Failure(f"not refused\n{self.output()}")
        return said.strip()

    def check_nothing_left(self) -> None:
        """Orphans become our children; those that are ending are waited for."""
        self.wait(lambda: not orphans(self.process.pid), ENDING_S)

    def said(self) -> str:
        lines = self.out.read_text(errors="replace").splitlines()
        return "; ".join(line for line in lines if line != "fine")

    def output(self) -> str:
        return self.out.read_text(errors="replace") + self.errors.read_text(errors="replace")


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def orphans(process: int) -> list[int]:
    found = [pid for pid in children(os.getpid()) if pid != process]
    return [pid for pid in found if os.waitpid(pid, os.WNOHANG) == (0, 0)]


def family(pid: int) -> Iterator[int]:
    """A process, and all it has started."""
    yield pid
    for child in [c for task in tasks(pid) for c in numbers(task / "children")]:
        yield from family(child)


def tasks(pid: int) -> list[Path]:
    try:
        return sorted(Path(f"/proc/{pid}/task").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return []


def numbers(file: Path) -> list[int]:
    return [int(word) for word in read(file).split()]


def read(file: Path) -> str:
    try:
        return file.read_text(errors="replace").strip()
    except OSError:
        return ""


def view_of(pid: int) -> str:
    """What the kernel says of a process's threads; nobody is stopped for it."""
    lines = [f"process {pid}: {read(Path(f'/proc/{pid}/cmdline')).replace(chr(0), ' ')}"]
    for task in tasks(pid):
        status = dict(re.findall(r"^(State|SigPnd|ShdPnd|SigBlk):\s*(.*)$", read(task / "status"),
                                 re.MULTILINE))
        lines.append(f"  {task.name} {read(task / 'comm')}: {status} in {read(task / 'wchan')}, "
                     f"call {read(task / 'syscall')}")
        lines += [f"      {line}" for line in read(task / "stack").splitlines()]
    return "\n".join(lines)


# The samples


def chance(share: float, samples: int) -> float:
    """How far below its true share a run may fall: 4.5 standard deviations, once in 300,000 runs."""
    return 4.5 * math.sqrt(share * (1 - share) / samples)


def check_samples(row: Row, uri: str) -> str:
    """What was seen, in words."""
    with Client(uri) as client:
        profile = [(process, client.cpu_samples(process)) for process in client.processes()]
    tree = CallTree.build([(process, samples) for process, samples in profile if samples])
    whole = 1 - tree.cut_count / tree.sample_count if tree.sample_count else 1.0
    figures = (f"{tree.sample_count} samples of {len(tree.roots)} processes, "
               f"{100 * whole:.2f} % whole")
    if tree.lost["no_timer"] and not tree.sample_count and not default_timer().is_trap:
        return f"{figures}: perf is refused, and the limit of pending signals is that of timers too"
    # Where perf is refused, the kernel merges ticks that come more often than its own.
    slow = tree.true_period_us > row.period_us
    owed = row.samples * (row.period_us / tree.true_period_us if slow else 1.0)
    if row.process_us and default_timer().true_period_us > row.process_us:
        owed = 0.0
    taken = tree.sample_count + (tree.lost["overrun"] if slow else 0)
    if taken < owed:
        raise Failure(f"{figures}: fewer than {owed:.0f} samples; lost: {dict(tree.lost)}")
    if tree.sample_count == 0:
        return figures
    if whole < row.whole - chance(row.whole, tree.sample_count):
        raise ShareMissed(f"{figures}: less than {100 * row.whole:.2f} % whole; "
                          f"cut in: {cut_leaves(profile)}")
    if row.samples and len(tree.roots) < (1 if slow else row.processes):
        raise Failure(f"{figures}: fewer than {row.processes} processes")
    if row.callers:
        figures += f", {check_callers(profile)} callers as told"
    if not row.hot or not row.samples:
        return figures
    counts: Counter[str] = Counter()
    for function in tree.functions():
        counts[function.function.name] += function.total_count
    share = counts[row.hot] / tree.sample_count
    if share < row.share - chance(row.share, tree.sample_count):
        raise ShareMissed(f"{figures}: {row.hot} has {100 * share:.1f} %, less than "
                          f"{100 * row.share:.0f} %; others: {counts.most_common(8)}")
    return f"{figures}, {row.hot} {100 * share:.1f} %"


def check_memory(row: Row, uri: str) -> str:
    """Each of these functions has allocated, and freed all."""
    with Client(uri) as client:
        allocated, alive = (client.profile(kind=kind) for kind in ("alloc", "live"))
    if not row.allocates:
        if len(allocated) or len(alive):
            raise Failure(f"{len(allocated)} allocations were sampled")
        return ", no allocation"
    of_each = {name: count_of(allocated, name) for name in row.allocates}
    left = {name: count_of(alive, name) for name in row.allocates}
    figures = f", {len(allocated)} allocations sampled, {sum(allocated.lost.values())} lost"
    if not all(of_each.values()):
        raise Failure(f"{figures}: {of_each}")
    if any(left.values()):
        raise Failure(f"{figures}: alive, though freed: {left}")
    return figures


def count_of(profile: Profile, name: str) -> int:
    """Samples with the function in their stack."""
    return sum(count for node, count in Counter(profile.nodes).items()
               if any(frame.function.name == name for frame in profile.stack(node)))


def check_callers(profile: list) -> int:
    """Functions named a__under__b: the next such one further out is b. How many were looked at."""
    checked = 0
    for _, samples in profile:
        for sample in samples.samples if samples else ():
            names = [frame.name for frame in sample.stack]
            told = [(at, *match.groups()) for at, match in enumerate(map(UNDER.search, names)) if match]
            for (inner_at, _, caller), (outer_at, outer, _) in zip(told, told[1:]):
                # A generator that is closed closes the one that it waits for, and does not run meanwhile.
                if any(name.startswith("gen_close") for name in names[inner_at:outer_at]):
                    continue
                checked += 1
                if caller != outer:
                    raise Failure(f"{caller} is {outer} in {names}")
            if told and sample.whole and told[-1][2] != "root":
                raise Failure(f"{told[-1][2]} is missing in {names}")
    if not checked:
        raise Failure("no function of the program was seen")
    return checked


def cut_leaves(profile: list) -> list[tuple[str, int]]:
    """Where the stacks end that are not whole: their outermost frames."""
    ends = Counter(sample.stack[-1].name for _, samples in profile if samples
                   for sample in samples.samples if not sample.whole and sample.stack)
    return ends.most_common(6)


if __name__ == "__main__":
    sys.exit(main())
