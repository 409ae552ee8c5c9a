"""Real programs that the world runs, each with a load and with answers that can be checked.

    program = Redis(folder, seconds)         # folder: empty, its own; made ready once
    done = program.run(["isoscope", "run", ..., "--"])   # or [], for the program alone

Servers listen on a free port of 127.0.0.1, keep what they write in `folder`, and are ended by their own
pid. Whatever goes wrong (a failed request, a wrong answer, an exit status) raises Wrong.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Callable, NamedTuple, Optional

DEADLINE_S = 120.0


class Wrong(Exception):
    pass


class Done(NamedTuple):
    work: float  # requests, transactions, or 1 for a whole run
    seconds: float
    cpu_s: float  # of everything started: the program, and isoscope when it is there
    errors: str  # what was said on stderr


class Program(ABC):
    name: str
    package: str
    unit = "runs"
    needs: list[str] = []  # commands

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.seconds = seconds
        self.prepare()

    @classmethod
    def is_here(cls) -> bool:
        return all(shutil.which(name) for name in cls.needs)

    def prepare(self) -> None:
        """What is needed once."""

    @abstractmethod
    def run(self, under: list[str]) -> Done: ...

    def start(self, words: list[str]) -> subprocess.Popen:
        with open(self.folder / "out", "wb") as out, open(self.folder / "errors", "wb") as errors:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors,
                                    cwd=self.folder)

    def ended(self, process: subprocess.Popen) -> float:
        """Waits for the end, which must be a good one; the CPU seconds used until then."""
        status: Optional[int] = None
        deadline = time.monotonic() + DEADLINE_S
        while status is None:
            pid, waited, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                status = process.returncode = os.waitstatus_to_exitcode(waited)
            elif time.monotonic() > deadline:
                process.kill()
                raise Wrong(f"{self.name} does not end within {DEADLINE_S:.0f} s\n{self.said()}")
            else:
                time.sleep(0.005)
        if status != 0:
            raise Wrong(f"{self.name} ended with {status}\n{self.said()}")
        return usage.ru_utime + usage.ru_stime

    def said(self) -> str:
        return self.text("out") + self.text("errors")

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(errors="replace")


class Job(Program):
    """Runs, prints what it found, ends. Each run must print the same as the first."""

    first: Optional[str] = None

    @abstractmethod
    def command(self) -> list[str]: ...

    def result(self) -> str:
        return self.text("out")

    def run(self, under: list[str]) -> Done:
        began = time.monotonic()
        cpu_s = self.ended(self.start([*under, *self.command()]))
        seconds = time.monotonic() - began
        result = self.result()
        self.first = self.first or result
        if not result or result != self.first:
            raise Wrong(f"{self.name}: another result: {result[-500:]}, not {self.first[-500:]}")
        return Done(1, seconds, cpu_s, self.text("errors"))


class Server(Program):
    ends_by = signal.SIGTERM

    @abstractmethod
    def command(self, port: int) -> list[str]: ...

    @abstractmethod
    def is_ready(self, port: int) -> bool: ...

    @abstractmethod
    def load(self, port: int) -> float:
        """Puts the server to work, and returns how much was done."""

    @abstractmethod
    def check(self, port: int) -> None:
        """Are the answers right, after all that?"""

    def user(self) -> list[str]:
        """Words that give up rights before the program starts, and isoscope before it."""
        return []

    def run(self, under: list[str]) -> Done:
        port = free_port()
        process = self.start([*self.user(), *under, *self.command(port)])
        try:
            self.wait_until_ready(process, port)
            began = time.monotonic()
            work = self.load(port)
            seconds = time.monotonic() - began
            self.check(port)
            process.send_signal(self.ends_by)
            return Done(work, seconds, self.ended(process), self.text("errors"))
        finally:
            if process.returncode is None:  # something was wrong: isoscope passes it on
                process.terminate()
                self.give_up(process)

    def wait_until_ready(self, process: subprocess.Popen, port: int) -> None:
        wait_for(lambda: process.poll() is not None or self.is_ready(port),
                 f"{self.name} does not answer")
        if process.returncode is not None:
            raise Wrong(f"{self.name} ended with {process.returncode}\n{self.said()}")

    def give_up(self, process: subprocess.Popen) -> None:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Redis(Server):
    name, unit, package = "redis-server", "requests", "redis-server"
    needs = ["redis-server", "redis-benchmark", "redis-cli"]
    KINDS = ["set", "get", "incr", "lpush", "zadd"]

    def prepare(self) -> None:
        self.count = max(1000, int(self.seconds * 16_000))  # of each kind

    def command(self, port: int) -> list[str]:
        return ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
                "--appendonly", "no", "--io-threads", "2", "--dir", str(self.folder)]

    def is_ready(self, port: int) -> bool:
        return says(["redis-cli", "-p", str(port), "ping"]).strip() == "PONG"

    def load(self, port: int) -> float:
        said = must(["redis-benchmark", "-p", str(port), "-q", "-c", "50", "-n", str(self.count),
                     "-t", ",".join(self.KINDS)])
        if said.count("requests per second") != len(self.KINDS) or "rror" in said:
            raise Wrong(f"redis-benchmark: {said}")
        return self.count * len(self.KINDS)

    def check(self, port: int) -> None:
        """Each increment and each push is there, and no command was answered with an error."""
        for words in (["get", "counter:__rand_int__"], ["llen", "mylist"]):
            found = must(["redis-cli", "-p", str(port), *words]).strip()
            if found != str(self.count):
                raise Wrong(f"redis: {' '.join(words)} is {found}, not {self.count}")
        stats = must(["redis-cli", "-p", str(port), "info", "stats"])
        if not re.search(r"^total_error_replies:0\s*$", stats, re.MULTILINE):
            raise Wrong(f"redis has answered with errors: {stats}")


NGINX = """
daemon off;
worker_processes 2;
{user}
pid {folder}/pid;
error_log {folder}/log warn;
events {{ worker_connections 256; }}
http {{
    access_log off;
    gzip on;
    gzip_types text/plain;
    default_type text/plain;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        root {folder}/files;
    }}
}}
"""


class Nginx(Server):
    """The master starts as we do; where that is as root, its workers give root up."""

    name, unit, package = "nginx, 2 workers", "requests", "nginx-light"
    needs = ["nginx", "wrk"]

    def prepare(self) -> None:
        (self.folder / "files").mkdir()
        self.page = "".join(f"line {n * n % 7919} of the page\n" for n in range(400))
        (self.folder / "files" / "page.txt").write_text(self.page)

    def command(self, port: int) -> list[str]:
        user = f"user {nobody().pw_name} {group_of(nobody())};" if os.getuid() == 0 else ""
        config = self.folder / "config"
        config.write_text(NGINX.format(user=user, folder=self.folder, port=port))
        return ["nginx", "-p", str(self.folder), "-c", str(config), "-e", str(self.folder / "log")]

    def uri(self, port: int) -> str:
        return f"http://127.0.0.1:{port}/page.txt"

    def is_ready(self, port: int) -> bool:
        try:
            return self.page == urllib.request.urlopen(self.uri(port), timeout=5).read().decode()
        except OSError:
            return False

    def load(self, port: int) -> float:
        said = must(["wrk", "-t", "1", "-c", "32", "-d", f"{max(1, round(self.seconds))}s", "--timeout",
                     "20s", "-H", "Accept-Encoding: gzip", self.uri(port)])
        done = re.search(r"(\d+) requests in", said)
        if not done or "Non-2xx" in said or "Socket errors" in said:
            raise Wrong(f"wrk: {said}")
        return float(done[1])

    def check(self, port: int) -> None:
        for _ in range(20):
            if not self.is_ready(port):
                raise Wrong("nginx: another page")
        if log := self.text("log"):
            raise Wrong(f"nginx has logged: {log}")


class Postgres(Server):
    """Refuses to run as root, so the server, and isoscope with it, then run as nobody."""

    name, unit, package = "postgres", "transactions", "postgresql"
    ends_by = signal.SIGINT  # ends the sessions that are left
    CHECK = """select (select sum(bbalance) from pgbench_branches) =
        (select sum(delta) from pgbench_history) and
        (select sum(abalance) from pgbench_accounts) =
        (select sum(delta) from pgbench_history), (select count(*) from pgbench_history)"""

    @classmethod
    def is_here(cls) -> bool:
        return tools_of_postgres() is not None

    def tool(self, name: str) -> str:
        tools = tools_of_postgres()
        assert tools, "is_here was not asked"
        return str(tools / name)

    def user(self) -> list[str]:
        if os.getuid() != 0:
            return []
        return ["setpriv", f"--reuid={nobody().pw_uid}", f"--regid={nobody().pw_gid}",
                "--clear-groups"]

    def prepare(self) -> None:
        data = self.folder / "data"
        data.mkdir(mode=0o700)
        if os.getuid() == 0:
            os.chown(data, nobody().pw_uid, nobody().pw_gid)
        must([*self.user(), self.tool("initdb"), "-D", str(data), "-A", "trust", "-U", "isoscope",
              "--no-sync", "--locale=C", "-E", "UTF8"])
        self.rows = 0
        self.loaded = False
        self.run([])

    def command(self, port: int) -> list[str]:
        options = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off",
                   "port": str(port)}
        return [self.tool("postgres"), "-D", str(self.folder / "data"),
                *[word for name, value in options.items() for word in ("-c", f"{name}={value}")]]

    def reach(self, port: int, database: str = "postgres") -> list[str]:
        return ["-h", "127.0.0.1", "-p", str(port), "-U", "isoscope", database]

    def is_ready(self, port: int) -> bool:
        ask = ["-h", "127.0.0.1", "-p", str(port)]
        return "accepting connections" in says([self.tool("pg_isready"), *ask])

    def load(self, port: int) -> float:
        if not self.loaded:
            must([self.tool("pgbench"), "-i", "-q", "-s", "4", *self.reach(port)])
            self.loaded = True
            return 1.0
        said = must([self.tool("pgbench"), "-n", "-c", "4", "-T", f"{max(1, round(self.seconds))}",
                     *self.reach(port)])
        done = re.search(r"actually processed: (\d+)", said)
        if not done or not re.search(r"failed transactions: 0\b", said) or "rror" in said:
            raise Wrong(f"pgbench: {said}")
        self.rows += int(done[1])
        return float(done[1])

    def check(self, port: int) -> None:
        """What the branches and accounts hold is what the history tells, none of it lost."""
        found = must([self.tool("psql"), "-AtX", "-c", self.CHECK, *self.reach(port)]).strip()
        if self.rows and found != f"t|{self.rows}":
            raise Wrong(f"postgres: sums and count of the history are {found}, not t|{self.rows}")
        if log := re.findall(r".*(?:PANIC|ERROR|terminated by signal).*", self.text("errors")):
            raise Wrong(f"postgres has logged: {log[:5]}")


SCRIPT = r"""
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
class Point { constructor(x, y) { this.x = x; this.y = y; } sum() { return this.x + this.y; } }
class Far extends Point { sum() { return this.x * 3 + this.y; } }
function sieve(n) {
    const out = new Uint8Array(n);
    let count = 0;
    for (let i = 2; i < n; i++)
        if (!out[i]) { count++; for (let j = 2 * i; j < n; j += i) out[j] = 1; }
    return count;
}
function points(n) {
    let total = 0;
    for (let i = 0; i < n; i++)
        total = (total + (i % 3 ? new Point(i, 1) : new Far(i, 2)).sum()) % 1000003;
    return total;
}
function texts(n) {
    const seen = new Map();
    for (let i = 0; i < n; i++) {
        const key = JSON.parse(JSON.stringify({ key: 'k' + i % 97, at: [i, i * 2] }));
        seen.set(key.key, (seen.get(key.key) || 0) + key.at[1]);
    }
    return [...seen.keys()].join('').replace(/k(\d)/g, '$1-').length + seen.get('k5');
}
/* Code that is made anew each turn: compiled, optimized, thrown away. */
function made(turn) {
    const f = new Function('n', `let s = ${turn}; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; return s;`);
    return f(30000) + f(30000);
}
function thrown(n) {
    let caught = 0;
    for (let i = 0; i < n; i++)
        try { null.x; } catch (e) { caught += e instanceof TypeError; }
    return caught;
}
function work(turns) {
    let sum = 0;
    for (let turn = 0; turn < turns; turn++)
        sum = (sum * 17 + sieve(60000) + points(60000) + texts(4000) + made(turn) + thrown(300)) % 1e9;
    return sum;
}
if (isMainThread) {
    const turns = Number(process.argv[2]);
    const worker = new Worker(__filename, { workerData: turns });
    const mine = work(turns);
    worker.on('message', (theirs) => console.log(mine, theirs));
} else {
    parentPort.postMessage(work(workerData));
}
"""


class Node(Job):
    name, package = "node", "nodejs"
    needs = ["node"]

    def prepare(self) -> None:
        (self.folder / "script.js").write_text(SCRIPT)

    def command(self) -> list[str]:
        return ["node", str(self.folder / "script.js"), str(max(2, int(self.seconds * 100)))]


CLASS = """
package made;
import java.util.*;
import java.util.function.*;
import java.util.stream.*;
public class C{n} implements Comparable<C{n}> {{
    record Pair<A, B>(A first, B second) {{ }}
    enum Kind {{ ONE, TWO, MANY; Kind next() {{ return values()[(ordinal() + 1) % 3]; }} }}
    private final Map<String, List<Pair<Integer, Kind>>> all = new TreeMap<>();
    public int compareTo(C{n} other) {{ return Integer.compare(all.size(), other.all.size()); }}
    <T extends Comparable<? super T>> Optional<T> most(Collection<? extends T> of) {{
        return of.stream().map(x -> (T) x).max(Comparator.naturalOrder());
    }}
    int work(int start) {{
        IntFunction<Kind> kind = i -> switch (i % 3) {{
            case 0 -> Kind.ONE;
            case 1 -> Kind.TWO.next();
            default -> Kind.MANY;
        }};
        for (int i = start; i < start + {n}; i++)
            all.computeIfAbsent("k" + i % 7, k -> new ArrayList<>()).add(new Pair<>(i, kind.apply(i)));
        return all.values().stream().flatMap(List::stream).collect(Collectors.groupingBy(
            Pair::second, Collectors.summingInt(p -> p.first() * {n}))).values().stream()
            .mapToInt(Integer::intValue).sum() + most(List.of(1, 2, {n})).orElse(0){before};
    }}
}}
"""


class Javac(Job):
    """Compiles made sources; the class files must come out the same each time, byte for byte."""

    name, package = "javac (openjdk)", "openjdk-17-jdk-headless"
    needs = ["javac"]

    def prepare(self) -> None:
        (self.folder / "made").mkdir()
        self.count = max(20, int(self.seconds * 100))
        for n in range(self.count):
            before = f" + new C{n - 1}().work({n})" if n else ""
            (self.folder / "made" / f"C{n}.java").write_text(CLASS.format(n=n, before=before))

    def command(self) -> list[str]:
        shutil.rmtree(self.folder / "classes", ignore_errors=True)
        return ["javac", "-nowarn", "-Xlint:none", "-J-XX:-UsePerfData", "-d",
                str(self.folder / "classes"),
                *[f"made/C{n}.java" for n in range(self.count)]]

    def result(self) -> str:
        files = sorted((self.folder / "classes").rglob("*.class"))
        digest = hashlib.sha256(b"".join(file.name.encode() + file.read_bytes() for file in files))
        return f"{len(files)} classes, {digest.hexdigest()}" if len(files) > self.count else ""


PROGRAMS: list[type[Program]] = [Redis, Nginx, Node, Postgres, Javac]


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def nobody() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody")


def group_of(user: pwd.struct_passwd) -> str:
    import grp
    return grp.getgrgid(user.pw_gid).gr_name


def tools_of_postgres() -> Optional[Path]:
    """Debian keeps them out of PATH, in a folder of each version."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return found[-1].parent if found else None


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        if time.monotonic() > deadline:
            raise Wrong(f"{what} within {DEADLINE_S:.0f} s")
        time.sleep(0.02)


def says(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S).stdout


def must(command: list[str]) -> str:
    """Its output; everything that is not a good end is Wrong."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S)
    if done.returncode != 0:
        raise Wrong(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr
