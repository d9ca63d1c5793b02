// What benchmarks include most.
#include <benchmark/benchmark.h>

#include <random>

#include "abseil.hh"
