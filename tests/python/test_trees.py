"""What trees/shared cases do not say: merging and grouping, hot spots, differences, notebooks."""

import sys

import pytest
from fakes import profile as listed
from isoscope import Function, Process, Profile, bottom_up, call_tree
from isoscope.errors import IsoscopeError
from isoscope.filters import by_stack
from isoscope.dataframe import profile_columns
from isoscope.samples_table import SamplesTable
from isoscope.trees import difference, hot_spots, layout
from isoscope.trees.data import bottom_up_json, table_json
from profiles import synthetic
from tables import table_reply


def profile_of(*samples):
    profile = Profile()
    samples = [sample if isinstance(sample, tuple) else (sample, {}) for sample in samples]
    update = SamplesTable().add(table_reply(samples))
    profile.add_update(update, [Process("isolates/42", "app")])
    return profile


def told(tree):
    return [(n.depth, n.name, n.self_count, n.total_count) for n, _ in tree.walk()]


def test_by_line_each_line_is_its_own_node_and_row():
    tree = call_tree(profile_of("main:3;work:7", "main:3;work:8", "main:4;work:8"), merge="line")
    assert told(tree)[1:] == [
        (1, "main:3", 0, 2),
        (2, "work:7", 1, 1),
        (2, "work:8", 1, 1),
        (1, "main:4", 0, 1),
        (2, "work:8", 1, 1),
    ]
    assert [(r.name, r.self_count) for r in tree.functions()][0] == ("work:8", 2)


def test_by_library_calls_within_one_are_one_node():
    tree = call_tree(synthetic(), merge="library", group="all")
    app = tree.roots[0].sorted_children()[0]
    assert (app.name, app.total_count) == ("app", 11)
    assert [(c.name, c.total_count) for c in app.sorted_children()] == [
        ("libc.so.6", 3),
        ("[no library]", 1),
    ]
    assert sum(row.self_count for row in tree.functions()) == 11


def test_groups_are_roots():
    profile = profile_of(
        ("a", {"tid": 1, "vm": "Native"}), ("a", {"tid": 2, "vm": "Idle"}), ("a", {"tid": 2})
    )
    roots = {
        group: [(root.name, root.total_count) for root in call_tree(profile, group=group).roots]
        for group in ("all", "process", "thread", "state")
    }
    assert roots == {
        "all": [("all", 3)],
        "process": [("app (42)", 3)],
        "thread": [("thread 2 (2)", 2), ("thread 1 (1)", 1)],
        "state": [("Native", 2), ("Idle", 1)],
    }


@pytest.mark.parametrize("words", [{"merge": "colour"}, {"group": "colour"}])
def test_an_unknown_way_to_merge_names_those_there_are(words):
    with pytest.raises(IsoscopeError, match="there are:.*"):
        call_tree(profile_of("a"), **words)


def test_frames_that_are_hidden_give_what_is_theirs_to_their_caller():
    profile = profile_of("main;lock;wait", "main;lock", "main;work")
    tree = call_tree(by_stack(profile, hide="^lock$"))
    assert told(tree)[1:] == [(1, "main", 1, 3), (2, "wait", 1, 1), (2, "work", 1, 1)]


def test_many_stacks_cost_what_the_distinct_ones_do():
    one = profile_of("main;a;b", "main;c")
    many = profile_of(*["main;a;b", "main;c"] * 5000)
    assert len(many.callers) == len(one.callers) == 5
    expected = [(d, n, own * 5000, total * 5000) for d, n, own, total in told(call_tree(one))]
    assert told(call_tree(many)) == expected


def test_a_stack_deeper_than_pythons_own_makes_every_tree():
    tree = call_tree(profile_of(";".join(["f"] * 5000)))
    turned = bottom_up(tree)
    assert sum(1 for _ in turned.walk()) == 5000
    assert len(layout(tree).rows) == 5001
    (row,) = tree.functions()
    assert (row.self_count, row.total_count, list(row.callers.values())) == (1, 1, [1])
    text = tree._repr_html_()
    assert text.count("<details") <= 200 and "... 1 more are not shown" in text


def test_callers_are_not_made_before_they_are_asked_for():
    turned = bottom_up(call_tree(profile_of("a;b;c")))
    assert not turned.roots[0]._children
    assert [node.name for node in turned.roots[0].sorted_children()] == ["b"]


def test_hot_spots_are_those_over_the_threshold_with_lines_and_the_way_there():
    profile = profile_of(
        *["main:1;work:5"] * 4, *["main:1;work:6"] * 3, *["main:2;rare:1;work:6"] * 2, "main:9"
    )
    (work,) = hot_spots(profile, threshold=0.2).spots
    assert (work.row.name, work.share) == ("work", 0.9)
    assert work.lines == [(6, 5, 5000), (5, 4, 4000)]
    assert [node.name for node in work.path] == ["app (42)", "main", "work"]
    assert [s.row.name for s in hot_spots(profile, threshold=0.1).spots] == ["work", "main"]
    by_total = hot_spots(profile, threshold=0.2, by="total").spots
    shares = [(spot.row.name, spot.share) for spot in by_total]
    assert shares == [("main", 1.0), ("work", 0.9), ("rare", 0.2)]
    assert hot_spots(Profile()).spots == []


def test_a_hot_spot_that_recurs_is_reached_by_its_outermost_place():
    spots = hot_spots(profile_of("main;f;f;f"), by="total").spots
    assert {spot.row.name: len(spot.path) for spot in spots} == {"main": 2, "f": 3}


