"""Transcripts without a service: their lines, and what is compared how."""

import base64
import json
import os

import pytest
from isoscope.errors import BadFile, CannotWrite
from isoscope.transcripts import transcript as transcript_module
from isoscope.transcripts import wire_types
from isoscope.transcripts.difference import Difference, differences
from isoscope.transcripts.frames import BINARY, CLOSE, PING, TEXT
from isoscope.transcripts.ids import Ids
from isoscope.transcripts.judges import ByteJudge, ShapeJudge
from isoscope.transcripts.recorder import Recorder
from isoscope.transcripts.script import Script
from isoscope.transcripts.service import ServiceAddress
from isoscope.transcripts.shape import Shape
from isoscope.transcripts.transcript import Transcript
from isoscope.transcripts.variables import VARIABLES, Side, masked
from transcript_lines import VERSION, ask, event, line, reply

@pytest.fixture
def transcript(tmp_path):
    """transcript(line, ...) -> Transcript"""

    def write(*lines):
        path = tmp_path / "t.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in lines))
        return Transcript.read(str(path))

    return write


# Files that are none


@pytest.mark.parametrize(
    "content, said",
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"\x7fELF\x02\x01\xff\n", "line 1: not text (byte 6 is 0xff)"),
        (b"\x89PNG\r\n", "line 1: not text (byte 0 is 0x89)"),
        (b"{}\n", "line 1: unknown direction null: send or recv"),
        (b"GOOD\n\n{\"dir\": \"up\"}\n", "line 3: unknown direction \"up\": send or recv"),
        (b"GOOD\n{\"dir\": \"send\", \"kind\": \"x\"}", "line 2: unknown kind \"x\": text, binary,"),
        (b"GOOD\n{\"dir\": \"send\", \"ki", "line 2: not JSON: Unterminated string starting at at column 17; "
                                            "it is the last one, and was cut short"),
        (b"GOOD\n[1]\n", "line 2: a JSON list instead of an object"),
        (b"GOOD\nNaN\n", "line 2: NaN is not JSON"),
        (b"GOOD\n" + b"[" * 200_000 + b"\n", "line 2: nested too deeply"),
        (b'{"dir": "send", "kind": "text", "client": "", "msg": 1}', "line 1: client \"\" is no name"),
        (b'{"dir": "send", "kind": "text", "client": 7, "msg": 1}', "line 1: client 7 is no name"),
        (b'{"dir": "send", "kind": "text", "client": "A"}', "line 1: a text without msg"),
        (b'{"dir": "send", "kind": "text", "client": "A", "msg": 1, "raw": 1}', "line 1: raw is no text"),
        (b'{"dir": "send", "kind": "text", "client": "A", "t_ms": -1, "msg": 1}', "line 1: t_ms -1 is no time"),
        (b'{"dir": "send", "kind": "text", "client": "A", "t_ms": true, "msg": 1}', "t_ms true is no time"),
        (b'{"dir": "send", "kind": "binary", "client": "A", "msg": "!"}', "line 1: msg is not base64"),
        (b'{"dir": "send", "kind": "http", "client": "A", "msg": {}}', "line 1: an http request without method"),
        (b'{"dir": "recv", "kind": "http", "client": "A", "msg": {"head": 1}}', "head of an http answer is no"),
        (b'{"dir": "send", "kind": "note", "msg": "hello"}', "holds no request"),
        (b'{"dir": "recv", "kind": "text", "client": "A", "msg": {}}', "holds no request"),
    ],
)  # fmt: skip
def test_what_is_no_transcript_is_refused_with_its_line(tmp_path, content, said):
    path = tmp_path / "t.jsonl"
    path.write_bytes(content.replace(b"GOOD", json.dumps(ask("getVM")).encode()))
    with pytest.raises(BadFile) as refused:
        Transcript.read(str(path))
    assert said in str(refused.value) and str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_line_without_end_is_not_read_to_it(tmp_path, monkeypatch):
    monkeypatch.setattr(transcript_module, "LINE_BYTES_MAX", 1 << 20)
    path = tmp_path / "t.jsonl"
    path.write_bytes(json.dumps(ask("getVM")).encode() + b"\n" + b"x" * (3 << 20))
    with pytest.raises(BadFile, match="line 2: longer than 1 MiB"):
        Transcript.read(str(path))


def test_a_file_that_cannot_be_read_says_why(tmp_path):
    with pytest.raises(BadFile, match="No such file or directory"):
        Transcript.read(str(tmp_path / "none.jsonl"))
    with pytest.raises(BadFile, match="Is a directory"):
        Transcript.read(str(tmp_path))


