"""A reader of session files that shows how little one needs: docs/session_format.md in code, without checks.

    python3 read_session.py FILE.isoscope      each function's samples: self, total, name

It needs zstandard (Debian: python3-zstandard). What the isoscope package reads more is told there: times, threads, tags.
"""

import json
import sys
from collections import Counter, defaultdict
from itertools import accumulate

import zstandard


def blocks(content):
    """Type and content of each. Tables are one zstd frame; so is each chunk's samples."""
    new_frame = lambda: zstandard.ZstdDecompressor().decompressobj()  # noqa: E731
    tables, chunk, at = new_frame(), None, 16
    while at + 20 <= len(content):
        kind, size = content[at : at + 4].decode("latin-1"), int.from_bytes(content[at + 4 : at + 8], "little")
        stored = content[at + 20 : at + 20 + size]
        at += 20 + size
        if at > len(content) or kind not in KINDS:
            continue
        told = (chunk if kind == "SMPL" else tables).decompress(stored)
        if kind not in ("SMPL", "CHNS"):
            told = json.loads(told)
        if kind == "PIEC" and told["begins"]:
            chunk = new_frame()
        yield kind, told


KINDS = "HEAD SETT PROC MODS THRD NAME FUNC CHNS PIEC SMPL FACT STAT ENDS".split()


def varints(column):
    value = shift = 0
    for byte in column:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def signed(column):
    return [value >> 1 ^ -(value & 1) for value in varints(column)]


def columns(content):
    while content:
        size = next(varints(content))
        begin = next(place for place, byte in enumerate(content) if byte < 128) + 1
        yield content[begin : begin + size]
        content = content[begin + size :]


class Chunk:
    """Numbers go on through its pieces. Frames and nodes are numbered from 1; 0 is none."""

    def __init__(self):
        self.frames, self.nodes = [(0, 0)], [(0, 0)]  # (module, offset); (parent, frame)
        self.callees, self.leaves, self.callers = defaultdict(list), defaultdict(list), []
        self.largest = Counter()

    def new(self, kind, steps):
        value = self.largest[kind] + next(steps)
        self.largest[kind] = max(value, self.largest[kind])
        return value

    def callee(self, caller, number, steps):
        if not number:
            self.callees[caller].append(self.new("frame", steps))
        return self.callees[caller][number - 1]

    def add(self, content):
        """Yields caller (a node) and leaf (a frame) of each sample."""
        module, offset, parent, callee, _, _, _, caller, new_caller, leaf, new_leaf, new_frame, _ = columns(content)
        self.frames += zip(varints(module), accumulate(signed(offset)))
        frames, callers, leaves = iter(signed(new_frame)), iter(signed(new_caller)), varints(new_leaf)
        for back, number in zip(varints(parent), varints(callee)):
            above = len(self.nodes) - back if back else 0
            self.nodes.append((above, self.callee(self.nodes[above][1], number, frames)))
        for caller_number, leaf_number in zip(varints(caller), varints(leaf)):
            if not caller_number:
                self.callers.append(self.new("node", callers))
            node = self.callers[caller_number - 1]
            if not leaf_number:
                self.leaves[node].append(self.callee(self.nodes[node][1], next(leaves), frames))
            yield node, self.leaves[node][leaf_number - 1]


def read(content):
    """The stack of each sample, leaf first: names of functions, or modules and offsets where there is no name."""
    names, same, chains, samples, chunk = {0: None}, {}, {}, [], Chunk()
    for kind, told in blocks(content):
        if kind == "PIEC" and told["begins"]:
            chunk = Chunk()
        elif kind == "SMPL":
            samples += [(chunk, *sample) for sample in chunk.add(told)]
        elif kind == "FUNC":
            names.update(zip(told["functions"]["number"], told["functions"]["name"]))
            same.update(told["same"])
        elif kind == "CHNS":
            _, module, offset, length, function, *_ = columns(told)
            functions = varints(function)
            for key in zip(varints(module), accumulate(signed(offset)), varints(length)):
                chains[key[:2]] = [next(functions) for _ in range(key[2])]
    for chunk, node, leaf in samples:
        stack = [leaf]
        while node:
            node, frame = chunk.nodes[node]
            stack.append(frame)
        places = [chunk.frames[frame] for frame in stack]
        yield [names[same.get(number, number)] or key for key in places for number in chains.get(key, [0])]


if __name__ == "__main__":
    selves, totals = Counter(), Counter()
    with open(sys.argv[1], "rb") as file:
        for stack in read(file.read()):
            selves[stack[0]] += 1
            totals.update(set(stack))
    for name, count in sorted(totals.items(), key=lambda one: (-selves[one[0]], -one[1], str(one[0]))):
        print(f"{selves[name]:8} {count:8}  {name}")
