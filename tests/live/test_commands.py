"""The client's commands on real programs, as a user types them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess

import pytest
from harness import (
    DEADLINE_S, ISOSCOPE, NO_PERF_NOTICE, children, profiled, service_of, until, workload,
)  # fmt: skip
from terminal import Terminal

THREADS = [workload("threads"), "3", "600"]
ALL = ("--age", "600")  # on a busy machine a thread may not run for seconds
SPIN = [workload("spin_two_to_one"), "0.3"]


def isoscope(*words, **popen):
    return subprocess.run(
        [ISOSCOPE, *words], capture_output=True, text=True, timeout=DEADLINE_S, **popen
    )


@pytest.fixture(scope="module")
def running():
    """Three threads that compute for longer than the tests take; all have been sampled."""
    with service_of(THREADS) as service:
        until(lambda: len(service.tree().functions()) and all_seen(service), "the threads' samples")
        yield service


def all_seen(service) -> bool:
    done = isoscope("dump", service.uri, "--json", *ALL)
    return done.returncode == 0 and len(json.loads(done.stdout)["threads"]) == 3


@pytest.fixture(scope="module")
def ended():
    with profiled(SPIN) as service:
        yield service


@pytest.fixture(params=["rich", "plain"])
def painter(request, tmp_path):
    """The environment for top to draw with rich, or to miss it."""
    if request.param == "rich":
        return {}
    (tmp_path / "rich.py").write_text("raise ImportError('hidden')\n")
    return {"PYTHONPATH": str(tmp_path)}


@pytest.mark.parametrize("columns", [80, 160])
def test_top_shows_functions_then_threads_then_those_of_one(running, tmp_path, painter, columns):
    with Terminal(tmp_path, f"{ISOSCOPE} top {running.uri}", columns, **painter) as terminal:
        screen = terminal.wait_for("thread_spin", "self", "total", "q quit")
        assert screen.startswith("isoscope top: threads (")
        terminal.press("t")
        terminal.wait_for("spin-0", "spin-1", "spin-2", "hottest function")
        terminal.press("Down", "Enter")
        screen = terminal.wait_for("> spin-", "library")
        assert re.search(r"100\.0 % .*thread_main", screen)
        terminal.press("q")
        terminal.wait_for("ended with 0")
        assert "thread_spin" not in terminal.text()  # the screen is the shell's again


def test_top_can_be_paused_sorted_and_asked_for_its_keys(running, tmp_path):
    with Terminal(tmp_path, f"{ISOSCOPE} top {running.uri} --interval 0.1") as terminal:
        terminal.wait_for("thread_spin")
        terminal.press("Space")
        still = terminal.wait_for("[paused]")
        assert terminal.text() == still
        terminal.press("s", "Space")
        until(lambda: "[paused]" not in terminal.text(), "the view's going on")
        terminal.press("h")
        terminal.wait_for("what it does", "pause the view")
        terminal.press("q")
        terminal.wait_for("ended with 0")


def test_top_follows_the_terminals_size(running, tmp_path):
    with Terminal(tmp_path, f"{ISOSCOPE} top {running.uri} --interval 3600") as terminal:
        terminal.wait_for("q quit")
        terminal.resize(60, 12)
        until(lambda: "q quit" in terminal.text().splitlines()[-1], "the keys in the last line")
        assert len(terminal.text().splitlines()) == 12
        terminal.press("q")
        terminal.wait_for("ended with 0")


def test_top_leaves_the_terminal_as_it_was_when_it_is_ended(running, tmp_path):
    pid = tmp_path / "pid"
    command = f"sh -c 'echo $$ > {pid}; exec {ISOSCOPE} top {running.uri}'"
    with Terminal(tmp_path, command) as terminal:
        terminal.wait_for("thread_spin")
        os.kill(int(pid.read_text()), signal.SIGTERM)
        terminal.wait_for("ended with 143")
        assert "thread_spin" not in terminal.text()


def test_top_draws_in_colours_and_not_with_no_color(running, tmp_path, painter):
    for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        with Terminal(tmp_path, f"{ISOSCOPE} top {running.uri}", **painter, **env) as terminal:
            terminal.wait_for("thread_spin")
            assert ("36m" in terminal.text(looks=True)) is coloured
            terminal.press("q")
            terminal.wait_for("ended with 0")


def test_top_without_a_terminal_prints_pages(running):
    done = isoscope("top", running.uri, "-n", "2", "--interval", "0.1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("isoscope top: threads") == 2 and "thread_spin" in done.stdout


def test_top_tells_programs_in_json(running):
    done = isoscope("top", running.uri, "-n", "1", "--json", "--window", "600")
    told = json.loads(done.stdout)
    assert {t["name"] for t in told["threads"]} == {"spin-0", "spin-1", "spin-2"}
    assert told["functions"][0]["name"] == "thread_spin"


def test_top_counts_no_time_before_the_program_was_there():
    words = ["top", "-n", "1", "--json", "--interval", "0.2", "--window", "600", "--", *THREADS]
    assert json.loads(isoscope(*words).stdout)["spanMicros"] < 60e6


def test_top_ends_with_its_program():
    with service_of([workload("threads"), "2", "0.5"]) as service:
        process = subprocess.Popen(
            [ISOSCOPE, "top", service.uri, "--interval", "0.1"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert "isoscope top" in process.stdout.readline()
        service.wait_for_end()
    _, said = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0 and "ended while it was being read" in said


def test_top_says_why_there_is_nothing(ended):
    done = isoscope("top", "-n", "1", "--window", "0.001", ended.uri)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the program has ended with status 0; " in done.stderr
    with service_of(THREADS, "--paused") as service:
        done = isoscope("top", "-n", "1", service.uri)
    assert (done.returncode, done.stdout) == (1, "") and "the profiler is off" in done.stderr


def test_top_of_a_command_ends_with_it_and_has_its_status():
    done = isoscope("top", "--interval", "0.1", "--", "sh", "-c", f"{' '.join(SPIN)}; exit 7")
    assert done.returncode == 7 and "spin_twice" in done.stdout
    assert "the command has ended with status 7" in done.stderr


def test_a_commands_output_comes_after_top_on_a_terminal(tmp_path):
    command = f"{ISOSCOPE} top --interval 0.1 -- sh -c '{' '.join(SPIN)}; echo written'"
    with Terminal(tmp_path, command) as terminal:
        terminal.wait_for("the command has ended", "spin_twice")
        assert "written" not in terminal.text()
        terminal.press("q")
        terminal.wait_for("written", "ended with 0")


def test_dump_has_a_stack_of_each_thread(running):
    done = isoscope("dump", running.uri, *ALL)
    assert (done.returncode, done.stderr) == (0, "")
    blocks = done.stdout.split("\n\n")
    for name in ("spin-0", "spin-1", "spin-2"):
        (block,) = [b for b in blocks if b.startswith(f"{name} (")]
        assert re.search(r"^    thread_main +threads", block, re.MULTILINE)
        assert block.index("thread_spin") < block.index("thread_main")


def test_dump_of_one_thread_is_of_that_one(running):
    done = isoscope("dump", running.uri, "--thread", "spin-1", *ALL)
    assert done.stdout.startswith("spin-1 (") and "spin-2" not in done.stdout


def test_dump_of_a_program_that_has_ended_says_so(ended):
    done = isoscope("dump", "--age", "0.001", ended.uri)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the program has ended with status 0; --age" in done.stderr


def test_stats_tells_of_timer_ticks_and_costs(running):
    done = isoscope("stats", running.uri, "--interval", "0.3")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"timer +\S+, one sample per [\d.]+ ms", done.stdout)
    assert re.search(r"delivered +[\d,]+  samples; [\d,]+ per second now", done.stdout)
    assert re.search(r"upkeep +[\d.,]+ ms of CPU time", done.stdout)


def test_stats_counts_what_the_service_counts(ended):
    told = json.loads(isoscope("stats", ended.uri, "--interval", "0", "--json").stdout)
    assert 0 < told["history"]["bytes"] <= told["history"]["bytesMax"] == 64 << 20
    (process,) = told["processes"]
    assert process["counters"]["stored"] == ended.tree().sample_count and not process["live"]
    assert process["exit"] == {"status": 0}
    text = isoscope("stats", ended.uri, "--interval", "0").stdout
    assert "), ended with status 0  /" in text
    assert " of 64 MiB, enough for about " in text


def test_watch_hears_events(running):
    done = isoscope("watch", running.uri, "Profiler", "-n", "2", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(events) == 2
    assert all(e["streamId"] == "Profiler" and e["event"]["kind"][0] == "_" for e in events)


def test_watch_of_a_command_hears_its_output_and_its_end():
    script = f"{' '.join(SPIN)}; echo hello; exit 3"
    done = isoscope("watch", "Isolate", "Stdout", "--", "sh", "-c", script)
    assert done.returncode == 3
    # Two lines that are written in a moment may be one event.
    assert re.search(r"Stdout +WriteEvent .*hello", done.stdout)
    assert re.search(r"Isolate +IsolateExit +\w+:main\(\) has ended with status 3\n", done.stdout)


def test_overhead_measures_a_short_program():
    done = isoscope("overhead", "--rounds", "2", "--json", "--", *SPIN)
    told = json.loads(done.stdout)
    cpu, wall = told["impacts"]
    assert done.returncode == 0 and len(told["runs"]["sampled"]) == 2
    assert 0.25 < cpu["base_s"] < 0.6 and 0.9 < cpu["ratio"] < 2 and wall["base_s"] >= 0.3
    text = isoscope("overhead", "--rounds", "1", "--", "true").stdout
    assert "noise" in text and re.search(r"CPU time .* (above|below) the noise", text)


@pytest.mark.parametrize(
    "command, status", [(["sh", "-c", f"{' '.join(SPIN)}; exit 7"], 7),
                        (["sh", "-c", f"{' '.join(SPIN)}; kill -TERM $$"], 143)]
)  # fmt: skip
def test_a_commands_status_is_passed_on_with_its_profile(command, status):
    done = isoscope("dump", "--", *command)
    assert done.returncode == status and "_start  spin_two_to_one" in done.stdout


@pytest.mark.parametrize("command, status", [("/no/such/program", 127), ("/etc/passwd", 126)])
def test_a_command_that_cannot_be_run_has_the_status_of_run(command, status):
    done = isoscope("dump", "--", command)
    assert (done.returncode, done.stdout) == (status, "") and command in done.stderr


def test_a_command_too_short_to_be_sampled_is_said_to_be():
    done = isoscope("dump", "--", "true")
    assert (done.returncode, done.stdout) == (1, "") and "no samples" in done.stderr


def test_ctrl_c_ends_the_command_and_its_profile_is_shown():
    process = subprocess.Popen(
        [ISOSCOPE, "dump", "--", workload("threads"), "1", "60"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    (program,) = until(lambda: [p for r in children(process.pid) for p in children(r)], "a start")
    until(lambda: cpu_ticks(program) > 20, "some work")
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE_S)
    said = [line for line in err.splitlines() if not line.startswith(NO_PERF_NOTICE)]
    assert (process.returncode, said) == (130, []) and "thread_spin" in out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_reader_that_is_ended_leaves_no_service_behind(number):
    process = subprocess.Popen(
        [ISOSCOPE, "dump", "--", workload("threads"), "1", "600"], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    program, service = until(lambda: started(process.pid), "a start")
    process.send_signal(number)
    assert process.wait(DEADLINE_S) == (-9 if number == signal.SIGKILL else 128 + number)
    until(lambda: has_ended(service), "the service's end")
    if number == signal.SIGKILL:
        os.kill(program, signal.SIGKILL)
    until(lambda: has_ended(program), "the program's end")


def started(pid: int) -> tuple[int, int] | None:
    """The program and its service, once the program has worked."""
    found = [(program, service) for service in children(pid) for program in children(service)]
    return found[0] if found and cpu_ticks(found[0][0]) > 5 else None


def has_ended(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def test_a_terminal_that_goes_takes_top_and_its_command_with_it(tmp_path):
    with Terminal(tmp_path, f"{ISOSCOPE} top -- {workload('threads')} 1 601") as terminal:
        terminal.wait_for("thread_spin", "q quit")
        shell = int(terminal.pid())
        (top,) = children(shell)
        program, service = until(lambda: started(top), "a start")
    for pid in (top, service, program):
        until(lambda pid=pid: has_ended(pid), "an end")


def cpu_ticks(pid: int) -> int:
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rpartition(")")[2].split()[11])


@pytest.mark.parametrize("command", ["tree", "top", "dump", "stats", "watch"])
def test_a_wrong_token_and_a_missing_service_cannot_be_connected_to(running, command):
    address = running.uri.rsplit("/", 2)[0]
    done = isoscope(command, f"{address}/AAAAAAAAAAAAAAAAAAAAAA==/")
    assert (done.returncode, done.stdout) == (3, "") and "refuses the token" in done.stderr
    done = isoscope(command, "http://127.0.0.1:1/x/")
    assert (done.returncode, done.stdout) == (3, "") and "no service answers" in done.stderr


@pytest.mark.parametrize(
    "words, status, said",
    [
        (["watch", "URI", "Nothing"], 2, "the service has no stream 'Nothing'"),
        (["top", "URI", "--sort", "tid"], 2, "invalid choice: 'tid'"),
        (["top", "URI", "--threads", "--sort", "self"], 2, "can be sorted by CPU, samples, name"),
        (["watch", "/etc/passwd"], 2, "is not the URI of a service"),
        (["top", "/etc/passwd"], 1, "unrecognized text format"),
        (["top", "URI", "--process", "zsh"], 1, "no process 'zsh'; there are: threads ("),
        (["dump", "URI", "--thread", "spin-9"], 1, "no thread 'spin-9'; similar: spin-"),
        (["dump", "URI", "--focus", "thread_spni"], 1, "matches no function; similar: thread_spin"),
        (["stats", "URI", "--interval", "soon"], 2, "'soon' is not a time"),
        (["overhead"], 2, "overhead needs `-- COMMAND`"),
        (["overhead", "--", "/no/such/program"], 1, "cannot run /no/such/program"),
        (["completion", "tcsh"], 2, "invalid choice: 'tcsh'"),
        (["fly"], 2, "unknown command 'fly'"),
    ],
)
def test_what_is_wrong_is_named_with_its_status(running, words, status, said):
    done = isoscope(*[running.uri if word == "URI" else word for word in words])
    assert (done.returncode, done.stdout) == (status, "") and said in done.stderr
    assert done.stderr.startswith("isoscope: ")


def test_a_service_that_is_killed_is_not_told_as_the_programs_end():
    """Nor as one that was started without --keep."""
    killed = "kill -9 $(pgrep -P $PPID -x isoscope-serve); exit 4"
    done = isoscope("tree", "--", "sh", "-c", killed)
    assert done.returncode == 3
    assert "isoscope's service failed, not the program" in done.stderr
    assert "there is nothing to show" in done.stderr and "--keep" not in done.stderr


def test_a_program_that_used_too_little_is_not_told_as_one_that_runs():
    done = isoscope("tree", "--", "true")
    assert done.returncode == 1 and "too little CPU time" in done.stderr
