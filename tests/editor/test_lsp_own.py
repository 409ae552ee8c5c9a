"""Messages of ours, for an editor that has views of its own."""

from __future__ import annotations

import json

import project
import pytest
from conftest import recorded
from lsp_client import CAPABILITIES, Lsp, LspError, table, until

LISTENS = {**CAPABILITIES, "experimental": {"isoscope": True}}


def test_an_overview_has_the_tables_functions_the_hottest_first(folder):
    session = recorded(folder)
    rows = table(str(session))
    with Lsp(folder, str(session)) as lsp:
        lsp.open(folder / "hot.cpp")
        until(lambda: lsp.status()["samples"], "samples")
        seen = lsp.ask("isoscope/overview")
    assert seen["status"]["source"] == "run.isoscope" and not seen["isLive"] and seen["cpu"] is None
    first = seen["functions"][0]
    assert first["name"] == "spin" and first["place"]["line"] == project.SPIN and not first["place"]["isStale"]
    for one in seen["functions"]:
        if one["name"] in ("spin", "warm", "hot", "main"):
            self, total, samples = rows[one["name"]]
            assert (round(100 * one["self"], 1), round(100 * one["total"], 1), one["samples"]) == (self, total, samples)


def test_lines_of_a_file_have_their_shares_and_those_of_another_none(folder):
    session = recorded(folder)
    (folder / "other.cpp").write_text("int other;\n")
    with Lsp(folder, str(session)) as lsp:
        uri, other = lsp.open(folder / "hot.cpp"), lsp.open(folder / "other.cpp")
        until(lambda: lsp.status()["samples"], "samples")
        lines = {one["line"]: one for one in lsp.ask("isoscope/lines", uri=uri)["lines"]}
        assert lsp.ask("isoscope/lines", uri=other) == {"stale": "", "lines": []}
        assert lsp.ask("isoscope/lines") == {"stale": "", "lines": []}
    assert lines[project.LOOP]["self"] > 0.5 and lines[project.WARM + 2]["self"] == 0


def test_a_program_that_is_run_is_followed_to_its_end(folder):
    with Lsp(folder, capabilities=LISTENS) as lsp:
        lsp.do("run", {"id": "one", "program": "./hot"})
        seen = until(lambda: lsp.said("isoscope/ended"), "the end")
        assert seen == [{"id": "one", "status": 0}]
        assert "done" in "".join(one["text"] for one in lsp.said("isoscope/output") if one["id"] == "one")
        assert lsp.said("isoscope/changed")


def test_cpu_that_is_used_now_is_told_while_it_runs_and_stop_ends_it(folder):
    with Lsp(folder, capabilities=LISTENS) as lsp:
        lsp.do("run", {"program": "./hot", "args": ["1000000"]})
        cpu = until(lambda: lsp.ask("isoscope/overview")["cpu"], "its CPU")
        assert 0 < cpu < 1.5, cpu  # it has one thread; samples come in heaps
        samples = lsp.do("stop")["samples"]
        until(lambda: lsp.said("isoscope/ended"), "the end")
        assert lsp.status()["samples"] >= samples > 0


def test_what_was_not_run_from_here_cannot_be_stopped(folder):
    with Lsp(folder, str(recorded(folder))) as lsp:
        try:
            lsp.do("stop")
        except LspError as error:
            assert "no program was run from here" in str(error)
        else:
            raise AssertionError("it was stopped")


def test_an_editor_that_does_not_listen_is_told_nothing(folder):
    with Lsp(folder) as lsp:
        lsp.do("run", {"program": "./hot"})
        until(lambda: lsp.status()["samples"] and not lsp.ask("isoscope/overview")["isLive"], "the end")
        assert not [one for one in lsp.messages if one["method"].startswith("isoscope/")]


def test_what_is_shown_is_exported_and_of_a_window_only_that(folder):
    session = recorded(folder)
    with Lsp(folder, str(session)) as lsp:
        until(lambda: lsp.status()["samples"], "samples")
        assert lsp.do("export", "all.cpuprofile") == [str(folder / "all.cpuprofile")]
        lsp.do("window", 0, 0.1)
        lsp.do("export", str(folder / "part"), "cpuprofile")
        whole, part = (json.loads((folder / name).read_text()) for name in ("all.cpuprofile", "part"))
        assert {"spin", "main"} <= {node["callFrame"]["functionName"] for node in whole["nodes"]}
        assert 0 < len(part["samples"]) < len(whole["samples"])
        assert lsp.do("export", "other.txt", "folded", "run.isoscope") == [str(folder / "other.txt")]
        assert "main;hot;spin " in (folder / "other.txt").read_text()
        for words, said in (((), "a file to write is expected"), (("x.nonsense",), "nonsense"), (("/nowhere/x.svg",), "/nowhere/x.svg")):
            with pytest.raises(LspError, match=said):
                lsp.do("export", *words)


def test_nothing_is_exported_of_a_service_that_has_ended(folder):
    with Lsp(folder) as lsp:
        with pytest.raises(LspError, match="there is no profile to export"):
            lsp.do("export", "x.cpuprofile")
        lsp.do("run", {"program": "./hot"})
        until(lambda: lsp.status()["samples"] and lsp.status()["link"] != "open", "the end")
        with pytest.raises(LspError, match="the service has ended.*--keep"):
            lsp.do("export", "x.cpuprofile")
