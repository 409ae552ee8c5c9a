"""A reading for people, for pull requests, for build servers, for programs.

    Report -> text, markdown, junit, json

Names are other people's: in text they lose control characters, in Markdown they are code, in XML they are escaped.
"""

from __future__ import annotations

import json as _json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator
from xml.etree import ElementTree

from ..text import Style, counted, printable
from .budgets import EXCEEDED, UNKNOWN, WITHIN, Verdict
from .commands import From, quoted, words_of
from .finding import Finding
from .places import Place
from .reading import Reading
from .words import Name, Sentence, plain

_PATH = 10  # functions of a path that are told: the last ones
_STATES = {WITHIN: "within", EXCEEDED: "EXCEEDED", UNKNOWN: "not checked"}
_Row = tuple[str, Sentence]
PLAIN = Style()


@dataclass(frozen=True)
class Report:
    name: str  # of the source
    reading: Reading
    where: From = From()
    verdicts: list[Verdict] = field(default_factory=list)
    sampled_waits: bool = True
    sampled_locks: bool = False  # their waits, in whatever mode
    told_stalls: bool = True
    hint: str = ""  # on the commands

    @property
    def headline(self) -> str:
        found = self.reading.findings
        if found:
            more = f", and {self.reading.left_out} smaller" if self.reading.left_out else ""
            return f"{counted(len(found), 'finding')}{more}"
        nothing, but = [], []
        if self.reading.knows_cpu:
            nothing += ["no function has too much of the CPU time", "the allocator has little of it"]
        else:
            but.append("there is too little of the CPU time in the samples for shares")
        if self.sampled_waits:
            nothing.append("threads hardly wait for locks, files or peers")
        elif self.sampled_locks:
            nothing.append("threads hardly wait for locks")
        if self.told_stalls:
            nothing.append("no loop was late by the program's doing")
        if not self.sampled_waits:
            but.append(f"threads that wait{' for anything else' if self.sampled_locks else ''} were not sampled")
        said = f": {', and '.join(part for part in (', '.join(nothing[:-1]), nothing[-1]) if part)}" if nothing else ""
        return f"nothing stands out{said}" + (f" ({'; '.join(but)})" if but else "")

    def line(self, finding: Finding) -> str:
        """The command that checks it, to paste."""
        return quoted(words_of(finding.check, self.where))


def _share(finding: Finding) -> str:
    return f"{100 * finding.share.value:.1f} % ± {100 * finding.share.error:.1f}"


def _rows(finding: Finding) -> Iterator[_Row]:
    if finding.place is not None:
        yield "where", finding.place.where
    if finding.path:
        cut = "... > " if len(finding.path) > _PATH else ""
        yield "path", (cut, Name(" > ".join(finding.path[-_PATH:])))
    for sentence in finding.evidence:
        yield "seen", sentence
    yield "cause", finding.cause
    yield "next", finding.next


def _verdict(verdict: Verdict) -> Sentence:
    took: Sentence = (f": {verdict.measured} of {verdict.limit}",) if verdict.measured else (f": limit {verdict.limit}",)
    note: Sentence = ("; ", *verdict.note) if verdict.note else ()
    return (*verdict.budget.what, *took, *note)


def _summed(verdicts: list[Verdict]) -> str:
    counts = Counter(verdict.state for verdict in verdicts)
    worse = [f"{counts[state]} {_STATES[state].lower()}" for state in (EXCEEDED, UNKNOWN) if counts[state]]
    return f"{', '.join(worse)} of {len(verdicts)}" if worse else "all kept"


# For people.


def text(report: Report, style: Style = PLAIN) -> str:
    lines = [style.bold(f"{printable(report.name)}: {report.headline}")]
    for number, finding in enumerate(report.reading.findings, 1):
        lines += ["", style.bold(f"{number}. {plain(finding.title)}")]
        lines.append(f"   {style.hot(_share(finding))} {finding.of}")
        last = ""
        for name, sentence in _rows(finding):
            lines.append(f"   {style.dim(f'{name if name != last else str():<7}')}{plain(sentence)}")
            last = name
        lines.append(f"   {style.dim('check  ')}{report.line(finding)}")
    if report.hint and report.reading.findings:
        lines += ["", report.hint]
    for title, sentences in (("looked at", report.reading.looked_at), ("unsure", report.reading.unsure)):
        if sentences:
            lines += ["", title, *(f"  {plain(sentence)}" for sentence in sentences)]
    if report.verdicts:
        lines += ["", f"budgets: {_summed(report.verdicts)}"]
    for verdict in report.verdicts:
        state = f"{_STATES[verdict.state]:<11}"
        shown = style.dim(state) if verdict.state == WITHIN else style.hot(state)
        lines.append(f"  {shown}  {plain(_verdict(verdict))}")
    return "\n".join(lines) + "\n"


# For pull requests.


