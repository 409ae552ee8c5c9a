#!/usr/bin/env python3
"""Our files in other people's programs: each shows the same totals for each function.

    tests/readers/readers.py FOLDER PICTURES     FOLDER has speedscope and profiler-cli of npm, perfetto of PyPI in python/

Each CHECK is named by what holds, and made on a real profile and a made one (subjects.py). PICTURES
gets screenshots. ISOSCOPE_BUILD is the build whose isoscope profiles the program.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable

HERE = Path(__file__).resolve().parent
CLIENT = HERE.parents[1] / "clients" / "python" / "src"
sys.path[:0] = [str(HERE), str(HERE.parent / "conformance"), str(CLIENT)]

import flame  # noqa: E402
import perfetto_schema  # noqa: E402
from browser import Browser  # noqa: E402
from pages import ChromeDevTools, Speedscope, served  # noqa: E402
from profiler_cli import ProfilerCli  # noqa: E402
from subjects import SLICES, expect, real, synthetic, threads_of, with_slices  # noqa: E402

from isoscope import Profile, formats  # noqa: E402


class Visit:
    """What a check works with."""

    def __init__(self, name: str, profile: Profile, browser: Browser, cli: ProfilerCli,
                 speedscope: Speedscope, packages: Path, scratch: Path, pictures: Path) -> None:
        self.name = name
        self.profile = profile
        self.browser = browser
        self.cli = cli
        self.speedscope = speedscope
        self.packages = packages
        self.pictures = pictures
        self._scratch = scratch

    def file(self, form: str, profile: Profile | None = None, **options: str) -> Path:
        path = self._scratch / f"{self.name}{formats.FORMATS[form].suffix}"
        (made,) = formats.save(profile or self.profile, form, path, **options)
        return made


Check = Callable[[Visit], str]
CHECKS: list[Check] = []


def check(function: Check) -> Check:
    CHECKS.append(function)
    return function


def as_shown(us: float) -> float:
    """Half of the last digit: 1.23 s, 1.23 ms, 1.23 us."""
    return 5_010 if us >= 1e6 else 5.01 if us >= 1e3 else 0.01


def in_eighths(us: float) -> float:
    """What rounding each sample of a millisecond to 1/8 ms can add up to."""
    return 125 + 3 * 125 * math.sqrt(us / 1000)


def no_semicolon(name: str) -> str:
    return name.replace(";", ":")


@check
def speedscope_shows_the_cpu_time_of_its_own_form(visit: Visit) -> str:
    said = []
    for thread in threads_of(visit.profile):
        visit.speedscope.load(visit.file("speedscope", thread))
        said.append(expect(thread, "us").check(visit.speedscope.functions(), within=as_shown))
    return "; ".join(said)


@check
def speedscope_shows_the_samples_of_folded_stacks(visit: Visit) -> str:
    visit.speedscope.load(visit.file("folded", weight="samples"))
    return expect(visit.profile).check(visit.speedscope.functions(), rename=no_semicolon)


@check
def speedscope_shows_the_cpu_time_of_folded_stacks(visit: Visit) -> str:
    visit.speedscope.load(visit.file("folded", weight="us"))
    return expect(visit.profile, "us").check(visit.speedscope.functions(), rename=no_semicolon)


@check
def speedscope_shows_the_cpu_time_of_a_cpuprofile(visit: Visit) -> str:
    said = []
    for thread in threads_of(visit.profile):
        visit.speedscope.load(visit.file("cpuprofile", thread))
        table = without(visit.speedscope.functions(), "(idle)", "(root)", "(program)")
        within = (lambda us: as_shown(us) + in_eighths(us)) if visit.name == "real" else as_shown
        said.append(expect(thread, "us").check(table, within=within))
    return "; ".join(said)


@check
def profiler_cli_shows_the_threads_and_cpu_time_of_the_firefox_form(visit: Visit) -> str:
    visit.cli.load(visit.file("firefox"))
    return threads_agree(visit, milliseconds=True)


@check
def profiler_cli_shows_the_tags_as_markers(visit: Visit) -> str:
    if visit.name == "real":
        return "the program has no tags"
    visit.cli.load(visit.file("firefox"))
    markers = visit.cli.markers(visit.cli.threads()[0])
    assert "parse" in markers and "copy" in markers, markers
    return "parse, copy"


@check
def profiler_cli_shows_the_threads_and_samples_of_perfs_text(visit: Visit) -> str:
    visit.cli.load(visit.file("perf"))
    return threads_agree(visit, inlined_apart=True)


@check
def profiler_cli_shows_the_samples_of_folded_stacks(visit: Visit) -> str:
    visit.cli.load(visit.file("folded", weight="samples"))
    (thread,) = visit.cli.threads()
    return expect(visit.profile).check(visit.cli.functions(thread), rename=no_semicolon)


@check
def profiler_cli_shows_the_samples_of_a_cpuprofile(visit: Visit) -> str:
    said = []
    for thread in threads_of(visit.profile):
        path = visit.file("cpuprofile", thread)
        visit.cli.load(path)
        (shown,) = visit.cli.threads()
        table = without(visit.cli.functions(shown), "(idle)", "(root)", "(program)")
        # It leaves out what is shorter than 500 us.
        short = sum(us < 500 for us in json.loads(path.read_text())["timeDeltas"][1:])
        said.append(expect(thread).check(table, within=lambda _, short=short: short))
        said[-1] += f", {short} left out" if short else ""
    return "; ".join(said)


@check
def profiler_cli_shows_slices_as_markers(visit: Visit) -> str:
    if visit.name == "real":
        return "the program tells no slices"
    visit.cli.load(visit.file("firefox", with_slices(visit.profile)))
    return slices_are_markers(visit, visit.cli.threads()[0])


@check
def profiler_cli_shows_the_slices_of_trace_events(visit: Visit) -> str:
    if visit.name == "real":
        return "the program tells no slices"
    visit.cli.load(visit.file("trace", with_slices(visit.profile)))
    return slices_are_markers(visit, visit.cli.threads()[0])


def slices_are_markers(visit: Visit, thread: dict[str, Any]) -> str:
    shown = visit.cli.markers(thread)
    for name, (count, _) in SLICES.items():
        assert re.search(rf"\b{name}\b.*\b{count}\b", shown), shown
    return ", ".join(f"{count} {name}" for name, (count, _) in SLICES.items())


@check
def speedscope_shows_the_time_of_trace_events(visit: Visit) -> str:
    if visit.name == "real":
        return "the program tells no slices"
    visit.speedscope.load(visit.file("trace", with_slices(visit.profile)))
    shown = visit.speedscope.functions()
    for name, (_, total_us) in SLICES.items():
        assert abs(shown[name][1] - total_us) <= as_shown(total_us), (name, shown)
    return ", ".join(f"{name} {total_us:,} us" for name, (_, total_us) in SLICES.items())


@check
def perfettos_own_schema_knows_every_field(visit: Visit) -> str:
    trace = perfetto_schema.read(visit.packages, visit.file("perfetto"))
    foreign = sorted(set(perfetto_schema.unknown(trace)))
    assert not foreign, foreign
    counted = perfetto_schema.samples(trace)
    assert counted == sum(packet.HasField("perf_sample") for packet in trace.packet) > 0
    return f"{len(trace.packet):,} packets, {counted:,} samples"


@check
def perfettos_own_schema_has_the_slices(visit: Visit) -> str:
    if visit.name == "real":
        return "the program tells no slices"
    trace = perfetto_schema.read(visit.packages, visit.file("perfetto", with_slices(visit.profile)))
    read = perfetto_schema.slices(trace)
    assert read == {name: (count, float(us)) for name, (count, us) in SLICES.items()}, read
    return ", ".join(f"{count} {name}, {us:,.0f} us" for name, (count, us) in read.items())


def threads_agree(visit: Visit, *, inlined_apart: bool = False, milliseconds: bool = False) -> str:
    """milliseconds: what is shown are these, of CPU time, not samples."""
    shown = visit.cli.threads()
    ours = threads_of(visit.profile)
    assert len(shown) == len(ours), [thread["name"] for thread in shown]
    said = []
    for thread, profile in zip(shown, ours):
        one = profile.threads[profile.sample_threads[0]]
        pid = str(one.process.pid or one.process.number)
        assert (thread["tid"], thread["pid"]) == (one.tid, pid), thread
        assert thread["name"] == (one.name or one.process.name), thread
        expected = expect(profile, "us" if milliseconds else "samples")
        if inlined_apart:  # a function that is both is two rows, and on one stack
            called = {f.function.name for f in profile.frames if not f.inlined}
            expected.ambiguous |= called & {f.function.name for f in profile.frames if f.inlined}
        table = visit.cli.functions(thread)
        if milliseconds:
            table = {name: (1000 * own, 1000 * total) for name, (own, total) in table.items()}
        said.append(expected.check(table, within=lambda us: 0.6 if milliseconds else 0))  # a microsecond, rounded
    return "; ".join(said)


def without(table: dict[str, tuple[float, float]], *names: str) -> dict[str, tuple[float, float]]:
    return {name: row for name, row in table.items() if name not in names}


@check
def chrome_shows_the_cpu_time_of_a_cpuprofile(visit: Visit) -> str:
    said = []
    for thread in threads_of(visit.profile):
        panel = ChromeDevTools(visit.browser)
        panel.load(visit.file("cpuprofile", thread))
        table = without(panel.functions(), "(idle)", "(root)", "(program)")
        visit.browser.screenshot(visit.pictures / f"chrome-{visit.name}.png")
        # One digit of a millisecond is shown.
        within = (lambda us: 51 + in_eighths(us)) if visit.name == "real" else (lambda us: 51)
        said.append(expect(thread, "us").check(table, within=within))
    return "; ".join(said)


@check
def the_page_to_share_shows_all_samples_by_itself(visit: Visit) -> str:
    picture = visit.pictures / f"page-{visit.name}.png"
    return flame.page(visit.browser, visit.file("html"), visit.profile, picture)


@check
def the_page_to_share_opens_with_a_hundred_thousand_stacks(visit: Visit) -> str:
    if visit.name != "real":
        return "once is enough"
    wide = flame.wide_profile()
    return flame.page(visit.browser, visit.file("html", wide), wide, visit.pictures / "page-wide.png")


@check
def the_flame_picture_opens_with_all_its_boxes(visit: Visit) -> str:
    picture = visit.pictures / f"svg-{visit.name}.png"
    return flame.picture(visit.browser, visit.file("svg"), picture)


def run_all(npm: Path, pictures: Path) -> int:
    chromium = shutil.which("chromium") or sys.exit("readers.py needs Debian's chromium")
    subjects = {"real": real(), "synthetic": synthetic()}
    failed = 0
    with tempfile.TemporaryDirectory() as folder, Browser(chromium) as browser, \
            served(npm / "node_modules" / "speedscope" / "dist" / "release") as address, \
            ProfilerCli(npm, Path(folder) / "home") as cli:
        for one in CHECKS:
            for name, profile in subjects.items():
                visit = Visit(name, profile, browser, cli, Speedscope(browser, address),
                              npm / "python", Path(folder), pictures)
                failed += not holds(one, visit)
    return failed


def holds(one: Check, visit: Visit) -> bool:
    words = f"{one.__name__.replace('_', ' ')} ({visit.name})"
    visit.browser.call("Emulation.clearDeviceMetricsOverride")
    try:
        print(f"ok      {words}: {one(visit)}", flush=True)
        return True
    except (AssertionError, TimeoutError) as error:
        print(f"FAILED  {words}\n        {str(error)[:1500]}", flush=True)
        visit.browser.screenshot(visit.pictures / f"failed-{one.__name__}.png")
        return False


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pictures = Path(sys.argv[2]).resolve()
    pictures.mkdir(parents=True, exist_ok=True)
    failed = run_all(Path(sys.argv[1]).resolve(), pictures)
    print(f"{2 * len(CHECKS) - failed} of {2 * len(CHECKS)} hold; pictures in {pictures}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
