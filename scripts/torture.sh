# shellcheck shell=bash
# torture.sh - ./dev torture.

# Their packages would start what they bring: nothing of it may run, or be left enabled.
install_servers() { # MORE PACKAGES
    local policy=/usr/sbin/policy-rc.d made=""
    [[ -n $(missing_packages "${server_packages[@]}" "$@") ]] || return 0
    if [[ ! -e $policy ]]; then
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
        as_root chmod +x "$policy"
        made=yes
    fi
    (install_packages "${server_packages[@]}" "$@") || { [[ -z $made ]] || as_root rm "$policy"; exit 1; }
    [[ -z $made ]] || as_root rm "$policy"
    if [[ -d /run/systemd/system ]]; then # else the next boot starts them
        as_root systemctl disable --quiet redis-server nginx postgresql
    fi
}

torture_servers() { # WORDS of servers.py
    install_servers
    build ""
    ISOSCOPE_BUILD="$root/build" /usr/bin/python3 -B "$root/tests/torture/servers.py" "$@"
}

torture() { # WORDS of torture.py
    if [[ ${1:-} == servers ]]; then
        shift
        torture_servers "$@"
        return
    fi
    install_packages "${test_packages[@]}"
    build ""
    if [[ ${1:-} == attach ]]; then
        shift
        ISOSCOPE_BUILD="$root/build" /usr/bin/python3 -B "$root/tests/torture/attaching.py" "$@"
        return
    fi
    ISOSCOPE_BUILD="$root/build" /usr/bin/python3 -B "$root/tests/torture/torture.py" "$@"
}
