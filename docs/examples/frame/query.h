// A query: the time, and how many vertices were fetched, before and after a draw.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_QUERY_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_QUERY_H_

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "docs/examples/frame/context.h"
#include "runtime/intel/batch/arithmetic.h"

namespace frame {

// The memory of a query: values of 64 bits.
struct Counters {
  uint64_t time[2], vertices[2];
  uint64_t fetched;  // the difference, as the GPU computes it
  uint32_t copied;   // to where an indirect draw would read its count
};
enum When : uint32_t { kBefore, kAfter };

// Page: query
template <class Gen>
void NoteCounters(Context<Gen>& context, const gpu::Buffer& memory, When when) {
  using G = typename Gen::Packets;
  using Wait = typename Gen::PipeControl;
  using Vertices = typename G::IA_VERTICES_COUNT;
  const auto at = [&](uint64_t offset) {
    return packsmith::address{memory.address + offset, memory.handle};
  };
  const uint64_t time = offsetof(Counters, time) + when * sizeof(uint64_t);
  const uint64_t vertices = offsetof(Counters, vertices) + when * sizeof(uint64_t);
  context.batch.Emit(
      // When all that came before is done.
      Wait{.post_sync_operation = Wait::POST_SYNC_OPERATION_WRITE_TIMESTAMP,
           .command_streamer_stall_enable = true,
           .address = at(time)},
      typename G::MI_STORE_REGISTER_MEM{.register_address = Vertices::register_offset,
                                        .memory_address = at(vertices)},
      typename G::MI_STORE_REGISTER_MEM{.register_address = Vertices::register_offset + 4,
                                        .memory_address = at(vertices + 4)});
  if (when == kBefore) return;
  intel::Arithmetic<Gen> math(context.batch);
  math.Store64(at(offsetof(Counters, fetched)),
               math.Load64(at(vertices)) - math.Load64(at(vertices - sizeof(uint64_t))));
  math.Copy32(at(offsetof(Counters, copied)), at(offsetof(Counters, fetched)));
}
// End

inline void PrintCounters(const gpu::Buffer& memory) {
  Counters read;
  std::memcpy(&read, memory.cpu, sizeof(read));
  std::printf("fetched %" PRIu64 ", copied %u, ticks %" PRIu64 "\n", read.fetched, read.copied,
              read.time[kAfter] - read.time[kBefore]);
}

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_QUERY_H_
