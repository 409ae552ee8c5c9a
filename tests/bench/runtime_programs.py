"""For runtimes.py: a program of each language, and the profilers of that language that are here.

    for language in languages(options): language.prepare(place) -> its words; language.peers(place, words) -> ways

Each program recurses, fills tables and makes texts, and takes about a second of CPU time for its last word.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Callable, NamedTuple, Optional

import runtime_tops as tops
from peers import Place, Used, shell

PYTHON = """
import ast, json, sys
def parses(text):
    return sum(1 for _ in ast.walk(ast.parse(text)))
class Table:
    def __init__(self, rows):
        self.rows = rows
    def sums(self):
        return {key: sum(row[key] for row in self.rows) for key in self.rows[0]}
def recurses(n):
    return n if n < 2 else recurses(n - 1) + recurses(n - 2)
def main(rounds):
    table = Table([{"a": i, "b": i * 2, "c": -i} for i in range(300)])
    for _ in range(rounds):
        parses("x = 1\\n" + "y = [x + i for i in range(3) if i]\\n" * 60)
        table.sums()
        recurses(15)
        json.loads(json.dumps(table.rows, indent=1))
main(int(sys.argv[1]))
"""
LUA = """
local function recurses(n) if n < 2 then return n end return recurses(n - 1) + recurses(n - 2) end
local function sums(rows) local a = 0 for _, row in ipairs(rows) do a = a + row.a + row.b end return a end
local function texts(rows)
    local out = {}
    for i, row in ipairs(rows) do out[i] = string.format("%d=%d", row.a, row.b) end
    return (table.concat(out, ","):gsub("%d+", function(word) return word .. "." end))
end
local rows = {}
for i = 1, 300 do rows[i] = { a = i, b = -i } end
for _ = 1, tonumber(arg[1]) * 4 do
    recurses(16) sums(rows) texts(rows)
    table.sort(rows, function(x, y) return x.b < y.b end)
