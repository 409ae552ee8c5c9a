"""`isoscope explain` on programs with one known trouble each, and on one without: each is found, and nothing else is.

Shares of CPU time are known by construction; those of waits are large, and are only asked to be. A busy machine may let
a stall be the machine's own: what must be found is tried once more.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from xml.etree import ElementTree

import pytest
from harness import (
    DEADLINE_S, ISOSCOPE, NO_PERF_NOTICE, SWITCHES_NOTICE, Client, default_timer, measured, profiled, service_of, until,
    workload,
)  # fmt: skip

SECONDS = "2"
# Word of the program: the kind of finding, the function that it has to name, its least and greatest share.
PLANTED = {
    "hot": ("cpu", "score_rows", 0.50, 0.95),  # four fifths; the band is checked, too
    "convoy": ("lock", "update_table", 0.50, 1.0),  # three of its four threads wait for the one that has the lock
    "stalls": ("stall", "write_journal", 0.20, 1.0),
    "churn": ("allocation", "build_words", 0.50, 1.0),
    "io": ("io", "read_records", 0.50, 1.0),
}
# With --faults; not all machines allow it.
FAULTS = {"faults": ("fault", "build_index", 0.90, 1.0)}
# What is so of a program, too, beside its trouble.
ALSO = {"convoy": {("cpu", "update_table")}, "faults": {("cpu", "build_index")}}


def explain(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([ISOSCOPE, "explain", *words], capture_output=True, text=True, timeout=4 * DEADLINE_S,
                          stdin=subprocess.DEVNULL, env={**os.environ, **environment})  # fmt: skip
    done.stderr = "".join(line for line in done.stderr.splitlines(keepends=True)
                          if not line.startswith(NO_PERF_NOTICE) and SWITCHES_NOTICE not in line)  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


def told(*words: str, **environment: str) -> dict:
    done = explain("--json", *words, **environment)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)


def found(report: dict) -> set[tuple[str, str]]:
    """Kinds and functions; without what the compiler made of a function."""
    return {(one["kind"], one["place"]["function"].split(" [")[0]) for one in report["findings"]}


def starved(report: dict, finding: dict) -> float:
    """The part of the time that its share is of in which threads waited for a processor: nothing of that is planted."""
    told = re.search(r"threads that wanted a processor had none for ([\d.]+) % (of the time .*?):", "\n".join(report["unsure"]))
    return float(told[1]) / 100 if told and finding["of"].startswith(told[2]) else 0.0


def check_planted(report: dict, word: str) -> None:
    kind, function, least, most = {**PLANTED, **FAULTS}[word]
    assert (kind, function) in found(report), report
    assert found(report) <= {(kind, function)} | ALSO.get(word, set()), report
    finding = next(one for one in report["findings"] if one["kind"] == kind)
    assert least <= finding["share"] / (1 - starved(report, finding)) <= most, report
    assert 0 < finding["error"] < 0.3 and finding["path"][0] in ("main", "update"), finding
    if word == "hot":  # 4.5 standard deviations
        assert abs(finding["share"] - 0.8) <= 4.5 / 1.96 * finding["error"], finding
    assert finding["place"]["file"].endswith("planted.c") and finding["place"]["line"], finding
    assert finding["cause"] and finding["next"] and finding["evidence"]


def runs_its_commands(report: dict, cwd, **environment: str) -> None:
    """As a shell takes them: each shows the function."""
    folder = os.path.dirname(ISOSCOPE)
    for finding in report["findings"]:
        done = subprocess.run(["sh", "-c", finding["commandLine"]], capture_output=True, text=True, cwd=cwd,
                              timeout=2 * DEADLINE_S, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", **environment})  # fmt: skip
        assert done.returncode == 0 and finding["place"]["function"] in done.stdout, (finding["commandLine"], done)


@pytest.mark.parametrize("word", PLANTED)
@measured
def test_what_is_wrong_is_found_live_and_in_a_session_file(word, tmp_path):
    file = tmp_path / f"a session of {word}.isoscope"
    file.unlink(missing_ok=True)
    with profiled([workload("planted"), word, SECONDS], "--mode", "wall") as service:
        live = told(service.uri)
        check_planted(live, word)
        runs_its_commands(live, tmp_path, ISOSCOPE_URI=service.uri)
        saved = subprocess.run([ISOSCOPE, "save", service.uri, "-o", str(file)], capture_output=True, timeout=DEADLINE_S)
        assert saved.returncode == 0, saved.stderr
    report = told(str(file))
    check_planted(report, word)
    assert [one["title"] for one in report["findings"]] == [one["title"] for one in live["findings"]]
    runs_its_commands(report, tmp_path)


@measured
def test_a_healthy_program_is_said_to_be(tmp_path):
    with profiled([workload("planted"), "healthy", SECONDS], "--mode", "wall") as service:
        report = told(service.uri)
        text = explain(service.uri)
    assert report["healthy"] and not report["findings"], report
    assert report["headline"].startswith("nothing stands out: ")
    looked_at = "\n".join(report["lookedAt"])
    for part in ("CPU time: ", "waits for locks: ", "waits for files, pipes and peers: ", "1 loop"):
        assert part in looked_at
    assert "nothing stands out" in text.stdout.splitlines()[0]
    assert service.uri.split("/")[3] not in text.stdout, "the token"


@measured
def test_in_cpu_mode_what_needs_no_waits_is_found_and_the_rest_is_said():
    for word in ("hot", "churn", "stalls"):
        report = told("--mode", "cpu", "--", workload("planted"), word, SECONDS)
        check_planted(report, word)
    report = told("--mode", "cpu", "--", workload("planted"), "healthy", SECONDS)
    assert report["healthy"], report
    assert report["headline"].endswith("(threads that wait were not sampled)")
    assert report["headline"].startswith("nothing stands out: no function has too much of the CPU time, the allocator ")
    assert any(line.startswith("allocator: ") for line in report["lookedAt"])


@measured
def test_a_command_is_run_with_all_that_is_looked_at_and_keeps_its_status():
    report = told("--alloc", "--", workload("planted"), "churn", SECONDS)
    check_planted(report, "churn")
    (finding,) = report["findings"]
    assert any(" allocated: build_words (planted) at " in one for one in finding["evidence"])
    assert finding["command"][:4] == ["isoscope", "bottomup", "--kind=alloc", "--unit=bytes"]
    done = explain("--", "sh", "-c", f"{workload('planted')} hot {SECONDS}; exit 7")
    assert done.returncode == 7 and "CPU time: score_rows" in done.stdout


@measured
@pytest.mark.parametrize("mode", ["wall", "cpu"])
def test_a_convoys_lock_and_holders_are_named_where_waits_are_sampled(mode, tmp_path):
    with profiled([workload("planted"), "convoy", SECONDS], "--lock", "--mode", mode) as service:
        report = told(service.uri)
        check_planted(report, "convoy")
        finding = next(one for one in report["findings"] if one["kind"] == "lock")
        locks = json.loads(subprocess.run([ISOSCOPE, "locks", "--json", service.uri], capture_output=True, text=True,
                                          timeout=DEADLINE_S, check=True).stdout)  # fmt: skip
        runs_its_commands(report, tmp_path, ISOSCOPE_URI=service.uri)
    (lock,) = locks["locks"]
    evidence = "\n".join(finding["evidence"])
    assert finding["title"] == "lock waits: update_table for table_lock"
    assert f"threads waited for locks {lock['waitedMicros'] / 1e6:,.2f} s ± " in evidence
    assert f"for table_lock (planted) (mutex); the longest wait {lock['longestMicros'] / 1000:,.1f} ms" in evidence
    first = max(lock["holders"], key=lambda one: one["waitedMicros"])
    assert f"held by updates ({first['tid']}) {100 * first['waitedMicros'] / lock['waitedMicros']:.1f} %" in evidence
    assert "whoever had it was mostly in update_table (planted) at " in evidence
    assert finding["command"] == ["isoscope", "locks"]


@measured
def test_a_command_is_run_with_its_waits_for_locks_sampled():
    report = told("--lock", "--mode", "cpu", "--", workload("planted"), "convoy", SECONDS)
    check_planted(report, "convoy")
    finding = next(one for one in report["findings"] if one["kind"] == "lock")
    assert finding["command"][:3] == ["isoscope", "locks", "--mode"] and finding["of"].startswith("of the time that threads ran")


@pytest.mark.skipif(not default_timer().is_trap, reason="the kernel refuses perf events here")
@pytest.mark.parametrize("mode", ["cpu", "wall"])
@measured
def test_who_touches_new_memory_all_the_time_is_found(mode, tmp_path):
    file = tmp_path / "faults.isoscope"
    file.unlink(missing_ok=True)
    # Longer: it is in the kernel for most of its time, and a busy machine leaves few looks at it.
    with profiled([workload("planted"), "faults", "4"], "--faults", "--mode", mode) as service:
        live = told(service.uri)
        check_planted(live, "faults")
        runs_its_commands(live, tmp_path, ISOSCOPE_URI=service.uri)
        subprocess.run([ISOSCOPE, "save", service.uri, "-o", str(file)], check=True, capture_output=True, timeout=DEADLINE_S)
    finding = next(one for one in live["findings"] if one["kind"] == "fault")
    assert finding["command"] == ["isoscope", "bottomup", "--kind=fault"]
    assert "page faults: " in finding["evidence"][0] and "of the CPU time" in finding["evidence"][0]
    assert [one["title"] for one in told(str(file))["findings"]] == [one["title"] for one in live["findings"]]


@pytest.mark.skipif(not default_timer().is_trap, reason="the kernel refuses perf events here")
@measured
def test_programs_that_touch_little_new_memory_are_not_blamed_for_it():
    for word in ("healthy", "hot"):
        report = told("--faults", "--", workload("planted"), word, SECONDS)
        assert not any(one["kind"] == "fault" for one in report["findings"]), report
        assert any(line.startswith("page faults: ") and "samples, at least " in line for line in report["lookedAt"]), report
        assert report["healthy"] == (word == "healthy")


@measured
def test_a_program_that_runs_is_explained_while_it_does():
    with service_of([workload("planted"), "io", "1000"], "--mode", "wall") as service, Client(service.uri) as client:
        until(lambda: client.call("getVMTimelineMicros")["timestamp"] and len(client.profile()) > 2000, "samples")
        check_planted(told("--last", "1.5", ISOSCOPE_URI=service.uri), "io")


@measured
def test_a_program_that_runs_already_is_attached_to():
    program = subprocess.Popen([workload("planted"), "io", "1000"])
    try:
        done = explain("--json", "-p", str(program.pid), "--last", "2s")
        if "ptrace_scope" in done.stderr and done.returncode != 0:
            pytest.skip(done.stderr)
        assert done.returncode == 0, done.stderr
        check_planted(json.loads(done.stdout), "io")
    finally:
        program.kill()
        program.wait()


def test_stalls_of_a_program_that_runs_already_are_not_looked_for_and_the_reason_is_said(tmp_path):
    program = subprocess.Popen([workload("planted"), "stalls", "1000"])
    file = budget(tmp_path, "[stall]\ncount = 0\n")
    try:
        done = explain("--json", "-p", str(program.pid), "--last", "1s", "--budget", file)
        if "ptrace_scope" in done.stderr and not done.stdout:
            pytest.skip(done.stderr)
    finally:
        program.kill()
        program.wait()
    report = json.loads(done.stdout)
    why = "nothing was put into this one, which ran already: `isoscope run` watches loops"
    assert any(line.startswith("stalls: not looked for: ") and line.endswith(why) for line in report["lookedAt"]), report
    assert not found(report) & {("stall", "write_journal")}
    assert done.returncode == 1 and report["budgets"][0]["note"].endswith(why), report  # no success


# Budgets.


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Of the program with stalls, which has a loop and little else; and of the hot one."""
    folder = tmp_path_factory.mktemp("budgets")
    for word in ("hot", "healthy"):
        words = ["record", "--quiet", "-o", str(folder / word), "--", workload("planted"), word, SECONDS]
        subprocess.run([ISOSCOPE, *words], check=True, timeout=DEADLINE_S, stderr=subprocess.DEVNULL)
    return folder


