"""What clients get that can only count samples: as many as there are periods of CPU time, and never
two of one moment."""

from collections import Counter
from statistics import median

import pytest
from harness import Client, default_timer, profiled, workload

# A fast machine copies 50 GB a second.
DD = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=40000", "status=none"]


def both(service):
    """The main process' samples: once each with their weights, and as often as they count."""
    with Client(service.uri) as client:
        isolate = client.processes()[0].id
        once = client.call("_getCpuSamples", isolateId=isolate, timestamp=0, count=0)
        return once, client.call("getCpuSamples", isolateId=isolate)


# A user of perf events has the kernel's share by another clock, four times as slow.
@pytest.mark.parametrize("options", [[], ["--timer", "cpu"]], ids=["auto", "cpu"])
@pytest.mark.parametrize("command", [DD, [workload("threads")]], ids=["dd", "threads"])
def test_each_thread_has_as_many_samples_as_periods(command, options):
    with profiled(command, *options) as service:
        once, counted = both(service)
    period_us = counted["samplePeriod"]
    assert period_us == (default_timer().true_period_us if not options else 4000)
    cpu_ns = Counter()
    for sample in once["samples"]:
        cpu_ns[sample["tid"]] += sample["cpuNanos"]
    told = Counter(sample["tid"] for sample in counted["samples"])
    assert counted["sampleCount"] == len(counted["samples"]) > 50
    for tid, ns in cpu_ns.items():
        assert abs(told[tid] - ns / 1000 / period_us) <= 1, tid
    ticks = sum(function["exclusiveTicks"] for function in counted["functions"])
    assert ticks == counted["sampleCount"]


def test_in_wall_mode_the_middle_gap_is_the_period_of_all_threads():
    """DevTools takes it for the period, from 100 samples on: it was 0."""
    with profiled([workload("waits")], "--mode", "wall") as service:
        once, counted = both(service)
    times = sorted(sample["timestamp"] for sample in counted["samples"])
    gaps = [after - before for before, after in zip(times, times[1:])]
    threads = len({sample["tid"] for sample in counted["samples"]})
    assert threads > 1 and len(times) == len(once["samples"]) > 100
    assert median(gaps) >= 0.1 * counted["samplePeriod"] / threads
