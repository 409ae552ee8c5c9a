"""`isoscope transcript` and `isoscope replay` between real clients and a real service."""

from __future__ import annotations

import http.client
import json
import os
import signal
from urllib.parse import urlsplit

import pytest
import websocket
from conftest import Socket
from harness import DEADLINE_S, Client, profiled, service_of, until, workload
from isoscope.transcripts.transcript import Transcript
from transcribing import isoscope, recorded, standing_in

SPIN = [workload("spin_two_to_one"), "0.3"]


def got(uri, path):
    address = urlsplit(uri)
    connection = http.client.HTTPConnection(address.netloc, timeout=DEADLINE_S)
    connection.request("GET", address.path + path)
    text = connection.getresponse().read().decode()
    connection.close()
    assert text
    return text


def replayed(path, service, *words):
    done = isoscope("replay", str(path), "--uri", service.uri, "--json", *words)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def ended():
    with profiled(SPIN) as service:
        yield service


@pytest.fixture(scope="module")
def of_commands(ended, tmp_path_factory):
    """Our own client's commands."""
    folder = tmp_path_factory.mktemp("commands")
    with recorded(ended, folder) as uri:
        for words in (["tree"], ["stats", "--interval", "0.1"], ["table", "--json"], ["disassemble"]):
            done = isoscope(words[0], uri, *words[1:])
            assert (done.returncode, done.stderr) == (0, "")
    return folder / "t.jsonl"


def test_our_commands_replayed_are_the_same_by_shape(ended, of_commands):
    status, told = replayed(of_commands, ended)
    assert (status, told["differences"]) == (0, []) and told["sent"] > 8
    assert told["compared"] >= told["sent"]


def test_another_run_of_the_program_is_the_same_by_shape(of_commands):
    with profiled(SPIN) as service:
        status, told = replayed(of_commands, service)
    assert (status, told["differences"]) == (0, [])


def test_the_tokens_are_not_in_the_file(ended, of_commands):
    assert ended.uri.split("/")[3] not in of_commands.read_text()


def test_a_player_satisfies_our_commands(ended, of_commands, tmp_path):
    live = isoscope("tree", ended.uri)
    with standing_in(tmp_path, "replay", "--server", str(of_commands)) as (process, uri):
        played = isoscope("tree", uri)
        assert played.stdout.splitlines() == live.stdout.splitlines()
        assert isoscope("tree", uri, "--count", "7").returncode == 4  # was not recorded
    assert process.returncode == 1


def test_a_raw_client_replayed_is_the_same(ended, tmp_path):
    with recorded(ended, tmp_path) as uri:
        first, second = Socket(uri), Socket(uri)
        for socket in (first, second):
            assert socket.rpc("streamListen", streamId="VM")["type"] == "Success"
        isolate = first.rpc("getVM")["isolates"][0]["id"]
        assert second.rpc("getIsolate", isolateId=isolate)["type"] == "Isolate"
        assert first.rpc("_getCpuSamples", isolateId=isolate, timestamp=0, count=1000)["samples"]
        assert first.rpc("setFlag", name="profiler", value="true")["type"] == "Success"
        assert "error" in first.receive(first.send("getIsolate", isolateId=7))
        assert "error" in second.receive(second.send("noSuchMethod"))
        for socket in (first, second):
            socket.close()
    assert {entry.client for entry in Transcript.read(str(tmp_path / "t.jsonl")).entries} == {"", "A", "B"}
    for words in ([], ["--timing", "original"]):
        status, told = replayed(tmp_path / "t.jsonl", ended, *words)
        assert (status, told["differences"]) == (0, []), words


def test_events_are_waited_for(ended, tmp_path):
    with recorded(ended, tmp_path) as uri, Client(uri) as client:
        client.listen("VM")
        for value in ("false", "true"):
            client.set_flag("profiler", value)
            assert client.next_event("VM", timeout_s=DEADLINE_S).event["kind"] == "VMFlagUpdate"
    status, told = replayed(tmp_path / "t.jsonl", ended)
    assert (status, told["differences"]) == (0, []) and told["compared"] > told["sent"]


