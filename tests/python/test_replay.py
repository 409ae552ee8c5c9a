"""A transcript recorded, replayed and played, against services that say exactly what the test wants.

The service is the player itself (`isoscope replay --server`), and where frames matter a server of bytes.
"""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest
import websocket
from conftest import ROOT
from isoscope import cli
from isoscope.transcripts import frames
from isoscope.transcripts.local_server import LocalServer, websocket_accept
from isoscope.transcripts.player import PlayerHandler
from isoscope.transcripts.proxy import Proxy, ProxyHandler
from isoscope.transcripts.recorder import Recorder
from isoscope.transcripts.script import Script
from isoscope.transcripts.service import ServiceAddress
from isoscope.transcripts.transcript import Transcript
from transcript_lines import VERSION, ask, event, line, reply

DEADLINE_S = 30


def until(condition, what):
    deadline = time.monotonic() + DEADLINE_S
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what}: not within {DEADLINE_S} s"
        time.sleep(0.01)
    return value


def written(path, *lines):
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return str(path)


@contextmanager
def serving(server):
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        with server:
            yield server
            server.stop()
            thread.join(DEADLINE_S)
    finally:
        server.stop()
        server.cut_off()


@contextmanager
def played(path):
    with serving(LocalServer(PlayerHandler, 0, Script(Transcript.read(path)))) as server:
        yield server


@contextmanager
def recorded(uri, path):
    """A proxy before it; yields its address."""
    with serving(LocalServer(ProxyHandler, 0, None)) as server:
        service = ServiceAddress(uri)
        recorder = Recorder(str(path), service.name, server.name, [service.token, server.token])
        server.context = Proxy(service, recorder)
        yield server.uri
        until(lambda: not server.connections, "the clients' end")
        recorder.close()


