"""Programs that know nothing of isoscope, each with ways to make its loop late and what is right to say then.

    for kind in PROGRAMS:
        if not (reason := kind.missing()):
            with kind(folder).running() as program:      # under isoscope
                program.learned()
                stall = program.late(case)

A case is right when its stall has one of its causes and one of its functions is the culprit, its caller or (where the
program's own is deeper, in an interpreter) on the culprit's stack.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import textwrap
import time
import urllib.request
from abc import ABC, abstractmethod
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator, NamedTuple, Optional

from harness import DEADLINE_S, ROOT, Client, Service, service_of, until
from stall_loop import Stall, all_stalls, loops

sys.path.append(str(ROOT / "tests" / "torture"))

from server_programs import free_port, group_of, nobody  # noqa: E402

PYTHON = "/usr/bin/python3"
LATE_MS = 600  # what a case takes, about; twice the limit
TRIES = 4


class Case(NamedTuple):
    name: str
    act: Callable[[], None]  # returns when it is over
    causes: set[str]
    names: str  # a pattern


def functions(stall: Stall) -> list[str]:
    """The culprit, its caller, and what stood on the stacks that had the culprit on top."""
    culprit = stall.get("culprit", {}).get("function", "")
    found = [culprit, stall.get("caller", {}).get("function", "")]
    for stack in stall.get("stacks", []):
        if stack["functions"][:1] == [culprit]:
            found += stack["functions"]
    return found


def is_right(stall: Stall, case: Case) -> bool:
    return stall["cause"] in case.causes and any(re.search(case.names, name) for name in functions(stall))


def brief(stall: Stall) -> str:
    culprit, caller = stall.get("culprit", {}), stall.get("caller", {})
    return (f"{stall['cause']}: {stall['durationMicros'][0] / 1e3:.0f} ms, {culprit.get('function')} "
            f"in {culprit.get('library')}, called by {caller.get('function')}, '{stall['causeText']}'")


class Program(ABC):
    name: str
    package: str
    needs: list[str] = []  # commands

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.service: Service
        self.client: Client

    @classmethod
    def missing(cls) -> str:
        """'' or why it cannot run here."""
        lacks = [name for name in cls.needs if not shutil.which(name)]
        return f"there is no {lacks[0]}; its package is {cls.package}" if lacks else ""

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def cases(self) -> list[Case]: ...

    def turn(self) -> None:
        """Lets its loop go round, where it does not do so by itself."""

    def environment(self) -> dict[str, str]:
        return dict(os.environ)

    @contextmanager
    def running(self, *options: str) -> Iterator[Program]:
        with service_of(self.command(), "--quiet", *options, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        env=self.environment()) as self.service:
            with Client(self.service.uri) as self.client:
                yield self

    def learned(self) -> None:
        """Its loop is known."""
        until(lambda: self.turn() or self.loop(), f"the loop of {self.name} is known")

    def loop(self) -> Optional[dict[str, Any]]:
        return next((loop for loop in loops(self.client) if not loop["ended"]), None)

    def late(self, case: Case) -> Stall:
        """Makes it late until it is seen right; the last one that was seen, otherwise."""
        last: Optional[Stall] = None
        for _ in range(TRIES):
            cursor = self.client.call("_getStalls")["next"]
            case.act()
            end = time.monotonic() + DEADLINE_S / 4
            while time.monotonic() < end:
                new = [s for s in all_stalls(self.client, since=cursor) if not s["ongoing"]]
                right = [stall for stall in new if is_right(stall, case)]
                if right:
                    return right[0]
                last = new[-1] if new else last
                if new and last and last["cause"] not in {"host", "starved"}:
                    break
                time.sleep(0.05)
        raise AssertionError(f"{self.name}, {case.name}: " + (brief(last) if last else "no stall"))


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


class Talking(Program):
    """Does the word of each line that it reads, and then says so."""

    def say(self, word: str) -> None:
        pipe = self.service.process.stdin
        pipe.write(f"{word}\n".encode())
        pipe.flush()
        while (line := self.service.process.stdout.readline()) and line.strip() != b"done":
            pass
        assert line, f"{self.name} has ended"

    def case(self, word: str, causes: set[str], names: str) -> Case:
        return Case(word, lambda: self.say(word), causes, names)


class Node(Talking):
    """The three kinds of elastic/kibana's issue 292147."""

    name, package, needs = "node", "nodejs", ["node"]
    SCRIPT = """
        const crypto = require('crypto'), { execSync } = require('child_process');
        function compute() { let n = 0; const end = Date.now() + LATE; while (Date.now() < end) n += Math.sqrt(n + 1); return n; }
        const ways = {
            loop: compute,
            execSync: () => execSync('sleep ' + LATE / 1000),
            pbkdf2Sync: () => { const end = Date.now() + LATE;
                                while (Date.now() < end) crypto.pbkdf2Sync('a', 'b', 100000, 64, 'sha512'); },
        };
        require('readline').createInterface({ input: process.stdin }).on('line', (word) => {
            setTimeout(() => { ways[word](); console.log('done'); }, 1);
        });
        setInterval(() => {}, 10);
    """

    def command(self) -> list[str]:
        script = self.folder / "script.js"
        script.write_text(self.SCRIPT.replace("LATE", str(LATE_MS)))
        return ["node", "--interpreted-frames-native-stack", str(script)]

    def cases(self) -> list[Case]:
        return [
            self.case("loop", {"busy"}, "."),
            self.case("execSync", {"child", "io"}, "SyncProcessRunner|uv_|epoll"),
            self.case("pbkdf2Sync", {"busy"}, "(?i)sha512|pbkdf2|hmac"),
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

    def command(self) -> list[str]:
        return [PYTHON, "-S", "-c", textwrap.dedent(self.SCRIPT).replace("LATE", str(LATE_MS / 1e3))]

    def cases(self) -> list[Case]:
        return [self.case("slept", {"sleep"}, "nanosleep|time_sleep|pysleep|select"),
                self.case("blocked", {"io"}, "recv")]


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
                    perl 'sub {{ my $n = 0; for my $i (1..1e7) {{ $n += $i % 7; }} $_[0]->send_http_header("text/plain"); return OK; }}';
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
        return [Case("sleep in Perl", lambda: self.get("/sleeps"), {"sleep"}, "nanosleep|Perl_pp_sleep|^sleep$"),
                Case("a loop in Perl", lambda: self.get("/computes"), {"busy"}, "^Perl_")]


class Displayed(Talking):
    """With an X server of its own, that shows nothing to anyone."""

    @classmethod
    def missing(cls) -> str:
        return "" if shutil.which("Xvfb") else "there is no Xvfb; its package is xvfb"

    def environment(self) -> dict[str, str]:
        return {**os.environ, "DISPLAY": self.display, "NO_AT_BRIDGE": "1", "GIO_USE_VFS": "local",
                "XDG_RUNTIME_DIR": str(self.folder), "LIBGL_ALWAYS_SOFTWARE": "1"}

    @contextmanager
    def running(self, *options: str) -> Iterator[Program]:
        reading, writing = os.pipe()
        server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "640x480x24", "-nolisten",
                                   "tcp"], pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writing)
        try:
            with os.fdopen(reading) as told:
                self.display = f":{told.readline().strip()}"
            assert self.display != ":", "Xvfb does not start"
            with super().running(*options):
                yield self
        finally:
            server.terminate()
            server.wait()


