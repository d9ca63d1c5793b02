// A 1 MiB batch of Gfx9 with 7,000 draws, as a driver would send them: before each draw a vertex
// buffer, an index buffer, the constants, binding table and samplers of the pixel shader and a
// topology; every tenth draw a flush. The dump has one binding table of three surfaces and two
// samplers.
#ifndef PACKSMITH_TESTS_BENCH_DRAW_BATCH_H_
#define PACKSMITH_TESTS_BENCH_DRAW_BATCH_H_

#include <cstdint>
#include <vector>

#include "runtime/dump/dump.h"

namespace packsmith::bench {

inline constexpr uint64_t kDrawBatchDraws = 7000;

struct DrawBatch {
  Dump dump;
  std::vector<uint32_t> batch, state;
  uint64_t packets = 0;
};

const DrawBatch& TheDrawBatch();

}  // namespace packsmith::bench

#endif  // PACKSMITH_TESTS_BENCH_DRAW_BATCH_H_
