"""`isoscope run` and the program: its status, its signals, its output, and what is refused."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness import BUILD, ISOSCOPE, NO_PERF_NOTICE, children, no_new_privs, until, workload

PYTHON = sys.executable

# Says what signals it gets, one a line; SIGTERM ends it with status 3. It waits with the signals
# blocked: a handler and pause() would miss one that comes just before the pause.
LISTENER = """
import signal, sys
heard = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2}
signal.pthread_sigmask(signal.SIG_BLOCK, heard)
print("ready", flush=True)
number = None
while number != signal.SIGTERM:
    number = signal.sigwait(heard)
    print(signal.Signals(number).name, flush=True)
sys.exit(3)
"""


# The program's own view


@pytest.mark.parametrize("status", [0, 1, 7, 125, 255])
def test_the_exit_status_is_the_programs(run, status):
    assert run(["sh", "-c", f"exit {status}"]).returncode == status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL])
def test_a_program_that_dies_of_a_signal_takes_isoscope_along(run, number):
    assert run(["sh", "-c", f"kill -{int(number)} $$"]).returncode == -number


def said(result) -> list[str]:
    """By isoscope, besides the truth about this machine's timers."""
    return said_lines(result.stderr)


def said_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith(NO_PERF_NOTICE)]


def test_stdout_is_the_programs_alone(run):
    result = run(["seq", "3"])
    assert result.stdout == "1\n2\n3\n"
    (line,) = said(result)
    assert line.startswith("The Dart VM service is listening on http://127.0.0.1:")


def test_quiet_says_nothing(run):
    assert said(run(["echo", "x"], "--quiet")) == []


def test_quiet_does_not_tell_of_the_programs_end_either(start):
    running = start(["echo", "x"], "--quiet", "--keep")
    assert running.line() == "x"
    until(lambda: not children(running.process.pid), "the program's end")
    running.process.terminate()
    assert said_lines(running.process.communicate(timeout=60)[1]) == []


def stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "tT"


def test_a_signal_right_after_the_programs_death_is_isoscopes_own(start):
    """Both wait for it: of the two, the kernel gives SIGTERM first."""
    running = start([PYTHON, "-c", LISTENER], "--keep")
    assert running.line() == "ready"
    isoscope = running.process.pid
    program = next(pid for pid in children(isoscope) if Path(f"/proc/{pid}/exe").resolve() ==
                   Path(PYTHON).resolve())  # fmt: skip
    os.kill(isoscope, signal.SIGSTOP)
    until(lambda: stopped(isoscope), "a stop")
    os.kill(program, signal.SIGKILL)
    os.kill(isoscope, signal.SIGTERM)
    os.kill(isoscope, signal.SIGCONT)
    said = said_lines(running.process.communicate(timeout=30)[1])
    assert running.process.returncode == -signal.SIGKILL
    assert not [line for line in said if "failed" in line]


def test_stdin_is_the_programs(run):
    assert run(["cat"], input="through and through").stdout == "through and through"


def test_arguments_pass_unchanged(run):
    words = ["--port", "a b", "", "--", "-x", "*"]
    result = run([PYTHON, "-c", "import sys; print(sys.argv[1:])", *words])
    assert result.stdout.strip() == str(words)


def test_the_double_dash_may_be_left_out():
    result = subprocess.run([ISOSCOPE, "run", "echo", "--keep"], capture_output=True, text=True)
    assert result.stdout == "--keep\n"


def environment_of(text: str) -> dict[str, str]:
    variables = dict(line.split("=", 1) for line in text.split("\0") if "=" in line)
    return {k: v for k, v in variables.items() if k != "_" and not k.startswith("ISOSCOPE_")}


COLLECTORS = {"INTEL_LIBITTNOTIFY64": "itt", "INTEL_JIT_PROFILER64": "itt", "NVTX_INJECTION64_PATH": "nvtx"}


def test_the_environment_has_the_preload_in_front_the_collectors_and_nothing_else_new(run):
    ours = {**os.environ, "LD_PRELOAD": "", "ODD": "a=b"}
    plain = subprocess.run(["env", "-0"], env=ours, capture_output=True, text=True)
    direct = environment_of(plain.stdout)
    inside = environment_of(run(["env", "-0"], env=ours).stdout)
    assert inside.pop("LD_PRELOAD").endswith("/libisoscope.so.0")
    assert direct.pop("LD_PRELOAD") == ""
    for variable, library in COLLECTORS.items():
        assert inside.pop(variable).endswith(f"/libisoscope_{library}.so")
    assert inside == direct


