# shellcheck shell=bash
# apt.sh - installs what is missing: beside another package manager, and from a mirror in mid-update.
#
# A machine that has everything is not asked for anything, not even a network.

apt_pause_s=5       # between two looks at a lock
apt_patience_s=1800 # a fresh machine's first unattended upgrade takes its time
apt_tries=3         # of a download
apt_said=""         # the errors of the last apt_get

may_be_root() {
    [[ $EUID -eq 0 ]] || command -v sudo >/dev/null
}

as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif may_be_root; then
        sudo "$@"
    else
        die "no sudo here; as root, run: $*"
    fi
}

missing_packages() {
    comm -23 <(printf '%s\n' "$@" | sort -u) \
        <(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null |
            sed -n 's/^.i. *//p' | sort -u)
}

# Which lock was held and by whom; nothing when none was.
lock_held() {
    sed -n -e 's/^E: Could not get lock \([^ ]*[^. ]\)\.\{0,1\} It is held by \(process [0-9]* ([^)]*)\).*/\2, which holds \1/p' \
        -e 's/^E: Could not get lock \([^ ]*\) - open.*/who holds \1/p' \
        -e 's/.*was locked by another \(process with pid [0-9]*\).*/\1, which holds the package database/p' \
        <<<"$apt_said" | head -n 1
}

download_failed() {
    grep -qE 'Failed to fetch|Hash Sum mismatch|unexpected size|404 +Not Found|Unable to fetch|Some index files failed' \
        <<<"$apt_said"
}

# apt_get WORDS...: apt-get as root. Its own DPkg::Lock::Timeout waits for one of its three locks only, so we do.
apt_get() {
    local status holder said="" deadline=$((SECONDS + apt_patience_s))
    while true; do
        status=0
        apt_said=$(as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" \
            2>&1 >/dev/null) || status=$?
        holder=$(lock_held)
        [[ $status -ne 0 && -n $holder ]] || return "$status"
        [[ $SECONDS -lt $deadline ]] || die "waited $apt_patience_s s for $holder"
        [[ $holder == "$said" ]] || say "Waiting for $holder" >&2
        said=$holder
        sleep "$apt_pause_s"
    done
}

# Lists that cannot be renewed may still be good enough.
update_lists() {
    apt_get update || say "dev: the package lists could not be renewed: $(head -n 1 <<<"$apt_said")" >&2
}

lists_know() { # PACKAGES...
    apt-get install --simulate --no-install-recommends "$@" >/dev/null 2>&1
}

install_packages() {
    local missing try
    if ! command -v dpkg-query >/dev/null; then
        say "dev: not a Debian system; what these packages hold must be there: $*" >&2
        return
    fi
    mapfile -t missing < <(missing_packages "$@")
    [[ ${#missing[@]} -gt 0 ]] || return 0
    may_be_root || die "no sudo here; as root, run: apt-get install --no-install-recommends ${missing[*]}"
    say "Installing: ${missing[*]}"
    lists_know "${missing[@]}" || update_lists
    for ((try = 1; ; try++)); do
        ! apt_get install -y --no-install-recommends "${missing[@]}" || return 0
        mapfile -t missing < <(missing_packages "$@")
        if [[ ${#missing[@]} -eq 0 ]]; then
            say "dev: apt-get complains, but all that is needed is there: $(head -n 1 <<<"$apt_said")" >&2
            return 0
        fi
        [[ $try -lt $apt_tries ]] || break
        download_failed || break
        say "The mirror did not give all files (is it being updated?); trying again" >&2
        sleep $((try * apt_pause_s))
        update_lists
    done
    printf '%s\n' "$apt_said" >&2
    die "could not install: ${missing[*]}"
}
