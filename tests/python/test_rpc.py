"""The conversation: ids, replies out of order, events, and what is no message at all."""

import json

import pytest
from isoscope.errors import ProtocolError, RpcError
from isoscope.rpc import Conversation, Event, Reply


def reply_to(request_id, **members):
    return json.dumps({"jsonrpc": "2.0", "id": request_id, **members})


def test_a_request_is_json_rpc_with_a_string_id_of_its_own():
    conversation = Conversation()
    first, text = conversation.request("getVM")
    second, _ = conversation.request("getVM", {"isolateId": "isolates/1"})
    assert json.loads(text) == {"jsonrpc": "2.0", "id": first, "method": "getVM", "params": {}}
    assert isinstance(first, str) and first != second


def test_replies_in_any_order_find_their_request():
    conversation = Conversation()
    first, _ = conversation.request("getVM")
    second, _ = conversation.request("getVersion")
    late = conversation.receive(reply_to(second, result={"major": 4}))
    assert late == Reply(second, "getVersion", {"major": 4})
    assert conversation.receive(reply_to(first, result={})) == Reply(first, "getVM", {})
    assert conversation.pending == 0


def test_a_reply_to_nothing_is_passed_over():
    conversation = Conversation()
    assert conversation.receive(reply_to("99", result={})) is None
    assert conversation.receive(reply_to(None, result={})) is None


def test_an_error_reply_keeps_code_message_and_details():
    conversation = Conversation()
    request_id, _ = conversation.request("_getCpuSamples")
    error = {"code": 100, "message": "Feature is disabled", "data": {"details": "Profiler is off."}}
    reply = conversation.receive(reply_to(request_id, error=error))
    with pytest.raises(RpcError) as raised:
        reply.unwrap()
    assert (raised.value.code, raised.value.details) == (100, "Profiler is off.")
    assert str(raised.value) == (
        "_getCpuSamples: Feature is disabled: Profiler is off. (error 100)"
    )


def test_an_error_reply_of_nonsense_is_still_an_error():
    conversation = Conversation()
    request_id, _ = conversation.request("getVM")
    reply = conversation.receive(reply_to(request_id, error={"code": "x", "data": "text"}))
    assert (reply.error.code, reply.error.message, reply.error.details) == (0, "no message", None)


def test_an_event_needs_no_request():
    text = json.dumps(
        {"method": "streamNotify", "params": {"streamId": "VM", "event": {"kind": "VMFlagUpdate"}}}
    )
    assert Conversation().receive(text) == Event("VM", {"kind": "VMFlagUpdate"})


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "5", "null", b"\xff{}", '{"method":"streamNotify","params":[]}', "[" * 100000],
)
def test_what_is_no_message_is_a_protocol_error(text):
    with pytest.raises(ProtocolError):
        Conversation().receive(text)


def test_a_reply_without_result_and_error_is_a_protocol_error():
    conversation = Conversation()
    request_id, _ = conversation.request("getVM")
    with pytest.raises(ProtocolError, match="getVM"):
        conversation.receive(reply_to(request_id, result=5))
