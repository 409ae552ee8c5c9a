"""Programs below the one that was started which cannot be sampled: it is said, with the reason."""

import os
import resource
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import ISOSCOPE, end, until

# Until its input ends, and a moment before it is what it is named for.
WAITS = "int main(void) { char c; return read(0, &c, 1) != 0; }\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """How a program that waits is built by each of the compilers that are here."""
    folder = tmp_path_factory.mktemp("built")
    source = folder / "waits.c"
    source.write_text(f"#include <unistd.h>\n{WAITS}")

    def build(name: str, *compiler: str) -> str:
        if not shutil.which(compiler[0]):
            pytest.skip(f"there is no {compiler[0]}")
        program = folder / name
        if not program.exists():
            subprocess.run([*compiler, "-o", program, source], check=True)
        os.chmod(folder, 0o755)
        return str(program)

    return build


@contextmanager
def running(*command: str, stderr, **popen):
    process = subprocess.Popen(
        [ISOSCOPE, "run", "--quiet", "--", *command],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=stderr, **popen,
    )  # fmt: skip
    try:
        yield process
        process.stdin.close()
        assert process.wait(30) == 0
    finally:
        end(process)


def said_of(tmp_path, *command: str, **popen) -> str:
    """The first line that isoscope says while it runs."""
    path = tmp_path / "stderr"
    with open(path, "wb") as stderr, running(*command, stderr=stderr, **popen):
        until(lambda: b"not sampled" in path.read_bytes(), "a word on it")
    return path.read_text()


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_static_program_below_a_shell(built, tmp_path, shell):
    program = built("static", "gcc", "-static")
    said = said_of(tmp_path, shell, "-c", f"{program}; true")
    assert f"isoscope: {program} (" in said and "it is static" in said
    assert said.count("not sampled") == 1


def test_a_program_for_musl_below_a_shell(built, tmp_path):
    program = built("musl", "musl-gcc")
    said = said_of(tmp_path, "sh", "-c", f"{program}; true")
    assert f"isoscope: {program} (" in said and "it uses musl" in said


FORKS_BELOW_A_LIMIT = """
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    struct rlimit none = { 3, 3 };
    char c;

    if (fork() == 0) {
        if (setrlimit(RLIMIT_NOFILE, &none))
            return 1;
        if (fork() == 0)
            while (read(0, &c, 1))
                ;
        else
            wait(NULL);
        _exit(0);
    }
    wait(NULL);
    return 0;
}
"""


def test_a_forked_child_that_no_limit_leaves_a_descriptor(compiled, tmp_path):
    program = compiled("limited", FORKS_BELOW_A_LIMIT)
    said = said_of(tmp_path, program)
    assert f"isoscope: {program} (" in said and "it has no file descriptors left" in said
    assert said.count("not sampled") == 1


def test_a_program_without_the_preload(built, tmp_path):
    program = built("plain", "gcc")
    said = said_of(tmp_path, "env", "-i", program)
    assert f"isoscope: {program} (" in said and "LD_PRELOAD was removed" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("way", ["setpriv", "su"])
def test_a_program_of_another_user(built, tmp_path, way):
    program = shutil.which("cat")
    command = {
        "setpriv": ["setpriv", "--reuid=65534", program],
        "su": ["su", "nobody", "-s", "/bin/sh", "-c", f"exec {program}"],
    }[way]
    said = said_of(tmp_path, *command)
    assert "runs as another user" in said


def test_a_program_that_sees_another_folder(tmp_path, short_path):
    """As in a container with its own /tmp."""
    script = f"mount -t tmpfs none {short_path} && exec cat"
    probe = subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True)
    if probe.returncode:
        pytest.skip("needs user namespaces")
    said = said_of(tmp_path, "unshare", "-rm", "sh", "-c", script,
                   env={**os.environ, "XDG_RUNTIME_DIR": str(short_path)})  # fmt: skip
    assert "sees other files in isoscope's folder" in said


def test_clients_hear_of_it_at_once_and_stats_show_it(start, built):
    program = built("static", "gcc", "-static")
    running = start(["sh", "-c", f"{program}; {program}; true"], "--keep")
    client = running.connect()
    until(lambda: client.rpc("getVM").get("_unsampled"), "a word on it")
    (told,) = client.rpc("getVM")["_unsampled"]
    assert (told["exe"], told["count"]) == (program, 1) and "it is static" in told["reason"]
    assert Path(f"/proc/{told['pid']}/exe").resolve() == Path(program).resolve()
    shown = subprocess.run([ISOSCOPE, "stats", "--interval", "0", str(running.info)],
                           capture_output=True, text=True, check=True, timeout=60)
    assert f"not sampled: {program} ({told['pid']}): it is static" in shown.stdout


def test_a_program_that_lies_in_a_folder_named_valgrind_is_not_taken_for_it(built, tmp_path):
    program = tmp_path / "valgrind" / "tool-linux" / "static"
    program.parent.mkdir(parents=True)
    shutil.copy(built("static", "gcc", "-static"), program)
    assert "it is static" in said_of(tmp_path, "sh", "-c", f"{program}; true")


def test_a_tool_of_valgrind(built, tmp_path):
    program = tmp_path / "valgrind" / "memcheck-amd64-linux"
    program.parent.mkdir()
    shutil.copy(built("static", "gcc", "-static"), program)
    said = said_of(tmp_path, "sh", "-c", f"{program}; true")
    assert "it runs under valgrind" in said and "statically" not in said


def test_a_program_that_was_started_with_hardly_any_descriptors(built, tmp_path):
    program = built("plain", "gcc")
    said = said_of(tmp_path, "bash", "-c", f"ulimit -n 4; {program}; true")
    assert f"isoscope: {program} (" in said and "it has no file descriptors left" in said
    assert "LD_PRELOAD" not in said


GO_WAITS = """package main

