"""A language client over a pipe, with nothing between the test and the protocol.

    with Lsp(project) as lsp:
        uri = lsp.open(project / "hot.cpp")
        lenses = lsp.ask("textDocument/codeLens", textDocument={"uri": uri})

Waiting is for a condition with a deadline. The server is ended by its own exit.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable, Optional

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ISOSCOPE_BUILD") or ROOT / "build").resolve()
ISOSCOPE = str(BUILD / "bin" / "isoscope")
DEADLINE_S = 30
CAPABILITIES = {
    "textDocument": {"codeLens": {}, "inlayHint": {}, "hover": {"contentFormat": ["markdown", "plaintext"]}},
    "workspace": {"codeLens": {"refreshSupport": True}, "inlayHint": {"refreshSupport": True}},
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
}


class LspError(Exception):
    """What the server refused, in its words."""


class Lsp:
    def __init__(self, root: Path, *words: str, options: Optional[dict[str, Any]] = None,
                 capabilities: dict[str, Any] = CAPABILITIES, env: Optional[dict[str, str]] = None) -> None:
        self.messages: list[dict[str, Any]] = []  # that the server sent of itself
        self.choice: Optional[str] = None  # the text that is chosen where the server asks; a part of it
        self._ids = itertools.count(1)
        self._answers: dict[int, dict[str, Any]] = {}
        self._came = threading.Condition()
        self._versions: dict[str, int] = {}
        surroundings = {name: text for name, text in os.environ.items() if name != "ISOSCOPE_URI"}
        surroundings.update(env or {})
        self.process = subprocess.Popen([ISOSCOPE, "lsp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        cwd=root, env=surroundings)
        threading.Thread(target=self._listen, daemon=True).start()
        self.initialized = self.ask("initialize", processId=os.getpid(), rootUri=root.as_uri(), capabilities=capabilities,
                                    workspaceFolders=[{"uri": root.as_uri(), "name": root.name}],
                                    **({"initializationOptions": options} if options else {}))
        self.tell("initialized")

    def __enter__(self) -> "Lsp":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self.process.poll() is None:
            self.ask("shutdown")
            self.tell("exit")
        assert self.process.wait(DEADLINE_S) == 0

    # ---- messages ----

    def _send(self, message: dict[str, Any]) -> None:
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def tell(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, **params: Any) -> Any:
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        with self._came:
            assert self._came.wait_for(lambda: number in self._answers, DEADLINE_S), f"{method}: no answer"
            answer = self._answers.pop(number)
        if "error" in answer:
            raise LspError(answer["error"]["message"])
        return answer["result"]

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            # Only messages may be written there.
            assert header.startswith(b"Content-Length: "), header
            while stream.readline().strip():
                pass
            self._take(json.loads(stream.read(int(header.split(b":")[1]))))

    def _take(self, message: dict[str, Any]) -> None:
        with self._came:
            if "method" in message:
                self.messages.append(message)
                if "id" in message:
                    self._send({"id": message["id"], "result": self._reply(message)})
            else:
                self._answers[message["id"]] = message
            self._came.notify_all()

    def _reply(self, message: dict[str, Any]) -> Any:
        if message["method"] != "window/showMessageRequest" or self.choice is None:
            return {"success": True} if message["method"] == "window/showDocument" else None
        return next((one for one in message["params"]["actions"] if self.choice in one["title"]), None)

    def said(self, method: str) -> list[dict[str, Any]]:
        return [one.get("params", {}) for one in self.messages if one["method"] == method]

    # ---- what editors do ----

    def open(self, file: Path, text: Optional[str] = None) -> str:
        uri = file.as_uri()
        self._versions[uri] = 1
        text = file.read_text() if text is None else text
        self.tell("textDocument/didOpen",
                  textDocument={"uri": uri, "languageId": "cpp", "version": 1, "text": text})
        return uri

    def change(self, uri: str, text: str) -> None:
        self._changed(uri, {"text": text})

    def edit(self, uri: str, place: dict[str, Any], text: str) -> None:
        self._changed(uri, {"range": place, "text": text})

    def _changed(self, uri: str, change: dict[str, Any]) -> None:
        self._versions[uri] += 1
        self.tell("textDocument/didChange", textDocument={"uri": uri, "version": self._versions[uri]},
                  contentChanges=[change])

    def do(self, command: str, *words: Any) -> Any:
        return self.ask("workspace/executeCommand", command=f"isoscope.{command}", arguments=list(words))

    def status(self) -> dict[str, Any]:
        return self.do("status")

    def lenses(self, uri: str) -> dict[int, list[str]]:
        """Titles by line, from 1 on."""
        found: dict[int, list[str]] = {}
        for lens in self.ask("textDocument/codeLens", textDocument={"uri": uri}):
            found.setdefault(lens["range"]["start"]["line"] + 1, []).append(lens["command"]["title"])
        return found

    def hints(self, uri: str, last: int = 100_000) -> dict[int, str]:
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": last, "character": 0}}
        hints = self.ask("textDocument/inlayHint", textDocument={"uri": uri}, range=whole)
        return {hint["position"]["line"] + 1: hint["label"] for hint in hints}

    def hover(self, uri: str, line: int, character: int) -> str:
        answer = self.ask("textDocument/hover", textDocument={"uri": uri},
                          position={"line": line - 1, "character": character})
        return answer["contents"]["value"] if answer else ""


def until(condition: Callable[[], Any], what: str, deadline_s: float = DEADLINE_S) -> Any:
    """The condition's first true value."""
    deadline = time.monotonic() + deadline_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what}: not within {deadline_s} s"
        time.sleep(0.05)
    return value


def table(source: str) -> dict[str, tuple[float, float, int]]:
    """`isoscope table`: self and total in percent, and samples, by function."""
    done = subprocess.run([ISOSCOPE, "table", source], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    rows = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) >= 7 and words[0].endswith("%"):
            rows[" ".join(words[5:-1])] = (float(words[0][:-1]), float(words[1][:-1]), int(words[4].replace(",", "")))
    return rows