@contextmanager
def bytes_server(*connections):
    """Serves one connection after the other: each is a function of the stream and the socket, after
    the handshake. Yields the URI, and the requests it got."""
    heads = []

    def serve(listener):
        for talk in connections:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as stream:
                head = b"".join(iter(stream.readline, b"\r\n")).decode()
                heads.append(head)
                key = re.search(r"Sec-WebSocket-Key: (\S+)", head)
                if key:
                    connection.sendall(
                        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        b"Sec-WebSocket-Protocol: chat\r\nSec-WebSocket-Accept: "
                        + websocket_accept(key.group(1)).encode() + b"\r\n\r\n")  # fmt: skip
                talk(stream, connection)
        listener.close()

    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=serve, args=(listener,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/SECRET==/", heads
    finally:
        listener.close()


def connect(uri, **options):
    return websocket.create_connection(uri.replace("http:", "ws:") + "ws", timeout=DEADLINE_S, **options)


def isoscope(capsys, *words):
    try:
        status = cli.main(list(words))
    except SystemExit as end:
        status = end.code
    out, err = capsys.readouterr()
    return status, out, err


TALK = [
    ask("getVM"), reply({"type": "VM", "pid": 41, "isolates": [{"id": "isolates/41"}]}),
    ask("setFlag", "2", name="profiler", value="true"), event("VMFlagUpdate"), reply({"type": "Success"}, "2"),
    ask("getVersion", "1", "B"), reply(VERSION, "1", "B"),
    ask("getIsolate", "3", isolateId="isolates/41"), reply({"type": "Isolate", "n": 1}, "3"),
]  # fmt: skip


# The replay


def test_a_player_satisfies_its_own_transcript(tmp_path, capsys):
    path = written(tmp_path / "t.jsonl", *TALK)
    with played(path) as server:
        for compare in ("bytes", "shape"):
            done = isoscope(capsys, "replay", path, "--uri", server.uri, "--compare", compare)
            assert done == (0, f"4 sent, 5 compared by {compare}: all the same\n", "")
        assert server.context.unexpected == []


@pytest.mark.parametrize("compare", ["bytes", "shape"])
def test_a_broken_reply_is_reported_with_its_path(tmp_path, capsys, compare):
    path = written(tmp_path / "t.jsonl", *TALK)
    broken = [*TALK[:6], reply({**VERSION, "minor": "sixteen"}, "1", "B"), *TALK[7:]]
    with played(written(tmp_path / "broken.jsonl", *broken)) as server:
        words = ["replay", path, "--uri", server.uri, "--compare", compare]
        status, out, err = isoscope(capsys, *words)
        expected, got = ("16", '"sixteen"') if compare == "bytes" else ("integer", "string")
        assert (status, err) == (1, "")
        assert out.splitlines() == [
            'line 7, client B: getVersion (id "1")',
            f"  result.minor: expected {expected}, got {got}",
            f"4 sent, 5 compared by {compare}: 1 differ",
        ]
        status, out, _ = isoscope(capsys, *words, "--json")
        (found,) = json.loads(out)["differences"]
        assert (status, found["line"], found["path"], found["got"]) == (1, 7, "result.minor", got)


def test_junit_has_a_case_for_each_answer(tmp_path, capsys):
    path, xml = written(tmp_path / "t.jsonl", *TALK), tmp_path / "r.xml"
    broken = [*TALK[:1], reply({"type": "VM", "isolates": []}), *TALK[2:]]
    with played(written(tmp_path / "broken.jsonl", *broken)) as server:
        status, _, _ = isoscope(capsys, "replay", path, "--uri", server.uri, "--junit", str(xml))
        cannot = isoscope(capsys, "replay", path, "--uri", server.uri, "--junit", str(tmp_path / "no" / "r.xml"))
    suite = ElementTree.parse(xml).getroot()
    assert status == 1
    assert [suite.get(n) for n in ("name", "tests", "failures", "errors")] == ["t", "5", "1", "0"]
    (failed,) = [case for case in suite if case.find("failure") is not None]
    assert failed.get("name") == 'line 2, client A: getVM (id "1")'
    assert failed.find("failure").text == "result.pid: expected integer, got nothing"
    assert cannot[0] == 2 and "cannot write" in cannot[2]


@pytest.mark.parametrize("more, compare", [({}, "shape"), ({"_saved": [{"type": "_SavedFile"}]}, "bytes")])
def test_a_saved_session_is_compared_by_bytes_unless_it_is_asked_otherwise(tmp_path, capsys, more, compare):
    path = written(tmp_path / "t.jsonl", ask("getVM"), reply({"type": "VM", "name": "a", **more}))
    with played(path) as server:
        assert f"by {compare}: all the same" in isoscope(capsys, "replay", path, "--uri", server.uri)[1]
        assert "by shape" in isoscope(capsys, "replay", path, "--uri", server.uri, "--compare", "shape")[1]


def test_an_event_that_does_not_come_is_reported(tmp_path, capsys):
    path = written(tmp_path / "t.jsonl", *TALK)
    with played(written(tmp_path / "quiet.jsonl", *TALK[:3], *TALK[4:])) as server:
        status, out, _ = isoscope(capsys, "replay", path, "--uri", server.uri, "--deadline", "2")
    assert status == 1
    assert "event VM/VMFlagUpdate\n  expected an event, got nothing in 2 s" in out


def test_an_event_too_many_is_a_difference_by_bytes_alone(tmp_path, capsys):
    path = written(tmp_path / "t.jsonl", *TALK)
    more = [*TALK[:5], event("More"), *TALK[5:]]
    with played(written(tmp_path / "more.jsonl", *more)) as server:
        assert isoscope(capsys, "replay", path, "--uri", server.uri)[0] == 0
        status, out, _ = isoscope(capsys, "replay", path, "--uri", server.uri, "--compare", "bytes")
    assert status == 1 and "client A: event VM/More\n  expected nothing" in out


def test_names_of_another_run_are_given_to_a_live_service(tmp_path, capsys):
    path = written(tmp_path / "t.jsonl", *TALK)
    other = json.loads(json.dumps(TALK).replace("41", "52").replace("isolates\\/41", "isolates/52"))
    with played(written(tmp_path / "other.jsonl", *other)) as server:
        assert isoscope(capsys, "replay", path, "--uri", server.uri)[0] == 0
        assert server.context.unexpected == []
        status, out, _ = isoscope(capsys, "replay", path, "--uri", server.uri, "--compare", "bytes")
    assert status == 1 and "getIsolate" in out


def test_closes_and_broken_texts_are_said_again(tmp_path, capsys):
    bad = {"dir": "send", "kind": "text", "client": "A", "t_ms": 0, "msg": "{", "raw": "{"}
    closed = {"dir": "recv", "kind": "close", "client": "A", "t_ms": 0, "msg": {"closed": [4000, "bad"]}}
    lines = [*TALK[:2], bad, closed, *TALK[:2]]  # and the client comes again
    path = written(tmp_path / "t.jsonl", *lines)
    with played(path) as server:
        assert isoscope(capsys, "replay", path, "--uri", server.uri, "--compare", "bytes")[0] == 0
        other = written(tmp_path / "o.jsonl", *TALK[:2], bad, {**closed, "msg": {"closed": [4002, ""]}})
        status, out, _ = isoscope(capsys, "replay", other, "--uri", server.uri)
    assert status == 1 and "close\n  expected close 4002, got close 4000 bad" in out


def test_timing_is_kept_when_it_is_asked_for(tmp_path, capsys):
    lines = [{**one, "t_ms": 1000 + 100 * i} for i, one in enumerate(TALK)]
    path = written(tmp_path / "t.jsonl", *lines)
    with played(path) as server:
        took = {}
        for timing in ("x4", "original"):
            began = time.monotonic()
            assert isoscope(capsys, "replay", path, "--uri", server.uri, "--timing", timing)[0] == 0
            took[timing] = time.monotonic() - began
    assert took["original"] >= 0.7 and took["x4"] >= 0.7 / 4


# A replay that cannot be


def test_what_cannot_be_run_has_status_2_and_one_line(tmp_path, capsys):
    good = written(tmp_path / "t.jsonl", *TALK)
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps(TALK[0]) + '\n{"dir": "sideways"}\n')
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    nobody = f"http://127.0.0.1:{free}/x/"
    with played(good) as server:
        wrong = server.uri.replace(server.token, "x")
        for words, said in [
            ([good, "--uri", nobody], "no service answers"),
            ([good, "--uri", wrong], "refuses the token"),
            ([str(bad), "--uri", server.uri], "bad.jsonl is no transcript: line 2: unknown direction"),
            ([str(tmp_path / "none"), "--uri", server.uri], "No such file"),
            ([str(bad), "--server"], "line 2: unknown direction"),
            ([good, "--server", "--uri", server.uri], "not for --server"),
            ([good, "--uri", server.uri, "--port", "9"], "are for --server"),
            ([good, "--uri", server.uri, "--timing", "x0"], "neither fast, original"),
            ([good, "--uri", "ftp://x"], "not the URI of a service"),
        ]:
            status, out, err = isoscope(capsys, "replay", *words)
            assert (status, out) == (2, ""), words
            assert said in err and err.startswith("isoscope: ")


