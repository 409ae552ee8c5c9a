"""What systemd does for a service, as far as it matters: sockets that wait, READY=1, and a store of descriptors.

    with Supervisor(folder) as supervisor:
        supervisor.start()      # as often as wanted; what was stored is passed on
"""

from __future__ import annotations

import array
import os
import socket
import subprocess
import threading
from pathlib import Path
from typing import Optional

from harness import ISOSCOPE, until


class Supervisor:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = str(folder / "iso.sock")
        self.feed = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.feed.bind(self.path)
        os.chmod(self.path, 0o666)
        self.feed.listen(64)
        self.port = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.port.bind(("127.0.0.1", 0))
        self.port.listen(64)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(str(folder / "notify"))
        self.store: list[tuple[str, int]] = []
        self.said: list[str] = []
        self.process: Optional[subprocess.Popen] = None
        self._lock = threading.Lock()
        self._ends = False
        self._thread = threading.Thread(target=self._hear, daemon=True)
        self._thread.start()

    def _hear(self) -> None:
        while True:
            text, ancillary, _, _ = self.notify.recvmsg(4096, socket.CMSG_SPACE(4 * 16))
            if self._ends:
                return
            fields = dict(line.split("=", 1) for line in text.decode().splitlines())
            descriptors = array.array("i")
            for level, kind, data in ancillary:
                assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
                descriptors.frombytes(data)
            with self._lock:
                self.said.append(text.decode())
                if fields.get("FDSTORE") == "1":
                    self.store += [(fields["FDNAME"], one) for one in descriptors]
                if fields.get("FDSTOREREMOVE") == "1":
                    for name, one in self.store:
                        if name == fields["FDNAME"]:
                            os.close(one)
                    self.store = [entry for entry in self.store if entry[0] != fields["FDNAME"]]

    def names(self) -> list[str]:
        with self._lock:
            return sorted(name for name, _ in self.store)

    def start(self, *options: str) -> None:
        """As systemd does: the descriptors from 3 on, LISTEN_PID is the service itself."""
        with self._lock:
            self.said.clear()
            passed = [("feed", self.feed.fileno()), ("port", self.port.fileno()), *self.store]
        names = ":".join(name for name, _ in passed)
        high = [os.dup(one) for _, one in passed]

        script = ("import os, sys\n"
                  "given = list(map(int, sys.argv[1].split(',')))\n"
                  "high = [os.dup(one) for one in given]\n"
                  "import fcntl\n"
                  "high = [fcntl.fcntl(one, fcntl.F_DUPFD, 3 + len(given) + 200) for one in given]\n"
                  "for i, one in enumerate(high): os.dup2(one, 3 + i)\n"
                  "os.closerange(3 + len(given), 4096)\n"
                  "os.environ['LISTEN_PID'] = str(os.getpid())\n"
                  "os.execv(sys.argv[2], sys.argv[2:])\n")
        self.process = subprocess.Popen(
            ["/usr/bin/python3", "-c", script, ",".join(map(str, high)), ISOSCOPE, "serve", "--socket",
             self.path, "--state", str(self.folder / "state"), *options],
            pass_fds=high, stdin=subprocess.DEVNULL, stderr=open(self.folder / "stderr", "ab"),
            env={**os.environ, "LISTEN_FDS": str(len(high)), "LISTEN_FDNAMES": names,
                 "NOTIFY_SOCKET": str(self.folder / "notify")})
        for one in high:
            os.close(one)
        until(lambda: self.process.poll() is not None or any("READY=1" in text for text in self.said), "READY=1")
        assert self.process.poll() is None, (self.folder / "stderr").read_text()

    def stop(self) -> int:
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(60)

    def __enter__(self) -> "Supervisor":
        return self

    def __exit__(self, *_) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)
        self._ends = True
        ending = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        ending.connect(str(self.folder / "notify"))
        ending.send(b"X=1")
        self._thread.join(30)
        for one in (ending, self.feed, self.port, self.notify):
            one.close()
        for _, one in self.store:
            os.close(one)
