"""The browser page, beside speedscope and d3-flame-graph, on the same profile in headless Chromium.

    web.py [BUILD_FOLDER] [--samples N] [--nodes N] [--rounds N]
    web.py [BUILD_FOLDER] --live MINUTES
    web.py [BUILD_FOLDER] --events N [--rounds N]

A made profile of 1,000,000 samples in a call tree of 100,000 nodes is opened by each as it can: speedscope and
the page as speedscope's JSON, d3-flame-graph as a tree whose sums are made already. A figure is the median
over the rounds, each in a browser of its own:

    load      from the file's being given until its flame graph is drawn
    blocked   the longest task on the main thread meanwhile
    memory    private and shared memory of the page's process (PSS) after that, garbage collected
    zoom      from an event of the wheel (d3: a click) until the frame that shows it is drawn
    search    the same for a text that is searched for

Where speedscope does not live through that, the two are compared at a fifth of it. And of the live page:
the first paint after the HTML is there. Packages of the two come from npm into the build folder. --live
instead watches the live page of eight threads at 1 kHz whose paths are ever new: when its buffer is full, its
memory must not grow. --events instead looks at a timeline of so many events in the chart, in turn with a hundredth of
them: what a turn of the wheel costs goes by what is seen, so both must cost about the same. Ends with status 1 when a bound is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent / "web"
PACKAGES = ["speedscope@1.25.0", "d3-flame-graph@5.0.0", "d3-selection@3.0.0"]
COLUMNS = {"load": "s", "blocked": "ms", "memory": "MB", "zoom": "ms", "search": "ms"}
PART_MAX = 1 / 3  # of speedscope's load and memory
PART = 5  # of the profile, where speedscope does not live through the whole
REDRAW_MS_MAX = 30
BLOCKED_MS_MAX = 100
FIRST_PAINT_MS_MAX = 300
FULL_AFTER_MINUTES = 12  # of 4 million samples, 8 * 1000 a second, and some
GROWTH_MAX = 1.05
EVENTS_PART = 100
ZOOM_RATIO_MAX = 3  # of all events to a hundredth of them


class Missed:
    def __init__(self) -> None:
        self.any = False

    def check(self, what: str, value: str, bound: str, holds: bool) -> None:
        print(f"    {what:<44} {value:>12}  {bound:<10} {'' if holds else 'MISSED'}", flush=True)
        self.any |= not holds


def packages(folder: Path) -> None:
    if (folder / "node_modules" / "speedscope").is_dir():
        return
    (folder / "package.json").write_text('{"private": true}\n')
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES],
                   cwd=folder, check=True)  # fmt: skip


def node(script: str, arguments: argparse.Namespace, *words: str) -> dict[str, float]:
    environment = {**os.environ, "ISOSCOPE_BUILD": str(arguments.build.resolve())}
    command = ["node", str(HERE / script), *words]
    out = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, timeout=900)
    return json.loads(out.stdout) if out.stdout else {}


def measured(subject: str, arguments: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Nothing, where one of the rounds failed: then that is said."""
    rounds = [node("measure.mjs", arguments, subject, str(folder)) for _ in range(arguments.rounds)]
    for one in rounds:
        if "failed" in one:
            print(f"    {subject:<18}{one['failed']}", flush=True)
            return {}
    return {name: median(one[name] for one in rounds) for name in rounds[0]}


def show(name: str, found: dict[str, float]) -> None:
    cells = [f"{found[key]:>9.1f} {unit:<2}" for key, unit in COLUMNS.items()]
    print(f"    {name:<18}{' '.join(cells)}", flush=True)


def compared(samples: int, nodes: int, arguments: argparse.Namespace,
             folder: Path) -> dict[str, dict[str, float]]:  # fmt: skip
    node("make_profile.mjs", arguments, str(folder), str(samples), str(nodes))
    size = (folder / "profile.speedscope.json").stat().st_size
    print(f"{samples:,} samples in {nodes:,} nodes, {size / 1e6:,.0f} MB of JSON")
    print(f"    {'':<18}{' '.join(f'{name:>12}' for name in COLUMNS)}", flush=True)
    found = {}
    for subject in ("isoscope", "speedscope", "d3-flame-graph"):
        found[subject] = measured(subject, arguments, folder)
        if found[subject]:
            show(subject, found[subject])
    return found


def mean(minutes: list[dict[str, float]], key: str) -> float:
    return sum(minute[key] for minute in minutes) / len(minutes)


