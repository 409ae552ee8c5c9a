"""Which folder may include what. Dependencies point one way (README, "Folders")."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Callable, Iterable, Iterator, NamedTuple

# What symbols/ is entered by.
SYMBOLS = ("sampler/profile/symbols/symbols.h", "sampler/profile/symbols/lines.h",
           "sampler/profile/symbols/instructions.h",
           "sampler/profile/symbols/files/module_file.h",
           "sampler/profile/symbols/files/symbol_server.h",
           "sampler/profile/symbols/kernel/kernel_places.h",
           "sampler/profile/symbols/names/demangle.h")

# What a profile is entered by; the code behind them stands in its rooms.
DOORS = ("sampler/profile/snapshot.h", "sampler/profile/follow.h", "sampler/profile/timeline.h",
         "sampler/profile/facts.h", "sampler/profile/code.h", "sampler/profile/stalls.h",
         "sampler/profile/address_symbolizer.h")

# The parts of the sampler, each of which sees only those before it; see its README.
CAPTURE = "sampler/capture"
BELOW_CAPTURE = ("sampler/include", "sampler/feed")

# The parts of protocol/, and the doors by which all of them enter the profile; see its README.
WIRE = "protocol"
BELOW_WIRE = ("sampler/include", "sampler/profile/snapshot.h", "sampler/profile/follow.h",
              "sampler/profile/timeline.h", "sampler/profile/stalls.h",
              "sampler/profile/stall_marks.h", "sampler/profile/control.h", "sampler/profile/facts.h",
              "sampler/profile/code.h", "sampler/profile/saved.h", "sampler/profile/recorder.h",
              "sampler/feed/cleanup.h")


def wire(*below: str) -> tuple[str, ...]:
    return (*BELOW_WIRE, *(f"{WIRE}/{name}" for name in below))

# Of the sampler, for the server.
FOR_SERVER = ("sampler/include", "sampler/feed", "sampler/profile/profile.h",
              "sampler/profile/snapshot.h", "sampler/profile/saved.h", "sampler/profile/recorder.h",
              "sampler/profile/stalls.h", "sampler/profile/stall_marks.h", "sampler/profile/control.h")
# The service's own process, for isoscope's: how it is begun, and what they tell each other.
SERVICE_TO_RUN = ("server/service/link.h", "server/service/output_piece.h",
                  "server/service/serve.h", "server/service/service_info.h",
                  "server/service/recording.h", "server/service/serve_words.h",
                  "server/service/stall_options.h")

# A way to sample a process from outside.
SCHEME = ("sampler/include", "sampler/feed", f"{CAPTURE}/system/clock.h", "sampler/remote/refusal.h",
          "sampler/remote/scheme.h", "sampler/remote/target")

# What reads one runtime's frames: by what all of them share.
WALKER = (*BELOW_CAPTURE, f"{CAPTURE}/system", f"{CAPTURE}/runtimes/runtime_scan.h",
          f"{CAPTURE}/runtimes/guarded_memory.h", f"{CAPTURE}/runtimes/code_cache.h")
WALKERS = ("cpython", "jvm", "lua", "perl", "php", "ruby", "v8")

# Folder -> what its files may include besides their own folder: folders, or single files. A folder
# inside another one stands before it.
ALLOWED: dict[str, tuple[str, ...]] = {
    "sampler/include": (),
    "sampler/feed": ("sampler/include",),
    f"{CAPTURE}/system": BELOW_CAPTURE,
    f"{CAPTURE}/cfi": (*BELOW_CAPTURE, f"{CAPTURE}/system"),
    **{f"{CAPTURE}/runtimes/{kind}": WALKER for kind in WALKERS},
    f"{CAPTURE}/runtimes": (*BELOW_CAPTURE, f"{CAPTURE}/system",
                            *(f"{CAPTURE}/runtimes/{kind}" for kind in WALKERS)),
    f"{CAPTURE}/unwind": (*BELOW_CAPTURE, f"{CAPTURE}/system", f"{CAPTURE}/cfi", f"{CAPTURE}/runtimes"),
    f"{CAPTURE}/modules": (*BELOW_CAPTURE, f"{CAPTURE}/system", f"{CAPTURE}/cfi",
                           f"{CAPTURE}/unwind"),
    f"{CAPTURE}/threads": (*BELOW_CAPTURE, f"{CAPTURE}/system", f"{CAPTURE}/unwind"),
    f"{CAPTURE}/wall": BELOW_CAPTURE,
    f"{CAPTURE}/events": (*BELOW_CAPTURE, f"{CAPTURE}/system", CAPTURE),
    f"{CAPTURE}/loops": (*BELOW_CAPTURE, f"{CAPTURE}/system", CAPTURE),
    f"{CAPTURE}/late": (*BELOW_CAPTURE, f"{CAPTURE}/system", f"{CAPTURE}/modules"),
    f"{CAPTURE}/calls": (*BELOW_CAPTURE, CAPTURE),
    CAPTURE: (*BELOW_CAPTURE, f"{CAPTURE}/system", f"{CAPTURE}/runtimes", f"{CAPTURE}/unwind", f"{CAPTURE}/modules",
              f"{CAPTURE}/threads", f"{CAPTURE}/wall"),
    f"{CAPTURE}/own": (*BELOW_CAPTURE, f"{CAPTURE}/system", CAPTURE),
    "sampler/collectors": ("sampler/include",),
    "sampler/interpose": ("sampler/include",),
    "sampler/profile/symbols/files": ("sampler/include", "sampler/feed"),
    "sampler/profile/symbols/names": ("sampler/include", "sampler/feed",
                                      "sampler/profile/symbols/key_sort.h",
                                      "sampler/profile/symbols/files"),
    "sampler/profile/symbols/dwarf": ("sampler/include", "sampler/feed", "sampler/profile/base/grow.h",
                                      "sampler/profile/symbols/key_sort.h",
                                      "sampler/profile/symbols/files"),
    "sampler/profile/symbols/kernel": ("sampler/include", "sampler/feed", "sampler/profile/symbols/files"),
    "sampler/profile/symbols": ("sampler/include", "sampler/feed", "sampler/profile/symbols/files",
                                "sampler/profile/symbols/kernel",
                                "sampler/profile/symbols/names", "sampler/profile/symbols/dwarf"),
    "sampler/profile/base": ("sampler/include", "sampler/feed"),
    "sampler/profile/store": ("sampler/include", "sampler/feed", "sampler/profile/base",
                              "sampler/profile/snapshot.h"),
    "sampler/profile/events": ("sampler/include", "sampler/feed", "sampler/profile/base",
                               "sampler/profile/store/owner.h", "sampler/profile/timeline.h"),
    "sampler/profile/naming": ("sampler/include", "sampler/feed", f"{CAPTURE}/runtimes/jvm/jvm_packed.h",
                               "sampler/profile/base",
                               "sampler/profile/code.h",
                               "sampler/profile/store/frame.h", "sampler/profile/store/names.h",
                               *SYMBOLS),
    "sampler/profile/unwinding": ("sampler/include", "sampler/feed", f"{CAPTURE}/system",
                                  f"{CAPTURE}/cfi", f"{CAPTURE}/unwind/unwind_table.h",
                                  "sampler/profile/base", "sampler/profile/symbols/files"),
    "sampler/profile/runtimes": ("sampler/include", "sampler/feed", f"{CAPTURE}/system/memory.h",
                                 f"{CAPTURE}/cfi",
                                 f"{CAPTURE}/runtimes", "sampler/profile/base",
                                 "sampler/profile/symbols/files"),
    "sampler/profile/outside": ("sampler/include", "sampler/feed",
                                f"{CAPTURE}/system/memory.h", f"{CAPTURE}/system/maps.h", f"{CAPTURE}/threads/user_clock.h",
                                "sampler/profile/base"),
    "sampler/profile/facts": ("sampler/include", "sampler/feed/cleanup.h", "sampler/profile/facts.h",
                              "sampler/profile/base"),
    "sampler/profile/wall": ("sampler/include", "sampler/feed", f"{CAPTURE}/system",
                             f"{CAPTURE}/runtimes", f"{CAPTURE}/unwind", f"{CAPTURE}/modules",
                             f"{CAPTURE}/threads/by_slot.h", f"{CAPTURE}/threads/thread_annotations.h",
                             "sampler/profile/base", "sampler/profile/unwinding",
                             "sampler/profile/outside"),
    "sampler/profile/loops": ("sampler/include", "sampler/feed", "sampler/profile/snapshot.h",
                              "sampler/profile/stalls.h", f"{CAPTURE}/system/memory.h",
                              f"{CAPTURE}/unwind", f"{CAPTURE}/threads/by_slot.h",
                              "sampler/profile/base", "sampler/profile/store/names.h",
                              "sampler/profile/outside", "sampler/profile/wall"),
    "sampler/profile/intake": ("sampler/include", "sampler/feed", "sampler/profile/profile.h",
                               "sampler/profile/runtimes.h", "sampler/profile/base",
                               "sampler/profile/store", "sampler/profile/events",
                               "sampler/profile/naming", "sampler/profile/unwinding",
                               "sampler/profile/outside", "sampler/profile/wall", "sampler/profile/loops",
                               "sampler/profile/runtimes", "sampler/profile/symbols/key_sort.h"),
    "sampler/profile/stalls": ("sampler/profile/stall_marks.h", "sampler/include", "sampler/feed", *DOORS, "sampler/profile/control.h",
                               "sampler/profile/parts.h", "sampler/profile/base", "sampler/profile/intake",
                               "sampler/profile/loops"),
    "sampler/profile/session/format": ("sampler/include", "sampler/feed", "sampler/profile/snapshot.h",
                                       "sampler/profile/timeline.h", "sampler/profile/stalls.h",
                                       "sampler/profile/saved.h", "sampler/profile/runtimes.h", "sampler/profile/base",
                                       "sampler/profile/store", "sampler/profile/events",
                                       "sampler/profile/naming", "sampler/profile/intake",
                                       "sampler/profile/view/describe.h"),
    "sampler/profile/session": ("sampler/include", "sampler/feed", *DOORS, "sampler/profile/recorder.h",
                                "sampler/profile/saved.h", "sampler/profile/control.h", "sampler/profile/profile.h",
                                "sampler/profile/parts.h", "sampler/profile/base",
                                "sampler/profile/store", "sampler/profile/events", "sampler/profile/naming",
                                "sampler/profile/facts", "sampler/profile/intake",
                                "sampler/profile/loops", "sampler/profile/stalls",
                                "sampler/profile/session/format"),
    "sampler/profile/view": ("sampler/include", "sampler/feed", *DOORS, "sampler/profile/parts.h",
                             "sampler/profile/work.h", "sampler/profile/saved.h", "sampler/profile/stalls.h",
                             "sampler/profile/base",
                             "sampler/profile/facts", "sampler/profile/store", "sampler/profile/events",
                             "sampler/profile/naming", "sampler/profile/loops", "sampler/profile/intake"),
    "sampler/profile": ("sampler/include", "sampler/feed", "sampler/profile/store",
                        "sampler/profile/events", "sampler/profile/naming", "sampler/profile/unwinding",
                        "sampler/profile/outside", "sampler/profile/wall", "sampler/profile/loops",
                        "sampler/profile/intake", "sampler/profile/view", "sampler/profile/stalls",
                        "sampler/profile/runtimes/finder.h", "sampler/profile/facts/kept_facts.h",
                        "sampler/profile/session/session_contents.h",
                        "sampler/profile/symbols/files/symbol_server.h"),
    # Programs and core files, read from outside.
    "sampler/remote/stacks": ("sampler/include", "sampler/feed", f"{CAPTURE}/system", f"{CAPTURE}/unwind",
                              "sampler/profile/unwinding", "sampler/profile/wall/blocked.h",
                              "sampler/profile/loops/futex_holder.h", "sampler/profile/loops/system_calls.h",
                              "sampler/remote/refusal.h"),
    "sampler/remote/target": ("sampler/include", "sampler/feed", f"{CAPTURE}/system", f"{CAPTURE}/unwind",
                              f"{CAPTURE}/modules", f"{CAPTURE}/wall/answer.h", "sampler/profile/base/map64.h",
                              "sampler/profile/wall/sleeper_scan.h",
                              "sampler/remote/refusal.h"),
    "sampler/remote/perf": (*SCHEME, "sampler/profile/base/map64.h",
                            "sampler/profile/symbols/kernel/kernel_places.h"),
    "sampler/remote/suspend": (*SCHEME, "sampler/remote/stacks/thread_stop.h"),
    "sampler/remote/inject": ("sampler/include", "sampler/feed", f"{CAPTURE}/system", "sampler/remote/refusal.h",
                              "sampler/remote/stacks/held_stack.h"),
    "sampler/remote": ("sampler/include", "sampler/feed", f"{CAPTURE}/system/clock.h", "sampler/remote/target",
                       "sampler/remote/inject/inject.h"),
    # The tables name the handlers, and are read by the top.
    f"{WIRE}/generated": (f"{WIRE}/methods.h", f"{WIRE}/params.h"),
    f"{WIRE}/text": (),
    f"{WIRE}/rpc": wire("generated", "text"),
    f"{WIRE}/memory": wire("generated", "text"),
    f"{WIRE}/objects": wire("generated", "text", "rpc"),
    f"{WIRE}/isolates": wire("generated", "text", "objects"),
    f"{WIRE}/samples": wire("generated", "text", "rpc", "objects", "isolates"),
    f"{WIRE}/timeline": wire("generated", "text", "rpc", "isolates"),
    f"{WIRE}/perfetto": wire("text", "rpc", "timeline"),
    f"{WIRE}/stalls": wire("text", "rpc", "samples", "timeline"),
    f"{WIRE}/metrics": wire("text", "timeline", "stalls"),
    f"{WIRE}/legacy": wire("generated", "text", "rpc", "objects", "isolates", "samples"),
    f"{WIRE}/pprof": wire("text", "rpc"),
    f"{WIRE}/client": wire("generated", "text", "rpc", "isolates", "samples", "timeline", "stalls",
                         "metrics", "pprof", "service.h"),
    f"{WIRE}/pulls": wire("text", "rpc", "isolates", "samples", "pprof", "stalls", "client"),
    f"{WIRE}/events": wire("generated", "text", "rpc", "objects", "isolates", "samples", "timeline",
                           "stalls", "client"),
    f"{WIRE}/handlers": wire("generated", "text", "rpc", "memory", "objects", "isolates", "samples",
                             "timeline", "perfetto", "stalls", "legacy", "client", "events"),
    WIRE: wire("generated", "text", "rpc", "isolates", "metrics", "client", "events", "pulls"),
    "server/console": ("sampler/include",),
    "server/http": ("sampler/include", "protocol/text/base64_digits.h", "protocol/text/openrpc.h"),
    "server/net": ("sampler/include", "server/console/log_line.h", "server/http", "protocol/service.h"),
    "server/feeds": (*FOR_SERVER, "server/console/log_line.h", "server/net", "protocol/service.h"),
    "server/push": ("sampler/include", "sampler/profile/symbols/files", "sampler/profile/outside/process_place.h", "server/console", "server/http/gzip.h", "server/net", "protocol/service.h",
                    "protocol/text/json_writer.h", "protocol/text/base64.h"),
    "server/service": (*FOR_SERVER, "server/console", "server/http/token.h", "server/net", "server/feeds",
                       "server/push", "protocol/service.h"),
    "server/run": (*FOR_SERVER, "server/console", "server/feeds/elf_header.h", "server/feeds/process_files.h",
                   "server/push/push_options.h", *SERVICE_TO_RUN),
    "server/attach": (*FOR_SERVER, "sampler/remote/attached.h", "sampler/remote/refusal.h", "sampler/remote/scheme.h",
                      "sampler/remote/target/target.h", "server/console", "server/net", "server/service",
                      "server/push", "server/run/paths.h", "server/run/run_dir.h", "protocol/service.h"),
    "server/host": (*FOR_SERVER, "sampler/remote/attached.h", "sampler/remote/refusal.h", "server/console", "server/http",
                    "server/net", "server/feeds", "server/push", "server/service", "protocol/service.h"),
    "server/cli": (*FOR_SERVER, "sampler/profile/address_symbolizer.h", "sampler/remote/refusal.h",
                   "sampler/remote/stacks/thread_stacks.h", "server/http/page.h", "server/console",
                   "server/service/serve_words.h", "server/push/push_options.h", "server/push/symbol_store.h", "server/run",
                   "server/attach/attach.h", "server/host/serve_command.h", "server/host/room_process.h",
                   "server/host/room_serve.h",
                   "protocol/text/json_writer.h"),
    "server": (),
}

NO_ELF = r"libelf|gelf|elfutils"
# Only server/net waits for descriptors and knows the Internet; only server/http packs.
NO_NET = rf"{NO_ELF}|sys/epoll|netinet|arpa/|libwebsockets"

# System headers that have no place in a folder, nor in those inside it that do not say otherwise:
# JSON, sockets, ELF readers.
FORBIDDEN_SYSTEM: dict[str, str] = {
    "sampler/feed": r"jansson|libelf|gelf|elfutils|libunwind|sys/socket",
    "sampler/capture": r"jansson|libelf|gelf|elfutils|libunwind",
    "sampler/profile/symbols/names": r"elfutils|dwarf|jansson|sys/socket",
    "sampler/profile/symbols": r"jansson|sys/socket",
    "sampler/profile/session": r"libelf|gelf|elfutils|dwarf|sys/socket",
    "sampler/profile": r"libelf|gelf|elfutils|dwarf|jansson|zstd|sys/socket",
    "sampler/remote": r"libelf|gelf|elfutils|dwarf|jansson|sys/socket",
    "protocol": r"libelf|gelf|elfutils|sys/socket|pthread",
    "server/http": rf"{NO_NET}|sys/socket|sys/un\.h|poll\.h|fd\.h|pthread|unistd|signal",
    "server/net": rf"{NO_ELF}|zlib|pthread",
    "server": rf"{NO_NET}|zlib",
}

# The same for the page's TypeScript, below clients/web/src. A folder named here is without those in
# it, which have rules of their own; what names no folder is a package.
DATA = ("data", "data/layouts", "data/sums", "data/timeline", "data/stalls", "data/files", "data/saved")
BELOW_VIEWS = ("wire", *DATA, "worker", "state")
VIEW_PARTS = (*BELOW_VIEWS, "views/parts")
ALLOWED_WEB: dict[str, tuple[str, ...]] = {
    "wire": (),
    "data": ("wire/protocol",),
    "data/layouts": ("data",),
    "data/sums": ("data",),
    "data/timeline": ("data", "data/layouts", "data/sums", "wire/protocol"),
    "data/stalls": ("data", "data/sums", "wire/protocol"),
    "data/files": ("data", "data/timeline", "data/stalls", "wire/protocol"),
    "data/saved": ("data", "data/files", "data/timeline", "wire/protocol"),
    "worker": ("wire", *DATA),
    "state": ("wire", *DATA, "worker"),
    "views/parts": BELOW_VIEWS,
    "views/boxes": VIEW_PARTS,
    "views/time": VIEW_PARTS,
    "views/rows": VIEW_PARTS,
    "views/stalls": (*VIEW_PARTS, "views/time"),
    "views/overview": (*VIEW_PARTS, "views/time", "views/stalls"),
    "views/heat": (*VIEW_PARTS, "views/time"),
    "views/timeline": (*VIEW_PARTS, "views/boxes", "views/time"),
    "views/flame": (*VIEW_PARTS, "views/boxes", "views/time", "views/timeline"),
    "views/sandwich": (*VIEW_PARTS, "views/boxes", "views/flame", "views/rows"),
    "views/files": (*VIEW_PARTS, "views/flame"),
    "views/compare": (*VIEW_PARTS, "views/boxes", "views/flame", "views/files"),
    "views/frame": (*VIEW_PARTS, "views/time", "views/rows", "views/overview", "views/flame",
                    "views/files", "views/compare", "views/heat", "views/sandwich", "views/timeline",
                    "views/stalls"),
}
WEB_PACKAGES: dict[str, str] = {
    "data": r"fzstd$",  # in the second file: only session files need it
    "state": r"preact|@preact/signals",
    "views": r"preact|@preact/signals",
}
WEB_GENERATED = "schemas/generated/"

# And for clients/editor/src, which reads with the page's pure modules: what of clients/web/src a folder may import.
ALLOWED_EDITOR: dict[str, tuple[str, ...]] = {
    "core": (),
    "lsp": ("core",),
    "mcp/facts": ("core",),
    "mcp/tools": ("mcp/facts", "core"),
    "mcp": ("mcp/tools", "mcp/facts", "core"),
}
EDITOR_PACKAGES: dict[str, str] = {
    "core": r"ws$|node:",
    "lsp": r"vscode-languageserver|node:",
    "mcp/facts": r"zod$|node:",
    "mcp/tools": r"zod$|node:",
    "mcp": r"@modelcontextprotocol/sdk|zod$|node:",
}
PAGE_FOR_EDITOR: dict[str, tuple[str, ...]] = {
    "core": ("wire", *DATA, "worker/answers", "worker/messages"),
    "lsp": ("wire/protocol", "data", "data/stalls"),
    "mcp/facts": ("wire/protocol", "data"),
    "mcp/tools": ("wire/protocol", "wire/source", "data"),
    "mcp": (),
}

# And for clients/vscode/src; of clients/editor it knows the messages, and nothing of the page.
ALLOWED_VSCODE: dict[str, tuple[str, ...]] = {
    "model": (),
    "server": ("model",),
    "launch": ("model", "server"),
    "views": ("model", "server"),
    "page": (),
    "webview": ("page/messages",),
}
VSCODE_PACKAGES: dict[str, str] = {
    "server": r"vscode$|vscode-languageclient/node$|node:",
    "launch": r"vscode$",
    "views": r"vscode$",
    "page": r"vscode$|ws$|node:",
}
MESSAGES_FOR_VSCODE = "clients/editor/src/lsp/own_messages"

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


IMPORT = re.compile(r'''^(?:import|export|\}).*\bfrom ["']([^"']+)["']|^import ["']([^"']+)["']''')


class Wrong(NamedTuple):
    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


def folder_of(path: str) -> str | None:
    """The layer a file of the project belongs to."""
    for folder in ALLOWED:
        if path.startswith(folder + "/"):
            return folder
    return None


def without_rules(root: Path) -> list[str]:
    """Folders of C beside ones that have rules: their files would pass for the outer folder's."""
    beside = {Path(folder).parent.as_posix() for folder in ALLOWED} & set(ALLOWED)
    folders = {path.parent.relative_to(root).as_posix()
               for around in beside for path in (root / around).rglob("*.[ch]")}
    return sorted(folders - set(ALLOWED))


