"""Dependencies between the folders point one way."""

from pathlib import Path

import layering

ROOT = Path(__file__).resolve().parents[2]


def test_no_include_points_the_other_way():
    wrong = layering.wrong_in_tree(ROOT)
    assert not wrong, "\n".join(str(line) for line in wrong)


def test_an_include_that_points_the_other_way_is_found(tmp_path):
    for folder in ("sampler/feed", "sampler/capture", "protocol"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "sampler/capture/handler.h").write_text("")
    (tmp_path / "sampler/feed/ring.c").write_text(
        '#include "../capture/handler.h"\n#include <string.h>\n#include <jansson.h>\n')
    assert [(w.file, w.line) for w in layering.wrong_in_tree(tmp_path)] == [
        ("sampler/feed/ring.c", 1), ("sampler/feed/ring.c", 3)]


def test_protocol_enters_the_profile_by_one_door(tmp_path):
    (tmp_path / "sampler/profile").mkdir(parents=True)
    (tmp_path / "protocol").mkdir()
    for name in ("snapshot.h", "store.h"):
        (tmp_path / "sampler/profile" / name).write_text("")
    (tmp_path / "protocol/rpc.c").write_text(
        '#include "../sampler/profile/snapshot.h"\n#include "../sampler/profile/store.h"\n')
    assert [w.line for w in layering.wrong_in_tree(tmp_path)] == [2]
