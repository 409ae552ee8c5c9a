"""Session files: what is read of a whole one, and what is said of one that is broken or cut off."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
import session_files as files
from isoscope import call_tree, formats
from isoscope.cli import main
from isoscope.errors import BadFile
from isoscope.formats import session_blocks, session_columns
from session_files import BASE_US, COUNT, small, small_blocks


def stacks(profile):
    return [
        [(frame.function.name, frame.line) for frame in profile.stack(row.node)]
        for row in profile.samples()
    ]


def changed(kind, change, number=0):
    """The small one, with the number-th block of that kind as change makes it."""
    blocks, seen = [], 0
    for name, told in small_blocks():
        if name == kind:
            told = change(told) if seen == number else told
            seen += 1
        blocks.append((name, told))
    return files.file(*blocks)


def with_member(*path, value):
    def change(told):
        told = json.loads(json.dumps(told))
        around = told
        for step in path[:-1]:
            around = around[step]
        around[path[-1]] = value
        return told

    return change


def of_samples(place, value):
    """A column of the first piece is another one."""

    def change(_):
        samples = [list(sample) for sample in files._SAMPLES[:3]]
        samples[0][place] = value
        return files.smpl(samples, files.FRAMES[:5], files._NODES)

    return change


def test_stacks_are_what_chains_names_and_offsets_say():
    assert stacks(formats.parse(small())) == [
        [("leaf", 6), ("walk", 31), ("walk", 32), ("walk", 32), ("main", 11)],
        [("memcpy", 0), ("walk", 32), ("main", 11)],
        [("libc.so.6+0xfff", 0), ("main", 11)],
        [("js: <b>\x07", 0)],
        [("main", 11)],
    ]


def test_samples_have_times_threads_tags_states_and_cpu_time():
    rows = [
        (row.time_us - BASE_US, row.thread.tid, row.thread.name, row.thread.process.label,
         row.weight_us, row.user_tag, row.state, row.whole)
        for row in formats.parse(small()).samples()
    ]  # fmt: skip
    assert rows == [
        (1000, 41, "main", "app (41)", 1000, "main", "Running", True),
        (2000, 41, "main", "app (41)", 1000, "main", "Running", True),
        (2000, 42, "worker", "app (41)", 500, "load", "Running", False),
        (3500, 42, "worker", "app (41)", 0, "load", "Sleep", True),
        (3000, 51, "helper", "child (51)", 1000, "helper", "Running", True),
    ]


def test_functions_have_their_ids_places_and_libraries():
    found = {f.function.name: f.function for f in formats.parse(small()).frames}
    walk, leaf, memcpy = found["walk"], found["leaf"], found["memcpy"]
    assert (walk.id, walk.file, walk.line, walk.size) == ("functions/1/200", "/src/main.c", 30, 16)
    assert (leaf.id, leaf.offset, leaf.file) == ("functions/1/i3", -1, "/src/leaf.h")
    assert (memcpy.library.system, walk.library.system) == (True, False)
    assert (walk.library.uri, walk.library.build_id) == ("file:///opt/app/bin/app", "abcd")
    assert (found["js: <b>\x07"].kind, found["libc.so.6+0xfff"].kind) == ("Jit", "Unnamed")


def test_losses_periods_and_what_ran_are_told():
    profile = formats.parse(small())
    assert dict(profile.lost) == {"ring_full": 4} and profile.notes == []
    assert (profile.period_us, profile.true_period_us) == (1000, 1000)
    assert profile.meta == {"command": "app --fast \x1b[31m", "host": "box"}


def test_every_command_takes_a_session(tmp_path, capsys):
    path = tmp_path / "a.isoscope"
    path.write_bytes(small())
    for words in (["tree"], ["bottomup"], ["table"], ["hot"], ["top"], ["stats"], ["tree", "--json"],
                  ["tree", "--last", "1ms"], ["tree", "--thread", "worker"], ["dump"]):  # fmt: skip
        assert main([*words, str(path)]) == 0, words
        out, err = capsys.readouterr()
        assert out and not err and "\x1b" not in out and "\x07" not in out
    assert main(["diff", str(path), str(path)]) == 0
    for name in ("pprof", "speedscope", "folded", "cpusamples", "svg"):
        assert main(["export", name, "-o", str(tmp_path / "out"), str(path)]) == 0, name


@pytest.mark.usefixtures("page_command")
def test_the_page_to_share_holds_the_session_as_it_is(tmp_path):
    path = tmp_path / "a.isoscope"
    path.write_bytes(small())
    assert main(["export", "-o", str(tmp_path / "a.html"), str(path)]) == 0
    page = (tmp_path / "a.html").read_text()
    assert files_in(page) == small()
    assert main(["flame", "-o", str(tmp_path / "f.html"), "--thread", "worker", str(path)]) == 0
    assert len(formats.parse(files_in((tmp_path / "f.html").read_text()))) == 2


def files_in(page):
    import base64
    import re

    return base64.b64decode(re.search(r'id="profile">([^<]*)<', page)[1])


def test_numpy_reads_what_is_read_without(monkeypatch):
    """Columns of all sizes of numbers, of several sources."""
    np = pytest.importorskip("numpy")
    plain, fast, dice = session_columns.Columns(), session_columns.NumpyColumns(np), random.Random(7)
    for sources in (1, 5):
        of = [dice.randrange(sources) for _ in range(300)]
        cpu, late = ([dice.randrange(-(1 << bits), 1 << bits) for _ in of] for bits in (20, 30))
        known = [dice.randrange(300) for _ in of], [dice.choice((0, 1, 200)) for _ in of]
        coded = [files.plain(of), *(files.plain(map(files.zigzag, one)) for one in (cpu, late)), *map(files.plain, known)]
        pieces = [{"samples": count, "minUs": BASE_US + count, "cpuBase": count, "cpuUnit": 7} for count in (100, 0, 200)]
        assert [list(one) for one in fast.samples(pieces, coded)] == [list(one) for one in plain.samples(pieces, coded)]
    edges = [0, 127, 128, (1 << 63) - 1, (1 << 64) - 1]
    assert fast.numbers(files.plain(edges)) == plain.numbers(files.plain(edges)) == edges
    assert fast.signed(files.plain(edges)) == plain.signed(files.plain(edges))
    for broken in (b"\x80", b"\xff" * 10 + b"\x01", b"\x01\xff"):
        for columns in (plain, fast):
            with pytest.raises(ValueError):
                columns.numbers(broken)
    whole = formats.parse(small())
    monkeypatch.setattr("isoscope.formats.session.fast_columns", lambda size: fast)
    read = formats.parse(small())
    assert list(read.samples()) and stacks(read) == stacks(whole)
    assert (read.times_us, read.weights_us, read.states, read.cut) == (
        whole.times_us, whole.weights_us, whole.states, whole.cut
    )  # fmt: skip


ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["tests/sessions/small.isoscope", "tests/fuzz/corpus/session/two_threads.isoscope"])
def test_a_reader_of_a_hundred_lines_counts_the_same(name):
    """The page is enough: examples/read_session.py knows nothing else."""
    done = subprocess.run([sys.executable, ROOT / "examples/read_session.py", ROOT / name], capture_output=True, text=True)
    assert done.stderr == ""
    told = {}
    for line in done.stdout.splitlines():
        own, total, label = line.split(maxsplit=2)
        told[label] = int(own), int(total)
    tree = call_tree(formats.open(ROOT / name), weight="samples")
    rows = [row for row in tree.functions() if "+0x" not in row.name and "js:" not in row.name]  # it has no such names
    assert rows and [told[row.name] for row in rows] == [(row.self_count, row.total_count) for row in rows]
    assert sum(own for own, _ in told.values()) == tree.sample_count


# What is not whole.


def test_what_was_cut_off_is_shown_up_to_there_and_said(tmp_path, capsys):
    path = tmp_path / "cut.isoscope"
    path.write_bytes(small()[:-1])
    assert main(["tree", str(path)]) == 0
    out, err = capsys.readouterr()
    assert f"{COUNT} samples" in out
    assert err == f"isoscope: {path}: the recording was cut off: at most its last second is missing\n"


def test_zeros_behind_it_are_what_a_machine_leaves_that_died():
    whole = formats.parse(small())
    zeros = formats.parse(files.file(*small_blocks()[:-1]) + bytes(1000))
    assert stacks(zeros) == stacks(whole) and len(zeros.notes) == 1


def test_cut_off_at_any_byte_it_is_read_or_says_why():
    content, counts = small(), set()
    for end in range(1, len(content)):
        try:
            profile = formats.parse(content[:end])
        except BadFile as error:
            assert end < 16 and str(error), end  # of less than a head
            continue
        counts.add(len(profile))
        assert profile.notes, end
    assert counts == {0, 3, 5}


def test_a_flipped_bit_anywhere_is_seen_or_harmless():
    content = small()
    whole = stacks(formats.parse(content))
    for at in range(len(content)):
        broken = bytearray(content)
        broken[at] ^= 1 << at % 8
        try:
            profile = formats.parse(bytes(broken))
        except BadFile:
            continue
        # 12 to 16 are not used; a magic that is none would be another format.
        assert 12 <= at < 16 and stacks(profile) == whole, at


def files_columns(content):
    return session_columns.split(content, 13)


_BAD = {
    "version 2; this isoscope reads version 1": files.head(2) + small()[16:],
    "the checksum of a block's head is wrong": small()[:30] + b"\xff" + small()[31:],
    "the checksum of block 'HEAD' is wrong": small()[:40] + b"\xff" + small()[41:],
    "block 'HEAD' is too large": files.head() + files.block("HEAD", b"", 1 << 30),
    "it ends within its head": small()[:12],
    "block 'HEAD' cannot be unpacked": files.head() + files.block("HEAD", b"no zstd", 7),
    "block 'SMPL'": changed("SMPL", lambda told: b"\xff" * 20),
    "its columns are not whole": changed("SMPL", lambda told: told + b"\x01"),
    "block 'CHNS'": changed("CHNS", lambda told: told[:-1]),
    "other lengths than it says": changed("CHNS", lambda told: files.columns(b"\x7f", *[b""] * 7)),
    "there is no node 99": changed("SMPL", of_samples(3, 99)),
    "there is no frame 99": changed("SMPL", of_samples(4, 99)),
    "IndexError('list index out of range')": changed("SMPL", of_samples(2, 7)),
    "its parent is not before it": changed(
        "SMPL", lambda _: files.smpl(files._SAMPLES[:3], files.FRAMES[:5], [(-5, 1), (1, 3), (2, 3)])
    ),
    "block 'SMPL': it lacks or breaks KeyError('cpuUnit')": changed(
        "PIEC", lambda told: {key: value for key, value in told.items() if key != "cpuUnit"}
    ),
    "block 'SMPL': it has more stacks than samples": changed(
        "SMPL", lambda told: files.columns(*files_columns(told)[:11], b"\x02" + bytes(8), files_columns(told)[12])
    ),
    "IndexError": changed(
        "SMPL", lambda told: files.columns(*files_columns(told)[:7], b"\x09" * 3, *files_columns(told)[8:])
    ),
    "block 'PROC'": changed("PROC", with_member("processes", 0, "id", value=[])),
    "block 'THRD'": changed("THRD", with_member("threads", 0, value=[1])),
    "block 'NAME'": changed("NAME", lambda told: {"names": 7}),
    "block 'FUNC'": changed("FUNC", with_member("functions", "line", value=[])),
    "block 'MODS'": changed("MODS", with_member("modules", 0, value="x")),
    "KeyError(77)": changed("CHNS", lambda _: files.chains({(1, 0x110): [(77, 1, 0, 0)]})),
    "block 'SETT'": changed("SETT", lambda told: b"{"),
}


@pytest.mark.parametrize("says", _BAD)
def test_what_is_broken_is_named_with_its_place(says):
    with pytest.raises(BadFile) as caught:
        formats.parse(_BAD[says])
    assert says in str(caught.value) and "session file, at byte " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_json_that_never_ends_its_brackets_is_told():
    deep = b"[" * 100_000
    with pytest.raises(BadFile, match="block 'NAME'"):
        formats.parse(changed("NAME", lambda told: deep))


def test_a_block_that_unpacks_to_more_than_it_says_takes_no_memory():
    bomb = files.Frame().pack("HEAD", b"x" * (200 << 20))
    stored = bomb[20:]
    assert len(stored) < 1 << 20
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))\n"
        "from isoscope import formats; from isoscope.errors import BadFile\n"
        "try: formats.parse(sys.stdin.buffer.read())\n"
        "except BadFile as error: print(error)\n"
    )
    content = files.head() + files.block("HEAD", stored, 10)
    done = subprocess.run([sys.executable, "-c", script], input=content, capture_output=True,
                          env={"PYTHONPATH": ":".join(sys.path)})  # fmt: skip
    assert b"block 'HEAD' is not 10 bytes, as it says" in done.stdout, done.stderr


def test_without_zstandard_it_says_what_to_install(tmp_path, capsys, monkeypatch):
    path = tmp_path / "a.isoscope"
    path.write_bytes(small())
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert main(["tree", str(path)]) == 1
    assert "install Debian's python3-zstandard" in capsys.readouterr().err


def test_broken_and_foreign_files_of_that_name_end_with_status_1(tmp_path, capsys):
    path = tmp_path / "a.isoscope"
    for content in (b"", b"\x89ISO", files.head(7), b"\x0a\x04\x08\x01"):
        path.write_bytes(content)
        assert main(["tree", str(path)]) == 1
        out, err = capsys.readouterr()
        assert out == "" and err.startswith(f"isoscope: {path}: ") and err.count("\n") == 1
    formats.save(formats.parse(small()), "pprof", path)
    assert main(["tree", str(path)]) == 0


def test_noise_is_never_more_than_an_error():
    dice = random.Random(7)
    content = small()
    for _ in range(300):
        broken = bytearray(content)
        for _ in range(dice.randrange(1, 6)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        try:
            formats.parse(bytes(broken))
        except BadFile:
            pass


def test_the_committed_file_is_the_small_one():
    """It is the page's, too (tests/web). zstd of another version may pack it otherwise."""
    path = Path(__file__).resolve().parents[1] / "sessions" / "small.isoscope"
    told = []
    for content in (path.read_bytes(), small()):
        unpacker = session_blocks.Unpacker()
        told.append([
            (block.kind, unpacker.read(block) if block.kind not in ("SMPL", "SRCE", "NEXT") else b"")
            for block in session_blocks.blocks(content)
        ])  # fmt: skip
    assert told[0] == told[1]
    assert stacks(formats.open(path)) == stacks(formats.parse(small()))


def test_stalls_and_loops_are_passed_over():
    stall = {"number": 1, "process": 41, "texts": ["walk"], "culprit": [1, 0, 0, 30]}
    loop = {"loops": [{"number": 1, "process": 41, "kind": "epoll"}]}
    *blocks, end = files.small_blocks()
    profile = formats.parse(files.file(*blocks, ("LOOP", loop), ("STLS", stall), end))
    assert len(profile) == files.COUNT and not profile.notes
