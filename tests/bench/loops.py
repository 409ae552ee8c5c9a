"""What marks of loops cost the program.

    loops.py [BUILD_FOLDER] [--seconds S] [--rounds N]

ns of a registered loop's begin and end, of a wrapped epoll_wait in a thread whose loop is learned, and of poll for one
descriptor, which teaches nothing: what each takes more than the same without (libc's own call, an empty round), beside
two reads of CLOCK_MONOTONIC, which monitors need that time dispatches themselves. All in one process under
`isoscope run`, slices in turn, medians; `again` is the noise. Aims: 20 ns the pair, 35 ns a wait.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
# What is asked of whom, less what, and the aim.
FIGURES = (
    ("begin and end", "pairs", "pair", "nothing", 20),
    ("  two reads of the clock", "pairs", "clocks", "nothing", None),
    ("  again", "pairs", "nothing_again", "nothing", None),
    ("epoll_wait of a loop", "waits", "wrapped", "libc", 35),
    ("  two reads of the clock", "waits", "timed", "libc", None),
    ("  again", "waits", "libc_again", "libc", None),
    ("poll for one, no loop", "others", "wrapped", "libc", 35),
    ("  again", "others", "libc_again", "libc", None),
)


def told(build: Path, mode: str, seconds: float) -> dict[str, float]:
    command = [str(build / "bin/isoscope"), "run", "--quiet", "--", str(build / "tests/bench/loop_bench"), mode,
               str(seconds)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    words = parser.parse_args()
    print(f"{words.rounds} rounds of {words.seconds:g} s; load {os.getloadavg()[0]:.1f}")
    rounds = {mode: [told(words.build, mode, words.seconds) for _ in range(words.rounds)]
              for mode in ("pairs", "waits", "others")}
    print(f"{'':28}{'more, ns':>10}{'of':>9}{'aim':>6}")
    for name, mode, way, base, aim in FIGURES:
        more = median(one[way] - one[base] for one in rounds[mode])
        of = median(one[base] for one in rounds[mode])
        print(f"{name:28}{more:10.1f}{of:9.1f}{aim or '':>6}")


if __name__ == "__main__":
    main()
