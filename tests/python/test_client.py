"""The client against canned answers."""

import json

import pytest
from fakes import client_of, samples_reply, service_of
from isoscope import Client, Process
from isoscope.errors import ProtocolError, RpcError, ServiceEnded


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


def test_events_and_stray_replies_before_the_answer_are_passed_over():
    service = service_of({})
    service.unread = [
        json.dumps({"method": "streamNotify", "params": {"streamId": "VM", "event": {}}}),
        json.dumps({"id": "999", "result": {}}),
    ]
    assert client_of(service).processes() == []


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
