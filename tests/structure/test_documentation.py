"""The documentation's pages: what they say is in the sources, and what they are made of is whole."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("server/**/*.[ch]", "protocol/**/*.[ch]", "sampler/**/*.[ch]", "clients/python/src/**/*.py", "clients/web/src/**/*.tsx")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> dict[str, str]:
    if not find_spec("markdown_it"):
        pytest.skip("needs python3-markdown-it")
    folder = tmp_path_factory.mktemp("docs")
    done = subprocess.run([sys.executable, "-B", ROOT / "docs/site/build.py", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


def said_by_us() -> str:
    """All text of the sources, with literals that stand side by side as one and line ends as blanks."""
    whole = "\n".join(path.read_text("utf-8") for pattern in SOURCES for path in ROOT.glob(pattern))
    # As C joins literals, also over the end of a macro's line; as JSX joins lines.
    return re.sub(r"\s+", " ", re.sub(r'"\s*\\?\s*"', "", whole))


def test_each_message_of_the_troubleshooting_page_is_one_of_ours():
    text = (ROOT / "docs/troubleshooting.md").read_text()
    titles = re.findall(r"^### (.*`.*)$", text, re.M)
    said = said_by_us()
    messages = [message for title in titles for message in re.findall(r"``(.+?) ``|`([^`]+)`", title)]
    assert len(messages) > 15
    for double, single in messages:
        assert (double or single) in said, double or single


def test_pages_ask_nobody_for_anything(site):
    """No script, no picture, no style of elsewhere, no style attribute: the policy would refuse it."""
    for name, text in site.items():
        if not name.endswith(".html"):
            continue
        assert not re.search(r"<(script|img|iframe|object|embed|style)\b", text), name
        assert not re.search(r"<[a-z][^>]*\s(style|on[a-z]+)=", text), name
        assert re.findall(r'<link [^>]*href="([^"]*)"', text) == ["data:,", "site.css"], name
    assert "url(" not in site["site.css"] and "@import" not in site["site.css"]


def test_each_page_can_be_reached_from_each(site):
    pages = {name for name in site if name.endswith(".html")}
    for name in pages:
        linked = {href.partition("#")[0] for href in re.findall(r'href="([^":]*)"', site[name])} - {""}
        assert pages <= linked | {name}, name
        assert linked <= set(site), name


def test_all_guides_are_pages():
    listed = (ROOT / "docs/site/pages.txt").read_text()
    for guide in (ROOT / "docs").glob("*.md"):
        # What is for those who change isoscope, and the list itself.
        if guide.name not in ("README.md", "words.md", "first_change.md"):
            assert f"docs/{guide.name} " in listed, guide.name


WRONG = {
    "a link to nothing": ("[x](nothing.md)", "there is no such file"),
    "a heading that is not there": ("[x](#nowhere)", "there is no heading"),
    "HTML": ("<b>x</b>", "HTML is not let through"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_mistake_ends_the_build_and_is_named(what, site, tmp_path):
    line, said = WRONG[what]
    here = tmp_path / "docs/site"
    here.mkdir(parents=True)
    for file in ("build.py", "page.html", "site.css"):
        (here / file).write_bytes((ROOT / "docs/site" / file).read_bytes())
    (here / "pages.txt").write_text("# Group\none | docs/one.md | One | about one\n")
    (tmp_path / "docs/one.md").write_text(f"# One\n\n{line}\n")
    (tmp_path / "CMakeLists.txt").write_text("project(isoscope VERSION 1.2.3)\n")
    done = subprocess.run([sys.executable, "-B", here / "build.py", tmp_path / "out"], capture_output=True, text=True)
    assert done.returncode == 1 and said in done.stderr and "docs/one.md" in done.stderr, done.stderr
