"""A function's instructions: what they are, what each weighs, why there are none."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from harness import DEADLINE_S, ISOSCOPE, profiled

from isoscope import Client

SOURCE = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline, noclone)) uint64_t mix(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3;
}
__attribute__((noinline, noclone)) uint64_t hot(uint64_t rounds)
{
    volatile uint64_t sum = mix(rounds);
    for (uint64_t i = 0; i < rounds; i++)
        sum += i % 7;
    return sum;
}
int main(int count, char **words)
{
    uint64_t sum = 0;
    for (long left = atol(words[1]); left > 0; left--)
        sum += hot(10 * 1000 * 1000);
    printf("%lu\\n", sum);
    return 0;
}
"""
LOOP = range(13, 15)  # lines


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    compiler = shutil.which("cc") or pytest.skip("needs a C compiler")
    folder = tmp_path_factory.mktemp("hot")
    (folder / "hot.c").write_text(SOURCE)
    command = [compiler, "-O1", "-g", "-Wl,--build-id", "-o", str(folder / "hot"), "hot.c"]
    subprocess.run(command, check=True, cwd=folder)
    return folder / "hot"


def disassembled(client: Client, name: str):
    functions = client.call("_getCpuSamples")["functions"]
    function = next(one for one in functions if one["name"] == name)
    return client.call("_getDisassembly", functionId=function["id"])


@pytest.fixture(scope="module")
def told(program):
    """isoscope disassemble --json of the hottest function."""
    done = subprocess.run(
        [ISOSCOPE, "disassemble", "--json", "--", str(program), "40"], capture_output=True, text=True,
        timeout=DEADLINE_S,
    )  # fmt: skip
    if "built without capstone" in done.stderr:
        pytest.skip("isoscope was built without capstone")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_capstone_that_is_missing_is_named(told, program):
    """It is loaded when code is asked for: all else works without it."""
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("needs user namespaces")
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    hide = "".join(f"mount --bind /dev/null {path} && "
                   for path in re.findall(r"libcapstone\.so\.\d+ .*=> (\S+)", listed))
    if not hide:
        pytest.skip("needs a capstone that ldconfig knows")
    words = [ISOSCOPE, "disassemble", "--", str(program), "10"]
    done = subprocess.run(["unshare", "-rm", "sh", "-c", f'{hide}exec "$@"', "sh", *words],
                          capture_output=True, text=True, timeout=DEADLINE_S)  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert re.search(r"libcapstone\.so\.\d+ is missing: install libcapstone\d+", done.stderr)


def test_the_time_of_a_loop_is_in_its_instructions(told):
    assert told["function"] == "hot"
    code = told["instructions"]
    own = sum(one["self"] for one in code)
    assert own > 50
    inside = sum(one["self"] for one in code if one["line"] in LOOP)
    assert inside >= 0.95 * own
    hottest = max(code, key=lambda one: one["self"])
    assert hottest["line"] in LOOP


def test_calls_have_names_and_what_they_called_as_total(program, told):
    calls = {one["called"]: one for one in told["instructions"] if one["called"]}
    assert list(calls) == ["mix"]
    done = subprocess.run(
        [ISOSCOPE, "disassemble", "--json", "--of", "main", "--", str(program), "40"],
        capture_output=True, text=True, timeout=DEADLINE_S,
    )  # fmt: skip
    main = json.loads(done.stdout.splitlines()[-1])
    call = next(one for one in main["instructions"] if one["called"] == "hot")
    assert call["self"] == 0
    assert call["total"] >= 0.95 * main["sampleCount"]


def test_it_is_what_objdump_says(program, told):
    objdump = shutil.which("objdump") or pytest.skip("needs objdump")
    said = subprocess.run(
        [objdump, "-d", "-M", "intel", "--no-show-raw-insn", "--disassemble=hot", str(program)],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    theirs = re.findall(r"^ +([0-9a-f]+):\t(\S+)", said, re.MULTILINE)
    ours = [(f"{one['offset']:x}", one["text"].split()[0]) for one in told["instructions"]]
    assert [plain(*one) for one in theirs] == [plain(*one) for one in ours]


def plain(offset: str, mnemonic: str) -> tuple[str, str]:
    """Some instructions have two names."""
    return offset, {"movabs": "mov", "jz": "je", "jnz": "jne"}.get(mnemonic, mnemonic)


def test_a_file_that_was_replaced_is_not_disassembled(program, told, tmp_path):
    copy = tmp_path / "copy"
    shutil.copy(program, copy)
    with profiled([str(copy), "10"]) as service, Client(service.uri) as client:
        assert disassembled(client, "hot")["instructions"]
        copy.unlink()
        shutil.copy(ISOSCOPE, copy)
        reply = disassembled(client, "hot")
        assert (reply["reason"], reply["instructions"]) == (
            "the file was replaced by another build", []
        )  # fmt: skip
        copy.unlink()
        assert disassembled(client, "hot")["reason"] == "deleted, and its process has ended"


def test_a_profile_file_has_no_code(program, tmp_path):
    path = tmp_path / "profile.json"
    with profiled([str(program), "10"]) as service, Client(service.uri) as client:
        path.write_text(json.dumps(client.call("_getCpuSamples")))
    done = subprocess.run(
        [ISOSCOPE, "disassemble", str(path)], capture_output=True, text=True, timeout=DEADLINE_S
    )
    assert done.returncode == 2
    assert "a profile file does not contain machine code" in done.stderr
