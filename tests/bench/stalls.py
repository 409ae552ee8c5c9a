"""Late loops: whether all that is said of them is true, how soon it is said, and what watching costs.

    stalls.py [BUILD_FOLDER] [--rounds N] [--seconds S] [SECTION...]

SECTION: times, culprit, causes, equal, programs, others, servers, loops; all without. The program's own
clocks are the truth (tests/live/stall_loop.py). `times`: of how many stalls the middle of what is said is within
2 ms of the truth, and whether the truth lies in each range. `programs`: real ones, not a line of them changed, and
when their stall's first event came, after the limit had passed. `others`: what other monitors' rules
(stall_rules.py) say of the same dispatches. The rest is what it costs, beside the noise; what one wait costs is
in loops.py.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any, Callable, Optional

from capture import machine

ROOT = Path(__file__).resolve().parents[2]
LIMIT_MS = 250
NEAR_US = 2000


def middle(pair: list[float]) -> float:
    return (pair[0] + pair[1]) / 2


def times(rounds: int, _seconds: float) -> None:
    from stall_loop import stall_loop, wrong_times

    print(f"\ntimes: a limit of {LIMIT_MS} ms, {rounds} of each; said less true, of what was told")
    near: Counter[bool] = Counter()
    with stall_loop() as loop:
        for ms in (30, 60, 240, 260, 400, 1900, 2100, 6000):
            steps = [loop.do(f"busy:{ms}") for _ in range(rounds if ms < 6000 else max(1, rounds // 4))]
            loop.settle(LIMIT_MS)
            stalls = [loop.find(step) for step in steps]
            off = [middle(stall["durationMicros"]) - (step.min_us + step.max_us) / 2
                   for stall, step in zip(stalls, steps) if stall]
            over = sum(step.min_us >= LIMIT_MS * 1000 for step in steps)
            under = sum(step.max_us < LIMIT_MS * 1000 for step in steps)
            wrong = [text for stall, step in zip(stalls, steps) if stall and (text := wrong_times(stall, step))]
            near.update(abs(error) <= NEAR_US for error in off)
            told = [step for stall, step in zip(stalls, steps) if stall]
            told_under = sum(step.max_us < LIMIT_MS * 1000 for step in told)
            told_over = sum(step.min_us >= LIMIT_MS * 1000 for step in told)
            print(f"    busy {ms:>4} ms: told {told_over} of {over} over the limit, {told_under} of {under} within; "
                  + (f"off by {median(off):+.0f} us, {max(map(abs, off)):.0f} at most; " if off else "")
                  + f"{len(wrong)} of {len(off)} ranges without the truth" + "".join(f"\n        {w}" for w in wrong),
                  flush=True)
    if near:
        print(f"    within 2 ms: {near[True]} of {near.total()}")


def culprit(rounds: int, _seconds: float) -> None:
    from stall_loop import stall_loop

    count = 50 if rounds >= 20 else rounds
    print(f"\nculprit: decode 20, render 150, compress 30, store 110 ms; store runs when the limit has passed; {count}"
          " in which render took longest by 20 ms")
    said: Counter[str] = Counter()
    skipped = 0
    with stall_loop() as loop:
        while said.total() < count and skipped < 20 * count:
            step, stall = loop.stalled("decode:20,render:150,compress:30,store:110")
            if step.clear_longest(20_000_000) != "render":
                skipped += 1
                continue
            said[stall["culprit"]["function"]] += 1
    print(f"    said: {dict(said)} ({skipped} more were another's, by their own clocks)", flush=True)


def causes(rounds: int, _seconds: float) -> None:
    from stall_loop import stall_loop, was_disturbed
    from test_stalls_causes import WAYS, places

    count = rounds
    print(f"\ncauses: {count} of each; disturbed: the thread wanted a processor, or isoscope was late, for a quarter "
          "of it")
    with stall_loop() as loop:
        for way in [*WAYS, None]:
            said: Counter[str] = Counter()
            named = disturbed = 0
            for _ in range(count):
                stall = loop.stalled(way.word if way else "starve:60")[1]
                disturbed += was_disturbed(stall)
                said[stall["cause"]] += 1
                named += not way or bool(places(stall) & way.functions)
            print(f"    {way.word if way else 'starve:60':<12} {way.cause if way else 'starved or host':<16} "
                  f"{dict(said)}, culprit right {named}, disturbed {disturbed}", flush=True)


def equal(_rounds: int, _seconds: float) -> None:
    from stall_loop import stall_loop

    print("\nequal stalls: 1,000 of 30 ms at a limit of 20")
    with stall_loop("--stall-limit", "20") as loop:
        loop.send("1000*render:30")
        for _ in range(1000):
            loop.done()
        loop.settle(100)
        stalls = [s for s in loop.stalls() if s.get("culprit", {}).get("function") == "render"]
        told = [stall["equals"] for stall in stalls if stall["told"]]
        print(f"    {len(stalls)} are listed, the last is equal number {max(s['equals'] for s in stalls)}; "
              f"events told of number {told}", flush=True)


class Heard:
    """When the first event of each stall came, on the clock of stalls."""

    def __init__(self, uri: str) -> None:
        from harness import Client

        self.at_us: dict[int, float] = {}
        self.client = Client(uri)
        self.client.listen("Extension")
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self) -> None:
        from isoscope import IsoscopeError

        try:
            for event in self.client.events("Extension", timeout_s=600):
                now = time.monotonic() * 1e6
                if event.event.get("extensionKind") == "Isoscope.Stall.Begin":
                    self.at_us.setdefault(event.event["extensionData"]["number"], now)
        except (IsoscopeError, OSError):
            pass

    def latency_ms(self, stall: dict[str, Any]) -> Optional[float]:
        """From the limit to the event."""
        at = self.at_us.get(stall["number"])
        return None if at is None else (at - middle(stall["startMicros"]) - stall["limitMicros"]) / 1e3


def programs(_rounds: int, _seconds: float) -> None:
    from stall_servers import SERVERS
    from stall_toolkits import TOOLKITS

    print("\nreal programs: what is said of their stalls; how long after the limit the first event came")
    for kind in [*SERVERS, *TOOLKITS]:
        if reason := kind.missing():
            print(f"    {kind.name}: left out: {reason}")
            continue
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            os.chmod(folder, 0o777)
            with kind(Path(folder)).running() as program:
                program.learned()
                heard = Heard(program.service.uri)
                for case in program.cases():
                    program_row(program, case, heard)


def program_row(program: Any, case: Any, heard: Heard) -> None:
    try:
        stall = program.late(case)
    except AssertionError as missed:
        print(f"    MISSED  {missed}", flush=True)
        return
    at, by, caller = heard.latency_ms(stall), stall["culprit"], stall.get("caller", {})
    print(f"    {program.name:<17} {case.name:<15} {middle(stall['durationMicros']) / 1e3:6.0f} ms  "
          f"{stall['cause']:<8} {by['function']} ({by['library']}), by {caller.get('function', '?')}; event "
          + ("not told" if at is None else f"after {at:.1f} ms"), flush=True)


OTHERS = ["busy:30", "busy:60", "busy:240", "busy:260", "busy:1900", "busy:2100", "busy:6000",
          "decode:20,render:150,compress:30,store:110", "decode:200,render:1500,compress:300,store:1100",
          "render:1000,two_places:1600", "sleep:2500", "lock:2500", "child:2500"]


def others(_rounds: int, _seconds: float) -> None:
    from stall_loop import stall_loop
    from stall_rules import RULES

    print(f"\nothers' rules on the same dispatches; isoscope's limit is {LIMIT_MS} ms")
    rows = [["dispatch", "truth", "isoscope", *(rule.name for rule in RULES)]]
    with stall_loop() as loop:
        for word in OTHERS:
            step = loop.do(word)
            loop.settle(LIMIT_MS)
            stall = loop.find(step)
            said = "-"
            if stall:
                by = stall.get("caller") if stall["cause"] not in ("busy", "starved", "host") else stall["culprit"]
                said = (f"{stall['level']}, {stall['cause']}: {by['function']}, "
                        f"{middle(stall['durationMicros']) / 1e3:.0f} ms")
            longest = max(step.parts, key=lambda part: part.ns)
            rows.append([word, f"{step.min_us / 1e3:.0f} ms, {longest.name}", said,
                         *(rule.verdict(step, LIMIT_MS) for rule in RULES)])
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("    " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def servers(rounds: int, seconds: float) -> None:
    from stall_costs import servers as cost

    cost(rounds, seconds)


def loops(_rounds: int, seconds: float) -> None:
    from stall_costs import many

    many(5 * seconds)


SECTIONS: list[Callable[[int, float], None]] = [times, culprit, causes, equal, programs, others, servers, loops]


def main() -> int:
    names = {section.__name__: section for section in SECTIONS}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="SECTION", help="or the build folder")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=4.0, help="of load, in each run")
    given = parser.parse_args()
    chosen = [word for word in given.words if word in names] or list(names)
    folders = [word for word in given.words if word not in names] or [str(ROOT / "build")]
    os.environ["ISOSCOPE_BUILD"] = str(Path(folders[0]).resolve())
    sys.path[:0] = [str(ROOT / "tests" / "live"), str(ROOT / "tests" / "torture"), str(ROOT / "clients/python/src")]
    print(machine())
    for name in chosen:
        try:
            names[name](given.rounds, given.seconds)
        except AssertionError as wrong:
            print(f"    {name} STOPPED: {wrong}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
