"""isoscope/optional.h: one binary that does with the library and without."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from places import output_of

CONSUMER = Path(__file__).parent / "consumer/consumer.c"
COMPILERS = {"cc": "c", "c++": "c++", "clang": "c", "clang++": "c++"}
# Where a weak name's fate is decided differs with each of these.
FLAGS = ["", "-O2", "-no-pie -fno-pie", "-no-pie -fno-pie -O2 -flto", "-fuse-ld=gold -no-pie -fno-pie",
         "-masm=intel"]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


@pytest.fixture(scope="module")
def local(install):
    return install("local")


def compiled(local, folder: Path, compiler: str, *flags: str) -> Path:
    binary = shutil.which(compiler) or pytest.skip(f"needs {compiler}")
    if any("gold" in flag for flag in flags) and not shutil.which("ld.gold"):
        pytest.skip("needs ld.gold")
    program = folder / "program"
    output_of(binary, "-x", COMPILERS[compiler], *STRICT, *flags, "-DOPTIONAL",
              f"-I{local.prefix / 'include'}", "-o", program, CONSUMER)
    return program


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_calls_work_only_where_the_sampler_is_preloaded(local, tmp_path, compiler, flags):
    program = compiled(local, tmp_path, compiler, *flags.split())
    assert "libisoscope" not in output_of("readelf", "-d", program)
    assert output_of(program) == "alone, copies: 0\n"
    assert output_of(local.command, "run", "--", program) == "sampled, copies: 1\n"


def test_the_calls_do_nothing_in_a_static_program(local, tmp_path):
    assert output_of(compiled(local, tmp_path, "cc", "-static")) == "alone, copies: 0\n"


def test_the_calls_work_where_the_library_is_linked(local, tmp_path):
    program = compiled(local, tmp_path, "cc", f"-L{local.libdir}", "-Wl,--no-as-needed", "-lisoscope",
                       f"-Wl,-rpath,{local.libdir}")
    assert output_of(program) == "alone, copies: 1\n"
    assert output_of(local.command, "run", "--", program) == "sampled, copies: 1\n"


@pytest.mark.parametrize("header", ["isoscope", "optional"])
@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_header_is_enough_by_itself(local, header, language):
    compiler = shutil.which("cc" if language == "c" else "c++") or pytest.skip("needs a compiler")
    text = f"#include <isoscope/{header}.h>\n"
    output_of(compiler, "-x", language, *STRICT, f"-I{local.prefix / 'include'}", "-fsyntax-only", "-",
              input=text)


def test_every_call_has_its_stand_in(local):
    """A new function of isoscope.h is one of optional.h's, too."""
    include = local.prefix / "include/isoscope"
    declared = output_of("cc", "-E", "-P", include / "isoscope.h")
    calls = {word.split("(")[0].lstrip("*") for word in declared.split()
             if word.lstrip("*").startswith("isoscope_") and "(" in word}
    text = (include / "optional.h").read_text()
    assert len(calls) > 10
    for call in calls:
        short = call.removeprefix("isoscope_")
        assert re.search(rf"#define {call} +isoscope_optional_{short}\n", text)
        assert f"#pragma weak {call}\n" in text
