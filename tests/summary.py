"""What ctest's run came to, in its last lines: how much passed, and all that was left out, with why.

    summary.py TESTS.xml     what ctest --output-junit wrote

A test that leaves something out prints "SKIPPED name: reason", whatever else it does: pytest's suites by
conftest.py, unit tests by skip.h, torture.py and CMake by themselves. A test that says that it left out all
of itself is no pass.
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

SAID = re.compile(r"^SKIPPED (?P<name>.+?): (?P<why>.+)$", re.MULTILINE)
# cmocka's own, of a test that gave no reason.
SILENT = re.compile(r"^\[  SKIPPED \] (?P<name>\w+)$", re.MULTILINE)


class Skip(NamedTuple):
    suite: str
    name: str  # of what was left out; the suite's own when that is all of it
    why: str


def skips_of(suite: str, output: str) -> list[Skip]:
    skips = {match["name"]: match["why"] for match in SAID.finditer(output)}
    for match in SILENT.finditer(output):
        skips.setdefault(match["name"], "it gives no reason")
    return [Skip(suite, name, why) for name, why in skips.items()]


def summary(path: Path) -> list[str]:
    passed, failed, skips = 0, [], []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        suite = case.get("name", "")
        left_out = skips_of(suite, case.findtext("system-out") or "")
        if case.find("failure") is not None or case.get("status") == "fail":
            failed.append(suite)
        elif case.find("skipped") is not None and not left_out:
            left_out = [Skip(suite, suite, str(case.find("skipped").get("message")))]
        elif case.find("skipped") is None:
            passed += 1
        skips += left_out
    lines = [f"{passed} passed, {len(failed)} failed, {len(skips)} skipped{':' if skips else ''}"]
    for skip in skips:
        where = skip.suite if skip.name == skip.suite else f"{skip.suite}: {skip.name}"
        lines.append(f"    {where}: {skip.why}")
    return lines


if __name__ == "__main__":
    print("\n".join(summary(Path(sys.argv[1]))))
