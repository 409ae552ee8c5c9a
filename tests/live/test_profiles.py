"""Profiles whose answer is known before they are taken.

Shares are checked within a binomial band of 4.5 standard deviations: a right sampler leaves it
in 7 of a million checks.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from math import sqrt
from pathlib import Path

import pytest
from harness import (ROOT, Client, children, cpu_s, default_timer, profiled, service_of, service_pid,
                     until, workload)

BAND = 4.5
AT_ONCE = 20  # samples
RUNS = 20  # a right sampler fails one of them once in 7,000 times

PYTHON_FORKS = """
import os
def worker():
    sum(i * i for i in range(2_000_000))
for n in range(4):
    if os.fork() == 0:
        worker()
        os._exit(0)
for n in range(4):
    os.wait()
worker()
"""


def leaves(samples) -> Counter:
    return Counter(sample.stack[0].name for sample in samples.samples)


def split(service) -> tuple[int, int]:
    (process,) = service.profile()
    counts = leaves(process[1])
    return counts["spin_twice"], counts["spin_once"]


def test_a_split_of_two_to_one_is_found_in_every_run(tmp_path):
    deviations, variances = [], []
    for run in range(RUNS):
        with (tmp_path / str(run)).open("w+") as output:
            with profiled([workload("spin_two_to_one"), "0.5"], stdout=output) as service:
                twice, once = split(service)
            output.seek(0)
            share = float(output.read().split()[-1])  # isoscope's own line comes before
        assert 0.6 < share < 0.7
        samples = twice + once
        assert samples >= 100 * default_timer().kept, "hardly any samples"
        deviations.append(twice - samples * share)
        variances.append(samples * share * (1 - share))
        assert abs(deviations[-1]) <= BAND * sqrt(variances[-1]), f"{twice} to {once}, {share:.1%}"
    assert abs(sum(deviations)) <= BAND * sqrt(sum(variances)), deviations


def test_the_whole_program_is_where_it_should_be():
    with profiled([workload("spin_two_to_one"), "1"]) as service:
        tree = service.tree()
    rows = {row.function.name: row for row in tree.functions()}
    assert rows["main"].total_count >= 0.99 * tree.sample_count
    assert rows["spin_twice"].self_count == rows["spin_twice"].total_count
    assert rows["spin_twice"].function.library.name == "spin_two_to_one"


def test_each_thread_has_its_share():
    with profiled([workload("threads"), "4", "0.5"]) as service:
        ((_, samples),) = service.profile()
    spinning = [s for s in samples.samples if s.stack[0].name == "thread_spin"]
    by_thread = Counter(sample.tid for sample in spinning)
    assert len(by_thread) == 4
    for count in by_thread.values():
        deviation = sqrt(len(spinning) * 1 / 4 * 3 / 4)
        assert abs(count - len(spinning) / 4) <= BAND * deviation + 2  # a tick at each end


def test_forked_children_are_processes_of_the_same_service():
    with profiled([workload("forks"), "0.3"]) as service:
        profile = service.profile()
    assert [process.name for process, _ in profile] == ["forks"] * 5
    busiest = [leaves(samples).most_common(1)[0][0] for _, samples in profile]
    assert sorted(busiest) == ["parent_spin"] + ["worker_spin"] * 4


def test_four_forked_python_workers_are_all_there():
    with profiled(["/usr/bin/python3", "-c", PYTHON_FORKS]) as service:
        profile = service.profile()
    assert len(profile) == 5
    assert all(process.name.startswith("python3") for process, _ in profile)
    assert all(len(samples.samples) >= 10 for _, samples in profile)


def test_all_programs_of_a_pipeline_are_there():
    script = "seq -f %.0f 1000000 | sort -n | gzip -c"
    with profiled(["sh", "-c", script]) as service:
        names = {process.name for process, samples in service.profile() if samples.samples}
    assert {"seq", "sort", "gzip"} <= names


def test_what_a_killed_program_left_unread_is_still_read():
    with service_of([workload("spin_two_to_one"), "60"]) as service:
        program = service.program()
        until(lambda: service.tree().sample_count > 50, "the first samples")
        # The service sleeps, so that what comes now is in the feed alone when the program dies.
        serving = service_pid(service.process.pid)
        os.kill(serving, signal.SIGSTOP)
        stopped_us, used_s = time.monotonic_ns() // 1000, cpu_s(program)
        until(lambda: cpu_s(program) > used_s + 0.3, "unread samples")
        os.kill(program, signal.SIGKILL)
        os.kill(serving, signal.SIGCONT)
        until(lambda: not children(service.process.pid), "the program's end")
        ((_, samples),) = service.profile()
    unread = [s for s in samples.samples if s.timestamp_us > stopped_us + 50_000]
    assert len(unread) >= 20 * default_timer().kept
    spinning = [s for s in unread if s.stack[0].name in ("spin_twice", "spin_once")]
    assert len(spinning) >= 0.95 * len(unread)


def test_a_program_whose_service_stood_still_goes_on_as_the_same_process():
    with service_of([workload("spin_two_to_one"), "600"]) as service:
        program = service.program()
        until(lambda: service.tree().sample_count > 50, "the first samples")
        serving = service_pid(service.process.pid)
        os.kill(serving, signal.SIGSTOP)
        # After three seconds the program looks for another service, at its next tick.
        stopped_s, used_s = time.monotonic(), cpu_s(program)
        until(lambda: time.monotonic() > stopped_s + 5 and cpu_s(program) > used_s + 1, "its patience's end")
        os.kill(serving, signal.SIGCONT)
        went_on_us = time.monotonic_ns() // 1000
        until(lambda: service.profile()[-1][1].samples[-1].timestamp_us > went_on_us + 100_000, "more samples")
        assert len(service.profile()) == 1


def called(samples, name: str) -> list:
    return [s for s in samples.samples if name in [frame.name for frame in s.stack]]


def test_code_of_a_program_that_writes_a_perf_map_is_walked_by_frame_pointer():
    with profiled([workload("writes_perf_map"), "0.6"]) as service:
        ((_, samples),) = service.profile()
    for name in ("called_back", "called_later"):
        stacks = called(samples, name)
        assert len(stacks) >= 150 * default_timer().kept
        whole = [s for s in stacks if s.whole and "main" in [frame.name for frame in s.stack]]
        assert len(whole) >= 0.9 * len(stacks)


def test_code_that_nobody_tells_of_ends_its_stacks_and_they_say_so():
    with profiled([workload("writes_perf_map"), "0.4", "silent"]) as service:
        ((_, samples),) = service.profile()
    stacks = called(samples, "called_back") + called(samples, "called_later")
    assert len(stacks) >= 0.9 * len(samples.samples)
    assert not any(s.whole for s in stacks)


NODE_SCRIPT = """
const inner = n => { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; };
const text = () => JSON.stringify(Array.from({length: 50}, (_, i) => i * inner(i))).length;
const outer = () => { let sum = 0; for (let i = 0; i < 1200; i++) sum += inner(50000) + text(); };
outer();
"""


@pytest.mark.skipif(not os.path.exists("/usr/bin/node"), reason="needs nodejs")
def test_stacks_of_node_reach_the_root_through_its_just_in_time_code(tmp_path):
    script = tmp_path / "script.js"
    script.write_text(NODE_SCRIPT)
    command = ["/usr/bin/node", "--perf-basic-prof", str(script)]
    with profiled(command, "--no-runtimes", cwd=tmp_path) as service:
        processes = service.profile()
    for process, _ in processes:
        Path(f"/tmp/perf-{process.pid}.map").unlink(missing_ok=True)
    ((_, samples),) = processes
    # Not by V8's own functions below them: Debian's libnode is stripped of their names.
    jitted = [s for s in samples.samples if any(f.library.name == "[jit]" for f in s.stack)]
    assert len(jitted) >= 100 * default_timer().kept
    assert sum(s.whole for s in jitted) >= 0.95 * len(jitted)


def test_a_plugin_is_named_after_it_has_gone():
    with profiled([workload("dlopen_plugin"), "0.3"]) as service:
        tree = service.tree()
    hottest = tree.functions()[0]
    assert (hottest.function.name, hottest.function.library.name) == (
        "plugin_spin",
        "spin_plugin.so",
    )
    assert hottest.self_count >= 0.9 * tree.sample_count


def test_a_stack_deeper_than_the_limit_keeps_its_leaf():
    with profiled([workload("deep_recursion"), "5000", "0.3"]) as service:
        ((_, samples),) = service.profile()
    deep = [s for s in samples.samples if s.stack[0].name == "spin_at_the_bottom"]
    assert len(deep) >= 0.9 * len(samples.samples)
    assert {s.stack[1].name for s in deep} == {"descend"}


def test_recursion_a_few_hundred_deep_is_whole():
    with profiled([workload("deep_recursion"), "450", "0.3"]) as service:
        ((_, samples),) = service.profile()
    deep = [s for s in samples.samples if s.stack[0].name == "spin_at_the_bottom"]
    assert deep and all(s.whole and s.stack[-1].name == "_start" for s in deep)


class DeepStacks:
    """A few of those since the look before, of all processes (at first there is none yet): whoever read
    them all would be slower, on a busy machine, than they come."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._since_us = 0

    def new(self) -> list:
        since_us, self._since_us = self._since_us, time.monotonic_ns() // 1000
        replies = [self._client.cpu_samples(process, since_us=since_us, count=AT_ONCE)
                   for process in self._client.processes()]
        samples = [sample for reply in replies if reply for sample in reply.samples]
        return [s for s in samples if s.stack[0].name == "spin_at_the_bottom"]


