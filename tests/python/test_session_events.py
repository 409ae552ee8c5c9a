"""Events of the timeline in session files (docs/session_format.md): what is read, and what is said of broken ones."""

import struct

import pytest
import session_files as files
from isoscope import formats
from isoscope.errors import BadFile
from isoscope.timeline import COUNTER, CUT_OFF, FLOW_BEGIN, FRAME, INSTANT, NO_BEGIN, OPEN, SLICE

TABLES = [
    ("HEAD", {"startUs": 1, "wallStartUs": 1}),
    ("PROC", {"processes": [{"id": 5, "pid": 5, "exe": "/bin/game"}]}),
    ("THRD", {"threads": [[1, 5, 9, "main"], [2, 5, 0, "isoscope"]]}),
]
TEXTS = ["Dart", "draw", "count", "what", "VM", "n\u00e4me"]
OUTLINE = {"events": 6, "firstNs": 100, "lastNs": 3000, "sources": [[1, 5], [2, 1]]}


def kind(number, mark=0, whole=False, arguments=False):
    return number | mark << 4 | whole << 6 | arguments << 7


def event_columns(**changed):
    parts = {
        "bytes": files.plain(len(text.encode()) for text in TEXTS),
        "texts": "".join(TEXTS).encode(),
        "streams": files.plain([1, 5]),
        "sources": files.plain([0, 0, 0, 1, 0, 0]),
        "what": bytes([kind(0, arguments=True), kind(0, mark=2, whole=True), kind(8, arguments=True), kind(1), kind(9),
                       kind(5)]),
        "names": files.plain([2, 6, 3, 2, 2, 2]),
        "ends": files.steps([200, 3000, 400, 500, 600, 700]),
        "durations": files.plain([100, 2900, 16]),
        "depths": files.plain([1, 0]),
        "ids": files.steps([7, -2]),
        "arguments": files.plain([4, 1]),
        "argument names": files.plain([2, 3, 4, 6, 3]),
        "argument types": bytes([0, 1, 2, 3, 0]),
        "values": files.plain([files.zigzag(-3), (1 << 64) - 1, 2, files.zigzag(9)]),
        "doubles": struct.pack("<d", 0.5),
    }
    assert set(changed) <= set(parts)
    return files.columns(*{**parts, **changed}.values())


def read(*blocks):
    return formats.parse(files.file(*TABLES, *blocks, ("ENDS", {"endUs": 9, "samples": 0})))


def test_events_are_what_their_columns_say():
    timeline = read(("EVTS", OUTLINE), ("EVNT", event_columns())).timeline
    events = list(timeline.events())
    assert [(event.kind, event.name, event.stream) for event in events] == [
        (SLICE, "draw", "Dart"), (SLICE, "n\u00e4me", "Dart"), (COUNTER, "count", "Dart"), (INSTANT, "draw", "VM"),
        (FRAME, "draw", "Dart"), (FLOW_BEGIN, "draw", "Dart"),
    ]
    assert [(event.start_ns, event.duration_ns, event.depth) for event in events] == [
        (100, 100, 1), (100, 2900, 0), (400, 0, 0), (500, 0, 0), (584, 16, 0), (700, 0, 0)
    ]
    assert [event.mark for event in events] == ["", CUT_OFF, "", "", "", ""]
    assert [event.id for event in events] == [0, 0, 0, 0, 7, (1 << 64) - 2]
    assert events[0].arguments == {"draw": -3, "count": (1 << 64) - 1, "what": 0.5, "n\u00e4me": "draw"}
    assert events[2].arguments == {"count": 9}
    assert (events[0].thread.tid, events[0].thread.name, events[3].thread.tid) == (9, "main", 0)
    assert events[0].thread.process.id == "isolates/5"


def test_blocks_follow_each_other_and_marks_have_their_words():
    outline = {"events": 2, "firstNs": 7, "lastNs": 9, "sources": [[1, 2]]}
    content = files.columns(
        files.plain([1]), b"a", files.plain([1]), files.plain([0, 0]), bytes([kind(0, mark=1), kind(0, mark=3)]),
        files.plain([1, 0]), files.steps([9, 8]), files.plain([2, 0]), files.plain([0, 3]), *[b""] * 6,
    )
    timeline = read(("EVTS", OUTLINE), ("EVNT", event_columns()), ("EVTS", outline), ("EVNT", content)).timeline
    assert len(timeline) == 8
    assert [timeline.event(place).mark for place in (6, 7)] == [OPEN, NO_BEGIN]


def test_a_session_without_events_has_no_timeline():
    assert read().timeline is None


@pytest.mark.parametrize(
    "changed",
    [
        {"bytes": files.plain([4])},
        {"streams": files.plain([1])},
        {"streams": files.plain([1, 60])},
        {"sources": files.plain([0, 0, 0, 2, 0, 0])},
        {"what": bytes([11] * 6)},
        {"what": bytes(6)},
        {"names": files.plain([2, 6, 3, 2, 2])},
        {"durations": files.plain([100, 2900])},
        {"depths": files.plain([1, 0, 0])},
        {"ids": b"\x80"},
        {"arguments": files.plain([4, 2])},
        {"argument types": bytes([0, 1, 2, 4, 0])},
        {"values": files.plain([1])},
        {"doubles": b"1234567"},
    ],
    ids=lambda changed: "-".join(changed),
)
def test_columns_that_cannot_be_are_named_with_their_place(changed):
    with pytest.raises(BadFile, match=r"at byte [\d,]+: block 'EVNT'"):
        read(("EVTS", OUTLINE), ("EVNT", event_columns(**changed)))


def test_events_without_their_description_are_told():
    with pytest.raises(BadFile, match="block 'EVNT': it has no 'EVTS' before it"):
        read(("EVNT", event_columns()))


def test_events_of_a_thread_that_is_not_there_are_told():
    outline = {**OUTLINE, "sources": [[1, 5], [3, 1]]}
    with pytest.raises(BadFile, match="block 'EVNT'"):
        read(("EVTS", outline), ("EVNT", event_columns()))
