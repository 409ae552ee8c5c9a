"""What a terminal is told of something that takes long."""

import io
import sys
import threading

from isoscope.cli.terminal import progress


def shown(monkeypatch):
    """On a terminal, without rich."""
    monkeypatch.setattr(progress, "_shown", lambda: True)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    return out


def test_how_far_it_is_is_told_again_and_again_and_taken_back(monkeypatch):
    out = shown(monkeypatch)
    asked, enough, told = [], 3, threading.Event()

    def how_far():
        asked.append(None)
        if len(asked) == enough:
            told.set()
        return f"{len(asked)} MB"

    with progress.working("reading the session", how_far):
        assert told.wait(60)
    text = out.getvalue()
    assert text.startswith("\r\x1b[Kreading the session ...") and "reading the session ... 2 MB" in text
    assert text.endswith("\r\x1b[K")


def test_what_has_no_measure_is_named(monkeypatch):
    out = shown(monkeypatch)
    with progress.working("writing"):
        pass
    assert "writing ..." in out.getvalue() and out.getvalue().endswith("\r\x1b[K")


def test_elsewhere_nothing_is_told(capsys):
    with progress.working("reading", lambda: "much"):
        pass
    assert capsys.readouterr() == ("", "")
