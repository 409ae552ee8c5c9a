"""What a host service keeps over a restart: settings of processes and programs, and what was stored."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import ISOSCOPE, serving, until
from host_service import NOBODY, host_service, reason_for_no_users
from isoscope.errors import RpcError
from test_host_supervised import supervised

USERS = pytest.mark.skipif(reason_for_no_users() is not None, reason=reason_for_no_users() or "")
PYTHON = os.path.basename(os.path.realpath(sys.executable))


def restart(host) -> None:
    assert host.end() == 0, host.errors()
    host.again()


def own(host, *parts: str) -> Path:
    return host.folder.joinpath("state", str(os.geteuid()), *parts)


def is_sampled_so(host, client, pid: int, sampling: bool, period: int):
    """It is listed, and is sampled as said."""
    found = host.listed(client).get(pid)
    return bool(found) and found["sampling"] == sampling and found["periodMicros"] == period


@contextmanager
def copied(tmp_path: Path, name: str):
    """The interpreter as another program."""
    path = tmp_path / name
    shutil.copy(os.path.realpath(sys.executable), path)
    yield str(path)


def test_settings_of_a_process_outlive_the_service():
    with supervised() as (supervisor, host):
        slow, other, off = host.start(), host.start(), host.start()
        with host.client() as client:
            for pid in (slow, other, off):
                host.until_sampled(client, pid)
        until(lambda: sum(name.endswith(".m") for name in supervisor.names()) == 3, "the feeds in the store")
        assert host.command("ctl", str(slow), "on", "--period", "50000").returncode == 0
        assert host.command("ctl", str(off), "off").returncode == 0
        assert supervisor.stop() == 0
        supervisor.start()
        with host.client() as client:
            until(lambda: is_sampled_so(host, client, slow, True, 50000), "the period")
            until(lambda: is_sampled_so(host, client, off, False, 10000), "the switch")
            host.until_sampled(client, other)
            assert is_sampled_so(host, client, other, True, 10000)
        assert host.command("ctl", str(slow), str(off), "default").returncode == 0
        assert supervisor.stop() == 0
        supervisor.start()
        with host.client() as client:
            for pid in (slow, off, other):
                host.until_sampled(client, pid)
                assert is_sampled_so(host, client, pid, True, 10000)


def test_settings_of_a_process_that_has_ended_are_forgotten():
    with host_service() as host:
        first, second = host.start(), host.start()
        with host.client() as client:
            for pid in (first, second):
                host.until_sampled(client, pid)
        assert host.command("ctl", str(first), "off").returncode == 0
        assert f"process {first} " in own(host, "settings").read_text()
        host.programs[0].kill()
        host.programs[0].wait()
        assert host.command("ctl", str(second), "off").returncode == 0
        text = own(host, "settings").read_text()
        assert f"process {first} " not in text and f"process {second} " in text


def test_a_program_is_switched_with_all_its_processes_now_later_and_over_a_restart():
    with host_service() as host:
        running = host.start()
        with host.client() as client:
            host.until_sampled(client, running)
            assert host.command("ctl", PYTHON, "on", "--period", "20000").returncode == 0
            until(lambda: is_sampled_so(host, client, running, True, 20000), "the period, of one that ran")
            later = host.start()
            until(lambda: is_sampled_so(host, client, later, True, 20000), "the period, of one that came")
            client.methods.private_set_process_sampling(pid=later, sampling="off")
            assert is_sampled_so(host, client, later, False, 10000), "its own holds before the program's"
            client.methods.private_set_process_sampling(pid=later, sampling="default")
            until(lambda: is_sampled_so(host, client, later, True, 20000), "the program's again")
            assert client.methods.private_get_process_list()["programs"] == [
                {"program": PYTHON, "sampling": True, "periodMicros": 20000}]
        (listed,) = json.loads(host.command("ps", "--programs", "--json").stdout)
        assert (listed["program"], listed["sampling"], listed["periodMicros"]) == (PYTHON, True, 20000)
        restart(host)
        with host.client() as client:
            new = host.start()
            until(lambda: is_sampled_so(host, client, new, True, 20000), "the period, after the restart")
            assert host.command("ctl", PYTHON, "default").returncode == 0
            until(lambda: is_sampled_so(host, client, new, True, 10000), "what all have")
        nothing = host.command("ctl", PYTHON, "default")
        assert nothing.returncode == 1 and "nothing is kept of this program" in nothing.stderr


def test_what_a_program_was_given_is_not_of_the_one_that_it_becomes(tmp_path):
    with host_service() as host, copied(tmp_path, "wrapper") as wrapper:
        assert host.command("ctl", wrapper, "off").returncode == 0
        code = ("import os, sys\nsys.stdin.readline()\n"
                f"os.execv({sys.executable!r}, [{sys.executable!r}, '-c', 'while True: pass'])\n")
        library = os.environ.get("ISOSCOPE_LIBRARY") or str(Path(ISOSCOPE).parents[1] / "lib" / "libisoscope.so.0")
        program = subprocess.Popen(
            [wrapper, "-c", code], stdin=subprocess.PIPE, text=True,
            env={"LD_PRELOAD": library, "ISOSCOPE_SOCKET": host.socket, "PYTHONHOME": sys.base_prefix})
        host.programs.append(program)
        with host.client() as client:
            until(lambda: is_sampled_so(host, client, program.pid, False, 10000), "the wrapper, which is off")
            program.stdin.write("\n")
            program.stdin.flush()
            assert host.until_sampled(client, program.pid)["exe"] != wrapper


def test_wrong_words_about_programs_are_named():
    with host_service() as host:
        for program, action, told, status in (("a/b", "off", "a path begins with '/'", 1),
                                              ("x" * 600, "off", "the name is too long", 1),
                                              ("", "off", "it has no name", 1),
                                              ("a\nb", "off", "a character that cannot be kept", 1),
                                              ("name", "attach", "attach takes processes, by their pids", 2)):
            refused = host.command("ctl", program, action)
            assert refused.returncode == status and told in refused.stderr, refused.stderr
        with host.client() as client:
            for number in range(64):
                client.methods.private_set_program_sampling(program=f"program{number}", sampling="off")
        refused = host.command("ctl", "one-more", "off")
        assert refused.returncode == 1 and "64 programs are kept already" in refused.stderr
        assert host.command("ctl", "program7", "on").returncode == 0


def test_a_damaged_file_is_said_and_its_good_lines_hold():
    with host_service() as host:
        host.uri()
        host.end()
        own(host, "settings").write_text(f"isoscope settings 1 another-boot\nprogram on 20000 {PYTHON}\n"
                                         f"process {os.getpid()} 1 off 0\nprogram maybe 3 x\n\n")
        host.again()
        pid = host.start()
        with host.client() as client:
            until(lambda: is_sampled_so(host, client, pid, True, 20000), "the good line")
        assert f"{own(host, 'settings')}: line 4 is not understood, and left out" in host.errors()


def test_a_second_service_in_the_same_folder_keeps_nothing_and_says_so():
    with host_service() as host:
        host.uri()
        with host_service("--state", str(host.folder / "state")) as second:
            with second.client() as client:
                with pytest.raises(RpcError) as refused:
                    client.methods.private_set_program_sampling(program="x", sampling="off")
                assert "it cannot be kept" in refused.value.details
            assert "another service keeps its things there" in second.errors()


def test_what_was_stored_is_a_session_that_ps_names_after_a_restart():
    with host_service("--period", "1000") as host:
        pid = host.start()
        with host.client() as client:
            host.until_sampled(client, pid, 50)
        restart(host)
        said = host.command("ps").stderr
        (path,) = own(host, "sessions").glob("*.isoscope")
        assert f"isoscope tree {path}" in said
        with serving(path) as saved, host.client() as client:
            assert client.methods.private_get_process_list()["sessions"] == [str(path)]
            tree = subprocess.run([ISOSCOPE, "tree", saved.uri], capture_output=True, text=True, timeout=120)
        assert "<module>" in tree.stdout or "_PyEval" in tree.stdout, tree.stdout + tree.stderr
        assert path.stat().st_mode & 0o077 == 0 or own(host).stat().st_mode & 0o077 == 0


def test_sessions_are_few_and_the_oldest_go():
    with host_service("--period", "1000") as host:
        host.uri()
        own(host, "sessions").mkdir()
        for number in range(12):
            own(host, "sessions", f"20200101-0000{number:02}Z.isoscope").write_bytes(b"")
        pid = host.start()
        with host.client() as client:
            host.until_sampled(client, pid, 20)
        host.end()
        names = sorted(path.name for path in own(host, "sessions").iterdir())
        assert len(names) == 8 and names[0] == "20200101-000005Z.isoscope" and not names[-1].startswith("2020")


def test_a_room_without_samples_leaves_no_session():
    with host_service() as host:
        host.uri()
        host.end()
        assert not own(host, "sessions").exists()


@USERS
def test_each_users_things_are_his_alone():
    with host_service("--period", "1000") as host:
        pid = host.start(uid=NOBODY)
        with host.client(NOBODY) as client:
            host.until_sampled(client, pid, 20)
        assert host.command("ctl", "some-program", "off", uid=NOBODY).returncode == 0
        host.end()
        folder = host.folder / "state" / str(NOBODY)
        assert {part.name for part in folder.iterdir()} == {"sessions", "settings"}
        for part in (folder, *folder.rglob("*")):
            assert part.stat().st_uid == NOBODY
        assert folder.stat().st_mode & 0o777 == 0o700