def test_an_id_that_is_repeated_is_told_and_taken_in_order(transcript):
    read = transcript(ask("getVM"), ask("getVersion"), reply({"type": "VM"}), reply(VERSION))
    (warning,) = read.warnings
    assert 'line 2: id "1" is repeated before line 1' in warning
    asked = [read.request_of(entry).line for entry in read.entries if entry.is_reply]
    assert asked == [1, 2]


def test_an_id_that_was_answered_may_come_again(transcript):
    read = transcript(ask("getVM"), reply({}), ask("getVM"), reply({}), ask("getVM", client="B"))
    assert read.warnings == []


# What a recorder writes


def test_what_was_recorded_is_read_again(tmp_path):
    path = tmp_path / "t.jsonl"
    recorder = Recorder(str(path), "127.0.0.1:1", "127.0.0.1:2", ["SECRET=="])
    name = recorder.new_client()
    long = json.dumps({"id": "2", "method": "x" * 5000})
    texts = ['{"id":"1", "method":"getVM"}', long, "not JSON", "", '{"a": NaN}', '"\\ud800"', '{"a":1,"a":2}']
    for text in texts:
        recorder.message("send", name, TEXT, text.encode())
    recorder.message("send", name, TEXT, b"\xff")
    recorder.message("recv", name, BINARY, b"\0\xff")
    recorder.message("recv", name, PING, b"p")
    recorder.message("recv", name, CLOSE, (4000).to_bytes(2, "big") + b"bad SECRET==")
    recorder.close()
    recorder.message("recv", name, PING, b"too late")
    assert "SECRET" not in path.read_text()
    read = Transcript.read(str(path))
    assert read.addresses == ["127.0.0.1:1", "127.0.0.1:2"]
    entries = read.entries[1:]
    assert [entry.text for entry in entries[: len(texts)]] == texts
    assert entries[0].message["method"] == "getVM" and entries[1].message["method"] == "x" * 5000
    assert [entry.data for entry in entries[len(texts) : -1]] == [b"\xff", b"\0\xff", b"p"]
    assert (entries[-1].closed, entries[-1].msg["closed"][1]) == (4000, "bad $token")


def test_clients_are_named_by_letters(tmp_path):
    recorder = Recorder(str(tmp_path / "t.jsonl"), "", "")
    names = [recorder.new_client() for _ in range(703)]
    assert [names[0], names[25], names[26], names[701], names[702]] == ["A", "Z", "AA", "ZZ", "AAA"]
    recorder.close()


def test_a_file_that_cannot_be_written_says_why(tmp_path):
    with pytest.raises(CannotWrite, match="cannot write .*: Is a directory"):
        Recorder(str(tmp_path), "", "")
    with pytest.raises(CannotWrite, match="cannot write .*: No such file or directory"):
        Recorder(str(tmp_path / "no" / "t.jsonl"), "", "")


def test_a_disk_that_is_full_is_told_at_once():
    with pytest.raises(CannotWrite, match="/dev/full: No space left on device"):
        Recorder("/dev/full", "", "")


def test_a_disk_that_fills_up_leaves_whole_lines(tmp_path, monkeypatch):
    told = []
    recorder = Recorder(str(tmp_path / "t.jsonl"), "", "", tell=told.append)
    recorder.message("send", "A", TEXT, b'{"id": "1", "method": "getVM"}')
    whole = (tmp_path / "t.jsonl").read_bytes()
    write, calls = os.write, []

    def full(file, data):
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return write(file, data[:10])

    monkeypatch.setattr("isoscope.transcripts.recorder.os.write", full)
    recorder.message("send", "A", TEXT, b"more")
    recorder.message("send", "A", TEXT, b"and more")
    assert told == [recorder.problem] and "No space left on device; it ends with line 2" in told[0]
    assert (tmp_path / "t.jsonl").read_bytes() == whole and len(calls) == 2
    recorder.close()


# What is the same, and what differs


def test_differences_of_values_have_paths():
    before = {"a": 1, "b": [{"c": "x"}, 2], "d": None, "e": 1}
    now = {"a": 1.0, "b": [{"c": "y"}], "d": None, "f": True}
    assert list(differences(before, now, "result")) == [
        Difference("result.a", "1", "1.0"),
        Difference("result.b[0].c", '"x"', '"y"'),
        Difference("result.b[1]", "2", "nothing"),
        Difference("result.e", "1", "nothing"),
        Difference("result.f", "nothing", "true"),
    ]
    (order,) = differences({"a": 1, "b": 2}, {"b": 2, "a": 1}, "")
    assert order.expected == 'members in the order ["a", "b"]'


