"""What isoscope gives as a reason is the cause, which each of these brings about."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys

import pytest
from harness import BUILD, DEADLINE_S, ISOSCOPE, workload

REFUSE = str(BUILD / "tests" / "torture" / "refuse")
BUSY = [workload("spin_two_to_one"), "0.3"]


def outcome(*words: str, **popen) -> subprocess.CompletedProcess:
    return subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE_S, **popen)


def refused(result, status: int, *words: str) -> None:
    assert (result.returncode, result.stdout) == (status, ""), result.stderr
    for word in words:
        assert word in result.stderr, result.stderr


# Timers


@pytest.mark.parametrize(
    "error, cause",
    [
        ("EPERM", "a seccomp filter forbids them"),
        ("EACCES", "kernel.perf_event_paranoid"),
        ("ENOSYS", "it has none that trap, or seccomp"),
    ],
)
def test_why_there_are_no_perf_events(error, cause):
    result = outcome(REFUSE, "perf", error, ISOSCOPE, "run", "--stats", "--", *BUSY)
    if result.returncode == 77:
        pytest.skip("may not filter system calls")
    assert f"refused perf events ({cause}" in result.stderr.replace("see ", "")
    for other in ("seccomp filter forbids", "perf_event_paranoid", "none that trap"):
        assert (other in result.stderr) == (other in cause)


def test_a_limit_of_pending_signals_leaves_no_timer():
    def limited():
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0))

    result = outcome(ISOSCOPE, "run", "--stats", "--timer", "cpu", "--", *BUSY, preexec_fn=limited)
    assert "ulimit -i" in result.stderr and "uses or ignores every signal" not in result.stderr


def test_a_program_that_begins_with_every_signal_ignored_is_not_said_to_be_refused_a_timer():
    def ignoring():
        for number in (signal.SIGURG, 16, signal.SIGPROF):  # 16: SIGSTKFLT
            signal.signal(number, signal.SIG_IGN)

    result = outcome(ISOSCOPE, "run", "--stats", "--timer", "cpu", "--", *BUSY, preexec_fn=ignoring)
    assert "uses or ignores every signal" in result.stderr and "ulimit -i" not in result.stderr


TAKES_ALL = """
#include <signal.h>
#include <time.h>
static void ignored(int number) { (void)number; }
int main(void)
{
    struct timespec used;

    for (int number = 1; number < NSIG; number++)
        signal(number, ignored);
    for (volatile unsigned sum = 0;; sum++)
        if (!(sum % 100000) && !clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) &&
            used.tv_nsec > 200 * 1000 * 1000)
            return 0;
}
"""


def test_a_program_that_takes_all_signals_is_not_said_to_be_refused_a_timer(run, compiled):
    ended = run([compiled("takes", TAKES_ALL, "-O1")], "--stats", "--quiet")
    assert ended.returncode == 0 and "refused a timer" not in ended.stderr


# Programs


def test_a_file_without_exec_permission_and_one_that_is_no_file(run, tmp_path):
    plain, pipe = tmp_path / "plain", tmp_path / "pipe"
    plain.write_text("#!/bin/sh\n")
    os.mkfifo(pipe)
    pipe.chmod(0o755)
    refused(run([str(plain)]), 126, "cannot execute /", "chmod +x")
    refused(run([str(pipe)]), 126, "cannot execute", "it is not a regular file")


def unshared(script: str, *words: str) -> subprocess.CompletedProcess:
    if outcome("unshare", "-rm", "true").returncode:
        pytest.skip("needs user namespaces")
    env = {n: v for n, v in os.environ.items() if n not in ("XDG_RUNTIME_DIR", "TMPDIR")}
    return outcome("unshare", "-rm", "sh", "-c", f'{script} && exec "$@"', "sh", *words, env=env)


def test_a_mount_with_noexec(tmp_path):
    program = tmp_path / "true"
    script = f"mount -t tmpfs -o noexec none {tmp_path} && cp /bin/true {program}"
    refused(unshared(script, ISOSCOPE, "run", "--", str(program)), 126, "mounted noexec")


def script(path, first_line: str) -> list[str]:
    path.write_bytes(first_line.encode())
    path.chmod(0o755)
    return [str(path)]


def test_what_is_wrong_with_a_scripts_interpreter(run, tmp_path):
    (tmp_path / "plain").write_text("")
    told = [
        ("#!/no/such/shell\n", "its interpreter /no/such/shell does not exist"),
        (f"#!{tmp_path}/plain\n", "script: cannot execute its interpreter "),
        (f"#!{tmp_path}/plain\n", "it has no exec permission"),
        ("#!/bin/sh\r\necho\r\n", "ends with a carriage return"),
    ]
    for line, words in told:
        refused(run(script(tmp_path / "script", line)), 127, words)


def test_a_program_whose_loader_is_missing(run, compiled):
    program = compiled("lost", "int main(void) { return 0; }", "-Wl,--dynamic-linker=/no/ld.so")
    refused(run([program]), 127, "needs the loader /no/ld.so", "No such file")


# Places

KEPT = f"mount --bind '{BUILD}' /mnt"  # it may lie below what is hidden


def test_no_folder_can_be_made_and_each_ones_cause_is_told(tmp_path):
    script = f"{KEPT} && mount -t tmpfs -o ro none /tmp && export TMPDIR=relative XDG_RUNTIME_DIR='/a b'"
    told = ("/tmp: Read-only file system", "relative: it is no absolute path", "/a b: LD_PRELOAD")
    refused(unshared(script, "/mnt/bin/isoscope", "run", "--", "/bin/true"), 125, *told)


def test_a_full_file_system_is_named():
    """Two files: its root and the run's folder."""
    script = f"{KEPT} && mount -t tmpfs -o nr_inodes=2 none /tmp"
    result = unshared(script, "/mnt/bin/isoscope", "run", "--", "/bin/true")
    refused(result, 125, "cannot open the feed's socket: No space left on device",
            ".tables: No space left on device")


