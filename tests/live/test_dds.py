"""A Dart Development Service in front of a service that lets one in, and the samples of a tag."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import struct
import threading

import pytest
import websocket
from conftest import Socket
from harness import Client, until, workload
from test_wire import get, program_of, token

KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455
COOPERATES = workload("cooperates")
PERIOD_US = 500


class Proxy:
    """What a DDS is to a service: one client of it, who answers the clients that are sent to it.

    It passes on each text it gets. One client at a time, small messages.
    """

    def __init__(self, behind: Socket) -> None:
        self.behind = behind
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.uri = f"ws://127.0.0.1:{self.listener.getsockname()[1]}/abc=/ws"
        self.passed: list[str] = []
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        while True:
            connection, _ = self.listener.accept()
            with connection, connection.makefile("rb") as stream:
                if not self.upgrade(connection, stream):
                    return
                while (text := self.read(stream)) is not None:
                    self.passed.append(json.loads(text)["method"])
                    self.behind.socket.send(text)
                    self.write(connection, self.behind.socket.recv())

    @staticmethod
    def upgrade(connection, stream) -> bool:
        head = {}
        while line := stream.readline().strip():
            name, _, value = line.decode().partition(": ")
            head[name.lower()] = value
        if "sec-websocket-key" not in head:
            return False
        accept = hashlib.sha1((head["sec-websocket-key"] + KEY_SUFFIX).encode()).digest()
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                           b"Connection: Upgrade\r\nSec-WebSocket-Accept: "
                           + base64.b64encode(accept) + b"\r\n\r\n")
        return True

    @staticmethod
    def read(stream):
        head = stream.read(2)
        if len(head) < 2 or head[0] & 15 != websocket.ABNF.OPCODE_TEXT:
            return None
        length = head[1] & 127
        if length == 126:
            length = struct.unpack("!H", stream.read(2))[0]
        mask = stream.read(4)
        body = stream.read(length)
        return bytes(byte ^ mask[i % 4] for i, byte in enumerate(body)).decode()

    @staticmethod
    def write(connection, text: str) -> None:
        body = text.encode()
        size = bytes([len(body)]) if len(body) < 126 else b"\x7e" + struct.pack("!H", len(body))
        connection.sendall(b"\x81" + size + body)

    def close(self) -> None:
        with socket.create_connection(self.listener.getsockname()) as last:
            last.sendall(b"\r\n")  # no WebSocket: it serves no more
            self.thread.join()
        self.listener.close()


@pytest.fixture
def proxied(start):
    running = start(["sleep", "1000"], "--allow-dds")
    proxy = Proxy(running.connect())
    yield running, proxy
    proxy.close()


def redirect(running) -> tuple[int, str]:
    """What an upgrade is answered with."""
    response, _ = get(running, f"/{token(running)}/ws", Upgrade="websocket", Connection="Upgrade",
                      Sec_WebSocket_Version="13", Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==")
    return response.status, response.headers["Location"]


def refusal(client: Socket, uri: str) -> dict:
    return client.receive(client.send("_yieldControlToDDS", uri=uri))["error"]


def test_a_proxy_takes_over_and_its_leaving_gives_back(proxied):
    running, proxy = proxied
    other = running.connect()
    other.rpc("getVersion")
    assert proxy.behind.rpc("_yieldControlToDDS", uri=proxy.uri) == {"type": "Success"}

    event = json.loads(other.socket.recv())["params"]["event"]
    assert (event["kind"], event["uri"]) == ("DartDevelopmentServiceConnected", proxy.uri)
    assert other.close_code() == 1000
    assert redirect(running) == (302, proxy.uri)
    assert refusal(proxy.behind, proxy.uri)["data"]["ddsUri"] == proxy.uri

    sent_on = Socket(running.uri)  # the library goes where the answer points
    assert sent_on.rpc("getVM")["name"] == "isoscope"
    sent_on.close()
    assert proxy.passed == ["getVM"]

    proxy.behind.close()
    direct = until(lambda: accepted(running), "the service takes clients again")
    assert direct.rpc("getVersion")["major"] == 4
    assert proxy.passed == ["getVM"]


def test_the_python_client_goes_where_the_proxy_is(proxied):
    """As a DDS says it: a http URI, without the socket's path."""
    running, proxy = proxied
    uri = proxy.uri.replace("ws:", "http:").removesuffix("ws")
    proxy.behind.rpc("_yieldControlToDDS", uri=uri)
    with Client(running.uri) as client:
        assert client.call("getVM")["name"] == "isoscope"
    assert "getVM" in proxy.passed


