"""What `./dev test` says at its end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

JUNIT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="x">
  <testcase name="ring_test" status="run"><system-out>[       OK ] full</system-out></testcase>
  <testcase name="lines_test" status="run"><system-out>SKIPPED what_dwz_shares: there is no dwz
[  SKIPPED ] what_dwz_shares
[  SKIPPED ] another
</system-out></testcase>
  <testcase name="live_run" status="fail"><failure message=""/><system-out>
SKIPPED test_a_setuid_program[1]: needs root: see there
</system-out></testcase>
  <testcase name="web_unit" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
    <system-out>SKIPPED web_unit: there is no node</system-out></testcase>
  <testcase name="web_types" status="notrun"><skipped message="Fixture dependency failed"/></testcase>
</testsuite>
"""


def said(tmp_path: Path, junit: str) -> list[str]:
    file = tmp_path / "tests.xml"
    file.write_text(junit)
    command = [sys.executable, "-B", str(TESTS / "summary.py"), str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_all_that_was_left_out_is_named_with_its_reason(tmp_path):
    assert said(tmp_path, JUNIT) == [
        "2 passed, 1 failed, 5 skipped:",
        "    lines_test: what_dwz_shares: there is no dwz",
        "    lines_test: another: it gives no reason",
        "    live_run: test_a_setuid_program[1]: needs root: see there",
        "    web_unit: there is no node",
        "    web_types: Fixture dependency failed",
    ]


def test_where_nothing_was_left_out_one_line_is_enough(tmp_path):
    whole = '<testsuite><testcase name="ring_test" status="run"/></testsuite>'
    assert said(tmp_path, whole) == ["1 passed, 0 failed, 0 skipped"]


def test_a_suite_of_pytest_says_what_it_leaves_out(tmp_path):
    """As ctest starts it, with what stands in tests/ for all of them."""
    suite = tmp_path / "test_some.py"
    suite.write_text(
        "import pytest\n"
        "def test_here(): pass\n"
        "@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_not_here(n): pytest.skip('there is no\\nsecond machine')\n"
        "@pytest.mark.skipif(True, reason='needs root')\n"
        "def test_marked(): pass\n"
    )
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(suite)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line for line in lines if line.startswith("SKIPPED")] == [
        "SKIPPED test_not_here[1]: there is no second machine",
        "SKIPPED test_not_here[2]: there is no second machine",
        "SKIPPED test_marked: needs root",
    ]


def test_every_suite_finds_what_stands_in_tests(tmp_path):
    """Their root is tests/, from wherever they are started."""
    command = [sys.executable, "-B", "-m", "pytest", "--collect-only", "-p", "no:cacheprovider",
               str(Path(__file__).with_name("test_node.py"))]  # fmt: skip
    output = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert f"rootdir: {TESTS}" in output
