"""Where pcs were: in profiles, and in the files that have a place for them."""

import gzip
import io
import json

from isoscope import Function, Library, Process, Profile, formats
from isoscope.formats.pprof_fields import LOCATION, MAPPING, PROFILE
from isoscope.formats.protobuf import fields, number_fields
from isoscope.model import Code
from isoscope.samples_table import SamplesTable

APP_ID, LIB_ID = "571d98e01096d5c1c32420d229a6731a0a50d2a0", "93ac61ec5a8eb139"
APP = Library("l/1", "", "app", "/opt/app", False, APP_ID, Code(0x401060, 0x1FA0, 0x1060, 0x400000))
LIB = Library("l/2", "", "lib.so", "/opt/lib.so", True, LIB_ID, Code(0x400000, 0x1800, 0, 0x3000))
LOST = Library("l/3", "", "lost.so", "/opt/lost.so")
MAIN = Function("f/1", "main", APP, offset=0x401100, size=0x100)
LEAF = Function("f/2", "leaf", APP)
COPY = Function("f/3", "copy", LIB, offset=0x400010, size=0x40)
GONE = Function("f/4", "lost.so+0x5001", LOST, kind="Unnamed", offset=0x5001)


def stacks(*all_frames):
    """A profile with a sample of each stack, outermost first."""
    profile = Profile(pcs=True)
    profile.period_us = 1000
    thread = profile.thread(Process("isolates/7", "app", 7), 7)
    for place, frames in enumerate(all_frames):
        node = 0
        for frame in frames:
            node = profile.node(node, profile.frame(*frame))
        profile.add_sample(1000 * (place + 1), thread, node)
    return profile


def made():
    """leaf is inlined into main; copy's module wants to be where main's is."""
    return stacks(
        [(MAIN, 11, False, 0x401110), (LEAF, 5, True, 0x401110)],
        [(MAIN, 12, False, 0x401120), (COPY, 0, False, 0x400020)],
        [(MAIN, 12, False, 0x401120), (GONE, 0, False, 0x5001)],
    )


def pprof(profile):
    """Its mappings by number, and address and mapping of its locations."""
    out = io.BytesIO()
    formats.write(profile, "pprof", out)
    mappings, locations, strings = {}, [], []
    for number, value in fields(gzip.decompress(out.getvalue())):
        if number == PROFILE.mapping:
            entry = number_fields(value)
            mappings[entry[MAPPING.id]] = entry
        elif number == PROFILE.location:
            entry = number_fields(value)
            locations.append((entry.get(LOCATION.address, 0), entry[LOCATION.mapping_id]))
        elif number == PROFILE.string_table:
            strings.append(value.decode())
    for entry in mappings.values():
        entry["file"] = strings[entry[MAPPING.filename]]
        entry["build_id"] = strings[entry.get(MAPPING.build_id, 0)]
    return mappings, locations, out.getvalue()


def test_the_programs_addresses_in_pprof_are_its_files():
    mappings, locations, _ = pprof(made())
    app = mappings[1]
    assert (app["file"], app["build_id"]) == ("/opt/app", APP_ID)
    assert (app[MAPPING.memory_start], app[MAPPING.memory_limit]) == (0x401000, 0x403000)
    assert app[MAPPING.file_offset] == 0x1000
    assert [address for address, mapping in locations if mapping == 1] == [0x401110, 0x401120]


def test_no_two_modules_have_the_same_addresses_in_pprof():
    """pprof asks for a symbol's address, and not in which file."""
    mappings, locations, _ = pprof(made())
    spans = sorted((m.get(MAPPING.memory_start, 0), m[MAPPING.memory_limit]) for m in mappings.values()
                   if MAPPING.memory_limit in m)  # fmt: skip
    assert all(one[1] <= other[0] for one, other in zip(spans, spans[1:]))
    lib = next(m for m in mappings.values() if m["file"] == "/opt/lib.so")
    assert lib["build_id"] == LIB_ID
    moved = lib[MAPPING.memory_start] - 0x400000
    assert moved > 0 and (0x400020 + moved, lib[MAPPING.id]) in locations


def test_a_module_that_could_not_be_read_has_addresses_as_if_mapped_whole():
    mappings, locations, _ = pprof(made())
    lost = next(m for m in mappings.values() if m["file"] == "/opt/lost.so")
    assert MAPPING.file_offset not in lost and lost[MAPPING.memory_limit] == 0x6000
    assert (0x5001, lost[MAPPING.id]) in locations


def test_a_profile_without_pcs_has_no_addresses_in_pprof():
    profile = Profile()
    node = profile.node(0, profile.frame(MAIN, 11, False, 0x401110))
    profile.add_sample(0, profile.thread(Process("isolates/7", "app", 7), 7), node, weight_us=1)
    mappings, locations, _ = pprof(profile)
    assert locations == [(0, 1)] and MAPPING.memory_start not in mappings[1]