# A folder with more modules than this is not found through: it wants rooms.
MODULES_MAX = 25
SOURCES = ("sampler", "protocol", "server", "clients/python/src", "clients/web/src", "clients/editor/src",
           "clients/vscode/src")
ENDINGS = {".c", ".h", ".py", ".ts", ".tsx"}


def crowded(root: Path, sources: Iterable[str] = SOURCES) -> dict[str, int]:
    """Folders with more than MODULES_MAX modules. A module is what shares a name: x.c and x.h."""
    modules: dict[str, set[str]] = {}
    for source in sources:
        for path in (root / source).rglob("*"):
            name = path.relative_to(root).parent.as_posix()
            if path.suffix in ENDINGS and "generated" not in name:
                modules.setdefault(name, set()).add(path.name.split(".")[0])
    return {name: len(found) for name, found in sorted(modules.items())
            if len(found) > MODULES_MAX}


def circles(rules: dict[str, tuple[str, ...]]) -> list[str]:
    """Folders that may include each other, by whatever way. Single files are let through."""
    def reach(folder: str, seen: frozenset[str]) -> frozenset[str]:
        for entry in rules[folder]:
            if entry in rules and entry not in seen:
                seen = reach(entry, seen | {entry})
        return seen

    return sorted(folder for folder in rules if folder in reach(folder, frozenset()))


