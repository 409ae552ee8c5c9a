"""Figures for Prometheus at /TOKEN=/metrics: who gets them, what they say, and that Prometheus reads them."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import subprocess
import sys
import urllib.parse
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import end, until

TYPE = "text/plain; version=0.0.4; charset=utf-8"
STALLS_MS = 400

# asyncio's loop is late, again and again, of a wait that it should not make.
LATE = f"""
import asyncio, time

async def main():
    print("ready", flush=True)
    while True:
        for _ in range(50):
            await asyncio.sleep(0.005)
        time.sleep({STALLS_MS / 1000})

asyncio.run(main())
"""

SERIES = re.compile(r'([a-z_:][a-z0-9_:]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+)\})? ([^ ]+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


@pytest.fixture
def idle(start):
    running = start(["sleep", "1000"])
    assert running.uri
    return running


@pytest.fixture
def late(start):
    running = start([sys.executable, "-c", LATE])
    assert running.line() == "ready"
    return running


def token(running) -> str:
    return running.uri.split("/")[3]


def get(running, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=30)
    connection.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response, body


def parse(text: str) -> dict[str, tuple[str, list[tuple[dict[str, str], float]]]]:
    """Name -> its type, and each series. What is not of the format fails."""
    families: dict[str, tuple[str, list]] = {}
    seen, name = set(), ""
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ")[2]
            assert name not in families, f"{name} stands in two places"
            families[name] = ("", [])
        elif line.startswith("# TYPE "):
            assert line.split(" ")[2] == name
            families[name] = (line.split(" ")[3], [])
        else:
            match = SERIES.fullmatch(line)
            assert match, f"no series: {line}"
            kind, series = families[name]
            ending = match[1][len(name):] if match[1].startswith(name) else None
            assert ending in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",)), line
            key = (match[1], match[2])
            assert key not in seen, f"twice: {line}"
            seen.add(key)
            labels = dict(LABEL.findall(match[2] or ""))
            series.append(({**labels, "__name__": match[1]}, float(match[3])))
    return families


def metrics(running):
    response, body = get(running, f"/{token(running)}/metrics")
    assert response.status == 200
    assert response.headers["Content-Type"] == TYPE
    return parse(body)


def total(families, name, **labels) -> float:
    return sum(value for found, value in families[name][1]
               if all(found.get(label) == wanted for label, wanted in labels.items()))


def test_who_knows_the_token_gets_them(idle):
    until(lambda: total(metrics(idle), "isoscope_process_up", process="sleep") == 1, "the program")
    families = metrics(idle)
    assert families["isoscope_samples_total"][0] == "counter"
    assert total(families, "isoscope_service_cpu_seconds_total") > 0


def test_nobody_else_does(idle):
    assert get(idle, "/metrics")[0].status == 403
    path = f"/{token(idle)}/metrics"
    assert get(idle, path, Sec_Fetch_Site="cross-site")[0].status == 403
    assert get(idle, path, Origin="https://evil.example")[0].status == 403
    assert get(idle, path, Host="evil.example")[0].status == 403


def test_a_page_of_words_leads_there(idle):
    _, body = get(idle, f"/{token(idle)}/")
    assert f"{idle.uri}metrics" in body


def test_promtool_finds_nothing_wrong_with_them(late):
    promtool = shutil.which("promtool") or pytest.skip("needs promtool (Debian's prometheus)")
    until(lambda: total(metrics(late), "isoscope_loop_dispatch_seconds"), "a loop that is watched")
    _, body = get(late, f"/{token(late)}/metrics")
    checked = subprocess.run([promtool, "check", "metrics"], input=body, text=True, capture_output=True)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_loop_that_is_late_is_counted(late):
    def stalls():
        return total(metrics(late), "isoscope_stalls_total", cause="sleep") >= 2

    until(stalls, "two stalls")
    families = metrics(late)
    (labels, _), *_ = [one for one in families["isoscope_stalls_dismissed_total"][1]]
    process = Path(sys.executable).resolve().name
    assert labels["process"] == process
    buckets = [(float(found["le"]), value)
               for found, value in families["isoscope_loop_dispatch_seconds"][1]
               if found["__name__"].endswith("_bucket") and found["process"] == process]
    assert buckets == sorted(buckets) and [v for _, v in buckets] == sorted(v for _, v in buckets)
    longer = buckets[-1][1] - dict(buckets)[0.131072]
    assert longer >= 2
    assert total(families, "isoscope_loop_blocking_seconds_total") >= 2 * (STALLS_MS - 50) / 1000 * 0.9


# Prometheus itself


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


@contextmanager
def prometheus(folder: Path, running):
    """It scrapes the service, and answers at the address that is given."""
    binary = shutil.which("prometheus") or pytest.skip("needs prometheus")
    config = folder / "prometheus.yml"
    config.write_text(json.dumps({  # JSON is YAML
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
        "scrape_configs": [{
            "job_name": "isoscope",
            "metrics_path": f"/{token(running)}/metrics",
            "static_configs": [{"targets": [f"127.0.0.1:{running.port}"]}],
        }],
    }))
    address = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [binary, f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}",
         f"--web.listen-address={address}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"http://{address}"
    finally:
        end(process)


def ask(address: str, query: str) -> list:
    """The series that a query gives; none while it is not up yet."""
    url = f"{address}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            reply = json.load(answer)
    except OSError:
        return []
    assert reply["status"] == "success", reply
    return reply["data"]["result"]


def test_prometheus_scrapes_them_and_answers_queries(late, tmp_path):
    with prometheus(tmp_path, late) as address:
        until(lambda: [s for s in ask(address, 'up{job="isoscope"}') if s["value"][1] == "1"], "a scrape")
        late_by = until(
            lambda: ask(address, 'sum by (process, cause) (isoscope_stalls_total{cause="sleep"}) >= 2'),
            "a query for stalls")
        assert late_by[0]["metric"] == {"process": Path(sys.executable).resolve().name, "cause": "sleep"}
        quantile = ("histogram_quantile(0.99, sum by (le) "
                    "(isoscope_loop_dispatch_seconds_bucket))")
        assert float(until(lambda: ask(address, quantile), "a quantile")[0]["value"][1]) > 0
