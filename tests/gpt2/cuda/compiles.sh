#!/usr/bin/env bash
# compiles.sh: the CUDA engine, and what is tested and measured on a GPU, compile for one,
# whether or not there is one here.
#
# For sm_80, sm_90 and PTX, with the flags of lib/gpt2/cuda/cuda.cmake: a warning, or a
# kernel whose registers spill into memory, is an error. The stand-in for cuBLAS must have
# cuBLAS's own interface. Status 77 where there is no nvcc.

set -euo pipefail
source=$(realpath "$(dirname "$0")/../../..")
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
if ! nvcc=$(command -v nvcc); then
    echo "not checked: there is no nvcc on this machine"
    exit 77
fi
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

cmake -S "$source" -B "$build" -G Ninja -DGPT2_CUDA=ON >"$build/log" ||
    { cat "$build/log"; exit 1; }
grep 'CUDA engine' "$build/log"
mapfile -t objects < <(ninja -C "$build" -t targets all |
    sed -n '/CUDA_COMPILER/s/:.*//p')
ninja -C "$build" "${objects[@]}"

include=$(dirname "$(realpath "$nvcc")")/../include
"${CXX:-g++}" -std=c++20 -fsyntax-only -isystem "$include" -I "$source/lib" \
    "$source/lib/gpt2/cuda/cpu_machine/cublas.cpp"
echo "the CUDA engine compiles"

# So does the kernel of chapter 15's homework, which students run on the CPU machine.
homework=$source/chapters/15_gpu/homework
echo '#include "attend.hpp"' >"$build/attend.cu"
for files in "$homework"/starter "$homework"/solution; do
    [ -d "$files" ] || continue  # handed out without
    "$nvcc" -std=c++20 -arch=sm_80 --expt-relaxed-constexpr -Werror all-warnings \
        -Xptxas=-warn-spills,-warn-lmem-usage -I "$files" -I "$homework" -I "$source/lib" \
        -c "$build/attend.cu" -o "$build/attend.o"
done
echo "the homework's kernel compiles"
