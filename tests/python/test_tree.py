"""Trees and tables out of samples whose answer is known."""

from fakes import profile
from isoscope import CallTree


def names(nodes):
    return [node.name for node in nodes]


def table(tree):
    return {r.function.name: (r.self_count, r.total_count) for r in tree.functions()}


def test_each_path_has_its_total_and_its_self():
    tree = CallTree.build([profile({"main;work": 2, "main;rest": 1, "main": 1})])
    (main,) = tree.roots[0].sorted_children()
    assert (main.total_count, main.self_count) == (4, 1)
    assert [(n.name, n.total_count, n.self_count) for n in main.sorted_children()] == [
        ("work", 2, 2),
        ("rest", 1, 1),
    ]


def test_a_recursive_function_counts_once_a_sample():
    tree = CallTree.build([profile({"main;walk;walk;walk": 3, "main;walk;other": 1})])
    assert table(tree) == {"walk": (3, 4), "other": (1, 1), "main": (0, 4)}


def test_self_counts_of_all_functions_add_up_to_the_samples():
    tree = CallTree.build([profile({"a;b;a": 5, "a;b": 2, "c": 3})])
    assert sum(row.self_count for row in tree.functions()) == tree.sample_count == 10
    assert sum(node.self_count for node, _ in tree.walk()) == 10


def test_each_process_has_its_root_the_busiest_first():
    tree = CallTree.build(
        [
            profile({"wait": 1}, name="sh", pid=1, library="libc"),
            profile({"wait": 3}, name="sort", pid=2, library="libc"),
        ]
    )
    assert names(tree.roots) == ["sort (2)", "sh (1)"]
    assert table(tree) == {"wait": (4, 4)}


def test_a_process_without_samples_has_no_root():
    tree = CallTree.build([profile({}, name="sh", pid=1), profile({"main": 1})])
    assert names(tree.roots) == ["app (42)"]
    assert tree.extent_us == 0


def test_nothing_at_all_is_an_empty_tree():
    tree = CallTree.build([])
    assert (tree.roots, tree.sample_count, tree.hot_path(), tree.extent_us) == ([], 0, [], 0)


def test_the_hot_path_follows_the_most_samples_to_the_end():
    tree = CallTree.build([profile({"main;a;b": 3, "main;a;c": 2, "main;d": 4})])
    assert names(tree.hot_path()) == ["app (42)", "main", "a", "b"]


def test_the_hot_path_ends_where_a_function_is_busier_than_any_callee():
    tree = CallTree.build([profile({"main;work": 6, "main;work;a": 2, "main;work;b": 3})])
    assert names(tree.hot_path()) == ["app (42)", "main", "work"]


def test_the_hot_path_ends_where_it_is_hot_no_more():
    tree = CallTree.build([profile({"main;work": 1, **{f"main;work;f{i}": 1 for i in range(40)}})])
    assert names(tree.hot_path()) == ["app (42)", "main", "work"]


def test_equal_counts_come_in_the_order_of_names():
    tree = CallTree.build([profile({"z": 1, "a": 1, "m": 1})])
    assert names(tree.roots[0].sorted_children()) == ["a", "m", "z"]


def test_a_stack_deeper_than_pythons_own_is_no_problem():
    tree = CallTree.build([profile({";".join(["f"] * 5000): 1})])
    assert sum(1 for _ in tree.walk()) == 5001
    assert len(tree.hot_path()) == 5001
