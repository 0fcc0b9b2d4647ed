#!/usr/bin/env bash
# What scripts/compare refuses, before it builds or fetches anything.

set -euo pipefail
compare=$(realpath "$(dirname "$0")/../../scripts/compare")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

failures=0
# refuses WORDS ARGUMENT...: status 2 and one line with these words
refuses() {
    local words=$1 status=0
    shift
    "$compare" "$@" >output 2>errors || status=$?
    if [ "$status" -ne 2 ] || [ "$(wc -l <errors)" -ne 1 ] || [ -s output ] ||
        ! grep -qF -- "$words" errors; then
        echo "FAILED: $*: status $status"
        cat output errors
        failures=$((failures + 1))
    fi
}

refuses "unknown argument '--what'" --what
refuses "unknown argument '04'" 04
refuses "--threads: expected a value" --threads
refuses "--json: expected a value" --json ''
refuses "expected 1 to 256, found '0'" --threads 0
refuses "expected 1 to 256, found '257'" --threads 257
refuses "expected 1 to 256, found 'two'" --threads two
refuses "found '$work/nothing'" --model nothing
refuses "full runs only" --quick --record
mkdir model
touch model/model.safetensors
refuses "story model only" --model model --record

"$compare" --help >output
if ! grep -qF -- '--record' output; then
    echo "FAILED: --help"
    failures=$((failures + 1))
fi
exit "$((failures > 0))"
