"""Dependencies between the folders point one way."""

import os
from pathlib import Path

import pytest

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
    (tmp_path / "sampler/profile/store").mkdir(parents=True)
    (tmp_path / "protocol").mkdir()
    for name in ("snapshot.h", "store/store.h"):
        (tmp_path / "sampler/profile" / name).write_text("")
    (tmp_path / "protocol/rpc.c").write_text(
        '#include "../sampler/profile/snapshot.h"\n#include "../sampler/profile/store/store.h"\n')
    assert [w.line for w in layering.wrong_in_tree(tmp_path)] == [2]


def test_a_folder_inside_another_has_rules_of_its_own(tmp_path):
    for folder in ("names", "files"):
        (tmp_path / "sampler/profile/symbols" / folder).mkdir(parents=True)
    (tmp_path / "sampler/profile/base").mkdir()
    (tmp_path / "sampler/profile/base/map64.h").write_text("")
    (tmp_path / "sampler/profile/symbols/symbols.h").write_text("#include <gelf.h>\n")
    (tmp_path / "sampler/profile/symbols/files/root.h").write_text("")
    (tmp_path / "sampler/profile/symbols/names/plt.c").write_text(
        '#include "../files/root.h"\n#include "../symbols.h"\n#include "../../base/map64.h"\n'
        '#include <elfutils/libdw.h>\n')
    assert [w.line for w in layering.wrong_in_tree(tmp_path)] == [2, 3, 4]


def wrong_lines(root, folder, part, above):
    """Of a file in that part of the folder which includes what stands above it."""
    folder = root / folder
    (folder / above).parent.mkdir(parents=True)
    (folder / above).write_text("")
    (folder / part).mkdir(exist_ok=True)
    (folder / part / "y.c").write_text('#include "y.h"\n#include "%s"\n' %
                                       os.path.relpath(folder / above, folder / part))
    (folder / part / "y.h").write_text("")
    return [w.line for w in layering.wrong_in_tree(root)]


# Each part of the sampler, and what it may not see: one above it, or one at its side.
@pytest.mark.parametrize("part, above", [
    ("system", "x.h"), ("system", "cfi/x.h"), ("cfi", "unwind/x.h"), ("unwind", "modules/x.h"),
    ("unwind", "threads/x.h"), ("modules", "threads/x.h"), ("threads", "modules/x.h"),
    ("threads", "wall/x.h"), ("wall", "x.h"), ("wall", "calls/x.h"), ("", "calls/x.h")])
def test_a_part_of_the_sampler_does_not_see_what_stands_above_it(tmp_path, part, above):
    assert wrong_lines(tmp_path, "sampler/capture", part, above) == [2]


def test_the_calls_see_the_sampler_and_all_its_parts(tmp_path):
    capture = tmp_path / "sampler/capture"
    for folder in ("calls", "threads"):
        (capture / folder).mkdir(parents=True)
    for name in ("sampler.h", "threads/tasks.h"):
        (capture / name).write_text("")
    (capture / "calls/signal_calls.c").write_text(
        '#include "../sampler.h"\n#include "../threads/tasks.h"\n')
    assert not layering.wrong_in_tree(tmp_path)


# The same of protocol/: text is below all, and what handlers know is theirs.
@pytest.mark.parametrize("part, above", [
    ("text", "rpc/x.h"), ("rpc", "isolates/x.h"), ("memory", "client/x.h"), ("objects", "isolates/x.h"),
    ("isolates", "samples/x.h"), ("samples", "client/x.h"), ("perfetto", "samples/x.h"),
    ("legacy", "handlers/x.h"), ("client", "events/x.h"), ("events", "handlers/x.h"),
    ("handlers", "dispatch.h"), ("", "handlers/x.h")])
def test_a_part_of_the_protocol_does_not_see_what_stands_above_it(tmp_path, part, above):
    assert wrong_lines(tmp_path, "protocol", part, above) == [2]


def test_each_folder_beside_ones_with_rules_has_its_own(tmp_path):
    assert layering.without_rules(ROOT) == []
    (tmp_path / "sampler/capture/newly").mkdir(parents=True)
    (tmp_path / "sampler/capture/newly/made.c").write_text("")
    assert layering.without_rules(tmp_path) == ["sampler/capture/newly"]


def test_the_rules_themselves_point_one_way():
    assert layering.circles(layering.ALLOWED) == []
    assert layering.circles(layering.ALLOWED_WEB) == []
    assert layering.circles(layering.ALLOWED_EDITOR) == []
    assert layering.circles({"a": ("b", "d"), "b": ("c",), "c": ("a", "x.h"), "d": ("c",)}) == [
        "a", "b", "c", "d"]
    assert layering.circles({"a": ("b", "c"), "b": ("c",), "c": ()}) == []


def test_a_folder_without_a_word_on_system_headers_keeps_to_the_one_around_it(tmp_path):
    (tmp_path / "sampler/profile/naming").mkdir(parents=True)
    (tmp_path / "sampler/profile/naming/symbolizer.c").write_text("#include <gelf.h>\n")
    assert [w.line for w in layering.wrong_in_tree(tmp_path)] == [1]


