"""Session files made by the page (docs/session_format.md), a second time: for readers to be held against.

    small()                         two processes, three threads, inlined and unnamed frames, a name of a JIT
    file(blocks...)                 of blocks: ("HEAD", {...}), ("SMPL", bytes), ...; packed and with checksums
"""

from __future__ import annotations

import json
import struct
import zlib
from itertools import chain
from typing import Any, Iterable, Union

import zstandard

MAGIC = b"\x89ISO\r\n\x1a\n"
VERSION = 1
Block = tuple[str, Union[bytes, dict[str, Any]]]


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def plain(values: Iterable[int]) -> bytes:
    return b"".join(map(varint, values))


def steps(values: Iterable[int], first: int = 0) -> bytes:
    """"+" of the page."""
    out = []
    for value in values:
        out.append(zigzag(value - first))
        first = value
    return plain(out)


def columns(*parts: bytes) -> bytes:
    return b"".join(varint(len(part)) + part for part in parts)


def head(version: int = VERSION) -> bytes:
    return MAGIC + struct.pack("<II", version, 0)


def block(kind: str, stored: bytes, unpacked: int) -> bytes:
    start = kind.encode() + struct.pack("<III", len(stored), unpacked, zlib.crc32(stored))
    return start + struct.pack("<I", zlib.crc32(start)) + stored


class Frame:
    """One zstd frame that goes on from block to block."""

    def __init__(self) -> None:
        self._frame = zstandard.ZstdCompressor().compressobj()

    def pack(self, kind: str, content: bytes) -> bytes:
        stored = self._frame.compress(content) + self._frame.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        return block(kind, stored, len(content))


def file(*blocks: Block) -> bytes:
    tables, chunk, out = Frame(), Frame(), [head()]
    for kind, told in blocks:
        content = told if isinstance(told, bytes) else json.dumps(told).encode()
        if kind == "PIEC" and json.loads(content).get("begins") is True:
            chunk = Frame()
        if kind in ("SRCE", "NEXT", "EVTS", "EVNT", "STLS", "LOOP"):
            out.append(block(kind, zstandard.ZstdCompressor().compress(content), len(content)))
        else:
            out.append((chunk if kind == "SMPL" else tables).pack(kind, content))
    return b"".join(out)


# What small() tells. Functions: number, module, start, name, file, line.
BASE_US = 7_000_000
_FUNCTIONS = [
    (1, 1, 0x100, "main", 1, 10),
    (2, 1, 0x200, "walk", 1, 30),
    (3, 1, None, "leaf", 2, 5),  # only seen inlined
    (4, 2, 0x900, "memcpy", 0, 0),
    (5, 1, 0x200, "walk", 1, 30),  # another name of 2
]
# (module, offset): what the frame is, innermost first: function, line, inlined, file.
CHAINS = {
    (1, 0x110): [(1, 11, 0, 0)],
    (1, 0x210): [(3, 6, 1, 2), (5, 31, 0, 0)],
    (1, 0x220): [(2, 32, 0, 0)],
    (2, 0x910): [(4, 0, 0, 0)],
}
FRAMES = [(1, 0x110), (1, 0x210), (1, 0x220), (2, 0x910), (2, 0xFFF), (3, 2)]  # of the chunk, from 1 on
_NODES = [(0, 1), (1, 3), (2, 3)]  # parent, frame; from 1 on: main, main > walk, main > walk > walk
# time, units of 100 ns, source, caller, leaf, end, state
_SAMPLES = [
    (1000, 10_000, 0, 3, 2, 0, 0),
    (2000, 10_000, 0, 2, 4, 0, 0),
    (2000, 5_000, 1, 1, 5, 3, 0),
    (3500, 0, 1, 0, 6, 0, 4),
    (3000, 10_000, 2, 0, 1, 0, 0),
]
COUNT = len(_SAMPLES)
CPU_UNIT, CPU_BASE = 500, 20  # of 100 ns; of those
_SOURCES = [[1, 0], [2, 1], [3, 0]]


