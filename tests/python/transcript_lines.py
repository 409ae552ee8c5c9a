"""Lines of transcripts, as a recorder writes them."""

import json

VERSION = {"type": "Version", "major": 4, "minor": 16}


def line(direction, msg, client="A", **more):
    raw = {"raw": json.dumps(msg)} if more.get("kind", "text") == "text" else {}
    return {"dir": direction, "kind": "text", "client": client, "t_ms": 0, "msg": msg, **raw, **more}


def ask(method, number="1", client="A", **params):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return line("send", message, client)


def reply(result, number="1", client="A"):
    return line("recv", {"jsonrpc": "2.0", "id": number, "result": result}, client)


def event(kind, stream="VM", client="A", **members):
    told = {"type": "Event", "kind": kind, "timestamp": 1, **members}
    params = {"streamId": stream, "event": told}
    return line("recv", {"jsonrpc": "2.0", "method": "streamNotify", "params": params}, client)