SURROUNDINGS = "ulimit -n; umask; pwd; grep -E 'SigIgn|SigBlk' /proc/self/status; ls /proc/self/fd"


@pytest.mark.parametrize("ignored", [[], [signal.SIGPIPE], [signal.SIGCHLD, signal.SIGHUP]])
def test_the_program_starts_in_the_same_surroundings(run, ignored):
    def prepare():
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)

    command = ["sh", "-c", SURROUNDINGS]
    popen = {"preexec_fn": prepare, "restore_signals": False, "cwd": "/"}
    direct = subprocess.run(command, capture_output=True, text=True, **popen)
    assert run(command, **popen).stdout == direct.stdout


def test_closed_standard_descriptors_stay_closed(run):
    command = ["sh", "-c", "[ -e /proc/self/fd/0 ] || [ -e /proc/self/fd/2 ] || echo closed"]
    popen = {"preexec_fn": lambda: (os.close(0), os.close(2))}
    assert run(command, stdin=None, stderr=None, capture_output=False, stdout=subprocess.PIPE,
               **popen).stdout == "closed\n"


# Signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2])
def test_a_signal_to_isoscope_reaches_the_program_once(start, number):
    running = start([PYTHON, "-c", LISTENER])
    assert running.line() == "ready"
    running.process.send_signal(number)
    assert running.line() == number.name
    running.process.terminate()
    assert running.line() == "SIGTERM"
    assert running.process.wait(30) == 3


# A session of its own with a terminal, as a shell makes it: tells what becomes of its job.
JOB = """
import fcntl, os, signal, subprocess, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
report = os.fdopen(int(sys.argv[1]), "w")
def to_front():
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
job = subprocess.Popen(sys.argv[2:], preexec_fn=to_front)
print(job.pid, file=report, flush=True)
while True:
    pid, status = os.waitpid(job.pid, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        break
    print("stopped", os.WSTOPSIG(status), file=report, flush=True)
print("ended", os.waitstatus_to_exitcode(status), file=report, flush=True)
"""


class Job:
    """`isoscope run` in the foreground of a terminal."""

    def __init__(self, command) -> None:
        self.terminal, slave = os.openpty()
        reading, writing = os.pipe()
        words = [ISOSCOPE, "run", "--quiet", "--", *command]
        self.leader = subprocess.Popen(
            [PYTHON, "-c", JOB, str(writing), *words],
            stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            pass_fds=[writing],
        )
        os.close(slave)
        os.close(writing)
        self.report = os.fdopen(reading)
        self.pid = int(self.report.readline())

    def type(self, key: bytes) -> None:
        os.write(self.terminal, key)

    def close(self) -> None:
        if self.leader.poll() is None:
            self.leader.kill()
        self.leader.communicate()
        self.report.close()
        os.close(self.terminal)


@pytest.fixture
def job():
    jobs: list[Job] = []

    def start_job(command) -> Job:
        jobs.append(Job(command))
        return jobs[-1]

    yield start_job
    for one in jobs:
        one.close()


def test_ctrl_c_reaches_the_program_once_and_isoscope_stays(job):
    one = job([PYTHON, "-c", LISTENER])
    out = one.leader.stdout
    assert out.readline() == "ready\n"
    one.type(b"\x03")
    assert out.readline() == "SIGINT\n"
    os.kill(one.pid, signal.SIGUSR1)  # a second SIGINT would come before it
    assert out.readline() == "SIGUSR1\n"
    os.kill(one.pid, signal.SIGTERM)
    assert out.readline() == "SIGTERM\n"
    assert one.report.readline() == "ended 3\n"


def test_ctrl_c_on_a_program_without_handler_ends_both(job):
    one = job(["sh", "-c", "echo ready; exec sleep 1000"])
    assert one.leader.stdout.readline() == "ready\n"
    one.type(b"\x03")
    assert one.report.readline() == f"ended {-signal.SIGINT}\n"


