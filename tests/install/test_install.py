"""What an install holds, wherever it goes: a command that runs, a library that programs can use."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from places import PLACES, ROOT, Installed, environment, output_of

CONSUMER = Path(__file__).parent / "consumer"
SPIN = ["/bin/sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done"]


def outside_the_client(installed: Installed) -> set[str]:
    clients = ("share/isoscope/python/", "share/isoscope/editor/")
    return {file for file in installed.files() if not file.startswith(clients)}


def library_of(libdir: str) -> set[str]:
    return {f"{libdir}/libisoscope.so.0", f"{libdir}/libisoscope.so.0.1.0",
            f"{libdir}/libisoscope_itt.so", f"{libdir}/libisoscope_nvtx.so",
            f"{libdir}/libisoscope_alloc.so", f"{libdir}/libisoscope_lock.so", "share/doc/isoscope/LICENSE"}


def development_of(libdir: str) -> set[str]:
    names = ("Config", "ConfigVersion", "Targets", "Targets-debug")
    return {
        f"{libdir}/libisoscope.so", f"{libdir}/pkgconfig/isoscope.pc",
        "include/isoscope/isoscope.h", "include/isoscope/optional.h",
        "include/isoscope/event.h", "include/isoscope/event.hpp",
        "include/isoscope/loop.h", "include/isoscope/loop.hpp", "include/isoscope/memory.h",
        "include/isoscope/locks.h",
        *(f"{libdir}/cmake/isoscope/isoscope{name}.cmake" for name in names),
    }  # fmt: skip


def test_each_file_is_in_the_distributions_place(installed):
    libdir, zsh = installed.place.libdir, installed.place.zsh
    assert outside_the_client(installed) == library_of(libdir) | development_of(libdir) | {
        "bin/isoscope",
        "share/man/man1/isoscope.1",
        "lib/systemd/system/isoscope.service",
        "lib/systemd/system/isoscope.socket",
        "lib/systemd/user/isoscope.service",
        "lib/systemd/user/isoscope.socket",
        "share/bash-completion/completions/isoscope",
        f"share/zsh/{zsh}/_isoscope",
        "share/fish/vendor_completions.d/isoscope.fish",
    }
    source = ROOT / "clients/python/src/isoscope"
    written = {str(path.relative_to(source)) for path in source.rglob("*")
               if path.is_file() and path.suffix not in (".pyc", ".md")}
    client = {file for file in installed.files() if file.startswith("share/isoscope/python/")}
    assert client == {f"share/isoscope/python/isoscope/{file}" for file in written}
    scripts = {f"share/isoscope/editor/{path.name}" for path in (ROOT / "clients/editor/generated").iterdir()}
    assert {file for file in installed.files() if file.startswith("share/isoscope/editor/")} == scripts
    assert {"share/isoscope/editor/lsp.mjs", "share/isoscope/editor/mcp.mjs"} <= scripts


def test_nothing_in_it_knows_where_it_was_built(installed):
    for file in installed.files():
        if not file.endswith((".so", ".so.0", ".so.0.1.0", "bin/isoscope")):  # these have -g
            assert str(ROOT) not in (installed.prefix / file).read_text(), file


def test_the_command_runs_a_program(installed):
    assert output_of(installed.command, "run", "--", "/bin/echo", "hello") == "hello\n"
    assert output_of(installed.command, "--version") == "isoscope 0.1.0\n"


def test_the_command_finds_its_client(installed):
    shown = output_of(installed.command, "tree", "--", *SPIN)
    assert "call tree" in shown


def test_the_command_may_be_a_link(installed, tmp_path):
    (tmp_path / "link").symlink_to(installed.command)
    assert output_of(tmp_path / "link", "run", "--", "/bin/echo", "hello") == "hello\n"


def built_by_pkg_config(installed: Installed, folder: Path, *flags: str) -> Path:
    output_of("cc", "-o", folder / "consumer", CONSUMER / "consumer.c",
              *installed.pkg_config("--cflags", "--libs"), *flags)
    return folder / "consumer"


def built_by_find_package(installed: Installed, folder: Path) -> Path:
    # Which names of lib/ find_package looks into is the distribution's choice.
    package = installed.libdir / "cmake/isoscope"
    output_of("cmake", "-S", CONSUMER, "-B", folder, "-G", "Ninja", f"-Disoscope_DIR={package}")
    output_of("cmake", "--build", folder)
    return folder / "consumer"


def test_pkg_config_tells_the_version_and_no_rpath(installed):
    assert installed.pkg_config("--modversion") == ["0.1.0"]
    assert [word[:2] for word in installed.pkg_config("--cflags", "--libs")] == ["-I", "-L", "-l"]


def test_pkg_config_leaves_out_the_compilers_own_folders(install):
    ours = environment(PKG_CONFIG_PATH=str(install("usr").libdir / "pkgconfig"))
    told = output_of("pkg-config", "--cflags", "--libs", "isoscope", env=ours)
    assert told.split()[-1] == "-lisoscope" and "-I" not in told


def test_a_program_linked_by_pkg_config_runs(installed, tmp_path):
    """Its rpath is the builder's choice: the loader knows /usr and /usr/local without."""
    (libdir,) = installed.pkg_config("--variable=libdir")
    consumer = built_by_pkg_config(installed, tmp_path, f"-Wl,-rpath,{libdir}")
    assert output_of(consumer) == "alone, copies: 1\n"
    assert output_of(installed.command, "run", consumer) == "sampled, copies: 1\n"


