"""Writes a transcript, a line at a time: at each moment the file is one.

    recorder = Recorder("T.jsonl", "127.0.0.1:8181", "127.0.0.1:9191", ["...=="])
    client = recorder.new_client()                        # "A", "B", ...
    recorder.message("send", client, TEXT, b'{"id": ...')
    recorder.close()

The service's token is a secret, for as long as it runs: in the file `$token` stands for it.

Threads  Any.
Errors   CannotWrite by the constructor. Later the file stays as it was before the line that could not
         be written; `problem` says why, and nothing more is written.
"""

from __future__ import annotations

import base64
import json
import os
import threading
import time
from typing import Any, Callable, Mapping, Sequence

from ..errors import CannotWrite
from .entry import TOKEN, parsed
from .frames import BINARY, CLOSE, PING, PONG, TEXT, close_of

# A longer text is kept as it was, once; a shorter one as JSON besides, for people and jq.
_RAW_BYTES_MAX = 4096
_KINDS = {TEXT: "text", BINARY: "binary", PING: "ping", PONG: "pong", CLOSE: "close"}
_PRIVATE = ("cookie", "authorization")  # of other servers on this host: no business of a file


class Recorder:
    def __init__(
        self,
        path: str,
        service: str,
        proxy: str,
        tokens: Sequence[str] = (),
        tell: Callable[[str], None] = lambda problem: None,
    ) -> None:
        """service, proxy: their hosts and ports. tokens: the service's own, "" where it has none; then
        others to be left out. tell: is called with a problem, once."""
        self.problem = ""
        self._tell = tell
        self.clients = 0
        self.lines = 0
        self._path, self._tokens = path, [token for token in tokens if token]
        self._lock = threading.Lock()
        self._bytes = 0
        self._began = time.monotonic()
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise CannotWrite(f"cannot write {path}: {error.strerror}") from error
        self.note({"transcript": 1, "service": service, "proxy": proxy,
                   "token": bool(tokens and tokens[0])})  # fmt: skip
        if self.problem:
            raise CannotWrite(self.problem)

    def new_client(self) -> str:
        with self._lock:
            self.clients += 1
            return _letters(self.clients)

    def note(self, what: Any) -> None:
        self._write({"dir": "send", "kind": "note", "client": "", "msg": what})

    def message(self, direction: str, client: str, opcode: int, content: bytes) -> None:
        entry: dict[str, Any] = {"dir": direction, "kind": _KINDS.get(opcode, "binary"), "client": client}
        if opcode == CLOSE:
            self.closed(direction, client, *close_of(content))
            return
        entry["bytes"] = len(content)
        if opcode == TEXT:
            self._write({**entry, **self._text(content)})
        else:
            self._write({**entry, "msg": base64.b64encode(content).decode()})

    def closed(self, direction: str, client: str, code: int, reason: str = "") -> None:
        """1006: the connection ended without saying so."""
        self._write({"dir": direction, "kind": "close", "client": client,
                     "msg": {"closed": [code, self._without_token(reason)]}})  # fmt: skip

    def request(self, client: str, method: str, path: str, headers: Mapping[str, str], body: bytes) -> None:
        told = {n: self._without_token(v) for n, v in headers.items() if n.lower() not in _PRIVATE}
        self._write({"dir": "send", "kind": "http", "client": client, "msg": {
            "method": method, "path": self._without_token(path), "headers": told,
            **self._body(body)}})  # fmt: skip

    def answer(self, client: str, head: Sequence[str], body: bytes) -> None:
        self._write({"dir": "recv", "kind": "http", "client": client, "msg": {
            "head": [self._without_token(line) for line in head], "bytes": len(body),
            **self._body(body)}})  # fmt: skip

    def close(self) -> None:
        """What is said after that is nobody's business."""
        with self._lock:
            os.close(self._file)
            self._file = -1

    def _text(self, content: bytes) -> dict[str, Any]:
        try:
            raw = self._without_token(content.decode("utf-8"))
        except UnicodeDecodeError:
            return {"msg": content.decode("utf-8", "replace"), "base64": base64.b64encode(content).decode()}
        try:
            msg = parsed(raw) if len(content) <= _RAW_BYTES_MAX else raw
        except ValueError:
            msg = raw
        return {"msg": msg, "raw": raw} if len(content) <= _RAW_BYTES_MAX else {"msg": msg}

    def _body(self, body: bytes) -> dict[str, str]:
        try:
            return {"body": self._without_token(body.decode("utf-8"))}
        except UnicodeDecodeError:
            return {"body": "", "base64": base64.b64encode(body).decode()}

    def _without_token(self, text: str) -> str:
        for token in self._tokens:
            text = text.replace(token, TOKEN).replace(token.replace("=", "%3D"), TOKEN)
        return text

    def _write(self, entry: dict[str, Any]) -> None:
        with self._lock:
            if self.problem or self._file < 0:
                return
            t_ms = round((time.monotonic() - self._began) * 1e3, 1)
            # In the order of the lines that there were before: direction, kind, client, time.
            head = {name: entry.pop(name) for name in ("dir", "kind", "client")}
            line = (json.dumps({**head, "t_ms": t_ms, **entry}) + "\n").encode()
            try:
                self._append(line)
                self.lines += 1
            except OSError as error:
                self.problem = f"cannot write {self._path}: {error.strerror}; it ends with line {self.lines}"
                self._tell(self.problem)

    def _append(self, line: bytes) -> None:
        written = 0
        try:
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError:
            if written:
                os.ftruncate(self._file, self._bytes)
            raise
        self._bytes += len(line)


def _letters(number: int) -> str:
    """A to Z, AA to ZZ, ..."""
    text = ""
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("A") + digit) + text
    return text