def test_a_service_that_dies_in_the_middle_is_told_with_the_line(tmp_path, capsys):
    path, xml = written(tmp_path / "t.jsonl", *TALK), tmp_path / "r.xml"

    def one_answer(stream, connection):
        for _ in frames.Frames(stream):
            connection.sendall(frames.of_server(frames.TEXT, TALK[1]["raw"].encode()))
            return

    with bytes_server(one_answer, one_answer) as (uri, _):
        status, out, err = isoscope(capsys, "replay", path, "--uri", uri, "--junit", str(xml))
    assert status == 2
    assert re.search(r"t\.jsonl, line [345]: .*(ended while|no service answers)", err) and err.count("\n") == 1
    assert "all the same" in out and ElementTree.parse(xml).getroot().get("errors") == "1"


def test_no_right_to_the_file_is_told(tmp_path, capsys, monkeypatch):
    path = written(tmp_path / "t.jsonl", *TALK)

    def refuse(*words):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    status, _, err = isoscope(capsys, "replay", path, "--uri", "http://127.0.0.1:1/")
    assert (status, err) == (2, f"isoscope: cannot read {path}: Permission denied\n")


def test_a_repeated_id_is_told_and_replayed(tmp_path, capsys):
    path = written(tmp_path / "t.jsonl", ask("getVM"), ask("getVersion"), reply({"type": "VM"}), reply(VERSION))
    with played(path) as server:
        status, out, err = isoscope(capsys, "replay", path, "--uri", server.uri)
    assert status == 0 and 'line 2: id "1" is repeated' in err