TAKES_ALL_PORTS = """
import os, pathlib, socket, sys
pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("40000 40001")
taken = [socket.create_server(("127.0.0.1", port)) for port in (40000, 40001)]
[one.set_inheritable(True) for one in taken]
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_that_no_port_is_free_is_told_with_what_needs_none():
    """In a network of its own, where two are to be had."""
    inside = ["unshare", "-rn", sys.executable, "-c"]
    if outcome(*inside, TAKES_ALL_PORTS, "/bin/true").returncode:
        pytest.skip("needs user and network namespaces")
    result = outcome(*inside, TAKES_ALL_PORTS, ISOSCOPE, "run", "--", "/bin/true")
    refused(result, 125, "no port is free on 127.0.0.1; --socket PATH needs none")


def test_who_sits_at_the_socket_is_told_by_what_he_is(run, tmp_path):
    path = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(path)
        result = run(["/bin/true"], "--socket", path)
        refused(result, 125, path, os.strerror(91))  # EPROTOTYPE
        assert "another service listens" not in result.stderr
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(path + "2")
        other.listen()
        refused(run(["/bin/true"], "--socket", path + "2"), 125, "another service listens")


def test_a_folder_that_is_gone_is_not_a_path_that_is_too_long(tmp_path):
    words = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    result = outcome("sh", "-c", words, "sh", ISOSCOPE, "run", "--socket", "s", "--", "/bin/true",
                     cwd=tmp_path)  # fmt: skip
    refused(result, 2, "the current folder: No such file or directory")


def test_no_name_is_not_said_to_let_everybody_in(run):
    refused(run(["/bin/true"], "--allow-host", ""), 2, "'' is no name")
    refused(run(["/bin/true"], "--allow-host", "*"), 2, "'*' would allow everyone")


# Ends


def close_reason(connection) -> str:
    while True:
        opcode, frame = connection.socket.recv_data_frame(control_frame=True)
        if opcode == 8:
            return frame.data[2:].decode()


def test_clients_are_told_whether_the_program_has_ended_or_the_service_shall(start):
    told = start([sys.executable, "-c", "input()"], "--keep")
    client = told.connect()
    client.rpc("getVersion")
    told.process.stdin.close()
    told.wait_for_end()
    told.process.send_signal(signal.SIGTERM)
    assert close_reason(client) == "the service was told to end"
    ended = start([sys.executable, "-c", "input()"])
    client = ended.connect()
    client.rpc("getVersion")
    ended.process.stdin.close()
    assert close_reason(client) == "the program has ended"


def test_python_without_the_module_is_named(tmp_path):
    helper = tmp_path / "python3"
    helper.write_text("#!/bin/sh\nexit 1\n")
    helper.chmod(0o755)
    hide = f'mount --bind {helper} "$(readlink -f /usr/bin/python3)"'
    result = unshared(hide, ISOSCOPE, "tree")
    refused(result, 125, "/usr/bin/python3 cannot `import websocket`", "python3-websocket")
    hide = f'mount --bind /dev/null "$(readlink -f /usr/bin/python3)" && export PATH={tmp_path}/x'
    refused(unshared(hide, ISOSCOPE, "tree"), 125, "python3 not found")
