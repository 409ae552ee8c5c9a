"""Ways to the service beside its WebSocket on a port, and who else may come in when asked for."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import sys
import zlib
from contextlib import closing
from pathlib import Path

import isoscope
import pytest
import websocket
from conftest import Socket
from harness import ISOSCOPE, service_pid, until
from isoscope.errors import CannotConnect
from test_wire import SPIN, get, program_of, samples, token, upgrade_status
from wire_schema import WireChecker


@pytest.fixture
def idle(start):
    running = start(["sleep", "1000"])
    assert running.uri
    return running


def call(running, path, checked="", **headers):
    """The reply to GET /TOKEN=/path, held against the schema of the method that was checked."""
    response, body = get(running, f"/{token(running)}/{path}", **headers)
    assert response.status == 200, body
    checker = WireChecker()
    checker.sent(json.dumps({"id": "", "method": checked or path.split("?")[0]}))
    checker.received(body)
    return response, json.loads(body)


# RPCs by GET


def test_a_get_is_answered_as_the_socket_answers(idle):
    response, reply = call(idle, "getVersion")
    assert reply["id"] == ""
    assert reply["result"] == idle.connect().rpc("getVersion")
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    assert response.headers["Transfer-Encoding"] == "chunked"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in response.headers


def test_parameters_come_from_the_query_as_strings(idle):
    isolate = program_of(idle.connect())
    _, reply = call(idle, f"getIsolate?isolateId={isolate.replace('/', '%2F')}")
    assert reply["result"]["id"] == isolate
    _, reply = call(idle, "getIsolate?isolateId=x%20y%26z+%C3%A4&other=&other2")
    assert reply["error"]["code"] == -32602
    _, reply = call(idle, "nobodyKnows?a=1&b=x%20y%26z+%C3%A4%22", checked="getVersion")
    assert reply["error"]["code"] == -32601
    assert reply["error"]["data"]["request"]["params"] == {"a": "1", "b": 'x y&z ä"'}


def test_further_segments_of_the_path_mean_nothing(idle):
    assert call(idle, "getVersion/more/of/it", checked="getVersion")[1]["result"]["type"] == "Version"


def test_too_many_parameters_are_refused(idle):
    many = "&".join(f"p{i}=1" for i in range(65))
    assert get(idle, f"/{token(idle)}/getVersion?{many}")[0].status == 414


def test_a_get_needs_the_token_and_pages_of_this_machine(idle):
    assert get(idle, "/getVersion")[0].status == 403
    path = f"/{token(idle)}/getVersion"
    assert get(idle, path, Host="evil.example")[0].status == 403
    assert get(idle, path, Origin="http://evil.example")[0].status == 403
    assert get(idle, path, Sec_Fetch_Site="cross-site")[0].status == 403
    assert get(idle, path, Sec_Fetch_Site="same-origin")[0].status == 200
    response, _ = call(idle, "getVersion", Origin="http://localhost:9100")
    assert response.headers["Access-Control-Allow-Origin"] == "http://localhost:9100"


def test_a_slow_reader_of_a_get_gets_every_sample(start):
    running = start([sys.executable, "-c", SPIN])
    isolate = program_of(client := running.connect())
    until(lambda: samples(client, isolate)["sampleCount"] > 500, "samples")
    with socket.socket() as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        raw.settimeout(30)
        raw.connect(("127.0.0.1", running.port))
        path = f"/{token(running)}/_getCpuSamples?timestamp=0&count=1000000"
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert client.rpc("getVersion")["type"] == "Version"
        reply = b"".join(iter(lambda: raw.recv(4000), b""))
    body, rest = b"", reply.partition(b"\r\n\r\n")[2]
    while rest:
        head, _, rest = rest.partition(b"\r\n")
        size = int(head, 16)
        body, rest = body + rest[:size], rest[size + 2 :]
    assert size == 0  # the last chunk
    result = json.loads(body)["result"]
    assert result["sampleCount"] == len(result["samples"]) > 500


def test_a_get_that_listens_leaves_nothing_behind(idle):
    for _ in range(200):
        assert "result" in call(idle, "streamListen?streamId=VM")[1]
    assert idle.connect().rpc("getVersion")["type"] == "Version"


# Who else may come in


def test_without_auth_codes_the_path_stands_alone(start):
    running = start(["sleep", "1000"], "--disable-service-auth-codes")
    assert running.uri == f"http://127.0.0.1:{running.port}/"
    assert running.connect().rpc("getVersion")["type"] == "Version"
    assert get(running, "/getVersion")[0].status == 200
    assert f"ws://127.0.0.1:{running.port}/ws" in get(running, "/")[1]
    assert get(running, "/getVersion", Host="evil.example")[0].status == 403
    assert get(running, "/setFlag", Sec_Fetch_Site="cross-site")[0].status == 403


def test_named_hosts_and_origins_may_come_in_and_no_others(start):
    running = start(["sleep", "1000"], "--allow-host", "build.example", "--allow-origin",
                    "https://tools.example", "--allow-origin", "vscode-webview:*")
    path = f"/{token(running)}/"
    assert get(running, path, Host="build.example:80")[0].status == 200
    assert "ws://build.example:80/" in get(running, path, Host="build.example:80")[1]
    assert get(running, path, Host="other.example")[0].status == 403
    for origin, status in [
        ("https://tools.example", 101),
        ("vscode-webview://0123abc", 101),
        ("http://build.example", 101),
        ("https://tools.example.evil.example", 403),
        ("null", 403),
    ]:
        assert upgrade_status(running, f"{path}ws", origin=origin) == status


# The unix socket


@pytest.fixture
def path(short_path):
    return short_path / "s"


def unix_client(path) -> Socket:
    with closing(socket.socket(socket.AF_UNIX)) as probe:
        probe.connect(str(path))
    raw = socket.socket(socket.AF_UNIX)
    raw.settimeout(30)
    raw.connect(str(path))
    return Socket("http://localhost/", socket=raw)


def test_a_unix_socket_serves_its_owner(start, path):
    running = start(["sleep", "1000"], "--socket", str(path))
    assert running.uri == f"unix:{path}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    client = unix_client(path)
    assert client.rpc("getVersion")["type"] == "Version"
    client.close()
    with isoscope.Client(running.uri) as ours:
        assert ours.processes() is not None
    tables = Path("/proc/net/tcp").read_text()
    inodes = {os.readlink(f) for f in Path(f"/proc/{service_pid(running.process.pid)}/fd").iterdir()
              if f.is_symlink()}
    listening = [f.split() for f in tables.splitlines()[1:] if f.split()[3] == "0A"]
    assert not [f for f in listening if f"socket:[{f[9]}]" in inodes]


def test_the_socket_goes_with_its_service_and_a_killed_ones_is_taken_over(start, run, path):
    first = start(["sleep", "1000"], "--socket", str(path))
    assert first.uri
    second = run(["true"], "--socket", str(path))
    assert second.returncode == 125 and "listens" in second.stderr
    serving = service_pid(first.process.pid)
    os.kill(first.process.pid, signal.SIGSTOP)  # it would clean up
    os.kill(serving, signal.SIGKILL)
    until(lambda: is_zombie(serving), "the service's death")
    assert path.exists()
    assert run(["true"], "--socket", str(path)).returncode == 0
    assert not path.exists()
    os.kill(first.process.pid, signal.SIGCONT)


def is_zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_the_socket_of_a_service_that_failed_goes_at_once(start, path):
    running = start(["sleep", "1000"], "--socket", str(path))
    assert running.uri
    os.kill(service_pid(running.process.pid), signal.SIGKILL)
    until(lambda: not path.exists(), "the socket's end")
    assert running.process.poll() is None


def test_what_is_no_socket_stays(run, path):
    path.write_text("precious")
    refused = run(["true"], "--socket", str(path))
    assert refused.returncode == 125 and "not a socket" in refused.stderr
    assert path.read_text() == "precious"


def test_no_service_at_a_path_is_said_with_the_path(path):
    with pytest.raises(CannotConnect, match=str(path)):
        isoscope.Client(f"unix:{path}")


# Compression


@pytest.fixture
def packed_frames(monkeypatch):
    """The library refuses the bit that says that a message is packed."""
    monkeypatch.setattr(websocket.ABNF, "validate", lambda *_: None)


def connect_offering(running, offer):
    client = websocket.create_connection(
        running.uri.replace("http:", "ws:") + "ws", timeout=30, skip_utf8_validation=True,
        header=[f"Sec-WebSocket-Extensions: {offer}"] if offer else [],
    )
    client.unpacker = zlib.decompressobj(-15)  # its window lasts from message to message
    return client


def receive_unpacked(client) -> tuple[bytes, int]:
    """The next message, and its bytes on the wire."""
    data, packed = b"", False
    while True:
        frame = client.recv_frame()
        packed |= bool(frame.rsv1)
        data += frame.data
        if frame.fin:
            break
    wire = len(data)
    if packed:
        data = client.unpacker.decompress(data + b"\0\0\xff\xff")
    return data, wire


def send_packed(client, text: bytes) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = (packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]
    client.send_frame(websocket.ABNF(1, 1, 0, 0, websocket.ABNF.OPCODE_TEXT, 1, data))


DISCOVER = json.dumps({"id": "1", "method": "rpc.discover"})


def test_compression_is_agreed_to_when_both_sides_ask_for_it(start, packed_frames):
    running = start(["sleep", "1000"], "--deflate")
    packing = connect_offering(running, "permessage-deflate; client_max_window_bits")
    assert packing.headers["sec-websocket-extensions"].startswith("permessage-deflate")
    plain = connect_offering(running, None)
    assert "sec-websocket-extensions" not in plain.headers
    for _ in range(3):
        packing.send(DISCOVER)
        plain.send(DISCOVER)
        (data, wire), (expected, _) = receive_unpacked(packing), receive_unpacked(plain)
        assert data == expected
        assert wire < len(data) / 4
    packing.close()
    plain.close()


def test_without_deflate_nothing_is_agreed_to(idle):
    client = connect_offering(idle, "permessage-deflate")
    assert "sec-websocket-extensions" not in client.headers
    client.close()


def test_packed_requests_are_read_and_bombs_close_with_1009(start, packed_frames):
    running = start(["sleep", "1000"], "--deflate")
    client = connect_offering(running, "permessage-deflate")
    for method in ("getVersion", "x" * 300_000):
        send_packed(client, json.dumps({"id": method, "method": method}).encode())
        assert json.loads(receive_unpacked(client)[0])["id"] == method
    bomb = connect_offering(running, "permessage-deflate")
    send_packed(bomb, b" " * (16 * 1024 * 1024))
    while (frame := bomb.recv_frame()).opcode != websocket.ABNF.OPCODE_CLOSE:
        pass
    assert int.from_bytes(frame.data[:2], "big") == 1009
    larger = connect_offering(running, "permessage-deflate")
    send_packed(larger, b" " * (256 * 1024 * 1024))
    with pytest.raises((websocket.WebSocketException, OSError)):
        larger.recv_frame()
    assert running.connect().rpc("getVersion")["type"] == "Version"
    client.close()


@pytest.mark.parametrize(
    "bytes_of_frame",
    [b"\xc1\x85\0\0\0\0\xff\xff\xff\xff\xff", b"\xc1\x80\0\0\0\0", b"\xc0\x82\0\0\0\0ab"],
    ids=["no deflate", "empty", "packed continuation"],
)
def test_what_is_not_packed_right_breaks_nothing(start, packed_frames, bytes_of_frame):
    running = start(["sleep", "1000"], "--deflate")
    client = connect_offering(running, "permessage-deflate")
    client.sock.sendall(bytes_of_frame)
    with pytest.raises((websocket.WebSocketException, OSError)):
        while client.recv_frame().opcode != websocket.ABNF.OPCODE_CLOSE:
            pass
        raise websocket.WebSocketException("closed in order")
    assert running.connect().rpc("getVersion")["type"] == "Version"