def test_a_difference_is_of_shares_not_of_samples():
    before = call_tree(profile_of("main;a", "main;b"), group="all")
    after = call_tree(profile_of(*["main;a"] * 30, *["main;b"] * 10), group="all")
    changes = difference(before, after)
    rows = [(c.item.name, c.self_before, c.self_after) for c in changes.rows]
    assert rows == [("a", 0.5, 0.75), ("b", 0.5, 0.25), ("main", 0.0, 0.0)]
    assert changes.rows[2].total_change == 0
    nodes = [(node.item.name, node.change) for node in changes.walk()]
    assert nodes == [("all", 0.0), ("main", 0.0), ("a", 0.25), ("b", -0.25)]


def test_what_is_in_one_only_is_a_change_from_or_to_nothing():
    before = call_tree(profile_of("main;old"), group="all")
    changes = difference(before, call_tree(profile_of("main;new"), group="all"))
    assert {c.item.name: c.self_change for c in changes.rows} == {"old": -1, "new": 1, "main": 0}
    nothing = difference(before, call_tree(Profile(), group="all"))
    assert nothing.rows[0].self_change == -1 and nothing.after.sample_count == 0


def test_two_programs_of_different_names_are_compared_as_one():
    profiles = profile_of("main"), profile_of("main")
    for profile, name in zip(profiles, ("old", "new")):
        profile.meta["program"] = name
    changes = difference(*[call_tree(profile, group="all") for profile in profiles])
    assert [(node.before, node.after) for node in changes.walk()] == [(1, 1), (1, 1)]


def test_functions_of_equal_ids_keep_their_own_lines():
    profile = Profile()
    process = Process("isolates/1", "app")
    thread = profile.thread(process, 1)
    for name, line in (("one", 5), ("other", 9)):
        frame = profile.frame(Function("native/0", name, None), line)
        profile.add_sample(0, thread, profile.node(0, frame), weight_us=1)
    spots = hot_spots(profile).spots
    assert {s.row.name: s.lines for s in spots} == {"one": [(5, 1, 1)], "other": [(9, 1, 1)]}


def test_samples_may_be_added_to_what_a_filter_left():
    profile = by_stack(profile_of("main;lock;wait"), hide="lock")
    frames = {frame.function.name: number for number, frame in enumerate(profile.frames)}
    node = profile.node(profile.node(0, frames["main"]), frames["wait"])
    assert node == profile.nodes[0]


def test_the_same_function_of_two_profiles_is_found_by_its_name():
    one, other = call_tree(profile_of("a;b")), call_tree(profile_of("c;a;b"))
    b = {row.name: row.item for row in one.functions()}["b"]
    assert b.identity() == {row.name: row.item for row in other.functions()}["b"].identity()


def test_boxes_stand_within_their_parents_and_side_by_side():
    tree = call_tree(synthetic())
    drawn = layout(tree)
    spans = {box.node: (box.start, box.start + box.width) for box in drawn.boxes()}
    for box in drawn.boxes():
        if box.node.parent is not None:
            low, high = spans[box.node.parent]
            assert low <= box.start and box.start + box.width <= high
    for row in drawn.rows:
        assert all(a.start + a.width <= b.start for a, b in zip(row, row[1:]))
    assert layout(tree, weight="cpu").width == tree.cpu_us
    wide = layout(tree, min_share=0.5)
    assert {box.node for box in wide.boxes()} < set(spans) and wide.dropped > 0
    with pytest.raises(IsoscopeError):
        layout(tree, weight="mass")


def test_a_tree_in_a_notebook_escapes_other_peoples_names():
    text = call_tree(profile_of("<script>alert(1)</script>;a&b"))._repr_html_()
    assert "<script>" not in text and "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "a&amp;b" in text and text.count("<details") == text.count("</details>")
    table = call_tree(synthetic()).table()._repr_html_()
    assert "</script>" not in table and "operator&lt;&lt;/script&gt;" in table
    assert profile_of("main")._repr_html_() == call_tree(profile_of("main"))._repr_html_()


def test_a_big_tree_in_a_notebook_says_what_it_leaves_out():
    tree = call_tree(profile_of(*[f"f{i}" for i in range(3)] * 200, "rare"))
    assert "... 1 more are not shown" in tree._repr_html_()


def test_json_of_a_table_has_the_calls():
    tree = call_tree(profile_of("main;work", "main"))
    rows = {row["name"]: row for row in table_json(tree, tree.functions())["functions"]}
    assert rows["main"]["callees"][0]["name"] == "work" and rows["work"]["callers"][0]["total"] == 1


def test_json_bottom_up_leaves_out_what_is_small():
    tree = call_tree(profile_of(*["main;big"] * 9, "main;small"))
    names = [node["name"] for node in bottom_up_json(bottom_up(tree), 0.5)["nodes"]]
    assert names == ["big", "main"]


def test_columns_for_a_data_frame_have_a_row_a_sample():
    samples = ("main;work", {"tag": "x", "us": 7}), ("main", {"cut": True})
    columns = profile_columns(profile_of(*samples))
    assert {len(column) for column in columns.values()} == {2}
    assert columns["function"] == ["work", "main"] and columns["stack"][0] == ("work", "main")
    assert (columns["cpu_us"][0], columns["user_tag"][0]) == (7, "x")
    assert columns["whole"] == [True, False]


def test_without_pandas_to_frame_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for make in (profile_of("main"), _listed()):
        with pytest.raises(IsoscopeError, match="pandas"):
            make.to_frame()


def test_a_data_frame_has_a_row_a_sample():
    pytest.importorskip("pandas")
    assert len(profile_of("main", "main").to_frame()) == 2
    assert list(_listed().to_frame()["function"]) == ["work"]


def _listed():
    return listed({"main;work": 1})[1]
