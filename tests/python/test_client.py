"""The client against canned answers."""

import json

import pytest
from fakes import FakeService, client_of, event, samples_reply, service_of
from isoscope import Backoff, Client, Process
from isoscope.errors import CannotConnect, ProtocolError, RpcError, ServiceEnded
from isoscope.events import Inbox
from isoscope.rpc import Event
from tables import TableMaker


def test_processes_come_from_the_isolates():
    client = client_of(service_of({"sh:1": {}, "sort:2": {}}))
    assert [p.label for p in client.processes()] == ["sh (1)", "sort (2)"]


def test_samples_are_asked_for_by_isolate():
    service = service_of({"sort:2": {"main": 3}})
    client = client_of(service)
    samples = client.cpu_samples(Process("isolates/2", "sort"), since_us=5, count=10)
    assert len(samples.samples) == 3
    assert service.requests[-1]["params"] == {
        "isolateId": "isolates/2",
        "timestamp": 5,
        "count": 10,
    }


def test_a_process_that_has_gone_has_no_samples():
    service = service_of({"sort:2": {}})
    service.answers["_getCpuSamples"] = lambda params: {"type": "Sentinel", "kind": "Collected"}
    assert client_of(service).cpu_samples(Process("isolates/2", "sort")) is None


def test_events_and_stray_replies_before_the_answer_do_not_disturb_it():
    service = service_of({})
    service.unread = [event("VMUpdate", "VM"), json.dumps({"id": "999", "result": {}})]
    assert client_of(service).processes() == []


def test_an_event_that_comes_while_a_call_waits_is_given_later():
    service = listening_service()
    service.unread = [event("first"), event("other", "VM"), event("second")]
    client = client_of(service)
    client.processes()
    events = client.events("Profiler")
    assert [next(events).event["kind"] for _ in range(2)] == ["first", "second"]
    assert client.next_event().stream_id == "VM"


def test_a_stream_is_listened_to_once_until_it_is_cancelled():
    service = listening_service()
    client = client_of(service)
    client.events("Profiler", "VM")
    client.listen("VM")
    client.cancel("VM", "GC")
    client.listen("VM")
    asked = [(r["method"], r["params"]["streamId"]) for r in service.requests]
    assert asked == [
        ("streamListen", "Profiler"),
        ("streamListen", "VM"),
        ("streamCancel", "VM"),
        ("streamListen", "VM"),
    ]


def test_a_stream_that_is_listened_to_already_is_no_error():
    service = listening_service()
    service.errors["streamListen"] = lambda params: 103 if params["streamId"] == "VM" else -32602
    client = client_of(service)
    client.listen("VM")
    with pytest.raises(RpcError):
        client.listen("Nothing")


def test_an_iterator_of_events_ends_with_the_service():
    events = client_of(listening_service()).events("VM")
    with pytest.raises(ServiceEnded):
        next(events)


def test_waiting_for_an_event_has_a_timeout_of_its_own():
    service = listening_service()
    service.unread = []
    seen = []
    receive = service.receive
    service.receive = lambda: seen.append(service.timeout_s) or receive()
    client = Client(transport=service, timeout_s=60)
    client.listen("VM")
    service.unread.append(event("VMUpdate", "VM"))
    client.next_event("VM", timeout_s=3)
    assert seen[-1] == 3 and service.timeout_s == 60


def test_events_that_nobody_reads_are_bounded_and_counted():
    inbox = Inbox(kept=2)
    for kind in "abc":
        inbox.put(Event("GC", {"kind": kind}))
    assert [inbox.take(["GC"]).event["kind"] for _ in range(2)] == ["b", "c"]
    assert inbox.take() is None and inbox.dropped == 1


def listening_service(processes=None):
    service = service_of(processes or {})
    service.answers.update(
        streamListen=lambda params: {"type": "Success"},
        streamCancel=lambda params: {"type": "Success"},
    )
    return service


def reconnecting(*services):
    """A client whose connections are these, one after the other; an exception is raised."""
    coming = iter(services)

    def connect():
        service = next(coming)
        if isinstance(service, Exception):
            raise service
        return service

    return Client(connect=connect)