def budget(tmp_path, text: str) -> str:
    file = tmp_path / "budgets.toml"
    file.write_text(text)
    return str(file)


def test_a_budget_that_is_kept_and_one_that_is_not(session, tmp_path):
    kept = budget(tmp_path, '[function]\nscore_rows = "95%"\nread_rows = "40%"\n[library]\n"libc*" = "30%"\n')
    done = explain("--budget", kept, str(session / "hot"))
    assert (done.returncode, done.stderr) == (0, "") and "budgets: all kept" in done.stdout
    broken = budget(tmp_path, '[function]\nscore_rows = "50%"\nread_rows = "40%"\n[allocation]\nshare = "20%"\n')
    report = tmp_path / "report.xml"
    done = explain("--budget", broken, "-o", str(report), "-o", str(tmp_path / "r.md"), str(session / "hot"))
    assert (done.returncode, done.stderr) == (5, "")
    assert "budgets: 1 exceeded of 3" in done.stdout
    suite = ElementTree.parse(report).getroot()
    failures = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failures == ["function score_rows total"] and suite.get("failures") == "1"
    assert "- **EXCEEDED**: function `score_rows` total: " in (tmp_path / "r.md").read_text()


@measured
def test_budgets_of_stalls(session, tmp_path):
    file = budget(tmp_path, '[stall]\ncount = 0\nlongest = "300ms"\n')
    assert explain("--budget", file, "--", workload("planted"), "healthy", SECONDS).returncode == 0
    done = explain("--budget", file, "--", workload("planted"), "stalls", SECONDS)
    assert done.returncode == 5 and "budgets: 2 exceeded of 2" in done.stdout, done
    assert "write_journal" in done.stdout.partition("budgets: ")[2]
    # What was not looked for is no success.
    done = explain("--budget", file, str(session / "hot"))
    assert done.returncode == 1 and "no loop was watched" in done.stdout


