"""The asyncio client: what differs from the other one. What can be asked is the same code."""

import asyncio
import json

import pytest
from fakes import AsyncFake, FakeService, event, service_of
from isoscope import AsyncClient, Backoff, Client
from isoscope.errors import CannotConnect, ProtocolError, RpcError, ServiceEnded, TimedOut
from tables import table_reply


def client_of(*services, **options):
    """Whose connections are these, one after the other; an exception is raised."""
    coming = iter(services)

    async def connect():
        service = next(coming)
        if isinstance(service, Exception):
            raise service
        return AsyncFake(service)

    return AsyncClient(connect=connect, **options)


def run(scenario):
    return asyncio.run(asyncio.wait_for(scenario, 20))


def success(service):
    service.answers["streamListen"] = lambda params: {"type": "Success"}
    return service


def test_it_has_every_method_of_the_other_client():
    def public(cls):
        return {name for name, what in vars(cls).items() if callable(what) and not name.startswith("_")}

    assert public(Client) <= public(AsyncClient)


def test_a_profile_and_processes():
    service = service_of({"app:42": {}})
    service.answers["_getCpuSamples"] = lambda p: table_reply([("main;a", {}), ("main", {})])

    async def scenario():
        async with client_of(service) as client:
            return await client.processes(), await client.profile()

    processes, profile = run(scenario())
    assert processes[0].label == "app (42)" and len(profile) == 2 and service.closed


def test_calls_at_the_same_time_get_their_own_answers():
    service = FakeService({"echo": lambda params: {"said": params["word"]}})
    send = service.send

    def backwards(text):
        send(text)
        service.unread.reverse()

    service.send = backwards

    async def scenario():
        async with client_of(service) as client:
            return await asyncio.gather(*[client.call("echo", word=i) for i in range(5)])

    assert [answer["said"] for answer in run(scenario())] == list(range(5))


def test_an_event_that_comes_while_a_call_waits_is_given_later():
    service = success(service_of({}))
    service.unread = [event("first"), event("second")]

    async def scenario():
        async with client_of(service) as client:
            await client.processes()
            kinds = []
            async for told in client.events("Profiler"):
                kinds.append(told.event["kind"])
                if len(kinds) == 2:
                    return kinds

    assert run(scenario()) == ["first", "second"]


def test_a_call_without_an_answer_times_out_by_name():
    service = FakeService({})
    service.send = lambda text: None

    async def scenario():
        async with client_of(service, timeout_s=0.01) as client:
            await client.call("getVM")

    with pytest.raises(TimedOut, match="getVM"):
        run(scenario())


def test_an_event_that_does_not_come_times_out():
    async def scenario():
        async with client_of(success(service_of({}))) as client:
            await client.next_event("VM", timeout_s=0.01)

    with pytest.raises(TimedOut):
        run(scenario())


def test_the_end_of_the_service_ends_all_that_wait():
    service = success(service_of({}))

    async def scenario():
        async with client_of(service) as client:
            await client.listen("VM")
            service.send = lambda text: setattr(service, "ended", True)
            waiting = asyncio.ensure_future(client.next_event("VM"))
            results = await asyncio.gather(
                waiting, client.call("getVM"), client.call("getVM"), return_exceptions=True
            )
            with pytest.raises(ServiceEnded):
                await client.call("getVM")
            return results

    assert [type(result) for result in run(scenario())] == [ServiceEnded] * 3


def test_what_is_no_message_of_the_protocol_ends_the_connection_with_the_reason():
    service = service_of({})
    service.send = lambda text: service.unread.append("[]")

    async def scenario():
        async with client_of(service) as client:
            await client.call("getVM")

    with pytest.raises(ProtocolError):
        run(scenario())


def test_a_transport_that_breaks_ends_all_that_wait():
    service = service_of({})

    def broken():
        raise RuntimeError("not an error of ours")

    service.send = lambda text: setattr(service, "ended", True)
    service.receive = broken

    async def scenario():
        async with client_of(service) as client:
            await client.call("getVM")

    with pytest.raises(ServiceEnded):
        run(scenario())


def test_an_error_of_the_service_keeps_its_code():
    async def scenario():
        async with client_of(service_of({})) as client:
            await client.call("getNothing")

    with pytest.raises(RpcError) as raised:
        run(scenario())
    assert raised.value.code == -32601


def test_reconnecting_listens_again():
    first, second = success(service_of({})), success(service_of({}))
    pauses = []

    async def sleep(pause):
        pauses.append(pause)

    async def scenario():
        async with client_of(first, CannotConnect("no"), second) as client:
            await client.listen("VM")
            await client.reconnect(Backoff(first_s=0.2), sleep=sleep)
            return await client.processes()

    assert run(scenario()) == [] and first.closed and pauses == [0.2]
    assert second.requests[0]["params"] == {"streamId": "VM"}


def test_a_follower_gives_updates_until_the_process_is_gone():
    service = service_of({})
    replies = [table_reply([("a", {})]), {"type": "Sentinel"}]
    service.answers["_getCpuSamples"] = lambda params: replies.pop(0)

    async def scenario():
        async with client_of(service) as client:
            return [len(update) async for update in client.samples_table()]

    assert run(scenario()) == [1]


def test_a_client_that_is_not_connected_says_how():
    with pytest.raises(ServiceEnded, match="async with"):
        run(AsyncClient("http://127.0.0.1:1/").call("getVM"))


def test_over_a_real_socket_a_message_may_be_of_any_size():
    websockets = pytest.importorskip("websockets")

    async def serve(connection, path=""):
        async for text in connection:
            request = json.loads(text)
            size = request["params"]["size"]
            await connection.send(json.dumps({"id": request["id"], "result": {"x": "y" * size}}))

    async def scenario():
        async with websockets.serve(serve, "127.0.0.1", 0, max_size=None) as server:
            port = server.sockets[0].getsockname()[1]
            async with AsyncClient(f"http://127.0.0.1:{port}/T=/") as client:
                return len((await client.call("get", size=5_000_000))["x"])

    assert run(scenario()) == 5_000_000


def test_nobody_at_the_address_is_cannot_connect():
    pytest.importorskip("websockets")

    async def scenario():
        async with AsyncClient("http://127.0.0.1:1/T=/"):
            pass

    with pytest.raises(CannotConnect, match="no service answers at 127.0.0.1:1"):
        run(scenario())
