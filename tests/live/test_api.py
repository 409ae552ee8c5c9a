"""Programs that tell the sampler of themselves, by isoscope.h."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from math import sqrt

import pytest
from harness import BUILD, default_timer, measured, profiled, workload

BAND = 4.5
COOPERATES = workload("cooperates")
REFUSE = str(BUILD / "tests" / "torture" / "refuse")
BYTECODE = str(BUILD / "examples" / "bytecode")


def samples_of(*command: str):
    with profiled(list(command)) as service:
        ((_, samples),) = service.profile()
    return samples.samples


def names(sample) -> list[str]:
    return [function.name for function in sample.stack]


@measured
def test_interpreted_functions_stand_where_the_interpreter_stood():
    samples = samples_of(BYTECODE, "1")
    inside = [s for s in samples if names(s)[0] == "b"]
    assert len(inside) >= 0.95 * len(samples)
    stacks = Counter(tuple(names(s)[:5]) for s in inside)
    # At an instruction between two calls of b there is another stack; it is a rare one.
    assert stacks.most_common(1)[0][0] == ("b", "through_c", "a", "main (bytecode)", "main")
    assert stacks.most_common(1)[0][1] >= 0.99 * len(inside)
    assert {s.stack[0].library.name for s in inside} == {"[interpreted]"}
    assert {s.user_tag for s in inside} == {"running bytecode"}
    assert not any("interpret" in names(s) for s in inside)


@measured
def test_each_sample_has_the_tag_in_force():
    samples = samples_of(COOPERATES, "tags", "2")
    spinning = [s for s in samples if "spin" in names(s)]
    tags = Counter(s.user_tag for s in spinning)
    assert set(tags) == {"parse", "read", "cooperates"}
    for tag, share in (("parse", 1 / 2), ("read", 1 / 4), ("cooperates", 1 / 4)):
        deviation = sqrt(len(spinning) * share * (1 - share))
        assert abs(tags[tag] - len(spinning) * share) <= BAND * deviation, tags


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="its code is x86-64's")
def test_code_of_a_jit_has_its_name_and_is_walked_to_the_root():
    samples = samples_of(COOPERATES, "jit", "1")
    jitted = [s for s in samples if "jitted <f>" in names(s)]
    below = [s for s in jitted if "spin" in names(s)]
    inside = [s for s in jitted if names(s)[0] == "jitted <f>"]
    assert len(inside) >= 50 * default_timer().kept and len(below) >= 200 * default_timer().kept
    for sample in jitted:
        stack = names(sample)
        at = stack.index("jitted <f>")
        assert stack[at + 1] in ("jit", "main")  # the compiler may put jit into main
        assert "main" in stack[at:] and sample.whole
    assert {s.stack[0].library.name for s in inside} == {"[jit]"}
    assert not any("overwritten" in names(s) for s in samples)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="its code is x86-64's")
def test_code_that_takes_anothers_place_takes_none_of_its_samples():
    samples = samples_of(COOPERATES, "reuse", "0.5")
    order = [names(s)[0] for s in samples if s.stack[0].library.name in ("[jit]", "[unknown]")]
    counts = Counter("nameless" if name.startswith("[unknown]") else name for name in order)
    assert set(counts) == {"first", "second", "nameless"}
    assert min(counts.values()) >= 20, counts
    at = [order.index("second"), counts["first"] + counts["second"]]
    assert order[: at[0]] == ["first"] * counts["first"]
    assert order[at[0] : at[1]] == ["second"] * counts["second"]


def test_each_interpreter_is_asked_by_its_own_provider_while_another_comes_and_goes():
    samples = samples_of(COOPERATES, "providers", "1")
    first = [s for s in samples if "first" in names(s)]
    second = [s for s in samples if "second" in names(s)]
    assert len(first) >= 200 * default_timer().kept and len(second) >= 100 * default_timer().kept
    assert not any("first_interprets" in names(s) for s in samples)
    for sample in first + second:
        stack = names(sample)
        caller = stack[stack.index("first" if sample in first else "second") + 1]
        assert caller == ("providers" if sample in first else "interpret_second")
    assert {s.stack[names(s).index("first")].library.name for s in first} == {"[interpreted]"}


def test_a_provider_of_codes_shows_functions_with_their_files_and_lines():
    samples = samples_of(COOPERATES, "providers", "1")
    third = [s for s in samples if "Shape.area" in names(s)]
    assert len(third) >= 100 * default_timer().kept
    assert not any("third_interprets" in names(s) for s in samples)
    for sample in third:
        at = names(sample).index("Shape.area")
        assert names(sample)[at + 1 : at + 3] == ["main", "interpret_third"]
        assert sample.lines[at : at + 2] == (12, 10)
        assert {f.file for f in sample.stack[at : at + 2]} == {"/app/shapes.lang"}


def test_a_provider_reads_nothing_where_the_kernel_refuses_it_and_the_program_goes_on(run):
    command = [REFUSE, "reads", "EPERM", COOPERATES, "providers", "0.5"]
    result = run(command)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("part", ["tags", "jit", "reuse", "providers", "stuck", "count", "threads",
                                  "forks"])
def test_the_calls_return_what_they_promise(run, part):
    result = run([COOPERATES, part, "0.5"])
    assert result.returncode == 0, result.stdout


def test_without_a_service_the_calls_do_nothing():
    alone = {k: v for k, v in os.environ.items() if not k.startswith("ISOSCOPE")}
    for command in ([COOPERATES, "alone"], [COOPERATES, "tags", "0.01"], [BYTECODE, "0.01"]):
        subprocess.run(command, check=True, env=alone, stdout=subprocess.DEVNULL, timeout=60)


def test_threads_are_shown_by_the_names_they_gave():
    samples = samples_of(COOPERATES, "threads", "1")
    tags = Counter(s.user_tag for s in samples)
    assert tags["a-name-longer-t"] >= 200 * default_timer().kept
    assert tags["raw"] >= 50 * default_timer().kept
    # Its creator's tag is not its own, though they share the memory that the tag stands in.
    raw = [s for s in samples if "raw_thread" in names(s)]
    assert {s.user_tag for s in raw} == {"raw"}


def test_a_forked_child_has_the_tag_of_the_fork():
    with profiled([COOPERATES, "forks", "1"]) as service:
        profile = service.profile()
    (child,) = [samples.samples for process, samples in profile
                if any("spin" in names(s) for s in samples.samples)]
    spinning = [s for s in child if "spin" in names(s)]
    assert len(spinning) >= 200 * default_timer().kept
    assert {s.user_tag for s in spinning} == {"before the fork"}
