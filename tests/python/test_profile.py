"""Profiles as columns: out of both forms of the wire, and by hand."""

import pytest
from fakes import profile as listed
from isoscope import CpuSamples, Function, Library, Process, Profile
from isoscope.errors import ProtocolError
from isoscope.samples_table import SamplesTable
from tables import TableMaker, table_reply

APP = Process("isolates/42", "app", 42)


def plain(profile):
    """Each sample by its words."""
    return [
        (row.time_us, row.thread.tid, row.weight_us, row.user_tag, row.state, row.whole,
         [(f.function.name, f.line, f.inlined) for f in profile.stack(row.node)])
        for row in profile.samples()
    ]  # fmt: skip


def of_table(*replies):
    table, profile = SamplesTable(), Profile()
    for reply in replies:
        profile.add_update(table.add(reply), [APP])
    return profile


def test_the_list_form_becomes_columns():
    profile = Profile()
    profile.add(*listed({"main;work": 2, "main": 1}))
    assert plain(profile)[1:] == [
        (1000, 7, 1000, "", "", True, [("work", 0, False), ("main", 0, False)]),
        (2000, 7, 1000, "", "", True, [("main", 0, False)]),
    ]
    assert len(profile.callers) == 3 and len(profile.frames) == 2
    assert profile.threads[0].process.label == "app (42)"


def test_the_table_form_becomes_columns():
    samples = [
        ("main:3;walk|leaf:9", {"tag": "parse", "us": 1500}),
        ("main:3;walk|leaf:9", {"tid": 8, "vm": "Idle", "us": 0, "cut": True, "after": -5}),
    ]
    stack = [("leaf", 9, True), ("walk", 0, False), ("main", 3, False)]
    profile = of_table(table_reply(samples))
    assert plain(profile) == [
        (0, 7, 1500, "parse", "Native", True, stack),
        (-5, 8, 0, "Default", "Idle", False, stack),
    ]
    assert profile.nodes[0] == profile.nodes[1]
    assert [(t.name, t.process) for t in profile.threads] == [("thread 7", APP), ("thread 8", APP)]


def test_both_forms_say_the_same():
    samples = [("main:3;walk|leaf:9", {"tag": "x"}), ("main:3", {}), ("main:4;walk", {"cut": True})]
    update = SamplesTable().add(table_reply(samples))
    through_objects = Profile()
    for sample in update.samples:
        through_objects.add(APP, _one(sample))
    direct = Profile()
    direct.add_update(update, [APP])
    assert plain(direct) == plain(through_objects)


def _one(sample):
    return CpuSamples(1000, 0, 0, [sample], {}, {})


def test_updates_go_on_where_the_last_one_ended():
    maker = TableMaker()
    first = maker.next([("main;a", {}), ("main;b", {"tid": 8})])
    second = maker.next([("main;a;c", {}), ("main;b", {"tid": 8, "tag": "late"})])
    profile = of_table(first, second)
    assert [row[-1][0][0] for row in plain(profile)] == ["a", "b", "c", "b"]
    assert profile.nodes[1] == profile.nodes[3] and len(profile.threads) == 2


def test_pcs_of_one_line_are_one_frame_and_one_node():
    reply = table_reply([("main:3;leaf:9", {}), ("main:3;leaf:9", {})])
    reply["frames"].append(dict(reply["frames"][1]))
    reply["trees"][0]["samples"]["frames"][1] = 2
    profile = of_table(reply)
    assert profile.nodes[0] == profile.nodes[1] and len(profile.frames) == 2


def test_functions_of_two_replies_are_one_object_when_they_are_the_same():
    profile = Profile()
    profile.add(*listed({"main": 1}))
    profile.add(*listed({"main": 1}, pid=43))
    assert len(profile.frames) == 1 and len(profile.processes) == 2


def test_the_same_id_of_another_isolate_is_another_function():
    library = Library("libraries/1", "file:///x", "x")
    profile = Profile()
    one = profile.frame(Function("functions/1", "one", library))
    assert profile.frame(Function("functions/1", "other", library)) != one


def test_a_window_keeps_what_lies_in_it_and_shares_the_stacks():
    profile = of_table(table_reply([(s, {"cut": s == "c"}) for s in "abcd"]))
    part = profile.window(1000, 2000)
    assert [row[-1][0][0] for row in plain(part)] == ["b", "c"]
    assert part.cut == {1} and part.callers is profile.callers
    assert len(profile.window(2500)) == 1 and len(profile.window()) == 4
    assert len(profile.window(9000)) == 0


def test_a_name_that_comes_late_replaces_none():
    profile = Profile()
    number = profile.thread(APP, 7)
    assert profile.thread(APP, 7, "worker") == number
    assert profile.thread(APP, 7) == number and profile.threads[number].name == "worker"


def test_a_node_that_is_nowhere_is_an_error():
    profile = Profile()
    frame = profile.frame(Function("functions/1", "f", None))
    for caller, number in ((5, frame), (0, 9), (-1, frame)):
        with pytest.raises(IndexError):
            profile.node(caller, number)
    assert profile.node(0, frame) == 1


@pytest.mark.parametrize(
    "column, value, named",
    [
        ("threads", 5, "thread"),
        ("callers", 9, "caller"),
        ("frames", -1, "frame"),
        ("vmTags", 3, "vmTag"),
        ("incomplete", 4, "incomplete"),
    ],
)
def test_a_column_that_points_nowhere_is_a_protocol_error(column, value, named):
    reply = table_reply([("main;a", {"cut": True})])
    reply["trees"][0]["samples"][column] = [value]
    with pytest.raises(ProtocolError, match=named):
        SamplesTable().add(reply)


def test_columns_of_different_lengths_are_a_protocol_error():
    reply = table_reply([("main;a", {})])
    reply["trees"][0]["samples"]["threads"] = []
    with pytest.raises(ProtocolError, match="lengths"):
        SamplesTable().add(reply)


def test_a_caller_that_is_its_own_is_a_protocol_error():
    reply = table_reply([("main;a", {})])
    reply["trees"][0]["nodes"]["callers"] = [1]
    with pytest.raises(ProtocolError, match="not before it"):
        SamplesTable().add(reply)