class Gtk(Displayed):
    name, package = "GTK 3", "python3-gi, gir1.2-gtk-3.0, xvfb"
    SCRIPT = """
        import sys, time
        import gi
        gi.require_version("Gtk", "3.0")
        from gi.repository import GLib, Gtk

        def slept():
            time.sleep(LATE)

        def filled():
            end = time.monotonic() + LATE
            while time.monotonic() < end:
                words = Gtk.TextBuffer(text="word " * 20000)
                words.get_text(words.get_start_iter(), words.get_end_iter(), False).split()

        def asked():
            dialog = Gtk.Dialog(title="a loop in a loop", transient_for=window)
            GLib.timeout_add(LATE_MS, dialog.response, 0)
            dialog.run()
            dialog.destroy()

        def read(*_):
            globals()[sys.stdin.readline().strip()]()
            print("done", flush=True)
            return True

        window = Gtk.Window(title="ticks")
        label = Gtk.Label(label="0")
        window.add(label)
        window.show_all()
        GLib.timeout_add(10, lambda: label.set_text(str(time.monotonic())) or True)
        GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN, read)
        Gtk.main()
    """

    @classmethod
    def missing(cls) -> str:
        have = "import gi; gi.require_version('Gtk', '3.0'); from gi.repository import Gtk"
        works = subprocess.run([PYTHON, "-c", have], capture_output=True).returncode == 0
        return super().missing() or ("" if works else f"no GTK for Python; its packages are {cls.package}")

    def command(self) -> list[str]:
        text = textwrap.dedent(self.SCRIPT).replace("LATE_MS", str(LATE_MS)).replace("LATE", str(LATE_MS / 1e3))
        return [PYTHON, "-c", text]

    def cases(self) -> list[Case]:
        return [self.case("slept", {"sleep"}, "nanosleep|time_sleep|select"),
                self.case("filled", {"busy"}, "gtk_|Py|pango|malloc|mem")]


