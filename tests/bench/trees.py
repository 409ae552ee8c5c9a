#!/usr/bin/env python3
"""What the Python client needs for a big profile: a million samples, 30 frames each.

    ./dev bench trees [--samples N] [--only-new]

The replies are made here (tree_replies.py), a new tree of callers every 10,000 samples. Measured in
seconds of CPU time, each apart: JSON text to objects, to a Profile, to each kind of tree. Beside it
stand `go tool pprof` and speedscope (in Chromium; all of its processes' CPU time) with the same
profile as a pprof file, where they are there.

Then stacks that are ever new, where nothing is shared: 100,000 samples of 42 frames, and 1,000,000
of 30, two million nodes each. The commands run as they are, each in a process of its own (in turn
with pprof, and pprof with itself for the noise): CPU time as a ratio to pprof's, and peak memory.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional, Sequence, TypeVar

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in (
    "clients/python/src", "tests/readers", "tests/conformance")]  # fmt: skip

from browser import Browser  # noqa: E402
from pages import Speedscope, served  # noqa: E402

from tree_replies import EverNew, Program, Replies  # noqa: E402

from isoscope import Process, Profile, bottom_up, call_tree  # noqa: E402
from isoscope import formats  # noqa: E402
from isoscope.operations import PAGE  # noqa: E402
from isoscope.rpc import Conversation  # noqa: E402
from isoscope.samples_table import SamplesTable  # noqa: E402
from isoscope.trees import Table, layout  # noqa: E402

SAMPLES, DEPTH, TREE_SAMPLES = 1_000_000, 30, 10_000
LIMIT_S = 2.0
CPU_RATIO_MAX, MEMORY_MAX_MB = 2.0, 1000.0  # of stacks that are ever new
EVER_NEW = {  # samples, stacks: how deep, and how much of it hardly changes
    "deep": (100_000, 42, 22),
    "many": (1_000_000, 30, 28),
}
COMMANDS = ("tree", "table", "hot", "bottomup")

T = TypeVar("T")


def _cpu_s() -> float:
    """Of this process, which has one thread, and of those it waited for: others on the machine do
    not count."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def timed(what: str, act: Callable[[], T]) -> tuple[T, float]:
    gc.collect()
    begin = _cpu_s()
    made = act()
    took_s = _cpu_s() - begin
    print(f"  {what:<52} {took_s:7.2f} s", flush=True)
    return made, took_s


def read(texts: list[str]) -> list[Any]:
    """By the client's own conversation, so with all that it does."""
    conversation, replies = Conversation(), []
    for text in texts:
        conversation.request("_getCpuSamples")
        replies.append(conversation.receive(text).unwrap())
    return replies


def gathered(replies: list[Any]) -> Profile:
    profile, table = Profile(), SamplesTable()
    for reply in replies:
        profile.add_update(table.add(reply), [Process("isolates/1", "app")])
    return profile


def go_pprof(path: Path) -> None:
    go = shutil.which("go")
    if not go:
        print("  go tool pprof: not installed (Debian: golang-go)")
        return
    command = [go, "tool", "pprof", "-top", "-nodecount=5", str(path)]
    timed("go tool pprof -top of the same profile", lambda: subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))


def speedscope(path: Path, page: Path) -> None:
    """Until its table of functions stands."""
    chromium = shutil.which("chromium")
    if not chromium or not page.exists():
        print("  speedscope: not here (./dev readers fetches it)")
        return

    def load() -> None:
        with served(page) as address, Browser(chromium) as browser:
            began_s = time.monotonic()
            Speedscope(browser, address).load(path)
            print(f"  (speedscope: {time.monotonic() - began_s:.2f} s by the clock)")

    timed("speedscope with the same profile, and Chromium", load)


def others(profile: Profile, folder: Path, build: Path) -> None:
    """Each reads the file that we write for it."""
    path = folder / "p.pb.gz"
    with open(path, "wb") as out:
        formats.FORMATS["pprof"].write(profile, out)
    print(f"  as pprof: {path.stat().st_size / 1e6:.1f} MB")
    go_pprof(path)
    speedscope(path, build / "readers/node_modules/speedscope/dist/release")


class Used(NamedTuple):
    cpu_s: float
    peak_mb: float


