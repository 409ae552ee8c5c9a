# shellcheck shell=bash
# test.sh - ./dev test.

install_for_tests() {
    install_packages "${build_packages[@]}" "${test_packages[@]}"
    install_node
}

# run_tests DIRECTORY WORDS of ctest...: and what was left out, and why.
run_tests() {
    local directory=$1 status=0
    shift
    "$@" --test-dir "$directory" --output-on-failure --no-tests=error \
        --output-junit tests.xml --test-output-size-passed 10000000 || status=$?
    /usr/bin/python3 -B "$root/tests/summary.py" "$directory/tests.xml" || [[ $status -ne 0 ]] || status=1
    return "$status"
}

test_all() { # PATTERN SANITIZERS
    local directory select=()
    directory=$(build_dir "$2")
    [[ -z $1 ]] || select=(-R "$1")
    install_for_tests
    build "$2"
    if [[ -z $1 && -z $2 ]]; then
        say "Building with clang in $root/build-clang"
        configure "$root/build-clang" -DISOSCOPE_TESTS=ON -DCMAKE_C_COMPILER=clang
        compile "$root/build-clang"
    fi
    run_tests "$directory" ctest -j "$(nproc)" "${select[@]}"
}

# As in a default container: a seccomp filter refuses perf_event_open to all that runs below it.
test_without_perf() { # PATTERN SANITIZERS
    local directory
    directory=$(build_dir "$2")
    install_for_tests
    build "$2"
    run_tests "$directory" "$directory/tests/torture/refuse" perf "$(command -v ctest)" \
        -R "^(live_.*${1:-}|torture_short.*${1:-})"
}
