"""A headless Chromium, driven over its own debugging protocol.

    with Browser("/usr/bin/chromium") as browser:
        browser.open("http://127.0.0.1:8080/")
        browser.until("document.title == 'x'", "the title")
        browser.console          # what pages wrote, oldest first
"""

from __future__ import annotations

import base64
import itertools
import json
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import websocket

DEADLINE_S = 240  # a page with a viewer of megabytes, on a busy machine


class Browser:
    def __init__(self, binary: str, width: int = 1200, height: int = 1000) -> None:
        self.binary = binary
        self.size = f"{width},{height}"
        self.console: list[str] = []
        self.port = 0  # of its debugging, once it runs
        self.ids = itertools.count(1)

    def __enter__(self) -> Browser:
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [self.binary, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync",
             "--disable-component-update", "--disable-default-apps", "--no-proxy-server",
             f"--window-size={self.size}", "--remote-debugging-port=0",
             "--remote-allow-origins=*", f"--user-data-dir={self.folder.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.socket = websocket.create_connection(self._page(), timeout=DEADLINE_S)
            for domain in ("Page", "Runtime", "Log"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()

    def _page(self) -> str:
        """The address of its first tab."""
        port_file = Path(self.folder.name) / "DevToolsActivePort"
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.binary} ended with {self.process.returncode}")
            if port_file.exists() and "\n" in (text := port_file.read_text()):
                return self._first_tab(int(text.split()[0]))
            time.sleep(0.05)
        raise TimeoutError(f"{self.binary} opened no debugging port within {DEADLINE_S} s")

    def _first_tab(self, port: int) -> str:
        self.port = port
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as answer:
            return next(t["webSocketDebuggerUrl"] for t in json.load(answer) if t["type"] == "page")

    def call(self, method: str, **params: Any) -> Any:
        request = next(self.ids)
        self.socket.send(json.dumps({"id": request, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == request:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self._event(message)

    def _event(self, message: Any) -> None:
        params = message.get("params", {})
        if message.get("method") == "Runtime.consoleAPICalled":
            words = [str(a.get("value", a.get("description", ""))) for a in params["args"]]
            self.console.append(f"{params['type']}: {' '.join(words)}")
        elif message.get("method") == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            text = details.get("exception", {}).get("description") or details["text"]
            self.console.append(f"exception: {text}")
        elif message.get("method") == "Log.entryAdded":
            entry = params["entry"]
            self.console.append(f"{entry['level']}: {entry['text']} {entry.get('url', '')}")

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)

    def value(self, expression: str) -> Any:
        """What the expression gives in the page; None where it throws (a page still loading)."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return result["result"].get("value")

    def until(self, expression: str, what: str, deadline_s: float = DEADLINE_S) -> Any:
        deadline = time.monotonic() + deadline_s
        while not (value := self.value(expression)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what}: not within {deadline_s:.0f} s; the page says\n"
                                   f"{self.text()[:2000]}\nand the console {self.console[-5:]}")
            time.sleep(0.1)
        return value

    def until_said(self, line: str) -> None:
        """The console has a line that begins so."""
        deadline = time.monotonic() + DEADLINE_S
        while not any(said.startswith(line) for said in self.console):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{line}: not within {DEADLINE_S} s; the console says\n"
                                   + "\n".join(self.console[-5:]))
            time.sleep(0.1)
            self.value("true")  # events come with an answer

    def text(self) -> str:
        return self.value("document.body ? document.body.innerText : ''") or ""

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
