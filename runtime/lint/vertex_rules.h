// Rules about what draws read of vertices and indices.
#ifndef PACKSMITH_RUNTIME_LINT_VERTEX_RULES_H_
#define PACKSMITH_RUNTIME_LINT_VERTEX_RULES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "runtime/decode/record.h"
#include "runtime/lint/alarms.h"
#include "runtime/lint/context.h"
#include "runtime/lint/pointer_rules.h"
#include "runtime/tables/tables.h"

namespace packsmith::lint {

// Of one context.
struct VertexState {
  struct Slot {
    bool is_used = false;  // it points somewhere
    uint64_t size = 0;     // 0: unknown, or without a limit
    uint64_t stride = 0;
    uint32_t element_bytes = 0;  // of indices; 0: unknown
    bool per_instance = false;
    uint64_t step = 1;
  };
  struct Element {
    Place place;
    FieldPlace field;
    uint64_t slot = 0, offset = 0;
    uint32_t bytes = 0;
    uint64_t number = 0;
  };
  // By kind of data and slot.
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, Slot> slots;
  // By kind of data.
  absl::flat_hash_map<uint32_t, std::vector<Element>> elements;
  // Elements that advance by instance, by kind of data and number.
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, uint64_t> steps;
  bool changed = true;  // since the last draw that was checked
};

class VertexRules {
 public:
  // All must outlive this.
  VertexRules(const tables::Tables& tables, const Evaluator& evaluator, Alarms& alarms);

  // Whether the packet draws, and says that it draws nothing, which is an alarm of its own.
  bool DrawsNothing(const decode::Record& record, const Place& place, const Context& context);
  void OnPacket(const decode::Record& record, absl::Span<const KeptLead> leads, const Place& place,
                const Context& context, VertexState& state);

 private:
  void SetSlot(const decode::FieldAt& at, const decode::Record& record,
               absl::Span<const KeptLead> leads, const Context& context, VertexState& state);
  void CheckDraw(const decode::Record& record, const Place& place, const Context& context,
                 VertexState& state);
  // `rows`: how many vertices the draw reads, if that is known.
  void CheckElement(uint32_t data, const VertexState::Element& element,
                    std::optional<uint64_t> rows, std::optional<uint64_t> instances,
                    const Context& context, const VertexState& state);

  const tables::Tables& tables_;
  const Evaluator& evaluator_;
  Alarms& alarms_;
  decode::ChosenLeaves describing_;
  std::vector<bool> drawn_;  // by kind of data
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_VERTEX_RULES_H_
