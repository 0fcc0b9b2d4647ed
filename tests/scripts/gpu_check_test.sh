#!/usr/bin/env bash
# scripts/gpu_check: without a GPU it says so in a line and leaves nothing behind.

set -euo pipefail
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

die() {
    echo "FAILED: $*" >&2
    cat "$tmp/log" >&2
    exit 1
}
# expect STATUS LINES ARGUMENT...: where CUDA is told that there is no device
expect() {
    local wanted=$1 lines=$2 status=0
    shift 2
    CUDA_VISIBLE_DEVICES='' scripts/gpu_check "$@" >"$tmp/out" 2>"$tmp/log" || status=$?
    [ "$status" = "$wanted" ] || die "'$*' gave status $status"
    [ "$(wc -l <"$tmp/log")" = "$lines" ] || die "'$*' said something else"
}

built=$(stat -c %y build/gpu 2>/dev/null || true)
expect 77 1 --json "$tmp/results.json"
grep -q 'no GPU' "$tmp/log" || die "it does not say what is missing"
expect 77 1 --quick
expect 0 0 --help
grep -q -- '--json FILE' "$tmp/out" || die "--help does not help"
expect 2 1 --what
expect 2 1 --json
expect 2 1 --quick more
[ ! -e "$tmp/results.json" ] || die "it has left results"
[ "$(stat -c %y build/gpu 2>/dev/null || true)" = "$built" ] || die "it has built something"
echo "passed"
