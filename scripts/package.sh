# shellcheck shell=bash
# package.sh - ./dev package: Debian packages, the Python wheel, a tarball; and their trial in bare systems.

project_version() {
    sed -n 's/^project(isoscope VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt"
}

# Who builds is the maintainer, as Debian's tools have it: DEBFULLNAME and DEBEMAIL, else git's.
packager() {
    local name=${DEBFULLNAME:-$(git -C "$root" config user.name || true)}
    local mail=${DEBEMAIL:-${EMAIL:-$(git -C "$root" config user.email || true)}}
    printf '%s <%s>' "${name:-isoscope packagers}" "${mail:-packager@$(hostname -f)}"
}

# The time of the last change: the same sources give the same packages.
source_time() {
    git -C "$root" log -1 --format=%ct 2>/dev/null || stat -c %Y "$root/CMakeLists.txt"
}

# The lines of CHANGELOG.md on VERSION, as debian/changelog wants them.
debian_changelog() { # VERSION
    local lines
    lines=$(awk -v version="$1" '/^## / { here = ($2 == version) } here && /^\* /' "$root/CHANGELOG.md")
    [[ -n $lines ]] || die "CHANGELOG.md says nothing on version $1"
    # One suite for all: what the packages need is in Debian 12 and later.
    printf 'isoscope (%s) unstable; urgency=medium\n\n' "$1"
    fold -s -w 76 <<<"$lines" | sed 's/ *$//' | awk '{ print (/^\*/ ? "  " : "    ") $0 }'
    printf '\n -- %s  %s\n' "$(packager)" "$(date -R -u -d "@$(source_time)")"
}

# What git knows, and what is new beside it; no build folder, no node_modules.
copy_sources() { # FOLDER
    mkdir -p "$1"
    (cd "$root" && git ls-files -z --cached --others --exclude-standard |
        tar -c --null --files-from=- --ignore-failed-read 2>/dev/null) | tar -x -C "$1"
}

package_deb() { # FOLDER
    local version tree
    version=$(project_version)
    tree=$1/isoscope-$version
    rm -rf "$tree"
    copy_sources "$tree"
    cp -r "$root/packaging/debian" "$tree/debian"
    sed -i "s|@MAINTAINER@|$(packager)|" "$tree/debian/control"
    debian_changelog "$version" >"$tree/debian/changelog"
    rm -f "$1"/*.deb "$1"/*.dsc "$1"/*.changes "$1"/*.buildinfo
    # Another python3 first on PATH has not the modules of Debian.
    (cd "$tree" && SOURCE_DATE_EPOCH=$(source_time) DEB_BUILD_OPTIONS="parallel=$(nproc) ${DEB_BUILD_OPTIONS:-}" \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONDONTWRITEBYTECODE=1 dpkg-buildpackage -us -uc >"$1/deb.log" 2>&1) ||
        { tail -n 30 "$1/deb.log" | cut -c 1-300 >&2 && die "the Debian packages could not be built; see $1/deb.log"; }
    LC_ALL=C lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$1"/isoscope_"$version"_*.changes ||
        die "lintian has something to say on the packages"
}

package_python() { # FOLDER
    local tree=$1/python
    rm -rf "$tree"
    cp -r "$root/clients/python" "$tree"
    find "$tree" -name __pycache__ -prune -exec rm -r {} +
    cp "$root/LICENSE" "$tree"
    (cd "$tree" && SOURCE_DATE_EPOCH=$(source_time) /usr/bin/python3 -m build --no-isolation --outdir "$1" >"$1/python.log" 2>&1) ||
        { tail -n 20 "$1/python.log" >&2 && die "the wheel could not be built; see $1/python.log"; }
    twine check --strict "$1"/isoscope-*.whl "$1"/isoscope-[0-9]*.tar.gz
}

# The newest version of glibc's symbols that FILES ask for: what a system must have.
glibc_needed() { # FILES...
    objdump -T "$@" | grep -o 'GLIBC_2[.0-9]*' | sort -uV | tail -n 1 | sed 's/GLIBC_//'
}

# Below /usr/local as any install; archives are linked instead of libraries, where Debian has them.
package_tarball() { # FOLDER
    local name tree
    name=isoscope-$(project_version)-linux-$(uname -m)
    tree=$1/$name
    configure "$1/build-tarball" -DISOSCOPE_TESTS=OFF -DISOSCOPE_STATIC=ON -DCMAKE_INSTALL_PREFIX=/usr/local \
        -DCMAKE_INSTALL_LIBDIR=lib
    compile "$1/build-tarball" all
    rm -rf "$tree" "$1/tarball-root"
    DESTDIR=$1/tarball-root cmake --install "$1/build-tarball" --strip >/dev/null
    mv "$1/tarball-root/usr/local" "$tree"
    rm -r "$1/tarball-root"
    cp "$root/CHANGELOG.md" "$root/LICENSE" "$tree"
    [[ ! -d $1/build-tarball/docs ]] || cp -r "$1/build-tarball/docs" "$tree/share/doc/isoscope/html"
    cat >"$tree/README" <<END
isoscope $(project_version), for Linux on $(uname -m) with glibc $(glibc_needed "$tree/bin/isoscope") or newer;
the sampler, lib/libisoscope.so.0, needs glibc $(glibc_needed "$tree/lib/libisoscope.so.0").

Unpack it anywhere and run bin/isoscope: it finds its parts by its own place. bin/isoscope docs has the
documentation. The Python commands need python3 with websocket-client. Libraries that the command is linked with:

$(objdump -p "$tree/bin/isoscope" | sed -n 's/^ *NEEDED *//p' | sed 's/^/  /')
END
    tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(source_time)" -cJf "$1/$name.tar.xz" "$name"
    rm -rf "$tree"
}

