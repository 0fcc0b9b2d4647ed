#!/usr/bin/env bash
# gpu_steps.sh PROGRAM: the steps through a kernel that the chapter on GPUs shows, taken.
#
# gdb is given what stands in the page's block of commands, in either language, and must
# find there what the page says. Status 77 where there is no gdb, where it may not watch
# other programs, or where a sanitizer has the place of the debugger's engine.

set -euo pipefail
source=$(realpath "$(dirname "$0")/../..")
program=$1
command -v gdb >/dev/null || { echo "not checked: there is no gdb"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1"
    cat "$work/log"
    exit 1
}
gdb -q -batch -ex run --args true >"$work/log" 2>&1
grep -q 'exited normally' "$work/log" ||
    { echo "not checked: gdb may not run programs here"; exit 77; }
# A sanitizer's build has no such engine: no line of it is known to gdb.
gdb -q -batch -ex 'info line engine.cpp:1' "$program" >"$work/log" 2>&1
! grep -q 'No line number information' "$work/log" ||
    { echo "not checked: this build's kernels have no debug information"; exit 77; }

for language in en zh; do
    sed -n '/^```gdb$/,/^```$/{//!p}' "$source/book/$language/15_gpu.md" >"$work/$language"
done
: >"$work/log"
cmp "$work/en" "$work/zh" || fail "the two pages have different steps"

# The page's break stands where the page says: where the key meets the query.
line=$(sed -n 's/^break attention.hpp:\([0-9]*\) if.*/\1/p' "$work/en")
sed -n "${line:-0}p" "$source/lib/gpt2/cuda/attention.hpp" >"$work/log"
grep -q 'score += query' "$work/log" || fail "line $line is another one now"

cd "$source"
gdb -q -batch -ex 'set width 0' -x "$work/en" --args "$program" --quick \
    >"$work/log" 2>&1 || fail "gdb came to no end"
expect() {
    grep -q -- "$1" "$work/log" || fail "not found: $1"
}
expect 'hit Breakpoint 1.*attend_share<float, 2'
expect '^\$1 = 1$'    # the warp
expect '^\$2 = 5$'    # the lane
expect '^\$4 = -inf$' # the top before the warp has met
value() {
    sed -n "s/^\\\$$1 = //p" "$work/log"
}
# Behind the shuffles the top is at least this lane's own score, and most likely another's.
awk -v score="$(value 3)" -v top="$(value 5)" 'BEGIN { exit !(top >= score) }' ||
    fail "the top $(value 5) is below the score $(value 3)"
expect '^\$6 = 38$' # the next thread to arrive
echo "the steps are those of the page"