def test_budgets_of_allocations(tmp_path):
    file = budget(tmp_path, '[allocation]\nbytes = "1MiB"\nper_second = "100GiB"\n')
    done = explain("--alloc", "--budget", file, "--", workload("planted"), "churn", "0.5")
    assert done.returncode == 5 and "budgets: 1 exceeded of 2" in done.stdout, done
    done = explain("--budget", file, "--", workload("planted"), "churn", "0.5")
    assert done.returncode == 1 and "start the program with --alloc" in done.stdout


def test_the_commands_own_failure_is_before_a_budgets(tmp_path):
    file = budget(tmp_path, '[function]\nscore_rows = "1%"\n')
    done = explain("--budget", file, "--", "sh", "-c", f"{workload('planted')} hot 0.5; exit 4")
    assert done.returncode == 4 and "1 exceeded of 1" in done.stdout


def test_what_is_wrong_with_a_file_of_budgets_is_said_before_anything_runs(tmp_path):
    ran = tmp_path / "ran"
    for text, said in (('[function]\nf = { totl = 3 }', "has no key 'totl'; did you mean total?"), (None, "cannot read ")):
        file = budget(tmp_path, text) if text else str(tmp_path / "none.toml")
        done = explain("--budget", file, "--", "touch", str(ran))
        assert done.returncode == 2 and said in done.stderr and file in done.stderr and not ran.exists()