def forbidden(folder: str) -> str:
    """Of the nearest folder that forbids something."""
    around = [folder, *(parent.as_posix() for parent in Path(folder).parents)]
    return next((FORBIDDEN_SYSTEM[name] for name in around if name in FORBIDDEN_SYSTEM), r"(?!)")


def allowed(folder: str, target: str) -> bool:
    if folder_of(target) == folder:
        return True
    return any(target == entry or target.startswith(entry + "/") for entry in ALLOWED[folder])


def wrong_in_file(root: Path, path: Path) -> Iterator[Wrong]:
    name = path.relative_to(root).as_posix()
    folder = folder_of(name)
    if folder is None:
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        bracket, included = match.groups()
        if bracket == "<":
            if re.search(forbidden(folder), included):
                yield Wrong(name, number, f"{folder} must not know <{included}>")
            continue
        target = (path.parent / included).resolve()
        if not target.exists():
            target = (root / included).resolve()
        relative = target.relative_to(root).as_posix() if target.is_relative_to(root) else included
        if not allowed(folder, relative):
            yield Wrong(name, number, f"{folder} must not include {relative}")


def wrong_in_tree(root: Path) -> list[Wrong]:
    root = root.resolve()
    files = [path for folder in ALLOWED for path in sorted((root / folder).rglob("*.[ch]"))
             if folder_of(path.relative_to(root).as_posix()) == folder]
    return [wrong for path in files for wrong in wrong_in_file(root, path)]


