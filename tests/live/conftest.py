"""Fixtures for tests of `isoscope run` itself: starting it in every way, and talking to it raw.

Profiles and what is in them are the business of harness.py. Only processes started here are
ended here, by their own pid, and waiting is for a condition with a deadline.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
import websocket
from harness import DEADLINE_S, ISOSCOPE, end, until
from wire_schema import WireChecker


class Socket:
    """A client's WebSocket, with nothing between the test and the wire."""

    def __init__(self, uri: str, **options) -> None:
        self.socket = websocket.create_connection(
            uri.replace("http:", "ws:") + "ws", timeout=30, skip_utf8_validation=True, **options
        )
        self.ids = itertools.count(1)
        self.checker = WireChecker()  # raises on what breaks its schema

    def send(self, method: str, **params) -> str:
        request_id = str(next(self.ids))
        request = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        text = json.dumps(request)
        self.checker.sent(text)
        self.socket.send(text)
        return request_id

    def receive(self, request_id: str):
        while True:
            text = self.socket.recv()
            self.checker.received(text)
            reply = json.loads(text)
            if reply.get("id") == request_id:
                return reply

    def receive_all(self, request_ids: list[str]) -> dict[str, dict]:
        """The replies to all of them, in whatever order they come."""
        replies: dict[str, dict] = {}
        while not all(request_id in replies for request_id in request_ids):
            text = self.socket.recv()
            self.checker.received(text)
            reply = json.loads(text)
            replies[reply.get("id")] = reply
        return replies

    def rpc(self, method: str, **params):
        reply = self.receive(self.send(method, **params))
        assert "error" not in reply, reply
        return reply["result"]

    def event(self):
        """The next one."""
        while True:
            text = self.socket.recv()
            self.checker.received(text)
            message = json.loads(text)
            if message.get("method") == "streamNotify":
                return message["params"]["event"]

    def close_code(self) -> int:
        """Reads on until the service closes, and says with which code."""
        while True:
            opcode, frame = self.socket.recv_data_frame(control_frame=True)
            if opcode == websocket.ABNF.OPCODE_CLOSE:
                return int.from_bytes(frame.data[:2], "big")

    def close(self) -> None:
        self.socket.close()


class Running:
    """An `isoscope run` that has not ended yet."""

    def __init__(self, process: subprocess.Popen, info: Path) -> None:
        self.process = process
        self.info = info
        self.sockets: list[Socket] = []

    @property
    def uri(self) -> str:
        until(lambda: self.info.exists() or self.process.poll() is not None, "the service info")
        return json.loads(self.info.read_text())["uri"]

    @property
    def port(self) -> int:
        return int(self.uri.split(":")[2].split("/")[0])

    def connect(self, **options) -> Socket:
        self.sockets.append(Socket(self.uri, **options))
        return self.sockets[-1]

    def line(self) -> str:
        """The program's next line."""
        return self.process.stdout.readline().rstrip("\n")

    def wait_for_end(self) -> None:
        """Of the program, with --keep: isoscope says it. (Its list of children is empty before
        the program's start as well.)"""
        for line in self.process.stderr:
            if "Ctrl-C or SIGTERM ends the service" in line:
                return
        raise AssertionError("isoscope itself has ended")


@pytest.fixture
def start(tmp_path):
    """start([program, ...], "--keep", ...) -> Running."""
    started: list[Running] = []

    def start_one(command, *options, binary=ISOSCOPE, **popen) -> Running:
        info = tmp_path / f"service-{len(started)}.json"
        words = [binary, "run", "--write-service-info", str(info), *options, "--", *command]
        pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
        process = subprocess.Popen(words, text=True, **{**pipes, **popen})
        started.append(Running(process, info))
        return started[-1]

    yield start_one
    for running in started:
        for socket in running.sockets:
            socket.close()
        end(running.process)


@pytest.fixture
def run():
    """run([program, ...], "--quiet", ...): waits for the end -> CompletedProcess."""

    def run_one(command, *options, binary=ISOSCOPE, **popen):
        defaults = {"capture_output": True, "text": True, "timeout": 5 * DEADLINE_S}
        return subprocess.run([binary, "run", *options, "--", *command], **{**defaults, **popen})

    return run_one


@pytest.fixture
def short_path():
    """A folder for sockets: a socket's path has room for 108 bytes, and tmp_path may be longer."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def compiled(tmp_path):
    """compiled("name", "int main(void) {...}", "-static") -> path of the program."""

    def compile_one(name: str, text: str, *flags: str) -> str:
        compiler = shutil.which("cc") or pytest.skip("needs a C compiler")
        source, binary = tmp_path / f"{name}.c", tmp_path / name
        source.write_text(text)
        subprocess.run([compiler, *flags, "-o", str(binary), str(source)], check=True)
        return str(binary)

    return compile_one
