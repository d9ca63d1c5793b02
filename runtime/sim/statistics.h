// The counters of what draws do: what vertex fetch and the vertex shader count follows from the
// state of a draw, the rest is not known.
#ifndef PACKSMITH_RUNTIME_SIM_STATISTICS_H_
#define PACKSMITH_RUNTIME_SIM_STATISTICS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/sim/memory_access.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/registers.h"
#include "runtime/sim/vertices/draw_state.h"
#include "runtime/sim/vertices/primitives.h"
#include "runtime/sim/vertices/vertex_fetch.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

class Streamer;

// Of one context. Draws without restarts cost a few multiplications; others read their indices.
//
// Sources: PRM volume 2 (command reference: registers), IA_VERTICES_COUNT, IA_PRIMITIVES_COUNT,
// VS_INVOCATION_COUNT; 3DSTATE_VF_STATISTICS and 3DSTATE_VS, Statistics Enable. Assumed: a packet
// that was never executed enables nothing, and each vertex is shaded once (the vertex cache saves
// some invocations where a draw repeats an index).
class Statistics {
 public:
  // The tables must outlive this.
  explicit Statistics(const tables::Tables& tables);

  // Adds to the registers what a draw or dispatch counts, with the state that `streamer` has.
  // `own_space`: that of addresses that name no other.
  void Count(const Work& work, const Streamer& streamer, const MemoryAccess& memory,
             uint32_t own_space, Registers& registers);
  // Why a GPU may have another value in the dword at `offset` of the registers; empty: it has not.
  absl::string_view Doubt(uint32_t offset) const;

 private:
  // A field of the state.
  struct Field {
    const tables::Container* container = nullptr;
    uint32_t leaf = tables::kNone;
  };
  // One or more registers that count the same.
  using Counters = std::vector<uint32_t>;  // offsets

  // `scope`: the packet or structure with the draw's numbers.
  std::optional<uint64_t> Number(uint32_t expression, const decode::Scope& scope,
                                 const Streamer& streamer) const;
  // Whether indices can end a strip.
  bool IsCut(const tables::Draw& draw, const decode::Scope& scope, const Streamer& streamer) const;
  // Any of them.
  bool IsOn(const std::vector<Field>& fields, const Streamer& streamer) const;
  // Null: it is not known.
  const Topology* TopologyOf(const Work& work, const Streamer& streamer);
  // Empty: they do not follow from the state.
  std::optional<DrawCounts> CountsOf(const Work& work, const Streamer& streamer,
                                     const MemoryAccess& memory, uint32_t own_space);
  // The same by vertex fetch, which reads indices.
  std::optional<DrawCounts> Fetched(const Work& work, const Streamer& streamer,
                                    const MemoryAccess& memory, uint32_t own_space);

  const tables::Tables& tables_;
  Counters vertices_, primitives_, vertex_shaders_;
  std::vector<Field> vertex_statistics_, vertex_shader_statistics_, topologies_, cuts_sequential_;
  absl::flat_hash_map<uint32_t, tables::Meaning> meanings_;  // of the dwords at offsets
  // By the raw value of a leaf of topologies.
  absl::flat_hash_map<uint64_t, std::optional<Topology>> known_topologies_;
  std::unique_ptr<VertexDescription> description_;  // when the first draw needs it
  uint64_t indices_left_;  // that may be read: an endless loop of large draws ends nevertheless
  bool worked_ = false;
  bool fetch_in_doubt_ = false, vertex_shaders_in_doubt_ = false;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_STATISTICS_H_
