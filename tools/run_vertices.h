// The vertices and primitives of a draw, for people and programs.
#ifndef PACKSMITH_TOOLS_RUN_VERTICES_H_
#define PACKSMITH_TOOLS_RUN_VERTICES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/decode/record.h"
#include "runtime/sim/memory_access.h"
#include "runtime/sim/vertices/vertex_draw.h"

namespace packsmith::tools {

struct VertexOptions {
  uint64_t draw = 0;   // its number, for JSON
  uint64_t most = 64;  // vertices that are shown, and primitives
  bool jsonl = false;
};

// Writes how the vertex shader's input is laid out, then vertices in order, then primitives, and
// how many are left. If there is no draw, why not.
void ShowVertices(const absl::StatusOr<sim::VertexDraw>& draw, const sim::MemoryAccess& memory,
                  const VertexOptions& options, decode::Output& output);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_RUN_VERTICES_H_
