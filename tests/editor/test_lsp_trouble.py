"""What is not there, not true any more or made to deceive: it is said in words, and no lens is on a wrong line."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import project
import pytest
from conftest import Service, recorded
from lsp_client import ISOSCOPE, Lsp, LspError, until


def warnings(lsp: Lsp) -> list[str]:
    return [one["message"] for one in lsp.said("window/showMessage")]


def shown(lsp: Lsp) -> None:
    until(lambda: lsp.status()["samples"], "samples")


def test_without_a_service_it_says_how_to_start_one(folder):
    with Lsp(folder) as lsp:
        assert lsp.lenses(lsp.open(folder / "hot.cpp")) == {}
        assert lsp.ask("workspace/symbol", query="hot") == []
        with pytest.raises(LspError, match="no service runs here: start the program with `isoscope run"):
            lsp.do("attach")
        with pytest.raises(LspError, match="there is no profile to clear"):
            lsp.do("clear")
        with pytest.raises(LspError, match="does not answer"):
            lsp.do("attach", "http://127.0.0.1:9/token=/")


def test_of_several_services_the_user_is_asked(folder, services):
    for name in ("one.json", "two.json"):
        services.append(Service(folder, folder / "hot", "2000", info=name))
    with Lsp(folder) as lsp:
        until(lambda: any("2 services run" in text for text in warnings(lsp)), "the question's end")
        assert lsp.status()["text"].startswith("no profile")
        with pytest.raises(LspError, match=r"2 services run; say which one: .*\((one|two)\.json\)"):
            lsp.do("attach")
        lsp.choice = "two.json"
        assert lsp.do("attach")["source"] in services[1].uri
        asked = lsp.said("window/showMessageRequest")[-1]
        # The token is no one's to read on a screen.
        assert all(one.uri.split("/")[3] not in str(asked) for one in services)


def test_a_token_that_is_none_of_this_run_is_refused_in_words(folder, services):
    services.append(Service(folder, folder / "hot", "2000", info="elsewhere"))
    old = services[0].uri.rsplit("/", 2)[0] + "/AAAAAAAAAAAAAAAAAAAAAA==/"
    with Lsp(folder, old) as lsp:
        text = until(lambda: [one for one in warnings(lsp) if "refused" in one], "a warning")[0]
        assert "A token holds for one run" in text
        with pytest.raises(LspError, match="refused the connection"):
            lsp.do("attach", old)


def test_a_service_that_is_started_anew_is_shown_instead(folder, services):
    services.append(Service(folder, folder / "hot", "2000"))
    with Lsp(folder, "here.json") as lsp:
        shown(lsp)
        first = lsp.status()["source"]
        services.pop().end()
        until(lambda: lsp.status()["link"] == "lost", "its loss")
        assert lsp.status()["samples"] > 0  # what came stays
        (folder / "here.json").unlink()
        services.append(Service(folder, folder / "hot", "2000"))
        until(lambda: lsp.status()["source"] not in ("", first), "the next one")
        assert lsp.status()["link"] == "open"


def test_a_program_without_lines_or_names_says_what_to_do(folder):
    subprocess.run(["strip", folder / "hot"], check=True)
    with Lsp(folder, str(recorded(folder))) as lsp:
        uri = lsp.open(folder / "hot.cpp")
        text = until(lambda: [one for one in warnings(lsp) if "build it with -g" in one], "a warning")[0]
        assert "no function of hot has a file and a line" in text
        assert lsp.lenses(uri) == {} and lsp.hints(uri) == {}


def test_sources_that_were_moved_are_found_by_a_source_map(folder):
    session = recorded(folder)
    moved = folder.parent / "moved"
    shutil.move(folder, moved)
    session = moved / session.name
    with Lsp(moved, str(session)) as lsp:
        uri = lsp.open(moved / "hot.cpp")
        text = until(lambda: [one for one in warnings(lsp) if "is not here" in one], "a warning")[0]
        assert f"start with --source-map {folder}={moved}" in text
        assert lsp.lenses(uri) == {}
    with Lsp(moved, "--source-map", f"{folder}={moved}", str(session)) as lsp:
        uri = lsp.open(moved / "hot.cpp")
        shown(lsp)
        assert set(lsp.lenses(uri)) == {project.SPIN, project.WARM, project.HOT, project.MAIN}


def later(file, text: str) -> None:
    """As if it had been written a minute from now."""
    file.write_text(text)
    os.utime(file, (time.time() + 60, time.time() + 60))


def test_a_file_that_changed_before_it_was_opened_is_marked_and_has_no_lines(folder):
    session = recorded(folder)
    source = (folder / "hot.cpp").read_text()
    later(folder / "hot.cpp", source.replace("static void warm", "static void lukewarm").replace("#include", "\n#include", 1))
    with Lsp(folder, str(session)) as lsp:
        uri = lsp.open(folder / "hot.cpp")
        shown(lsp)
        lenses = lsp.lenses(uri)
        assert "changed after the program that was sampled was built" in lenses[1][0]
        assert project.WARM + 1 not in lenses  # it has another name now
        assert lenses[project.HOT + 1][0].startswith("stale: self")
        assert lsp.hints(uri) == {}
        (hot,) = [one for one in lsp.ask("workspace/symbol", query="hot") if one["name"] == "hot"]
        assert hot["containerName"].startswith("stale: ")


def test_a_module_that_was_built_anew_does_not_speak_for_the_one_that_was_sampled(folder):
    session = recorded(folder)
    source = (folder / "hot.cpp").read_text()
    later(folder / "hot.cpp", "\n" + source)
    project.compiled(folder)  # newer than the file, but not what ran
    os.utime(folder / "hot", (time.time() + 120, time.time() + 120))
    with Lsp(folder, str(session)) as lsp:
        uri = lsp.open(folder / "hot.cpp")
        shown(lsp)
        lenses = lsp.lenses(uri)
        assert "changed after" in lenses[1][0] and lsp.hints(uri) == {}


def test_names_with_control_characters_and_markdown_are_shown_as_they_are(folder):
    evil = "*b*[x](command:evil)\x1b[31m\u202e`<b>`"
    subprocess.run(["objcopy", f"--redefine-sym=_ZL4spini={evil}", folder / "hot"], check=True)
    with Lsp(folder, str(recorded(folder))) as lsp:
        uri = lsp.open(folder / "hot.cpp")
        shown(lsp)
        line = (folder / "hot.cpp").read_text().splitlines()[project.HOT - 1]
        hover = lsp.hover(uri, project.HOT, line.index("hot("))
        names = [one["name"] for one in lsp.ask("workspace/symbol", query="evil")]
        said = str([hover, names, lsp.lenses(uri)])
    assert "\x1b" not in said and "\u202e" not in said
    assert names == ["*b*[x](command:evil)?[31m?`<b>`"]
    assert r"\*b\*\[x\]\(command\:evil\)?\[31m?\`\<b\>\`" in hover


def test_words_that_are_wrong_are_named(folder):
    with pytest.raises(LspError, match="initializationOptions: hot: a percentage from 0 to 100 is expected"):
        Lsp(folder, options={"hot": 200})
    with Lsp(folder) as lsp:
        for command, words, reason in (
            ("attach", [17], "attach: a URI, an info file or a session is expected"),
            ("attach", ["no/such/file"], "'no/such/file' is neither the URI of a service nor a file"),
            ("attach", ["hot.cpp"], "it is no isoscope session"),
            ("attach", ["ftp://x"], "is not the URI of a service"),
            ("run", [], "run: there is no launch entry"),
            ("run", [{"program": 1}], "launch: program: a file is expected"),
            ("run", [{"program": "./no-such-program"}], "no-such-program"),
            ("run", [{"program": "./hot", "options": ["--perod", "7"]}], "perod"),
            ("nonsense", [], "there is no command isoscope.nonsense"),
        ):
            with pytest.raises(LspError, match=reason):
                lsp.do(command, *words)
        with pytest.raises(LspError, match="window"):
            lsp.do("window", 5, 1)


def test_a_project_of_50_000_files_is_not_searched_through(folder, services):
    for number in range(250):
        inner = folder / f"part{number}"
        inner.mkdir()
        for name in range(200):
            (inner / f"{name}.cpp").touch()
    services.append(Service(folder, folder / "hot", "2000"))
    start = time.monotonic()
    with Lsp(folder) as lsp:
        uri = lsp.open(folder / "hot.cpp")
        until(lambda: lsp.lenses(uri), "lenses")
    assert time.monotonic() - start < 10  # a start of node and one of the service's replies, on a busy machine


def test_what_it_started_ends_with_it(folder):
    rounds = f"9{os.getpid()}"  # nobody else's
    lsp = Lsp(folder, options={"launch": [{"program": "./hot", "args": [rounds]}]})
    lsp.do("run")
    until(lambda: lsp.status()["samples"], "samples")
    program = subprocess.run(["pgrep", "-f", f"hot {rounds}"], capture_output=True, text=True).stdout.split()
    assert program
    lsp.process.terminate()
    lsp.process.wait(30)
    until(lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in program), "the program's end")


def children_of(pid: int) -> list[int]:
    words = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in words.split()]


def test_a_server_that_is_killed_leaves_no_service_of_a_session_behind(folder):
    lsp = Lsp(folder, str(recorded(folder)))
    shown(lsp)
    (service,) = children_of(lsp.process.pid)
    assert os.readlink(f"/proc/{service}/exe") == os.path.realpath(ISOSCOPE)
    lsp.process.kill()
    lsp.process.wait(30)
    until(lambda: not os.path.exists(f"/proc/{service}/exe"), "the service's end")


def test_help_needs_no_node(folder):
    done = subprocess.run([ISOSCOPE, "lsp", "--help"], capture_output=True, text=True, env={"PATH": "/nonexistent"})
    assert done.returncode == 0 and "--source-map FROM=TO" in done.stdout
    done = subprocess.run([ISOSCOPE, "lsp"], capture_output=True, text=True, env={"PATH": "/nonexistent"})
    assert done.returncode == 125
    assert "node not found: `isoscope lsp` runs in node, from 18 on: install Debian's nodejs" in done.stderr