import "os"

func main() { os.Stdin.Read(make([]byte, 1)) }
"""


@pytest.fixture(scope="module")
def go_pie(tmp_path_factory):
    """Go without cgo, which the loader starts."""
    tool = shutil.which("go", path=f"/usr/bin:{os.environ['PATH']}") or pytest.skip("there is no go")
    folder = tmp_path_factory.mktemp("go")
    (folder / "main.go").write_text(GO_WAITS)
    program = folder / "waits"
    quiet = {"GOFLAGS": "", "GOTOOLCHAIN": "local", "GOCACHE": str(folder / "cache"),
             "GOPATH": str(folder / "path"), "CGO_ENABLED": "0", "GO111MODULE": "off"}  # fmt: skip
    subprocess.run([tool, "build", "-buildmode=pie", "-o", program, "main.go"], cwd=folder,
                   check=True, env={**os.environ, **quiet})  # fmt: skip
    folder.chmod(0o755)
    return str(program)


def test_go_without_cgo_that_the_loader_starts(go_pie, tmp_path):
    said = said_of(tmp_path, "sh", "-c", f"{go_pie}; true")
    assert f"isoscope: {go_pie} (" in said and "it is a Go program without cgo" in said
    assert "signal handlers" not in said and "statically" not in said
    refused = subprocess.run([ISOSCOPE, "run", "--", go_pie], capture_output=True, text=True,
                             check=False)  # fmt: skip
    assert refused.returncode == 125 and "is a Go program without cgo" in refused.stderr


# read(0, ..., 1) and exit(0).
READS_32 = """
.globl _start
_start: mov $3, %eax
        xor %ebx, %ebx
        lea -16(%esp), %ecx
        mov $1, %edx
        int $0x80
        mov $1, %eax
        xor %ebx, %ebx
        int $0x80
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="its code is x86's")
def test_a_program_of_32_bits(tmp_path):
    source, program = tmp_path / "reads.s", tmp_path / "reads"
    source.write_text(READS_32)
    subprocess.run(["gcc", "-m32", "-nostdlib", "-static", "-o", program, source], check=True)
    if subprocess.run([program], stdin=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("this kernel runs no 32-bit programs")
    said = said_of(tmp_path, "sh", "-c", f"{program}; true")
    assert "it is for another processor, or 32-bit" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a program set-user-ID to another")
def test_a_program_that_gains_rights(tmp_path, short_path):
    """Of root's, whose loader heeds no LD_PRELOAD when another starts it."""
    if "NoNewPrivs:\t1" in Path("/proc/self/status").read_text():
        pytest.skip("no program gains rights below one that has given that up")
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    environment = {**os.environ, "HOME": str(short_path), "TMPDIR": str(short_path)}
    environment.pop("XDG_RUNTIME_DIR", None)
    short_path.chmod(0o777)
    if subprocess.run([*user, ISOSCOPE, "run", "--quiet", "true"], capture_output=True,
                      env=environment, check=False).returncode:
        pytest.skip("another user may not run what was built here")
    program = short_path / "cat"
    shutil.copy("/bin/cat", program)
    program.chmod(0o4755)
    with subprocess.Popen([*user, ISOSCOPE, "run", "--quiet", "sh", "-c", f"{program}; true"],
                          stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment) as process:
        try:
            said = next((line for line in process.stderr if line.startswith("isoscope: cat (")), "")
            process.stdin.close()
            assert process.wait(30) == 0
        finally:
            end(process)
    assert "gain rights (set-user-ID)" in said


def test_a_forked_child_that_waits_before_it_becomes_another_program(built, tmp_path):
    program = built("static", "gcc", "-static")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    said = said_of(tmp_path, "bash", "-c", f"(read -t 2 -u 9; exec {program}) 9<>{pipe}; true")
    assert f"isoscope: {program} (" in said and "it is static" in said


def test_a_program_whose_name_is_not_text_is_counted(start, built, tmp_path):
    program = bytes(tmp_path) + b"/a\x1b\xff"
    shutil.copy(built("static", "gcc", "-static"), program)
    running = start(["sh", "-c", 'exec 3<&0; "$0" <&3 & "$0"; wait', program], "--keep")
    client = running.connect()
    until(lambda: sum(told["count"] for told in client.rpc("getVM").get("_unsampled", [])) == 2,
          "a word on both")  # fmt: skip
    (told,) = client.rpc("getVM")["_unsampled"]
    assert told["exe"] == f"{tmp_path}/a\x1b\ufffd"


def test_what_is_sampled_after_all_is_told_of_no_more(start):
    """A shell without the preload, which becomes one with it."""
    later = 'read line; LD_PRELOAD=$0 ISOSCOPE_SOCKET=$1 exec bash -c "read line"'
    script = f"exec env -i bash -c '{later}' $LD_PRELOAD $ISOSCOPE_SOCKET"
    running = start(["bash", "-c", script], "--keep")
    client = running.connect()
    until(lambda: client.rpc("getVM").get("_unsampled"), "a word on it")
    running.process.stdin.write("go on\n")
    running.process.stdin.flush()
    until(lambda: "_unsampled" not in client.rpc("getVM"), "nothing more of it")


def test_clients_hear_of_a_run_of_which_nothing_is_sampled(start):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    running = start(
        ["/bin/true"], "--keep",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, limit)),
    )
    running.wait_for_end()
    (told,) = running.connect().rpc("getVM")["_unsampled"]
    assert told["exe"] == "/bin/true" and "did not start in it" in told["reason"]


def test_nothing_is_said_of_what_is_sampled(tmp_path):
    path = tmp_path / "stderr"
    with open(path, "wb") as stderr:
        script = "cat; /bin/true & (exec /bin/true); wait"
        with running("bash", "-c", script, stderr=stderr):
            pass
    assert path.read_text() == "" or "timers give at most" in path.read_text()