def functions(rows: Iterable[tuple[Any, ...]] = _FUNCTIONS) -> dict[str, Any]:
    number, module, start, name, path, line = map(list, zip(*rows))
    count = len(number)
    columns_of = {
        "number": number, "module": module, "start": start, "size": [16] * count,
        "byNumber": [int(one is None) for one in start], "name": name, "fullName": [None] * count,
        "rawName": [None] * count, "file": path, "line": line,
    }  # fmt: skip
    return {"files": [[1, "/src/main.c"], [2, "/src/leaf.h"]], "functions": columns_of, "same": [[5, 2]]}


def chains(told: Any = None) -> bytes:
    told = CHAINS if told is None else told
    places = list(chain.from_iterable(told.values()))
    last: dict[int, tuple[int, int]] = {}  # a function's line and file, of its place before
    lines, paths = [], []
    for function, line, _, path in places:
        before_line, before_path = last.get(function, (0, 0))
        lines.append(zigzag(line - before_line))
        paths.append(0 if path == before_path else path + 1)
        last[function] = line, path
    return columns(
        varint(len(told)),
        plain(module for module, _ in told),
        steps(offset for _, offset in told),
        plain(map(len, told.values())),
        plain(place[0] for place in places),
        plain(lines),
        plain(place[2] for place in places),
        plain(paths),
    )


def piece(samples: list[Any], *, frames: int, nodes: int, first: int = 0, sources: Any = ()) -> dict[str, Any]:
    """first: sample of the chunk."""
    counts: dict[int, list[int]] = {}
    for place, (_, _, source, _, _, _, state) in enumerate(samples, first):
        row = counts.setdefault(source, [source, place, *chain.from_iterable((s, 0) for s in range(5))])
        row[1] = place
        row[3 + 2 * state] += 1
    times = [BASE_US + sample[0] for sample in samples]
    return {
        "begins": first == 0, "samples": len(samples), "nodes": nodes, "frames": frames,
        "minUs": min(times), "maxUs": max(times), "cpuUnit": CPU_UNIT, "cpuBase": CPU_BASE,
        "sources": list(sources), "counts": list(counts.values()),
    }  # fmt: skip


class Stacks:
    """Callees, callers and leaves in the numbers of a chunk."""

    def __init__(self) -> None:
        self.callers: dict[int, tuple[int, dict[int, int]]] = {}
        self.callees: dict[int, dict[int, int]] = {}  # of a frame
        self.frames = {0: 0}  # of nodes
        self.largest = [0, 0]
        self.new_frames: list[int] = []

    def node(self, parent: int, frame: int) -> int:
        self.frames[len(self.frames)] = frame
        return self.callee(self.frames.get(parent, 0), frame)

    def callee(self, caller: int, frame: int) -> int:
        known = self.callees.setdefault(caller, {})
        if frame in known:
            return known[frame]
        known[frame] = len(known) + 1
        self.new_frames.append(self.above(1, frame))
        return 0

    def columns(self, samples: list[Any]) -> list[bytes]:
        out: list[list[int]] = [[], [], [], []]
        for _, _, _, caller, leaf, *_ in samples:
            number, leaves = self.callers.get(caller, (0, {}))
            out[0].append(number)
            if not number:
                self.callers[caller] = len(self.callers) + 1, leaves
                out[1].append(self.above(0, caller))
            out[2].append(leaves.get(leaf, 0))
            if leaf not in leaves:
                leaves[leaf] = len(leaves) + 1
                out[3].append(self.callee(self.frames.get(caller, 0), leaf))
        new_frames, self.new_frames = self.new_frames, []
        return list(map(plain, [*out, new_frames]))

    def above(self, kind: int, value: int) -> int:
        step = value - self.largest[kind]
        self.largest[kind] = max(value, self.largest[kind])
        return zigzag(step)


