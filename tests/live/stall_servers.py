"""Servers and interpreters among stall_programs.py."""

from __future__ import annotations

import os
import socket
import sys
import textwrap
import threading
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from harness import DEADLINE_S, ROOT
from stall_programs import LATE_MS, PYTHON, Case, Program, Talking

sys.path.append(str(ROOT / "tests" / "torture"))

from server_programs import free_port, group_of, nobody  # noqa: E402


class Redis(Program):
    name, package, needs = "redis-server", "redis-server", ["redis-server"]
    KEYS = 1_000_000

    def command(self) -> list[str]:
        self.port = free_port()
        return ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly",
                "no", "--enable-debug-command", "local", "--dir", str(self.folder), "--hz", "100"]

    def ask(self, *words: str) -> None:
        """Sends a command, and waits for the first byte of its answer, then for the rest."""
        text = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
        with socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_S) as link:
            link.sendall(text.encode() + b"*1\r\n$4\r\nQUIT\r\n")
            while link.recv(1 << 20):
                pass

    def turn(self) -> None:
        try:
            self.ask("PING")
        except OSError:
            time.sleep(0.01)

    def keys(self) -> None:
        self.ask("DEBUG", "POPULATE", str(self.KEYS))
        self.ask("KEYS", "*")

    def cases(self) -> list[Case]:
        lua = "local n = 0 for i = 1, 60000000 do n = n + i % 7 end return n"
        return [
            Case("DEBUG SLEEP", lambda: self.ask("DEBUG", "SLEEP", str(LATE_MS / 1e3)), {"sleep"},
                 "^debugCommand$"),
            Case("KEYS *", self.keys, {"busy"}, "^keysCommand$"),
            Case("a slow script", lambda: self.ask("EVAL", lua, "0"), {"busy"}, "^lua|evalCommand|scriptCall"),
        ]


@contextmanager
def late_writer(pipe: Path) -> Iterator[None]:
    """A pipe that who reads it waits for."""
    os.mkfifo(pipe)

    def write() -> None:
        with open(pipe, "w") as out:  # once somebody reads
            time.sleep(LATE_MS / 1e3)
            out.write("late")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        pipe.unlink()


class Node(Talking):
    """The three kinds of elastic/kibana's issue 292147, and one that is as usual."""

    name, package, needs = "node", "nodejs", ["node"]
    SCRIPT = """
        const crypto = require('crypto'), { execSync } = require('child_process');
        function compute() {
            const end = Date.now() + LATE;
            let n = 0;
            while (Date.now() < end) n += Math.sqrt(n + 1);
            return n;
        }
        function waitForProcess() {
            execSync('sleep ' + LATE / 1000);
        }
        function hash() {
            const end = Date.now() + LATE;
            while (Date.now() < end)
                crypto.pbkdf2Sync('a', 'b', 100000, 64, 'sha512');
        }
        const text = JSON.stringify(Array.from({ length: 20000 }, (_, i) => ({ id: i, name: 'item ' + i })));
        function parse() {
            const end = Date.now() + LATE;
            while (Date.now() < end)
                JSON.parse(text);
        }
        const ways = { compute, waitForProcess, hash, parse };
        require('readline').createInterface({ input: process.stdin }).on('line', (word) => {
            setTimeout(() => { ways[word](); console.log('done'); }, 1);
        });
        setInterval(() => {}, 10);
    """

    def source(self) -> str:
        return self.SCRIPT.replace("LATE", str(LATE_MS))

    def command(self) -> list[str]:
        script = self.folder / "script.js"
        script.write_text(self.source())
        return ["node", str(script)]

    def cases(self) -> list[Case]:
        return [
            self.case("compute", {"busy"}, "compute", "Date.now()"),
            self.case("waitForProcess", {"child", "io"}, "waitForProcess", "execSync"),
            self.case("hash", {"busy"}, "hash", "pbkdf2Sync"),
            self.case("parse", {"busy"}, "parse", "JSON.parse"),
        ]