def test_pprof_that_is_read_and_written_has_the_same_addresses():
    mappings, locations, content = pprof(made())
    again, same, _ = pprof(formats.parse(content))
    assert same == locations
    assert again == mappings


def test_cpu_samples_come_back_with_offsets_sizes_and_build_ids():
    out = io.BytesIO()
    formats.write(made(), "cpusamples", out)
    back = formats.parse(out.getvalue())
    assert {f.offset for f in back.frames} == {f.offset for f in made().frames}
    main = next(f.function for f in back.frames if f.function.name == "main")
    assert (main.offset, main.size) == (MAIN.offset, MAIN.size)
    assert (main.library.build_id, main.library.code) == (APP_ID, APP.code)


def firefox():
    out = io.BytesIO()
    formats.write(made(), "firefox", out)
    value = json.loads(out.getvalue())
    return value, value["shared"]["frameTable"], value["shared"]["nativeSymbols"]


def test_firefox_addresses_count_from_the_modules_first_byte():
    value, frames, symbols = firefox()
    names = value["shared"]["stringArray"]
    assert set(frames["address"]) == {0x1110, 0x1120, 0x3FD020, 0x5001}
    rows = list(zip(map(names.__getitem__, symbols["name"]), symbols["address"],
                    symbols["functionSize"]))  # fmt: skip
    assert ("main", 0x1100, 0x100) in rows and ("copy", 0x3FD010, 0x40) in rows
    inlined = frames["inlineDepth"].index(1)
    assert names[symbols["name"][frames["nativeSymbol"][inlined]]] == "main"


def test_firefox_has_build_ids_as_breakpad_spells_them():
    libs = {lib["name"]: lib for lib in firefox()[0]["libs"]}
    assert libs["app"]["codeId"] == APP_ID
    assert libs["app"]["breakpadId"] == "E0981D579610C1D5C32420D229A6731A0"
    assert libs["lib.so"]["breakpadId"] == "EC61AC938E5A39B100000000000000000"
    assert libs["lost.so"]["breakpadId"] == libs["lost.so"]["codeId"] == ""


def reply(frames, **more):
    return {
        "type": "_CpuSamplesTable", "samplePeriod": 1000, "pid": 7, "next": "1", "_counters": {},
        "vmTags": ["Running"], "firstLibrary": 0, "firstFunction": 0, "firstFrame": 0,
        "libraries": [{"id": "libraries/1", "uri": "", "name": "app", "path": "/opt/app",
                       "buildId": APP_ID, "system": False, "loadBias": 0}],
        "functions": [{"id": f"functions/{name}", "name": name, "kind": "Native",
                       "owner": {"type": "@Library", "id": "libraries/1"}} for name in "ab"],
        "frames": frames, "renamed": [],
        "trees": [{
            "tree": 1, "firstNode": 1, "firstThread": 0, "timeOriginMicros": 1,
            "nodes": {"callers": [], "frames": []},
            "threads": [{"isolateId": "isolates/7", "tid": 7, "name": "", "userTag": "Default"}],
            "samples": {"timeDeltas": [0, 1], "threads": [0, 0], "callers": [0, 0],
                        "frames": [0, 1], "cpuNanos": [1, 1], "vmTags": [0, 0], "incomplete": [],
                        "ends": []},
        }],
        **more,
    }  # fmt: skip


def test_two_pcs_of_a_line_are_two_frames_only_where_pcs_are_kept():
    frames = [{"functions": [0], "lines": [3], "offset": 16},
              {"functions": [0], "lines": [3], "offset": 20}]  # fmt: skip
    update = SamplesTable().add(reply(frames))
    kept, merged = Profile(pcs=True), Profile()
    kept.add_update(update)
    merged.add_update(update)
    assert [frame.offset for frame in kept.frames] == [16, 20]
    assert [frame.offset for frame in merged.frames] == [-1]
    assert len(merged.callers) == 2 and len(kept.callers) == 3


def test_a_frame_that_gets_a_name_later_stays_where_it_was():
    table = SamplesTable()
    frames = [{"functions": [0], "lines": [0], "offset": 16},
              {"functions": [0], "lines": [0], "offset": 20}]  # fmt: skip
    table.add(reply(frames))
    later = {**reply([]), "firstLibrary": 1, "firstFunction": 2, "firstFrame": 2, "libraries": [],
             "functions": [], "renamed": [{"frame": 1, "functions": [1], "lines": [9]}]}  # fmt: skip
    tree = later["trees"][0]
    profile = Profile(pcs=True)
    profile.add_update(table.add({**later, "trees": [{**tree, "firstThread": 0}]}))
    assert [(f.function.name, f.line, f.offset) for f in profile.frames] == [("a", 0, 16), ("b", 9, 20)]
