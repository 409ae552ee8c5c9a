"""tests/trees: replies with the trees they make, for every client."""

import json
from pathlib import Path

import pytest
from isoscope import Process, Profile, bottom_up, call_tree, filters
from isoscope.samples_table import SamplesTable
from isoscope.trees import layout

CASES = sorted((Path(__file__).resolve().parents[1] / "trees").glob("*.json"))


@pytest.fixture(params=CASES, ids=lambda path: path.stem)
def case(request):
    return json.loads(request.param.read_text())


@pytest.fixture
def profile(case):
    table, profile = SamplesTable(), Profile()
    processes = [Process(process["id"], process["name"]) for process in case["processes"]]
    for reply in case["replies"]:
        profile.add_update(table.add(reply), processes)
    return filters.by_stack(profile, frames=case.get("frames", "all"))


@pytest.fixture
def tree(case, profile):
    return call_tree(profile, group=case["group"], weight="samples")


def test_there_are_cases():
    assert len(CASES) >= 8


def test_the_call_tree(case, tree):
    expect = case["expect"]
    assert (tree.sample_count, tree.cpu_us, tree.cut_count) == (
        expect["sampleCount"],
        expect["cpuMicros"],
        expect["cutCount"],
    )
    assert [
        [n.depth, n.item.name, n.inlined, n.self_count, n.total_count, n.self_us, n.total_us]
        for n, _ in tree.walk()
    ] == expect["callTree"]


def test_bottom_up(case, tree):
    turned = bottom_up(tree)
    told = [[n.depth, n.item.name, n.total_count, n.total_us] for n, _ in turned.walk()]
    assert told == case["expect"]["bottomUp"]


def test_the_table(case, tree):
    rows = [
        {
            "name": row.name,
            "self": row.self_count,
            "total": row.total_count,
            "selfMicros": row.self_us,
            "totalMicros": row.total_us,
            "callers": {item.name: count for item, count in row.callers.items()},
            "callees": {item.name: count for item, count in row.callees.items()},
        }
        for row in tree.table().rows
    ]
    assert rows == case["expect"]["table"]


def test_the_flame_graph(case, tree):
    rows = [
        [[box.node.item.name, box.start, box.width] for box in row] for row in layout(tree).rows
    ]
    assert rows == case["expect"]["flame"]


def test_what_must_hold_of_any_profile(tree):
    nodes = [node for node, _ in tree.walk()]
    assert sum(node.self_count for node in nodes) == tree.sample_count
    assert sum(row.self_count for row in tree.functions()) == tree.sample_count
    assert all(
        node.total_count == node.self_count + sum(c.total_count for c in node.children.values())
        for node in nodes
    )
    assert all(row.total_count <= tree.sample_count for row in tree.functions())
