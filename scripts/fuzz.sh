# shellcheck shell=bash
# fuzz.sh - ./dev fuzz.

fuzz_names() {
    local file
    for file in "$root"/tests/fuzz/*_fuzz.c; do
        basename "$file" _fuzz.c
    done
}

fuzz() { # [NAME] [--minutes N]
    local minutes=10 names=() name
    while [[ $# -gt 0 ]]; do
        case $1 in
        --minutes)
            [[ ${2:-} =~ ^[1-9][0-9]{0,4}$ ]] || usage "--minutes wants a number, such as 10"
            minutes=$2
            shift
            ;;
        *)
            fuzz_names | grep -x -e "$1" >/dev/null || usage "there is nothing to fuzz called '$1'"
            names+=("$1")
            ;;
        esac
        shift
    done
    [[ ${#names[@]} -gt 0 ]] || mapfile -t names < <(fuzz_names)
    install_packages "${build_packages[@]}" clang libclang-rt-dev
    build ""
    for name in "${names[@]}"; do
        "$root/tests/fuzz/run" "$root/build/tests/fuzz/${name}_fuzz" \
            "$root/tests/fuzz/corpus/$name" $((minutes * 60)) || die "fuzz: $name broke; see above"
    done
}
