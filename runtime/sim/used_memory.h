// The memory that state packets point to: what fixed functions read and write when they draw or
// dispatch. Pointers of the description say where it is, and kinds of data (docs/xml.md,
// Visibility) who uses it; structures are state.
#ifndef PACKSMITH_RUNTIME_SIM_USED_MEMORY_H_
#define PACKSMITH_RUNTIME_SIM_USED_MEMORY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/sim/visibility/pending_writes.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

struct MemoryUse {
  tables::ClientKind client;
  bool writes;
  MemoryRange range;
  absl::string_view what;  // "vertex buffer", "SAMPLER_STATE"
};

// The last packet of a kind; its number is larger than those of packets before. No bytes: none.
struct StateBytes {
  absl::Span<const uint8_t> bytes;
  uint64_t number = 0;
};

// Of one context. What packets point to is found when work uses it, and found anew after the packet
// or a base address has changed.
class UsedMemory {
 public:
  using StateOf = absl::FunctionRef<StateBytes(const tables::Container&)>;

  // `tables` must outlive this. `engines`: those whose packets matter, a bit each. Addresses that
  // name no other space are in `own_space`.
  UsedMemory(const tables::Tables& tables, uint64_t engines, uint32_t own_space);

  // Before a packet becomes the last of its kind; `state` has the one before it.
  void Keep(const tables::Container& container, absl::Span<const uint8_t> bytes, StateOf state) {
    const Kind& kind = kinds_[tables_.IndexOf(container)];
    if (kind.matters || kind.sets_bases) KeepOne(container, bytes, state);
  }

  // Whether draws write vertices to buffers.
  bool StreamsOut(StateOf state) const;
  // What a draw or dispatch uses: of vertex buffers those that elements are fetched from, of
  // indices those of a draw that has any.
  void ForEach(const tables::Container& work, absl::Span<const uint8_t> bytes, StateOf state,
               absl::FunctionRef<void(const MemoryUse&)> visit);

 private:
  struct Use {
    MemoryUse is;
    uint64_t slot = 0;
    uint32_t data = tables::kNone;  // DataKind
  };
  struct Kind {
    // `has_slots`: several packets hold, each for a slot. `active`: there was one.
    bool matters = false, has_slots = false, sets_bases = false, active = false;
    uint64_t number = 0, epoch = 0;  // for which `uses` were found
    std::vector<Use> uses;
  };

  void KeepOne(const tables::Container& container, absl::Span<const uint8_t> bytes, StateOf state);
  void SetBases(const tables::Container& container, absl::Span<const uint8_t> bytes);
  void Update(const tables::Container& container, StateOf state);
  void Find(const tables::Container& container, absl::Span<const uint8_t> bytes, StateOf state,
            std::vector<Use>& uses);
  std::optional<uint64_t> Evaluate(uint32_t expression, const decode::Scope& scope,
                                   StateOf state) const;
  std::optional<uint64_t> BaseOf(uint32_t base) const;
  std::optional<tables::ClientKind> ClientOf(const tables::Pointer& pointer) const;

  const tables::Tables& tables_;
  const uint32_t own_space_;
  decode::ChosenLeaves chosen_;
  std::vector<Kind> kinds_;       // by container
  std::vector<uint32_t> active_;  // containers that matter and have been executed
  // Which of the slots of a kind of data hold what elements are fetched from, a bit each.
  uint64_t FetchedSlots(uint32_t data, StateOf state) const;

  std::vector<uint32_t> describe_elements_;  // containers
  // Leaves that say whether vertices are written to buffers.
  struct Switch {
    uint32_t container, leaf;
  };
  std::vector<Switch> stream_output_;
  std::vector<std::optional<uint64_t>> bases_;
  uint64_t epoch_ = 1;  // of the bases
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_USED_MEMORY_H_