end
"""
RUBY = """
def recurses(n) = n < 2 ? n : recurses(n - 1) + recurses(n - 2)
def sums(rows) = rows.sum { |row| row[:a] + row[:b] }
def texts(rows) = rows.map { |row| "#{row[:a]}=#{row[:b]}" }.join(",").gsub(/\\d+/) { |word| word + "." }
rows = (1..300).map { |i| { a: i, b: -i } }
(ARGV[0].to_i * 3).times { recurses(16); sums(rows); texts(rows); rows.sort_by { |row| row[:b] } }
"""
PHP = """<?php
function recurses($n) { return $n < 2 ? $n : recurses($n - 1) + recurses($n - 2); }
function sums($rows) { return array_sum(array_map(fn($row) => $row['a'] + $row['b'], $rows)); }
function texts($rows) {
    $text = implode(',', array_map(fn($row) => "{$row['a']}={$row['b']}", $rows));
    return preg_replace_callback('/[0-9]+/', fn($found) => $found[0] . '.', $text);
}
$rows = array_map(fn($i) => ['a' => $i, 'b' => -$i], range(1, 300));
for ($i = 0; $i < $argv[1] * 8; $i++) { recurses(16); sums($rows); texts($rows); usort($rows, fn($x, $y) => $x['b'] - $y['b']); }
"""
PERL = """
sub recurses { my $n = shift; return $n < 2 ? $n : recurses($n - 1) + recurses($n - 2); }
sub sums { my $sum = 0; $sum += $_->{a} + $_->{b} for @{$_[0]}; return $sum; }
sub texts { my $text = join ',', map { "$_->{a}=$_->{b}" } @{$_[0]}; $text =~ s/(\\d+)/"$1."/ge; return $text; }
my @rows = map { { a => $_, b => -$_ } } 1 .. 300;
for (1 .. $ARGV[0] * 2) { recurses(16); sums(\\@rows); texts(\\@rows); my @sorted = sort { $a->{b} <=> $b->{b} } @rows; }
"""
NODE = """
function recurses(n) { return n < 2 ? n : recurses(n - 1) + recurses(n - 2); }
function sums(rows) { return rows.reduce((sum, row) => sum + row.a + row.b, 0); }
function texts(rows) { return rows.map((row) => `${row.a}=${row.b}`).join(',').replace(/\\d+/g, (word) => word + '.'); }
const rows = Array.from({ length: 300 }, (_, i) => ({ a: i, b: -i }));
for (let i = 0; i < process.argv[2] * 40; i++) {
    recurses(16); sums(rows); texts(rows); JSON.parse(JSON.stringify(rows)); rows.sort((x, y) => x.b - y.b);
}
"""
JAVA = """
import java.util.*;
import java.util.stream.*;
public class Program {
    static int recurses(int n) { return n < 2 ? n : recurses(n - 1) + recurses(n - 2); }
    static int sums(List<int[]> rows) { return rows.stream().mapToInt(row -> row[0] + row[1]).sum(); }
    static String texts(List<int[]> rows) {
        return rows.stream().map(row -> row[0] + "=" + row[1]).collect(Collectors.joining(",")).replaceAll("[0-9]+", "$0.");
    }
    public static void main(String[] words) {
        List<int[]> rows = IntStream.range(0, 300).mapToObj(i -> new int[] { i, -i }).collect(Collectors.toList());
        for (int i = 0; i < Integer.parseInt(words[0]) * 40; i++) {
            recurses(16); sums(rows); texts(rows); rows.sort((x, y) -> x[1] - y[1]);
        }
    }
}
"""


class Way(NamedTuple):
    name: str
    command: Callable[[list[str], int], list[str]]  # of the program's words, and samples a second
    delivered: Optional[Callable[[Used], int]] = None
    top: Optional[Callable[[], Counter[str]]] = None  # of the run that has just ended


class Language(NamedTuple):
    name: str
    text: str
    file: str
    words: list[str]  # before the program's
    peers: Callable[[Place, "Paths"], list[Way]] = lambda place, paths: []

    def program(self, place: Place, work: int) -> list[str]:
        path = place.file(self.file)
        path.write_text(self.text)
        return [*self.words, str(path), str(work)]


class Paths(NamedTuple):
    """Of what is no part of Debian."""

    python: str
    async_profiler: str
    rbspy: str


def folded(path: Path) -> int:
    """Lines of a stack and its count."""
    lines = path.read_text(errors="replace").splitlines()
    return sum(int(line.rpartition(" ")[2]) for line in lines if line and line[0] != "#")


def of_python(place: Place, paths: Paths) -> list[Way]:
    python, beside, out = paths.python, Path(paths.python).parent, place.file("peer.out")
    found = []
    if (beside / "py-spy").exists():
        found.append(Way("py-spy", lambda program, rate: [
            *shell([str(beside / "py-spy"), "record", "-r", str(rate), "-f", "raw", "-o", str(out), "--", *program])],
            lambda used: folded(out), lambda: tops.of_py_spy(out)))
    if (beside / "austin").exists():
        found.append(Way("austin", lambda program, rate: [
            str(beside / "austin"), "-C", "-i", str(1_000_000 // rate), "-o", str(out), *shell(program)],
            top=lambda: tops.of_austin(out)))
    if (beside / "pyinstrument").exists():
        found.append(Way("pyinstrument", lambda program, rate: shell(
            [python, "-m", "pyinstrument", "-i", str(1 / rate), "-r", "json", "-o", str(out), *program[1:]])))
    if (beside / "scalene").exists():
        found.append(Way("scalene, CPU", lambda program, rate: shell(
            [python, "-m", "scalene", "run", "--cpu-only", "--cpu-sampling-rate", str(1 / rate), "-o", str(out),
             *program[1:2], "---", *program[2:]])))
    found.append(Way("cProfile", lambda program, rate: shell([python, "-m", "cProfile", "-o", str(out), *program[1:]]),
                     top=lambda: tops.of_cprofile(out)))
    return found


def of_ruby(place: Place, paths: Paths) -> list[Way]:
    out = place.file("peer.out")
    if not paths.rbspy:
        return []
    return [Way("rbspy", lambda program, rate: shell(
        [paths.rbspy, "record", "--silent", "--rate", str(rate), "--format", "collapsed", "--raw-file", f"{out}.gz", "--file",
         str(out), "--", *program]), lambda used: folded(out), lambda: tops.of_rbspy(out))]


def of_node(place: Place, paths: Paths) -> list[Way]:
    def samples(used: Used) -> int:
        return len(json.loads(out.read_text())["samples"])

    out = place.file("node.cpuprofile")
    return [Way("node --cpu-prof", lambda program, rate: shell(
        [program[0], "--cpu-prof", "--cpu-prof-interval", str(1_000_000 // rate), "--cpu-prof-dir", str(place.folder),
         "--cpu-prof-name", out.name, *program[1:]]), samples, lambda: tops.of_cpuprofile(out))]


def of_java(place: Place, paths: Paths) -> list[Way]:
    out = place.file("java.folded")
    if not paths.async_profiler:
        return []
    return [Way("async-profiler", lambda program, rate: shell(
        [program[0], f"-agentpath:{paths.async_profiler}=start,event=cpu,interval={1_000_000_000 // rate},collapsed,file={out}",
         *program[1:]]), lambda used: folded(out), lambda: tops.of_async_profiler(out))]


def languages(paths: Paths) -> list[Language]:
    """Those whose interpreters are here; Java is compiled by java itself, each time."""
    every = [
        Language("python", PYTHON, "program.py", [paths.python], of_python),
        Language("node", NODE, "program.js", ["node"], of_node),
        Language("java", JAVA, "Program.java", ["java"], of_java),
        Language("ruby", RUBY, "program.rb", ["ruby"], of_ruby),
        Language("php", PHP, "program.php", ["php"]),
        Language("perl", PERL, "program.pl", ["perl"]),
        Language("lua", LUA, "program.lua", ["lua5.4"]),
    ]
    return [language for language in every if shutil.which(language.words[0])]
