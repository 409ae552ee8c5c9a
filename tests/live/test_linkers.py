"""Names and whole stacks, whichever linker laid the program out in its file."""

from __future__ import annotations

import shutil
import subprocess
from itertools import product

import pytest
from harness import ROOT, Client, profiled

SOURCE = ROOT / "tests" / "workloads" / "linked.c"
LINKERS = {"bfd": "ld.bfd", "gold": "ld.gold", "lld": "ld.lld", "mold": "mold"}
LAYOUTS = {
    "pie": ["-O0", "-fPIE", "-pie"],
    "fixed": ["-O3", "-no-pie"],
    "separate code": ["-O2", "-fPIE", "-pie", "-Wl,-z,separate-code"],
    "joint code": ["-O1", "-no-pie", "-Wl,-z,noseparate-code"],
}
GOLD_LACKS = {"separate code", "joint code"}  # it does not know the options
CASES = [(linker, layout) for linker, layout in product(LINKERS, LAYOUTS)
         if linker != "gold" or layout not in GOLD_LACKS]
MILLION_TURNS = "150"


@pytest.mark.parametrize("linker, layout", CASES)
def test_a_program_of_any_linker_has_names_and_whole_stacks(linker, layout, tmp_path):
    compiler = shutil.which("clang") or pytest.skip("needs clang, which takes any linker")
    shutil.which(LINKERS[linker]) or pytest.skip(f"needs the linker {LINKERS[linker]}")
    program = tmp_path / "linked"
    flags = [f"-fuse-ld={linker}", *LAYOUTS[layout]]
    subprocess.run([compiler, *flags, "-o", str(program), str(SOURCE)], check=True)

    with profiled([str(program), MILLION_TURNS]) as service, Client(service.uri) as client:
        reply = client.call("_getCpuSamples", isolateId=client.processes()[0].id)

    names = {function["id"]: function["name"] for function in reply["functions"]}
    # A tick may fall into the loader's start of the program; the rest is the loop.
    spun = [s for s in reply["samples"]
            if "spin_linked" in (names[frame["function"]["id"]] for frame in s["stack"])]
    assert spun and len(spun) >= 0.9 * len(reply["samples"])
    assert not [sample["end"] for sample in spun if sample.get("truncated")]
