"""Pages that read our files, in a headless Chromium: speedscope, and Chrome's own DevTools."""

from __future__ import annotations

import http.server
import re
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Iterator

from browser import Browser

_UNIT_US = {"ns": 1e-3, "µs": 1, "us": 1, "ms": 1e3, "s": 1e6}


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder's address on this machine."""
    handler = partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def give_file(browser: Browser, path: Path) -> None:
    """To the page's own file input."""
    browser.until("!!document.querySelector('input[type=file]')", "a place for files")
    put_file(browser, path, "document.querySelector('input[type=file]')")


def put_file(browser: Browser, path: Path, field: str) -> None:
    found = browser.call("Runtime.evaluate", expression=field)["result"]["objectId"]
    browser.call("DOM.setFileInputFiles", files=[str(path)], objectId=found)


def press(browser: Browser, key: str) -> None:
    for kind in ("keyDown", "keyUp"):
        text = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
        code = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Backspace": 8}.get(key)
        code = {"windowsVirtualKeyCode": code} if code else {}
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, **text, **code)


# speedscope.

_ROW = re.compile(r"([0-9.,:]+)\s*([a-zµ]*) \([^)]*\)")


class Speedscope:
    def __init__(self, browser: Browser, address: str) -> None:
        self._browser = browser
        self._address = address

    def load(self, path: Path) -> None:
        browser = self._browser
        # So high that no row of the table is left out for being out of sight.
        browser.call("Emulation.setDeviceMetricsOverride", width=1200, height=60_000,
                     deviceScaleFactor=1, mobile=False)  # fmt: skip
        browser.open("about:blank")
        browser.until("document.URL === 'about:blank'", "a blank page")
        browser.open(f"{self._address}/index.html")
        give_file(browser, path)
        browser.until("/Sandwich/.test(document.body.innerText)", "speedscope's views")
        press(browser, "3")
        browser.until("document.querySelectorAll('table tr').length > 1", "the table of functions")

    def functions(self) -> dict[str, tuple[float, float]]:
        """Self and total of each name, in samples or microseconds, as exactly as they are shown."""
        script = """[...document.querySelectorAll('table tr')].map(
            (row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText))"""
        rows: dict[str, tuple[float, float]] = {}
        for cells in self._browser.value(script):
            if len(cells) != 3 or not (own_cell := _ROW.match(cells[1])):
                continue  # a head, or the list of profiles
            total, own, name = _amount(_ROW.match(cells[0])), _amount(own_cell), cells[2].strip()
            before = rows.get(name, (0, 0))
            rows[name] = before[0] + own, before[1] + total
        return rows

    def close(self) -> None:
        self._browser.call("Emulation.clearDeviceMetricsOverride")


def _amount(cell: re.Match[str]) -> float:
    number, unit = cell.groups()
    if ":" in number:
        minutes, seconds = number.split(":")
        return (60 * float(minutes) + float(seconds)) * 1e6
    return float(number.replace(",", "")) * _UNIT_US.get(unit, 1)


# Chrome DevTools.


class ChromeDevTools:
    """Its Performance panel, on a page of its own: the table Bottom-up, over the whole time."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    def load(self, path: Path) -> None:
        browser = self._browser
        browser.call("Emulation.setDeviceMetricsOverride", width=1600, height=4000,
                     deviceScaleFactor=1, mobile=False)  # fmt: skip
        browser.open("about:blank")
        browser.until("document.URL === 'about:blank'", "a blank page")
        browser.open(f"http://127.0.0.1:{browser.port}/devtools/js_app.html?panel=timeline")
        browser.until(_DEEP + "deep('input[type=file]').length > 0", "the panel")
        put_file(browser, path, _DEEP + "deep('input[type=file]')[0]")
        click(browser, *browser.until(_DEEP + _PLACE % "'[role=tab]', 'Bottom-up'", "its tab"))
        browser.until(_DEEP + "deep('.data-grid').some((one) => /Self time/.test(one.innerText))",
                      "the table Bottom-up")  # fmt: skip

    def _show_all(self) -> None:
        """A while after loading it turns to a part of the time; a double click shows all of it."""
        browser = self._browser
        overview = _DEEP + _PLACE % "'.overview-grid-cursor-area'"
        click(browser, *browser.until(overview, "the overview"), times=2)

    def functions(self) -> dict[str, tuple[float, float]]:
        """In microseconds, once they change no more."""
        before: list[list[str]] = []
        same, deadline = 0, time.monotonic() + 60
        while same < 3:
            assert time.monotonic() < deadline, "the table Bottom-up does not come to rest"
            self._show_all()
            time.sleep(0.3)
            rows = self._in_sight() if self._browser.value(_DEEP + _WHOLE) else []
            same, before = (same + 1 if rows and rows == before else 0), rows
        table: dict[str, tuple[float, float]] = {}
        for cells in self._all_rows():
            name = cells[2].splitlines()[0]
            own, total = table.get(name, (0, 0))
            table[name] = own + _micros(cells[0]), total + _micros(cells[1])
        return table

    def _in_sight(self) -> list[list[str]]:
        rows = self._browser.value(_DEEP + _CELLS)
        return [cells for cells in rows if len(cells) >= 3 and _AMOUNT.match(cells[0])]

    def _all_rows(self) -> list[list[str]]:
        """Only those in sight are in the page: it is scrolled from the top to the end."""
        found: dict[tuple[str, ...], list[str]] = {}
        deadline = time.monotonic() + 120
        top = self._browser.value(_DEEP + _SCROLL % "0")
        while time.monotonic() < deadline:
            rows = self._in_sight()
            found.update({tuple(cells[:3]): cells for cells in rows})
            before, top = top, self._browser.value(_DEEP + _SCROLL % "grid.scrollTop + 60")
            if top == before:
                return list(found.values())
            drawn = time.monotonic() + 1  # the last steps may be too small for new rows
            while self._in_sight() == rows and time.monotonic() < drawn:
                time.sleep(0.02)
        raise AssertionError("the table Bottom-up has no end")


def _micros(cell: str) -> float:
    return float(_AMOUNT.match(cell)[1].replace(",", "")) * 1000


_AMOUNT = re.compile(r"([0-9.,]+)\s*ms")
_CELLS = """deep('.data-grid tr').map(
    (row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText.trim()))"""

_SCROLL = """(() => { const grid = deep('.data-grid .data-container').find(
    (one) => one.getClientRects().length); grid.scrollTop = %s; return grid.scrollTop; })()"""
_WHOLE = """(() => { const ends = deep('.overview-grid-window-resizer').map(
    (one) => one.getBoundingClientRect().right);
    return Math.max(...ends) >= innerWidth - 10; })()"""

# The middle of the first one that holds the text.
_PLACE = """((selector, text = '') => {
    const one = deep(selector).find(
        (it) => it.innerText.includes(text) && it.getClientRects().length);
    if (!one) return null;
    const area = one.getBoundingClientRect();
    return [area.x + area.width / 2, area.y + area.height / 2]; })(%s)"""


def click(browser: Browser, x: float, y: float, times: int = 1) -> None:
    for count in range(1, times + 1):
        for kind in ("mousePressed", "mouseReleased"):
            browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                         clickCount=count)  # fmt: skip


# The panel stands in shadow trees.
_DEEP = """
function deep(selector, root = document) {
    const found = [...root.querySelectorAll(selector)];
    for (const one of root.querySelectorAll('*'))
        if (one.shadowRoot) found.push(...deep(selector, one.shadowRoot));
    return found;
}
"""