# The player


def test_a_player_tells_what_it_was_not_ready_for(tmp_path):
    path, info = written(tmp_path / "t.jsonl", *TALK), tmp_path / "info.json"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "clients" / "python" / "src")}
    words = [sys.executable, "-B", "-m", "isoscope", "replay", "--server", path, "--write-service-info", str(info)]
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as player:
        try:
            said = player.stdout.readline()
            uri = json.loads(info.read_text())["uri"]
            assert said == f"The Dart VM service is listening on {uri}\n"
            assert info.stat().st_mode & 0o777 == 0o600
            client = connect(uri, subprotocols=["x", "implicit-redirect"])
            assert client.getsubprotocol() == "implicit-redirect"
            client.send('{"id": 9, "method": "getIsolate"}')
            answer = json.loads(client.recv())
            assert (answer["id"], answer["error"]["message"]) == (9, "Not in the transcript")
            client.close()
        finally:
            player.terminate()
        _, err = player.communicate(timeout=DEADLINE_S)
    assert player.returncode == 1
    assert 'not in the transcript: port ' in err and '{"id": 9, "method": "getIsolate"}' in err
    assert "4 recorded requests did not come" in err


# The proxy


def test_a_proxy_records_each_client_by_itself(tmp_path, capsys):
    path, out = written(tmp_path / "t.jsonl", *TALK), tmp_path / "out.jsonl"
    with played(path) as server, recorded(server.uri, out) as uri:
        assert isoscope(capsys, "replay", path, "--uri", uri, "--compare", "bytes")[0] == 0
        text = out.read_text()  # while it is written
        assert server.token not in text and uri.split("/")[3] not in text
    read = Transcript.read(str(out))
    texts = {}
    for entry in read.entries:
        if entry.kind == "text":
            texts.setdefault(entry.client, []).append((entry.direction, entry.text))
    before = {}
    for one in TALK:
        before.setdefault(one["client"], []).append((one["dir"], one["raw"]))
    assert sorted(texts.values()) == sorted(before.values())
    with played(path) as server:
        assert isoscope(capsys, "replay", str(out), "--uri", server.uri, "--compare", "bytes")[0] == 0


def test_a_recorded_http_request_is_compared_and_played(tmp_path, capsys):
    path = written(tmp_path / "t.jsonl", *[
        line("send", {"method": "GET", "path": "/getVersion?a=1&b=2", "headers": {"Accept": "*/*"}, "body": ""},
             kind="http"),
        line("recv", {"head": ["HTTP/1.1 200 OK", "Content-Type: application/json"], "bytes": 9,
                      "body": json.dumps({"result": VERSION})}, kind="http"),
    ])  # fmt: skip
    with played(path) as server:
        for compare in ("bytes", "shape"):
            assert isoscope(capsys, "replay", path, "--uri", server.uri, "--compare", compare)[0] == 0
        with recorded(server.uri, tmp_path / "out.jsonl") as uri:
            assert isoscope(capsys, "replay", path, "--uri", uri, "--compare", "bytes")[0] == 0
    said = [entry for entry in Transcript.read(str(tmp_path / "out.jsonl")).entries if entry.kind == "http"]
    assert said[-2].msg["path"] == "/$token/getVersion?a=1&b=2"
    assert json.loads(said[-1].msg["body"])["result"] == VERSION


