// What a simulation tells those who watch it.
#ifndef PACKSMITH_RUNTIME_SIM_OBSERVER_H_
#define PACKSMITH_RUNTIME_SIM_OBSERVER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// A packet that is executed. Valid during the call.
struct Command {
  const tables::Container* container;
  uint32_t space;
  uint64_t address;
  // As executed: fields that registers replace have the registers' values.
  absl::Span<const uint8_t> bytes;
  uint32_t level;   // 0: in the ring; 1, 2, …: in a batch of that level
  uint64_t number;  // how many commands were executed before it
};

// A draw or a dispatch.
struct Work {
  const Command& command;
  tables::Role role;
  uint64_t number;  // draws and dispatches before it
  // Of one that takes its arguments from memory: the dwords of one draw or dispatch, and the
  // structure that they are.
  absl::Span<const uint32_t> arguments = {};
  const tables::Container* layout = nullptr;
};

enum class ProblemKind {
  kFault,  // the command could not be executed; the simulation stops
  kStale,  // a command was executed in an old form, since it was fetched before it was written
  kApproximate,  // a value that this simulation cannot know was used
  kUnsupported,  // an effect of the command was left out
  kPrivileged,   // an effect of the command has not taken place, since the batch has no privilege
};
inline constexpr size_t kProblemKinds = 5;

struct Problem {
  ProblemKind kind;
  uint32_t space;
  uint64_t address;
  std::string text;
};

// Methods do nothing unless they are overridden.
class Observer {
 public:
  virtual ~Observer() = default;

  // Before the command has its effects.
  virtual void OnCommand(const Command&) {}
  // In place of OnCommand: a predicate skips the command.
  virtual void OnSkipped(const Command&) {}
  virtual void OnWork(const Work&) {}
  virtual void OnRegister(const Command&, uint32_t /*offset*/, uint32_t /*old*/, uint32_t /*now*/) {
  }
  // After the bytes were written.
  virtual void OnStore(const Command&, uint32_t /*space*/, uint64_t /*address*/,
                       absl::Span<const uint8_t> /*bytes*/) {}
  virtual void OnProblem(const Problem&) {}
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_OBSERVER_H_
