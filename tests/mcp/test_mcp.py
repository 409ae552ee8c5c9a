"""Assistants get what the commands say, from services and sessions: the same numbers, with their errors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from assistant import BEFORE, BYTES_MOST, LATEST, ROOT, Assistant, Raw
from conftest import recorded, service_in, told
from harness import Client, measured, workload

TOOLS = {"list_sources", "summary", "explain", "hot_functions", "hot_paths", "function", "source_lines", "compare", "stalls",
         "allocations"}  # fmt: skip
WORKLOADS = ROOT / "tests" / "workloads"


def by_name(rows):
    return {row["function"]: row for row in rows}


def check_shares(rows, table):
    """As `isoscope table --json` has them; shares to the second digit."""
    of_time = table["weight"] == "cpu"
    whole = table["cpuMicros"] if of_time else table["sampleCount"]
    found = {(row["function"], row["library"]): row for row in rows}
    assert len(found) == len(table["functions"]) == len(rows)
    for one in table["functions"]:
        row = found[one["name"], one["library"]]
        assert (row["self_samples"], row["total_samples"]) == (one["self"], one["total"])
        for word in ("self", "total"):
            share = (one[f"{word}Micros"] if of_time else one[word]) / whole
            assert row[f"{word}_percent"] == pytest.approx(100 * share, abs=0.011)


# The protocol.


def test_tools_resources_and_prompts_are_offered_with_what_they_take(hot):
    with Assistant(hot) as assistant:
        tools = assistant.ask("listTools")["tools"]
        prompts = assistant.ask("listPrompts")["prompts"]
        (resource,) = assistant.ask("listResources")["resources"]
        summary = json.loads(assistant.ask("readResource", uri=resource["uri"])["contents"][0]["text"])
        triage = assistant.ask("getPrompt", name="triage", arguments={"source": "hot.isoscope"})["messages"][0]["content"]["text"]
        assert assistant.ask("server")["name"] == "isoscope" and "never instructions" in assistant.ask("instructions")
    assert {tool["name"] for tool in tools} == TOOLS
    for tool in tools:
        assert tool["description"] and tool["annotations"]["readOnlyHint"] and not tool["annotations"]["destructiveHint"]
        assert {"budget", "cursor"} <= tool["inputSchema"]["properties"].keys()
    assert {prompt["name"] for prompt in prompts} == {"triage", "compare_runs", "find_growth"}
    assert resource["uri"] == "isoscope://source/hot.isoscope" and summary["facts"]["source"] == "hot.isoscope"
    assert 'The source is "hot.isoscope"' in triage and "explain" in triage


OLDER = ("2025-03-26", "2024-11-05", "2024-10-07")  # which the SDK speaks, too


@pytest.mark.parametrize(
    "asked, spoken", [(one, one) for one in (LATEST, BEFORE, *OLDER)] + [("2099-01-01", LATEST), ("2023-01-01", LATEST)]
)
def test_versions_of_the_protocol_are_agreed_on(hot, asked, spoken):
    with Raw(hot) as raw:
        assert raw.initialize(asked)["protocolVersion"] == spoken
        told = raw.request("tools/call", name="summary", arguments={})
        assert json.loads(told["result"]["content"][0]["text"])["facts"]["samples"] > 0


def test_standard_output_has_messages_only_and_ends_with_the_input(hot):
    with Raw(hot) as raw:
        raw.initialize(LATEST)
        raw.send("this is no message")
        raw.send('{"jsonrpc": "2.0"}')
        raw.send(json.dumps({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"name": "hot_paths"}}))
        assert raw.receive()["id"] == 77
        assert "method" in raw.request("no/such/method")["error"]["message"].lower()
        assert raw.rest() == [] and raw.process.returncode == 0


def test_the_guide_names_each_tool_with_a_test_that_there_is():
    guide = (ROOT / "docs" / "mcp.md").read_text()
    tests = "".join(file.read_text() for file in Path(__file__).parent.glob("test_*.py"))
    rows = [line.split("|") for line in guide.split("## Tools")[1].split("## Answers")[0].splitlines() if line.startswith("| `")]
    assert {cell.strip(" `") for _, cell, *_ in rows} >= TOOLS
    named = [name for _, _, _, cell, _ in rows for name in re.findall(r"`(\w+)`", cell)]
    assert len(named) >= len(TOOLS) and all(f"def test_{name}(" in tests for name in named), named


# Figures.


@pytest.mark.parametrize("mode", ["cpu", "wall"])
def test_functions_of_a_service_are_as_the_table_has_them(tmp_path, mode):
    with service_in(tmp_path, [workload("planted"), "convoy", "0.5"], "--mode", mode) as uri, Assistant(tmp_path) as assistant:
        table = told("table", "--json", "--min", "0", uri)
        rows = assistant.rows("hot_functions")
        summary = assistant.call("summary")["facts"]
        assert assistant.rows("hot_functions") == rows
    check_shares(rows, table)
    assert [row["self_percent"] for row in rows] == sorted((row["self_percent"] for row in rows), reverse=True)
    assert summary.get("lost", {}) == table["lost"]
    assert summary["samples"] == table["sampleCount"] and summary["mode"] == mode
    assert summary["cpu_ms"] == pytest.approx(table["cpuMicros"] / 1000, abs=1)  # of samples in whole microseconds
    assert uri.split("/")[3] not in json.dumps([rows, summary]), "the token"


def test_functions_of_a_session_are_as_the_table_has_them(hot):
    with Assistant(hot) as assistant:
        check_shares(assistant.rows("hot_functions", by="total"), told("table", "--json", "--min", "0", str(hot / "hot.isoscope")))


def test_shares_have_the_error_that_explain_says(hot):
    with Assistant(hot) as assistant:
        function = assistant.call("function", function="score_rows")["facts"]
    (finding,) = told("explain", "--json", str(hot / "hot.isoscope"))["findings"]
    assert function["total_percent"] == pytest.approx(100 * finding["share"], abs=0.01)
    assert function["total_error"] == pytest.approx(100 * finding["error"], abs=0.01)


def test_callers_and_callees_are_as_the_table_has_them(hot):
    with Assistant(hot) as assistant:
        rows = assistant.rows("function", function="burn_rounds")
        way = assistant.call("function", function="burn_rounds")["facts"]["heaviest_way"]
    (one,) = told("table", "--json", "--of", "burn_rounds", str(hot / "hot.isoscope"))["functions"]
    for relation in ("caller", "callee"):
        found = [(row["function"], row["samples"]) for row in rows if row["relation"] == relation]
        assert found == [(other["name"], other["total"]) for other in one[f"{relation}s"]]
    assert way[-3:] == ["rank_table", "score_rows", "burn_rounds"]


def test_paths_have_all_samples_and_those_of_one_part_only(hot):
    with Assistant(hot) as assistant:
        paths = assistant.rows("hot_paths")
        short = assistant.rows("hot_paths", depth=2)
        samples = assistant.call("summary")["facts"]["samples"]
        halves = [sum(row["samples"] for row in assistant.rows("hot_paths", **part)) for part in ({"to_s": 0.5}, {"from_s": 0.5})]
    assert sum(row["samples"] for row in paths) == samples == sum(halves) and all(halves)
    assert ["score_rows", "burn_rounds", "burn_random"] == paths[0]["path"][-3:]
    assert short[0]["path"] == ["...", "burn_rounds", "burn_random"]


def test_what_is_slow_is_what_explain_says(tmp_path):
    with service_in(tmp_path, [workload("planted"), "convoy", "1"], "--mode", "wall", "--lock") as uri, Assistant(tmp_path) as assistant:
        report = told("explain", "--json", uri)
        answer = assistant.call("explain", budget=6000)
        rows = assistant.rows("explain")
        locks = told("table", "--json", "--kind", "lock", "--min", "0", uri)
        lock = assistant.rows("hot_functions", kind="lock")[0]
    assert (lock["function"], lock["self_samples"]) == ("table_lock", locks["sampleCount"])
    assert lock["self_waited_ms"] == pytest.approx(locks["cpuMicros"] / 1000, abs=1)
    assert answer["facts"]["headline"] == report["headline"] and answer["facts"]["looked_at"] == report["lookedAt"]
    assert [(row["kind"], row["title"], row["check"], row["evidence"]) for row in rows] == [
        (one["kind"], one["title"], one["commandLine"], one["evidence"]) for one in report["findings"]
    ]
    for row, one in zip(rows, report["findings"]):
        assert (row["percent"], row["error"]) == (pytest.approx(100 * one["share"], abs=0.01), pytest.approx(100 * one["error"], abs=0.01))


def test_stalls_are_told_with_cause_and_culprit(tmp_path):
    with service_in(tmp_path, [workload("planted"), "stalls", "2"]) as uri, Assistant(tmp_path) as assistant:
        with Client(uri) as client:
            stalls = {stall["number"]: stall for stall in client.stalls()}
        answer, rows = assistant.call("stalls"), assistant.rows("stalls")
        assert assistant.rows("stalls", cause="io") == [row for row in rows if row["cause"] == "io"]
    assert len(rows) == len(stalls) == answer["facts"]["stalls"] > 0 and answer["facts"]["stall_limit_ms"] == 250
    for row in rows:
        stall = stalls[row["number"]]
        least, most = stall["durationMicros"]
        assert (row["at_least_ms"], row["at_most_ms"]) == (pytest.approx(least / 1000, abs=0.051), pytest.approx(most / 1000, abs=0.051))
        assert row["cause"] == stall["cause"]
    assert any("write_journal (planted) at " in (row["called_by"] or row["culprit"] or "") for row in rows)


def test_allocations_that_stay_are_told_by_who_made_them(tmp_path):
    with service_in(tmp_path, [workload("allocates"), "leaks"], "--alloc") as uri, Assistant(tmp_path) as assistant:
        with Client(uri) as client:
            allocated, live = (sum(client.profile(kind=kind).weights_us) for kind in ("alloc", "live"))
        facts, rows = assistant.call("allocations")["facts"], assistant.rows("allocations")
        of_kind = assistant.rows("hot_functions", kind="live")
    assert (facts["allocated_bytes"], facts["live_bytes"]) == (allocated, live)
    assert sum(row["live_bytes"] for row in rows) == pytest.approx(live, abs=len(rows))
    leaks = [row for row in rows if row["function"].startswith("leak_")]
    assert len(leaks) == 20
    for row in leaks:  # 8 MB each, within 4.5 standard errors
        assert abs(row["live_bytes"] - 2048 * 4096) <= 4.5 / 1.96 * row["live_error"]
        assert sum(row["live_bytes_by_quarter"]) == pytest.approx(row["live_bytes"], abs=4) and row["path"][-1] == row["function"]
    assert "self_bytes" in of_kind[0] and by_name(of_kind)["main"]["total_percent"] == pytest.approx(100, abs=1)


@measured
def test_two_sessions_are_compared_and_what_changed_is_clear(tmp_path):
    recorded(tmp_path / "before.isoscope", workload("planted"), "healthy", "2")
    recorded(tmp_path / "after.isoscope", workload("planted"), "hot", "1")
    with Assistant(tmp_path) as assistant:
        rows = by_name(assistant.rows("compare", before_source="before.isoscope", source="after.isoscope", by="total"))
    changes = told("diff", "--json", "--min", "0", *(str(tmp_path / f"{name}.isoscope") for name in ("before", "after")))
    (one,) = [change for change in changes["functions"] if change["name"] == "score_rows"]
    row = rows["score_rows"]
    assert row["clear"] and row["before_percent"] == 0 and row["before_samples"] == 0
    assert row["change_points"] == pytest.approx(100 * (one["totalAfter"] - one["totalBefore"]), abs=0.011)
    assert 0 < row["error"] < 10


def test_two_windows_of_equal_work_are_compared_and_nothing_is_clear(hot):
    with Assistant(hot) as assistant:
        rows = assistant.rows("compare", before_to_s=0.5, from_s=0.5)
        samples = assistant.call("summary")["facts"]["samples"]
    assert sum(row["before_samples"] + row["after_samples"] for row in rows) == samples
    assert not [row for row in rows if row["clear"] and abs(row["change_points"]) > 10]


# Source text.


def test_lines_have_their_text_where_the_service_may_read_it(tmp_path):
    command = [workload("planted"), "hot", "0.5"]
    with service_in(tmp_path, command, "--source-root", str(WORKLOADS)), Assistant(tmp_path) as assistant:
        rows = assistant.rows("source_lines", function="score_rows")
        answer = assistant.call("source_lines", file="planted.c")
        refused = assistant.refusal("source_lines", file="/etc/passwd")
    text = (WORKLOADS / "planted.c").read_text().splitlines()
    assert all(row["text"] == text[row["line"] - 1] for row in rows) and answer["facts"]["has_text"]
    (hot_line,) = [row for row in rows if "burn_rounds(burn, burn_draw(burn));" in row["text"] and row["total_percent"] > 60]
    assert text[hot_line["line"] - 2].strip().startswith("for (int i = 0; i < 4")
    assert "the profile names no such file" in refused and "root:" not in refused


def test_without_a_source_root_lines_have_no_text(hot):
    with Assistant(hot) as assistant:
        answer = assistant.call("source_lines", function="score_rows")
    assert not answer["facts"]["has_text"] and all(row[-1] is None for row in answer["rows"])
    assert "--source-root" in answer["unsure"][-1]


# Budgets and pages.


def test_pages_are_within_their_budget_and_together_the_whole(hot):
    with Assistant(hot) as assistant:
        least = assistant.least_budget("hot_functions")
        pages = list(assistant.pages("hot_functions", budget=least))
        whole = assistant.rows("hot_functions")
        texts = [assistant.text("hot_functions", budget=budget) for budget in (least, least, 6000)]
    assert len(pages) > 2 and [row for page in pages for row in page["rows"]] == [list(row.values()) for row in whole]
    assert [page["rows_before"] for page in pages[:2]] == [0, len(pages[0]["rows"])]
    assert texts[0] == texts[1] and len(json.dumps(texts[0])) <= 4 * least and len(json.dumps(texts[2])) <= BYTES_MOST


def test_an_answer_stays_what_it_was_while_the_program_goes_on(tmp_path):
    from harness import service_of, until

    with service_of([workload("planted"), "hot", "1000"]) as service:
        (tmp_path / "here.json").write_text(json.dumps({"uri": service.uri}))
        with Assistant(tmp_path) as assistant, Client(service.uri) as client:
            until(lambda: len(client.profile()) > 200, "samples")
            pages = assistant.pages("hot_functions", budget=assistant.least_budget("hot_functions") + 10)
            first = next(pages)
            before = first["facts"]["samples"]
            until(lambda: assistant.call("summary")["facts"]["samples"] > before + 200, "more samples")
            rows = first["rows"] + [row for page in pages for row in page["rows"]]
    assert sum(row[first["columns"].index("self_samples")] for row in rows) == before
