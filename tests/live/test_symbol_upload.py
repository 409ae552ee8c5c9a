"""`isoscope symbolize --upload URL`: debug files of a session's modules at a store that machines share."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from harness import ISOSCOPE, record
from mock_engine import dead_port
from mock_store import Store
from pushing import build_of
from test_debuginfod import WORK

OK, USAGE, REFUSED, UNSENT = 0, 2, 4, 5


class Recorded:
    def __init__(self, folder: Path, program: str) -> None:
        self.session = folder / "work.isoscope"
        self.program = program
        self.build_id = build_of(program)
        record(self.session, [program], check=True)

    @property
    def path(self) -> str:
        return f"buildid/{self.build_id}/debuginfo"


@pytest.fixture
def recorded(compiled, tmp_path) -> Recorded:
    return Recorded(tmp_path, compiled("stored", WORK, "-O1", "-g", "-Wl,--build-id"))


def upload(url: str, session: Path, *more: str) -> subprocess.CompletedProcess:
    return subprocess.run([ISOSCOPE, "symbolize", "--upload", url, *more, str(session)], capture_output=True, text=True,
                          timeout=120)


def line_of(done: subprocess.CompletedProcess, build_id: str) -> str:
    (line,) = [line for line in done.stdout.splitlines() if build_id in line]
    return line


def test_a_debug_file_is_put_once_and_then_it_is_there(recorded, tmp_path):
    before = recorded.session.read_bytes()
    with Store(tmp_path / "store") as store:
        first = upload(store.url + "/", recorded.session)
        sent = store.methods().count("PUT")
        second = upload(store.url, recorded.session)
        again = store.methods().count("PUT")
    assert (first.returncode, second.returncode) == (OK, OK), first.stderr + second.stderr
    assert line_of(first, recorded.build_id).startswith("sent ") and sent >= 1
    assert line_of(second, recorded.build_id).startswith("is there ") and again == sent
    assert (tmp_path / "store" / recorded.path).read_bytes() == Path(recorded.program).read_bytes()
    assert f"{sent} sent, 0 were there" in first.stderr and f"0 sent, {sent} were there" in second.stderr
    assert recorded.session.read_bytes() == before


def test_of_a_stripped_program_its_debug_file_is_sent(recorded, tmp_path):
    debug = Path(recorded.program).with_name("stored.debug")
    subprocess.run(["objcopy", "--only-keep-debug", recorded.program, str(debug)], check=True)
    subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", recorded.program], check=True)
    with Store(tmp_path / "store") as store:
        done = upload(store.url, recorded.session)
    assert done.returncode == OK
    assert (tmp_path / "store" / recorded.path).read_bytes() == debug.read_bytes()


def test_what_is_stripped_or_gone_or_too_large_is_said_and_no_failure(recorded, tmp_path):
    with Store(tmp_path / "store") as store:
        with open(recorded.program, "r+b") as grown:  # what stands behind the sections is nothing to a reader
            grown.truncate(2 << 20)
        large = upload(store.url, recorded.session, "--upload-limit", "1")
        subprocess.run(["strip", recorded.program], check=True)
        stripped = upload(store.url, recorded.session)
        Path(recorded.program).unlink()
        gone = upload(store.url, recorded.session)
    assert large.returncode == stripped.returncode == gone.returncode == OK
    assert line_of(large, recorded.build_id).startswith("too large ")
    assert "its debug file is not here" in line_of(stripped, recorded.build_id)
    assert line_of(gone, recorded.build_id).startswith("not here ")
    assert not (tmp_path / "store" / recorded.path).exists()


def test_a_dry_run_asks_and_sends_nothing(recorded, tmp_path):
    with Store(tmp_path / "store") as store:
        done = upload(store.url, recorded.session, "--dry-run")
        methods = set(store.methods())
    assert done.returncode == OK and methods == {"HEAD"}
    assert line_of(done, recorded.build_id).startswith("would be sent ") and " would be sent," in done.stderr


def test_headers_go_along_with_both(recorded, tmp_path):
    headers = tmp_path / "headers"
    headers.write_text("Authorization: Bearer secret\n")
    with Store(tmp_path / "store") as store:
        upload(store.url, recorded.session, "--upload-headers", str(headers))
        asked = store.asked
    assert {method for method, _, _ in asked} == {"HEAD", "PUT"}
    assert all(sent["Authorization"] == "Bearer secret" for _, _, sent in asked)


@pytest.mark.parametrize("status", [301, 401, 403, 405, 413])
def test_a_store_that_takes_none_has_refused_each(recorded, tmp_path, status):
    with Store(tmp_path / "store", status) as store:
        done = upload(store.url, recorded.session)
        puts = store.methods().count("PUT")
    assert done.returncode == REFUSED
    assert f"it answers with status {status}" in line_of(done, recorded.build_id)
    assert "0 sent, 0 were there" in done.stderr and f"{puts} refused" in done.stderr


@pytest.mark.parametrize("status", [403, 405, 501])
def test_where_nobody_may_ask_what_is_there_it_is_sent(recorded, tmp_path, status):
    with Store(tmp_path / "store", status, "HEAD") as store:
        done = upload(store.url, recorded.session)
    assert done.returncode == OK and line_of(done, recorded.build_id).startswith("sent ")


@pytest.mark.parametrize("method", ["HEAD", "PUT"])
def test_trouble_of_the_store_is_tried_three_times_and_ends_all(recorded, tmp_path, method):
    with Store(tmp_path / "store", 503, method) as store:
        done = upload(store.url, recorded.session)
        tries = store.methods().count(method)
    assert done.returncode == UNSENT and tries == 3
    assert len(done.stdout.splitlines()) == 1 + done.stdout.count("not here ") and "it answers with status 503" in done.stdout
    assert "repeat the command later" in done.stderr


def test_nobody_there_is_trouble(recorded):
    done = upload(f"http://127.0.0.1:{dead_port()}", recorded.session)
    assert done.returncode == UNSENT and "not sent " in done.stdout


@pytest.mark.parametrize("given, told", [
    (["--upload", "store:8002", "x"], "'store:8002' does not begin with http://HOST"),
    (["--upload", "http://u:p@h", "x"], "put it into a file of headers"),
    (["--upload", "http://h", "-o", "y", "x"], "-o and --debuginfod have no meaning"),
    (["--upload", "http://h", "--upload-headers", "/no/such", "x"], "'/no/such': No such file"),
    (["--dry-run", "x"], "--dry-run is of --upload URL"),
    (["--upload", "http://h", "/no/such.isoscope"], "/no/such.isoscope"),
])  # fmt: skip
def test_wrong_words_are_named(given, told):
    done = subprocess.run([ISOSCOPE, "symbolize", *given], capture_output=True, text=True, timeout=60)
    assert done.returncode == USAGE and told in done.stderr