# What cannot be read.


def test_no_service_another_token_and_several_sources_are_said(session):
    done = explain("http://127.0.0.1:1/token=/")
    assert done.returncode == 3 and "127.0.0.1:1" in done.stderr and not done.stdout
    with service_of(["sleep", "1000"]) as service:
        begin, token, end = service.uri.rpartition("/")[0].rpartition("/")
        done = explain(f"{begin}/{'x' * len(end)}/")
        assert done.returncode == 3 and len(done.stderr.splitlines()) == 1, done
        gone = service.uri
    assert explain(gone).returncode == 3
    done = explain(str(session / "hot"), str(session / "healthy"))
    assert done.returncode == 2 and "explain takes SOURCE; unexpected: '" in done.stderr
    done = explain(ISOSCOPE_URI="")
    assert done.returncode == 2 and "explain needs a URI, a file" in done.stderr


@measured
def test_several_processes_are_one_reading_and_one_of_them_can_be_chosen(tmp_path):
    file, words = tmp_path / "both.isoscope", ("hot", "churn")
    file.unlink(missing_ok=True)
    for word in words:
        shutil.copy(workload("planted"), tmp_path / f"is_{word}")
    script = f"{tmp_path}/is_hot hot {SECONDS} & {tmp_path}/is_churn churn {SECONDS}; wait"
    command = [ISOSCOPE, "record", "--quiet", "-o", str(file), "--", "sh", "-c", script]
    subprocess.run(command, check=True, timeout=DEADLINE_S, stderr=subprocess.DEVNULL)
    assert ("allocation", "build_words") in found(told(str(file)))
    for word in words:
        report = told("--process", f"is_{word}", str(file))
        check_planted(report, word)
        runs_its_commands(report, tmp_path)
    done = explain("--process", "nobody", str(file))
    assert done.returncode == 1 and "no process 'nobody'; there are: " in done.stderr