class Scripts(NamedTuple):
    """A client in TypeScript."""
    source: Path
    rules: dict[str, tuple[str, ...]]  # folder -> what of source it may import
    packages: dict[str, str]  # folder, or the top one of it -> packages, as a regular expression
    outside: Callable[[str, Path], bool]  # may the folder import that file, which is not below source?


def _web(root: Path) -> Scripts:
    def outside(folder: str, target: Path) -> bool:
        return folder == "wire" and WEB_GENERATED in target.as_posix()

    return Scripts(root.resolve() / "clients/web/src", ALLOWED_WEB, WEB_PACKAGES, outside)


def _editor(root: Path) -> Scripts:
    page = root.resolve() / "clients/web/src"

    def outside(folder: str, target: Path) -> bool:
        return target.is_relative_to(page) and _is_in(target.relative_to(page), PAGE_FOR_EDITOR[folder])

    return Scripts(root.resolve() / "clients/editor/src", ALLOWED_EDITOR, EDITOR_PACKAGES, outside)


def _vscode(root: Path) -> Scripts:
    messages = root.resolve() / MESSAGES_FOR_VSCODE

    def outside(folder: str, target: Path) -> bool:
        return target == messages

    return Scripts(root.resolve() / "clients/vscode/src", ALLOWED_VSCODE, VSCODE_PACKAGES, outside)


