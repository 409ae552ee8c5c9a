"""Every kind of code has the name that a person would give it."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from math import sqrt
from pathlib import Path

import pytest
from harness import ROOT, Client, default_timer, measured, profiled, workload

BAND = 4.5
PARTS = 9

SCRIPT = """
function hot(n) { let t = 0; for (let i = 0; i < n; i++) t = (t + i * n) % 1000003; return t; }
function caller(n) { return hot(n); }
const start = process.cpuUsage();
let result = 0;
while (process.cpuUsage(start).user < 1.5e6) result += caller(100000);
"""


THREADS = 16

# Each ends as soon as it has been sampled: by CPU time alone, a thread may end between two of the
# kernel's ticks, which make ours where perf is refused, and then is in no sample.
ENDS_ONCE_SAMPLED = """
#define _GNU_SOURCE
#include <isoscope/optional.h>
#include <pthread.h>
#include <stdio.h>
static void *shortly(void *number)
{
    char name[16];

    snprintf(name, sizeof name, "spin-%ld", (long)number);
    pthread_setname_np(pthread_self(), name);
    while (!isoscope_sample_count())
        for (volatile int i = 0; i < 1000; i++)
            ;
    return NULL;
}
int main(void)
{
    pthread_t threads[THREADS];

    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, shortly, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"""


@pytest.mark.parametrize("timer", ["auto", "cpu"])
def test_threads_that_live_shortly_have_their_names(compiled, timer):
    include = ROOT / "sampler" / "include"
    program = compiled("shortly", ENDS_ONCE_SAMPLED, "-pthread", f"-I{include}", f"-DTHREADS={THREADS}")
    with profiled([program], "--timer", timer) as service:
        with Client(service.uri) as client:
            (process,) = client.processes()
            table = client.call("_getCpuSamples", isolateId=process.id, form="table")
    told = [thread["name"] for thread in table["trees"][0]["threads"]]
    assert {name for name in told if name.startswith("spin-")} == \
        {f"spin-{number}" for number in range(THREADS)}
    assert "" not in told


def names(sample) -> list[str]:
    return [function.name for function in sample.stack]


def bare(name: str) -> str:
    """Without what is the compiler's affair: whether it made a clone, how it counts lambdas."""
    return name.split(" [")[0].replace("main::$_0::", "main::{lambda(int)#1}::")


@pytest.fixture(scope="module")
def code_kinds():
    with profiled([workload("code_kinds"), "2"]) as service:
        ((_, samples),) = service.profile()
    return samples.samples


@pytest.mark.parametrize(
    "function",
    [
        "(anonymous namespace)::hidden",
        "shapes::Box<int>::grow",
        "shapes::Box<int>::as<long>",
        "shapes::Box<int>::operator bool",
        "shapes::operator+",
        "shapes::Circle::area",
        "main::{lambda(int)#1}::operator()",
        "sometimes",
        "through_the_stub",
    ],
)
def test_a_function_of_cplusplus_is_found_by_its_short_name(code_kinds, function):
    inside = sum(function in map(bare, names(sample)) for sample in code_kinds)
    deviation = sqrt(len(code_kinds) * (PARTS - 1)) / PARTS
    # A part ends when it looks at the clock, a little later than it should.
    assert abs(inside - len(code_kinds) / PARTS) <= BAND * deviation + 0.01 * len(code_kinds)


def test_no_name_is_left_mangled(code_kinds):
    assert not {name for sample in code_kinds for name in names(sample) if name.startswith("_Z")}


def test_the_time_of_a_cold_part_is_its_functions(code_kinds):
    symbols = subprocess.run(["nm", workload("code_kinds")], capture_output=True, text=True)
    if "sometimesi.cold" not in symbols.stdout:
        pytest.skip("this compiler does not split functions")
    found = {f for s in code_kinds for f in s.stack if "sometimes" in f.name}
    assert {function.name for function in found} == {"sometimes"}
    assert len({function.id for function in found}) == 1


@measured
def test_a_stub_is_a_function_of_its_own():
    # A stub is one jump: 1 to 10 of 100 samples meet it, as its place in the cache is.
    with profiled([workload("code_kinds"), "4", "stub"]) as service:
        ((_, profile),) = service.profile()
    through = [s for s in profile.samples if "through_the_stub" in names(s)]
    leaves = Counter(names(s)[0] for s in through)
    assert leaves["abs@plt"] >= 20 * default_timer().kept, leaves
    above = {names(s)[1] for s in through if names(s)[0] == "abs@plt"}
    assert above == {"through_the_stub"}


NODE = ["node", "--perf-basic-prof", "--interpreted-frames-native-stack"]
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="needs node")


def assert_names_javascript(profile, source: str) -> None:
    samples = [s for _, part in profile for s in part.samples]
    scripted = [s for s in samples if s.stack[0].library.name == "[jit]"]
    assert len(scripted) >= 0.5 * len(samples)
    of_ours = [names(s)[0] for s in scripted if f" {source}:" in names(s)[0]]
    assert len(of_ours) >= 0.8 * len(scripted)
    # "JS:*hot /hot.js:2"; node before 20 says LazyCompile for JS.
    assert {name.split()[0].partition(":")[2] for name in of_ours} & {"*hot", "*caller"}


@needs_node
def test_javascript_has_the_names_that_its_perf_map_gives(tmp_path):
    script = tmp_path / "hot.js"
    script.write_text(SCRIPT)
    with profiled([*NODE, str(script)], "--no-runtimes", cwd=tmp_path) as service:
        profile = service.profile()
    for _, part in profile:  # what it leaves in /tmp is ours to remove
        Path(f"/tmp/perf-{part.pid}.map").unlink()
    assert_names_javascript(profile, str(script))


@needs_node
def test_a_perf_map_is_found_by_the_pid_that_the_program_sees(tmp_path):
    inside = ["unshare", "--pid", "--fork"]
    if subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
        pytest.skip("needs the right to make namespaces")
    script = tmp_path / "hot.js"
    script.write_text(SCRIPT)
    try:
        command = [*inside, *NODE, str(script)]
        with profiled(command, "--no-runtimes", cwd=tmp_path) as service:
            assert_names_javascript(service.profile(), str(script))
    finally:
        Path("/tmp/perf-1.map").unlink(missing_ok=True)
