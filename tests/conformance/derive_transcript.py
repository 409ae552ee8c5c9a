#!/usr/bin/env python3
"""Makes dart_vm.jsonl, once, from a folder of transcripts of a real Dart VM:

    tests/conformance/derive_transcript.py FOLDER

What was asked stays, where isoscope's protocol has the method. Of the answers only the shape stays: lists
have one element, texts and numbers are empty, but for those that say what an object is, or name it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Iterator

Json = Any

HERE = Path(__file__).resolve().parent
OUT = HERE / "dart_vm.jsonl"
KNOWN = {path.stem for path in (HERE.parents[1] / "schemas" / "methods").glob("*.json")}
# Without those on what ends the VM, and on HTTP: conformance/replay.py has them.
TOPICS = ("handshake", "cpu-samples", "profiler-stream", "streams", "timeline", "memory", "developer")
SAYING = ("type", "kind", "id", "streamId", "method", "jsonrpc")  # members whose text stays
NAMED = ("isolates/", "isolateGroups/")  # ids that a client gives back


def shape(value: Json, name: str = "") -> Json:
    if isinstance(value, dict):
        return {member: shape(one, member) for member, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value[:1] if not (isinstance(one, dict) and "_recordTrimmed" in one)]
    if isinstance(value, str):
        return value if name in SAYING and (name != "id" or value.startswith(NAMED)) else ""
    return type(value)(0) if value is not None else None


def lines(topic: str, rows: list[Json]) -> Iterator[Json]:
    """Requests that are known and were answered, each with its answer; a client's name says the topic."""
    asked: dict[tuple[str, str], Json] = {}
    for row in rows:
        message, key = row["msg"], (row.get("client"), json.dumps(row["msg"].get("id")) if
                                    isinstance(row["msg"], dict) else "")
        if row["kind"] != "text" or not isinstance(message, dict):
            continue
        kept = {"dir": row["dir"], "kind": "text", "client": f"{topic} {row['client']}", "t_ms": row["t_ms"]}
        if row["dir"] == "send" and message.get("method") in KNOWN and "id" in message:
            asked[key] = {**kept, "msg": message}
        elif row["dir"] == "recv" and "method" not in message and key in asked:
            yield asked.pop(key)
            yield {**kept, "trimmed": True, "msg": {**shape(message), "id": message["id"],
                                                    **error(message)}}


def error(message: Json) -> Json:
    return {"error": {"code": message["error"]["code"], "message": ""}} if "error" in message else {}


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    seen: set[str] = set()
    with OUT.open("w") as out:
        for topic in TOPICS:
            rows = [json.loads(line) for line in (Path(sys.argv[1]) / f"{topic}.jsonl").read_text().splitlines()]
            pairs = list(lines(topic, rows))
            for request, reply in zip(pairs[::2], pairs[1::2]):
                what = json.dumps([request["client"], request["msg"]["method"], request["msg"].get("params")])
                if what not in seen:
                    out.write(json.dumps(request) + "\n" + json.dumps(reply) + "\n")
                seen.add(what)


if __name__ == "__main__":
    main()
