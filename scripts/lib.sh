# Shared by the scripts; sourced, not run. Leaves the caller in the project's root.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The comment at the top of a script is its help.
usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$script"; }

# fail STATUS MESSAGE
fail() {
    echo "$(basename "$script"): $2" >&2
    exit "$1"
}

# Runs a command and shows what it prints only if it fails.
quietly() {
    local log
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        rm -f "$log"
    else
        cat "$log" >&2
        rm -f "$log"
        return 1
    fi
}

# build PRESET [TARGET...]: configures and builds; all targets where none is named.
build() {
    local preset=$1
    shift
    quietly cmake --preset "$preset" || return 1
    local command=(cmake --build "build/$preset")
    if [ $# -gt 0 ]; then command+=(--target "$@"); fi
    if [ -t 1 ]; then "${command[@]}"; else quietly "${command[@]}"; fi
}

# The Python that the distribution's packages install into, where there is one.
system_python() {
    if [ -x /usr/bin/python3 ]; then echo /usr/bin/python3; else command -v python3; fi
}
