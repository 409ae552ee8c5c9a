"""A host service under systemd, or who speaks as it does: sockets that wait, and feeds that outlive a restart."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import ISOSCOPE, ROOT, until
from host_service import Host
from supervisor import Supervisor


@contextmanager
def supervised():
    folder = Path(tempfile.mkdtemp(prefix="iso-host-", dir="/tmp"))
    folder.chmod(0o755)
    with Supervisor(folder) as supervisor:
        supervisor.start()
        host = Host(folder, supervisor.process)
        try:
            yield supervisor, host
        finally:
            for program in host.programs:
                program.kill()
                program.wait()
    shutil.rmtree(folder, ignore_errors=True)


def test_a_service_takes_the_sockets_that_wait():
    with supervised() as (supervisor, host):
        pid = host.start()
        with host.client() as client:
            host.until_sampled(client, pid)
        assert f":{supervisor.port.getsockname()[1]}/" in host.uri()
        assert supervisor.stop() == 0
        assert os.path.exists(supervisor.path), "the supervisor's socket is its own"


def test_feeds_and_tokens_outlive_a_restart():
    with supervised() as (supervisor, host):
        pid = host.start()
        with host.client() as client:
            host.until_sampled(client, pid)
        uri = host.uri()
        kept = until(lambda: [name for name in supervisor.names() if name.startswith(f"feed.{pid}.")],
                     "the feed in the store")
        assert any(name.endswith(".m") for name in kept)
        assert supervisor.stop() == 0
        tables = Path(host.folder / f"iso.sock.{os.getuid()}" / "tables")
        before = tables.stat()
        supervisor.start()
        assert host.uri() == uri, "the token and the port stay"
        with host.client() as client:
            found = host.until_sampled(client, pid)
            assert list(host.listed(client)) == [pid], "once, and not once more by itself"
            assert found["exe"].endswith(os.path.basename(os.path.realpath(sys.executable)))
            host.until_sampled(client, pid, found["samples"] + 50)
        after = tables.stat()
        assert after.st_ino == before.st_ino and after.st_size >= before.st_size
        assert "sampled before are sampled on" in host.errors()
        hot = subprocess.run([ISOSCOPE, "tree", uri], capture_output=True, text=True, timeout=120)
        assert "<module>" in hot.stdout or "_PyEval" in hot.stdout, hot.stdout + hot.stderr


def test_what_ended_is_stored_no_longer():
    with supervised() as (supervisor, host):
        pid = host.start()
        with host.client() as client:
            host.until_sampled(client, pid)
        until(lambda: any(f"feed.{pid}." in name for name in supervisor.names()), "the feed in the store")
        host.programs[0].kill()
        host.programs[0].wait()
        until(lambda: not any(f"feed.{pid}." in name for name in supervisor.names()), "an empty store")
        assert any(name.startswith("token.") for name in supervisor.names())


def test_a_feed_without_its_tables_is_let_go_and_comes_again():
    with supervised() as (supervisor, host):
        pid = host.start()
        with host.client() as client:
            host.until_sampled(client, pid)
        until(lambda: any(f"feed.{pid}." in name for name in supervisor.names()), "the feed in the store")
        supervisor.stop()
        (host.folder / f"iso.sock.{os.getuid()}" / "tables").unlink()
        supervisor.start()
        with host.client() as client:
            host.until_sampled(client, pid)


def test_a_socket_elsewhere_than_it_is_said_to_be_is_refused():
    with supervised() as (supervisor, _):
        supervisor.stop()
        supervisor.path += ".other"
        with pytest.raises(AssertionError) as refused:
            supervisor.start()
        assert "they must be one" in str(refused.value)


ACTIVATE = shutil.which("systemd-socket-activate")


@pytest.mark.skipif(not ACTIVATE, reason="systemd-socket-activate is not here (Debian's package systemd)")
def test_systemds_own_activation_starts_it_with_the_first_program(tmp_path):
    folder = Path(tempfile.mkdtemp(prefix="iso-host-", dir="/tmp"))
    path = folder / "iso.sock"
    with open(folder / "stderr", "wb") as errors:
        process = subprocess.Popen(
            [ACTIVATE, "--seqpacket", "-l", str(path), ISOSCOPE, "serve", "--socket", str(path),
             "--state", str(folder / "state")],
            stdin=subprocess.DEVNULL, stderr=errors)
    host = Host(folder, process)
    try:
        until(path.exists, "the socket")
        pid = host.start()
        with host.client() as client:
            host.until_sampled(client, pid)
    finally:
        for program in host.programs:
            program.kill()
            program.wait()
        host.end()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not here")
def test_systemd_finds_nothing_wrong_in_the_units(tmp_path):
    for unit in (ROOT / "server/host/units").glob("*.in"):
        kind = unit.name[: -len(".in")].replace(".user", "")
        where = tmp_path / ("user" if ".user." in unit.name else "system")
        where.mkdir(exist_ok=True)
        text = unit.read_text().replace("@CMAKE_INSTALL_FULL_BINDIR@", str(Path(ISOSCOPE).parent))
        (where / kind).write_text(text)
    for where in ("system", "user"):
        units = sorted(map(str, (tmp_path / where).iterdir()))
        said = subprocess.run(["systemd-analyze", "verify", "--man=no", f"--{where}", *units],
                              capture_output=True, text=True, timeout=120)
        wrong = [line for line in said.stderr.splitlines() if str(tmp_path) in line or "isoscope" in line]
        assert not wrong, wrong
