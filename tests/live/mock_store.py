"""A store of debug files on a free port of 127.0.0.1: HTTP that keeps what is PUT, in a folder."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Store:
    """`status`, where it is not 0, is what each request of `method` gets instead; `asked` has all of them."""

    def __init__(self, folder: Path, status: int = 0, method: str = "PUT") -> None:
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        store = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.answer(200 if (folder / self.path[1:]).is_file() else 404)

            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if not (status and method == "PUT"):
                    file = folder / self.path[1:]
                    file.parent.mkdir(parents=True)
                    file.write_bytes(body)
                self.answer(201)

            def answer(self, code: int) -> None:
                store.asked.append((self.command, self.path, dict(self.headers)))
                self.send_response(status if status and self.command == method else code)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def methods(self) -> list[str]:
        return [method for method, _, _ in self.asked]

    def __enter__(self) -> Store:
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
