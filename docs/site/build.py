#!/usr/bin/env python3
"""The documentation as a site: pages that need no script, no network and no server.

    pages.txt + the Markdown files it names -> FOLDER/*.html, site.css, files.txt [-> OUT.c]

    build.py FOLDER [--c OUT.c]

markdown-it-py (Debian's python3-markdown-it) reads the Markdown. A link to a page of the site becomes
one to its HTML; a link to another file of the tree is shown as its path, since no reader of an install
has that file. A link to nothing, or to a heading that is not there, ends the build with its place.
The service's Content-Security-Policy allows no style attributes: alignment is a class.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import html
import os
import re
import sys
from pathlib import Path
from typing import Iterator, NamedTuple, NoReturn
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INDEX_FROM = 12  # a section with so many headings has an index of them
TYPES = {".html": "text/html", ".css": "text/css", ".txt": "text/plain"}


class Page(NamedTuple):
    name: str  # "stalls": stalls.html
    title: str
    about: str
    group: str
    source: Path


class Heading(NamedTuple):
    level: int
    anchor: str
    inner: str  # as HTML, without links
    plain: str


class Text(NamedTuple):
    tokens: list[Token]
    headings: list[Heading]
    anchors: set[str]


def fail(message: str) -> NoReturn:
    sys.exit(f"docs: {message}")


def pages_listed() -> list[Page]:
    """pages.txt: `# Group`, then rows of name, source, title, and what the page is about."""
    pages, group, listing = [], "", HERE / "pages.txt"
    for number, line in enumerate(listing.read_text("utf-8").splitlines(), 1):
        if line.startswith("# "):
            group = line[2:].strip()
        elif line.strip():
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) != 4 or not group:
                fail(f"{listing.name}:{number}: expected `name | file | title | what it is about` in a group")
            name, source, title, about = cells
            if not (ROOT / source).is_file():
                fail(f"{listing.name}:{number}: there is no file {source}")
            pages.append(Page(name, title, about, group, ROOT / source))
    return pages


# ---- one page's text ----

def slug(plain: str) -> str:
    """As the usual code hosts make them, so that one link serves here and there."""
    kept = re.sub(r"[^\w\- ]", "", plain.lower())
    return kept.replace(" ", "-")


def plain_of(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [] if child.type in ("text", "code_inline"))


def without_links(inline: Token) -> list[Token]:
    left_out = ("link_open", "link_close", "html_inline")
    return [child for child in inline.children or [] if child.type not in left_out]


def own_anchors(page: Page, token: Token) -> list[str]:
    """`<a id="class-ref"></a>`, the only HTML that a page may have."""
    found = []
    for child in [token, *(token.children or [])]:
        if child.type not in ("html_block", "html_inline"):
            continue
        anchor = re.fullmatch(r'<a id="([\w-]+)">|</a>', child.content)
        if not anchor:
            fail(f"{page.source.relative_to(ROOT)}: HTML is not let through: {child.content.strip()}")
        found += [anchor[1]] if anchor[1] else []
    return found


def read(markdown: MarkdownIt, page: Page) -> Text:
    tokens = markdown.parse(page.source.read_text("utf-8"))
    headings: list[Heading] = []
    anchors = {anchor for token in tokens for anchor in own_anchors(page, token)}
    times: dict[str, int] = {}
    for opening, inline in zip(tokens, tokens[1:]):
        if opening.type == "heading_open":
            plain = plain_of(inline)
            own = own_anchors(page, inline)
            anchor = own[0] if own else slug(plain)
            if not own:
                times[anchor] = times.get(anchor, -1) + 1
                anchor += f"-{times[anchor]}" if times[anchor] else ""
                opening.attrSet("id", anchor)
                anchors.add(anchor)
            inner = markdown.renderer.renderInline(without_links(inline), markdown.options, {})
            headings.append(Heading(int(opening.tag[1]), anchor, inner, plain))
        style = opening.attrs.pop("style", None)
        if style:
            opening.attrJoin("class", str(style).replace("text-align:", "to-"))
    return Text(tokens, headings, anchors)


class Links:
    """What the links of one page become."""

    def __init__(self, page: Page, pages: list[Page], texts: dict[str, Text]) -> None:
        self.page = page
        self.by_source = {other.source: other for other in pages}
        self.texts = texts

    def wrong(self, href: str, why: str) -> NoReturn:
        fail(f"{self.page.source.relative_to(ROOT)}: the link to {href}: {why}")

    def check_anchor(self, page: Page, anchor: str, href: str) -> None:
        if anchor and anchor not in self.texts[page.name].anchors:
            self.wrong(href, f"there is no heading with that name in {page.source.relative_to(ROOT)}")

    def target(self, href: str) -> str | None:
        """None: it is a file that no page is made of."""
        if re.match(r"(https?|mailto):", href):
            return href
        path, _, anchor = unquote(href).partition("#")
        file = Path(os.path.normpath(self.page.source.parent / path)) if path else self.page.source
        if not file.exists():
            self.wrong(href, "there is no such file")
        other = self.by_source.get(file)
        if other is None:
            return None
        self.check_anchor(other, anchor, href)
        return (f"{other.name}.html" if path else "") + (f"#{anchor}" if anchor else "")

    def file_of(self, href: str) -> str:
        file = Path(os.path.normpath(self.page.source.parent / unquote(href).partition("#")[0]))
        return str(file.relative_to(ROOT))

    def apply(self, inline: Token) -> None:
        kept: list[Token] = []
        opened: list[Token] = []
        for child in inline.children or []:
            if child.type == "image":
                fail(f"{self.page.source.relative_to(ROOT)}: the page's policy allows no pictures from files")
            if child.type == "link_open":
                opened.append(self.open(child))
                child = opened[-1]
            elif child.type == "link_close" and opened.pop().tag == "span":
                child.tag = "span"
            kept.append(child)
        inline.children = kept

    def open(self, link: Token) -> Token:
        href = str(link.attrs.get("href", ""))
        target = self.target(href)
        if target is None:
            link.tag = "span"
            link.attrs = {"class": "file", "title": f"in isoscope's sources: {self.file_of(href)}"}
        else:
            link.attrs = {"href": target}
            if target.startswith("http"):
                link.attrs["rel"] = "noreferrer"
        return link


# ---- the HTML ----

def sections_index(headings: list[Heading], at: int) -> str:
    """Of the headings below headings[at], when they are many."""
    below = []
    for heading in headings[at + 1 :]:
        if heading.level <= headings[at].level:
            break
        if heading.level == headings[at].level + 1:
            below.append(heading)
    if headings[at].level != 2 or len(below) < INDEX_FROM:
        return ""
    links = "\n".join(f'<li><a href="#{item.anchor}">{item.inner}</a></li>' for item in below)
    return f'<ul class="index">\n{links}\n</ul>\n'


def body_of(markdown: MarkdownIt, text: Text, links: Links) -> str:
    for token in text.tokens:
        if token.type == "inline":
            links.apply(token)
    parts, from_, seen = [], 0, 0
    for at, token in enumerate(text.tokens):
        if token.type == "heading_close":
            index = sections_index(text.headings, seen)
            seen += 1
            if index:
                parts += [markdown.renderer.render(text.tokens[from_ : at + 1], markdown.options, {}), index]
                from_ = at + 1
    parts.append(markdown.renderer.render(text.tokens[from_:], markdown.options, {}))
    # A wide table scrolls by itself; it must be reachable by the keyboard for that.
    body = "".join(parts).replace("<table>", '<div class="wide" tabindex="0" role="group"><table>')
    return body.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')


def navigation(pages: list[Page], here: Page | None, headings: list[Heading]) -> Iterator[str]:
    group = None
    for page in pages:
        if page.group != group:
            yield ("</ul>\n" if group else "") + f"<p>{html.escape(page.group)}</p>\n<ul>\n"
            group = page.group
        current = ' aria-current="page"' if page is here else ""
        yield f'<li><a href="{page.name}.html"{current}>{html.escape(page.title)}</a>'
        sections = [heading for heading in headings if heading.level == 2] if page is here else []
        if sections:
            yield "<ul>" + "".join(f'<li><a href="#{s.anchor}">{s.inner}</a></li>' for s in sections) + "</ul>"
        yield "</li>\n"
    yield "</ul>\n"


def whole(title: str, nav: str, body: str, version: str) -> str:
    return (HERE / "page.html").read_text("utf-8").replace("{version}", html.escape(version)).replace(
        "{title}", html.escape(title)).replace("{nav}", nav).replace("{body}", body)


def front(pages: list[Page]) -> str:
    rows, group = [], None
    for page in pages:
        if page.group != group:
            rows.append(f"<h2>{html.escape(page.group)}</h2>\n" if group is None else
                        f"</dl>\n<h2>{html.escape(page.group)}</h2>\n")
            rows.append("<dl>\n")
            group = page.group
        rows.append(f'<dt><a href="{page.name}.html">{html.escape(page.title)}</a></dt>'
                    f"<dd>{html.escape(page.about)}</dd>\n")
    return "<h1>isoscope</h1>\n<p>A sampling profiler for Linux programs that answers the Dart VM service " \
           "protocol.</p>\n" + "".join(rows) + "</dl>\n"


def project_version() -> str:
    found = re.search(r"project\(isoscope VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text("utf-8"))
    return found[1] if found else fail("CMakeLists.txt names no version")


def site() -> dict[str, str]:
    """What each file of the site holds, by its name."""
    # GitHub's tables and strikethrough. HTML is read to be refused (own_anchors), but for anchors.
    markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    pages, version = pages_listed(), project_version()
    texts = {page.name: read(markdown, page) for page in pages}
    files = {"index.html": whole("isoscope", "".join(navigation(pages, None, [])), front(pages), version)}
    for page in pages:
        text = texts[page.name]
        body = body_of(markdown, text, Links(page, pages, texts))
        nav = "".join(navigation(pages, page, text.headings))
        files[f"{page.name}.html"] = whole(f"{page.title} - isoscope", nav, body, version)
    files["site.css"] = (HERE / "site.css").read_text("utf-8")
    files["files.txt"] = "".join(f"{name}\n" for name in sorted(files))
    return files


# ---- for the service ----

def as_c(files: dict[str, str]) -> str:
    arrays, rows = [], []
    for name, text in sorted(files.items()):
        content = text.encode()
        # No time in it: the same bytes each time.
        packed = gzip.compress(content, 9, mtime=0)
        array = re.sub(r"\W", "_", name)
        lines = (packed[at : at + 24] for at in range(0, len(packed), 24))
        numbers = "\n".join("".join(f"{byte}," for byte in line) for line in lines)
        etag = hashlib.sha256(content).hexdigest()[:16]
        kind = TYPES[Path(name).suffix]
        arrays.append(f"static const unsigned char {array}[] = {{\n{numbers}\n}};\n\n")
        rows.append(f'    {{ "{name}", "{kind}; charset=utf-8", "\\"{etag}\\"", {array}, sizeof({array}) }},\n')
    return ('/* Made by docs/site/build.py. */\n#include "http/page.h"\n\n' + "".join(arrays) +
            "const struct page_file docs_files[] = {\n" + "".join(rows) + "    { NULL, NULL, NULL, NULL, 0 },\n};\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds isoscope's documentation as static pages.")
    parser.add_argument("folder", type=Path, help="where the pages go")
    parser.add_argument("--c", type=Path, help="write them as C source, too, for the service")
    args = parser.parse_args()
    files = site()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (args.folder / name).write_text(text, "utf-8")
    for left in args.folder.glob("*.html"):  # of a page that is listed no more
        if left.name not in files:
            left.unlink()
    if args.c:
        args.c.write_text(as_c(files), "utf-8")


if __name__ == "__main__":
    main()