def test_ctrl_z_stops_the_job_and_the_shell_continues_it(job):
    one = job([PYTHON, "-c", LISTENER])
    out = one.leader.stdout
    assert out.readline() == "ready\n"
    one.type(b"\x1a")
    assert one.report.readline() == f"stopped {int(signal.SIGTSTP)}\n"
    os.killpg(one.pid, signal.SIGCONT)
    os.kill(one.pid, signal.SIGUSR1)
    assert out.readline() == "SIGUSR1\n"
    os.kill(one.pid, signal.SIGTERM)
    assert one.report.readline() == "ended 3\n"


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN])
def test_a_program_that_stops_itself_stops_the_job_and_goes_on_with_it(job, number):
    one = job(["sh", "-c", f"echo ready; kill -{int(number)} $$; echo on; read word; exit 3"])
    out = one.leader.stdout
    assert out.readline() == "ready\n"
    assert one.report.readline() == f"stopped {int(number)}\n"
    os.killpg(one.pid, signal.SIGCONT)
    assert out.readline() == "on\n"
    one.type(b"word\n")
    assert one.report.readline() == "ended 3\n"


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def test_a_program_stopped_alone_does_not_stop_isoscope(start):
    running = start([PYTHON, "-c", LISTENER])
    assert running.line() == "ready"
    program = children(running.process.pid)[0]
    os.kill(program, signal.SIGSTOP)
    until(lambda: state_of(program) == "T", "the stop")
    assert running.connect().rpc("getVersion")["type"] == "Version"
    running.process.send_signal(signal.SIGCONT)  # is meant for the program
    until(lambda: state_of(program) != "T", "going on")
    running.process.terminate()
    assert running.process.wait(30) == 3


# What is refused, and how it is said


def refused(result, status: int, *words: str) -> None:
    assert result.returncode == status
    assert result.stdout == ""
    assert result.stderr.startswith("isoscope: ")
    assert "listening" not in result.stderr
    for word in words:
        assert word in result.stderr


def test_without_proc_it_says_so(tmp_path):
    script = 'mount -t tmpfs none /proc && exec "$0" run --quiet -- true'
    ended = subprocess.run(["unshare", "-rm", "sh", "-c", script, ISOSCOPE], capture_output=True,
                           text=True, timeout=60)
    if "isoscope" not in ended.stderr:
        pytest.skip("needs user namespaces")
    refused(ended, 125, "is /proc mounted?")


# It leaves a process behind, and waits until that has ended and somebody has collected it.
LEAVES_AN_ORPHAN = """
import os, sys, time
read, write = os.pipe()
if os.fork() == 0:
    orphan = os.fork()
    if orphan:
        os.write(write, b"%d" % orphan)
    os._exit(0)
os.wait()
orphan = int(os.read(read, 20))
until = time.monotonic() + 30
while os.path.exists(f"/proc/{orphan}") and time.monotonic() < until:
    time.sleep(0.01)
sys.exit(4 if os.path.exists(f"/proc/{orphan}") else 5)
"""


