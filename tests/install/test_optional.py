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


EVENTS = r"""
#ifdef OPTIONAL
#include <isoscope/optional.h>
#endif
#ifdef __cplusplus
#include <isoscope/event.hpp>
#include <isoscope/loop.hpp>
#else
#include <isoscope/isoscope.h>
#endif

int main(void)
{
    const struct isoscope_frame frame = { sizeof frame, 0, 1, 2, 3, 0, 0, 0 };
    int evaluated = 0;
    ISOSCOPE_SCOPE("GC", "scope");
    ISOSCOPE_BEGIN("GC", "begin");
    ISOSCOPE_BEGIN_WITH("own", "with", ISOSCOPE_INT("n", ++evaluated), ISOSCOPE_TEXT("why", "so"));
    ISOSCOPE_END("own");
    ISOSCOPE_COUNTER("VM", "heap", ISOSCOPE_UINT("used", 1), ISOSCOPE_DOUBLE("share", 0.5));
    ISOSCOPE_ASYNC_BEGIN("Dart", "async", 7);
    ISOSCOPE_FLOW_END("Dart", "flow", 7);
    ISOSCOPE_COMPLETE_WITH("API", "complete", isoscope_event_now_ns(), 2, ISOSCOPE_INT("n", 1));
    isoscope_event_frame(&frame);
    {
        const struct isoscope_loop_options limits = { sizeof limits, 10, 20, 30, 40 };
        struct isoscope_loop *loop = isoscope_loop_register("loop", &limits);
        isoscope_loop_begin(loop);
        isoscope_loop_idle_enter(loop);
        isoscope_loop_idle_leave(loop);
        isoscope_loop_progress(loop);
        isoscope_loop_end(loop);
        isoscope_loop_set_ping(loop, 0, 0);
        isoscope_loop_unregister(loop);
    }
#ifdef __cplusplus
    isoscope::loop loop("loop");
    {
        isoscope::dispatch dispatch(loop);
        isoscope::idle idle(loop);
        loop.progress();
    }
    ISOSCOPE_SLICE("API", "slice");
    ISOSCOPE_SLICE_WITH("API", "slice", isoscope::arg("n", 1u), isoscope::arg("x", 0.5));
#endif
    return evaluated;
}
"""


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_events_build_without_a_warning_and_cost_nothing_alone(local, tmp_path, compiler, flags):
    """Nor are their arguments evaluated: the program returns how often."""
    binary = shutil.which(compiler) or pytest.skip(f"needs {compiler}")
    if "gold" in flags and not shutil.which("ld.gold"):
        pytest.skip("needs ld.gold")
    source, program = tmp_path / f"events.{COMPILERS[compiler]}", tmp_path / "program"
    source.write_text(EVENTS)
    output_of(binary, "-x", COMPILERS[compiler], *STRICT, *flags.split(), "-DOPTIONAL",
              f"-I{local.prefix / 'include'}", "-o", program, source)
    output_of(program)
    output_of(binary, "-x", COMPILERS[compiler], *STRICT, *flags.split(), f"-I{local.prefix / 'include'}",
              "-o", program, source, f"-L{local.libdir}", "-lisoscope", f"-Wl,-rpath,{local.libdir}")
    output_of(program)
