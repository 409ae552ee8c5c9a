# shellcheck shell=bash disable=SC2034
# packages.sh - Debian's packages, by what needs them.

# The command itself: what ./dev run installs is what a newcomer waits for.
run_packages=(gcc libc6-dev cmake ninja-build pkgconf
    libjansson-dev libdw-dev libelf-dev libiberty-dev zlib1g-dev libzstd-dev liblzma-dev libcapstone-dev libunwind-dev libcurl4-openssl-dev
    python3 python3-websocket python3-zstandard python3-markdown-it libc6-dbg) # the last: names for what libc does
build_packages=("${run_packages[@]}" build-essential git libcmocka-dev
    python3-websockets python3-pytest python3-fastjsonschema)
# The second compiler, the programs that tests/live samples, aarch64 in an emulator, a browser for the page.
test_packages=(clang libclang-rt-dev protobuf-compiler libdebuginfod1 debuginfod sqlite3 xz-utils perl mawk gzip tar binutils dwz procps libcap2-bin
    ruby php8.2-cli lua5.4 abigail-tools python3-rich python3-pandas python3.11-dbg tmux fish zsh man-db groff-base
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user golang-go chromium lld mold musl-tools valgrind prometheus
    libevent-dev libev-dev xvfb python3-gi gir1.2-gtk-3.0 fuse3 libfuse3-dev) # these: loops, and files that are slow
node_packages=(nodejs npm) # any node from 18 on serves, wherever it is from
server_packages=(redis-server nginx-light wrk nodejs postgresql openjdk-17-jdk-headless)
# More loops for ./dev bench stalls; the tests use what is there of these, of the servers, and of prometheus.
stall_packages=(libnginx-mod-http-perl qtbase5-dev prometheus)
bench_packages=(linux-perf google-perftools libgoogle-perftools-dev libjemalloc2 heaptrack sqlite3 g++
    llvm elfutils systemtap-sdt-dev liblttng-ust-dev lttng-tools python3.11 python3.11-dbg clang lld mold golang-go rustc)
conformance_packages=(chromium npm libc6-i386)
readers_packages=(chromium npm python3-pip)
collectors_packages=(python3-pip)
editor_packages=(neovim emacs-nox elpa-eglot g++)
vscode_packages=(chromium g++ make python3) # and node, as node.sh has it
engine_packages=(python3-venv protobuf-compiler iproute2)
# ./dev package: Debian packages, the Python wheel, a tarball.
package_packages=(build-essential debhelper dh-python fakeroot lintian pybuild-plugin-pyproject python3-build python3-setuptools python3-wheel twine binutils xz-utils)
lint_packages=(clang-format shellcheck mypy)
