"""The browser page and one profile, on this machine only: for `isoscope view`.

    GET /TOKEN=/          the page (from `isoscope page-file`), with the profile's name in it
    GET /TOKEN=/profile   the profile's bytes
    GET /TOKEN=/docs/     the documentation, which the page's help names; also of `isoscope page-file`

Requests must have the token, and name this server as their host: a page of another name that
resolves to this machine gets nothing.
"""

from __future__ import annotations

import gzip
import html
import http.server
import re
import secrets
import threading
from types import TracebackType
from typing import Any, Optional

from ..command import page_file
from ..errors import IsoscopeError

_SCRIPTS = ("app.js", "chunk.js", "later.js")
_PAGES = ("index.html", "one_page.html")
_TYPES = {
    **dict.fromkeys(_PAGES, "text/html"), "app.css": "text/css", **dict.fromkeys(_SCRIPTS, "text/javascript"),
}  # fmt: skip
_DOCS = {".html": "text/html", ".css": "text/css", ".txt": "text/plain"}
_POLICY = (  # as server/http/page.c has it
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


class ViewServer:
    """Listens inside the with block. Errors: IsoscopeError."""

    def __init__(self, name: str, content: bytes, port: int = 0) -> None:
        self._files = {file: (f"{kind}; charset=utf-8", gzip.decompress(page_file(file))) for file, kind in _TYPES.items()}
        kind, page = self._files["index.html"]
        mark = f'<div id="page" data-file="{html.escape(name)}">'
        page = page.replace(b'<div id="page">', mark.encode("utf-8", "replace"))
        self._files[""] = self._files["index.html"] = (kind, page)
        self._files["profile"] = ("application/octet-stream", content)
        self._token = secrets.token_urlsafe(16)
        self._port = port

    def __enter__(self) -> ViewServer:
        handler: Any = type("_Served", (_Handler,), {"files": self._files, "token": self._token})
        try:
            self._server = http.server.ThreadingHTTPServer(("127.0.0.1", self._port), handler)
        except OSError as error:
            raise IsoscopeError(f"cannot listen on port {self._port}: {error.strerror}") from error
        self._server.daemon_threads = True
        handler.port = self._server.server_port
        return self

    def __exit__(
        self,
        exc_type: Optional[type[BaseException]],
        exc: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/{self._token}=/"

    def serve(self) -> None:
        self._server.serve_forever()

    def stop(self) -> None:
        """From a signal handler, in the thread that serves: shutdown would wait for it."""
        threading.Thread(target=self._server.shutdown, daemon=True).start()


def _docs(name: str) -> Optional[tuple[str, bytes]]:
    """Read when it is asked for: most never look."""
    file = re.fullmatch(r"docs/(\w+(\.html|\.css|\.txt))?", name)
    if not file:
        return None
    try:
        content = page_file(name)
    except IsoscopeError:
        return None  # no such page, or built without
    return f"{_DOCS[file[2] or '.html']}; charset=utf-8", gzip.decompress(content)


class _Handler(http.server.BaseHTTPRequestHandler):
    files: dict[str, tuple[str, bytes]] = {}
    token = ""
    port = 0
    server_version, sys_version = "isoscope", ""

    def do_GET(self) -> None:
        prefix = f"/{self.token}=/"
        path = self.path.partition("?")[0]
        name = path[len(prefix) :]
        found = (self.files.get(name) or _docs(name)) if path.startswith(prefix) else None
        if found is None or self.headers.get("Host") != f"127.0.0.1:{self.port}":
            self.send_error(403 if not path.startswith(prefix) else 404)
            return
        kind, content = found
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass
