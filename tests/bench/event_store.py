"""Ten million events of the timeline in the service: memory, adding, windows of a second, session files.

    event_store.py BUILD_FOLDER [EVENTS]      ./dev bench event_store [EVENTS]; 10,000,000 unless told

The events are those of four threads that draw frames (event_store_bench.c), once spread over 1,000 seconds, once over 10.
Two stores take the same batches in turn: one against the other is the noise of what adding takes. Windows are 200, at places
all over the time; each is taken and all of its events are read. Times are CPU time of the thread.
Checked: 24 bytes an event at most, without its arguments; 10 bytes in a file.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

MEMORY, FILE = 24.0, 10.0  # bytes an event
WORDS_PER_EVENT = (2 * 8 + 0.6 * 3 * 8) / 8  # of arguments: a counter's in each frame, two in one of ten slices


def measure(build: Path, events: int, seconds: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        command = [str(build / "tests/bench/event_store_bench"), str(events), str(seconds), f"{folder}/events.isoscope"]
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {name: float(value) for name, value in map(str.split, out.splitlines())}


def main() -> int:
    build = Path(sys.argv[1])
    events = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    bad = 0
    for seconds in (1000, 10):
        got = measure(build, events, seconds)
        memory = got["bytes_per_event"] - WORDS_PER_EVENT
        print(f"{got['events']:,.0f} events in {seconds:,} s")
        print(f"  memory          {got['bytes_per_event']:.1f} bytes an event ({memory:.1f} without arguments); "
              f"resident {got['resident_per_event']:.1f}")
        print(f"  adding          {got['add_ns']:.0f} ns an event; base/base {got['base_to_base']:.2f}")
        for name, what in (("millisecond", "1 ms window"), ("second", "1 s window"), ("saved_second", "1 s of a file")):
            print(f"  {what:15} {got[name + '_ms']:.2f} ms, worst {got[name + '_worst_ms']:.2f}, "
                  f"{got[name + '_events']:,.0f} events")
        print(f"  file            {got['file_bytes_per_event']:.2f} bytes an event; written in {got['write_ns']:.0f} ns "
              f"each, opened in {got['open_ms']:.0f} ms")
        bad += memory > MEMORY or got["file_bytes_per_event"] > FILE
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
