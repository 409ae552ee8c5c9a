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


def jit_programs() -> list[Program]:
    """What a just-in-time compiler runs, where there is one: names and tables are not compared."""
    node = shutil.which("node")
    return [Program("node", [node, "-e", COUNT_WORDS])] if node else []
