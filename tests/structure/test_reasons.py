"""Each reason that users are given has a test that brings its cause about.

A live test says so by `@cause_of("loss:late")`, a unit test by its loss or end in the code. What
cannot be brought about here is named, with why.
"""

import re
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = {  # in tests of their own
    "loss:no_timer": "live/test_reasons.py",
    "loss:no_signal": "live/test_reasons.py",
    "timer:refused": "live/test_reasons.py",
    "timer:filtered": "live/test_reasons.py",
    "timer:absent": "live/test_reasons.py",
    "timer:switches": "live/test_timers.py",
}
NOT_HERE = {
    "timer:kernel": "needs a kernel before 5.18",
    "loss:awake": "is a race of microseconds between two system calls of the service",
}
# The words that live tests look for.
UNSAMPLED = {
    "OTHER_USER": "runs as another user",
    "RAISED": "gain rights (set-user-ID)",
    "STATIC": "it is static",
    "VALGRIND": "it runs under valgrind",
    "MUSL": "it uses musl",
    "GO_ALONE": "it is a Go program without cgo",
    "FOREIGN": "it is for another processor, or 32-bit",
    "HIDDEN": "sees other files in isoscope's folder",
    "DESCRIPTORS": "it has no file descriptors left",
    "CLEARED": "LD_PRELOAD was removed",
}

# Texts in the code that no test brings about.
TEXTS_NOT_HERE = {
    "out of memory": "malloc would have to fail",
    "out of memory while reading it": "malloc would have to fail",
    "the disk quota is used up": "needs a file system with quotas",
    "its rights cannot be set": "a folder's owner can always set them",
    "unknown error": "dlerror has a text after each failure",
}
LITERAL = r'"((?:[^"\\\n]|\\.)*)"'
TEXT = rf'((?:{LITERAL.replace("(", "(?:", 1)}\s*(?:PRI\w+\s*)?)+)'
GIVEN_BY = (r"\breason = (?:[^;\"]*[?:] )?", r"\breturn (?:[^;\"]*[?:] )?", r"\brefuse\([^;\"]*?")
PART_MIN = 8  # characters of a text that a test looks for
# What is told by these is looked for whole, with what stands in its format's places.
TOLD_WHOLE = (r"\bentry_fail\([^;\"]*?", r"\bsession_problem\([^;\"]*?")
IN_BLOCK = "block '....': "  # reasons stand behind it


def table(name: str, text: str) -> list[tuple[str, str]]:
    """Of an X macro's rows: the name, and the first string behind it, both as they stand."""
    rows = re.search(rf"#define {name}\(X\)(.*?)\n\n", text.replace("\\\n", "\n"), re.DOTALL)[1]
    found = re.findall(r'X\((\w+), *"([^"]*)"', rows)
    assert len(found) == len(re.findall(r"\bX\(", rows)) > 5, name
    return found


def texts_of(folder: str, ending: str) -> str:
    return "\n".join(path.read_text() for path in sorted((ROOT / "tests" / folder).glob(f"*.{ending}")))


def test_each_loss_end_and_timer_is_brought_about():
    layout = (ROOT / "sampler/feed/layout.h").read_text()
    live, unit = texts_of("live", "py"), texts_of("unit", "c")
    marked = {word for marks in re.findall(r"@cause_of\(([^)]*)\)", live)
              for word in re.findall(r'"([^"]+)"', marks)}
    wanted, in_units = set(), set()
    for kind, name in (("loss", "FEED_LOSSES"), ("end", "FEED_ENDS"), ("timer", "FEED_TIMER_REASONS")):
        for row, word in table(name, layout):
            if row in ("ROOT", "NONE"):
                continue
            wanted.add(f"{kind}:{word}")
            if kind != "timer" and re.search(rf"\bFEED_{kind.upper()}_{row}\b", unit):
                in_units.add(f"{kind}:{word}")
    for reason, file in ELSEWHERE.items():
        assert (ROOT / "tests" / file).exists(), reason
    told = marked | in_units | {*ELSEWHERE} | {*NOT_HERE}
    assert wanted - told == set()
    assert told - wanted == set(), "there is no such reason"


def test_each_reason_why_a_program_is_not_sampled_is_brought_about():
    live = texts_of("live", "py")
    rows = dict(table("UNSAMPLED_REASONS", (ROOT / "server/feeds/why_unsampled.h").read_text()))
    assert set(rows) == set(UNSAMPLED)
    for name, words in UNSAMPLED.items():
        assert words in live, name


def in_one(text: str) -> str:
    return "".join(re.findall(LITERAL, text))


def texts_given() -> Iterator[str]:
    """What C code gives as a reason: a sentence in small letters, or a format of one."""
    for folder in ("sampler", "server"):
        for path in sorted((ROOT / folder).rglob("*.c")):
            for given_by in GIVEN_BY:
                for text in re.findall(given_by + TEXT, path.read_text()):
                    if re.match(r"[a-z'%]\S* ", in_one(text)) and parts(in_one(text)):
                        yield in_one(text)


def parts(text: str) -> list[str]:
    """A format's own words."""
    found = (part.strip() for part in re.split(r"%[-.\d*lzu]*[a-zA-Z]|%$", text))
    return [part for part in found if len(part) >= PART_MIN]


def common(looked_for: str, text: str) -> int:
    """So many characters; 0: it is not looked for."""
    if looked_for in text:
        return len(looked_for)
    return max((len(part) for part in parts(text) if part in looked_for), default=0)


def meant_by(looked_for: str, texts: set[str]) -> set[str]:
    """The text that has most of it; none, where several have as much."""
    if looked_for in texts:
        return {looked_for}
    most = max(common(looked_for, text) for text in texts)
    fitting = {text for text in texts if most and common(looked_for, text) == most}
    return fitting if len(fitting) == 1 else set()


def test_each_text_that_gives_a_reason_is_looked_for_by_a_test():
    """By words that no other text has."""
    tests = "\n".join(texts_of(folder, ending) for folder, ending in
                      (("unit", "c"), ("live", "py"), ("protocol", "c")))
    looked_for = {text for text in map(in_one, re.findall(TEXT, tests))
                  if " " in text and len(text) >= PART_MIN}
    texts = {*texts_given()}
    assert len(texts) > 50
    told = set().union(*(meant_by(words, texts) for words in looked_for))
    assert texts - told - {*TEXTS_NOT_HERE} == set()
    assert {*TEXTS_NOT_HERE} & told == set() and {*TEXTS_NOT_HERE} <= texts


def told_whole() -> Iterator[str]:
    for path in sorted((ROOT / "sampler/profile/session").rglob("*.c")):
        for given_by in TOLD_WHOLE:
            for text in re.findall(given_by + TEXT, path.read_text()):
                if parts(re.sub(IN_BLOCK, "", in_one(text))):
                    yield in_one(text)


def as_pattern(text: str) -> re.Pattern[str]:
    """A number's format may end the literal: "no number from %" PRId64 " to %" PRId64."""
    words = re.split(r"%[-.\d*lzu]*[a-zA-Z]|%(?= |$)", text)
    return re.compile(f"({IN_BLOCK})?" + ".+".join(map(re.escape, words)))


def test_each_text_on_a_session_is_looked_for_whole():
    tests = texts_of("unit", "c")
    looked_for = {*map(in_one, re.findall(TEXT, tests))}
    texts = {*told_whole()} - {*TEXTS_NOT_HERE}
    assert len(texts) > 45
    missing = {text for text in texts if not any(map(as_pattern(text).fullmatch, looked_for))}
    assert missing == set()
