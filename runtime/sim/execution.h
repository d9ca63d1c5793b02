// The execution of one packet. Part of the Streamer.
#ifndef PACKSMITH_RUNTIME_SIM_EXECUTION_H_
#define PACKSMITH_RUNTIME_SIM_EXECUTION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/sim/plan.h"
#include "runtime/sim/streamer.h"

namespace packsmith::sim {

class Execution {
  friend class ExecutedBlit;

 public:
  enum class Outcome { kDone, kSkipped, kDenied, kWaiting, kEndsLevel, kEndsAll };

  Execution(Streamer& streamer, const Plan& plan, Command& command);

  // Finds out whether the packet is skipped, or needs privilege that the batch lacks, and replaces
  // fields by registers' values: `command.bytes` are then those that are executed.
  Outcome Prepare();
  // Tells the observer and has the effects, apart from control flow.
  Outcome Run();

  Place PlaceOf(uint32_t leaf, uint64_t high = 0) const;
  // Where a batch is that the packet starts.
  Place BatchAt(uint32_t leaf);

 private:
  using Operation = PlannedOperation;

  decode::Scope Scope(uint64_t tail_base = 0) const {
    return decode::Scope(tables_, *plan_.container, command_.bytes, 0, tail_base);
  }
  // Whether the condition of an operation holds for the command as it is now.
  bool Applies(uint32_t when) {
    if (when == tables::kNone) return true;
    if (when != known_when_) {
      known_when_ = when;
      known_ = Scope().Holds(when);
    }
    return known_;
  }
  // The value of a leaf; of the bits that exist.
  uint64_t NumberOf(uint32_t leaf) const;
  uint64_t Evaluate(const tables::Operand& operand) const;
  uint64_t Number(const Operation& operation, tables::OperandRole role, uint64_t otherwise) const;
  // Raw bits of the leaf that an operand is.
  std::optional<uint64_t> Raw(const Operation& operation, tables::OperandRole role) const;
  // What the name of the leaf's value stands for; empty if the value has no name, or an unknown
  // one.
  std::optional<uint32_t> Named(const Operation& operation, tables::OperandRole role,
                                const NameIndex& names) const;
  // Calls visit(value, bytes) for each leaf that means what is stored, in order.
  template <class Visit>
  void ForEachStored(Visit&& visit) const {
    const auto give = [&](uint32_t leaf, const decode::Scope& scope) {
      if (const std::optional<uint64_t> raw = scope.Raw(leaf)) {
        visit(*raw, static_cast<uint64_t>(tables_.leaf(leaf).width / 8));
      }
    };
    for (const uint32_t leaf : plan_.stored) give(leaf, Scope());
    if (plan_.tail_stored.empty()) return;
    const tables::Container& container = *plan_.container;
    for (uint64_t bit = container.tail_bit; bit + container.tail_size <= command_.bytes.size() * 8;
         bit += container.tail_size) {
      for (const uint32_t leaf : plan_.tail_stored) give(leaf, Scope(bit));
    }
  }
  uint32_t RegisterOf(const Operation& operation, tables::OperandRole role) const;
  // Where `memory` or `index` is; empty if the status page is not known.
  std::optional<Place> Destination(const Operation& operation) const;

  // Whether an address of the operation is where a batch without privilege has no access; if so,
  // it has been reported.
  bool IsDenied(const Operation& operation);

  void WriteRegister(uint32_t offset, uint32_t value);
  // Reports that a register which is read counts what is not known.
  void DoubtCounter(uint32_t offset);
  void Store(const Place& place, absl::Span<const uint8_t> bytes);
  void StoreNumber(const Place& place, uint64_t value, uint64_t bytes);
  // Zeros where no memory is. `polls`: reads until it sees what was written.
  void Load(const Place& place, absl::Span<uint8_t> out, bool polls = false);
  uint32_t Load32(const Place& place, bool polls = false);
  // What the packet does to caches.
  tables::CacheActions Actions() const;

  void WriteFields();
  Outcome Do(const Operation& operation);
  void Replace(const Operation& operation);
  void AddRegister(const Operation& operation);
  // Fields that mean `stored`, one after the other.
  void StoreFields(Place at);
  void StoreRegister(const Operation& operation);
  void LoadRegister(const Operation& operation);
  void StoreValue(const Operation& operation);
  void CopyMemory(const Operation& operation);
  void Math(const Operation& operation);
  void Predicate(const Operation& operation);
  void SetPredicate(const Operation& operation);
  void Atomic(const Operation& operation);
  Outcome Wait(const Operation& operation);
  Outcome End(const Operation& operation);
  void MakeReport(const Operation& operation);
  void UpdatePageTable(const Operation& operation);
  void SwitchContext(const Operation& operation);
  void DrawIndirect(const Operation& operation);
  void DoBlit(const Operation& operation);
  // A draw or dispatch, with its arguments if they come from memory.
  void DoWork(absl::Span<const uint32_t> arguments = {}, const tables::Container* layout = nullptr);

  Streamer& streamer_;
  const tables::Tables& tables_;
  const Plan& plan_;
  Command& command_;
  // The condition that was asked for last; kNone: none, or the command has changed since.
  uint32_t known_when_ = tables::kNone;
  bool known_ = false;
  // Leaves whose offsets count from the engine's registers.
  absl::InlinedVector<uint32_t, 2> engine_based_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_EXECUTION_H_