@pytest.mark.parametrize("folder, line", [
    ("http", "#include <sys/socket.h>"), ("http", '#include "../net/loop.h"'),
    ("run", "#include <sys/epoll.h>"), ("run", '#include "../net/loop.h"'),
    ("service", "#include <netinet/in.h>"), ("net", '#include "../service/service_host.h"'),
    ("net", "#include <zlib.h>"), ("feeds", '#include "../http/http.h"')])
def test_the_server_meets_its_clients_in_one_room(tmp_path, folder, line):
    for header in ("net/loop.h", "http/http.h", "service/service_host.h"):
        (tmp_path / "server" / header).parent.mkdir(parents=True)
        (tmp_path / "server" / header).write_text("")
    (tmp_path / "server" / folder).mkdir(exist_ok=True)
    (tmp_path / "server" / folder / "y.c").write_text(f"#include <stdio.h>\n{line}\n")
    assert [w.line for w in layering.wrong_in_tree(tmp_path)] == [2]


def test_the_page_knows_its_data_and_not_the_other_way():
    wrong = layering.wrong_in_web(ROOT)
    assert not wrong, "\n".join(str(line) for line in wrong)
    assert len(list((ROOT / "clients/web/src/data").glob("*.ts"))) > 5  # it looked where they are


def test_an_import_that_points_the_other_way_is_found(tmp_path):
    for folder in ("data", "views", "wire"):
        (tmp_path / "clients/web/src" / folder).mkdir(parents=True)
    (tmp_path / "clients/web/src/data/tree.ts").write_text(
        'import type { A } from "../wire/protocol";\nimport { B } from "../views/flame/flame";\n'
        'import { signal } from "@preact/signals";\nimport {\n  C,\n} from "../wire/rpc";\n'
        'import { D } from "./columns";\n')
    assert [w.line for w in layering.wrong_in_web(tmp_path)] == [2, 3, 6]


def test_a_folder_of_the_page_has_rules_of_its_own(tmp_path):
    source = tmp_path / "clients/web/src"
    for folder in ("data/layouts", "views/parts", "views/newly"):
        (source / folder).mkdir(parents=True)
    (source / "data/shape.ts").write_text(
        'import { A } from "./layouts/lanes";\nimport { B } from "./columns";\n')
    (source / "views/parts/tip.tsx").write_text(
        'import { A } from "../../data/layouts/lanes";\nimport { B } from "../boxes/box_draw";\n'
        'import { signal } from "@preact/signals";\n')
    (source / "views/newly/made.tsx").write_text("")
    assert [(w.file, w.line) for w in layering.wrong_in_web(tmp_path)] == [
        ("data/shape.ts", 1), ("views/parts/tip.tsx", 2)]
    assert layering.web_without_rules(tmp_path) == ["views/newly"]
    assert layering.web_without_rules(ROOT) == []


def test_editors_know_the_page_by_its_pure_modules(tmp_path):
    assert layering.wrong_in_editor(ROOT) == []
    assert layering.editor_without_rules(ROOT) == []
    source = tmp_path / "clients/editor/src"
    for folder in ("core", "lsp", "newly"):
        (source / folder).mkdir(parents=True)
    (source / "core/open.ts").write_text(
        'import { A } from "../../../web/src/data/shape";\nimport { B } from "../../../web/src/views/parts/tip";\n'
        'import { C } from "../lsp/server";\nimport { readFileSync } from "node:fs";\nimport { D } from "preact";\n'
        'import { E } from "../../../web/src/worker/answers";\nimport { F } from "../../../web/src/worker/serve";\n')
    (source / "newly/made.ts").write_text("")
    assert [(w.file, w.line) for w in layering.wrong_in_editor(tmp_path)] == [
        ("core/open.ts", 2), ("core/open.ts", 3), ("core/open.ts", 5), ("core/open.ts", 7)]
    assert layering.editor_without_rules(tmp_path) == ["newly"]


def test_the_extension_knows_the_servers_messages_and_its_model_no_vscode(tmp_path):
    assert layering.wrong_in_vscode(ROOT) == []
    assert layering.vscode_without_rules(ROOT) == []
    source = tmp_path / "clients/vscode/src"
    (source / "model").mkdir(parents=True)
    (source / "model/words.ts").write_text(
        'import { A } from "../../../editor/src/lsp/own_messages";\nimport { B } from "../../../editor/src/core/open";\n'
        'import { C } from "../views/trees";\nimport { D } from "vscode";\n')
    assert [w.line for w in layering.wrong_in_vscode(tmp_path)] == [2, 3, 4]


def test_a_folder_has_no_more_modules_than_one_can_look_through(tmp_path):
    assert layering.crowded(ROOT) == {}
    for number in range(layering.MODULES_MAX + 1):
        for folder in ("full", "fuller"):
            (tmp_path / "server" / folder).mkdir(parents=True, exist_ok=True)
            for ending in ("c", "h"):
                (tmp_path / "server" / folder / f"m{number}.{ending}").write_text("")
    (tmp_path / "server/full/m0.c").unlink()
    (tmp_path / "server/full/m0.h").unlink()
    assert layering.crowded(tmp_path) == {"server/fuller": layering.MODULES_MAX + 1}