def test_the_preloaded_library_is_the_one_a_program_needs(installed, tmp_path):
    """So that one starts under `isoscope run` even where the loader would not find it."""
    consumer = built_by_pkg_config(installed, tmp_path)
    assert output_of(installed.command, "run", consumer) == "sampled, copies: 1\n"


def test_a_program_linked_by_find_package_runs(installed, tmp_path):
    consumer = built_by_find_package(installed, tmp_path)
    assert output_of(consumer) == "alone, copies: 1\n"
    assert output_of(installed.command, "run", consumer) == "sampled, copies: 1\n"


def test_a_project_that_fetches_the_sources_builds_the_library_alone(install, tmp_path):
    """FetchContent: nothing but libc is asked for, and nothing of ours gets into its install."""
    output_of("cmake", "-S", CONSUMER / "fetched", "-B", tmp_path, "-G", "Ninja", f"-DISOSCOPE_SOURCES={ROOT}")
    output_of("cmake", "--build", tmp_path, timeout=600)
    assert not list(tmp_path.rglob("bin/isoscope"))
    consumer = tmp_path / "consumer"
    assert output_of(consumer) == "alone, copies: 1\n"
    assert output_of(install("local").command, "run", consumer) == "sampled, copies: 1\n"
    output_of("cmake", "--install", tmp_path, env=environment(DESTDIR=str(tmp_path / "put")))
    put = {path.name for path in (tmp_path / "put").rglob("*") if path.is_file()}
    assert {"consumer", "libisoscope.so.0.1.0"} <= put


def test_two_installs_are_one_library_in_a_process(install, tmp_path):
    """One was linked, another one's command preloads."""
    linked, other = install("local"), install("lib64")
    consumer = built_by_find_package(linked, tmp_path)
    assert output_of(other.command, "run", consumer) == "sampled, copies: 1\n"


def test_the_man_page_is_found(installed):
    man = shutil.which("man") or pytest.skip("needs man")
    page = output_of(man, "-M", installed.prefix / "share/man", "-w", "isoscope").strip()
    assert page == str(installed.prefix / "share/man/man1/isoscope.1")