def test_as_process_1_of_a_container_it_collects_what_the_program_leaves_behind():
    words = ["unshare", "-r", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if subprocess.run([*words, "true"], capture_output=True).returncode:
        pytest.skip("needs user namespaces")
    ended = subprocess.run([*words, ISOSCOPE, "run", "--quiet", "--", PYTHON, "-c", LEAVES_AN_ORPHAN],
                           capture_output=True, text=True, timeout=60)
    assert ended.returncode == 5, ended.stderr


def test_an_unknown_program(run):
    refused(run(["no-such-program"]), 127, "no-such-program", "not found in $PATH")
    refused(run(["/no/such/program"]), 127, "/no/such/program")


def test_a_file_that_is_no_program(run, tmp_path):
    (tmp_path / "data").write_text("x")
    refused(run([str(tmp_path / "data")]), 126, "cannot execute")
    refused(run([str(tmp_path)]), 126, "folder")


def test_a_static_program(run, compiled):
    program = compiled("alone", "int main(void) { return 0; }", "-static")
    refused(run([program]), 125, "static", "without -static")


def test_a_setuid_program(run, tmp_path):
    program = tmp_path / "raised"
    shutil.copy("/bin/true", program)
    if os.geteuid() != 0 or os.statvfs(tmp_path).f_flag & os.ST_NOSUID:
        pytest.skip("needs root and a file system with setuid")
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    if no_new_privs():  # then it is a program like others
        assert run([str(program)]).returncode == 0
    else:
        refused(run([str(program)]), 125, "set-user-ID")


@pytest.mark.parametrize(
    "options, words",
    [
        (["--port", "65536"], ["--port", "65536", "65535"]),
        (["--period", "49"], ["--period", "'49'", "50", "1000000"]),
        (["--period", "fast"], ["--period", "'fast'"]),
        (["--history", "0"], ["--history", "'0'", "65536"]),
        (["--speed"], ["--speed is not an option"]),
        (["--perod", "5"], ["--perod is not an option of isoscope run; did you mean --period?"]),
        (["--kepe"], ["did you mean --keep?"]),
        (["--keep=yes"], ["--keep takes no value"]),
        (["--p", "5"], ["--p can mean --"]),
        (["-p", "5"], ["-p is not an option"]),
        (["--write-service-info", ""], ["--write-service-info"]),
    ],
)
def test_bad_options(run, options, words):
    refused(run(["touch", "/no/such/folder/x"], *options), 2, *words)


def test_stats_tell_how_long_the_history_is(run):
    ended = run([workload("spin_two_to_one"), "0.3"], "--stats", "--history", "32", "--quiet")
    assert re.search(r"history +[0-9.]+  MiB of 32, enough for about [0-9.e+]+ min", ended.stderr)


def test_no_program_at_all():
    result = subprocess.run([ISOSCOPE, "run"], capture_output=True, text=True)
    refused(result, 2, "no program")


def test_a_port_in_use(run, tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        proof = tmp_path / "started"
        result = run(["touch", str(proof)], "--port", str(port))
    refused(result, 125, f"port {port} is in use", "--port")
    assert not proof.exists()


def test_an_unwritable_info_file(run, tmp_path):
    proof = tmp_path / "started"
    info = "/no/such/folder/info.json"
    refused(run(["touch", str(proof)], "--write-service-info", info), 125, info)
    assert not proof.exists()


def test_a_pipe_that_nobody_reads_is_no_info_file(run, tmp_path):
    proof, pipe = tmp_path / "started", tmp_path / "pipe"
    os.mkfifo(pipe)
    refused(run(["touch", str(proof)], "--write-service-info", str(pipe)), 125, str(pipe),
            "a pipe without a reader")  # fmt: skip
    assert not proof.exists()


def test_a_pipe_with_a_reader_gets_the_uri(run, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert run(["true"], "--write-service-info", str(pipe)).returncode == 0
    assert json.loads(os.read(reader, 1000))["uri"].startswith("http://127.0.0.1:")
    os.close(reader)


@pytest.mark.parametrize(
    "words, meant", [(["tre"], "isoscope tree"), (["rnu", "--", "ls"], "isoscope run"),
                     (["no-such-word"], None)],
)  # fmt: skip
def test_an_unknown_command_is_named_with_the_nearest(words, meant):
    result = subprocess.run([ISOSCOPE, *words], capture_output=True, text=True)
    refused(result, 2, f"unknown command '{words[0]}'")
    assert (f"did you mean `{meant}`?" in result.stderr) if meant else "mean" not in result.stderr


def test_unknown_words_go_to_the_python_client():
    result = subprocess.run([ISOSCOPE, "tree", "--help"], capture_output=True, text=True)
    assert result.returncode == 0
    assert "tree" in result.stdout
    result = subprocess.run([ISOSCOPE, "no-such-word"], capture_output=True, text=True)
    assert result.returncode != 0
    assert "no-such-word" in result.stderr


def test_no_python_is_said_with_what_to_install(tmp_path):
    """A python3 without the module, in the only places that are looked at."""
    helper = tmp_path / "python3"
    helper.write_text("#!/bin/sh\nexit 1\n")
    helper.chmod(0o755)
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("needs root to hide /usr/bin/python3")
    hide = 'mount --bind "$0" "$(readlink -f /usr/bin/python3)" && exec "$@"'
    result = subprocess.run(
        ["unshare", "-m", "sh", "-c", hide, str(helper), ISOSCOPE, "tree"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True,
    )
    if "mount" in result.stderr or "unshare" in result.stderr:
        pytest.skip("may not mount")
    assert result.returncode == 125
    assert "python3-websocket" in result.stderr


# Ways to start a program


def processes(running):
    """Names of what has said hello to a run with --keep whose program has ended."""
    running.wait_for_end()
    return [isolate["name"] for isolate in running.connect().rpc("getVM")["isolates"]]


def test_a_script_is_run_by_its_interpreter(start, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\necho $0 $1\n")
    script.chmod(0o755)
    running = start([str(script), "x"], "--keep")
    assert running.line() == f"{script} x"
    assert processes(running)


def test_a_script_without_a_first_line_goes_to_the_shell(run, tmp_path):
    script = tmp_path / "script"
    script.write_text("echo $1; exit 4\n")
    script.chmod(0o755)
    result = run([str(script), "x"])
    assert (result.stdout, result.returncode) == ("x\n", 4)


def test_a_build_tree_in_a_folder_with_a_space_works(start, tmp_path):
    tree = tmp_path / "my tools: new"
    for part in ("bin/isoscope", "lib/libisoscope.so.0"):
        (tree / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(BUILD / part, tree / part)
    running = start(["echo", "hello"], "--keep", binary=str(tree / "bin" / "isoscope"))
    assert running.line() == "hello"
    assert processes(running)


def test_what_was_preloaded_before_stays(run, compiled):
    """A library that makes puts silent. (A sanitized isoscope wants to be the first otherwise.)"""
    library = compiled(
        "other.so", 'int puts(const char *s) { (void)s; return 0; }', "-shared", "-fPIC", "-w"
    )
    program = compiled("hello", '#include <stdio.h>\nint main(void) { return puts("x") < 0; }')
    ours = {**os.environ, "LD_PRELOAD": library, "ASAN_OPTIONS": "verify_asan_link_order=0"}
    result = run([program], env=ours)
    assert (result.stdout, result.returncode) == ("", 0)


def test_a_program_without_the_sampler_is_told_about(run):
    """Four descriptors are enough for the loader, and too few for the sampler."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    result = run(
        ["/bin/true"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, limit)),
    )
    assert result.returncode == 0
    assert "/bin/true ended without any sample" in result.stderr


def test_refused_perf_falls_back_and_says_the_true_rate():
    """A seccomp filter that denies perf_event_open, as container runtimes have it."""
    busy = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    refuse = [str(BUILD / "tests" / "torture" / "refuse"), "perf"]
    words = [*refuse, ISOSCOPE, "run", "--", PYTHON, "-c", busy]
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode == 77:
        pytest.skip("may not filter system calls")
    assert result.returncode == 0
    assert "refused perf events" in result.stderr
    assert "instead of 1000" in result.stderr


# The end


def test_keep_serves_on_and_ctrl_c_ends_with_the_programs_status(start):
    running = start(["sh", "-c", "exit 9"], "--keep")
    running.wait_for_end()
    assert running.connect().rpc("getVersion")["type"] == "Version"
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(30) == 9


def test_clients_are_told_when_the_program_ends(start):
    running = start([PYTHON, "-c", LISTENER])
    assert running.line() == "ready"
    client = running.connect()
    assert client.rpc("getVersion")["type"] == "Version"
    running.process.terminate()
    assert client.close_code() == 1001
    assert running.process.wait(30) == 3


def test_a_client_that_hangs_cannot_hold_the_status_back(start):
    running = start([PYTHON, "-c", LISTENER])
    assert running.line() == "ready"
    running.connect()  # and never reads
    began = time.monotonic()
    running.process.terminate()
    assert running.process.wait(30) == 3
    assert time.monotonic() - began < 15  # two seconds are promised; the machine may be slow


def test_nothing_is_left_behind(run, tmp_path):
    result = run(["sh", "-c", "echo $ISOSCOPE_SOCKET"],
                 env={**os.environ, "TMPDIR": str(tmp_path), "XDG_RUNTIME_DIR": ""})
    assert result.stdout.startswith(str(tmp_path)) or result.stdout.startswith("/tmp/")
    assert not Path(result.stdout.strip()).parent.exists()


def test_the_run_ends_with_its_program_not_with_what_it_left_behind(run, tmp_path):
    mark = tmp_path / "mark"
    result = run(["sh", "-c", f"(sleep 0.3; touch {mark}) >/dev/null 2>&1 & exit 5"], timeout=30)
    assert result.returncode == 5
    until(mark.exists, "the background process' work")


def test_the_info_file_is_whole_when_it_appears(start, tmp_path):
    running = start(["sleep", "1000"])
    info = json.loads(running.info.read_text()) if running.uri else {}
    assert list(info) == ["uri"]
    assert info["uri"].startswith("http://127.0.0.1:") and info["uri"].endswith("=/")
    assert stat.S_IMODE(running.info.stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == [running.info.name]


def test_the_asked_port_is_used(start):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    running = start(["sleep", "1000"], "--port", str(port))
    assert running.port == port
