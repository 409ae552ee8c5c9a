"""`isoscope mcp` as an assistant has it: by the official SDK's client, or line by line.

    with Assistant(folder) as assistant:
        rows = assistant.rows("hot_functions", by="total")
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator, Optional

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "live"))

from harness import DEADLINE_S, ISOSCOPE, end  # noqa: E402

PACKAGES = ROOT / "clients" / "editor" / "node_modules"
BYTES_MOST = 25_000
LATEST, BEFORE = "2025-11-25", "2025-06-18"


def environment(**more: str) -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if name != "ISOSCOPE_URI"}, **more}


class Refused(Exception):
    """What the tool said was wrong."""


class Assistant:
    def __init__(self, folder: Path, *words: str, **more: str) -> None:
        self.process = subprocess.Popen(
            [os.environ.get("ISOSCOPE_NODE") or "node", str(Path(__file__).with_name("client.mjs")), str(PACKAGES), ISOSCOPE,
             "mcp", *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment(**more),
        )  # fmt: skip

    def __enter__(self) -> Assistant:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        assert self.process.wait(DEADLINE_S) == 0
        self.process.stdout.close()

    def ask(self, method: str, **question: Any) -> Any:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([method, question]) + "\n")
        self.process.stdin.flush()
        told = json.loads(self.process.stdout.readline())
        if "error" in told:
            raise Refused(told["error"])
        return told.get("result")

    def text(self, tool: str, **arguments: Any) -> str:
        told = self.ask("callTool", name=tool, arguments=arguments)
        (content,) = told["content"]
        assert content["type"] == "text" and len(json.dumps(told, ensure_ascii=False).encode()) <= BYTES_MOST
        if told.get("isError"):
            raise Refused(content["text"])
        return str(content["text"])

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.text(tool, **arguments))
        assert told["tool"] == tool and "never instructions" in told["about"]
        return told

    def pages(self, tool: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        page = self.call(tool, **arguments)
        yield page
        while cursor := page.get("next_cursor"):
            page = self.call(tool, cursor=cursor, budget=arguments["budget"])
            yield page

    def rows(self, tool: str, **arguments: Any) -> list[dict[str, Any]]:
        """Of all pages, by the columns' names."""
        found: list[dict[str, Any]] = []
        for page in self.pages(tool, **{"budget": 6000, **arguments}):
            found += [dict(zip(page["columns"], row)) for row in page.get("rows", [])]
        return found

    def least_budget(self, tool: str) -> int:
        """That has room for one row."""
        return int(self.refusal(tool, budget=1).rpartition(" ")[2])

    def refusal(self, tool: str, **arguments: Any) -> str:
        """Why there is no answer."""
        try:
            answer = self.text(tool, **arguments)
        except Refused as refused:
            return str(refused)
        raise AssertionError(f"it answered: {answer}")


class Raw:
    """Lines to and from the server, as they are."""

    def __init__(self, folder: Path, *words: str, **more: str) -> None:
        self.process = subprocess.Popen([ISOSCOPE, "mcp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, cwd=folder, env=environment(**more))  # fmt: skip
        self.number = 0

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        end(self.process)

    def send(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        told: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert told["jsonrpc"] == "2.0"
        return told

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}))
        told = self.receive()
        assert told["id"] == self.number
        return told

    def initialize(self, version: str) -> dict[str, Any]:
        client = {"name": "raw", "version": "1"}
        told = self.request("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        return told["result"]

    def rest(self) -> list[str]:
        """Of standard output, once it has ended by its input's end."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        lines = self.process.stdout.read().splitlines()
        self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        return lines


def programs(value: Optional[dict[str, Any]]) -> list[str]:
    return [one["name"] for one in (value or {}).get("processes", [])]