def test_a_shape_is_of_all_that_was_seen():
    shape = Shape()
    shape.learn({"type": "T", "n": 1, "of": [{"type": "U", "x": 1}, None], "sometimes": 1})
    shape.learn({"type": "T", "n": 1.5, "of": []})
    assert not list(shape.differences({"type": "T", "n": 2, "of": [None], "new": 1}, "r"))
    wrong = {"type": "T", "n": "2", "of": [{"type": "U"}, {"type": "V"}]}
    assert list(shape.differences(wrong, "r")) == [
        Difference("r.n", "integer or number", "string"),
        Difference("r.of[0].x", "integer", "nothing"),
        Difference("r.of[1]", "U or null", "V"),
    ]


@pytest.mark.parametrize("method", ["getVM", "_getCpuSamples", "ext.dart.io.getVersion", "getStack"])
def test_the_types_of_a_method_are_known(method):
    assert wire_types.result_type(method)


def test_types_name_what_is_wrong():
    hint = wire_types.result_type("getVersion")
    assert not list(wire_types.differences(VERSION, hint, "result"))
    assert list(wire_types.differences({"type": "Versio", "major": True}, hint, "result")) == [
        Difference("result.type", '"Version"', '"Versio"'),
        Difference("result.major", "integer", "boolean"),
        Difference("result.minor", "integer", "nothing"),
    ]
    assert wire_types.result_type("getNothing") is None
    assert wire_types.event_type("IsolateStart") and not wire_types.event_type("Dance")


def shape_found(read, *messages):
    judge = ShapeJudge(read)
    heard = [entry for entry in read.entries if entry.direction == "recv"]
    return [
        difference
        for entry, message in zip(heard, messages)
        for difference in judge.text(entry, json.dumps(message), message)
    ]


def test_by_shape_other_values_are_the_same(transcript):
    read = transcript(ask("getVersion"), reply(VERSION))
    assert not shape_found(read, {"result": {"type": "Version", "major": 5, "minor": 0}})


@pytest.mark.parametrize(
    "recorded, got, found",
    [
        ({"result": VERSION}, {"result": {"type": "Version", "major": "4", "minor": 1}},
         Difference("result.major", "integer", "string")),
        ({"result": VERSION}, {"result": {"type": "Sentinel"}}, Difference("result", "Version", "Sentinel")),
        ({"result": VERSION}, {"error": {"code": -32601, "message": "Method not found"}},
         Difference("result", "Version", "error -32601 (Method not found)")),
        ({"error": {"code": 100, "data": {"details": "no"}}}, {"result": VERSION},
         Difference("error", "error 100 (no)", "Version")),
        ({"error": {"code": 100}}, {"error": {"code": 101, "message": "x"}},
         Difference("error.code", "100", "error 101 (x)")),
    ],
)  # fmt: skip
def test_by_shape_a_broken_reply_is_found(transcript, recorded, got, found):
    read = transcript(ask("getVersion"), line("recv", {"id": "1", **recorded}))
    assert shape_found(read, {"id": "1", **got}) == [found]


def test_what_is_none_of_ours_is_held_against_its_own_shape(transcript):
    theirs = {"type": "Version", "major": "four", "extra": [1]}
    read = transcript(ask("getVersion"), reply(theirs))
    assert not shape_found(read, {"result": {"type": "Version", "major": "five", "extra": []}})
    assert shape_found(read, {"result": {"type": "Version", "major": 5, "extra": ["x"]}}) == [
        Difference("result.major", "string", "integer"),
        Difference("result.extra[0]", "integer", "string"),
    ]


def bytes_found(read, text):
    judge = ByteJudge(read, ServiceAddress("http://127.0.0.1:8181/OURS==/"))
    (entry,) = [entry for entry in read.entries if entry.direction == "recv"]
    return list(judge.text(entry, text, json.loads(text)))


def test_by_bytes_only_the_same_bytes_are_the_same(transcript):
    text = json.dumps({"jsonrpc": "2.0", "id": "1", "result": VERSION})
    read = transcript(ask("getVersion"), reply(VERSION))
    assert bytes_found(read, text) == []
    assert bytes_found(read, text.replace("16", "17")) == [Difference("result.minor", "16", "17")]
    (spaces,) = bytes_found(read, text.replace('"major": ', '"major":'))
    assert spaces.path == f"character {text.index('4,')- 1}"
    (order,) = bytes_found(read, text.replace('"major": 4, "minor": 16', '"minor": 16, "major": 4'))
    assert order.path == "result"