def test_the_depth_of_stacks_changes_while_the_program_runs():
    command = [workload("deep_recursion"), "500", "60"]
    with service_of(command, "--depth", "1000") as service, Client(service.uri) as client:
        stacks = DeepStacks(client)
        until(lambda: any(len(s.stack) > 500 for s in stacks.new()), "a whole stack")
        client.call("setFlag", name="max_profile_depth", value="64")
        shallow = until(lambda: [s for s in stacks.new() if len(s.stack) == 64], "64 frames")
        # The leaf side, and the root side as the whole stacks had it.
        assert shallow[-1].stack[1].name == "descend"
        assert "main" in [frame.name for frame in shallow[-1].stack]
        assert not shallow[-1].whole
        counted = client.call("_getCpuSamples", count=1)["_counters"]
        assert counted["end_depth"] >= len(shallow)

        client.call("setFlag", name="max_profile_depth", value="1024")
        until(lambda: any(len(s.stack) > 500 for s in stacks.new()), "whole stacks again")


def test_a_program_that_closes_all_descriptors_is_sampled_on():
    with profiled([workload("closes_fds"), "1"]) as service:
        ((_, samples),) = service.profile()
    spinning = [s for s in samples.samples if s.stack[0].name == "spin_without_descriptors"]
    seconds = (spinning[-1].timestamp_us - spinning[0].timestamp_us) / 1e6
    assert seconds >= 0.5, "only its beginning was sampled"


def test_python_parsing_its_library_reaches_main_in_its_stacks():
    with profiled(["/usr/bin/python3", str(ROOT / "examples" / "stdlib_parse.py"), "1"]) as service:
        tree = service.tree()
    rows = {row.function.name: row.total_count for row in tree.functions()}
    assert rows["Py_BytesMain"] >= 0.95 * tree.sample_count
