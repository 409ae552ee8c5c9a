# shellcheck shell=bash
# node.sh - the node that builds and tests the page: from 18 on, wherever it is from.

node_oldest=18

# Why there is none that serves; nothing when there is one.
node_trouble() {
    local version
    if ! command -v node >/dev/null; then
        say "there is no node"
    elif ! version=$(node --version 2>/dev/null) || [[ ! $version =~ ^v([0-9]+)\. ]]; then
        say "$(command -v node) does not tell its version"
    elif [[ ${BASH_REMATCH[1]} -lt $node_oldest ]]; then
        say "$(command -v node) is $version, and $node_oldest is needed"
    elif ! command -v npm >/dev/null; then
        say "there is no npm beside $(command -v node)"
    fi
}

has_node() {
    [[ -z $(node_trouble) ]]
}

# Debian's, unless there is one: beside another's node Debian's npm often cannot be installed.
install_node() {
    has_node && return
    install_packages "${node_packages[@]}"
    has_node || die "$(node_trouble)"
}
