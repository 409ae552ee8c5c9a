# shellcheck shell=bash
# bench.sh - ./dev bench.

bench_names() {
    grep -l __main__ "$root"/tests/bench/*.py | sed 's|.*/||; s|\.py$||'
}

bench_web_needs() {
    command -v chromium >/dev/null || install_packages chromium
    install_web
}

bench() { # NAME WORDS...
    local name=${1:-}
    if [[ -z $name ]]; then
        say "./dev bench NAME, where NAME is one of:"
        bench_names
        return
    fi
    # Not grep -q: it ends at the first match, and the writer before it by SIGPIPE.
    bench_names | grep -x -e "$name" >/dev/null || usage "there is no bench '$name'"
    shift
    install_packages "${build_packages[@]}" "${bench_packages[@]}"
    [[ $name != stalls ]] || install_servers "${test_packages[@]}" "${stall_packages[@]}"
    build ""
    [[ $name != web ]] || bench_web_needs
    /usr/bin/python3 -B "$root/tests/bench/$name.py" "$root/build" "$@"
}
