"""Each cause of a loss stands in the feed's layout, and each client has words for it."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATS = ROOT / "clients/python/src/isoscope/cli/commands/stats.py"
PAGE = ROOT / "clients/web/src/views/frame/losses.tsx"


def losses() -> dict[str, str]:
    """The name on the wire, and what it means."""
    text = (ROOT / "sampler/feed/layout.h").read_text().replace("\\\n", "\n")
    table = re.search(r"#define FEED_LOSSES\(X\)(.*?)\n\n", text, re.DOTALL)[1]
    rows = re.findall(r'X\(\w+, "(\w+)",\s*((?:"[^"]*"\s*)+)\)', table)
    assert len(rows) == table.count("X(") > 5
    return {name: "".join(re.findall(r'"([^"]*)"', words)) for name, words in rows}


def test_stats_says_what_the_layout_says():
    (said,) = (ast.literal_eval(one.value) for one in ast.parse(STATS.read_text()).body
               if isinstance(one, ast.Assign) and one.targets[0].id == "_LOSSES")
    of_feed = {name[5:]: words for name, words in said.items() if name.startswith("lost_")}
    assert of_feed == losses()


def test_the_page_has_a_short_form_of_each():
    table = re.search(r"const CAUSES.*?\{(.*?)\};", PAGE.read_text(), re.DOTALL)[1]
    assert set(re.findall(r"^  (\w+):", table, re.MULTILINE)) == set(losses())
