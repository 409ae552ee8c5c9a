# shellcheck shell=bash
# build.sh - ./dev build.

build_dir() { # LIST of sanitizers, or nothing
    printf '%s/build%s' "$root" "${1:+-${1//,/-}}"
}

# configure DIRECTORY [CMAKE OPTIONS...]
configure() {
    local directory=$1
    shift
    mkdir -p "$directory"
    if ! cmake -S "$root" -B "$directory" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DISOSCOPE_WERROR=ON "$@" >"$directory/configure.log" 2>&1; then
        cat "$directory/configure.log" >&2
        die "cmake could not configure $directory"
    fi
}

# compile DIRECTORY [TARGETS...]
compile() {
    local directory=$1
    shift
    # The lines of single steps are for a terminal, where each takes the place of the last.
    if [[ -t 1 ]]; then
        (cd "$directory" && ninja "$@")
    else
        (cd "$directory" && ninja --quiet "$@" >build.log 2>&1) || { cat "$directory/build.log" && false; }
    fi || die "the build in $directory failed"
}

build() { # LIST of sanitizers, or nothing
    install_packages "${build_packages[@]}"
    say "Building ${1:+with sanitizers $1 }in $(build_dir "$1")"
    configure "$(build_dir "$1")" -DISOSCOPE_TESTS=ON -DISOSCOPE_SANITIZE="$1"
    compile "$(build_dir "$1")"
}

# What running a program takes, and no more: the tests want packages of their own. They stay where they are
# configured already.
build_command() {
    local folder=$root/build without=()
    install_packages "${run_packages[@]}"
    say "Building in $folder"
    [[ -e $folder/build.ninja ]] || without=(-DISOSCOPE_TESTS=OFF)
    configure "$folder" "${without[@]}"
    compile "$folder" isoscope isoscope_command example_pack
}
