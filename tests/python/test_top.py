"""What `isoscope top` shows, and what its keys do: no terminal."""

import json

import pytest
from isoscope.cli.terminal.page import Column, Page, Row, laid_out, text_of
from isoscope.cli.commands.pages.top_page import FUNCTIONS, THREADS, View, json_of, page_of, thread_rows
from test_live_window import Follower

S = 1_000_000
LONG = "ns_" + "deep_" * 30 + "leaf"


@pytest.fixture
def window():
    hot = [("main;hot", {"tid": 1})] * 60
    return Follower(None).step(
        S, *hot, *[("main;cold", {"tid": 2})] * 40, (f"main;{LONG}", {"tid": 2})
    )


def shown(window, view, width=80):
    return text_of(page_of(window, view, title="isoscope top: app (42)"), width)


def test_functions_are_sorted_by_self(window):
    lines = shown(window, View())
    assert lines[1].startswith("101 samples in the last 1.0 s, 10 % CPU, one per 1 ms")
    assert lines[3].split() == ["self", "total", "CPU", "function", "library"]
    assert lines[4].split() == ["59.4", "%", "59.4", "%", "6.0", "%", "hot", "app"]
    assert lines[5].split()[6] == "cold"


@pytest.mark.parametrize("width", [40, 80, 160])
def test_no_line_is_wider_than_the_terminal(window, width):
    for view in (View(), View(THREADS, "CPU"), View(help=True)):
        assert max(map(len, shown(window, view, width))) <= width


def test_few_samples_are_called_a_guess():
    assert "~100.0 %" in "\n".join(shown(Follower(None).step(S, ("main", {})), View()))


def test_s_sorts_by_the_next_column(window):
    view, orders = View(), []
    for _ in range(3):
        orders.append(shown(window, view)[4].split()[-2])
        view.press("s", [])
    assert orders == ["hot", "main", "cold"] and view.sort == "self"


def test_t_shows_threads_and_enter_the_functions_of_one(window):
    view = View()
    view.press("t", [])
    lines = shown(window, view)
    assert lines[3].split()[:4] == ["CPU", "samples", "tid", "thread"]
    assert [line.split()[4] for line in lines[4:]] == ["1", "2"]
    for key in ("down", "down", "enter"):
        view.press(key, thread_rows(window, view))
    lines = shown(window, view)
    assert view.view == FUNCTIONS and lines[0].endswith("> thread 2 (2)")
    assert lines[1].startswith("41 samples") and "hot" not in "\n".join(lines[4:])
    view.press("escape", [])
    assert shown(window, view)[1].startswith("101 samples")


def test_pause_help_and_whole_are_switched_by_their_keys():
    view = View()
    for key, name in ((" ", "paused"), ("p", "paused"), ("h", "help"), ("w", "whole")):
        before = getattr(view, name)
        view.press(key, [])
        assert getattr(view, name) is not before


def test_an_unknown_key_does_nothing():
    view = View()
    for key in ("x", "", "\x1b[5~", "enter"):
        view.press(key, [])
    assert view == View()


def test_json_holds_all_rows(window):
    told = json.loads(json.dumps(json_of(window, View())))
    assert told["sampleCount"] == 101 and told["spanMicros"] == S
    assert [f["self"] for f in told["functions"][:2]] == [60, 40]
    assert {t["tid"]: t["samples"] for t in told["threads"]} == {1: 60, 2: 41}


def test_the_selected_row_stays_in_sight():
    page = Page(["head"], [Column("name")], [Row([str(n)]) for n in range(100)], ["foot"], 50)
    small = laid_out(page, 10, 12)
    assert small.rows[small.selected].cells == ["50  "] and len(small.rows) == 9


def test_control_characters_in_names_do_not_reach_the_terminal():
    page = Page([], [Column("name", grows=True)], [Row(["a\x1b[2Jb\n"])])
    assert text_of(page, 40)[1] == "a?[2Jb?"
