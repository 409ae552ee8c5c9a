"""Stacks of which none comes twice: what they may cost, and that all views of them agree."""

import gc
import io
import random
import tracemalloc
from collections import Counter

import pytest
from isoscope import Process, Profile, bottom_up, call_tree, formats
from isoscope.errors import BadFile
from isoscope.filters import by_stack
from isoscope.formats.protobuf import numerals
from isoscope.stacks import FunctionTree
from isoscope.samples_table import SamplesTable
from isoscope.text import Style
from isoscope.trees import Node, hot_spots
from isoscope.trees.text import render_tree
from tables import TableMaker, table_reply

_SHARED = "main:1;run:2;loop:3"


def _stacks(count, depth=40, functions=300):
    """Below what all share, anything, and at other lines each time."""
    draw = random.Random(5)
    return [
        ";".join(
            [_SHARED] + [f"f{draw.randrange(functions)}:{draw.randrange(3)}" for _ in range(depth)]
        )
        for _ in range(count)
    ]


def _profile(stacks):
    profile = Profile()
    update = SamplesTable().add(table_reply([(stack, {}) for stack in stacks]))
    profile.add_update(update, [Process("isolates/42", "app")])
    return profile


def _names(stack):
    return [frame.partition(":")[0] for frame in stack.split(";")]


def test_a_tree_makes_objects_only_of_the_nodes_that_are_shown():
    tree = call_tree(_profile(_stacks(500)))
    assert len(tree.columns) > 15_000
    rows = render_tree(tree, Style())
    assert len(rows) < 50
    gc.collect()
    assert sum(isinstance(one, Node) for one in gc.get_objects()) < 50


def test_a_node_costs_a_few_dozen_bytes_from_the_reply_to_the_text():
    reply = table_reply([(stack, {}) for stack in _stacks(1500)])
    nodes = len(reply["trees"][0]["nodes"]["callers"])
    assert nodes > 50_000
    tracemalloc.start()
    try:
        profile = Profile()
        profile.add_update(SamplesTable().add(reply), [Process("isolates/42", "app")])
        profile.complete()
        tree = call_tree(profile)
        tree.functions()
        render_tree(tree, Style())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak / nodes < 200  # an object each would be 400 and more


def test_all_views_of_ever_new_stacks_agree_with_the_stacks():
    stacks = _stacks(200, depth=12, functions=8)  # so few functions recur
    tree = call_tree(_profile(stacks))
    total, own, calls = Counter(), Counter(), Counter()
    for stack in map(_names, stacks):
        total.update(set(stack))
        own[stack[-1]] += 1
        calls.update(set(zip(stack, stack[1:])))
    rows = {row.name: row for row in tree.functions()}
    assert {name: row.total_count for name, row in rows.items()} == total
    assert {name: row.self_count for name, row in rows.items() if row.self_count} == own
    counted = {(c.name, name): n for name, row in rows.items() for c, n in row.callers.items()}
    assert counted == calls
    assert calls == {(name, c.name): n for name, row in rows.items() for c, n in row.callees.items()}
    assert {node.name: node.self_count for node in bottom_up(tree).roots} == own
    assert sum(node.self_count for node, _ in tree.walk()) == 200
    prefixes = {tuple(names[: n + 1]) for names in map(_names, stacks) for n in range(len(names))}
    assert sum(1 for _ in tree.walk()) == len(prefixes) + 1
    leaf = max(own, key=own.get)
    assert hot_spots(_profile(stacks), threshold=own[leaf] / 200).spots[0].share == own[leaf] / 200


def test_a_threads_tree_is_that_of_its_samples_alone():
    samples = [(stack, {"tid": 1 + n % 3}) for n, stack in enumerate(_stacks(90, 10, 4))]
    profile = Profile()
    profile.add_update(SamplesTable().add(table_reply(samples)), [Process("isolates/42", "app")])
    together = call_tree(profile, group="thread")
    for root in together.roots:
        tid = int(root.key.rpartition("/")[2])
        places = [i for i, t in enumerate(profile.sample_threads) if profile.threads[t].tid == tid]
        (alone,) = call_tree(profile.choose(places), group="thread").roots
        assert _told(root) == _told(alone)


def _told(root):
    waiting, told = [root], []
    while waiting:
        node = waiting.pop()
        told.append((node.depth, node.name, node.self_count, node.total_count, node.total_us))
        waiting += node.sorted_children()
    return told


def test_two_looks_at_one_node_are_equal():
    tree = call_tree(_profile(_stacks(3)))
    (main,), (again,) = tree.roots[0].sorted_children(), tree.roots[0].sorted_children()
    assert main == again and hash(main) == hash(again) and main.parent == tree.roots[0]
    assert main != tree.roots[0] and main != call_tree(_profile(_stacks(3))).roots[0]
    assert main.path() == [tree.roots[0], main]


def test_samples_may_come_after_a_profile_was_taken_for_complete():
    maker, table = TableMaker(), SamplesTable()
    process = Process("isolates/42", "app")
    profile = Profile()
    profile.add_update(table.add(maker.next([("main;a;b", {}), ("main;c", {})])), [process])
    profile.complete()
    profile.add_update(table.add(maker.next([("main;a;b", {}), ("main;c;d", {})])), [process])
    assert profile.nodes[2] == profile.nodes[0] and len(profile.callers) == 6


def test_stacks_by_function_and_without_some_are_those_of_the_profile():
    stacks = _stacks(50, depth=8, functions=5)
    profile = _profile(stacks)
    tree = FunctionTree(profile)
    found = [[f.name for f in tree.stack(tree.of[node])] for node in profile.nodes]
    assert found == [_names(stack) for stack in stacks]
    hidden = by_stack(profile, hide="^f1$")
    left = [[f.function.name for f in hidden.stack(node)][::-1] for node in hidden.nodes]
    assert left == [[name for name in _names(stack) if name != "f1"] for stack in stacks]


def test_a_pprof_file_of_ever_new_stacks_is_read_as_it_was_written():
    profile, out = _profile(_stacks(120, depth=12, functions=200)), io.BytesIO()
    formats.write(profile, "pprof", out)
    back = formats.parse(out.getvalue())
    assert len(back.callers) == len(profile.callers)
    stacks = [
        Counter(tuple((f.function.name, f.line) for f in p.stack(node)) for node in p.nodes)
        for p in (profile, back)
    ]
    assert stacks[0] == stacks[1]


def test_a_number_that_ends_in_the_middle_is_a_bad_file():
    assert numerals(b"\x01\x96\x01\x7f") == [b"\x01", b"\x96\x01", b"\x7f"]
    assert numerals(150) == [b"\x96\x01"]
    with pytest.raises(BadFile, match="in the middle"):
        numerals(b"\x01\x96")
