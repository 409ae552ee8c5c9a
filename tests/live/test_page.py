"""The browser page, as it is sent. What it does is tests/web's."""

from __future__ import annotations

import gzip
import http.client
import re

import pytest
from harness import service_of

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