def markdown(report: Report, style: Style = PLAIN) -> str:
    lines = [f"## isoscope: {report.headline}", "", f"Of {_code(report.name)}."]
    if report.verdicts:
        lines += ["", f"### Budgets: {_summed(report.verdicts)}", ""]
    for verdict in report.verdicts:
        state = _STATES[verdict.state]
        lines.append(f"- {state if verdict.state == WITHIN else f'**{state}**'}: {_marked(_verdict(verdict))}")
    for number, finding in enumerate(report.reading.findings, 1):
        lines += ["", f"### {number}. {_marked(finding.title)}", "", f"**{_share(finding)}** {finding.of}", ""]
        lines += [f"- {name}: {_marked(sentence)}" for name, sentence in _rows(finding)]
        command = report.line(finding)
        fence = "`" * max(3, _longest_ticks(command) + 1)
        lines += ["", f"{fence}sh", command, fence]
    if report.hint and report.reading.findings:
        lines += ["", report.hint]
    for title, sentences in (("Looked at", report.reading.looked_at), ("Unsure", report.reading.unsure)):
        if sentences:
            lines += ["", f"### {title}", "", *(f"- {_marked(sentence)}" for sentence in sentences)]
    return "\n".join(lines) + "\n"


def _marked(sentence: Sentence) -> str:
    return "".join(_code(part) if isinstance(part, Name) else part for part in sentence)


def _code(name: str) -> str:
    """In code nothing of it means anything, whatever it has in it; and one line it stays."""
    shown = printable(name) or " "
    ticks = "`" * (_longest_ticks(shown) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _longest_ticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


# For build servers.


def junit(report: Report, style: Style = PLAIN) -> str:
    """A case each budget, which fails where it is exceeded; and each finding, which does not: it is no rule."""
    failures = sum(verdict.state == EXCEEDED for verdict in report.verdicts)
    errors = sum(verdict.state == UNKNOWN for verdict in report.verdicts)
    findings = report.reading.findings
    suite = ElementTree.Element(
        "testsuite", name="isoscope explain", tests=str(len(report.verdicts) + (len(findings) or 1)),
        failures=str(failures), errors=str(errors),
    )  # fmt: skip
    for verdict in report.verdicts:
        case = _case(suite, "isoscope.budgets", plain(verdict.budget.what))
        if verdict.state != WITHIN:
            word = "failure" if verdict.state == EXCEEDED else "error"
            said = f"{_STATES[verdict.state]}: {plain(_verdict(verdict))}"
            ElementTree.SubElement(case, word, message=said).text = said
        else:
            ElementTree.SubElement(case, "system-out").text = plain(_verdict(verdict))
    for finding in findings:
        lines = [f"{_share(finding)} {finding.of}"]
        lines += [f"{name}: {plain(sentence)}" for name, sentence in _rows(finding)]
        case = _case(suite, "isoscope.findings", plain(finding.title))
        ElementTree.SubElement(case, "system-out").text = "\n".join([*lines, f"check: {report.line(finding)}"])
    if not findings:
        case = _case(suite, "isoscope.findings", "nothing stands out")
        ElementTree.SubElement(case, "system-out").text = "\n".join(map(plain, report.reading.looked_at))
    told = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{told}\n'


def _case(suite: ElementTree.Element, group: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=group, name=name)


# For programs.


def json(report: Report, style: Style = PLAIN) -> str:
    """Names are complete here; shares are from 0 to 1."""
    told = {
        "type": "isoscope.explain",
        "healthy": not report.reading.findings,
        "headline": report.headline,
        "findings": [_finding_json(report, finding) for finding in report.reading.findings],
        "leftOut": report.reading.left_out,
        "lookedAt": ["".join(sentence) for sentence in report.reading.looked_at],
        "unsure": ["".join(sentence) for sentence in report.reading.unsure],
        "budgets": [_verdict_json(verdict) for verdict in report.verdicts],
    }
    return _json.dumps(told) + "\n"


def _finding_json(report: Report, finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "title": "".join(finding.title),
        "share": finding.share.value,
        "error": finding.share.error,
        "of": finding.of,
        "place": None if finding.place is None else _place_json(finding.place),
        "path": list(finding.path),
        "evidence": ["".join(sentence) for sentence in finding.evidence],
        "cause": "".join(finding.cause),
        "next": "".join(finding.next),
        "command": words_of(finding.check, report.where),
        "commandLine": report.line(finding),
    }


def _place_json(place: Place) -> dict[str, Any]:
    return {"function": place.function, "library": place.library or None, "file": place.file or None,
            "line": place.line or None}  # fmt: skip


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
    budget = verdict.budget
    return {"section": budget.section, "name": budget.name or None, "key": budget.key, "state": verdict.state,
            "limit": verdict.limit, "measured": verdict.measured or None, "note": "".join(verdict.note)}  # fmt: skip


FORMATS: dict[str, Callable[..., str]] = {"text": text, "markdown": markdown, "junit": junit, "json": json}
ENDINGS = {".txt": "text", ".md": "markdown", ".xml": "junit", ".json": "json"}  # of files
