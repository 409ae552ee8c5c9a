"""A host service, programs of several users that feed it, and what each user hears."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Optional

from harness import BUILD, ISOSCOPE, Client, until

LIBRARY = str(BUILD / "lib" / "libisoscope.so.0")
SPIN = "n = 0\nwhile True: n += 1\n"
NOBODY, STRANGER = 65534, 64242  # the second has no account


def reason_for_no_users() -> Optional[str]:
    """Why processes of other users cannot be had here; None: they can."""
    if os.geteuid():
        return "needs root, to start programs of several users"
    for part in (Path(LIBRARY).resolve(), Path(ISOSCOPE), *Path(ISOSCOPE).resolve().parents):
        if not part.stat().st_mode & (0o001 if part.is_dir() else 0o004):
            return f"{part} is not there for other users"
    return None


def as_user(uid: Optional[int]) -> dict:
    """Words for subprocess."""
    return {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}


class Host:
    def __init__(self, folder: Path, process: subprocess.Popen) -> None:
        self.folder, self.process = folder, process
        self.socket = str(folder / "iso.sock")
        self.programs: list[subprocess.Popen] = []

    def start(self, code: str = SPIN, uid: Optional[int] = None, **environment: str) -> int:
        program = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.DEVNULL, cwd="/",
            env={"LD_PRELOAD": LIBRARY, "ISOSCOPE_SOCKET": self.socket, **environment}, **as_user(uid))
        self.programs.append(program)
        return program.pid

    def command(self, *words: str, uid: Optional[int] = None) -> subprocess.CompletedProcess:
        return subprocess.run([ISOSCOPE, *words, "--socket", self.socket], capture_output=True, cwd="/",
                              text=True, timeout=120, **as_user(uid))

    def ask(self, uid: Optional[int] = None) -> list[list[str]]:
        """[[uid, user, uri]], as the socket tells this user."""
        code = ("import socket, struct\n"
                "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
                f"s.connect({self.socket!r})\n"
                "s.send(struct.pack('=IHH', 0x6d6f7369, 1, 2))\n"
                "print(s.recv(1 << 18).decode(), end='')\n")
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/",
                              timeout=60, check=True, **as_user(uid)).stdout
        return [line.split(" ") for line in told.splitlines()]

    def uri(self, uid: Optional[int] = None) -> str:
        return self.ask(uid)[0][2]

    @contextmanager
    def client(self, uid: Optional[int] = None):
        with Client(self.uri(uid)) as client:
            yield client

    def listed(self, client) -> dict[int, dict]:
        return {one["pid"]: one for one in client.methods.private_get_process_list()["processes"]}

    def until_sampled(self, client, pid: int, samples: int = 5) -> dict:
        return until(lambda: (found := self.listed(client).get(pid)) and found["samples"] >= samples and found,
                     f"{samples} samples of {pid}")

    def errors(self) -> str:
        return (self.folder / "stderr").read_text()

    def end(self) -> int:
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(60)

    def again(self, *options: str) -> None:
        """The service anew, at the same socket."""
        self.process = _serve(self.folder, options)


def _serve(folder: Path, options) -> subprocess.Popen:
    with open(folder / "stderr", "ab") as errors:
        process = subprocess.Popen(
            [ISOSCOPE, "serve", "--socket", str(folder / "iso.sock"), "--state", str(folder / "state"), *options],
            stdin=subprocess.DEVNULL, stderr=errors)
    until(lambda: process.poll() is not None or b"feed" in (folder / "stderr").read_bytes().splitlines()[-1:][0]
          if (folder / "stderr").stat().st_size else False, "the service")
    assert process.poll() is None, (folder / "stderr").read_text()
    return process


@contextmanager
def host_service(*options: str):
    folder = Path(tempfile.mkdtemp(prefix="iso-host-", dir="/tmp"))
    folder.chmod(0o755)
    host = Host(folder, _serve(folder, options))
    try:
        yield host
    finally:
        for program in host.programs:
            with suppress(ProcessLookupError):
                program.send_signal(signal.SIGKILL)
            program.wait(60)
        host.end()
        shutil.rmtree(folder, ignore_errors=True)


def hello(path: str, message: bytes, descriptors: list[int]) -> socket.socket:
    """What a program could send; the connection, for its end to be seen."""
    call = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    call.settimeout(30)
    call.connect(path)
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"{len(descriptors)}i", *descriptors))]
    call.sendmsg([message], control if descriptors else [])
    return call
