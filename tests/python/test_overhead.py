"""The verdict of `isoscope overhead`, of times that are given."""

import json

import pytest
from isoscope import cli
from isoscope.cli.commands import overhead
from isoscope.cli.commands.overhead import Impact, Run


def test_an_impact_above_the_noise_is_told_with_its_size():
    impact = Impact.of("CPU time", [1.00, 1.01, 1.00], [1.10, 1.11, 1.12], [1.01, 1.00, 1.01])
    assert impact.measured and impact.ratio == pytest.approx(1.104, abs=0.01)
    assert "+10" in impact.text() and impact.text().endswith("above the noise")


def test_an_impact_that_two_equal_runs_differ_by_as_well_is_below_the_noise():
    impact = Impact.of("wall time", [1.0, 1.0, 1.0], [1.02, 1.01, 1.02], [1.05, 0.97, 1.0])
    assert not impact.measured and impact.text().endswith("below the noise")


def test_one_round_of_twenty_may_be_an_outlier():
    base, again = [1.0] * 20, [1.01] * 19 + [3.0]
    assert Impact.of("CPU time", base, base, again).noise == pytest.approx(0.01)
    assert Impact.of("CPU time", base[:5], base[:5], [1.01] * 4 + [3.0]).noise == pytest.approx(2.0)


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs that are made up: words -> Run."""

    def run(answer, *words):
        monkeypatch.setattr(overhead, "isoscope", lambda: "/bin/isoscope")
        monkeypatch.setattr(overhead, "_start", answer)
        status = cli.main(["overhead", *words])
        return status, *capsys.readouterr()

    return run


def test_all_runs_are_made_in_turn(run):
    made = []

    def answer(words):
        made.append("with" if words[0] == "/bin/isoscope" else "without")
        return Run(1.1 if made[-1] == "with" else 1.0, 1.0, 0)

    status, out, _ = run(answer, "--rounds", "3", "--json", "--", "work")
    told = json.loads(out)
    assert status == 0 and len(made) == 1 + 9 and made.count("with") == 3
    assert made[1:4] != made[4:7]
    assert [i["measured"] for i in told["impacts"]] == [True, False]


def test_runs_that_end_otherwise_are_not_compared(run):
    statuses = iter([0, 0, 3])
    status, out, err = run(lambda words: Run(1, 1, next(statuses)), "--", "work")
    assert (status, out) == (1, "") and "ended with status 3 with sampling" in err


def test_a_command_that_cannot_be_run_is_named(run):
    status, _, err = run(lambda words: Run(0, 0, 127), "--", "work")
    assert status == 1 and "work ended with status 127; nothing to measure" in err


def test_it_needs_a_command(run):
    status, _, err = run(None)
    assert status == 2 and "`-- COMMAND`" in err
