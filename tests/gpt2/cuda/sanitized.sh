#!/usr/bin/env bash
# sanitized.sh BUILD SANITIZER: the kernels' tests on the CPU machine, watched by a sanitizer
# ("address,undefined" or "thread"), whatever the build in folder BUILD was made with.
#
# Only kernels, their machine and the tests are compiled for it; the rest of the library is
# that of BUILD. Status 77 where the sanitizer cannot run.

set -euo pipefail
source=$(realpath "$(dirname "$0")/../../..")
build=$(realpath "$1")
sanitizer=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compile=("${CXX:-g++}" -std=c++20 -O1 -g -ffp-contract=off -march=native
    "-fsanitize=$sanitizer" -fno-sanitize-recover=all "-I$source/lib"
    "-I$source/tests" "-DSOURCE_DIR=\"$source\"")
echo 'int main() {}' >"$work/try.cpp"
"${compile[@]}" "$work/try.cpp" -o "$work/try"
run=()
if [[ $sanitizer == thread ]] && setarch -R true 2>/dev/null; then run=(setarch -R); fi
"${run[@]}" "$work/try" || { echo "not checked: this sanitizer cannot run here"; exit 77; }

sources=("$source"/lib/gpt2/cuda/cpu_machine/{cublas,device,fiber,log,machine}.cpp
    "$source"/lib/gpt2/cuda/{engine,gemm,plan}.cpp
    "$source"/tests/gpt2/cuda/cuda_{attention,choose,machine,multiply}_test.cpp)
# The kernel that stays has thousands of fibers, and this sanitizer takes minutes for them:
# "scripts/test tsan" does.
[[ $sanitizer == thread ]] || sources+=("$source/tests/gpt2/cuda/cuda_persistent_test.cpp")
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} bash -c \
    'file=$1; shift; "$@" -c "$file" -o "'"$work"'/$(basename "$file").o"' - {} \
    "${compile[@]}" "-I$source/lib/gpt2/cuda/cpu_machine"
"${compile[@]}" "$work"/*.o "$build"/libgpt2.a -lgmock -lgtest -lgtest_main -lfmt \
    -lutf8proc -lhwy -o "$work/test"
"${run[@]}" "$work/test" --gtest_brief=1
