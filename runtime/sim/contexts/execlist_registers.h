// What drivers write and read of execution lists: submit ports, the submit queue, the engine's
// status. Part of Execlists.
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_EXECLIST_REGISTERS_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_EXECLIST_REGISTERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/sim/contexts/context_status.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

class ExeclistRegisters {
 public:
  // What the engine does.
  struct State {
    struct List {
      uint64_t descriptor = 0;  // of the element that is executed
      uint64_t image = 0;
      size_t active = 0;  // its number
      int slot = 0;       // which of the two execution lists it is
    };
    std::optional<List> running, pending;
    int next_slot = 0;
  };

  // NotFound: the generation has no execution lists.
  static absl::StatusOr<ExeclistRegisters> Make(const tables::Tables& tables, uint32_t engine_base);

  // Of a list.
  size_t most_elements() const;
  // `last_event`: the entry of the status buffer that counts as read.
  void Reset(size_t last_event);

  // What a write does.
  struct Written {
    bool known = false;  // false: it is another register
    // The descriptors of the submission that it completes.
    std::optional<std::vector<uint64_t>> submission = {};
  };
  absl::StatusOr<Written> Write(uint32_t offset, uint32_t value);
  // Empty: another register.
  std::optional<uint32_t> Read(uint32_t offset, const State& state,
                               const ContextStatusBuffer& events) const;

 private:
  ExeclistRegisters(const tables::Tables& tables, uint32_t engine_base)
      : tables_(tables), engine_base_(engine_base) {}

  // 0: the generation does not have it.
  uint32_t OffsetOf(absl::string_view name) const;
  Written WritePort(uint32_t value);
  absl::StatusOr<Written> WriteControl(uint32_t value) const;
  absl::StatusOr<Written> WritePointer(uint32_t value);
  uint32_t StatusDword(const State& state, const ContextStatusBuffer& events) const;
  uint32_t PointerDword(const ContextStatusBuffer& events) const;
  uint32_t LrcaDword(const State& state) const;

  tables::Tables tables_;
  uint32_t engine_base_;
  // Offsets; 0: the generation does not have it.
  uint32_t elsp_ = 0, control_ = 0, status_ = 0, status_high_ = 0, lrca_ = 0, pointer_ = 0;
  std::vector<uint32_t> queue_offsets_, buffer_offsets_;

  absl::InlinedVector<uint32_t, 4> port_;  // writes to ELSP that are not a submission yet
  std::vector<uint32_t> queue_;            // dwords of the submit queue
  uint32_t read_pointer_ = 0;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_EXECLIST_REGISTERS_H_
