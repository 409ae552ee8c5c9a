"""Names that are given to a profile afterwards, by a command that answers what it is told to."""

from __future__ import annotations

import json
import sys

import pytest

from isoscope import CallTree, CpuSamples, Process
from isoscope.errors import IsoscopeError
from isoscope.naming import named
from fakes import samples_reply

LEAF = {"key": "functions/1/i2", "name": "leaf", "kind": "Native"}
CALLER = {"key": "functions/1/40", "name": "caller", "kind": "Native", "offset": 64}
ANSWERS = {
    64: {"frames": [{"function": LEAF, "line": 3, "inlined": True}, {"function": CALLER, "line": 9}]},
    80: {"frames": [{"function": CALLER, "line": 11}]},
    96: {"frames": [], "reason": "the file has no symbols"},
}


@pytest.fixture
def symbolizer(tmp_path, monkeypatch):
    """A command that reads addresses and writes ANSWERS."""
    command = tmp_path / "isoscope"
    answers = {str(offset): json.dumps(answer) for offset, answer in ANSWERS.items()}
    command.write_text(
        f"#!{sys.executable}\nimport sys\nassert sys.argv[1:] == ['symbolize']\n"
        f"for line in sys.stdin:\n    build_id, offset, path = line.rstrip().split(' ', 2)\n"
        f"    assert (build_id, path) == ('ab01', '/home/user/my app')\n"
        f"    print({answers!r}[offset])\n"
    )
    command.chmod(0o755)
    monkeypatch.setenv("ISOSCOPE_COMMAND", str(command))


def bare_reply():
    reply = samples_reply({"app+0x50;app+0x40": 2, "app+0x60": 1})
    reply["libraries"] = [{**reply["libraries"][0], "path": "/home/user/my app", "buildId": "ab01"}]
    for function in reply["functions"]:
        function.update(kind="Unnamed", offset=int(function["name"].rpartition("+")[2], 16))
    return reply


def test_addresses_become_functions_and_inlined_frames(symbolizer):
    bare = bare_reply()
    before = json.dumps(bare)
    reply = named(bare)
    assert json.dumps(bare) == before
    counts = {f["name"]: (f["inclusiveTicks"], f["exclusiveTicks"]) for f in reply["functions"]}
    assert counts == {"leaf": (2, 2), "caller": (2, 0), "app+0x60": (1, 1)}
    assert [f.get("line") for f in reply["samples"][0]["stack"]] == [3, 9, 11]
    assert reply["libraries"][0]["reason"] == "the file has no symbols"


def test_the_tree_of_it_has_the_inlined_frame(symbolizer):
    process = Process(id="isolates/1", name="app")
    tree = CallTree.build([(process, CpuSamples.parse(named(bare_reply())))])
    names = [(node.name, node.inlined) for node, _ in tree.walk()]
    assert names[1:4] == [("caller", False), ("caller", False), ("leaf", True)]


def test_a_command_that_is_missing_is_named(monkeypatch):
    monkeypatch.setenv("ISOSCOPE_COMMAND", "/nowhere/isoscope")
    with pytest.raises(IsoscopeError, match="/nowhere/isoscope"):
        named(bare_reply())
