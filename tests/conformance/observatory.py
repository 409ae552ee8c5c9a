#!/usr/bin/env python3
"""Observatory, the Dart VM's own page, unmodified, in a headless Chromium, on a real program.

    tests/conformance/observatory.py DART_FOLDER PICTURES      DART_FOLDER has dart, sass.snapshot

The page comes from the VM in DART_FOLDER (which runs nothing: it is paused at its start), and what
it shows from `isoscope run` of Python parsing its own library, and from a session recorded of that.
Each CHECK is named by what holds.
PICTURES gets a screenshot of each page, and console.txt.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Callable, Iterator

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "live")]

import harness  # noqa: E402
from browser import DEADLINE_S, Browser  # noqa: E402
from devtools import DevTools  # noqa: E402
from front_door import FrontDoor  # noqa: E402
from harness import ROOT, Service, record, service_of, serving  # noqa: E402

until = partial(harness.until, deadline_s=DEADLINE_S)

PROGRAM = ["/usr/bin/python3", str(ROOT / "examples" / "stdlib_parse.py"), "1000"]
HEADER = re.compile(r"Profile contains\s+(\d+) samples")
ASKED, ANSWERED = re.compile(r" GET \[(\d+)\] "), re.compile(r" RESPONSE \[(\d+)\] ")
SAMPLING = re.compile(r"Sampling\s+(\d+) stack frames @ (\d+)Hz")


@contextmanager
def page_server(folder: Path) -> Iterator[int]:
    """The port at which the VM serves Observatory."""
    words = ["--disable-dart-dev", "--no-dds", "--enable-vm-service=0", "--serve-observatory",
             "--disable-service-auth-codes", "--pause-isolates-on-start", "sass.snapshot"]
    process = subprocess.Popen([str(folder / "dart"), *words, "--version"], cwd=folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        for line in process.stdout:
            if found := re.search(r"listening on http://127\.0\.0\.1:(\d+)", line):
                yield int(found.group(1))
                return
        raise RuntimeError("the VM did not say where it listens")
    finally:
        process.kill()
        process.wait()


class Visit:
    """One look at one page after another."""

    def __init__(self, browser: Browser, door: FrontDoor, vm_door: FrontDoor, service: Service,
                 pictures: Path) -> None:
        self.browser = browser
        self.door = door
        self.vm_door = vm_door  # the same page, of the VM that it came from
        self.service = service
        self.pictures = pictures
        self.client = DevTools(service.uri)
        vm = until(lambda: (v := self.client.ask("getVM"))["isolates"] and v, "the isolate")
        self.isolate = vm["isolates"][0]
        self.pid = vm["pid"]

    def go(self, page: str, shows: str) -> str:
        """Its text, once that shows."""
        about = f"?isolateId={self.isolate['id'].replace('/', '%2F')}"
        self.browser.open(f"{self.door.uri}#/{page.replace('?', about)}")
        return self.wait(shows)

    def go_afresh(self, page: str, shows: str) -> str:
        """As after a reload: nothing is remembered."""
        self.browser.open("about:blank")
        self.browser.until("document.URL === 'about:blank'", "a blank page")
        return self.go(page, shows)

    def wait(self, shows: str) -> str:
        self.browser.until(f"/{shows}/.test(document.body.innerText)", f"a page with {shows}")
        return self.browser.text()

    def picture(self, name: str) -> None:
        self.browser.screenshot(self.pictures / f"{name}.png")

    def choose(self, label: str, shows: str) -> str:
        """An option of one of the page's selects."""
        done = self.browser.until(f"""(() => {{
            for (const select of document.querySelectorAll('select'))
                for (const option of select.options)
                    if (option.text === {json.dumps(label)}) {{
                        select.value = option.value;
                        select.dispatchEvent(new Event('change', {{bubbles: true}}));
                        return true;
                    }}
            return false; }})()""", f"the choice {label}")
        assert done
        return self.wait(shows)

    def press(self, label: str) -> None:
        self.browser.until(f"""(() => {{
            for (const one of document.querySelectorAll('button, a'))
                if (one.innerText.trim() === {json.dumps(label)}) {{ one.click(); return true; }}
            return false; }})()""", f"the button {label}")

    def settle(self) -> None:
        """All that the page has asked for is answered, and it has no more to say."""
        until(lambda: not self._unanswered(), "answers")
        stable(lambda: (self.browser.value("true"), len(self.browser.console)), "the page talks on")
        until(lambda: not self._unanswered(), "answers")

    def _unanswered(self) -> set[str]:
        self.browser.value("true")  # its console comes with the answer
        console = "\n".join(self.browser.console)
        return set(ASKED.findall(console)) - set(ANSWERED.findall(console))

    def refresh(self) -> int:
        """The samples shown when the answer has come: a button pressed faster asks again and again."""
        self.press("Refresh")
        self.settle()
        return self.samples_shown()

    def samples_shown(self) -> int:
        found = HEADER.search(self.browser.text())
        return int(found.group(1)) if found else -1