# For each shell: what it says once it has loaded the completion, as it does at the first TAB.
SHELLS = {
    "bash": ("share/bash-completion/completions/isoscope",
             "COMP_WORDS=(isoscope to) COMP_CWORD=1; _isoscope; echo ${COMPREPLY[@]}"),
    "fish": ("share/fish/vendor_completions.d/isoscope.fish", "complete -C 'isoscope to'"),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes(installed, shell, tmp_path):
    binary = shutil.which(shell) or pytest.skip(f"needs {shell}")
    file, then = SHELLS[shell]
    ours = environment(PATH=f"{installed.command.parent}:/usr/bin:/bin", HOME=str(tmp_path))
    told = output_of(binary, "-c", f"source '{installed.prefix / file}'; {then}", env=ours)
    assert told.split()[0] == "top"


ZSH = """\
zmodload zsh/zpty
zpty shell zsh -f -i
for line in "fpath=('{folder}' \\$fpath)" "autoload -U compinit" "compinit -u -d '{dump}'"; do
    zpty -w shell $line
done
zpty -w -n shell $'isoscope bott\\t'
zpty -r shell seen $'*isoscope bottomup*' && print completed
"""


def test_zsh_completes(installed, tmp_path):
    zsh = shutil.which("zsh") or pytest.skip("needs zsh")
    folder = installed.prefix / "share/zsh" / installed.place.zsh
    ours = environment(PATH=f"{installed.command.parent}:/usr/bin:/bin", HOME=str(tmp_path),
                       TERM="dumb")
    script = ZSH.format(folder=folder, dump=tmp_path / "dump")
    assert output_of(zsh, "-f", "-c", script, env=ours).endswith("completed\n")


def test_uninstall_leaves_nothing(tree, install):
    installed = install("multiarch")
    output_of(installed.command, "tree", "--help")  # Python leaves what it compiled
    stranger = installed.prefix / "share/isoscope/a-file-of-somebody-else"
    stranger.touch()
    tree.uninstall(installed.root)
    assert installed.files() == {str(stranger.relative_to(installed.prefix))}
    folders = [path.name for path in installed.root.rglob("*") if path.is_dir()]
    assert folders.count("isoscope") == 1 and "__pycache__" not in folders
    tree.uninstall(installed.root, status=1)  # nothing is installed now


@pytest.mark.parametrize("component", ["library", "development"])
def test_a_component_can_be_installed_alone(tree, tmp_path, component):
    place = PLACES["local"]
    tree.install(place, tmp_path, "--component", component)
    wanted = {"library": library_of, "development": development_of}[component](place.libdir)
    assert Installed(place, tmp_path).files() == wanted


def test_without_the_service_there_is_the_library(tree, tmp_path):
    place = PLACES["local"]
    tree.install(place, tmp_path, service=False)
    installed = Installed(place, tmp_path)
    assert installed.files() == library_of(place.libdir) | development_of(place.libdir)


def test_a_command_without_its_parts_says_where_they_belong(install):
    installed = install("lib64")
    shutil.rmtree(installed.libdir)
    shutil.rmtree(installed.prefix / "share")
    for words, place in (("run", "../lib64/libisoscope.so.0"), ("tree", "../share/isoscope/python"),
                         ("lsp", "../share/isoscope/editor")):
        done = subprocess.run([installed.command, words, "/bin/true"], env=environment(),
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 125 and place in done.stderr, done.stderr


def test_all_parts_have_one_version():
    """CMakeLists.txt's; ./dev generate carries it to the others."""
    version = re.search(r"project\(isoscope VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    assert version
    for file, pattern in (("python/pyproject.toml", r'^version = "(.+)"'),
                          ("python/src/isoscope/__init__.py", r'^__version__ = "(.+)"'),
                          *((f"{client}/package.json", r'"version": "(.+)"') for client in ("web", "editor", "vscode"))):
        found = re.search(pattern, (ROOT / "clients" / file).read_text(), re.M)
        assert found and found[1] == version[1], file
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest and newest[1] == version[1]