# A process has its parent's peak until it execs, so a small one stands between.
_MEASURE = """
import os, sys
child = os.fork()
if not child:
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(child, 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def measured(*command: str) -> Used:
    words = [sys.executable, "-S", "-c", _MEASURE, *command]
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    cpu_s, peak_mb = done.stderr.splitlines()[-1].split()
    return Used(float(cpu_s), float(peak_mb))


def ever_new(folder: Path, name: str, samples: int) -> bool:
    """The commands beside pprof with the same samples."""
    _, depth, shared = EVER_NEW[name]
    made = Replies(EverNew(depth, shared), samples, PAGE, TREE_SAMPLES, lines=3)
    for number, text in enumerate(made.texts()):
        (folder / f"{name}-{number}.json").write_text(text)
    print(f"{samples:,} samples of {depth} frames, ever new: {made.nodes:,} nodes on the wire")
    child = [sys.executable, str(Path(__file__).with_name("trees_child.py")), str(folder), name]
    file = folder / f"{name}.pb.gz"
    measured(*child, "export", "pprof", "-o", str(file))
    go = shutil.which("go")
    judge = (go, "tool", "pprof", "-top", "-nodecount=5", str(file)) if go else None
    if judge is None:
        print("  go tool pprof: not installed (Debian: golang-go)")
    else:
        measured(*judge)  # go builds it when it runs first
    return all([_beside(command, judge, *child, command) for command in COMMANDS])


def _beside(what: str, judge: Optional[Sequence[str]], *command: str) -> bool:
    before = measured(*judge) if judge else None
    ours = measured(*command)
    told = f"  isoscope {what:<10} {ours.cpu_s:7.2f} s {ours.peak_mb:6.0f} MB"
    ratio = 0.0
    if judge and before:
        after = measured(*judge)
        both_s = (before.cpu_s + after.cpu_s) / 2
        ratio = ours.cpu_s / both_s
        told += (f"   pprof {both_s:7.2f} s {after.peak_mb:6.0f} MB   pprof/pprof "
                 f"{after.cpu_s / before.cpu_s:.2f}   isoscope/pprof {ratio:.2f}")  # fmt: skip
    print(told, flush=True)
    return ratio <= CPU_RATIO_MAX and ours.peak_mb <= MEMORY_MAX_MB


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--only-new", action="store_true", help="only stacks that are ever new")
    return parser.parse_args()


def main(build: Path, samples: int, only_new: bool) -> int:
    good = only_new or shared_stacks(build, samples)
    with tempfile.TemporaryDirectory() as folder:
        for name, (most, *_) in EVER_NEW.items():
            good = ever_new(Path(folder), name, min(samples, most)) and good
    return 0 if good else 1


def shared_stacks(build: Path, samples: int) -> bool:
    """Where most time is spent where it was spent before."""
    texts = list(Replies(Program(DEPTH), samples, PAGE, TREE_SAMPLES).texts())
    size_mb = sum(map(len, texts)) / 1e6
    told = f"{size_mb:.1f} MB of JSON in {len(texts)} replies"
    print(f"{samples:,} samples of {DEPTH} frames: {told}")
    replies, parse_s = timed("JSON text to objects", lambda: read(texts))
    profile, columns_s = timed("to a profile (columns)", lambda: gathered(replies))
    del replies
    tree, tree_s = timed("to a call tree", lambda: call_tree(profile))
    total_s = parse_s + columns_s + tree_s
    print(f"  {'text to call tree':<52} {total_s:7.2f} s   (limit {LIMIT_S:g} s at {SAMPLES:,})")
    nodes = sum(1 for _ in tree.walk())
    print(f"  {len(profile.callers):,} distinct stacks, {nodes:,} nodes in the tree")
    timed("by line", lambda: call_tree(profile, merge="line"))
    timed("by thread", lambda: call_tree(profile, group="thread"))
    timed("flat table with callers and callees", lambda: Table.of(tree))
    timed("bottom up, its first 100 ways opened", lambda: [
        root.sorted_children() for root in bottom_up(tree).roots[:100]])
    timed("flame graph layout", lambda: layout(tree))
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        others(profile, Path(folder), build)
    return samples < SAMPLES or total_s <= LIMIT_S


if __name__ == "__main__":
    given = arguments()
    sys.exit(main(given.build, given.samples, given.only_new))