Check = Callable[[Visit], None]
CHECKS: dict[str, list[Check]] = {"live": [], "saved": []}  # by what they are of


def check(function: Check) -> Check:
    return live_check(saved_check(function))


def live_check(function: Check) -> Check:
    CHECKS["live"].append(function)
    return function


def saved_check(function: Check) -> Check:
    CHECKS["saved"].append(function)
    return function


@check
def the_vm_page_shows_the_program(visit: Visit) -> None:
    text = visit.go("vm", r":main\(\)")
    visit.picture("vm")
    assert f"pid\t{visit.pid}" in text, "the pid"
    assert "current memory" in text and "peak memory" in text, "its memory"
    assert visit.isolate["name"] in text, "its isolate"


@check
def the_isolate_page_shows_the_isolate(visit: Visit) -> None:
    text = visit.go("inspect?", r"isolate id\s+\d+")
    visit.picture("isolate")
    assert visit.isolate["number"] in text and "root library" in text


@check
def the_flags_page_shows_the_flags(visit: Visit) -> None:
    text = visit.go("flags", "profile_period")
    visit.picture("flags")
    for flag in visit.client.ask("getFlagList")["flags"]:
        assert f"{flag['name']}={flag['valueAsString']}" in text, flag["name"]


@check
def the_process_memory_page_shows_a_tree(visit: Visit) -> None:
    visit.go("process-snapshot", "process snapshot")
    visit.browser.until("document.body.innerText.includes('MB')", "sizes")
    visit.picture("process-memory")


@check
def the_cpu_profile_says_how_many_samples_and_how_they_were_taken(visit: Visit) -> None:
    text = visit.go("profiler?", HEADER.pattern)
    visit.picture("cpu-profile")
    assert visit.samples_shown() > 0
    reply = visit.client.ask("getCpuSamples", {"isolateId": visit.isolate["id"]})
    depth, rate = SAMPLING.search(text).groups()
    assert int(depth) == reply["maxStackDepth"]
    assert int(rate) == round(1_000_000 / reply["samplePeriod"])


@live_check
def the_count_is_the_replys_own(visit: Visit) -> None:
    """While the program stands still nothing changes between the page's reply and ours."""
    isolate = {"isolateId": visit.isolate["id"]}
    os.kill(visit.pid, signal.SIGSTOP)
    try:
        count = stable(lambda: visit.client.ask("getCpuSamples", isolate)["sampleCount"],
                       "samples keep coming")
        visit.go_afresh("profiler?", HEADER.pattern)
        visit.browser.until(f"document.body.innerText.includes('{count} samples')", f"{count}")
        visit.go_afresh("profiler-table?", HEADER.pattern)
        visit.browser.until(f"document.body.innerText.includes('{count} samples')", f"{count}")
        visit.picture("cpu-table")
        the_table_shows_the_replys_ticks(visit)
    finally:
        os.kill(visit.pid, signal.SIGCONT)


@saved_check
def the_saved_count_is_the_replys_own(visit: Visit) -> None:
    isolate = {"isolateId": visit.isolate["id"]}
    count = visit.client.ask("getCpuSamples", isolate)["sampleCount"]
    visit.go_afresh("profiler-table?", HEADER.pattern)
    visit.browser.until(f"document.body.innerText.includes('{count} samples')", f"{count}")
    visit.picture("cpu-table")
    the_table_shows_the_replys_ticks(visit)


@saved_check
def a_saved_session_is_not_cleared(visit: Visit) -> None:
    visit.go("profiler?", HEADER.pattern)
    before = visit.samples_shown()
    visit.door.said.clear()
    console = len(visit.browser.console)
    visit.press("Clear")
    until(lambda: "clearCpuSamples" in [method for method, _ in visit.door.said],
          "clearCpuSamples")
    visit.settle()
    del visit.browser.console[console:]  # it shows an error as an exception of its own
    visit.go_afresh("profiler?", HEADER.pattern)
    assert visit.samples_shown() == before > 0


