#include "lab/summary.hpp"

int main(int argc, char** argv) { return lab::summary_program(argc, argv); }