# In a bare system: made by debootstrap once, kept in the user's cache, and copied for each trial.
bare_system() { # SUITE FOLDER
    local kept=${XDG_CACHE_HOME:-$HOME/.cache}/isoscope/bare-$1.tar
    if [[ ! -e $kept ]]; then
        say "Making a bare $1 (debootstrap)"
        rm -rf "$2"
        mkdir -p "$(dirname "$kept")"
        debootstrap --variant=minbase "$1" "$2" ${ISOSCOPE_DEBIAN_MIRROR:+"$ISOSCOPE_DEBIAN_MIRROR"} \
            >"$(dirname "$2")/debootstrap-$1.log" 2>&1 || return 1
        tar -C "$2" -cf "$kept.new" . && mv "$kept.new" "$kept"
    else
        rm -rf "$2"
        mkdir -p "$2"
        tar -C "$2" -xf "$kept"
    fi
}

# check_packages SUITE FOLDER: apt install, then profiles as root and as an ordinary user. Prints the transcript.
check_packages() {
    local suite=$1 folder=$2 bare=$2/bare-$1
    bare_system "$suite" "$bare" || { say "skipped: $suite could not be fetched" && return 0; }
    mkdir -p "$bare/packages"
    cp "$folder"/isoscope_*.deb "$folder"/isoscope-doc_*.deb "$folder"/libisoscope*.deb "$folder"/python3-isoscope_*.deb "$bare/packages"
    rm -f "$bare"/packages/*dbgsym*
    cp "$root/packaging/try_packages" "$bare/packages"
    cp /etc/resolv.conf "$bare/etc/resolv.conf"
    # A pid namespace of its own: what stays behind ends with it; and the machine's mounts are left alone.
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --propagation private bash -c '
        mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" && mount -t tmpfs tmpfs "$0/tmp" && chmod 1777 "$0/tmp" &&
        exec chroot "$0" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb DEBIAN_FRONTEND=noninteractive \
            bash /packages/try_packages' "$bare" >"$folder/transcript-$suite.txt" 2>"$folder/trial-$suite.log" ||
        { tail -n 20 "$folder/transcript-$suite.txt" "$folder/trial-$suite.log" >&2 && die "the packages do not work in a bare $suite"; }
    rm -rf "$bare"
    cat "$folder/transcript-$suite.txt"
}

package() { # [--check]
    local folder=$root/build/package suite
    [[ $# -eq 0 || ($# -eq 1 && $1 == --check) ]] || usage "package takes --check only"
    if [[ ${1:-} == --check ]]; then
        [[ $EUID -eq 0 ]] || die "package --check makes bare systems (debootstrap, chroot): run it as root"
        install_packages debootstrap
        compgen -G "$folder/isoscope_*.deb" >/dev/null || package
        for suite in bookworm trixie; do
            check_packages "$suite" "$folder"
        done
        return
    fi
    install_packages "${build_packages[@]}" "${package_packages[@]}"
    mkdir -p "$folder"
    say "Building the Debian packages"
    package_deb "$folder"
    say "Building the wheel and the source archive of the Python client"
    package_python "$folder"
    say "Building the tarball"
    package_tarball "$folder"
    (cd "$folder" && ls -1 ./*.deb ./*.whl ./*.tar.*)
}