def stable(value: Callable[[], Any], else_says: str) -> Any:
    """What it is once it is the same twenty times, a tenth of a second apart."""
    deadline, last, same = time.monotonic() + DEADLINE_S, value(), 0
    while same < 20:
        assert time.monotonic() < deadline, else_says
        time.sleep(0.1)
        new = value()
        same, last = (same + 1, last) if new == last else (0, new)
    return last


def the_table_shows_the_replys_ticks(visit: Visit) -> None:
    """Execution % is exclusiveTicks / sampleCount, Stack % inclusiveTicks / sampleCount."""
    reply = visit.client.ask("getCpuSamples", {"isolateId": visit.isolate["id"]})
    hottest = max((f for f in reply["functions"] if f["function"].get("_kind") != "Tag"),
                  key=lambda function: function["exclusiveTicks"])
    shares = [f"{100 * hottest[name] / reply['sampleCount']:.2f}%"
              for name in ("exclusiveTicks", "inclusiveTicks")]
    text, name = visit.browser.text(), hottest["function"]["name"]
    place = text.find(name)
    assert place >= 0, f"no row of {name}"
    for share in shares:
        assert share in text[max(0, place - 200) : place + 200], f"{name} {share}"


@check
def the_tree_stands_on_either_end(visit: Visit) -> None:
    visit.go("profiler?", HEADER.pattern)
    visit.choose("Function", HEADER.pattern)
    visit.choose("Top down", HEADER.pattern)
    rows = tree_rows(visit)
    visit.picture("cpu-top-down")
    assert rows and any("start" in row or "main" in row or "clone" in row for row in rows), rows[:5]
    visit.choose("None", HEADER.pattern)
    visit.choose("Bottom up", HEADER.pattern)
    rows = tree_rows(visit)
    visit.picture("cpu-bottom-up")
    assert 90 <= sum(float(row.split("%")[0]) for row in rows if row[:1].isdigit()), rows[:5]


@check
def the_code_view_stands_on_either_end(visit: Visit) -> None:
    visit.go_afresh("profiler?", HEADER.pattern)
    visit.choose("Code", HEADER.pattern)
    for end in ("Top down", "Bottom up"):
        visit.choose(end, HEADER.pattern)
        rows = tree_rows(visit)
        visit.picture(f"cpu-code-{end.split()[0].lower()}")
        assert "Unexpected exception" not in visit.browser.text()
        assert any("main" in row or "start" in row for row in rows), rows[:5]


def tree_rows(visit: Visit) -> list[str]:
    """The lines of the tree on the page: shares and names."""
    visit.browser.until(r"/\d+\.\d+%/.test(document.body.innerText)", "shares in the tree")
    lines = visit.browser.text().splitlines()
    return [re.sub(r"^\W+", "", line) for line in lines if re.search(r"\d+(\.\d+)?%", line)] + [
        line for line in lines if "main" in line or "start" in line]


@live_check
def clear_forgets_and_new_samples_come(visit: Visit) -> None:
    visit.go("profiler?", HEADER.pattern)
    before = visit.samples_shown()
    visit.door.said.clear()
    visit.press("Clear")
    until(lambda: "clearCpuSamples" in [method for method, _ in visit.door.said],
          "clearCpuSamples")
    until(lambda: 0 <= visit.samples_shown() < before, "fewer samples")
    visit.picture("cleared")
    visit.press("Refresh")
    until(lambda: visit.samples_shown() > 0, "new samples")


@live_check
def a_profiler_that_is_off_is_enabled_by_its_button(visit: Visit) -> None:
    # Observatory calls the VM's own VMFlagUpdate unrecognized: it is not there when we send it.
    visit.browser.open("about:blank")
    visit.browser.until("document.URL === 'about:blank'", "a blank page")
    visit.client.ask("setFlag", {"name": "profiler", "value": "false"})
    visit.client.ask("clearCpuSamples", {"isolateId": visit.isolate["id"]})
    visit.go_afresh("profiler?", "Profiling is disabled")
    visit.picture("profiler-off")
    visit.door.said.clear()
    console = len(visit.browser.console)
    visit.press("Enable profiler")
    until(lambda: ("_enableProfiler", {"_includePrivateMembers": True}) in visit.door.said,
          "_enableProfiler")
    del visit.browser.console[console:]  # against a real VM it throws here, too
    until(lambda: visit.client.ask("getCpuSamples", {"isolateId": visit.isolate["id"]},
                                   error="caught"), "the profiler")
    visit.go_afresh("profiler?", HEADER.pattern)
    del visit.browser.console[console:]
    until(lambda: visit.refresh() > 0, "samples")
    visit.picture("profiler-on-again")


