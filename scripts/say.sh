# shellcheck shell=bash
# say.sh - words to the user.

say() {
    printf '%s\n' "$*"
}

die() {
    printf 'dev: %s\n' "$*" >&2
    exit 1
}

usage() {
    printf 'dev: %s; see ./dev help\n' "$*" >&2
    exit 2
}
