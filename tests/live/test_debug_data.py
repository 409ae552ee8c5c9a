"""Names that are not in the module itself: from debuginfod servers, and of files that are gone.

The server is one of ours on 127.0.0.1, and can be as slow as a test wants: that is how a module
becomes slow to read.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from conftest import Socket
from harness import until

BURN = """
#include <time.h>
#include <unistd.h>
static volatile long sum;
static __attribute__((noinline)) void secret_work(void) { for (int i = 0; i < 100000; i++) sum += i; }
int main(int argc, char **argv)
{
    if (argc > 1) /* its own file */
        unlink(argv[1]);
    while (clock() < CLOCKS_PER_SEC / 3)
        secret_work();
    return 0;
}
"""
LATENCY_MAX_S = 0.050


class DebugServer(ThreadingHTTPServer):
    """debuginfod, as far as a client can tell. Answers once `answers` is set."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}  # by build id
        self.asked: list[str] = []
        self.answers = threading.Event()
        self.answers.set()


class Handler(BaseHTTPRequestHandler):
    server: DebugServer

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.answers.wait()
        words = self.path.split("/")
        body = self.server.files.get(words[2]) if words[1::2] == ["buildid", "debuginfo"] else None
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def server():
    server = DebugServer()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.answers.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def environment(server, tmp_path):
    return {**os.environ, "DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}",
            "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache")}


@pytest.fixture
def stripped(compiled, server, tmp_path) -> str:
    """A program whose debug file only the server has."""
    program, debug = compiled("burn", BURN, "-O1", "-g", "-Wl,--build-id"), tmp_path / "burn.debug"
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True)
    build_id = notes.stdout.split("Build ID:")[1].split()[0]
    subprocess.run(["objcopy", "--only-keep-debug", program, str(debug)], check=True)
    subprocess.run(["strip", program], check=True)
    server.files[build_id] = debug.read_bytes()
    debug.unlink()
    return program


def functions(client: Socket) -> set[str]:
    reply = client.rpc("_getCpuSamples", timestamp=0, count=1_000_000)
    return {function["name"] for function in reply["functions"]}


def latencies(client: Socket, calls: int) -> list[float]:
    taken = []
    for _ in range(calls):
        begin = time.monotonic()
        client.rpc("getVersion")
        taken.append(time.monotonic() - begin)
    return taken


def test_a_server_has_what_was_stripped(start, stripped, environment):
    running = start([stripped], "--keep", "--debuginfod", env=environment)
    running.wait_for_end()
    assert "secret_work" in functions(running.connect())


def test_nothing_is_asked_of_any_server_without_the_option(start, stripped, server, environment):
    running = start([stripped], "--keep", env=environment)
    running.wait_for_end()
    names = functions(running.connect())
    assert "secret_work" not in names and any(name.startswith("burn+0x") for name in names)
    assert server.asked == []


def test_the_service_answers_while_a_module_is_slow_to_read(
        start, stripped, server, environment):
    server.answers.clear()
    running = start([stripped], "--keep", "--debuginfod", env=environment)
    running.wait_for_end()
    waiting, other = running.connect(), running.connect()
    request = waiting.send("_getCpuSamples", timestamp=0, count=1_000_000)
    until(lambda: server.asked, "the worker's question")
    # The machine itself may be slow for a while; a service that waits is so in every round.
    until(lambda: max(latencies(other, 100)) < LATENCY_MAX_S, "a round without a wait")
    server.answers.set()
    assert "secret_work" in str(waiting.receive(request)["result"]["functions"])


def test_a_silent_server_keeps_nobody_from_leaving(start, stripped, server, environment):
    server.answers.clear()
    running = start([stripped], "--keep", "--debuginfod", env=environment)
    running.wait_for_end()
    until(lambda: server.asked, "the worker's question")
    running.process.terminate()
    running.process.wait(20)  # the library itself would wait for 90 s


def test_without_servers_or_library_the_option_is_refused(run, tmp_path):
    ours = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}
    refused = run(["echo", "started"], "--debuginfod", env=ours)
    assert (refused.returncode, refused.stdout) == (125, "")
    assert "the environment names no server: set DEBUGINFOD_URLS, such as to " in refused.stderr
    (tmp_path / "libdebuginfod.so.1").write_bytes(b"no library")
    refused = run(["echo", "started"], "--debuginfod", env={
        **ours, "DEBUGINFOD_URLS": "http://127.0.0.1:1", "LD_LIBRARY_PATH": str(tmp_path)})
    assert (refused.returncode, refused.stdout) == (125, "")
    assert "install libdebuginfod1" in refused.stderr


def may_open_mappings() -> bool:
    try:
        next(Path("/proc/self/map_files").iterdir()).open("rb").close()
    except OSError:
        return False
    return True


def test_a_program_that_deletes_itself_is_read_through_its_process(start, compiled):
    if not may_open_mappings():
        pytest.skip("the kernel opens mappings for root only")
    program = compiled("burn", BURN, "-O1")
    running = start([program, program], "--keep")
    running.wait_for_end()
    assert not Path(program).exists()
    assert "secret_work" in functions(running.connect())