@check
def the_class_tree_shows_the_classes(visit: Visit) -> None:
    visit.go("class-tree?", r"class hierarchy")
    visit.wait("Object")
    visit.picture("class-tree")


@check
def the_debugger_page_shows_the_isolate(visit: Visit) -> None:
    visit.go("debugger?", "Debugging isolate")
    visit.settle()
    visit.picture("debugger")
    asked = {params["objectId"] for method, params in visit.door.said if method == "getObject"}
    assert any("/scripts/" in one for one in asked), "scripts"


# The timeline page imports its viewer, "tr", by a script, and throws when it is to show something
# before that is done.
VIEWER = "trace_viewer_full.html"


@check
def the_timeline_page_mirrors_the_flags(visit: Visit) -> None:
    visit.door.said.clear()
    with visit.door.holding("getVM"):  # who is there to be shown
        with visit.door.holding(VIEWER):
            visit.go("timeline", "Recorded Streams")
            visit.browser.until_said("log: method: loading")
        visit.browser.until("frames[0].HTMLImports.ready && !!frames[0].tr.importer", "the viewer")
    flags = visit.client.ask("getVMTimelineFlags")
    text = visit.wait(flags["availableStreams"][0])
    visit.browser.until_said("log: Got all timeline parts")
    visit.browser.until("!!frames[0].viewer.model", "the timeline")
    visit.picture("timeline")
    for stream in flags["availableStreams"]:
        assert stream in text, f"the stream {stream}"


@check
def a_timeline_that_comes_before_its_viewer_throws_beside_the_vm_too(visit: Visit) -> None:
    for door in (visit.vm_door, visit.door):
        visit.browser.open("about:blank")
        visit.browser.until("document.URL === 'about:blank'", "a blank page")
        with door.holding(VIEWER):
            visit.browser.open(f"{door.uri}#/timeline")
            visit.browser.until_said("exception: ReferenceError: tr is not defined")
        visit.browser.console.clear()


def visit_all(folder: Path, pictures: Path) -> int:
    failed, console = 0, []
    chromium = shutil.which("chromium") or sys.exit("observatory.py needs Debian's chromium")
    for subject, started in (("live", service_of(PROGRAM)), ("saved", saved_session())):
        with page_server(folder) as port, started as service, \
                FrontDoor(port, service.uri) as door, \
                FrontDoor(port, f"http://127.0.0.1:{port}/") as vm_door, Browser(chromium) as browser:
            there = pictures if subject == "live" else pictures / subject
            there.mkdir(exist_ok=True)
            visit = Visit(browser, door, vm_door, service, there)
            for one in CHECKS[subject]:
                failed += not holds(visit, one, subject)
                console += [f"-- {subject}: {one.__name__}", *browser.console]
                browser.console.clear()
    (pictures / "console.txt").write_text("\n".join(console) + "\n")
    return failed


def holds(visit: Visit, one: Check, subject: str) -> bool:
    name = f"{subject}: {one.__name__.replace('_', ' ')}"
    try:
        one(visit)
        visit.settle()
        loud = [line for line in visit.browser.console
                if re.search(r"\b(WARNING|SEVERE):|^exception|^error", line)]
        assert not loud, f"the console says {loud[:3]}"
        print(f"ok      {name}", flush=True)
        return True
    except (AssertionError, TimeoutError) as error:
        print(f"FAILED  {name}\n        {str(error)[:1500]}", flush=True)
        visit.picture(f"failed-{one.__name__}")
        return False


@contextmanager
def saved_session() -> Iterator[Service]:
    """The same program, recorded and then served."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "parse.isoscope"
        record(file, [*PROGRAM[:-1], "3"])
        with serving(file) as service:
            yield service


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pictures = Path(sys.argv[2]).resolve()
    pictures.mkdir(parents=True, exist_ok=True)
    failed = visit_all(Path(sys.argv[1]).resolve(), pictures)
    count = sum(map(len, CHECKS.values()))
    print(f"{count - failed} of {count} hold; pictures in {pictures}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
