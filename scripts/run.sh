# shellcheck shell=bash
# run.sh - ./dev run.

# The service runs on after the program (--keep), so its end is seen from outside: isoscope, which
# has this script's pid after the exec, has no child any more but ourselves.
program_runs() { # PID of isoscope
    local child children=""
    read -r children 2>/dev/null <"/proc/$1/task/$1/children" || true
    for child in $children; do
        # This watch and isoscope's own service are its children too.
        [[ $child -eq $BASHPID || $(cat "/proc/$child/comm" 2>/dev/null) == isoscope-serve ]] || return 0
    done
    return 1
}

wait_for_end() { # PID of isoscope
    local tries=0
    # A program that is through before we look never shows: two seconds are enough for one to start.
    until program_runs "$1" || [[ $((++tries)) -gt 40 ]]; do
        sleep 0.05
    done
    while program_runs "$1"; do
        sleep 0.05
    done
}

report() { # URI
    say ""
    # Not as an argument: other users can read those.
    ISOSCOPE_URI=$1 "$root/build/bin/isoscope" tree --hot 10 --path --frames "$frames" || true
    say ""
    if [[ -t 1 ]]; then
        say "The whole call tree:  ISOSCOPE_URI='$1' build/bin/isoscope tree"
    fi
    say "A program of yours:   ./dev run -- PROGRAM ARGS..."
}

# watch PID FOLDER: tells where the service is, and what it saw when the program has ended.
watch() {
    local isoscope=$1 folder=$2 uri
    until [[ -s $folder/service.json ]]; do
        kill -0 "$isoscope" 2>/dev/null || return 0
        sleep 0.05
    done
    uri=$(sed -n 's/.*"uri": *"\([^"]*\)".*/\1/p' "$folder/service.json")
    say "The Dart VM service is listening on $uri"
    wait_for_end "$isoscope"
    kill -0 "$isoscope" 2>/dev/null || return 0
    report "$uri"
    if [[ -t 1 ]]; then
        say "The service stays up until Ctrl-C."
        say "Open $uri in a browser"
    else
        say "In a terminal the service stays up, and its page can be opened in a browser."
    fi
}

# Without a terminal nobody would end the service: it must not outlive us, whatever we ended of.
end_watch() { # PID FOLDER
    rm -rf "$2"
    [[ -t 1 ]] || kill -TERM "$1" 2>/dev/null || true
}

# What they work on are this tree's own sources, which the page may show.
native_demonstration=(build/examples/pack sampler protocol)
demonstration=(python3 examples/spelling.py sampler protocol server schemas clients/python examples tests)

# A native program is sampled as any other: it needs no server that stays.
show_native() {
    say "Running ${native_demonstration[*]}"
    "$root/build/bin/isoscope" tree --hot 5 --path -- "${native_demonstration[@]}" || true
    say ""
}

run() { # COMMAND...
    local folder options=() frames=folded
    build_command
    if [[ $# -eq 0 ]]; then
        cd "$root"
        show_native
        set -- "${demonstration[@]}"
        frames=mine # libraries without debug information have few names
        options=(--source-root "$root")
    fi
    folder=$(mktemp -d)
    say "Running $*"
    # isoscope takes our place, so the program has the terminal and its status is ours.
    (
        trap '' PIPE # a reader that has seen enough (head) must not keep us from end_watch
        trap 'end_watch $$ "$folder"' EXIT
        watch $$ "$folder"
    ) &
    exec "$root/build/bin/isoscope" run --quiet --keep "${options[@]}" \
        --write-service-info "$folder/service.json" -- "$@"
}
