"""Budgets: what a file of them may say, and what a run took of it."""

import pytest
from explained import Run
from isoscope.explain import budgets
from isoscope.explain.budgets import EXCEEDED, UNKNOWN, WITHIN, BadBudgets
from isoscope.explain.facts import of_file
from isoscope.explain.words import plain
from isoscope.model import ALLOC
from late_loops import busy, loop_stats, quiet_loop, stall

MIB = 1 << 20


@pytest.fixture
def read(tmp_path):
    def read(content):
        path = tmp_path / "budgets.toml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return budgets.read(str(path))

    return read


# The file.


def test_all_that_may_be_said(read):
    told = read(
        """
        [function]
        parse = "12%"
        "walk*" = { self = 5, total = 20.5 }
        [library]
        "libz.so.1" = "20 %"
        [stall]
        count = 0
        longest = "250ms"
        total = "1.5s"
        [allocation]
        share = "10%"
        bytes = "64MiB"
        per_second = 1000
        """
    )
    assert [(one.section, one.name, one.key, one.limit) for one in told] == [
        ("function", "parse", "total", 0.12),
        ("function", "walk*", "self", 0.05),
        ("function", "walk*", "total", 0.205),
        ("library", "libz.so.1", "self", 0.2),
        ("stall", "", "count", 0),
        ("stall", "", "longest", 250_000),
        ("stall", "", "total", 1_500_000),
        ("allocation", "", "share", 0.1),
        ("allocation", "", "bytes", 64 * MIB),
        ("allocation", "", "per_second", 1000),
    ]


@pytest.mark.parametrize(
    "value, limit",
    [("10", 10_000), ('"10"', 10_000), ('"500us"', 500), ('"2s"', 2e6), ('"1m"', 60e6), ("0.5", 500), ("0", 0)],
)
def test_times(read, value, limit):
    assert read(f"[stall]\nlongest = {value}")[0].limit == limit


@pytest.mark.parametrize(
    "value, limit", [("4096", 4096), ('"1 KiB"', 1024), ('"2MB"', 2e6), ('"1.5GiB"', 1.5 * 2**30), ('"7B"', 7)]
)
def test_sizes(read, value, limit):
    assert read(f"[allocation]\nbytes = {value}")[0].limit == limit