def test_reconnecting_tries_again_with_growing_pauses_and_listens_again():
    first, second = listening_service(), listening_service()
    client = reconnecting(first, CannotConnect("no"), CannotConnect("no"), second)
    client.listen("VM", "GC")
    pauses = []
    client.reconnect(Backoff(first_s=0.1, factor=3), sleep=pauses.append)
    assert first.closed and pauses == [0.1, pytest.approx(0.3)]
    assert [r["params"]["streamId"] for r in second.requests] == ["VM", "GC"]
    assert client.processes() == []


def test_reconnecting_gives_up_with_the_reason():
    client = reconnecting(service_of({}), *[CannotConnect(f"no {i}") for i in range(3)])
    pauses = []
    with pytest.raises(CannotConnect, match="no 2"):
        client.reconnect(Backoff(tries=3), sleep=pauses.append)
    assert len(pauses) == 2


def test_a_service_that_goes_while_we_listen_again_is_one_more_try():
    going = FakeService({})
    going.send = lambda text: None
    client = reconnecting(listening_service(), going, listening_service())
    client.listen("VM")
    pauses = []
    client.reconnect(sleep=pauses.append)
    assert going.closed and len(pauses) == 1


def test_a_client_without_an_address_says_that_it_cannot_reconnect():
    with pytest.raises(CannotConnect, match="no way"):
        client_of(service_of({})).reconnect()


def test_pauses_grow_to_the_longest_one():
    pauses = Backoff(first_s=1, factor=2, longest_s=3, tries=0).pauses()
    assert [next(pauses) for _ in range(4)] == [1, 2, 3, 3]
    with pytest.raises(ValueError):
        Backoff(factor=0.5)


def table_service(*updates, start):
    """Answers a follower's requests with these; `start` tells one service from another."""
    maker, coming = TableMaker(), iter(updates)
    return FakeService(
        {
            "getVM": lambda params: {"type": "VM", "isolates": [], "pid": 1, "startTime": start},
            "_getCpuSamples": lambda params: maker.next(next(coming)),
        }
    )


def test_a_follower_goes_on_after_a_reconnection_to_the_same_service():
    service = table_service([("a", {})], [("b", {})], [("c", {})], start=1)
    client = reconnecting(service, service)
    samples = client.samples_table()
    next(samples)
    cursor = f"1.{1000}"
    client.reconnect()
    update = next(samples)
    assert not update.reset and update.samples[0].stack[0].name == "b"
    assert service.requests[-1]["params"]["cursor"] == cursor


def test_a_follower_begins_anew_at_another_service():
    client = reconnecting(
        table_service([("a", {})], start=1), other := table_service([("z", {})], start=2)
    )
    samples = client.samples_table()
    next(samples)
    with pytest.raises(StopIteration):  # of the fake's updates: as an error of the connection
        next(samples)
    client.reconnect()
    update = next(samples)
    assert update.reset and "cursor" not in other.requests[-1]["params"]


def test_an_unknown_method_raises_the_services_error():
    with pytest.raises(RpcError) as raised:
        client_of(service_of({})).call("getNothing")
    assert raised.value.code == -32601


def test_a_reply_of_the_wrong_shape_is_a_protocol_error():
    service = service_of({})
    service.answers.update(getVM=lambda p: {"isolates": 5}, getFlagList=lambda p: {})
    client = client_of(service)
    for call in (client.processes, client.flags):
        with pytest.raises(ProtocolError):
            call()


def test_a_service_that_ends_while_we_wait_says_so():
    service = service_of({})
    service.send = lambda text: None
    with pytest.raises(ServiceEnded):
        client_of(service).processes()


def test_leaving_the_block_closes_the_connection():
    service = service_of({})
    with Client(transport=service):
        assert not service.closed
    assert service.closed


def test_the_reply_may_be_of_any_size():
    service = service_of({"big:1": {}})
    service.answers["_getCpuSamples"] = lambda params: samples_reply({"main;work": 20000})
    assert len(client_of(service).cpu_samples(Process("isolates/1", "big")).samples) == 20000


def table_answers(isolates=(), **tables):
    """tables: isolate number -> samples."""
    def samples(params):
        number = params.get("isolateId", "isolates/42").rpartition("/")[2]
        return TableMaker(isolate=f"isolates/{number}").next(tables["p" + number])

    service = service_of({f"app:{n[1:]}": {} for n in tables})
    service.answers["_getCpuSamples"] = samples
    return service