def wrong_in_web(root: Path) -> list[Wrong]:
    """Imports of clients/web that point the other way, or take a package where none belongs."""
    return _wrong_in_scripts(_web(root))


def wrong_in_editor(root: Path) -> list[Wrong]:
    return _wrong_in_scripts(_editor(root))


def wrong_in_vscode(root: Path) -> list[Wrong]:
    return _wrong_in_scripts(_vscode(root))


def web_without_rules(root: Path) -> list[str]:
    """Folders of the page that nothing is said of."""
    return _scripts_without_rules(_web(root))


def editor_without_rules(root: Path) -> list[str]:
    return _scripts_without_rules(_editor(root))


def vscode_without_rules(root: Path) -> list[str]:
    return _scripts_without_rules(_vscode(root))


def _scripts_without_rules(scripts: Scripts) -> list[str]:
    folders = {path.parent.relative_to(scripts.source).as_posix() for path in scripts.source.rglob("*.ts*")}
    return sorted(folders - {".", *scripts.rules})


def _wrong_in_scripts(scripts: Scripts) -> list[Wrong]:
    files = [path for folder in scripts.rules for path in sorted((scripts.source / folder).glob("*.ts*"))]
    return [wrong for path in files for wrong in _wrong_in_script(scripts, path)]


def _is_in(file: Path, entries: Iterable[str]) -> bool:
    return file.as_posix() in entries or file.parent.as_posix() in entries


def _wrong_in_script(scripts: Scripts, path: Path) -> Iterator[Wrong]:
    source = scripts.source
    folder = path.relative_to(source).parent.as_posix()
    packages = scripts.packages.get(folder) or scripts.packages.get(folder.split("/")[0], r"(?!)")
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = IMPORT.match(line)
        if not match:
            continue
        name = match.group(1) or match.group(2)
        where = (path.relative_to(source).as_posix(), number)
        if not name.startswith("."):
            if not re.match(packages, name):
                yield Wrong(*where, f"{folder} must not know the package {name}")
            continue
        target = (path.parent / name).resolve()
        if not target.is_relative_to(source):
            if not scripts.outside(folder, target):
                yield Wrong(*where, f"{folder} must not import {name}")
        elif not _is_in(target.relative_to(source), (folder, *scripts.rules[folder])):
            yield Wrong(*where, f"{folder} must not import {target.relative_to(source).as_posix()}")
