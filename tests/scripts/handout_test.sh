#!/usr/bin/env bash
# scripts/handout: what is given out has the starters, and neither solutions nor mistakes.
# Nothing is built here. On 1 December 2026 scripts/test was run in a handout: all was built,
# and no test failed. Those that need a solution, and this one, were skipped.

set -euo pipefail
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if [ ! -e .git ] || ! git rev-parse --verify -q HEAD >/dev/null 2>&1; then
    echo "skipped: no git checkout"
    exit 77
fi
die() {
    echo "FAILED: $*" >&2
    exit 1
}

scripts/handout "$tmp/out" >"$tmp/log" || die "status $?"
solved=0
for homework in chapters/*/homework; do
    [ -d "$tmp/out/$homework/starter" ] || die "$homework has no starter"
    [ -f "$tmp/out/$homework/tests/tasks.cpp" ] || die "$homework has no tasks"
    [ ! -e "$tmp/out/$homework/solution" ] || die "$homework has its solution"
    [ ! -e "$tmp/out/$homework/tests/mistakes.json" ] || die "$homework has its mistakes"
    if [ -d "$homework/solution" ]; then solved=$((solved + 1)); fi
done
[ -x "$tmp/out/scripts/grade" ] || die "no scripts/grade"
# Not a word of a solution is left in another place.
if [ "$solved" -gt 0 ]; then
    for file in chapters/*/homework/solution/*.hpp; do
        line=$(sed -n '/^inline/,$p' "$file" | awk 'length > 60 {print; exit}')
        [ -n "$line" ] || continue
        name=$(basename "$(dirname "$(dirname "$(dirname "$file")")")")
        grep -rqF "$line" "$tmp/out/chapters/$name/homework/tests" && die "$file is in the tests"
    done
fi

# Nothing that is left needs what was taken out: only these speak of it, and do without.
speak=$(cd "$tmp/out" && grep -rlE 'solution/|mistakes\.json' . | sort)
known="./book/en/teachers.md
./book/zh/teachers.md
./scripts/handout
./tests/homework/homework_test.cpp
./tests/scripts/handout_test.sh"
[ "$speak" = "$known" ] || die "expected that only
$known
speak of solutions and mistakes, found
$speak"

for bad in "" "--what" "$tmp/out" "$tmp/a $tmp/b"; do
    status=0
    # shellcheck disable=SC2086
    scripts/handout $bad >"$tmp/log" 2>&1 || status=$?
    [ "$status" = 2 ] || die "'$bad' gave status $status"
    [ "$(wc -l <"$tmp/log")" = 1 ] || die "'$bad' gave more than a line"
done
[ ! -e "$tmp/out.part" ] || die "something was left behind"
echo "passed: $solved chapters with solutions, none of them handed out"
