# The CUDA engine, and the same engine for the CPU.
#
# GPT2_CUDA  AUTO: built in where there is nvcc and a GPU. Without a GPU it would only make
#                  every program start slower: cuBLAS is half a gigabyte. There the test
#                  cuda_compiles still compiles it.
#            ON:   built in; an error without nvcc
#            OFF:  not looked for
set(GPT2_CUDA AUTO CACHE STRING "The CUDA engine: AUTO, ON or OFF")

set(gpt2_cuda_sources lib/gpt2/cuda/unavailable.cpp)
set(lab_cuda_sources lib/lab/gpu_ceilings.cpp)
if(NOT GPT2_CUDA STREQUAL "OFF")
  find_program(GPT2_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
endif()
file(GLOB gpus /dev/nvidia[0-9]* /dev/dxg)
if(GPT2_CUDA STREQUAL "OFF")
  message(STATUS "CUDA engine: not built (GPT2_CUDA is OFF)")
elseif(NOT GPT2_NVCC)
  if(GPT2_CUDA STREQUAL "ON")
    message(FATAL_ERROR "GPT2_CUDA is ON, but no nvcc was found")
  endif()
  message(STATUS "CUDA engine: not built (no nvcc)")
elseif(GPT2_CUDA STREQUAL "AUTO" AND NOT gpus)
  message(STATUS "CUDA engine: not built (no GPU; GPT2_CUDA=ON builds it all the same)")
else()
  set(gpt2_cuda_sources lib/gpt2/cuda/gpu.cu lib/gpt2/cuda/device.cu)
  set(lab_cuda_sources lib/lab/gpu_ceilings.cu)
  set(CMAKE_CUDA_COMPILER ${GPT2_NVCC})
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
  # Machine code for the A100 and the H100, and PTX that newer ones translate. Before
  # enable_language: what CMake 3.25 would try first, CUDA 13 does not know any more.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  endif()
  # CMAKE_CUDA_STANDARD must wait until the compiler is known; CMake 3.25 has not heard of
  # its C++20.
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  # A kernel whose registers spill into memory is a mistake here. (Relaxed: the Philox
  # generator is one text for host and device.)
  string(APPEND CMAKE_CUDA_FLAGS " --expt-relaxed-constexpr -Werror all-warnings"
         " -Xptxas=-warn-spills,-warn-lmem-usage -Xcompiler=-Wall,-Wextra,-Wshadow,-Werror")
  find_package(CUDAToolkit REQUIRED)
  set(gpt2_cuda_libraries CUDA::cudart CUDA::cublas)
  message(STATUS "CUDA engine: built with ${GPT2_NVCC} for ${CMAKE_CUDA_ARCHITECTURES}")
endif()

# The kernels' CPU machine: only what asks for it (tests, and the chapter on GPUs) is
# linked with it, by one of two engines. gpt2_simt is the one for tests.
# gpt2_simt_watched is slower: gdb can step through it, and it tells of each load and
# store, which takes the place of sanitizers (see cpu_machine/watch.cpp).
set(gpt2_watched -fsanitize=thread -O0 -g)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND gpt2_watched "SHELL:-mllvm -tsan-instrument-read-before-write=1")
endif()
function(gpt2_add_simt)
  file(GLOB sources CONFIGURE_DEPENDS lib/gpt2/cuda/cpu_machine/*.cpp)
  add_library(gpt2_simt_machine STATIC EXCLUDE_FROM_ALL ${sources})
  target_include_directories(gpt2_simt_machine PRIVATE lib/gpt2/cuda/cpu_machine)
  target_link_libraries(gpt2_simt_machine PUBLIC gpt2)
  foreach(name gpt2_simt gpt2_simt_watched)
    add_library(${name} STATIC EXCLUDE_FROM_ALL lib/gpt2/cuda/engine.cpp
                lib/gpt2/cuda/gemm.cpp lib/gpt2/cuda/plan.cpp)
    target_include_directories(${name} PRIVATE lib/gpt2/cuda/cpu_machine)
    target_link_libraries(${name} PUBLIC gpt2_simt_machine)
  endforeach()
  if(NOT GPT2_SANITIZE)
    target_compile_definitions(gpt2_simt_machine PUBLIC SIMT_WATCHED)
    target_compile_options(gpt2_simt_watched PRIVATE ${gpt2_watched})
  endif()
endfunction()
