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


def test_a_folder_inside_another_has_rules_of_its_own(tmp_path):
    for folder in ("names", "files"):
        (tmp_path / "sampler/profile/symbols" / folder).mkdir(parents=True)
    (tmp_path / "sampler/profile/map64.h").write_text("")
    (tmp_path / "sampler/profile/symbols/symbols.h").write_text("#include <gelf.h>\n")
    (tmp_path / "sampler/profile/symbols/files/root.h").write_text("")
    (tmp_path / "sampler/profile/symbols/names/plt.c").write_text(
        '#include "../files/root.h"\n#include "../symbols.h"\n#include "../../map64.h"\n'
        '#include <elfutils/libdw.h>\n')
    assert [w.line for w in layering.wrong_in_tree(tmp_path)] == [2, 3, 4]


def test_a_folder_without_a_word_on_system_headers_keeps_to_the_one_around_it(tmp_path):
    (tmp_path / "sampler/profile/naming").mkdir(parents=True)
    (tmp_path / "sampler/profile/naming/namer.c").write_text("#include <gelf.h>\n")
    assert [w.line for w in layering.wrong_in_tree(tmp_path)] == [1]


def test_the_page_knows_its_data_and_not_the_other_way():
    wrong = layering.wrong_in_web(ROOT)
    assert not wrong, "\n".join(str(line) for line in wrong)
    assert len(list((ROOT / "clients/web/src/data").glob("*.ts"))) > 5  # it looked where they are


def test_an_import_that_points_the_other_way_is_found(tmp_path):
    for folder in ("data", "views", "wire"):
        (tmp_path / "clients/web/src" / folder).mkdir(parents=True)
    (tmp_path / "clients/web/src/data/tree.ts").write_text(
        'import type { A } from "../wire/protocol";\nimport { B } from "../views/flame";\n'
        'import { signal } from "@preact/signals";\nimport {\n  C,\n} from "../wire/rpc";\n'
        'import { D } from "./columns";\n')
    assert [w.line for w in layering.wrong_in_web(tmp_path)] == [2, 3, 6]
