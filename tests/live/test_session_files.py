"""The Python client's own reader of session files, beside the service that wrote them: the same samples."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from harness import DEADLINE_S, ISOSCOPE, ROOT, Client, profiled, record, serving, workload

sys.path.insert(0, str(ROOT / "tests" / "python"))

from isoscope import formats  # noqa: E402
from profiles import totals  # noqa: E402

PYTHON = ["/usr/bin/python3", str(ROOT / "examples" / "stdlib_parse.py"), "0.6"]
PROGRAMS = {
    "python": (PYTHON,),
    "threads": ([workload("threads"), "3", "1"],),
    "several-processes": ([workload("forks"), "0.3"],),
    "functions-of-its-own-making": ([workload("cooperates"), "jit", "0.5"],),
    "wall-mode": ([workload("waits"), "0.5"], "--mode", "wall"),
    "without-symbols": (PYTHON, "--no-symbols"),
}


def plain(profile) -> list[tuple]:
    """Each sample by its words, in an order that does not depend on tables."""
    return sorted(
        (
            row.time_us,
            row.thread.process.label,
            row.thread.tid,
            row.weight_us,
            row.user_tag,
            row.state,
            row.whole,
            tuple((f.function.id, f.function.name, f.line, f.inlined, f.offset) for f in profile.stack(row.node)),
        )
        for row in profile.samples()
    )


def functions_of(profile) -> list[str]:
    """URIs of libraries are words of the wire, made of their paths."""
    return sorted(
        str((f.id, f.name, f.full_name, f.kind, f.file, f.line, f.offset, f.size, vars(f.library) | {"uri": ""}))
        for f in {frame.function for frame in profile.frames}
    )


def about(profile) -> list:
    return [profile.period_us, profile.true_period_us, dict(profile.lost), profile.runtimes,
            sorted((t.process.label, t.tid, t.name) for t in profile.threads), profile.notes]  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_session_has_the_samples_that_its_service_has(name):
    is_what_its_service_has(*PROGRAMS[name])


def test_a_session_has_the_inlined_functions_that_its_service_has(tmp_path):
    program = tmp_path / "inlines"
    source = ROOT / "tests" / "workloads" / "inlines.cpp"
    subprocess.run(["c++", "-O2", "-g", source, "-o", program], check=True, timeout=DEADLINE_S)
    session = is_what_its_service_has([str(program), "0.5"])
    assert any(frame.inlined for frame in session.frames)


def is_what_its_service_has(command, *options):
    with profiled(command, *options) as service, Client(service.uri) as client:
        live = client.profile(pcs=True)
        session = formats.parse(client.session())
    assert len(live) > 20, "the machine had no time for it"
    assert totals(session) == totals(live)
    assert plain(session) == plain(live)
    assert functions_of(session) == functions_of(live)
    assert about(session) == about(live)
    return session


def test_what_was_recorded_has_the_samples_that_it_is_served_with(tmp_path):
    file = tmp_path / "a.isoscope"
    record(file, [workload("threads"), "3", "1"])
    session = formats.open(file)
    with serving(file) as service, Client(service.uri) as client:
        served = client.profile(pcs=True)
    assert len(session) > 20 and plain(session) == plain(served)
    assert about(session) == about(served)


def said(*words) -> subprocess.CompletedProcess:
    return subprocess.run([ISOSCOPE, *map(str, words)], capture_output=True, text=True, timeout=DEADLINE_S)


def test_save_writes_a_session_that_commands_take(tmp_path):
    file, page = tmp_path / "a.isoscope", tmp_path / "a.html"
    with profiled([workload("threads"), "3", "1"]) as service:
        done = said("save", service.uri, "-o", file)
        assert done.returncode == 0 and f"wrote {file}, {file.stat().st_size:,} bytes" in done.stderr
        live = said("tree", "--json", service.uri)
        assert said("save", service.uri, "-o", file).returncode == 0  # in place of a session
        assert said("export", "-o", page, service.uri).returncode == 0
    assert said("tree", "--json", file).stdout == live.stdout
    assert 'id="profile">' in page.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.isoscope"]


def test_save_leaves_alone_what_is_no_session(tmp_path):
    file = tmp_path / "precious"
    file.write_text("#!/bin/sh\n")
    with profiled([workload("threads"), "1", "1"]) as service:
        done = said("save", service.uri, "-o", file)
    assert done.returncode == 1 and "is no session" in done.stderr
    assert file.read_text() == "#!/bin/sh\n"


def test_save_needs_a_service(tmp_path):
    assert "needs a URI" in said("save", "-o", tmp_path / "x").stderr
    done = said("save", "-o", tmp_path / "x", "http://127.0.0.1:1/nobody=/")
    assert done.returncode == 3 and not list(Path(tmp_path).iterdir())