def smpl(samples: list[Any], frames: Any = (), nodes: Any = (), first_node: int = 1, stacks: Any = None) -> bytes:
    begin_us = min(sample[0] for sample in samples)
    stacks = stacks or Stacks()
    last: dict[int, int] = {}
    late = []
    for time_us, cpu, source, *_ in samples:
        late.append(zigzag(time_us - last.get(source, begin_us) - (cpu + 5) // 10))
        last[source] = time_us
    return columns(
        plain(module for module, _ in frames),
        steps(offset for _, offset in frames),
        plain(number - parent if parent else 0 for number, (parent, _) in enumerate(nodes, first_node)),
        plain([stacks.node(*node) for node in nodes]),
        plain(sample[2] for sample in samples),
        plain(zigzag(sample[1] // CPU_UNIT - CPU_BASE) for sample in samples),
        plain(late),
        *stacks.columns(samples),
        bytes(sample[5] << 4 | sample[6] for sample in samples),
    )


def process(pid: int, exe: str, modules: list[int]) -> dict[str, Any]:
    status = {"truePeriodUs": 1000, "lost": {"ring_full": 2}}
    return {"id": pid, "pid": pid, "ppid": 1, "exe": exe, "startUs": BASE_US, "started": True,
            "endUs": BASE_US + 9000, "waitStatus": 3 << 8, "runtimes": ["java"], "modules": modules,
            "status": status}  # fmt: skip


def small_blocks() -> list[Block]:
    first, rest, stacks = _SAMPLES[:3], _SAMPLES[3:], Stacks()
    command = ["app", "--fast", "\x1b[31m"]
    modules = [
        {"number": 1, "path": "/opt/app/bin/app", "buildId": "abcd", "loadBias": 0},
        {"number": 2, "path": "/usr/lib/libc.so.6", "buildId": "", "loadBias": 0, "reason": "no symbols"},
        {"number": 3, "path": "[jit]", "buildId": "", "loadBias": 0, "names": "jit"},
    ]
    return [
        ("HEAD", {"producer": "test", "host": "box", "startUs": BASE_US, "wallStartUs": 1_700_000_000_000_000,
                  "command": command, "machine": "x86_64"}),  # fmt: skip
        ("MODS", {"modules": modules}),
        ("PROC", {"processes": [process(41, "/opt/app/bin/app", [1, 2, 3]), process(51, "/opt/app/bin/child", [1])]}),
        ("THRD", {"threads": [[1, 41, 41, "main"], [2, 41, 42, ""], [3, 51, 51, "helper"]]}),
        ("NAME", {"names": [[1, "load"], [2, "js: <b>\x07"]]}),
        ("PIEC", piece(first, frames=5, nodes=3, sources=_SOURCES)),
        ("SMPL", smpl(first, FRAMES[:5], _NODES, stacks=stacks)),
        ("NEXT", b"what nobody knows yet"),
        ("PIEC", piece(rest, frames=1, nodes=0, first=3)),
        ("SMPL", smpl(rest, FRAMES[5:], stacks=stacks)),
        ("FUNC", functions()),
        ("CHNS", chains()),
        ("THRD", {"threads": [[2, 41, 42, "worker"]]}),
        ("SRCE", b"/src/main.c\0int main(void) {}\n"),
        ("STAT", {"unsampled": [{"exe": "static", "pid": 60, "count": 2, "reason": "it is static"}]}),
        ("SETT", {"enabled": True, "periodUs": 1000, "depthMax": 128, "mode": "cpu", "missed": 0,
                  "cpu": {"processes": 2, "sampledNs": 3_500_000, "notSampledNs": 500_000, "treeNs": 9_000_000}}),
        ("ENDS", {"endUs": BASE_US + 9000, "samples": COUNT}),
    ]


def small() -> bytes:
    return file(*small_blocks())
