"""What looks at a process, be it its own or another, knows nothing of the sampler around it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import link_circles

# What a process knows of itself alone, and another one leaves untouched.
OWN_STATE = {
    "system/clock.c.o": {"clock_asks_kernel"},
    "system/maps.c.o": {"reader"},
    "modules/start_objects.c.o": {"count", "dynamics"},
}


def part(name: str) -> list[Path]:
    objects = [Path(path) for path in os.environ.get(f"ISOSCOPE_{name}_PART_OBJECTS", "").split(":")
               if path.endswith(".c.o")]
    assert objects, f"ISOSCOPE_{name}_PART_OBJECTS names no object files"
    return objects


def shown(path: Path | str) -> str:
    return str(path).split(".dir/")[-1]


def preloaded() -> list[Path]:
    """The shared part's objects in the library, which never has a sanitizer's variables."""
    shared = {shown(path) for path in part("SHARED")}
    objects = [path for path in map(Path, os.environ["ISOSCOPE_CAPTURE_OBJECTS"].split(":"))
               if shown(path) in shared]
    assert len(objects) == len(shared)
    return objects


def state_of(path: Path) -> set[str]:
    """The variables of an object file."""
    table = subprocess.run(["objdump", "-t", str(path)], check=True, capture_output=True,
                           text=True).stdout
    found = re.findall(r"^\S+ .{7} (\S+)\s+\S+ +(?:\.hidden +)?(\S+)$", table, re.MULTILINE)
    return {name.split(".")[0] for section, name in found
            if re.match(r"\.t?(bss|data)(?!\.rel\.ro)|\*COM\*", section) and name != section}


def test_the_shared_part_needs_nothing_of_the_sampler():
    graph = link_circles.link_graph([*part("SHARED"), *part("CAPTURE"), *part("FEED")])
    wrong = [f"{shown(one)} -> {shown(other)}" for one in map(str, part("SHARED"))
             for other in graph[one] if other in set(map(str, part("CAPTURE")))]
    assert not wrong


def test_the_shared_part_keeps_nothing_between_two_processes_that_it_looks_at():
    kept = {shown(path): state_of(path) for path in preloaded()}
    assert {name: state for name, state in kept.items() if state} == OWN_STATE


def test_the_service_needs_nothing_of_the_sampler_but_the_shared_part():
    listed = os.environ.get("ISOSCOPE_SERVICE_OBJECTS")
    if listed is None:
        pytest.skip("this build has no service")
    service = [Path(path) for path in listed.split(":") if path.endswith(".c.o")]
    graph = link_circles.link_graph([*service, *part("CAPTURE")])
    capture = set(map(str, part("CAPTURE")))
    assert not [f"{shown(one)} -> {shown(other)}" for one in map(str, service)
                for other in graph[one] & capture]


def test_state_is_found_and_constants_are_not(tmp_path):
    (tmp_path / "one.c").write_text(
        "static const int table[] = {1, 2}; static int kept; __thread int own; int told = 1;\n"
        "const char *const name = \"one\"; int one(int i) { static long calls; return table[i] + own + "
        "kept++ + (int)calls++; }\n")
    subprocess.run([shutil.which("cc") or "gcc", "-O0", "-fPIC", "-c", "one.c"], cwd=tmp_path, check=True)
    assert state_of(tmp_path / "one.o") == {"kept", "told", "calls", "own"}
