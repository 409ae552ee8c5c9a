"""The real programs that benches and checks run, and what they need made first."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

PYTHON = "/usr/bin/python3"

STDLIB_PARSE = """
import ast, glob, time
files = [open(f, errors="replace").read() for f in sorted(glob.glob("/usr/lib/python3*/*.py"))]
for turn in range({turns}):
    for text in files:
        ast.parse(text)
"""

SQL = """
with recursive numbers(x) as (select 1 union all select x + 1 from numbers where x < 1000000)
select count(*), sum(x * x % 7), max(hex(x)), count(distinct x % 1000) from numbers;
""" * 4

REGEX = """
#include <iostream>
#include <regex>
#include <string>
int main()
{
    std::regex narrow("a(b|c)*d+[[:alpha:]]");
    std::wregex wide(L"x+y?");
    std::string text = "xabcbcdz";
    std::cout << std::regex_search(text, narrow) << std::regex_search(std::wstring(L"xx"), wide)
              << std::regex_replace(text, narrow, "$&$&");
}
"""


COUNT_WORDS = """
const counts = new Map();
for (let i = 0; i < 2e7; i++) {
    const word = "w" + i % 50000;
    counts.set(word, (counts.get(word) || 0) + i % 7);
}
console.log(counts.size);
"""


class Program(NamedTuple):
    name: str
    command: list[str]


def programs(folder: Path) -> list[Program]:
    """folder: for what has to be made first."""
    source, preprocessed = folder / "regex.cc", folder / "regex.ii"
    source.write_text(REGEX)
    subprocess.run(["g++", "-E", str(source), "-o", str(preprocessed)], check=True)
    compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], check=True,
                              capture_output=True, text=True).stdout.strip()
    return [
        Program("python3", [PYTHON, "-c", STDLIB_PARSE.format(turns=8)]),
        Program("sqlite3", ["sqlite3", ":memory:", SQL]),
        Program("cc1plus", [compiler, "-quiet", "-O2", "-fpreprocessed", str(preprocessed),
                            "-o", "/dev/null"]),
    ]


GO = """package main
/*
static int twice(int n) { return 2 * n; }
*/
import "C"
import "fmt"

func inner(n int) int { sum := 0; for i := 0; i < n; i++ { sum = sum*31 + i%7 }; return sum }
func main() { sum := 0; for i := 0; i < 60000; i++ { sum ^= inner(20000 + i%3) }; fmt.Println(sum, C.twice(21)) }
"""

RUST = """#[inline(never)]
fn inner(n: u64) -> u64 { let mut sum = 0u64; for i in 0..n { sum = sum.wrapping_mul(31) ^ (i % 7); } sum }
fn main() { let mut sum = 0; for i in 0..60000u64 { sum ^= inner(std::hint::black_box(20000 + i % 3)); } println!("{}", sum); }
"""


class Made(NamedTuple):
    name: str
    compiler: str
    linker: str
    source: str  # its file's ending
    flags: list[str]


MADE = [
    *[Made(f"C by {linker}", "clang", linker, "c", ["-O2", "-g", f"-fuse-ld={linker[3:]}"])
      for linker in ("ld.lld", "ld.gold", "ld.mold")],
    Made("C with LTO", "gcc", "ld", "c", ["-O2", "-g", "-flto"]),
    Made("C, split DWARF", "gcc", "ld", "c", ["-O2", "-g", "-gsplit-dwarf"]),
    Made("Rust", "rustc", "cc", "rs", ["-O"]),
    Made("Go with cgo", "go", "cc", "go", []),
]


# Go's own code has unwind data for debuggers only, and a leaf of it no frame that it could be walked by.
WITHOUT_UNWIND_DATA = {"Go with cgo"}


def made_programs(folder: Path) -> list[Program]:
    """Other linkers, compilers and options: those that are here."""
    spins = Path(__file__).resolve().parents[1] / "workloads" / "linked.c"
    texts = {"c": spins.read_text(), "go": GO, "rs": RUST}
    found = []
    for number, one in enumerate(MADE):
        if not shutil.which(one.compiler) or not shutil.which(one.linker):
            print(f"{one.name}: left out, {one.compiler} or {one.linker} is not here")
            continue
        source, program = folder / f"made{number}.{one.source}", folder / f"made{number}"
        source.write_text(texts[one.source])
        build = ["build"] if one.compiler == "go" else []
        subprocess.run([one.compiler, *build, *one.flags, "-o", str(program), str(source)],
                       check=True, cwd=folder)
        found.append(Program(one.name, [str(program)]))
    return found


def jit_programs() -> list[Program]:
    """What a just-in-time compiler runs, where there is one: names and tables are not compared."""
    node = shutil.which("node")
    return [Program("node", [node, "-e", COUNT_WORDS])] if node else []
