"""The browser page, as it is sent. What it does is tests/web's."""

from __future__ import annotations

import gzip
import http.client
import os
import re
import subprocess
from pathlib import Path

import pytest
from harness import ISOSCOPE, service_of

BROWSER = {"Accept": "text/html,*/*;q=0.8", "Accept-Encoding": "gzip, deflate, br"}


@pytest.fixture(scope="module")
def service():
    with service_of(["/bin/sleep", "300"]) as running:
        yield running


def place(service) -> tuple[str, int, str]:
    """Host, port and path of the page."""
    match = re.fullmatch(r"http://([^:/]+):(\d+)(/[^/]+/)", service.uri)
    assert match, service.uri
    return match.group(1), int(match.group(2)), match.group(3)


def get(service, name="", **headers):
    host, port, path = place(service)
    connection = http.client.HTTPConnection(host, port, timeout=30)
    try:
        wanted = {**BROWSER, **{key.replace("_", "-"): text for key, text in headers.items()}}
        connection.request("GET", path + name, headers=wanted)
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def test_a_browser_gets_the_page_and_others_get_words(service):
    response, body = get(service)
    assert response.status == 200 and response.headers["Content-Type"].startswith("text/html")
    assert b'src="app.js"' in gzip.decompress(body)
    assert "Accept" in response.headers["Vary"]
    response, body = get(service, Accept="*/*")
    assert response.headers["Content-Type"].startswith("text/plain")
    assert b"WebSocket" in body


SCRIPTS = ["app.js", "chunk.js", "later.js"]


@pytest.mark.parametrize(
    "name, kind", [*((name, "text/javascript") for name in SCRIPTS), ("app.css", "text/css")]
)
def test_its_files_come_as_gzip_with_their_type(service, name, kind):
    response, body = get(service, name)
    assert response.status == 200 and response.headers["Content-Type"].startswith(kind)
    assert response.headers["Content-Encoding"] == "gzip"
    assert len(gzip.decompress(body)) > len(body) == int(response.headers["Content-Length"])


@pytest.mark.parametrize("name", ["", *SCRIPTS, "app.css"])
def test_what_the_browser_still_has_is_not_sent_again(service, name):
    response, _ = get(service, name)
    assert response.headers["Cache-Control"] == "private, no-cache"
    etag = response.headers["ETag"]
    again, body = get(service, name, If_None_Match=etag)
    assert (again.status, body, again.headers["ETag"]) == (304, b"", etag)
    assert get(service, name, If_None_Match='"of another build"')[0].status == 200


def test_who_takes_no_gzip_is_told_so(service):
    response, body = get(service, "app.js", Accept_Encoding="identity")
    assert response.status == 406 and b"--compressed" in body
    assert response.headers["Cache-Control"] == "no-store"


def test_the_policy_lets_the_page_reach_nothing_but_its_own_service(service):
    policy = get(service)[0].headers["Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert not re.search(r"unsafe|\*|https?:", policy)


def test_its_files_need_the_token_too(service):
    host, port, _ = place(service)
    connection = http.client.HTTPConnection(host, port, timeout=30)
    connection.request("GET", "/app.js", headers=BROWSER)
    assert connection.getresponse().status == 403
    connection.close()


def has_documentation() -> None:
    if subprocess.run([ISOSCOPE, "page-file", "docs/files.txt"], capture_output=True).returncode:
        pytest.skip("needs a build with python3-markdown-it: isoscope has no documentation in it")


def test_the_documentation_is_below_the_page(service):
    has_documentation()
    response, _ = get(service, "docs")
    assert response.status == 302 and response.headers["Location"] == "docs/"
    response, body = get(service, "docs/")
    assert response.status == 200 and b'href="stalls.html"' in gzip.decompress(body)
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    response, body = get(service, "docs/files.txt")
    for name in gzip.decompress(body).decode().split():
        response, body = get(service, f"docs/{name}")
        assert response.status == 200 and gzip.decompress(body), name
    response, body = get(service, "docs/nothing.html")
    assert response.status == 404 and b"docs/ lists them" in body


def test_the_documentation_asks_for_the_token(service):
    host, port, _ = place(service)
    connection = http.client.HTTPConnection(host, port, timeout=30)
    connection.request("GET", "/docs/", headers=BROWSER)
    assert connection.getresponse().status == 403
    connection.close()


def test_the_command_writes_the_documentation_and_names_its_page(tmp_path):
    has_documentation()

    def said(*words: str, status: int = 0) -> str:
        done = subprocess.run([ISOSCOPE, "docs", *words], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "DISPLAY": "", "BROWSER": "",
                                   "WAYLAND_DISPLAY": ""})
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    assert "stalls" in said("--list").split()
    address = said("stalls").split()[-1]
    assert address.startswith("file:///") and address.endswith("/stalls.html")
    assert "<h1" in Path(address.removeprefix("file://")).read_text()
    said("--write", str(tmp_path / "here"))
    assert (tmp_path / "here/index.html").exists() and (tmp_path / "here/site.css").exists()
    assert "there is no page 'stalks'" in said("stalks", status=2)
    (tmp_path / "file").touch()
    assert "--write FOLDER takes another place" in said("--write", str(tmp_path / "file/x"), status=1)
