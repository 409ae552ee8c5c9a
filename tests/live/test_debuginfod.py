"""Debian's debuginfod as the store of debug files that machines share: what was recorded where there were none is
named by what it has. It listens on all addresses, so it gets a network of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ISOSCOPE, Client, record, serving
from mock_store import Store
from pushing import build_of

WORK = """
#include <time.h>
static volatile long sum;
static inline __attribute__((always_inline)) void add(long n) { for (long i = 0; i < n; i++) sum += i; }
static __attribute__((noinline)) void secret_work(void) { add(100000); }
int main(void)
{
    while (clock() < CLOCKS_PER_SEC / 3)
        secret_work();
    return 0;
}
"""
# Words: the store's folder, its database, a build id, and a command that is run while the store is there.
SCRIPT = """
import fcntl, os, socket, struct, subprocess, sys, time, urllib.error, urllib.request
folder, database, build_id, *command = sys.argv[1:]
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh", b"lo", 1))  # SIOCSIFFLAGS: IFF_UP
store = subprocess.Popen(["debuginfod", "-F", folder, "-d", database, "-p", "8002", "-t", "0"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         env={k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"})  # else it asks itself
try:
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:8002/buildid/{build_id}/debuginfo", timeout=10).read()
            break
        except OSError:
            assert time.monotonic() < deadline, "debuginfod does not have it"
            time.sleep(0.05)
    status = subprocess.call(command)
finally:
    store.kill()
    store.wait()
sys.exit(status)
"""
ALONE = ["unshare", "--user", "--map-root-user", "--net"]


@pytest.fixture
def alone() -> list[str]:
    """Begins a command in a network of its own."""
    if not shutil.which("debuginfod"):
        pytest.skip("there is no debuginfod: install debuginfod")
    asked = subprocess.run([*ALONE, "true"], capture_output=True, text=True)
    if asked.returncode:
        pytest.skip(f"no network namespace for debuginfod: {asked.stderr.strip()}")
    return ALONE


def names(file: Path) -> dict[str, int]:
    """Lines of each function."""
    with serving(file) as service, Client(service.uri) as client:
        profile = client.profile()
        return {frame.function.name: frame.function.line for row in profile.samples() for frame in profile.stack(row.node)}


def named_by(alone: list[str], store: Path, build_id: str, session: Path, tmp_path: Path) -> dict[str, int]:
    """The session's names after debuginfod has served the folder."""
    named = tmp_path / "named.isoscope"
    environment = {**os.environ, "DEBUGINFOD_URLS": "http://127.0.0.1:8002",
                   "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache")}
    subprocess.run([*alone, sys.executable, "-c", SCRIPT, str(store), str(tmp_path / "store.sqlite"), build_id, ISOSCOPE,
                    "symbolize", "--debuginfod", "-o", str(named), str(session)],
                   check=True, timeout=120, env=environment)
    return names(named)


def test_a_session_without_names_is_named_by_the_store(alone, compiled, tmp_path):
    program = compiled("stored", WORK, "-O1", "-g", "-Wl,--build-id")
    build_id, store, session = build_of(program), tmp_path / "store", tmp_path / "bare.isoscope"
    store.mkdir()
    subprocess.run(["objcopy", "--only-keep-debug", program, str(store / "stored.debug")], check=True)
    subprocess.run(["strip", program], check=True)
    record(session, [program], "--no-symbols", check=True)
    os.unlink(program)  # another machine does not have it
    assert not {"secret_work", "main"} & set(names(session))
    found = named_by(alone, store, build_id, session, tmp_path)
    assert found["secret_work"] == 5 and found["add"] == 4 and found["main"] == 6


def test_debuginfod_serves_what_was_uploaded(alone, compiled, tmp_path):
    program = compiled("uploaded", WORK, "-O1", "-g", "-Wl,--build-id")
    build_id, folder, session = build_of(program), tmp_path / "store", tmp_path / "bare.isoscope"
    record(session, [program], "--no-symbols", check=True)
    with Store(folder) as store:
        subprocess.run([ISOSCOPE, "symbolize", "--upload", store.url, str(session)], check=True, timeout=120)
    os.unlink(program)
    found = named_by(alone, folder, build_id, session, tmp_path)
    assert found["secret_work"] == 5 and found["add"] == 4 and found["main"] == 6
