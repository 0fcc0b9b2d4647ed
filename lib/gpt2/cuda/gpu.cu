// The engine, compiled for a GPU.
#include "engine.cpp"
#include "gemm.cpp"
#include "plan.cpp"
