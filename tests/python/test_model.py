"""The reply's tables become objects; a reference that points nowhere is named."""

import pytest
from fakes import samples_reply
from isoscope import CpuSamples, Process
from isoscope.errors import ProtocolError
from isoscope.model import is_thread


def test_a_stack_holds_the_functions_of_the_table_leaf_first():
    samples = CpuSamples.parse(samples_reply({"main;work": 2}, library="app"))
    first, second = samples.samples
    assert [f.name for f in first.stack] == ["work", "main"]
    assert first.stack[0] is second.stack[0]
    assert first.stack[0].library.name == "app"
    assert (first.timestamp_us, second.timestamp_us, first.tid) == (0, 1000, 7)


def test_members_we_do_not_know_are_passed_over():
    reply = samples_reply({"main": 1})
    reply["_new"] = {}
    reply["samples"][0]["vmTag"] = "Native"
    assert len(CpuSamples.parse(reply).samples) == 1


def test_what_our_service_adds_is_read_where_it_is_there():
    reply = samples_reply({"main": 2})
    plain = CpuSamples.parse(reply)
    assert (plain.pid, plain.true_period_us, plain.lost) == (None, 0, {})
    reply["samples"][1]["truncated"] = True
    reply.update(pid=42, _counters={"true_period_us": 4000, "lost_ring_full": 3, "lost_x": 0})
    told = CpuSamples.parse(reply)
    assert (told.pid, told.true_period_us, told.lost) == (42, 4000, {"ring_full": 3})
    assert [sample.whole for sample in told.samples] == [True, False]


def test_an_empty_reply_is_a_profile_without_samples():
    assert CpuSamples.parse(samples_reply({})).samples == []


def test_a_function_without_a_library_is_fine():
    reply = samples_reply({"main": 1})
    del reply["functions"][0]["owner"]
    assert CpuSamples.parse(reply).samples[0].stack[0].library is None


def broken(change):
    reply = samples_reply({"main;work": 1})
    change(reply)
    return reply


@pytest.mark.parametrize(
    "reply, named",
    [
        (broken(lambda r: r.pop("samples")), "samples"),
        (broken(lambda r: r.pop("functions")), "functions"),
        (broken(lambda r: r["functions"].pop()), "functions/1/1"),
        (broken(lambda r: r["libraries"].pop()), "libraries/1"),
        (broken(lambda r: r["samples"][0].update(stack=[])), "empty stack"),
        (broken(lambda r: r["samples"][0].update(stack=5)), "int"),
        (broken(lambda r: r["samples"][0].pop("tid")), "tid"),
        (broken(lambda r: r.update(samplePeriod="fast")), "fast"),
        (broken(lambda r: r.update(_counters=[1])), "items"),
    ],
)
def test_a_broken_reply_is_a_protocol_error_that_names_the_place(reply, named):
    with pytest.raises(ProtocolError, match=named):
        CpuSamples.parse(reply)


def test_a_process_is_named_by_its_program():
    process = Process.parse({"id": "isolates/4242", "name": "python3.11:main()"})
    assert (process.number, process.label) == ("4242", "python3.11 (4242)")


def test_a_pid_behind_a_name_that_repeats_is_not_the_name():
    process = Process.parse({"id": "isolates/4242", "name": "bash:main() 4242"})
    assert process.label == "bash (4242)"


def test_an_isolate_without_an_id_is_a_protocol_error():
    with pytest.raises(ProtocolError, match="id"):
        Process.parse({"name": "x"})


def test_threads_that_are_isolates_are_told_from_processes():
    assert is_thread({"id": "isolates/1235000001234", "name": "x", "_pid": 1234, "_tid": 1235})
    assert not is_thread({"id": "isolates/1234", "name": "x", "_pid": 1234})
    assert not is_thread({"id": "isolates/1", "name": "x"})  # of a Dart VM
