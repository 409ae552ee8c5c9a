"""A program under `isoscope run` writes the same and ends the same as without it."""

from __future__ import annotations

import os
import subprocess

import pytest
from harness import DEADLINE_S, ISOSCOPE, NO_PERF_NOTICE, SWITCHES_NOTICE, workload

THREADS = """
import hashlib, threading
digests = {}
def work(n):
    digests[n] = hashlib.sha256(bytes(range(256)) * 20000).hexdigest()[: n + 4]
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(digests.items()))
"""

FORKS = """
import os, sys
for n in range(4):
    if os.fork() == 0:
        os._exit(sum(i * i for i in range(300000)) % 7 + n)
print(sorted(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(4)))
"""

WORDS = "my %n; $n{$_ * 7919 % 1009} += $_ for 1 .. 400000; print qq($_ $n{$_}\\n) for sort keys %n"

SQL = """
create table t(a integer, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
insert into t select i, hex(i * 7919) from n;
select count(*), sum(a), max(b) from t where b like '%3%';
"""

GIT = """
git init -q . && git config user.name n && git config user.email e@example.org
for i in 1 2 3 4 5; do echo $i > f && git add f && git commit -q -m "change $i"; done
git log --format='%s %an' --stat && git fsck 2>&1 && git gc -q
"""

C_SOURCE = '#include <stdio.h>\nint main(void) { for (int i = 0; i < 9; i++) puts("x"); }\n'

# What isoscope itself may say here; a program it never got into would be one line more.
ISOSCOPE_SAYS = (b"The Dart VM service is listening on ", NO_PERF_NOTICE.encode())

# Name, command, standard input. $LINES is a file of 200,000 numbers.
PROGRAMS = [
    ("ls", "ls -lR /usr/share/doc", ""),
    ("sort with threads", "sort --parallel=2 -S 1M -k2 $LINES", ""),
    ("awk", "awk '{ n[$1 % 97] += $2 } END { for (i = 0; i < 97; i++) print i, n[i] }' $LINES", ""),
    ("tar and gzip", "tar -C /usr/include --sort=name -cf - linux | gzip -n", ""),
    ("xz with threads", "xz -T2 --block-size=256KiB -1 -c $LINES", ""),
    ("bash pipes", "bash -c 'for i in {1..20}; do echo $i | tr 0-9 a-j | rev; done | sort'", ""),
    ("gcc", "gcc -O2 -S -x c -o - -", C_SOURCE),
    ("git", GIT, ""),
    ("sqlite3", "sqlite3", SQL),
    ("perl", f"perl -e '{WORDS}'", ""),
    ("python threads", "/usr/bin/python3 -", THREADS),
    ("python forks", "/usr/bin/python3 -", FORKS),
    ("standard input", "cat", "some text\nand more"),
    ("standard error", "ls /nowhere; echo out; echo err >&2", ""),
    ("exit status", "exit 7", ""),
    ("own SIGPROF", workload("own_sigprof"), ""),
    ("closed descriptors", workload("closes_fds"), ""),
    ("threads", workload("threads"), ""),
    ("forks", workload("forks"), ""),
    ("deep recursion", workload("deep_recursion"), ""),
    ("plugin", workload("dlopen_plugin"), ""),
    ("segmentation fault", "kill -SEGV $$", ""),
    ("terminated", "echo before; kill -TERM $$; echo after", ""),
]


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "lines"
    path.write_text("".join(f"{i} {i * 7919 % 99991}\n" for i in range(200000)))
    return str(path)


def outcome(command, text, folder, lines):
    folder.mkdir()
    environment = {**os.environ, "LINES": lines, "LC_ALL": "C", "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(
        command,
        input=text.encode(),
        capture_output=True,
        cwd=folder,
        env=environment,
        timeout=DEADLINE_S,
    )
    said = [line for line in done.stderr.splitlines()
            if not line.startswith(ISOSCOPE_SAYS) and SWITCHES_NOTICE.encode() not in line]
    return done.returncode, done.stdout, said


@pytest.mark.parametrize("name, script, text", PROGRAMS, ids=[row[0] for row in PROGRAMS])
def test_output_and_status_are_those_without_isoscope(name, script, text, tmp_path, lines):
    command = ["sh", "-c", script]
    alone = outcome(command, text, tmp_path / "alone", lines)
    sampled = outcome([ISOSCOPE, "run", "--", *command], text, tmp_path / "sampled", lines)
    assert sampled == alone
