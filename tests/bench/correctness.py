"""Are the stacks true, are they whole, are the shares what they are known to be?

    correctness.py [BUILD_FOLDER] [--seconds N]

The stacks of real programs at 1 kHz beside libunwind's, on the same samples, frame by frame; then
the figures of tests/live/accuracy.py. Each row has its bound; a missed one makes the status 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from peers import Place, place_of, same_sample
from real_programs import (Program, WITHOUT_UNWIND_DATA, jit_programs, made_programs,
                           programs)

ROOT = Path(__file__).resolve().parents[2]
STACKS_MIN = 0.999
JIT_STACKS_MIN = 0.95  # until its tables are there, a runtime's code without unwind data ends stacks


def share(name: str, part: int, whole: int, least: float = STACKS_MIN):
    from accuracy import Row  # it takes ISOSCOPE_BUILD from the environment, which main has set
    return Row(name, f"{part} of {whole}, {part / whole:.2%}", f"at least {least:.1%}",
               part >= least * whole)


def stacks(place: Place, program: Program):
    """libunwind's own share of whole stacks is there to read, and has no bound."""
    both = same_sample(place, program.command)
    samples = both["samples"]
    yield share(f"{program.name}: identical to libunwind's", both["identical"], samples)
    yield share(f"{program.name}: reach the root", both["tables_root"], samples)
    print(f"    libunwind: {both['libunwind_root'] / samples:.2%} reach the root; "
          f"{both['frames'] / samples:.1f} frames deep")
    for different in both["differences"]:
        print("    differs:", different)


def live(program: Program, least: float = STACKS_MIN):
    """Under isoscope itself, with its own way of hearing of new modules."""
    from harness import Client, profiled
    with profiled(program.command) as service, Client(service.uri) as client:
        (process,) = client.processes()
        counters = client.call("getIsolate", isolateId=process.id)["_process"]["counters"]
    yield share(f"{program.name}: reach the root under isoscope", counters["end_root"],
                counters["delivered"], least)


def show(row) -> bool:
    print(f"{row.name:<46} {row.figure:<34} {row.bound:<20}{'' if row.good else 'MISSED'}".rstrip(),
          flush=True)
    return row.good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default=str(ROOT / "build"))
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU time of a known figure")
    given = parser.parse_args()
    os.environ["ISOSCOPE_BUILD"] = str(Path(given.build).resolve())
    sys.path.insert(0, str(ROOT / "tests/live"))
    import accuracy
    good = True
    with tempfile.TemporaryDirectory() as name:
        place = place_of(Path(given.build).resolve(), Path(name))
        for program in programs(place.folder):
            for row in (*stacks(place, program), *live(program)):
                good &= show(row)
        for program in made_programs(place.folder):
            for row in live(program, 0 if program.name in WITHOUT_UNWIND_DATA else STACKS_MIN):
                good &= show(row)
        for program in jit_programs():
            for row in live(program, JIT_STACKS_MIN):
                good &= show(row)
    for row in accuracy.rows(given.seconds):
        good &= show(row)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