@pytest.mark.parametrize(
    "content, said",
    [
        ("", "there is no budget in it; sections: function, library, stall, allocation"),
        ("[function]\n", "there is no budget in it"),
        ("[function\nx = 1", "it is no TOML: "),
        (b"\xff\xfe[function]", "it is no TOML: it is not UTF-8"),
        ("[functions]\nparse = 1", "there is no section [functions]; did you mean function?"),
        ("[wait]\nio = 1", "there is no section [wait]; there are: function, library, stall, allocation"),
        ("function = 3", "function is a section, not a value: write [function], and below it name = \"12%\""),
        ("[function]\nparse = { toal = 1 }", "[function] 'parse' has no key 'toal'; did you mean total?"),
        ("[function]\nparse = { cpu = 1 }", "[function] 'parse' has no key 'cpu'; there are: self, total"),
        ("[function]\nparse = {}", "[function] 'parse' has no limit; keys: self, total"),
        ('[function]\n"" = 3', "[function] has a name that is empty"),
        ("[stall]\nlongst = 1", "[stall] has no key 'longst'; did you mean longest?"),
        ("[function]\nparse = 101", "[function] 'parse' total: '101' is not a percentage from 0 to 100, such as \"12%\""),
        ("[function]\nparse = -1", "'-1' is not a percentage"),
        ("[function]\nparse = nan", "'nan' is not a percentage"),
        ("[function]\nparse = true", "'True' is not a percentage"),
        ("[function]\nparse = [1]", "'[1]' is not a percentage"),
        ('[function]\nparse = "lots"', "'lots' is not a percentage"),
        ("[stall]\ncount = 1.5", "[stall] count: '1.5' is not a whole number, such as 0"),
        ("[stall]\ncount = -1", "'-1' is not a whole number"),
        ('[stall]\nlongest = "3 h"', "[stall] longest: '3 h' is not a time such as \"250ms\""),
        ('[stall]\nlongest = "1.2.3ms"', "is not a time"),
        ('[allocation]\nbytes = "1XB"', "[allocation] bytes: '1XB' is not a size such as \"64MiB\""),
        ("[allocation]\nbytes = inf", "is not a size"),
        ('[stall]\n"a\\u001b[31m\\n" = 1', "has no key 'a?[31m?'"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_what_is_right(read, content, said):
    with pytest.raises(BadBudgets) as error:
        read(content)
    assert said in str(error.value) and "budgets.toml: " in str(error.value)


def test_a_file_that_is_not_there_or_no_file_is_named(tmp_path):
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(BadBudgets, match=f"cannot read {path}: "):
            budgets.read(str(path))


def test_nesting_and_size_are_bounded(read):
    for content in ("[function]\na = " + "[" * 5000 + "]" * 5000, "# " + "x" * (2 * MIB)):
        with pytest.raises(BadBudgets):
            read(content)


# What a run took.


def judge(facts, section, name, key, limit):
    (verdict,) = budgets.judged([budgets.Budget(section, name, key, limit)], facts)
    return verdict


def run_of_shares() -> Run:
    """parse 60 %: 20 of these itself, 40 in malloc; operator* 10, others 30."""
    run = Run(wall=False).add("main>parse:3|lex:4", samples=200).add("main>parse>malloc", samples=400)
    return run.add("main>operator*", samples=100).add("main>other", samples=300)


@pytest.mark.parametrize(
    "name, key, limit, state",
    [
        ("parse", "total", 0.5, EXCEEDED), ("parse", "total", 0.65, WITHIN), ("parse", "self", 0.25, WITHIN),
        ("parse", "self", 0.1, EXCEEDED), ("lex", "self", 0.1, EXCEEDED), ("par*", "total", 0.5, EXCEEDED),
        ("*", "total", 0.99, EXCEEDED), ("operator*", "self", 0.05, EXCEEDED), ("operator*", "self", 0.2, WITHIN),
        ("main", "self", 0.0, WITHIN), ("parse", "total", 0.59, WITHIN), ("pars", "total", 0.0, WITHIN),
        ("p.rse", "total", 0.0, WITHIN),
    ],
)  # fmt: skip
def test_shares_of_functions(name, key, limit, state):
    assert judge(run_of_shares().facts(), "function", name, key, limit).state == state


def test_a_little_more_than_the_limit_may_be_chance_and_is_said():
    verdict = judge(run_of_shares().facts(), "function", "parse", "total", 0.59)
    assert verdict.measured == "60.0 % ± 3.0" and verdict.limit == "59 %"
    assert plain(verdict.note) == "more than the limit, but not by more than the error"


def test_a_name_that_nothing_has_is_said():
    assert plain(judge(run_of_shares().facts(), "function", "gone", "total", 0.1).note) == \
        "nothing of that name is in the profile"  # fmt: skip


@pytest.mark.parametrize(
    "name, key, limit, state",
    [
        ("libc.so.6", "self", 0.3, EXCEEDED), ("libc.so.6", "self", 0.5, WITHIN), ("app", "self", 0.7, WITHIN),
        ("app", "total", 0.99, EXCEEDED), ("/lib/libc*", "self", 0.3, EXCEEDED), ("libz*", "self", 0.0, WITHIN),
    ],
)  # fmt: skip
def test_shares_of_libraries(name, key, limit, state):
    assert judge(run_of_shares().facts(), "library", name, key, limit).state == state


def test_without_samples_no_share_is_checked():
    facts = of_file(Run(wall=False).profile)
    for budget in (("function", "a", "total", 1), ("library", "a", "self", 1), ("allocation", "", "share", 1)):
        assert judge(facts, *budget).state == UNKNOWN


def late(*stalls, **more):
    told = {"stalls": list(stalls), "loops": loop_stats(), **more}
    return Run().add("main>loop>epoll_wait", "Sleep", 100).facts(**told)


@pytest.mark.parametrize(
    "key, limit, state, measured",
    [
        ("count", 1, EXCEEDED, "2 stalls"), ("count", 2, WITHIN, "2 stalls"), ("longest", 2_200_000, EXCEEDED, "2,250 ms"),
        ("longest", 2_250_000, WITHIN, "2,250 ms"), ("total", 2_860_000, EXCEEDED, "2,861 ms"),
        ("total", 2_861_000, WITHIN, "2,861 ms"),
    ],
)  # fmt: skip
def test_stalls_count_by_what_they_took_for_certain(key, limit, state, measured):
    verdict = judge(late(stall(1), busy(2), stall(3, cause="host")), "stall", "", key, limit)
    assert (verdict.state, verdict.measured) == (state, measured)
    assert "the longest: server: 2,250-2,254 ms so far, busy, in compress" in plain(verdict.note)


def test_a_limit_below_that_of_stalls_is_said_to_see_nothing():
    verdict = judge(late(loops=loop_stats(loops=[quiet_loop()])), "stall", "", "longest", 20_000)
    assert verdict.state == WITHIN and "what is shorter than 250 ms is no stall" in plain(verdict.note)


def test_stalls_that_nobody_looked_for_are_not_checked():
    assert judge(late(stalls=None), "stall", "", "count", 0).state == UNKNOWN
    assert judge(late(loops=loop_stats(loops=[])), "stall", "", "count", 0).state == UNKNOWN
    assert judge(of_file(Run().add("main", samples=9).profile), "stall", "", "count", 0).state == UNKNOWN


def test_allocations_are_judged_by_bytes_and_their_error():
    sites = Run(kind=ALLOC).add("main>build>malloc", samples=400, weight=MIB)
    facts = run_of_shares().allocations(sites).facts(span_us=2_000_000)
    verdict = judge(facts, "allocation", "", "bytes", 350 * MIB)
    assert (verdict.state, verdict.measured) == (EXCEEDED, "400.0 MiB ± 39.2 MiB")
    assert judge(facts, "allocation", "", "bytes", 370 * MIB).state == WITHIN
    assert judge(facts, "allocation", "", "per_second", 150 * MIB).state == EXCEEDED
    assert judge(facts, "allocation", "", "per_second", 200 * MIB).measured == "200.0 MiB ± 19.6 MiB a second"
    assert judge(facts, "allocation", "", "share", 0.3).state == EXCEEDED
    assert judge(facts, "allocation", "", "share", 0.5).state == WITHIN


def test_bytes_of_a_run_without_alloc_are_not_checked():
    verdict = judge(run_of_shares().facts(), "allocation", "", "bytes", MIB)
    assert verdict.state == UNKNOWN and "start the program with --alloc" in plain(verdict.note)
