"""Our own flame graphs in a headless Chromium: the page to share, and the picture."""

from __future__ import annotations

import time
from pathlib import Path

from browser import Browser

from isoscope import Function, Library, Process, Profile  # subjects has found it


def open_alone(browser: Browser, path: Path) -> None:
    browser.console.clear()
    browser.open("about:blank")
    browser.until("document.URL === 'about:blank'", "a blank page")
    browser.open(path.as_uri())


def page(browser: Browser, path: Path, profile: Profile, target: Path) -> str:
    """It shows all samples by itself. tests/web/browser uses the page as a person does."""
    began = time.monotonic()
    open_alone(browser, path)
    told = "[...document.querySelectorAll('.told span')].map((one) => one.textContent)"
    browser.until(f"{told}.includes('{len(profile):,} samples')", "all samples")
    browser.until("document.querySelector('.boxes canvas')", "the flame graph")
    took_s = time.monotonic() - began
    browser.screenshot(target)
    foreign = browser.value("""performance.getEntriesByType('resource')
        .filter((one) => !/^data:/.test(one.name)).length""")
    assert foreign == 0, "it asked for something"
    assert not browser.console, browser.console
    return f"{path.stat().st_size:,} bytes, shown after {took_s:.1f} s; nothing fetched"


def wide_profile() -> Profile:
    """With 100,000 boxes and more: 50 calls of 50 calls of 40 calls."""
    profile = Profile()
    profile.period_us = 1000
    thread = profile.thread(Process("isolates/1", "wide", 1), 1)
    library = Library("l", "file:///wide", "wide", "/wide")
    frames = [profile.frame(Function(f"f{n}", f"function_{n}", library)) for n in range(50)]
    for place in range(100_000):
        node = profile.node(0, frames[place % 50])
        node = profile.node(node, frames[place // 50 % 50])
        profile.add_sample(place * 1000, thread, profile.node(node, frames[place // 2500]))
    return profile


def picture(browser: Browser, path: Path, target: Path) -> str:
    browser.open("about:blank")
    browser.until("document.URL === 'about:blank'", "a blank page")
    browser.open(path.as_uri())
    browser.until("document.querySelectorAll('g.box').length > 0", "the boxes")
    outside = browser.value("""(() => { const page = document.documentElement.viewBox.baseVal;
        return [...document.querySelectorAll('text, rect')].filter((one) => {
            const area = one.getBBox();
            return area.x < 0 || area.x + area.width > page.width + 1
                || area.y + area.height > page.height + 1;
        }).length; })()""")
    assert outside == 0, f"{outside} things are cut off"
    spilled = browser.value("""[...document.querySelectorAll('g.box')].filter((box) => {
        const text = box.querySelector('text'); if (!text) return false;
        const inner = text.getBBox(), outer = box.querySelector('rect').getBBox();
        return inner.x + inner.width > outer.x + outer.width + 1; }).length""")
    assert spilled == 0, f"{spilled} names are wider than their boxes"
    browser.screenshot(target)
    return f"{browser.value('document.querySelectorAll(`g.box`).length'):,} boxes, nothing cut off"
