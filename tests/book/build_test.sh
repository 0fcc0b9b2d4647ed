#!/usr/bin/env bash
# Builds the book, for the checks that follow. Status 77 where what makes it is not there.

set -euo pipefail
source "$(dirname "$0")/../../scripts/lib.sh"

katex=${KATEX:-/usr/share/javascript/katex/katex.min.js}
for needed in doxygen node; do
    command -v "$needed" >/dev/null || { echo "no $needed: skipped"; exit 77; }
done
[ -f "$katex" ] || { echo "no KaTeX at $katex: skipped"; exit 77; }
"$(system_python)" book/tools/build.py
