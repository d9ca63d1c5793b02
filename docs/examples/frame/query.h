// Queries: the time, and how many vertices were fetched, before and after a draw.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_QUERY_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_QUERY_H_

#include <cinttypes>
#include <cstdint>
#include <cstdio>

#include "docs/examples/frame/context.h"
#include "runtime/intel/query/queries.h"
#include "runtime/intel/query/query_pool.h"

namespace frame {

// The pools' memory is one buffer, followed by the result that the GPU computes.
struct Queries {
  intel::QueryPool time, vertices;
  const uint32_t* copied = nullptr;
  packsmith::address result;
};

// Page: query
template <class Gen>
Queries MakeQueries(const gpu::Buffer& memory) {
  const auto part = [&](uint64_t offset) {
    return intel::QueryMemory{memory.address + offset, memory.handle, memory.cpu + offset, 128};
  };
  const auto make = [&](const intel::QueryPoolOptions& options, uint64_t offset) {
    return Must(intel::QueryPool::Create(Gen::kFacts, options, part(offset)));
  };
  return {.time = make({.kind = intel::QueryKind::kTimeElapsed}, 0),
          .vertices = make({.kind = intel::QueryKind::kStatistics,
                            .statistics = SetOf(intel::Statistic::kInputVertices)},
                           128),
          .copied = reinterpret_cast<const uint32_t*>(memory.cpu + 256),
          .result = {memory.address + 256, memory.handle}};
}

template <class Gen>
void BeginQueries(Context<Gen>& context, const Queries& queries) {
  ResetQueries(context.batch, queries.time, 0, 1);
  ResetQueries(context.batch, queries.vertices, 0, 1);
  BeginQuery(context.batch, queries.time, 0);
  BeginQuery(context.batch, queries.vertices, 0);
}

template <class Gen>
void EndQueries(Context<Gen>& context, const Queries& queries) {
  EndQuery(context.batch, queries.vertices, 0);
  EndQuery(context.batch, queries.time, 0);
  // To where an indirect draw would read its count, for example.
  CopyQueryResults(context.batch, queries.vertices, {.wide = false, .partial = true},
                   queries.result);
}
// End

inline void PrintQueries(const Queries& queries) {
  uint64_t fetched = 0, ticks = 0;
  Must(queries.vertices.Read({.partial = true}, &fetched, sizeof(fetched)));
  Must(queries.time.Read({.partial = true}, &ticks, sizeof(ticks)));
  std::printf("fetched %" PRIu64 ", copied %u, ticks %" PRIu64 "\n", fetched, *queries.copied,
              ticks);
}

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_QUERY_H_