def test_of_a_file_without_symbols_the_place_is_told_and_what_would_name_it(tmp_path):
    file, stripped = tmp_path / "bare.isoscope", tmp_path / "bare"
    shutil.copy(workload("planted"), stripped)
    subprocess.run([shutil.which("strip") or pytest.skip("needs strip"), str(stripped)], check=True)
    words = ["record", "--quiet", "-o", str(file), "--", str(stripped), "hot", SECONDS]
    subprocess.run([ISOSCOPE, *words], check=True, timeout=DEADLINE_S, stderr=subprocess.DEVNULL)
    report = told(str(file))
    assert report["findings"] and report["findings"][0]["place"]["function"].startswith("bare+0x"), report
    assert "symbols" in report["findings"][0]["next"] and "functions without a name, in bare" in "".join(report["unsure"])
    runs_its_commands(report, tmp_path)


EVIL = "evil\x1b[31m`$(touch pwned)`\t# a\"b'<b>|"


def test_names_of_programs_and_threads_are_only_read(tmp_path):
    program = tmp_path / EVIL
    shutil.copy(workload("planted"), program)
    file, report = tmp_path / f"{EVIL}\n# a.isoscope", tmp_path / "r.md"
    words = ["record", "--quiet", "-o", str(file), "--", str(program), "hot", "0.5"]
    subprocess.run([ISOSCOPE, *words], check=True, timeout=DEADLINE_S, stderr=subprocess.DEVNULL, cwd=tmp_path)
    for form in ("text", "markdown", "junit"):
        done = explain("--format", form, "-o", str(report), str(file))
        assert done.returncode == 0 and all(line.isprintable() for line in done.stdout.split("\n")), done
    assert "\n# a" not in report.read_text()
    finding = told(str(file))["findings"][0]
    done = subprocess.run(["bash", "-c", finding["commandLine"]], capture_output=True, text=True, cwd=tmp_path,
                          timeout=DEADLINE_S, env={**os.environ, "PATH": f"{os.path.dirname(ISOSCOPE)}:{os.environ['PATH']}"})  # fmt: skip
    assert done.returncode == 0 and "score_rows" in done.stdout, done
    assert not list(tmp_path.glob("pwned*"))


def test_a_program_that_does_nothing_is_told_to_have_no_samples():
    done = explain("--mode", "cpu", "--", "sleep", "0.2")
    assert done.returncode in (0, 1) and (done.stdout or "too little CPU time" in done.stderr)
    begin = time.monotonic()
    assert told("--", "sleep", "1")["healthy"] and time.monotonic() > begin + 1