def test_a_profile_is_asked_for_in_the_table_form():
    service = table_answers(p42=[("main;a", {"tid": 7}), ("main;b", {"tid": 8})])
    profile = client_of(service).profile(since_us=5)
    assert len(profile) == 2 and profile.processes[0].name == "app"
    params = service.requests[-1]["params"]
    assert (params["form"], params["timestamp"]) == ("table", 5) and "isolateId" not in params
    assert profile.meta["program"] == "app"


def test_a_profile_of_one_process_and_of_one_thread():
    of_43 = [("x", {"tid": 9}), ("y", {"tid": 8})]
    service = table_answers(p42=[("main;a", {"tid": 7})], p43=of_43)
    client = client_of(service)
    profile = client.profile(processes=[Process("isolates/43", "app")], tid=8)
    assert [f.function.name for f in profile.stack(profile.nodes[0])] == ["y"] and len(profile) == 1


def test_a_profile_comes_page_by_page_where_it_is_big():
    maker = TableMaker()
    pages = [{**maker.next([("a", {})]), "more": True}, maker.next([("b", {})])]
    service = service_of({"app:42": {}})
    service.answers["_getCpuSamples"] = lambda params: pages.pop(0)
    assert len(client_of(service).profile()) == 2
    assert "cursor" in service.requests[-1]["params"]


@pytest.mark.parametrize("code", [None, -32602])
def test_a_service_without_the_table_form_is_asked_for_lists(code):
    service = service_of({"app:42": {"main;work": 2}})
    if code:
        service.errors["_getCpuSamples"] = lambda params: code if "form" in params else None
    assert len(client_of(service).profile()) == 2


def public_reply():
    library = {"type": "@Library", "id": "libraries/@1", "name": "", "uri": "package:sass/a.dart"}
    owner = {"type": "@Class", "name": "Parser", "library": library}
    return {
        "type": "CpuSamples", "samplePeriod": 1000, "sampleCount": 3, "timeOriginMicros": 5,
        "timeExtentMicros": 2000, "pid": 9,
        "functions": [
            {"type": "ProfileFunction", "kind": "Dart", "resolvedUrl": "file:///a.dart",
             "function": {"type": "@Function", "id": "classes/1/functions/parse", "name": "parse",
                          "owner": owner, "location": {"line": 12}}},
            {"type": "ProfileFunction", "kind": "Native", "resolvedUrl": "",
             "function": {"type": "NativeFunction", "name": "[Native] /opt/dart+0x10"}},
        ],
        "samples": [
            {"tid": 1, "timestamp": 2000, "vmTag": "VM", "userTag": "Default", "stack": [1, 0]},
            {"tid": 1, "timestamp": 5, "vmTag": "Dart", "userTag": "Default", "stack": [0],
             "truncated": True},
            {"tid": 1, "timestamp": 6, "vmTag": "Dart", "userTag": "Default", "stack": []},
        ],
    }  # fmt: skip


def test_a_dart_vm_is_asked_in_its_own_way():
    service = service_of({"main:9": {}})
    del service.answers["_getCpuSamples"]
    service.answers["getCpuSamples"] = lambda params: public_reply()
    profile = client_of(service).profile(since_us=3)
    stacks = [[f.function.name for f in profile.stack(row.node)] for row in profile.samples()]
    assert stacks == [["Parser.parse"], ["[Native] /opt/dart+0x10", "Parser.parse"]]
    parse, native = (frame.function for frame in profile.frames)
    assert (parse.library.name, parse.line) == ("package:sass/a.dart", 12)
    assert native.library.name == "dart"
    assert profile.cut == {0} and profile.lost == {"no_stack": 1}
    assert service.requests[-1]["params"]["timeOriginMicros"] == 3
    assert profile.processes[0].label == "main (9)"


def test_a_public_reply_that_points_nowhere_is_a_protocol_error():
    service = service_of({"main:9": {}})
    del service.answers["_getCpuSamples"]
    for stack in ([7], [-1], "x"):
        reply = public_reply()
        reply["samples"][0]["stack"] = stack
        service.answers["getCpuSamples"] = lambda params, reply=reply: reply
        with pytest.raises(ProtocolError, match="getCpuSamples"):
            client_of(service).profile()


def test_a_flag_that_is_refused_is_an_error_with_the_reason():
    service = service_of({})
    refusal = {"type": "Error", "message": "Cannot set flag: not found"}
    service.answers["setFlag"] = lambda params: refusal
    with pytest.raises(RpcError, match="Cannot set flag"):
        client_of(service).set_flag("nothing", "1")