class Compiled(Talking):
    """A small program, made here."""

    SOURCE: str
    compiler, ending = "cc", "c"
    HEADER: str  # must be there
    MODULE = ""  # pkg-config's
    flags: list[str] = []

    @classmethod
    def missing(cls) -> str:
        if not shutil.which(cls.compiler) or not shutil.which("pkg-config"):
            return "there is no compiler"
        there = (subprocess.run(["pkg-config", "--exists", cls.MODULE]).returncode == 0 if cls.MODULE else
                 Path("/usr/include", cls.HEADER).exists())
        return super().missing() or ("" if there else f"{cls.name} cannot be built; its package is {cls.package}")

    def command(self) -> list[str]:
        source, program = self.folder / f"small.{self.ending}", self.folder / "small"
        source.write_text(COMMON + textwrap.dedent(self.SOURCE).replace("LATE", str(LATE_MS)))
        of_module = subprocess.run(["pkg-config", "--cflags", "--libs", self.MODULE], check=True, text=True,
                                   capture_output=True).stdout.split() if self.MODULE else []
        subprocess.run([self.compiler, "-O2", str(source), "-o", str(program), *of_module, *self.flags], check=True)
        return [str(program)]

    def cases(self) -> list[Case]:
        return [self.case("sleeps", {"sleep"}, "^sleeps$|nanosleep"), self.case("computes", {"busy"}, "^computes$")]


COMMON = f"""
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) static void sleeps(void)
{{
    struct timespec left = {{ 0, {LATE_MS} * 1000000L }};
    nanosleep(&left, NULL);
    __asm__ volatile("");
}}
__attribute__((noinline)) static void computes(void)
{{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double end = now.tv_sec + now.tv_nsec / 1e9 + {LATE_MS} / 1e3;
    while (now.tv_sec + now.tv_nsec / 1e9 < end) {{
        for (volatile int i = 0; i < 1000000; i++)
            ;
        clock_gettime(CLOCK_MONOTONIC, &now);
    }}
}}
static void one_line(void)
{{
    char line[64];
    ssize_t count = read(0, line, sizeof line);
    if (count <= 0)
        _exit(0);
    if (line[0] == 's')
        sleeps();
    else
        computes();
    puts("done");
    fflush(stdout);
}}
"""


class Libevent(Compiled):
    name, package, MODULE = "libevent", "libevent-dev", "libevent"
    SOURCE = """
        #include <event2/event.h>
        static void ticked(evutil_socket_t fd, short what, void *argument) { (void)fd; (void)what; (void)argument; }
        static void readable(evutil_socket_t fd, short what, void *argument) { (void)fd; (void)what; (void)argument; one_line(); }
        int main(void)
        {
            struct event_base *base = event_base_new();
            struct timeval often = { 0, 10000 };
            event_add(event_new(base, -1, EV_PERSIST, ticked, NULL), &often);
            event_add(event_new(base, 0, EV_READ | EV_PERSIST, readable, NULL), NULL);
            return event_base_dispatch(base);
        }
    """


class Libev(Compiled):
    name, package, HEADER, flags = "libev", "libev-dev", "ev.h", ["-lev"]
    SOURCE = """
        #include <ev.h>
        static void ticked(struct ev_loop *loop, ev_timer *timer, int what) { (void)loop; (void)timer; (void)what; }
        static void readable(struct ev_loop *loop, ev_io *io, int what) { (void)loop; (void)io; (void)what; one_line(); }
        int main(void)
        {
            struct ev_loop *loop = EV_DEFAULT;
            ev_timer timer;
            ev_io input;
            ev_timer_init(&timer, ticked, 0.01, 0.01);
            ev_timer_start(loop, &timer);
            ev_io_init(&input, readable, 0, EV_READ);
            ev_io_start(loop, &input);
            ev_run(loop, 0);
            return 0;
        }
    """


class Qt(Compiled, Displayed):
    name, package, MODULE = "Qt 5", "qtbase5-dev, xvfb", "Qt5Widgets"
    compiler, ending, flags = "c++", "cc", ["-fPIC"]
    SOURCE = """
        #include <QApplication>
        #include <QLabel>
        #include <QSocketNotifier>
        #include <QTimer>
        int main(int argc, char **argv)
        {
            QApplication application(argc, argv);
            QLabel label("0");
            QTimer timer;
            QSocketNotifier input(0, QSocketNotifier::Read);
            QObject::connect(&timer, &QTimer::timeout, [&] { label.setText(QString::number(label.text().toInt() + 1)); });
            QObject::connect(&input, &QSocketNotifier::activated, [&] { one_line(); });
            label.show();
            timer.start(10);
            return application.exec();
        }
    """


PROGRAMS: list[type[Program]] = [Redis, Node, Asyncio, Nginx, Gtk, Qt, Libevent, Libev]
