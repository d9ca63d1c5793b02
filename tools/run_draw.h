// unpack --run --draw=N, --dispatch=N: all that one draw or dispatch sees at the moment at which it
// is executed.
#ifndef PACKSMITH_TOOLS_RUN_DRAW_H_
#define PACKSMITH_TOOLS_RUN_DRAW_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/decode/record.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/decode/walk/settings.h"
#include "runtime/dump/dump.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/overlay_memory.h"
#include "runtime/sim/vertices/draw_state.h"
#include "runtime/tables/tables.h"

namespace packsmith::tools {

struct RunDrawOptions {
  bool jsonl = false;
  uint64_t most_vertices = 64;    // shown of a draw, and primitives
  decode::TextOptions text = {};  // of state
};

// What the packets of a description set. The tables must outlive this.
class RunDescription {
 public:
  explicit RunDescription(const tables::Tables& tables);

  const tables::Tables& tables() const { return tables_; }
  // Whether a packet has no effect but the state that it sets.
  bool IsState(uint32_t container);

 private:
  friend class RunState;

  const tables::Tables& tables_;
  decode::SettingRules rules_;
  sim::VertexDescription vertices_;
  std::vector<std::optional<bool>> is_state_;  // by container
};

// A draw or dispatch that is executed.
struct RunWork {
  const sim::Work& work;
  uint64_t number;  // among the draws, or the dispatches, from 1
  const Dump& dump;
  const Submission& submission;
  uint32_t stream;  // an index in the tables
  const sim::OverlayMemory& memory;
};

// The state of one context, from the packets that its streamer executes.
class RunState {
 public:
  // `description` must outlive this.
  explicit RunState(RunDescription& description)
      : description_(&description), vertices_(description.vertices_) {}

  // Each command, before its effects.
  void See(const sim::Command& command, const Submission& submission, uint32_t stream);
  // Writes the packet as executed, the state in effect with what it points to, and the vertices.
  void Show(const RunWork& work, const RunDrawOptions& options, decode::Output& output) const;

 private:
  RunDescription* description_;
  decode::Settings settings_;
  sim::VertexState vertices_;
  uint64_t seen_ = 0;
};

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_RUN_DRAW_H_