def live(arguments: argparse.Namespace) -> int:
    """Each minute a row; of those with a full buffer the last third is held against the first."""
    environment = {**os.environ, "ISOSCOPE_BUILD": str(arguments.build.resolve())}
    command = ["node", str(HERE / "live.mjs"), str(arguments.live)]
    rows: list[dict[str, float]] = []
    print(f"    {'minute':>8}{'samples':>12}{'page MB':>10}{'service MB':>12}{'page CPU':>10}{'service CPU':>13}")
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            row = json.loads(line)
            rows.append(row)
            print(f"    {row['minute']:>8}{row['samples']:>12,}{row['memory'] / 1e6:>10.0f}"
                  f"{row['serviceMemory'] / 1e6:>12.0f}{row['cpu']:>10.1%}{row['serviceCpu']:>13.1%}",
                  flush=True)  # fmt: skip
    full = rows[FULL_AFTER_MINUTES:]
    if process.returncode != 0 or len(rows) < arguments.live:
        print(f"    the page ended after {len(rows)} minutes")
        return 1
    if len(full) < 3:
        print(f"    too short to see growth: the buffer is full after {FULL_AFTER_MINUTES} minutes")
        return 1
    third = len(full) // 3
    missed = Missed()
    for key, what in (("memory", "page"), ("serviceMemory", "service")):
        growth = mean(full[-third:], key) / mean(full[:third], key)
        missed.check(f"{what}: memory at the end, of when full", f"{growth:.3f}",
                     f"<= {GROWTH_MAX}", growth <= GROWTH_MAX)  # fmt: skip
    return int(missed.any)


def events(arguments: argparse.Namespace) -> int:
    """Few, few again (what is noise), and all, in turn."""
    few = max(1, arguments.events // EVENTS_PART)
    rounds: dict[str, list[dict]] = {"few": [], "again": [], "all": []}
    print(f"    {'events':>12}{'load s':>9}{'page MB':>9}{'draw ms':>9}{'worst':>8}{'zoom ms':>9}{'worst':>8}")
    for _ in range(arguments.rounds):
        for name, count in (("few", few), ("again", few), ("all", arguments.events)):
            one = node("events.mjs", arguments, str(count))
            rounds[name].append(one)
            print(f"    {count:>12,}{one['load']:>9.1f}{one['memory']:>9.0f}{one['draw']['median']:>9.0f}"
                  f"{one['draw']['worst']:>8.0f}{one['zoom']['median']:>9.0f}{one['zoom']['worst']:>8.0f}",
                  flush=True)  # fmt: skip
    zoom = {name: median(one["zoom"]["median"] for one in found) for name, found in rounds.items()}
    missed = Missed()
    print(f"    zoom: few/few {zoom['again'] / zoom['few']:.2f}")
    ratio = zoom["all"] / zoom["few"]
    missed.check("zoom: all/few", f"{ratio:.2f}", f"<= {ZOOM_RATIO_MAX}", ratio <= ZOOM_RATIO_MAX)
    return int(missed.any)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--live", type=int, metavar="MINUTES")
    parser.add_argument("--events", type=int, metavar="N")
    arguments = parser.parse_args()
    if arguments.events:
        return events(arguments)
    if arguments.live:
        return live(arguments)
    folder = arguments.build / "tests/bench/web"
    folder.mkdir(parents=True, exist_ok=True)
    packages(folder)
    whole = found = compared(arguments.samples, arguments.nodes, arguments, folder)
    if not found["speedscope"]:  # it is compared at what it lives through
        found = compared(arguments.samples // PART, arguments.nodes // PART, arguments, folder)
    ours, theirs = found["isoscope"], found["speedscope"]
    missed = Missed()
    if not whole["isoscope"] or not ours or not theirs:
        print("    there is nothing to compare: see above")
        return 1
    for key in ("load", "memory"):
        part = ours[key] / theirs[key]
        missed.check(f"{key}: of speedscope's", f"1/{1 / part:.1f}", "<= 1/3", part <= PART_MAX)
    ours = whole["isoscope"]
    for key in ("zoom", "search"):
        missed.check(key, f"{ours[key]:.0f} ms", f"<= {REDRAW_MS_MAX} ms", ours[key] <= REDRAW_MS_MAX)
    missed.check("main thread blocked", f"{ours['blocked']:.0f} ms", f"<= {BLOCKED_MS_MAX} ms",
                 ours["blocked"] <= BLOCKED_MS_MAX)  # fmt: skip
    paint = measured("live", arguments, folder)["paint"]
    missed.check("live page: first paint after the HTML", f"{paint:.0f} ms",
                 f"<= {FIRST_PAINT_MS_MAX} ms", paint <= FIRST_PAINT_MS_MAX)  # fmt: skip
    return int(missed.any)


if __name__ == "__main__":
    sys.exit(main())