def test_http_requests_are_recorded_and_replayed(ended, tmp_path):
    with recorded(ended, tmp_path) as uri:
        for path in ("getVersion", "getVM", "openrpc.json", "nothing", ""):
            said = got(uri, path)
        assert uri in said  # who follows the page's addresses stays
    status, told = replayed(tmp_path / "t.jsonl", ended, "--compare", "bytes")
    assert (status, told["differences"], told["sent"]) == (0, [], 5)


def test_a_broken_reply_is_reported_with_its_path(ended, of_commands, tmp_path):
    lines = [json.loads(line) for line in of_commands.read_text().splitlines()]
    number = next(i for i, one in enumerate(lines)
                  if one["dir"] == "recv" and one["kind"] == "text" and "isolates" in one.get("raw", ""))  # fmt: skip
    lines[number]["msg"]["result"]["isolates"][0]["name"] = 5
    lines[number]["raw"] = json.dumps(lines[number]["msg"])
    broken = tmp_path / "broken.jsonl"
    broken.write_text("".join(json.dumps(one) + "\n" for one in lines))
    with standing_in(tmp_path, "replay", "--server", str(broken)) as (_, uri):
        # Not asked for its kind, which would have the broken answer.
        done = isoscope("replay", str(of_commands), "--uri", uri, "--compare", "shape")
    assert done.returncode == 1
    assert f"line {number + 1}, client A: getVM" in done.stdout
    assert "result.isolates[0].name: expected string, got integer" in done.stdout


def test_a_transcript_ends_with_the_service(tmp_path):
    out = tmp_path / "t.jsonl"
    with service_of(SPIN) as service:
        with standing_in(tmp_path, "transcript", "--uri", service.uri, "-o", str(out)) as (process, uri):
            socket = websocket.create_connection(uri.replace("http:", "ws:") + "ws", timeout=DEADLINE_S)
            socket.send('{"jsonrpc": "2.0", "id": "1", "method": "getVersion"}')
            assert "Version" in socket.recv()
            service.wait_for_end()
            service.process.terminate()
            opcode, frame = socket.recv_data_frame(control_frame=True)
            assert opcode == websocket.ABNF.OPCODE_CLOSE and frame.data[:2] == (1001).to_bytes(2, "big")
            socket.shutdown()
            until(lambda: process.poll() is not None, "the transcript's end")
            assert process.returncode == 0
            assert "the service has ended" in process.stderr.read()
    entries = Transcript.read(str(out)).entries
    assert ("recv", "close", 1001) in [(e.direction, e.kind, e.closed if e.kind == "close" else 0) for e in entries]


def test_each_moment_the_file_is_complete(ended, tmp_path):
    """Killed outright, it has left whole lines."""
    out = tmp_path / "t.jsonl"
    with standing_in(tmp_path, "transcript", "--uri", ended.uri, "-o", str(out)) as (process, uri):
        with Client(uri) as client:
            asked = 0
            while asked < 20:
                client.profile()
                asked += 1
                assert len(out.read_text().splitlines()) >= 2 * asked
                Transcript.read(str(out))
            os.kill(process.pid, signal.SIGKILL)
    assert sum(1 for entry in Transcript.read(str(out)).entries if entry.is_reply) >= 20


def test_a_service_on_a_unix_socket_is_recorded_and_replayed(short_path, tmp_path):
    with profiled(SPIN, "--socket", str(short_path / "s")) as service:
        with recorded(service, tmp_path) as uri:
            assert isoscope("tree", uri).returncode == 0
        status, told = replayed(tmp_path / "t.jsonl", service, "--compare", "bytes")
    assert (status, told["differences"]) == (0, [])
