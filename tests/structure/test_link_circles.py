"""No module needs one that needs it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import link_circles


# Each half is linked of what CMake lists in a variable.
@pytest.mark.parametrize("half", ["CAPTURE", "SERVICE"])
def test_no_modules_need_each_other(half):
    listed = os.environ.get(f"ISOSCOPE_{half}_OBJECTS")
    if listed is None:
        pytest.skip("this build has no service")
    objects = [Path(path) for path in listed.split(":") if path.endswith(".c.o")]
    assert objects, f"ISOSCOPE_{half}_OBJECTS names no object files"
    found = link_circles.circles(link_circles.link_graph(objects))
    assert not found, "\n".join(" <-> ".join(shown(path) for path in circle) for circle in found)


def shown(path: str) -> str:
    return path.split(".dir/")[-1].removesuffix(".c.o")


def test_circles_are_found_and_what_leads_to_them_is_not():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"f"}, "f": {"g"},
             "g": {"e", "a"}}
    assert link_circles.circles(graph) == [["e", "f", "g"], ["b", "c"]]


def test_a_static_function_is_nobody_elses(tmp_path):
    sources = {"one": "static int fill(void) { return 1; } int one(void) { return fill(); }",
               "two": "int one(void); int fill(void) { return 2; } int two(void) { return one(); }",
               "three": "int two(void); int three(void) { return two(); }"}
    compiler = shutil.which("cc") or "gcc"
    for name, text in sources.items():
        (tmp_path / f"{name}.c").write_text(text)
        subprocess.run([compiler, "-O0", "-c", f"{name}.c"], cwd=tmp_path, check=True)
    needs = link_circles.link_graph(sorted(tmp_path.glob("*.o")))
    assert {Path(module).stem: {Path(other).stem for other in others}
            for module, others in needs.items()} == {
                "one": set(), "two": {"one"}, "three": {"two"}}
