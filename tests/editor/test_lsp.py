"""`isoscope lsp` shows what was sampled, where it was written."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import project
import pytest
from conftest import Service, recorded
from lsp_client import BUILD, ROOT, Lsp, LspError, table, until

NO_HINTS = {"textDocument": {"codeLens": {}, "hover": {"contentFormat": ["plaintext"]}}}


def shown(lsp: Lsp) -> None:
    until(lambda: lsp.status()["samples"], "samples")


def total_of(title: str) -> float:
    return float(re.search(r"total ([\d.]+)%", title).group(1))


def test_lenses_say_what_the_table_says(folder):
    session = recorded(folder)
    rows = table(str(session))
    with Lsp(folder, str(session)) as lsp:
        uri = lsp.open(folder / "hot.cpp")
        shown(lsp)
        lenses = lsp.lenses(uri)
    lines = {"spin": project.SPIN, "warm": project.WARM, "hot": project.HOT, "main": project.MAIN}
    for name, line in lines.items():
        self, total, samples = rows[name]
        assert lenses[line] == [f"self {self:.1f}% · total {total:.1f}% · {samples:,} samples"], name
    assert set(lenses) == set(lines.values())


def test_hot_lines_have_hints_at_their_ends_and_what_is_cooler_has_none(folder):
    session = recorded(folder)
    with Lsp(folder, "--hot", "20", str(session)) as lsp:
        uri = lsp.open(folder / "hot.cpp")
        shown(lsp)
        hints = lsp.hints(uri)
        loop = re.fullmatch(r"self ([\d.]+)%", hints[project.LOOP])  # it calls nothing
        assert loop and float(loop.group(1)) > 50
        assert re.fullmatch(r"[\d.]+%", hints[project.HOT + 3])  # all of it is what it calls
        assert all(float(re.search(r"[\d.]+", label).group()) >= 20 for label in hints.values())
        assert lsp.hints(uri, last=project.LOOP - 3) == {}


def test_an_editor_without_inlay_hints_gets_diagnostics(folder):
    session = recorded(folder)
    with Lsp(folder, str(session), capabilities=NO_HINTS) as lsp:
        lsp.open(folder / "hot.cpp")
        told = until(lambda: [one for one in lsp.said("textDocument/publishDiagnostics") if one["diagnostics"]], "diagnostics")
        lines = {one["range"]["start"]["line"] + 1: one for one in told[-1]["diagnostics"]}
    assert project.LOOP in lines and lines[project.LOOP]["severity"] == 4
    assert re.match(r"self [\d.]+% of the time, \d+ samples", lines[project.LOOP]["message"])


def test_a_hover_names_callers_and_callees(folder):
    session = recorded(folder)
    with Lsp(folder, str(session)) as lsp:
        uri = lsp.open(folder / "hot.cpp")
        shown(lsp)
        line = (folder / "hot.cpp").read_text().splitlines()[project.HOT - 1]
        hot = lsp.hover(uri, project.HOT, line.index("hot("))
        assert hot.startswith("hot (hot): self") and "±" in hot
        assert re.search(r"Callers: main \d", hot) and re.search(r"Callees: spin \d", hot)
        # Where it is called it is meant, too; a hot line without a function's name has its own numbers.
        assert lsp.hover(uri, project.HOT + 3, 10).startswith("spin (hot)")
        assert lsp.hover(uri, project.LOOP, 0).startswith("This line: self")
        assert lsp.hover(uri, 1, 3) == ""


# Who only waits has no samples, and made the loop late all the same.
@pytest.mark.parametrize("word, name, file, says", [
    ("busy:600", "burn_random", "burn.h", r"self .*1 stall because of it: (busy|starved) \d+(-\d+)? ms in stall"),
    ("sleep:600", "nap", "stall_waits.c", r"no samples.*1 stall because of it: sleep \d+(-\d+)? ms in stall"),
])
def test_a_hover_names_the_stalls_that_a_function_caused(folder, word, name, file, says):
    workloads = ROOT / "tests/workloads"
    sources = [workloads / source for source in ("stall_loop.c", "stall_steps.c", "stall_waits.c")]
    subprocess.run(["cc", "-g", "-O1", "-D_GNU_SOURCE", "-o", folder / "stall_loop", *sources, "-pthread"], check=True)
    session = recorded(folder, word, program="stall_loop")
    lines = (workloads / file).read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if f" {name}(" in text)
    column = lines[line - 1].index(f"{name}(")
    with Lsp(workloads, str(session)) as lsp:
        uri = lsp.open(workloads / file)
        hover = until(lambda: "because of it" in lsp.hover(uri, line, column) and lsp.hover(uri, line, column), "the stall")
        assert re.search(says, hover, re.DOTALL), hover
        assert name == "nap" or lsp.lenses(uri)[line][0].endswith("· 1 stall")


def test_symbols_are_the_hot_functions_heaviest_first(folder):
    session = recorded(folder)
    with Lsp(folder, str(session)) as lsp:
        shown(lsp)
        symbols = lsp.ask("workspace/symbol", query="")
        names = [one["name"] for one in symbols]
        assert names.index("hot") < names.index("warm")
        (warm,) = lsp.ask("workspace/symbol", query="WAR")
        assert warm["location"]["uri"] == (folder / "hot.cpp").as_uri()
        assert warm["location"]["range"]["start"]["line"] == project.WARM - 1
        assert "total" in warm["containerName"]
        assert lsp.ask("workspace/symbol", query="no such") == []


def test_links_lead_from_a_functions_name_to_the_page(folder):
    session = recorded(folder)
    with Lsp(folder, str(session)) as lsp:
        uri = lsp.open(folder / "hot.cpp")
        shown(lsp)
        links = lsp.ask("textDocument/documentLink", textDocument={"uri": uri})
        targets = {one["range"]["start"]["line"] + 1: one["target"] for one in links}
        assert targets[project.HOT].endswith("/#view=sandwich&picked=hot%21hot")
        assert lsp.do("openPage", "hot!hot") == targets[project.HOT]
        assert lsp.said("window/showDocument")[-1] == {"uri": targets[project.HOT], "external": True}


def test_functions_of_an_interpreter_have_lenses_where_they_are_written(tmp_path):
    file = tmp_path.resolve() / "app.py"
    file.write_text("def slow(n):\n    return sum(i * i for i in range(n))\n\n\nfor _ in range(20):\n    slow(200_000)\n")
    with Lsp(tmp_path.resolve()) as lsp:
        uri = lsp.open(file)
        lsp.do("run", {"program": "/usr/bin/python3", "args": ["app.py"]})
        until(lambda: lsp.status()["link"] == "lost", "the program's end")
        assert total_of(lsp.lenses(uri)[1][0]) > 50
        assert 6 in lsp.hints(uri)
        assert lsp.status()["problems"] == []  # the interpreter's own sources are nobody's trouble


def test_a_service_of_the_project_is_found_and_followed_while_it_runs(folder, services):
    with Lsp(folder) as lsp:
        uri = lsp.open(folder / "hot.cpp")
        assert lsp.status()["text"].startswith("no profile")
        assert lsp.lenses(uri) == {}
        services.append(Service(folder, folder / "hot", "400"))
        first = until(lambda: lsp.status()["samples"], "samples of it")
        until(lambda: lsp.status()["samples"] > first, "more samples")
        until(lambda: lsp.said("workspace/codeLens/refresh") and lsp.said("workspace/inlayHint/refresh"), "refreshes")
        assert lsp.lenses(uri)[project.HOT]
        assert {"kind": "begin", "title": "isoscope: reading samples"} in [
            one["value"] for one in lsp.said("$/progress")]


def test_the_next_run_takes_the_place_of_the_one_that_ended_and_has_a_trend(folder):
    with Lsp(folder, options={"launch": [{"name": "even", "program": "./hot"},
                                         {"name": "warm", "program": "./hot", "args": ["60", "less"]}]}) as lsp:
        uri = lsp.open(folder / "hot.cpp")
        lsp.do("run", "even")
        before = until(lambda: lsp.status()["samples"] > 100 and lsp.lenses(uri), "samples")
        assert 60 < total_of(before[project.HOT][0]) < 90 and "▲" not in before[project.WARM][0]
        lsp.do("run", "warm")
        until(lambda: lsp.status()["samples"] > 100, "samples of the next one")
        after = lsp.lenses(uri)
        assert total_of(after[project.HOT][0]) < 20 and "▼" in after[project.HOT][0]
        assert total_of(after[project.WARM][0]) > 80 and "▲" in after[project.WARM][0]
        until(lambda: lsp.status()["link"] == "lost", "the end of both")
        with pytest.raises(LspError, match="the service has ended, and its page with it"):
            lsp.do("openPage")
        until(lambda: any(one["message"] == "done" for one in lsp.said("window/logMessage")), "what the program wrote")


def test_a_window_a_session_to_compare_with_and_a_clear(folder, services):
    session = recorded(folder, "60", "less")
    services.append(Service(folder, folder / "hot"))
    with Lsp(folder) as lsp:
        uri = lsp.open(folder / "hot.cpp")
        lsp.do("attach", services[0].uri)
        all_of_it = until(lambda: lsp.status()["samples"] > 100 and lsp.status()["samples"], "samples")
        part = lsp.do("window", 0, 0.1)
        assert 0 < part["samples"] < all_of_it and "in the window" in part["text"]
        assert lsp.do("window")["samples"] >= all_of_it
        assert lsp.do("compare", str(session))["comparedWith"] == "run.isoscope"
        assert "▲" in lsp.lenses(uri)[project.HOT][0]
        lsp.do("compare")
        assert "▲" not in lsp.lenses(uri)[project.HOT][0]
        until(lambda: lsp.do("clear")["samples"] == 0, "no samples")  # once the program has ended
        assert lsp.lenses(uri) == {}


def test_lines_move_with_the_text_and_none_is_left_on_a_changed_one(folder):
    session = recorded(folder)
    source = (folder / "hot.cpp").read_text()
    with Lsp(folder, str(session)) as lsp:
        uri = lsp.open(folder / "hot.cpp")
        shown(lsp)
        before, hints = lsp.lenses(uri), lsp.hints(uri)
        lines = source.splitlines()
        lines[project.WARM - 1] = lines[project.WARM - 1].replace("warm", "tepid")
        lsp.change(uri, "\n".join(["// one", "// two", *lines, ""]))
        after = lsp.lenses(uri)
        assert after.pop(1) == ["isoscope: edited after the program was built; 1 function with samples left out"]
        moved = {line + 2: titles for line, titles in before.items() if line != project.WARM}
        assert after == moved
        assert lsp.hints(uri) == {line + 2: label for line, label in hints.items()}
        # Saved and not built, it is still known what was; built and run, all of it is again.
        (folder / "hot.cpp").write_text("\n".join(["// one", "// two", *lines, ""]).replace("warm(", "tepid("))
        lsp.change(uri, (folder / "hot.cpp").read_text())
        lsp.tell("textDocument/didSave", textDocument={"uri": uri})
        assert project.WARM + 2 not in lsp.lenses(uri) and project.HOT + 2 in lsp.lenses(uri)
        project.compiled(folder)
        lsp.do("run", {"program": "./hot"})
        until(lambda: lsp.status()["samples"] > 100, "samples")
        again = lsp.lenses(uri)
        assert 1 not in again and total_of(again[project.WARM + 2][0]) > 10


def test_the_guide_names_each_method_with_a_test_that_there_is():
    guide = (ROOT / "docs" / "editors.md").read_text()
    tests = "".join(file.read_text() for file in Path(__file__).parent.glob("test_*.py"))
    rows = [line.split("|") for line in guide.split("## Methods, and their tests")[1].split("\n## ")[0].splitlines() if line.startswith("| `")]
    named = [name for *_, cell, _ in rows for name in re.findall(r"`(\w+)`", cell)]
    assert len(named) > len(rows) > 10 and not [name for name in named if f"def test_{name}(" not in tests]
    server = ROOT / "clients" / "editor" / "src" / "lsp"
    own = re.findall(r'"(isoscope/\w+)"', (server / "own_messages.ts").read_text())
    commands = re.findall(r'"(isoscope\.\w+)"', (server / "command_names.ts").read_text())
    assert len(own) == 5 and len(commands) == 10 and not [name for name in own + commands if f"`{name}`" not in guide]
