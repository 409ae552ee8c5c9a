#!/usr/bin/env python3
"""Programs of others that tell events by ITT and NVTX, unchanged under `isoscope run`: what they did is in the timeline.

    tests/collectors/collectors.py PACKAGES [NAME...]     PACKAGES: a folder of Python packages: nvtx, ittapi, cv2

Each program (programs/by_NAME.py) prints how often it did what, and how long that took by its own clock. A slice lies around
or within that, so the sums agree within 2 % and 20 us for each. ISOSCOPE_BUILD is the build whose isoscope runs them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ISOSCOPE = Path(os.environ.get("ISOSCOPE_BUILD", HERE.parents[1] / "build")) / "bin" / "isoscope"
STREAMS = {"nvtx": "media", "itt": "media", "opencv": "OpenCVTrace"}
# OpenCV asks its collector only when it is told to trace; its own file goes where it is thrown away.
OPENCV = {"OPENCV_TRACE": "1", "OPENCV_TRACE_DEPTH_OPENCV": "1"}
WITHIN, EACH_S = 0.02, 20e-6


def run(name: str, packages: Path, folder: Path) -> tuple[dict, list[dict]]:
    """What the program says of itself, and the events of its Trace Event export."""
    session, trace = folder / f"{name}.isoscope", folder / f"{name}.json"
    environment = {**os.environ, **OPENCV, "OPENCV_TRACE_LOCATION": str(folder / "opencv"), "PYTHONPATH": str(packages)}
    program = HERE / "programs" / f"by_{name}.py"
    said = subprocess.run([ISOSCOPE, "run", "--quiet", "-o", session, "--", "/usr/bin/python3", "-B", program],
                          env=environment, check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout
    subprocess.run([ISOSCOPE, "export", "trace", session, "-o", trace], check=True, timeout=300,
                   stdout=subprocess.DEVNULL)
    return json.loads(said), json.loads(trace.read_text())["traceEvents"]


def plain(name: str) -> str:
    """OpenCV's names are signatures."""
    words = name.split("(")[0].split()
    return words[-1] if words else name


def check(name: str, said: dict, events: list[dict]) -> str:
    own = [event for event in events if event.get("cat") == STREAMS[name]]
    slices = [event for event in own if event["ph"] == "X"]
    counts = Counter(plain(event["name"]) for event in slices)
    instants = Counter(event["name"] for event in own if event["ph"] == "i")
    for what, count in said["counts"].items():
        assert counts[what] == count, f"{what}: {counts[what]} slices of {count} in {dict(counts)}"
    for what, seconds in said["seconds"].items():
        told = sum(event["dur"] for event in slices if plain(event["name"]) == what) / 1e6
        within = WITHIN * seconds + EACH_S * counts[what]
        assert abs(told - seconds) <= within, f"{what}: {told:.6f} s of {seconds:.6f} s"
    for what, count in said["instants"].items():
        assert instants[what] == count, f"{what}: {instants[what]} instants of {count}"
    for what in said["apart"]:
        assert [event["ph"] for event in own if event["name"] == what] == ["b", "e"], what
    return ", ".join(f"{count} {what}" for what, count in said["counts"].items())


def main() -> int:
    packages, names = Path(sys.argv[1]), sys.argv[2:] or list(STREAMS)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name not in STREAMS:
                sys.exit(f"collectors.py: there is no program {name}: {', '.join(STREAMS)}")
            try:
                print(f"ok    {name}: {check(name, *run(name, packages, Path(folder)))}", flush=True)
            except (AssertionError, subprocess.SubprocessError) as wrong:
                failed += 1
                print(f"FAIL  {name}: {wrong}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
