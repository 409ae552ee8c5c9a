#!/usr/bin/env python3
"""Writes dart_vm.json: what was asked of a real Dart VM, and what its answers looked like.

    tests/conformance/derive.py FOLDER      FOLDER holds transcripts, *.jsonl

A transcript has one JSON object a line: dir send|recv, kind text|http|close|note|binary, client,
msg. Nothing the VM said is kept: of results the kinds of their members, of errors the code, the
members of data, and which of the request's own words the details repeat.

Ids and times in requests become placeholders, which the replay fills in with the service's own.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Iterator, Optional

from shapes import Shapes

Json = Any
OUT = Path(__file__).with_name("dart_vm.json")

PLACEHOLDERS = [
    (r"isolateGroups/\d{9,19}$", "$group"),
    (r"isolates/\d{9,19}$", "$isolate"),
    (r"libraries/@\d+/scripts/.*", "$script"),
    (r"libraries/@\d+$", "$library"),
    (r"classes/\d+/functions/[^/]*%40\d+.*", "$function"),
    (r"code/[0-9a-f]+-.*", "$code"),
    (r"objects/\d+/\d+$", "$object"),
]
# Events that a request brings about, and that come before its reply.
CAUSED = {"VMFlagUpdate", "VMUpdate", "IsolateUpdate", "TimelineStreamSubscriptionsUpdate"}
LONG = 1500  # a longer request says nothing about its method; tests/live sends such


class Topic:
    """One transcript."""

    def __init__(self, name: str, rows: list[Json], shapes: Shapes) -> None:
        self.name = name
        self.rows = rows
        self.shapes = shapes
        self.system = {
            isolate["id"]
            for row in rows
            if isinstance(row["msg"], dict) and isinstance(row["msg"].get("result"), dict)
            for isolate in row["msg"]["result"].get("systemIsolates", [])
        }

    def steps(self) -> Iterator[Json]:
        for index, row in enumerate(self.rows):
            if row["dir"] == "send" and row["kind"] == "http":
                yield {"http": self.placed(row["msg"]), "answer": self.answer(index)}
            elif row["dir"] == "send" and row["kind"] == "text":
                yield from self.message(index)
            elif row["dir"] == "recv" and row["kind"] == "text":
                yield from self.call(row)

    def message(self, index: int) -> Iterator[Json]:
        row = self.rows[index]
        text = row.get("raw") or row["msg"]
        if not isinstance(text, str) or len(text) > LONG or text.count("[") > 100 or self.is_only_to_find_out(index):
            return
        step = {"client": row["client"], "send": self.placed(row["msg"])}
        if not isinstance(row["msg"], dict):
            step["send"] = text
        if isinstance(row["msg"], dict) and "method" not in row["msg"] and "id" in row["msg"]:
            if str(row["msg"]["id"]).startswith("sr"):
                yield {**step, "expect": {"nothing": True}}
                return
        yield {**step, "expect": self.reply(index)}

    def is_only_to_find_out(self, index: int) -> bool:
        """After the VM was started again, which isolate it has now."""
        before = self.rows[index - 1]["msg"] if index else ""
        return isinstance(before, str) and "restarted" in before

    def call(self, row: Json) -> Iterator[Json]:
        """A request to the client, whose service another one called."""
        message = row["msg"]
        if isinstance(message, dict) and message.get("method") not in (None, "streamNotify"):
            params = sorted(message.get("params", {}))
            yield {"client": row["client"], "called": message["method"], "params": params}

    def reply(self, index: int) -> Json:
        client, request = self.rows[index]["client"], self.rows[index]["msg"]
        caused: list[str] = []
        earlier = self.rows[index - 1] if index else {}
        in_flight = earlier.get("dir") == "send" and self.has_same_id(earlier["msg"], request)
        for row in self.rows[index + 1 :]:
            message = row["msg"]
            if row["dir"] == "send" and row["kind"] == "note" and "accepts" in str(message):
                return {"dies": True}
            if row.get("client") != client or row["dir"] != "recv":
                continue
            if row["kind"] == "close":
                return self.close(message)
            if not isinstance(message, dict):
                continue
            if message.get("method") == "streamNotify":
                caused += self.event(message["params"])
            elif self.answers(message, request) and in_flight:
                in_flight = False  # that was the one before us
            elif self.answers(message, request):
                return {**self.outcome(message, request), **({"after": caused} if caused else {})}
        return {"nothing": True}

    def answers(self, message: Json, request: Json) -> bool:
        if not isinstance(request, dict) or "method" in message:
            return False
        return float_or_same(message.get("id")) == float_or_same(request.get("id"))

    def has_same_id(self, earlier: Json, request: Json) -> bool:
        both = (earlier, request)
        return all(isinstance(one, dict) and "id" in one for one in both) and (
            earlier["id"] == request["id"])

    def event(self, params: Json) -> list[str]:
        event = params["event"]
        self.shapes.learn(event, "event")
        return [event["kind"]] if event["kind"] in CAUSED else []

    def close(self, message: Json) -> Json:
        if not isinstance(message, dict):
            return {"nothing": True}
        code = message["closed"][0]
        return {"dies": True} if code == 1006 else {"close": code}

    def outcome(self, message: Json, request: Json) -> Json:
        method = request.get("method")
        if "result" in message:
            return {"result": self.shapes.learn(message["result"], str(method))}
        error = message["error"]
        details = str((error.get("data") or {}).get("details", ""))
        return {"error": error["code"], "data": sorted(error.get("data") or {}),
                "repeats": repeated(details, request)}

    def answer(self, index: int) -> Json:
        message = next((row["msg"] for row in self.rows[index + 1 :]
                        if row["kind"] == "http" and row["dir"] == "recv"), None)
        if not isinstance(message, dict) or not message.get("head"):
            return {"dies": True}
        head = dict(line.lower().split(": ", 1) for line in message["head"][1:])
        answer = {"status": int(message["head"][0].split()[1]),
                  "type": head.get("content-type", "").split(";")[0]}
        body = self.body(message)
        if body:
            path = self.rows[index]["msg"]["path"].partition("?")[0]
            answer.update(self.outcome(body, {"method": path.rpartition("/")[2]}))
        if "location" in head:
            answer["location"] = "relative" if "://" not in head["location"] else "absolute"
        return answer

    def body(self, message: Json) -> Optional[Json]:
        body = message.get("body")
        if isinstance(body, str):  # in chunks, each after its length
            body = re.sub(r"(?:^|\r\n)[0-9A-Fa-f]+\r\n", "", body)
            try:
                body = json.loads(body)
            except ValueError:
                return None
        return body if isinstance(body, dict) and ("result" in body or "error" in body) else None

    def placed(self, value: Json) -> Json:
        if isinstance(value, dict):
            if str(value.get("Host", "")).startswith("127.0.0.1"):
                value = {name: value[name] for name in value if name != "Host"}
            return {name: self.placed_member(name, member) for name, member in value.items()}
        if isinstance(value, list):
            return [self.placed(one) for one in value]
        if isinstance(value, str):
            return self.placed_text(value)
        return value

    def placed_member(self, name: str, member: Json) -> Json:
        is_time = name == "timeOriginMicros" and re.fullmatch(r"[1-9]\d{9}", str(member))
        if is_time:
            return "$originText" if isinstance(member, str) else "$origin"
        return self.placed(member)

    def placed_text(self, text: str) -> str:
        if text in self.system:
            return "$systemIsolate"
        for pattern, name in PLACEHOLDERS:
            if re.fullmatch(pattern, text):
                return name
        text = re.sub(r"(isolateId=)isolates(/|%2F)\d{9,19}", r"\1$isolate", text)
        text = re.sub(r"(timeOriginMicros=)[1-9]\d{9}", r"\1$origin", text)
        return text.replace("/QUJDREVGR0g", "/$token").replace("QUJDREVGR0g", "$token")


def float_or_same(value: Json) -> Json:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else value


def repeated(details: str, request: Json) -> list[str]:
    """The request's method and parameters' names that the details speak of."""
    words = [str(request.get("method"))]
    params = request.get("params")
    words += params if isinstance(params, dict) else []
    return [word for word in words if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", details)]


def without_repeats(steps: list[Json]) -> list[Json]:
    """What was asked twice and answered alike says nothing new, where no order matters."""
    seen: set[str] = set()
    kept = []
    for step in steps:
        text = json.dumps(step, sort_keys=True)
        is_known = text in seen and step.get("send", {}) != step.get("called")
        if not (is_known and '"method": "getVM"' in text):
            kept.append(step)
        seen.add(text)
    return kept


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    shapes = Shapes()
    topics = {}
    for path in sorted(Path(sys.argv[1]).glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        topics[path.stem] = without_repeats(list(Topic(path.stem, rows, shapes).steps()))
    if not topics:
        sys.exit(f"derive.py: no *.jsonl in {sys.argv[1]}")
    write(topics, shapes)


def write(topics: dict[str, list[Json]], shapes: Shapes) -> None:
    """One step and one type a line, so that a change is read."""
    def lines(items: list[str]) -> str:
        return ",\n".join(f"  {item}" for item in items)

    parts = [f'{json.dumps(name)}: [\n{lines([json.dumps(s) for s in steps])}\n ]'
             for name, steps in topics.items()]
    types = [f"{json.dumps(name)}: {json.dumps(members)}"
             for name, members in shapes.to_json().items()]
    OUT.write_text('{"topics": {\n ' + ",\n ".join(parts) + '\n},\n"types": {\n'
                   + lines(types) + "\n}}\n")


if __name__ == "__main__":
    main()
