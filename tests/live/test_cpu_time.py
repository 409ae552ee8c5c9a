"""How much of all CPU time is in samples, as --stats and getVM tell it: nothing is counted twice, nothing is left out."""

import re

from harness import until

SPIN = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done"


def cpu_ms(said: str) -> dict[str, float]:
    found = re.findall(r"^isoscope:   (sampled|not sampled|elsewhere) +([0-9.]+)  ms of CPU", said, re.MULTILINE)
    return {word: float(ms) for word, ms in found}


def test_what_a_program_used_before_exec_is_not_counted_again_after_it(run):
    ended = run(["sh", "-c", f"{SPIN}; exec sleep 0.3"], "--quiet", "--stats")
    assert ended.returncode == 0
    told = cpu_ms(ended.stderr)
    assert told["sampled"] > 100
    assert told["not sampled"] < 0.2 * told["sampled"], ended.stderr


def test_children_that_end_before_their_first_sample_are_counted_too(run):
    """300 subshells: none of them says hello."""
    ended = run(["bash", "-c", "for i in $(seq 300); do (:); done"], "--quiet", "--stats")
    assert ended.returncode == 0
    assert cpu_ms(ended.stderr)["elsewhere"] > 10, ended.stderr


def test_clients_hear_how_much_was_sampled(start):
    running = start(["sh", "-c", f"{SPIN}; {SPIN}"], "--keep")
    client = running.connect()
    running.wait_for_end()
    until(lambda: "withoutSamplerMicros" in client.rpc("getVM")["_cpuTime"], "the kernel's figure")
    told = client.rpc("getVM")["_cpuTime"]
    assert told["processes"] == 1
    assert told["sampledMicros"] > 100_000
    assert told["notSampledMicros"] + told["withoutSamplerMicros"] < 0.2 * told["sampledMicros"], told
