# shellcheck shell=bash
# lint.sh - ./dev lint.

lint() {
    install_packages "${lint_packages[@]}"
    cd "$root"
    local c_files
    mapfile -t c_files < <(git ls-files --cached --others --exclude-standard '*.c' '*.h')
    clang-format --dry-run -Werror "${c_files[@]}"
    shellcheck -x -a dev .ci/run tests/fuzz/run tests/fuzz/make_corpus tests/vscode/host/make_code_server packaging/try_packages tests/abi/dump
    (cd clients/python && mypy --no-error-summary)
    (cd schemas && mypy --no-error-summary --strict generate.py)
    if has_node; then
        install_web
        (cd clients/web && node node_modules/typescript/bin/tsc --noEmit)
        (cd clients/editor && node node_modules/typescript/bin/tsc --noEmit)
        (cd clients/vscode && node ../web/install.mjs && node node_modules/typescript/bin/tsc --noEmit)
    fi
    say "lint: fine"
}
