"""What instructions weigh, of a profile made by hand."""

from __future__ import annotations

from isoscope import Function, Library, Process, Profile
from isoscope.trees.instructions import weigh

APP = Library("libraries/1", "file:///app", "app", "/app")
LIBC = Library("libraries/2", "file:///libc.so.6", "libc.so.6", "/libc.so.6")
MAIN = Function("functions/1/10", "main", APP)
LESS = Function("functions/1/i1", "less", APP)
READ = Function("functions/2/10", "read", LIBC)
CODE = [
    {"offset": 0x10, "bytes": "e80b000000", "mnemonic": "call", "operands": "0x20", "called": "f"},
    {"offset": 0x15, "bytes": "c3", "mnemonic": "ret", "line": 3, "file": "/a.c"},
]  # fmt: skip


def profile_of(*stacks):
    """Of each: its frames, outermost first, and its time."""
    profile = Profile(pcs=True)
    thread = profile.thread(Process("isolates/1", "app"), 1)
    for us, *frames in stacks:
        node = profile.stack_node([profile.frame(function, 0, inlined, pc) for function, pc, inlined in frames])
        profile.add_sample(us, thread, node, weight_us=us)
    return profile


def weights(*stacks):
    return [
        (one.self_count, one.self_us, one.total_count, one.total_us)
        for one in weigh(profile_of(*stacks), APP, CODE)
    ]


def test_a_callers_last_byte_is_its_call_and_has_what_it_called():
    in_callee = (500, (MAIN, 0x14, False), (READ, 0x10, False))
    assert weights(in_callee, (70, (MAIN, 0x15, False))) == [(0, 0, 1, 500), (1, 70, 1, 70)]


def test_an_inlined_function_is_part_of_the_instruction():
    assert weights((30, (MAIN, 0x10, False), (LESS, 0x10, True)))[0] == (1, 30, 1, 30)


def test_a_sample_counts_once_however_deep_it_recurs():
    recursion = [(MAIN, 0x14, False)] * 3 + [(MAIN, 0x15, False)]
    assert weights((10, *recursion)) == [(0, 0, 1, 10), (1, 10, 1, 10)]


def test_another_librarys_code_has_the_same_offsets():
    assert weights((10, (READ, 0x15, False))) == [(0, 0, 0, 0), (0, 0, 0, 0)]


def test_what_is_told_of_an_instruction_comes_through():
    call, ret = weigh(profile_of(), APP, CODE)
    assert (call.text, call.called, call.line, call.code) == ("call 0x20", "f", 0, b"\xe8\x0b\0\0\0")
    assert (ret.text, ret.called, ret.line, ret.file) == ("ret", "", 3, "/a.c")
