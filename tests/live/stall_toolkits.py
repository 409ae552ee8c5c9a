"""Libraries that have the loop, among stall_programs.py: each with a small program of its user."""

from __future__ import annotations

import os
import shutil
import subprocess
import textwrap
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from stall_programs import LATE_MS, PYTHON, Case, Program, Talking

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

    def source(self) -> str:
        return textwrap.dedent(self.SCRIPT).replace("LATE_MS", str(LATE_MS)).replace("LATE", str(LATE_MS / 1e3))

    def command(self) -> list[str]:
        return [PYTHON, "-c", self.source()]

    def cases(self) -> list[Case]:
        return [self.case("slept", {"sleep"}, "slept", "time.sleep"), self.case("filled", {"busy"}, "filled", "words")]


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


class Libevent(Compiled):
    name, package, MODULE = "libevent", "libevent-dev", "libevent"
    SOURCE = """
        #include <event2/event.h>
        static void ticked(evutil_socket_t fd, short what, void *argument) { }
        static void readable(evutil_socket_t fd, short what, void *argument) { one_line(); }
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
        static void ticked(struct ev_loop *loop, ev_timer *timer, int what) { }
        static void readable(struct ev_loop *loop, ev_io *io, int what) { one_line(); }
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
            QObject::connect(&timer, &QTimer::timeout,
                             [&] { label.setText(QString::number(label.text().toInt() + 1)); });
            QObject::connect(&input, &QSocketNotifier::activated, [&] { one_line(); });
            label.show();
            timer.start(10);
            return application.exec();
        }
    """


TOOLKITS: list[type[Program]] = [Gtk, Qt, Libevent, Libev]