class Asyncio(Talking):
    name, package = "Python's asyncio", "python3"
    SCRIPT = """
        import asyncio, socket, sys, threading, time

        def slept():
            time.sleep(LATE)

        def blocked():
            ours, theirs = socket.socketpair()
            threading.Timer(LATE, theirs.send, (b"x",)).start()
            ours.recv(1)

        def computed():
            end = time.monotonic() + LATE
            while time.monotonic() < end:
                pass

        def read():
            open("PIPE").read()

        async def ticks():
            while True:
                await asyncio.sleep(0.01)

        async def main():
            beside = asyncio.create_task(ticks())
            lines = asyncio.Queue()
            loop = asyncio.get_running_loop()
            loop.add_reader(0, lambda: lines.put_nowait(sys.stdin.readline()))
            while word := await lines.get():
                globals()[word.strip()]()
                print("done", flush=True)

        asyncio.run(main())
    """

    def source(self) -> str:
        script = textwrap.dedent(self.SCRIPT).replace("LATE", str(LATE_MS / 1e3))
        return script.replace("PIPE", str(self.folder / "pipe"))

    def command(self) -> list[str]:
        return [PYTHON, "-S", "-c", self.source()]

    def read(self) -> None:
        with late_writer(self.folder / "pipe"):
            self.say("read")

    def cases(self) -> list[Case]:
        return [
            self.case("slept", {"sleep"}, "slept", "time.sleep"),
            self.case("blocked", {"io"}, "blocked", "recv"),
            self.case("computed", {"busy"}, "computed", "time.monotonic"),
            Case("read", self.read, {"io"}, "read", "open("),
        ]


class Nginx(Program):
    """With a handler in Perl that sleeps, and one that computes."""

    name, package, needs = "nginx", "nginx-light, libnginx-mod-http-perl", ["nginx"]
    MODULE = Path("/usr/lib/nginx/modules/ngx_http_perl_module.so")
    CONFIG = """
        daemon off;
        load_module {module};
        worker_processes 1;
        {user}
        pid {folder}/pid;
        error_log {folder}/log warn;
        events {{ worker_connections 64; }}
        http {{
            access_log off;
            client_body_temp_path {folder}/body;
            proxy_temp_path {folder}/proxy;
            fastcgi_temp_path {folder}/fastcgi;
            uwsgi_temp_path {folder}/uwsgi;
            scgi_temp_path {folder}/scgi;
            server {{
                listen 127.0.0.1:{port};
                location / {{ return 200 "fast"; }}
                location /sleeps {{ perl 'sub {{ sleep 1; $_[0]->send_http_header("text/plain"); return OK; }}'; }}
                location /computes {{
                    perl 'sub {{ my $n = 0; for my $i (1..1e7) {{ $n += $i % 7; }}
                                 $_[0]->send_http_header("text/plain"); return OK; }}';
                }}
            }}
        }}
    """

    @classmethod
    def missing(cls) -> str:
        return super().missing() or ("" if cls.MODULE.exists() else f"nginx has no Perl; its package is {cls.package}")

    def command(self) -> list[str]:
        self.port = free_port()
        user = f"user {nobody().pw_name} {group_of(nobody())};" if os.getuid() == 0 else ""
        config = self.folder / "config"
        config.write_text(self.CONFIG.format(module=self.MODULE, user=user, folder=self.folder, port=self.port))
        return ["nginx", "-p", str(self.folder), "-c", str(config), "-e", str(self.folder / "log")]

    def get(self, path: str) -> None:
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=DEADLINE_S).read()

    def turn(self) -> None:
        try:
            self.get("/")
        except OSError:
            time.sleep(0.01)

    def cases(self) -> list[Case]:
        return [Case("sleep in Perl", lambda: self.get("/sleeps"), {"sleep"}, "nanosleep|Perl_pp_sleep|^sleep$|__ANON__"),
                Case("a loop in Perl", lambda: self.get("/computes"), {"busy"}, "^Perl_|__ANON__")]


SERVERS: list[type[Program]] = [Redis, Node, Asyncio, Nginx]