def test_by_bytes_what_may_differ_is_in_one_table(transcript):
    assert list(VARIABLES) == ["the token in the service's address", "the host and port in its address",
                               "the service's own pid: VM.pid"]  # fmt: skip
    vm = {"type": "VM", "pid": 41, "at": "http://127.0.0.1:1/$token/", "others": [{"pid": 7}]}
    note = {"dir": "send", "kind": "note", "client": "",
            "msg": {"transcript": 1, "service": "127.0.0.1:1", "proxy": "127.0.0.1:2"}}  # fmt: skip
    read = transcript(note, ask("getVM"), reply(vm))
    text = json.dumps(reply(vm)["msg"]).replace("41", "52").replace("127.0.0.1:1/$token", "127.0.0.1:8181/OURS==")
    assert bytes_found(read, text) == []
    assert bytes_found(read, text.replace("7}", "8}")) == [Difference("result.others[0].pid", "7", "8")]


def test_a_programs_pid_is_not_what_may_differ():
    text = '{"result": {"type": "CpuSamples", "pid": 41}}'
    assert masked(text, Side()) == text


def test_names_are_those_of_the_service_that_there_is():
    ids = Ids()
    ids.learn({"isolates": [{"id": "isolates/41", "number": "41"}], "next": "c1"},
              {"isolates": [{"id": "isolates/52", "number": "52"}], "next": "c7"})  # fmt: skip
    same = '{"id":"41","method":"getIsolate",  "params":{"isolateId":"isolates/9"}}'
    assert ids.translated(same) == same and ids.translated("not JSON") == "not JSON"
    other = json.loads(ids.translated('{"id":"41","method":"m","params":{"a":["isolates/41"],"cursor":"c1"}}'))
    assert other == {"id": "41", "method": "m", "params": {"a": ["isolates/52"], "cursor": "c7"}}


# What a service says that plays a transcript


def said(script, method, number="1", **params):
    text = json.dumps({"id": number, "method": method, "params": params})
    return [json.loads(content) for _, content in script.reply(text, "x")]


def test_a_request_gets_its_answers_in_order_and_then_the_last(transcript):
    script = Script(transcript(ask("m"), reply(1), ask("m", "2"), reply(2, "2"), ask("n", "3"), reply(3, "3")))
    assert [said(script, "m", number)[0] for number in "789"] == [
        {"jsonrpc": "2.0", "id": "7", "result": 1},
        {"jsonrpc": "2.0", "id": "8", "result": 2},
        {"jsonrpc": "2.0", "id": "9", "result": 2},
    ]
    assert (script.unexpected, script.unasked) == ([], 1)


def test_a_request_brings_about_its_events(transcript):
    script = Script(transcript(ask("m"), event("Before"), reply(1), event("After"), ask("n", "2"), reply(2, "2")))
    kinds = [m["params"]["event"]["kind"] if "params" in m else m["result"] for m in said(script, "m")]
    assert kinds == ["Before", 1, "After"]
    assert len(said(script, "n", "2")) == 1


def test_a_request_that_was_not_recorded_gets_an_error_and_is_told(transcript):
    script = Script(transcript(ask("m", a=1), reply(1)))
    (answer,) = said(script, "m", "5", a=2)
    assert answer["id"] == "5" and answer["error"]["code"] == -32000
    assert 'm with other parameters: ["m", {"a": 1}]' in answer["error"]["data"]["details"]
    assert script.unexpected == ['x: {"id": "5", "method": "m", "params": {"a": 2}}']


def test_parameters_are_the_same_in_any_order(transcript):
    script = Script(transcript(ask("m", a=1, b=2), reply(1)))
    assert said(script, "m", b=2, a=1)[0]["result"] == 1


def test_what_is_not_json_is_answered_as_it_was(transcript):
    bad = {"dir": "send", "kind": "text", "client": "A", "t_ms": 0, "msg": "{", "raw": "{"}
    closed = {"dir": "recv", "kind": "close", "client": "A", "t_ms": 0, "msg": {"closed": [4000, "bad"]}}
    assert Script(transcript(bad, closed)).reply("{") == [(CLOSE, (4000).to_bytes(2, "big") + b"bad")]


def test_binary_messages_are_played_as_they_were(transcript):
    data = {**line("recv", base64.b64encode(b"\0\1").decode(), kind="binary"), "bytes": 2}
    script = Script(transcript(ask("m"), reply(1), data))
    assert script.reply('{"id": "1", "method": "m"}')[1] == (BINARY, b"\0\1")