def accepted(running):
    """A client of the service itself; None while it still sends them away."""
    try:
        return running.connect(redirect_limit=1)
    except (websocket.WebSocketException, OSError):
        return None


def test_gets_are_answered_beside_the_proxy_and_the_wrong_token_is_told_nothing(proxied):
    running, proxy = proxied
    proxy.behind.rpc("_yieldControlToDDS", uri=proxy.uri)
    response, body = get(running, f"/{token(running)}/getVersion")
    assert (response.status, json.loads(body)["result"]["type"]) == (200, "Version")
    response, _ = get(running, "/wrong=/ws", Upgrade="websocket", Connection="Upgrade",
                      Sec_WebSocket_Version="13", Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==")
    assert response.status == 403


def test_a_get_does_not_take_over(start):
    running = start(["sleep", "1000"], "--allow-dds")
    client = running.connect()
    _, body = get(running, f"/{token(running)}/_yieldControlToDDS?uri=http://127.0.0.1:1/")
    assert json.loads(body)["error"]["code"] == 100
    assert client.rpc("getVersion")


def test_without_the_option_nobody_takes_over(start):
    running = start(["sleep", "1000"])
    client, other = running.connect(), running.connect()
    assert refusal(client, "http://127.0.0.1:1/")["code"] == 100
    assert other.rpc("getVersion")


# Samples by tag


class Tagged:
    """The CpuSamples events of a client, as a DDS keeps them."""

    def __init__(self) -> None:
        self.samples: list[dict] = []
        self.functions: list[dict] = []
        self.events = 0

    def take(self, event: dict) -> None:
        if event["kind"] != "CpuSamples":
            return
        told = event["cpuSamples"]
        self.events += 1
        assert 0 < told["sampleCount"] == len(told["samples"]) <= 1000
        # An index means the same in each event.
        assert told["functions"][:len(self.functions)] == self.functions
        self.functions = told["functions"]
        assert all(i < len(self.functions) for s in told["samples"] for i in s["stack"])
        self.samples += told["samples"]

    def read(self, client: Socket, until_reply: str) -> None:
        while True:
            text = client.socket.recv()
            client.checker.received(text)
            message = json.loads(text)
            if message.get("method") == "streamNotify":
                self.take(message["params"]["event"])
            elif message["id"] == until_reply:
                return


def in_order(samples) -> list[tuple[int, int, int]]:
    return sorted((s["tid"], s["timestamp"], len(s["stack"])) for s in samples)


def are_same(some, others) -> bool:
    """Times may differ by less than a period: one that comes with the time of one that was told moves that one, by then."""
    pairs = list(zip(in_order(some), in_order(others)))
    apart = [one for one in pairs if one[0] != one[1]]
    return (len(some) == len(others) and len(apart) <= len(some) / 100
            and all(a[0] == b[0] and abs(a[1] - b[1]) < PERIOD_US for a, b in pairs))


def test_a_listener_gets_each_sample_of_its_tags_once(start):
    running = start([COOPERATES, "tags", "6"], "--keep", "--period", str(PERIOD_US))
    client, idle = running.connect(), running.connect()
    isolate = program_of(client)
    tagged = Tagged()
    for one, tags in ((client, ["parse", "read"]), (idle, ["nobody"])):
        one.rpc("streamListen", streamId="Profiler")
        tagged.read(one, one.send("streamCpuSamplesWithUserTag", userTags=tags))
    running.wait_for_end()
    tagged.read(client, client.send("getVersion"))
    assert tagged.events > 3

    # What it was sent while the program ran is what is there at its end.
    everything = client.rpc("getCpuSamples", isolateId=isolate)["samples"]
    wanted = [s for s in everything if s["userTag"] in ("parse", "read")]
    assert 0 < len(wanted) < len(everything)
    assert are_same(tagged.samples, wanted)
    assert {s["userTag"] for s in tagged.samples} == {"parse", "read"}

    assert set(client.rpc("getAvailableCachedCpuSamples")["cacheNames"]) >= {"parse", "read"}
    cached = client.rpc("getCachedCpuSamples", isolateId=isolate, userTag="parse")
    assert are_same(cached["samples"], [s for s in wanted if s["userTag"] == "parse"])
    assert not cached["truncated"]
    names = {f["function"]["name"] for f in cached["functions"]}
    assert "spin" in names

    counts = client.rpc("_getTagProfile", isolateId=isolate)
    assert sum(counts["counters"]) == len(everything)
    assert dict(zip(counts["names"], counts["counters"]))["Running"] == len(everything)

    others = Tagged()
    others.read(idle, idle.send("getVersion"))
    assert not others.samples
