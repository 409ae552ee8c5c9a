"""What is counted of the last seconds, step by step."""

from isoscope import Process
from isoscope.live import LiveWindow
from isoscope.samples_table import SamplesTable
from tables import TableMaker

APP = Process("isolates/42", "app")
S = 1_000_000


class Follower:
    def __init__(self, length_us):
        self.window = LiveWindow(0, length_us)
        self._maker, self._table = TableMaker(), SamplesTable()

    def step(self, now_us, *samples, only=None, reset=False):
        reply = self._maker.next(samples)
        if reset:
            self._maker, self._table = TableMaker(), self._table
            reply = {**self._maker.next(samples), "reset": True}
        self.window.add(self._table.add(reply), [APP], now_us, only)
        return self.window


def counts(window, thread=None):
    return {
        row.function.name: (row.self_count, row.total_count) for row in window.functions(thread)
    }


def test_self_is_the_leafs_and_total_counts_recursion_once():
    window = Follower(None).step(S, ("main;walk;walk", {}), ("main", {}))
    assert counts(window) == {"main": (1, 2), "walk": (1, 1)}


def test_steps_before_the_window_are_forgotten():
    follower = Follower(2 * S)
    for second, name in enumerate(["old", "mid", "new"], 1):
        window = follower.step(second * S, (f"main;{name}", {}))
    assert counts(window) == {"main": (0, 2), "mid": (1, 1), "new": (1, 1)}
    assert window.span_us == 2 * S


def test_without_a_length_all_is_kept_in_one_step():
    follower = Follower(None)
    for second in range(1, 50):
        window = follower.step(second * S, ("main", {}))
    assert counts(window) == {"main": (49, 49)} and window.span_us == 49 * S
    assert len(window._steps) == 1 and len(window.profile) == 0


def test_threads_have_their_cpu_time_and_their_hottest_function():
    samples = [("main;a", {"tid": 1, "us": 700}), ("main;b", {"tid": 1}), ("main;b", {"tid": 1}),
               ("work", {"tid": 2})]  # fmt: skip
    window = Follower(None).step(S, *samples)
    rows = {row.thread.tid: row for row in window.threads()}
    assert (rows[1].count, rows[1].cpu_us, rows[1].hottest.name) == (3, 2700, "b")
    assert counts(window, rows[2].number) == {"work": (1, 1)}


def test_only_the_processes_asked_for_are_counted():
    follower = Follower(None)
    assert counts(follower.step(S, ("main", {}), only={"isolates/1"})) == {}
    assert counts(follower.step(2 * S, ("main", {}), only={"isolates/42"})) == {"main": (1, 1)}


def test_after_a_reset_it_begins_anew():
    follower = Follower(None)
    follower.step(S, ("gone", {}))
    assert counts(follower.step(2 * S, ("main", {}), reset=True)) == {"main": (1, 1)}


def test_nothing_new_is_an_empty_step():
    follower = Follower(S)
    follower.step(S, ("main", {}))
    assert counts(follower.step(3 * S)) == {}
