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

// Memory as the parts of the hardware that a draw or dispatch uses see it. Both methods return the
// number of bytes that were read or written before the first unmapped one.
class WorkMemory {
 public:
  virtual ~WorkMemory() = default;

  // What has not become visible to the reader is reported (ProblemKind::kEarly).
  virtual size_t Read(tables::ClientKind reader, uint32_t space, uint64_t address,
                      absl::Span<uint8_t> out) = 0;
  virtual size_t Write(tables::ClientKind writer, uint32_t space, uint64_t address,
                       absl::Span<const uint8_t> bytes) = 0;
};

enum class ProblemKind {
  kFault,  // the command could not be executed; the simulation stops
  kStale,  // a command was executed in an old form, since it was fetched before it was written
  kApproximate,  // a value that this simulation cannot know was used
  kUnsupported,  // an effect of the command was left out
  kPrivileged,   // an effect of the command has not taken place, since the batch has no privilege
  kEarly,  // something was read that its reader does not see yet: old bytes, where they are kept
};
inline constexpr size_t kProblemKinds = 6;

struct Problem {
  ProblemKind kind;
  uint32_t space;
  uint64_t address;
  std::string text;
  // It is about memory that is not mapped: the last access that stopped short.
  bool unmapped = false;
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
  // After that: callers that can execute shaders, or fixed functions, read and write here.
  virtual void OnShaders(const Work&, WorkMemory&) {}
  virtual void OnRegister(const Command&, uint32_t /*offset*/, uint32_t /*old*/, uint32_t /*now*/) {
  }
  // After the bytes were written.
  virtual void OnStore(const Command&, uint32_t /*space*/, uint64_t /*address*/,
                       absl::Span<const uint8_t> /*bytes*/) {}
  virtual void OnProblem(const Problem&) {}
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_OBSERVER_H_
