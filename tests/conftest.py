"""For every suite: what was left out is said line by line, for summary.py."""

from __future__ import annotations

from typing import Union

import pytest


def reason_of(report: Union[pytest.TestReport, pytest.CollectReport]) -> str:
    """Of a skip, pytest keeps where, and why."""
    why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return " ".join(why.removeprefix("Skipped: ").split())


def pytest_terminal_summary(terminalreporter) -> None:
    for report in terminalreporter.stats.get("skipped", []):
        name = report.nodeid.rpartition("::")[2] or report.nodeid
        terminalreporter.write_line(f"SKIPPED {name}: {reason_of(report)}")
