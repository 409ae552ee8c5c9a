"""What a replay found: for people, for programs, and as JUnit's XML."""

from __future__ import annotations

import os
from typing import Any, Iterator, Sequence
from xml.etree import ElementTree

from ..errors import CannotWrite
from ..text import printable
from .replay import Verdict


def text_of(verdicts: Sequence[Verdict], compare: str, sent: int) -> Iterator[str]:
    """A line each difference, and the sum."""
    wrong = [verdict for verdict in verdicts if verdict.differences]
    for verdict in wrong:
        yield printable(f"{_where(verdict)}: {verdict.what}")
        for difference in verdict.differences:
            path = f"{difference.path}: " if difference.path else ""
            yield printable(f"  {path}expected {difference.expected}, got {difference.got}")
    told = f"{sent:,} sent, {len(verdicts):,} compared by {compare}: "
    yield told + (f"{len(wrong):,} differ" if wrong else "all the same")


def json_of(verdicts: Sequence[Verdict], compare: str, sent: int, problem: str) -> dict[str, Any]:
    found = [
        {"line": verdict.line, "client": verdict.client, "what": verdict.what,
         "path": d.path, "expected": d.expected, "got": d.got}
        for verdict in verdicts for d in verdict.differences
    ]  # fmt: skip
    told = {"type": "isoscope.replay", "compare": compare, "sent": sent, "compared": len(verdicts),
            "differences": found}  # fmt: skip
    return {**told, "problem": problem} if problem else told


def write_junit(path: str, name: str, verdicts: Sequence[Verdict], problem: str) -> None:
    wrong = sum(1 for verdict in verdicts if verdict.differences)
    suite = ElementTree.Element(
        "testsuite", name=name, tests=str(len(verdicts) + bool(problem)), failures=str(wrong),
        errors=str(int(bool(problem))), time=f"{sum(v.took_s for v in verdicts):.3f}",
    )  # fmt: skip
    for verdict in verdicts:
        case = ElementTree.SubElement(
            suite, "testcase", classname=name, name=printable(f"{_where(verdict)}: {verdict.what}"),
            time=f"{verdict.took_s:.3f}",
        )  # fmt: skip
        if verdict.differences:
            lines = [f"{d.path}: expected {d.expected}, got {d.got}" for d in verdict.differences]
            failure = ElementTree.SubElement(case, "failure", message=printable(lines[0]))
            failure.text = "\n".join(map(printable, lines))
    if problem:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name="the replay itself")
        ElementTree.SubElement(case, "error", message=printable(problem))
    try:
        ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error


def suite_name(path: str) -> str:
    return os.path.basename(path).rpartition(".")[0] or os.path.basename(path)


def _where(verdict: Verdict) -> str:
    line = f"line {verdict.line}, " if verdict.line else ""
    return f"{line}client {verdict.client}"
