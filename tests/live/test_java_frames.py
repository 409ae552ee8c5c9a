"""A JVM's own methods in the places of its code: names, files and lines of whole stacks, however they run."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from harness import Client, profiled

PROGRAM = """\
import java.util.Arrays;
import java.util.Comparator;

public class Shapes {
    static volatile long sink;

    static void spin(int steps) {
        long sum = 1;
        for (int i = 0; i < steps; i++)
            sum = sum * 31 + i;
        sink = sum;
    }

    interface Shape {
        void area(int steps);
    }

    static class Square implements Shape {
        public void area(int steps) {
            spin(steps); // in Shapes$Square.area
        }
    }

    static class Circle implements Shape {
        public void area(int steps) {
            half(steps / 2); // in Shapes$Circle.area
        }

        private void half(int steps) {
            spin(steps); // in Shapes$Circle.half
        }
    }

    static void byInterface(int steps) {
        for (Shape shape : new Shape[] {new Square(), new Circle()})
            shape.area(steps); // in Shapes.byInterface
    }

    static void byKey(int steps) {
        Comparator<Integer> compare = (left, right) -> {
            spin(steps); // in Shapes.lambda$byKey$0
            return left - right;
        };
        Arrays.sort(new Integer[] {2, 1}, compare); // in Shapes.byKey
    }

    static void deep(int depth, int steps) {
        if (depth > 0)
            deep(depth - 1, steps); // in Shapes.deep
        else
            spin(steps); // at the bottom
    }

    static void byException(int steps) {
        try {
            Object nothing = steps > 0 ? null : "";
            nothing.hashCode();
        } catch (NullPointerException e) {
            spin(steps); // in Shapes.byException
        }
    }

    static void byReflection(int steps) throws Exception {
        Shapes.class.getDeclaredMethod("spin", int.class).invoke(null, steps); // in Shapes.byReflection
    }

    static class Once {
        static {
            spin(3_000_000); // in Shapes$Once.<clinit>
        }

        static void begin() {}
    }

    static void byThread(int steps) throws Exception {
        Thread thread = new Thread(() -> spin(steps)); // in Shapes.lambda$byThread$1
        thread.start();
        thread.join();
    }

    public static void main(String[] words) throws Exception {
        int steps = Integer.parseInt(words[1]);
        Once.begin(); // in main: once
        for (int round = Integer.parseInt(words[0]); round > 0; round--) {
            byInterface(steps); // in main: by interface
            byKey(steps); // in main: by key
            deep(3, steps); // in main: deep
            byException(steps); // in main: by exception
            byReflection(steps); // in main: by reflection
            byThread(steps);
        }
    }
}
"""

# A loop that never stops has no line in compiled code, unless this is asked for.
LINES = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"]

# How its methods run: options, rounds.
WAYS_TO_RUN = {
    "mixed": ([], 30),
    "interpreted": (["-Xint"], 2),
    "first compiler": (["-XX:TieredStopAtLevel=1", *LINES], 30),
    "second compiler": (["-XX:-TieredCompilation", *LINES], 30),
}
STEPS = 1_000_000


def line_of(mark: str) -> int:
    found = [i for i, line in enumerate(PROGRAM.splitlines(), 1) if f"// {mark}" in line]
    assert len(found) == 1, mark
    return found[0]


def called_from(*marks: str) -> tuple[tuple[str, int], ...]:
    """Methods and lines outside of the one that spins, innermost first."""
    return tuple(("Shapes.main" if "main:" in mark else mark.removeprefix("in "), line_of(mark))
                 for mark in marks)


DEEP = (("Shapes.deep", line_of("in Shapes.deep")),) * 3
EXPECTED = {
    "interface": called_from("in Shapes$Square.area", "in Shapes.byInterface", "in main: by interface"),
    "inlined": called_from("in Shapes$Circle.half", "in Shapes$Circle.area", "in Shapes.byInterface",
                           "in main: by interface"),
    "lambda": called_from("in Shapes.lambda$byKey$0", "in Shapes.byKey", "in main: by key"),
    "recursion": (("Shapes.deep", line_of("at the bottom")), *DEEP, *called_from("in main: deep")),
    "exception": called_from("in Shapes.byException", "in main: by exception"),
    "reflection": called_from("in Shapes.byReflection", "in main: by reflection"),
    "initializer": called_from("in Shapes$Once.<clinit>", "in main: once"),
    "thread": called_from("in Shapes.lambda$byThread$1"),
}


@pytest.fixture(scope="module")
def classes(tmp_path_factory) -> Path:
    if not shutil.which("java") or not shutil.which("javac"):
        pytest.skip("needs java and javac")
    folder = tmp_path_factory.mktemp("java")
    (folder / "Shapes.java").write_text(PROGRAM)
    subprocess.run(["javac", "Shapes.java"], cwd=folder, check=True, timeout=120)
    return folder


@pytest.fixture(scope="module", params=WAYS_TO_RUN)
def profile(request, classes):
    """(Samples, functions by id, whether the leaf's lines are told)."""
    options, rounds = WAYS_TO_RUN[request.param]
    command = ["java", "-XX:+UseSerialGC", *options, "Shapes", str(rounds), str(STEPS)]
    with profiled(command, cwd=classes) as service, Client(service.uri) as client:
        process = client.processes()[0].id
        reply = client.call("_getCpuSamples", isolateId=process)
    return reply["samples"], {f["id"]: f for f in reply["functions"]}, bool(options)


def java_chain(sample, functions) -> list[tuple[str, int, str]]:
    """(name, line, file) of what Java ran, innermost first."""
    chain = []
    for frame in sample["stack"]:
        function = functions[frame["function"]["id"]]
        if function.get("runtime") == "java":
            chain.append((function["name"], frame.get("line", 0), function.get("file", "")))
    return chain


def chains(profile) -> Counter:
    """Of samples in spin: what of the program called it."""
    samples, functions, _ = profile
    found: Counter = Counter()
    for sample in samples:
        chain = [(name, line) for name, line, file in java_chain(sample, functions)
                 if file.endswith("Shapes.java")]
        if chain and chain[0][0] == "Shapes.spin":
            found[tuple(chain[1:])] += 1
    return found


def test_stacks_say_who_called_whom_and_where_and_nothing_else(profile):
    found = chains(profile)
    assert all(found[chain] for chain in EXPECTED.values()), found
    others = Counter({c: n for c, n in found.items() if c not in EXPECTED.values()})
    assert others.total() <= 0.01 * found.total() + 1, others.most_common(5)


def test_lines_of_the_leaf_are_where_the_time_goes(profile):
    samples, functions, told = profile
    lines = Counter(chain[0][1] for s in samples if (chain := java_chain(s, functions))
                    and chain[0][0] == "Shapes.spin")
    first = next(i for i, line in enumerate(PROGRAM.splitlines(), 1) if "void spin" in line)
    inside = sum(lines[first + n] for n in range(1, 5))
    assert inside >= 0.98 * (lines.total() if told else lines.total() - lines[0]), lines


def test_stacks_go_on_through_native_code_to_the_threads_start(profile):
    samples, functions, _ = profile
    of_java = [s for s in samples if java_chain(s, functions)]
    roots = Counter(functions[s["stack"][-1]["function"]["id"]]["name"] for s in of_java)
    assert roots.most_common(1)[0][1] >= 0.98 * len(of_java), roots.most_common(4)
