# shellcheck shell=bash
# generate.sh - what is made of other files and stands in the tree: ./dev generate, web, man.

generate() {
    install_packages python3
    python3 -B "$root/schemas/generate.py"
    versions
    if has_node; then
        web
    else
        say "dev: clients/web/generated and clients/editor/generated are left as they are: $(node_trouble)" >&2
    fi
}

# What package-lock.json says, of npm's registry, once.
install_web() {
    install_node
    local client
    for client in web editor; do
        (cd "$root/clients/$client" && node ../web/install.mjs) || die "clients/$client could not be made ready"
    done
}

web() {
    install_web
    (cd "$root/clients/web" && node build.mjs generated)
    (cd "$root/clients/editor" && node build.mjs generated)
}

# Not part of the build: npm's packages, for a file that only VS Code reads.
vsix() {
    install_node
    local client=$root/clients/vscode
    (cd "$client" && node ../web/install.mjs) || die "clients/vscode could not be made ready"
    (cd "$client" && node build.mjs "$root/build/vscode") || die "the extension could not be built"
    say "build/vscode/isoscope.vsix; code --install-extension installs it"
}

# The build makes them too, for the service.
docs() {
    install_packages python3 python3-markdown-it
    /usr/bin/python3 -B "$root/docs/site/build.py" "$root/build/docs" || die "the documentation could not be built"
    say "build/docs/index.html"
}

# What programs may rely on, of the library as it is now; tests/abi compares with it.
abi() {
    install_packages abigail-tools
    build_command
    "$root/tests/abi/dump" "$root/build/lib/libisoscope.so.0" "$root/tests/abi/$(uname -m).abi" || die "abidw could not read the library"
    say "tests/abi/$(uname -m).abi"
}

# The version is CMakeLists.txt's; the clients' own files have it, too.
versions() {
    local version
    version=$(project_version)
    sed -i "s/^version = \".*\"/version = \"$version\"/" "$root/clients/python/pyproject.toml"
    sed -i "s/^__version__ = \".*\"/__version__ = \"$version\"/" "$root/clients/python/src/isoscope/__init__.py"
    local client
    for client in web editor vscode; do
        # The first one is the package's; those below are of what it needs.
        sed -i "0,/\"version\": /s/\"version\": \".*\"/\"version\": \"$version\"/" "$root/clients/$client/package.json"
    done
}

# Whole or not at all: a test compares it with what the commands say.
man_page() {
    build_command
    local page=$root/build/isoscope.1
    ISOSCOPE_COMMAND="$root/build/bin/isoscope" PYTHONPATH="$root/clients/python/src" \
        /usr/bin/python3 -B -m isoscope.cli.man >"$page" || die "the man page could not be made"
    cp "$page" "$root/server/isoscope.1"
}