def test_subprotocols_pings_fragments_and_close_codes_are_passed_on(tmp_path):
    def talk(stream, connection):
        part = websocket.ABNF.create_frame(b'{"a":', websocket.ABNF.OPCODE_TEXT, 0)
        part.mask = 0
        rest = websocket.ABNF.create_frame(b"1}", websocket.ABNF.OPCODE_CONT, 1)
        rest.mask = 0
        connection.sendall(part.format() + frames.of_server(frames.PING, b"are you there") + rest.format())
        for frame, _ in frames.Frames(stream):
            if frame.opcode == frames.PONG:
                assert frame.data == b"are you there"
                connection.sendall(frames.of_server(frames.CLOSE, frames.closing(4321, "enough")))

    out = tmp_path / "out.jsonl"
    with bytes_server(talk) as (uri, heads), recorded(uri, out) as there:
        client = connect(there, subprotocols=["chat", "x"], header=["X-Mine: 1", "Cookie: a=b"])
        assert client.getsubprotocol() == "chat"
        opcodes = []
        while not opcodes or opcodes[-1] != frames.CLOSE:
            frame = client.recv_frame()
            opcodes.append(frame.opcode)
            if frame.opcode == frames.PING:
                client.pong(frame.data)
        assert frames.close_of(frame.data) == (4321, "enough")
        client.send(frame.data, frames.CLOSE)
        client.shutdown()
    assert opcodes == [frames.TEXT, frames.PING, websocket.ABNF.OPCODE_CONT, frames.CLOSE]
    assert "X-Mine: 1" in heads[0] and "GET /SECRET==/ws " in heads[0]
    kinds = [(e.direction, e.kind) for e in Transcript.read(str(out)).entries]
    pong = kinds.index(("send", "pong"))  # it crosses the rest of the message
    assert kinds.index(("recv", "ping")) < pong < kinds.index(("recv", "close"))
    assert kinds[:pong] + kinds[pong + 1 :] == [
        ("send", "note"), ("send", "http"), ("recv", "http"), ("recv", "ping"), ("recv", "text"),
        ("recv", "close"), ("send", "close"),
    ]  # fmt: skip
    assert "Cookie" not in out.read_text()


def test_what_is_no_frame_is_passed_on_unread(tmp_path):
    odd = b"\xf3\x05hello and what else comes"

    def talk(stream, connection):
        connection.sendall(frames.of_server(frames.TEXT, b"{}") + odd)

    out = tmp_path / "out.jsonl"
    with bytes_server(talk) as (uri, _), recorded(uri, out) as there:
        client = connect(there)
        assert client.recv() == "{}"
        got = b""
        while len(got) < len(odd):
            got += client.sock.recv(100)
        assert got == odd
        client.shutdown()
    assert '"broken": "recv: ' in out.read_text()


def test_a_connection_that_breaks_is_told_as_1006(tmp_path):
    out = tmp_path / "out.jsonl"
    with bytes_server(lambda stream, connection: None) as (uri, _), recorded(uri, out) as there:
        client = connect(there)
        with pytest.raises((websocket.WebSocketConnectionClosedException, ConnectionError)):
            client.recv_frame()
        client.shutdown()
    closes = [e for e in Transcript.read(str(out)).entries if e.kind == "close"]
    assert [(e.direction, e.closed) for e in closes] == [("recv", 1006)]


def test_a_service_that_has_gone_is_a_502(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    with recorded(f"http://127.0.0.1:{free}/x/", tmp_path / "out.jsonl") as there:
        with pytest.raises(websocket.WebSocketBadStatusException) as refused:
            connect(there)
    assert refused.value.status_code == 502


def test_a_transcript_command_needs_a_service_and_a_place(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("ISOSCOPE_URI", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    out = str(tmp_path / "out.jsonl")
    status, _, err = isoscope(capsys, "transcript", "-o", out)
    assert (status, err) == (2, "isoscope: transcript: no service: give --uri, or set $ISOSCOPE_URI\n")
    status, _, err = isoscope(capsys, "transcript", "--uri", f"http://127.0.0.1:{free}/x/", "-o", out)
    assert status == 3 and "no service answers" in err and not Path(out).exists()
    path = written(tmp_path / "t.jsonl", *TALK)
    with played(path) as server:
        status, _, err = isoscope(capsys, "transcript", "--uri", server.uri, "-o", str(tmp_path))
    assert status == 1 and err.startswith("isoscope: cannot write ")
